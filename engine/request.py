"""The request for a run, as one value with one identity.

A request names rows, an algorithm with every parameter that has an effect, a seed, and background
knowledge. Pages, command line, files and studies pass it on; it is an address, a command, a program
and a file's settings. Two requests are equal exactly where their keys are.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Self

from engine.data.dataset import OWN as OWN_ROWS
from engine.data.dataset import Dataset
from engine.data.networks import NETWORKS, load_dataset, load_network
from engine.errors import InputError
from engine.graphs.known import ready_sets
from engine.knowledge import Knowledge, check_names, load_knowledge, parse_knowledge
from engine.params import ParameterError, Spec, relevant, settled
from engine.registry import algorithm
from engine.result import RunResult
from engine.runner import run
from engine.serialise import plain

OWN, SEM = "own", "sem"
MODEL = ("sem_graph", "sem_nodes", "sem_edges", "sem_noise")  # in the order of a model's name
Words = dict[str, str]


def usual_algorithm(own: bool) -> str:
    """Return the algorithm's key where none is named.

    On a table of one's ``own`` it is the one that shows next to no edge where there is none.
    """
    return "marginal_pc" if own else "priv_pc"


@dataclass(frozen=True)
class Source:
    """Where rows come from: a name that ``load_dataset`` knows, how many, and the data seed.

    ``identity`` is that of rows that are given (:attr:`engine.Dataset.identity`). It stands for
    them in a key, and they are not drawn.
    """

    name: str = "asia"
    n: int = 100_000
    seed: int = 0
    identity: str = ""

    @classmethod
    def of(cls, data: Dataset) -> Self:
        """Return the source that stands for given rows."""
        return cls(data.name, data.n, 0, data.identity)

    @property
    def own(self) -> bool:
        """Whether the rows are private."""
        return self.name == OWN or self.identity.startswith(OWN_ROWS)

    @property
    def simulated(self) -> bool:
        """Whether it is a simulated linear model."""
        return self.name.startswith(f"{SEM}:")

    def load(self) -> Dataset:
        """Draw the rows."""
        return load_dataset(self.name, n=self.n, seed=self.seed)


@dataclass(frozen=True, eq=False)
class Request:
    """Everything that determines a run's answer.

    ``params`` holds a value for each parameter of the algorithm that has an effect, in declared
    order, but no ``Spec.later`` one at its default. Those left out take their defaults. A value
    that the declaration refuses is kept as it is: the run reports the fault. ``seed`` None means
    secret noise, as private rows have it. A ``knowledge`` that says nothing is None.

    Examples:
        >>> one = Request(Source("cancer", 2_000), "marginal_pc", {"epsilon": 2})
        >>> one == Request.from_words(one.to_words()), one.run().guaranteed_epsilon
        (True, 2.0)
    """

    source: Source = Source()
    algorithm: str = "priv_pc"
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = 0
    knowledge: Knowledge | None = None

    def __post_init__(self) -> None:
        specs = {spec.name: spec for spec in algorithm(self.algorithm).params.specs()}
        unknown = {name: value for name, value in self.params.items() if name not in specs}
        known = settled(tuple(specs.values()), filled(self.algorithm, self.params))
        object.__setattr__(self, "params", {**known, **unknown})
        object.__setattr__(self, "knowledge", self.knowledge or None)

    @classmethod
    def of(
        cls,
        data: Dataset,
        key: str,
        params: Mapping[str, Any],
        seed: int | None,
        knowledge: Knowledge | None = None,
        source: Source | None = None,
    ) -> Self:
        """Return the request for a run on given rows.

        Without ``knowledge`` it has what their schema states, except for an algorithm that this
        would give the answer to. ``source`` draws the same rows, where one does.
        """
        if knowledge is None and data.schema is not None and algorithm(key).columns is None:
            knowledge = data.schema.knowledge
        return cls(source or Source.of(data), key, params, seed, knowledge)

    # Identity ---------------------------------------------------------------------------------

    @cached_property
    def key(self) -> str:
        """SHA-256 of the canonical JSON of everything that determines the answer."""
        source = self.source
        rows = [source.identity] if source.identity else [source.name, source.n, source.seed]
        content = [rows, self.algorithm, self._json_params(), self.seed, self._json_known()]
        text = json.dumps(content, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Request) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def family(self) -> Request:
        """The same at the default ε and seed: a curve over ε and repetitions belong to it."""
        rest = {name: value for name, value in self.params.items() if name != "epsilon"}
        return dataclasses.replace(self, params=rest, seed=0)

    # Its run ----------------------------------------------------------------------------------

    def run(self, data: Dataset | None = None, **how: Any) -> RunResult:
        """Run it.

        Args:
            data: The rows, where they are there already; else they are drawn.
            how: ``stop``, ``on_progress``, ``on_step`` and ``trace`` of :func:`engine.run`.

        Raises:
            InputError: For values that do not fit.
        """
        rows = self.source.load() if data is None else data
        known = self.knowledge or Knowledge()  # without one, the rows' schema would be asked
        return run(self.algorithm, rows, seed=self.seed, knowledge=known, **self.params, **how)

    # Forms ------------------------------------------------------------------------------------

    def to_words(self) -> Words:
        """Return it as the words of an address: no rows, and no seed that hides a person."""
        words = dict(zip(("data", *MODEL), self.source.name.split(":"), strict=False))
        if not self.source.own:
            words |= {"n": str(self.source.n), "sample": str(self.source.seed)}
            if self.knowledge:
                words[f"{self.source.name}-known"] = word_of(self.knowledge, self.source.name)
        if self.seed is not None:
            words["seed"] = str(self.seed)
        values = {"algorithm": self.algorithm, **self.params}
        return words | {name: as_word(value) for name, value in values.items()}

    @classmethod
    def from_words(cls, words: Mapping[str, str]) -> Self:
        """Read an address's words; fields that it does not name take their defaults.

        Raises:
            InputError: For a word that is no value of its field.
        """
        name, start = words.get("data", "asia"), Source()
        if name == SEM:
            name = ":".join([SEM, *(words.get(part, "") for part in MODEL)])
        n, sample = (_whole(words, word, at) for word, at in (("n", start.n), ("sample", 0)))
        key = words.get("algorithm", usual_algorithm(name == OWN))
        specs = algorithm(key).params.specs()
        params = {s.name: s.parse(words[s.name]) for s in specs if s.name in words}
        known = known_from(words.get(f"{name}-known", ""), name)
        if name == OWN:
            return cls(Source(OWN, 0), key, params, None, known)
        return cls(Source(name, n, sample), key, params, _whole(words, "seed", 0), known)

    def to_json(self) -> dict[str, Any]:
        """Return it as the JSON of ``settings.json``."""
        found: dict[str, Any] = {"algorithm": self.algorithm, "dataset": OWN}
        found["parameters"] = self._json_params()
        if not self.source.own:
            found |= {"dataset": self.source.name, "n": self.source.n, "sample": self.source.seed}
        if self.seed is not None:
            found["seed"] = self.seed
        return found | ({"knowledge": self._json_known()} if self.knowledge else {})

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Read the JSON of ``settings.json``."""
        known = parse_knowledge(content["knowledge"]) if "knowledge" in content else None
        source = Source(content["dataset"], content.get("n", 0), content.get("sample", 0))
        return cls(source, content["algorithm"], content["parameters"], content.get("seed"), known)

    def to_python(self) -> str:
        """Return it as a program; own rows are read from a file of any name."""
        lines = [f"{name}={value!r}," for name, value in self.params.items()]
        if self.source.own:
            names = ["load_schema", "read_table", "run"]
            rows = 'read_table("table.csv", schema=load_schema("schema.json"))'
        else:
            names = ["load_dataset", "run"]
            rows = f"load_dataset({self.source.name!r}, n={self.source.n}, seed={self.source.seed})"
        if self.seed is not None:
            lines.append(f"seed={self.seed},")
        if self.knowledge:
            names.insert(0, "Knowledge")
            said = {k: v for k, v in self.knowledge.to_json().items() if k not in _HEADER}
            said_ = ", ".join(f"{name}={value!r}" for name, value in said.items())
            lines.append(f"knowledge=Knowledge({said_}),")
        body = "".join(f"\n    {line}" for line in lines)
        return (
            f"from engine import {', '.join(names)}\n\ndata = {rows}\n"
            f"result = run(\n    {self.algorithm!r},\n    data,{body}\n)\n"
            "print(result.summary())\n"
        )

    def to_command(self) -> str:
        """Return it as a command of a terminal; own rows are read from a file of any name."""
        flags: dict[str, Any] = {"csv": "table.csv", "schema": "schema.json"}
        if not self.source.own:
            source = self.source
            flags = {"dataset": source.name, "n": source.n, "data-seed": source.seed}
        flags["algorithm"] = self.algorithm
        flags |= {name.replace("_", "-"): as_word(value) for name, value in self.params.items()}
        if self.seed is not None:
            flags["seed"] = self.seed
        if self.knowledge:
            flags["knowledge"] = word_of(self.knowledge, self.source.name)
        said = (f"--{name} {shlex.quote(str(value))}" for name, value in flags.items())
        return " ".join(["python -m engine run", *said])

    def _json_params(self) -> dict[str, Any]:
        params: dict[str, Any] = plain(self.params)
        return params

    def _json_known(self) -> dict[str, Any] | None:
        return None if self.knowledge is None else self.knowledge.to_json()


