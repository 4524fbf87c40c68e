"""A study's trials: one run each, identified by what determines its result."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from engine.graphs.metrics import Scores
from engine.knowledge import Knowledge
from engine.params import Parameters
from engine.registry import algorithm
from engine.result import RunResult
from engine.runner import check_seed, run
from engine.serialise import plain
from engine.version import __version__

Pairs = tuple[tuple[str, str], ...]
SCORED = tuple(f.name for f in dataclasses.fields(Scores))
Datasets = Dataset | str | Iterable[Dataset | str]
Names = str | Iterable[str]
Seeds = int | Iterable[int]
Said = Knowledge | str | None  # or the name of a ready set, "two tiers"


@lru_cache(maxsize=1024)
def _read(params: str) -> dict[str, Any]:
    """Parameters from their text; a study asks the same of all seeds."""
    return dict(json.loads(params))


@dataclass(frozen=True)
class Trial:
    """One run: what determines its result, and the dataset's name.

    ``fingerprint`` is the dataset's identity. ``params`` is canonical JSON of every declared
    parameter, defaults included. ``seed`` is the ``seed`` of :func:`engine.run`, so a trial can be
    repeated on its own; its draws depend neither on the order of the study nor on where it runs.
    Trials with one seed share their random numbers (common random numbers).

    On private data ``seed`` only counts repetitions: every trial draws its own secret noise,
    without which the epsilons of a study would not add up.
    """

    fingerprint: str
    dataset: str
    algorithm: str
    params: str
    seed: int
    version: str = __version__

    @property
    def own(self) -> bool:
        """Whether the rows are private."""
        return self.fingerprint.startswith(OWN)

    @cached_property
    def key(self) -> str:
        """SHA-256 of what determines the result: what a store finds it by."""
        content = [self.fingerprint, self.algorithm, self.params, self.seed, self.version]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    @property
    def values(self) -> dict[str, Any]:
        """The parameters by name."""
        return dict(_read(self.params))


@dataclass(frozen=True, kw_only=True)
class TrialResult:
    """What a study keeps of a run: everything but the trace and the ledger.

    The metrics are None without a truth: ``skeleton_f1`` to ``shd`` score the graph as it stands,
    ``metrics_tested`` the links tested to the end alone. ``claimed_*`` is None where the paper
    makes no claim. ``cpdag`` holds name pairs, an undirected edge in both directions; ``untested``
    the pairs of it, each sorted, that were not tested to the end. ``seconds`` (wall) alone differs
    from run to run, and is NaN on private data.
    """

    fingerprint: str
    dataset: str
    algorithm: str
    params: str
    seed: int
    version: str
    status: str
    seconds: float
    skeleton_f1: float | None
    directed_f1: float | None
    precision: float | None
    recall: float | None
    shd: int | None
    ci_tests: int
    ci_tests_by_order: tuple[int, ...]
    claimed_epsilon: float | None
    claimed_delta: float | None
    spent_epsilon: float
    spent_delta: float
    cpdag: Pairs
    metrics_tested: Scores | None
    untested: Pairs

    @cached_property
    def trial(self) -> Trial:
        """The trial this is the result of."""
        return Trial(**{f.name: getattr(self, f.name) for f in dataclasses.fields(Trial)})

    @property
    def values(self) -> dict[str, Any]:
        """The parameters by name."""
        return dict(_read(self.params))

    @cached_property
    def skeleton(self) -> Pairs:
        """Adjacent pairs, each sorted, in sorted order."""
        return tuple(sorted({(min(a, b), max(a, b)) for a, b in self.cpdag}))

    @cached_property
    def found(self) -> Pairs:
        """The pairs of the skeleton that were tested to the end."""
        left = set(self.untested)
        return tuple(pair for pair in self.skeleton if pair not in left)

    @property
    def metrics(self) -> Scores | None:
        """Scores of the graph as it stands; None without a truth."""
        if self.skeleton_f1 is None:
            return None
        return Scores(**{name: getattr(self, name) for name in SCORED})

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready, with the field names of a single run's JSON."""
        claimed = {"epsilon": plain(self.claimed_epsilon), "delta": self.claimed_delta}
        return {
            **dataclasses.asdict(self.trial),
            "seed": None if self.trial.own else self.seed,
            "params": self.values,
            "status": self.status,
            "seconds": None if math.isnan(self.seconds) else self.seconds,
            "metrics": plain(self.metrics),
            "metrics_tested": plain(self.metrics_tested),
            "ci_tests": self.ci_tests,
            "ci_tests_by_order": list(self.ci_tests_by_order),
            "claimed": None if self.claimed_epsilon is None else claimed,
            "spent": {"epsilon": plain(self.spent_epsilon), "delta": self.spent_delta},
            "skeleton": [list(p) for p in self.skeleton],
            "cpdag": [list(p) for p in self.cpdag],
            "untested": [list(p) for p in self.untested],
        }

    def fixed(self) -> bytes:
        """Canonical bytes of everything but ``seconds``: equal wherever the trial was run."""
        content = self.as_dict()
        del content["seconds"]
        return json.dumps(content, sort_keys=True).encode()


