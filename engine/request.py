"""The request for a run, as one value with one identity.

A request consists of rows, an algorithm with every parameter that has an effect, a seed, and
background knowledge. Pages, the command line, files and studies all use it. It can be written as a
web address, a command, a program or a file of settings. Two requests are equal if and only if their
keys are.
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
MODEL = ("sem_graph", "sem_nodes", "sem_edges", "sem_noise")  # in the order used in a model's name
Words = dict[str, str]


def usual_algorithm(own: bool) -> str:
    """Return the key of the default algorithm.

    For a user's ``own`` table it is the one that finds almost no edges if there are none.
    """
    return "marginal_pc" if own else "priv_pc"


@dataclass(frozen=True)
class Source:
    """The origin of rows: a name that ``load_dataset`` knows, the row count and the data seed.

    If rows are given, none are drawn, and ``identity`` (:attr:`engine.Dataset.identity`) represents
    them in a key.
    """

    name: str = "asia"
    n: int = 100_000
    seed: int = 0
    identity: str = ""

    @classmethod
    def of(cls, data: Dataset) -> Self:
        """Return the source that represents given rows."""
        return cls(data.name, data.n, 0, data.identity)

    @property
    def own(self) -> bool:
        """True if the rows are private."""
        return self.name == OWN or self.identity.startswith(OWN_ROWS)

    @property
    def simulated(self) -> bool:
        """True for a simulated linear model."""
        return self.name.startswith(f"{SEM}:")

    def load(self) -> Dataset:
        """Draw the rows."""
        return load_dataset(self.name, n=self.n, seed=self.seed)


@dataclass(frozen=True, eq=False)
class Request:
    """All facts that determine the answer of a run.

    ``params`` holds the value of each parameter that has an effect on the algorithm, in declared
    order, without ``Spec.later`` ones at their defaults. Omitted parameters take their defaults. An
    invalid value is kept as it is; the run reports the error. ``seed`` is None for secret noise, as
    private rows need it. A ``knowledge`` without facts becomes None.

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

        Without ``knowledge`` it uses the knowledge in their schema, unless this would give the
        algorithm the answer. ``source`` is an origin that draws the same rows, if there is one.
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
        """Return the same request at the default ε and seed, shared by all runs of an ε curve."""
        rest = {name: value for name, value in self.params.items() if name != "epsilon"}
        return dataclasses.replace(self, params=rest, seed=0)

    # Its run ----------------------------------------------------------------------------------

    def run(self, data: Dataset | None = None, **how: Any) -> RunResult:
        """Run the request.

        Args:
            data: The rows, if they are already loaded; otherwise they are drawn.
            how: ``stop``, ``on_progress``, ``on_step`` and ``trace`` of :func:`engine.run`.

        Raises:
            InputError: For values that do not fit.
        """
        rows = self.source.load() if data is None else data
        # otherwise the run would use the knowledge in the rows' schema
        known = self.knowledge or Knowledge()
        return run(self.algorithm, rows, seed=self.seed, knowledge=known, **self.params, **how)

    # Forms ------------------------------------------------------------------------------------

    def to_words(self) -> Words:
        """Return it as parameters of a web address, without rows and without a secret seed."""
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
        """Read the parameters of a web address; missing fields take their defaults.

        Raises:
            InputError: If a word is not a value of its field.
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
        """Return the JSON content of ``settings.json``."""
        found: dict[str, Any] = {"algorithm": self.algorithm, "dataset": OWN}
        found["parameters"] = self._json_params()
        if not self.source.own:
            found |= {"dataset": self.source.name, "n": self.source.n, "sample": self.source.seed}
        if self.seed is not None:
            found["seed"] = self.seed
        return found | ({"knowledge": self._json_known()} if self.knowledge else {})

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Read the JSON content of ``settings.json``."""
        known = parse_knowledge(content["knowledge"]) if "knowledge" in content else None
        source = Source(content["dataset"], content.get("n", 0), content.get("sample", 0))
        return cls(source, content["algorithm"], content["parameters"], content.get("seed"), known)

    def to_python(self) -> str:
        """Return it as a Python program; private rows are read from a file that the user names."""
        lines = [f"{name}={value!r}," for name, value in self.params.items()]
        more = ""
        if self.source.name.startswith("tuebingen:"):
            names, more = ["run"], "from engine.data.pairs import read_tuebingen\n"
            pairs = 'read_tuebingen("cdt-0.6.0-py3-none-any.whl")'
            rows = f"{{pair.name: pair for pair in {pairs}}}[{self.source.name!r}]"
        elif self.source.own:
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
            f"from engine import {', '.join(names)}\n{more}\ndata = {rows}\n"
            f"result = run(\n    {self.algorithm!r},\n    data,{body}\n)\n"
            "print(result.summary())\n"
        )

    def to_command(self) -> str:
        """Return it as a shell command; private rows are read from a file that the user names."""
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
    """Return the value of each parameter that has an effect on the algorithm, in declared order.

    A valid value is converted to its declared type.
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
    """Return a value as web addresses and flags write it."""
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
    """Return the named true facts about a benchmark network; empty for other rows."""
    sets = ready_sets(load_network(name).dag()) if name in NETWORKS else {}
    return {key.replace(" ", "-"): known for key, known in sets.items()}


def word_of(known: Knowledge, name: str) -> str:
    """Return background knowledge as the word of a named set, or else as JSON."""
    exact = json.dumps(known.to_json(), separators=(",", ":"), ensure_ascii=False)
    return next((word for word, found in ready(name).items() if found == known), exact)


def known_from(word: str, name: str) -> Knowledge | None:
    """Read background knowledge about these rows from a word, or None for an empty one.

    Raises:
        InputError: In one sentence, if the word is invalid.
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
