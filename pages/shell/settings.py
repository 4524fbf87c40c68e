"""What fixes a run: dataset, algorithm, parameters, seed; and the same as a link."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from engine import InputError, Knowledge, load_knowledge
from engine.data.networks import NETWORKS, load_network
from engine.data.simulated import GRAPHS, MAX_NODES, NOISES, parse_name
from engine.graphs.known import ready_sets
from engine.params import ParameterError, Parameters, Spec, param, relevant
from engine.registry import GRAPHS as GRAPH_ALGORITHMS
from engine.registry import algorithm
from pages.shell.fields import choice, defaults, line, number
from pages.shell.state import LARGEST, Query, as_word

OWN, SEM = "own", "sem"
MOST_SEED = LARGEST
MIN_ROWS, MAX_ROWS = 100, 1_000_000
MAX_SEM_CELLS = 20_000_000  # numeric values of a simulated model, 8 bytes each
START = "asia"
_ROWS = "Fixes which rows are drawn (of a model its graph, too). The noise has its own seed."
_SHAPES = "Erdős–Rényi: every edge is equally likely. Scale-free: a few nodes have many."
_NOISE = "Of each variable's own term, with variance 1; weights are ±0.5 to ±2."
_EDGES = "Scale-free: rounded to a whole number for each node."
MODEL = ("sem_graph", "sem_noise", "sem_nodes", "sem_edges")


@dataclass(frozen=True, kw_only=True)
class Visit(Parameters):
    """What all pages share: a dataset, an algorithm, the noise's seed, what is known.

    Rows out of bounds are refused by :func:`check_rows`, where they are drawn.
    """

    data: str = choice(START, "Dataset", (*NETWORKS, SEM, OWN))
    n: int = param(100_000, kind="int", title="Rows n")
    sample: int = number(0, "Data seed", 0, MOST_SEED, help=_ROWS)
    sem_graph: str = choice("er", "Graph", GRAPHS, help=_SHAPES)
    sem_noise: str = choice("gaussian", "Noise of the model", NOISES, help=_NOISE)
    sem_nodes: int = number(10, "Nodes", 2, MAX_NODES)
    sem_edges: int = number(20, "Edges", 1, MAX_NODES * (MAX_NODES - 1) // 2, help=_EDGES)
    algorithm: str = choice("priv_pc", "Algorithm", GRAPH_ALGORITHMS)
    seed: int = number(
        0,
        "Noise seed",
        0,
        MOST_SEED,
        help="Fixes every draw of noise: the run can be repeated.",
    )
    known: str = line("What is known", 20_000)


VISIT = {spec.name: spec for spec in Visit.specs()}


@dataclass(frozen=True)
class Source:
    """Which dataset: a bundled network or a simulated model ("sem:er:10:20:gaussian") with n rows
    and a sampling seed, or the person's own.
    """

    name: str = "asia"
    n: int = 100_000
    seed: int = 0
    fingerprint: str = ""

    @property
    def own(self) -> bool:
        return self.name == OWN


@dataclass(frozen=True)
class Settings:
    """Everything that fixes a run. ``seed`` is None for own data: each run draws a secret one.

    ``known`` is what was said of the causes, None where nothing was.
    """

    source: Source = Source()
    algorithm: str = "priv_pc"
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = 0
    known: Knowledge | None = None

    @property
    def asked(self) -> dict[str, Any]:
        """What a run is given by name: its parameters, and what is known.

        Of own data nothing is said out loud too, or else their schema would be asked.
        """
        stated = self.known or (Knowledge() if self.source.own else None)
        return {**self.params, **({"knowledge": stated} if stated is not None else {})}

    def to_query(self) -> Query:
        """The settings as query parameters; never data, and no seed that hides a person."""
        query = {"data": self.source.name, "algorithm": self.algorithm}
        if not self.source.own:
            query |= {"n": str(self.source.n), "sample": str(self.source.seed)}
        if self.seed is not None:
            query["seed"] = str(self.seed)
        if self.known and not self.source.own:
            query["known"] = word_of(self.known, self.source.name)
        known = {s.name for s in algorithm(self.algorithm).params.specs()}
        return query | {k: as_word(v) for k, v in self.params.items() if k in known}

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Settings:
        """Settings from a link; raises InputError in one sentence where they do not fit."""
        name = query.get("data", "asia")
        if name == OWN:
            raise InputError(
                "This link was made with a person's own data, which a link never carries: "
                "upload the file, then press Run."
            )
        parse_name(name) if is_simulated(name) else load_network(name)
        chosen = algorithm(query.get("algorithm", "priv_pc"))
        if (columns := chosen.columns) is not None:
            raise InputError(
                f"{chosen.title} takes data of {columns} columns: it has a page of its own."
            )
        values = _named(chosen.params.specs(), query)
        chosen.params.build(values)
        drawn = defaults(Visit) | _named(Visit.specs(), query, "n", "sample", "seed")
        source = Source(name, drawn["n"], drawn["sample"])
        check_rows(source)
        known = known_from(query["known"], name) if "known" in query else None
        return cls(source, chosen.key, filled(chosen.key, values), drawn["seed"], known)


def _named(specs: Iterable[Spec], query: Mapping[str, str], *only: str) -> dict[str, Any]:
    """The values that a link names; ParameterError for one that does not fit."""
    asked = [s for s in specs if s.name in query and s.name in (only or query)]
    return {s.name: s.check(s.parse(query[s.name])) for s in asked}


@cache
def ready(name: str) -> dict[str, Knowledge]:
    """Sets of what is true of a bundled network, by their names; none of a simulated model."""
    return {} if is_simulated(name) else ready_sets(load_network(name).dag())


def word_of(known: Knowledge, name: str) -> str:
    """What is known, for an address: a ready set's name, else its JSON."""
    for word, found in ({} if name == OWN else ready(name)).items():
        if found == known:
            return word.replace(" ", "-")
    return json.dumps(known.to_json(), separators=(",", ":"), ensure_ascii=False)