def run_trial(
    data: Dataset, trial: Trial, cancelled: Callable[[], bool] = lambda: False
) -> TrialResult:
    """Run one trial, on private data with secret noise.

    Raises InputError, with the trial named, where the run refuses its input.
    """
    seed = trial.seed if data.public else None
    values = trial.values
    try:
        r = run(trial.algorithm, data, seed=seed, trace=False, cancelled=cancelled, **values)
    except InputError as error:
        raise InputError(f"{trial.algorithm} on {trial.dataset}: {error}") from error
    return summarise(trial, r)


def summarise(trial: Trial, result: RunResult) -> TrialResult:
    """What a study keeps of the run."""
    claimed, names = result.claimed, result.names
    scores: dict[str, Any] = {name: getattr(result.metrics, name, None) for name in SCORED}
    return TrialResult(
        **dataclasses.asdict(trial),
        status=result.status,
        seconds=result.seconds,
        **scores,
        ci_tests=result.ci_tests,
        ci_tests_by_order=tuple(result.ci_tests_by_order),
        claimed_epsilon=claimed.epsilon if claimed else None,
        claimed_delta=claimed.delta if claimed else None,
        spent_epsilon=result.spent.epsilon,
        spent_delta=result.spent.delta,
        cpdag=tuple(sorted((names[i], names[j]) for i, j in np.argwhere(result.matrix))),
        metrics_tested=result.metrics_tested,
        untested=tuple(unordered(result.untested_pairs)),
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
    parameters: Mapping[str, Any] | None = None,
    seeds: Seeds = 5,
    knowledge: Said = None,
) -> Study:
    """All trials of datasets x algorithms x parameters x seeds, checked, each once.

    ``datasets`` are Dataset objects or names of bundled networks. ``parameters`` maps a name to a
    value or to several; an algorithm that does not declare one leaves it out, so that it
    gets fewer trials. ``seeds``: how many (0, 1, ...), or which. ``knowledge``: as in
    :func:`knowing`, of every dataset. Raises InputError or ParameterError for anything that does
    not fit, before anything runs.
    """
    chosen = [algorithms] if isinstance(algorithms, str) else list(dict.fromkeys(algorithms))
    if not chosen:
        raise InputError("Give at least one algorithm.")
    several = [knowing(data, knowledge) for data in loaded(datasets)]
    if not several:
        raise InputError("Give at least one dataset.")
    settings = [(key, p) for key in chosen for p in _combinations(key, chosen, parameters or {})]
    return trials_on(several, settings, _seeds(seeds))


