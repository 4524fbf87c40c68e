"""A study's trials: one run each, identified by what determines its result."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

import numpy as np

from engine.data.dataset import OWN, Dataset
from engine.data.networks import load_dataset
from engine.data.schema import Column, Schema
from engine.errors import InputError, did_you_mean, show
from engine.graphs.cpdag import unordered
from engine.graphs.known import READY, ready_sets
from engine.graphs.metrics import Counts, Scores
from engine.knowledge import Knowledge, check_names
from engine.monitor import Stop
from engine.params import Parameters, settled
from engine.privacy.accounting import Guarantee
from engine.registry import algorithm
from engine.renamed import Renamed
from engine.request import Request, Source
from engine.runner import check_seed
from engine.serialise import plain
from engine.version import __version__

Pairs = tuple[tuple[str, str], ...]
Datasets = Dataset | str | Iterable[Dataset | str]
Names = str | Iterable[str]
Seeds = int | Iterable[int]
Grid = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None
Said = Knowledge | str | None  # a str names a ready set, "two tiers"


@dataclass(frozen=True)
class Trial:
    """One run: the facts that determine its result, and the dataset's name.

    ``fingerprint`` is the dataset's identity. ``params`` is canonical JSON of every declared
    parameter, defaults included. ``seed`` is the ``seed`` of :func:`engine.run`, so a trial can be
    repeated separately. Its draws depend neither on the order of the study nor on the machine.
    Trials with one seed share their random numbers (common random numbers).

    On private data ``seed`` only counts repetitions: every trial draws secret noise, because the
    epsilons of a study add up only for independent noise.
    """

    fingerprint: str
    dataset: str
    algorithm: str
    params: str
    seed: int
    version: str = __version__

    @property
    def own(self) -> bool:
        """True if the rows are private."""
        return self.fingerprint.startswith(OWN)

    @cached_property
    def key(self) -> str:
        """SHA-256 of the content of its request, the key in a store."""
        return self._digest(_of_effect(self.algorithm, self.params))

    @property
    def earlier_key(self) -> str:
        """Key in earlier files, which included parameters without effect."""
        return self._digest(self.params)

    def _digest(self, params: str) -> str:
        content = [self.fingerprint, self.algorithm, params, self.seed, self.version]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    @property
    def values(self) -> dict[str, Any]:
        """Parameters by name."""
        return dict(json.loads(self.params))


@lru_cache(4096)
def _of_effect(algorithm: str, params: str) -> str:
    """Return the parameters in a request for the algorithm, as JSON."""
    asked = Request(Source(), algorithm, json.loads(params))
    return json.dumps(plain(asked.params), sort_keys=True)


@dataclass(frozen=True, kw_only=True)
class TrialResult(Trial):
    """The part of a run that a study keeps: everything but the trace and the ledger.

    Its fields are those of a run (:class:`engine.result.RunResult`). The scores are None without a
    truth: ``metrics_all`` counts partly tested pairs as edges, ``metrics_tested`` does not, and
    ``counts`` are the confusion counts. ``claimed`` is None if the paper makes no claim. ``cpdag``
    holds pairs of names, with undirected edges in both directions. ``untested`` holds its pairs,
    each sorted, that were not fully tested. Only ``seconds`` (wall time) differs from run to run;
    it is NaN on private data.

    Examples:
        >>> from engine import sweep
        >>> [trial] = sweep("cancer", "marginal_pc", {"epsilon": [1.0]}, seeds=1)
        >>> trial.values["epsilon"], trial.proven.epsilon, 0 <= trial.metrics_all.skeleton_f1 <= 1
        (1.0, 1.0, True)
    """

    status: str
    seconds: float
    metrics_all: Scores | None
    metrics_tested: Scores | None
    counts: Counts | None
    ci_tests_by_order: tuple[int, ...]
    claimed: Guarantee | None
    proven: Guarantee

    metrics = Renamed("metrics_all")
    spent = Renamed("proven")
    cpdag: Pairs
    untested: Pairs

    @property
    def ci_tests(self) -> int:
        """Number of conditional independence tests, of all orders."""
        return sum(self.ci_tests_by_order)

    @cached_property
    def skeleton(self) -> Pairs:
        """Adjacent pairs, each sorted, in sorted order."""
        return tuple(sorted({(min(a, b), max(a, b)) for a, b in self.cpdag}))

    @cached_property
    def found(self) -> Pairs:
        """Fully tested pairs of the skeleton."""
        left = set(self.untested)
        return tuple(pair for pair in self.skeleton if pair not in left)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields for JSON, with the names in the JSON of a single run."""
        shown: dict[str, Any] = plain(self)
        return shown | {
            "seed": None if self.own else self.seed,
            "params": self.values,
            "seconds": None if math.isnan(self.seconds) else self.seconds,
            "ci_tests": self.ci_tests,
            "skeleton": plain(self.skeleton),
        }

    def fixed(self) -> bytes:
        """Return canonical bytes of everything but ``seconds``, equal on every machine."""
        return json.dumps({**self.as_dict(), "seconds": None}, sort_keys=True).encode()


def run_trial(data: Dataset, trial: Trial, stop: Stop | None = None) -> TrialResult:
    """Run one trial, on private data with secret noise.

    Raises InputError with the name of the trial if the run refuses its input.
    """
    try:
        asked = Request.of(data, trial.algorithm, trial.values, None if trial.own else trial.seed)
        r = asked.run(data, trace=False, stop=stop)
    except InputError as error:
        raise InputError(f"{trial.algorithm} on {trial.dataset}: {error}") from error
    same = ("status", "seconds", "metrics_all", "metrics_tested", "counts", "claimed", "proven")
    return TrialResult(
        **dataclasses.asdict(trial),
        **{name: getattr(r, name) for name in same},
        ci_tests_by_order=tuple(r.ci_tests_by_order),
        cpdag=tuple(sorted((r.names[i], r.names[j]) for i, j in np.argwhere(r.matrix))),
        untested=tuple(unordered(r.untested_pairs)),
    )