def known_from(word: str, name: str) -> Knowledge:
    """What an address says is known of a dataset; InputError in one sentence where it is none."""
    sets = {key.replace(" ", "-"): known for key, known in ready(name).items()}
    if word in sets:
        return sets[word]
    if not word.startswith("{"):
        raise InputError(f"What is known is one of {', '.join(sets)}, or the JSON of its file.")
    known = load_knowledge(word.encode())
    if not is_simulated(name):
        known.check_names(load_network(name).names)
    return known


def said(word: str) -> Knowledge | str | None:
    """What a field of a form says is known: nothing, a ready set's name, or the JSON of facts."""
    from engine.studies.trial import ready_name

    return None if not word else ready_name(word) or load_knowledge(word.encode())


def is_simulated(name: str) -> bool:
    """Whether the name is that of a simulated linear model."""
    return name.startswith("sem:")


def fits(spec: Spec, value: Any) -> bool:
    """Whether the declaration admits the value."""
    try:
        spec.check(value)
    except ParameterError:
        return False
    return True


def filled(key: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """A value for every parameter of the algorithm that has an effect, in declared order."""
    specs = algorithm(key).params.specs()
    full = {s.name: values.get(s.name, s.default) for s in specs}
    return {s.name: full[s.name] for s in relevant(specs, full)}


def check_rows(source: Source) -> None:
    """Raise InputError for a number of rows or a seed that is not drawn here."""
    if not isinstance(source.seed, int) or not 0 <= source.seed <= MOST_SEED:
        raise InputError(f"The data seed must be from 0 to {MOST_SEED:,}.")
    if not isinstance(source.n, int) or not MIN_ROWS <= source.n <= MAX_ROWS:
        raise InputError(f"Rows n must be from {MIN_ROWS:,} to {MAX_ROWS:,} here.")
    if is_simulated(source.name) and source.n * parse_name(source.name)[1] > MAX_SEM_CELLS:
        raise InputError(
            f"Rows times nodes of a simulated model may be at most {MAX_SEM_CELLS:,} here."
        )