def trials_on(
    datasets: Sequence[Dataset], settings: Sequence[tuple[str, str]], seeds: Sequence[int]
) -> Study:
    """The trials of every (algorithm, canonical parameters) on every dataset with every seed."""
    by_print = {data.identity: data for data in datasets}
    trials = (
        Trial(fingerprint, data.name, *setting, seed)
        for (fingerprint, data), seed, setting in product(by_print.items(), seeds, settings)
    )
    return Study(by_print, tuple(dict.fromkeys(trials)))


def canonical(params: Parameters) -> str:
    """All parameters as JSON with sorted names."""
    return json.dumps(plain(params), sort_keys=True)


def loaded(given: Datasets) -> list[Dataset]:
    """Datasets, those given by name sampled at their default size."""
    several = [given] if isinstance(given, (Dataset, str)) else list(given)
    return [load_dataset(one) if isinstance(one, str) else one for one in several]


def _seeds(seeds: Seeds) -> list[int]:
    several = seeds if isinstance(seeds, Iterable) else range(check_seed(seeds))
    numbers = list(dict.fromkeys(check_seed(seed) for seed in several))
    if not numbers:
        raise InputError("Give at least one seed.")
    return numbers


def _combinations(key: str, chosen: Sequence[str], grid: Mapping[str, Any]) -> Iterator[str]:
    """Canonical parameters of one algorithm over the grid; refuses a name that none declares."""
    declared = {k: {s.name for s in algorithm(k).params.specs()} for k in chosen}
    everyone = sorted(set().union(*declared.values()))
    for name in grid:
        if name not in everyone:
            raise InputError(
                f"None of {', '.join(chosen)} has a parameter {name!r}."
                f"{did_you_mean(str(name), everyone)}"
            )
    mine = {name: _values(name, grid[name]) for name in grid if name in declared[key]}
    build = algorithm(key).params.build
    for values in product(*mine.values()):
        yield canonical(build(dict(zip(mine, values, strict=True))))


def _values(name: str, given: Any) -> list[Any]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        return [given]
    values = list(given)
    if not values:
        raise InputError(f"Give at least one value of {name}.")
    return values


# What is known of the causes ------------------------------------------------------------


def knowing(data: Dataset, said: Said) -> Dataset:
    """The same rows under a schema that states what is known, so that every run on them uses it.

    Args:
        data: Public data, or data under a declared schema.
        said: Knowledge, or the name of a set that is true of the data's true graph: "two tiers",
            "four tiers", "complete order". None: the data as they are.

    Raises:
        InputError: Where there is no true graph to cut tiers from, for other names, and for private
            data without a declared schema.

    Examples:
        >>> from engine import load_dataset, run
        >>> asia = knowing(load_dataset("asia", n=20_000), "complete order")
        >>> result = run("marginal_pc", asia, epsilon=1)
        >>> result.metrics.directed_f1 == result.knowledge_alone.directed_f1
        True
    """
    known = _ready(data, said) if isinstance(said, str) else said
    if known is None:
        return data
    known.check_names(data.names)
    return replace(data, schema=replace(_schema(data), knowledge=known))


def _schema(data: Dataset) -> Schema:
    if data.schema is not None:
        return data.schema
    if not data.public:
        raise InputError("What is known is part of a schema: declare one first.")
    named = zip(data.names, data.levels, strict=True)
    return Schema(tuple(Column(name=name, type="ordered", levels=some) for name, some in named))


def _ready(data: Dataset, name: str) -> Knowledge:
    if (word := ready_name(name)) is None:
        raise InputError(f"What is known is one of {', '.join(READY)}, not {show(name)}.")
    if data.truth is None:
        raise InputError(f"There is no true graph of {data.name} to cut {word} from.")
    return ready_sets(data.truth)[word]


def ready_name(word: str) -> str | None:
    """The ready set that a word names, "two-tiers" or "two tiers"; None for another word."""
    name = word.replace("-", " ")
    return name if name in READY else None