@dataclass(frozen=True, eq=False)
class Study:
    """Every trial of a study, dataset by dataset, and the datasets by identity.

    Within a dataset the seeds are outermost, so that whole curves appear from the first seed on.
    """

    datasets: Mapping[str, Dataset]
    trials: tuple[Trial, ...]


def study_of(
    datasets: Datasets,
    algorithms: Names,
    parameters: Grid = None,
    seeds: Seeds = 5,
    knowledge: Said = None,
) -> Study:
    """Make all checked trials of datasets x algorithms x parameters x seeds, each once.

    ``datasets`` are Dataset objects or names of benchmark networks. ``parameters`` maps a name to
    one or several values, or is a list of these mappings. An algorithm ignores parameters that it
    does not declare, so it gets fewer trials. ``seeds`` is their number (0, 1, ...) or a list.
    ``knowledge`` is as in :func:`knowing`, for every dataset. Raises InputError or ParameterError
    for invalid arguments, before any run.
    """
    chosen = [algorithms] if isinstance(algorithms, str) else list(dict.fromkeys(algorithms))
    several = [knowing(data, knowledge) for data in loaded(datasets)]
    numbered = seeds if isinstance(seeds, Iterable) else range(check_seed(seeds))
    numbers = list(dict.fromkeys(check_seed(seed) for seed in numbered))
    for given, what in ((chosen, "algorithm"), (several, "dataset"), (numbers, "seed")):
        if not given:
            raise InputError(f"Give at least one {what}.")
    grids = [parameters] if isinstance(parameters, Mapping) else parameters or [{}]
    settings = [setting for grid in grids for setting in _settings(chosen, grid)]
    by_print = {data.identity: data for data in several}
    trials = (
        Trial(fingerprint, data.name, *setting, seed)
        for (fingerprint, data), seed, setting in product(by_print.items(), numbers, settings)
    )
    return Study(by_print, tuple(dict.fromkeys(trials)))


def canonical(params: Parameters) -> str:
    """Return all parameters as JSON with sorted names; see :func:`engine.params.settled`."""
    return json.dumps(settled(params.specs(), plain(params)), sort_keys=True)


def loaded(given: Datasets) -> list[Dataset]:
    """Return the datasets; those given by name are sampled at their default size."""
    several = [given] if isinstance(given, (Dataset, str)) else list(given)
    return [load_dataset(one) if isinstance(one, str) else one for one in several]


def _settings(keys: Sequence[str], grid: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return each algorithm with its canonical parameters over the grid."""
    declared = {key: {s.name for s in algorithm(key).params.specs()} for key in keys}
    everyone = sorted(set().union(*declared.values()))
    several: dict[str, list[Any]] = {}
    for name, given in grid.items():
        if name not in everyone:
            raise InputError(
                f"None of {', '.join(keys)} has a parameter {name!r}.{did_you_mean(name, everyone)}"
            )
        one = isinstance(given, str) or not isinstance(given, Iterable)
        several[name] = [given] if one else list(given)
        if not several[name]:
            raise InputError(f"Give at least one value of {name}.")
    found = []
    for key in keys:
        mine = [name for name in several if name in declared[key]]
        for values in product(*(several[name] for name in mine)):
            built = algorithm(key).params.build(dict(zip(mine, values, strict=True)))
            found.append((key, canonical(built)))
    return found


# Background knowledge ------------------------------------------------------------


def knowing(data: Dataset, said: Said) -> Dataset:
    """Return the same rows under a schema with this knowledge, which every run on them uses.

    Args:
        data: Public data, or data under a declared schema.
        said: Knowledge, or the name of a set derived from the true graph: "two tiers", "four
            tiers", "complete order". None leaves the data unchanged.

    Raises:
        InputError: Without a true graph to derive tiers from, for other names, and for private data
            without a declared schema.

    Examples:
        >>> from engine import load_dataset, run
        >>> asia = knowing(load_dataset("asia", n=20_000), "complete order")
        >>> result = run("marginal_pc", asia, epsilon=1)
        >>> result.metrics_all.directed_f1 == result.knowledge_alone.directed_f1
        True
    """
    if isinstance(said, str):
        said = stated(data, said)
    if said is None:
        return data
    check_names(said, data.names)
    schema = data.schema
    if schema is None:
        if not data.public:
            raise InputError("Background knowledge is part of a schema: declare one first.")
        named = zip(data.names, data.levels, strict=True)
        schema = Schema(tuple(Column(name=n, type="ordered", levels=some) for n, some in named))
    return replace(data, schema=replace(schema, knowledge=said))


def stated(data: Dataset, name: str) -> Knowledge:
    """Return the ready set of this name from the data's true graph; may raise InputError."""
    if (word := ready_name(name)) is None:
        raise InputError(f"Background knowledge is one of {', '.join(READY)}, not {show(name)}.")
    if data.truth is None:
        raise InputError(f"There is no true graph of {data.name} to cut {word} from.")
    return ready_sets(data.truth)[word]


def ready_name(word: str) -> str | None:
    """Return the ready set for a name, "two-tiers" or "two tiers"; None for other words."""
    name = word.replace("-", " ")
    return name if name in READY else None