_HEADER = ("format", "version")


def filled(key: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a value for each parameter of the algorithm that has an effect, in declared order.

    Each is in its declared type, where the declaration takes it.
    """
    specs = algorithm(key).params.specs()
    full = {spec.name: _typed(spec, values.get(spec.name, spec.default)) for spec in specs}
    return {spec.name: full[spec.name] for spec in relevant(specs, full)}


def _typed(spec: Spec, value: Any) -> Any:
    try:
        return spec.check(value)
    except ParameterError:
        return value


def as_word(value: Any) -> str:
    """Return a value as an address and a flag have it."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _whole(words: Mapping[str, str], name: str, default: int) -> int:
    try:
        return int(words.get(name, default))
    except ValueError:
        raise InputError(f"{name} must be a whole number, not {words[name]!r}.") from None


# Background knowledge as one word
# -------------------------------------------------------------------


@cache
def ready(name: str) -> dict[str, Knowledge]:
    """Return sets that are true of a bundled network by their words; none for other rows."""
    sets = ready_sets(load_network(name).dag()) if name in NETWORKS else {}
    return {key.replace(" ", "-"): known for key, known in sets.items()}


def word_of(known: Knowledge, name: str) -> str:
    """Return background knowledge as a word: a ready set's, else its JSON."""
    exact = json.dumps(known.to_json(), separators=(",", ":"), ensure_ascii=False)
    return next((word for word, found in ready(name).items() if found == known), exact)


def known_from(word: str, name: str) -> Knowledge | None:
    """Read a word of background knowledge about these rows; None for an empty one.

    Raises:
        InputError: In one sentence, for another word.
    """
    if not word:
        return None
    sets = ready(name)
    if word in sets:
        return sets[word]
    if not word.startswith("{"):
        raise InputError(
            f"Background knowledge is one of {', '.join(sets)}, or the JSON of its file."
        )
    known = load_knowledge(word.encode())
    if name in NETWORKS:
        check_names(known, load_network(name).names)
    return known or None
