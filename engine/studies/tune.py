"""Find the epsilon for a score, and the best setting; each answer has its error.

A search tries the algorithm's default and points of a Sobol sequence over its declared parameters;
successive halving (Jamieson and Talwalkar, AISTATS 2016) gives twice the seeds to the better half
in every round. The winner's score in the search is too optimistic, so the reported score comes from
seeds (and on request datasets) that the search never used.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from engine.data.dataset import Dataset
from engine.errors import InputError, did_you_mean
from engine.monitor import Monitor, OnProgress, Stop, renamed
from engine.params import Spec
from engine.percent import number
from engine.registry import algorithm
from engine.studies.recommended import Score
from engine.studies.study import sweep
from engine.studies.summary import SURE, TESTED, bands, frame, smallest_epsilons
from engine.studies.trial import Datasets, TrialResult, canonical, loaded

OBJECTIVES = {"skeleton_f1": "Skeleton F1", "directed_f1": "Directed F1"}
EPSILONS = tuple(float(f"{10 ** (k / 2):.3g}") for k in range(-4, 5))  # .01 to 100
HALVINGS = 3  # more epsilons near the crossing
SEEDS = 20  # seeds per epsilon of an answer, and per report
TARGET = 0.8
FRESH = 1_000_000  # first seed of a report, beyond those of any search
MOST = 20_000  # runs of one search
DRAWN = 3  # number of random networks or synthetic tables for the search, and for the report
_ROUNDS = 5  # each has half of the candidates with twice the new seeds, so all cost the same
_NEVER = {"epsilon", "delta", "guarantee"}  # given, not searched
_PLACES = 121  # values along a range, in equal ratios if it is wide
_ORACLE = "oracle"  # uses the true graph


# Which epsilon ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Answer:
    """The epsilon from which on a score is reached, and its evidence.

    ``epsilon`` is the smallest one tried from which on the median over the seeds stays at the
    target, None if there is none; ``below`` is the next smaller one tried, 0 for none. ``least``
    and ``most`` are the ends of its 90 % interval, 0 and infinite if they lie beyond the epsilons
    tried (:func:`engine.studies.summary.smallest_epsilons`). ``best`` is the highest median.
    """

    dataset: str
    rows: int
    algorithm: str
    params: Mapping[str, Any]
    objective: str
    target: float
    epsilon: float | None
    below: float
    least: float
    most: float
    best: float
    points: pd.DataFrame
    results: tuple[TrialResult, ...]

    @property
    def sentence(self) -> str:
        """Answer with its conditions: algorithm, settings that are not defaults, data, n."""
        chosen = algorithm(self.algorithm)
        specs = {s.name: s.default for s in chosen.params.specs() if s.name != "guarantee"}
        changed = [f"{k} {v}" for k, v in self.params.items() if specs.get(k, v) != v]
        at = f" at {', '.join(changed)}" if changed else ""
        return (
            f"{chosen.title}{at} on {self.dataset}, {self.rows:,} rows, "
            f"{self.params.get('guarantee', 'no')} guarantee: "
            f"{OBJECTIVES[self.objective]} {self.target:g} {self.outcome}."
        )

    @property
    def outcome(self) -> str:
        """Answer without its conditions: "is reached from ε = 5.6 on (between 3.2 and 10)"."""
        last = self.points["x"].max()
        if self.epsilon is None:
            may = f", though above ε = {number(self.least)} it may be"
            known = not self.interval or self.least >= last
            best = f"(median {self.best:.2f} at best){'' if known else may}"
            return f"is not reached up to ε = {number(last)} {best}"
        begins = "" if self.below else " or less"
        sure = f" ({self.interval})" if self.interval else ""
        return f"is reached from ε = {number(self.epsilon)}{begins} on{sure}"

    @property
    def interval(self) -> str:
        """Interval (90 %) in words; "" if there are too few seeds."""
        if 0.5 ** len({run.seed for run in self.results}) > (1 - SURE) / 2:
            return ""
        low, high = number(self.least), number(self.most)
        if self.most == math.inf:
            return f"above {low}" if self.least else "unknown"
        return f"between {low} and {high}" if self.least else f"at most {high}"

    def as_dict(self) -> dict[str, Any]:
        """Return the answer for JSON; an infinite or missing end of the interval is null."""
        names = ("dataset", "rows", "algorithm", "target", "objective", "epsilon", "best")
        sure = {"least": self.least, "most": self.most} if self.interval else {}
        ends = {"below": self.below, "least": 0.0, "most": 0.0} | sure
        return {
            **{name: getattr(self, name) for name in names},
            **{name: value if 0 < value < math.inf else None for name, value in ends.items()},
            "params": dict(self.params), "runs": len(self.results), "sentence": self.sentence,
        }  # fmt: skip


def which_epsilon(
    data: Dataset | str,
    key: str,
    params: Mapping[str, Any] | None = None,
    *,
    target: float = TARGET,
    objective: str = "skeleton_f1",
    epsilons: Sequence[float] = EPSILONS,
    seeds: int | Iterable[int] = SEEDS,
    **how: Any,
) -> Answer:
    """Find the smallest epsilon with which an algorithm reaches a score, with an interval.

    Args:
        data: A bundled network's name, or a public dataset with a true graph.
        key: An algorithm with an epsilon.
        params: Its other parameters, including the guarantee; the rest are defaults.
        target: The score to reach, in (0, 1].
        objective: "skeleton_f1" or "directed_f1", of the fully tested links.
        epsilons: The epsilons tried first, by default 9 from .01 to 100; up to 3 more follow near
            the crossing.
        seeds: The number of seeds per epsilon, or the seeds.
        how: ``store``, ``executor``, ``workers``, ``stop``, ``on_progress`` of
            :func:`engine.sweep`.

    Returns:
        The answer, from a median over the seeds at each epsilon.

    Raises:
        InputError: For private data, data without a ground truth, and invalid values.

    Examples:
        >>> which_epsilon("cancer", "marginal_pc", seeds=3, epsilons=[0.1, 10]).rows
        100000
    """
    (sampled,) = public([data])
    check_target(target, objective)
    if "epsilon" not in {s.name for s in algorithm(key).params.specs()}:
        raise InputError(f"{algorithm(key).title} has no ε to choose.")
    grid = {**(params or {}), "epsilon": list(epsilons)}
    results = list(sweep(sampled, key, grid, seeds, **how))
    if not results:
        raise InputError("Stopped before the first run had finished.")
    return narrowed(sampled, results, target, objective, **how)


def narrowed(
    data: Dataset, results: Iterable[TrialResult], target: float, objective: str, **how: Any
) -> Answer:
    """Answer like :func:`answer_of`, with runs at up to ``HALVINGS`` more epsilons.

    Each is the geometric mean of the two epsilons around the crossing, with every seed of
    ``results``. An epsilon that is stopped midway does not count.
    """
    runs = list(results)
    found = answer_of(runs, data.n, target, objective)
    seeds = sorted({run.seed for run in runs})
    for _ in range(HALVINGS):
        if found.epsilon is None or not found.below:
            break
        middle = float(f"{math.sqrt(found.below * found.epsilon):.3g}")
        grid = {**found.params, "epsilon": middle}
        more = list(sweep(data, found.algorithm, grid, seeds, **how))
        if len(more) < len(seeds):
            break
        found = answer_of([*found.results, *more], data.n, target, objective)
    return found


def answer_of(
    results: Iterable[TrialResult], rows: int, target: float, objective: str = "skeleton_f1"
) -> Answer:
    """Answer from runs of one algorithm on one dataset that differ only in epsilon and seed.

    While a study is running, the epsilons may have different numbers of seeds.
    """
    runs = tuple(sorted(results, key=lambda r: (r.values["epsilon"], r.seed)))
    table, y = frame(runs), TESTED[objective]
    (row,) = smallest_epsilons(table, target, y).to_dict("records")
    given = {k: v for k, v in runs[0].values.items() if k != "epsilon"}
    return Answer(
        runs[0].dataset, rows, runs[0].algorithm, given, objective, target,
        row["epsilon"] if row["reached"] else None, row["below"], row["least"], row["most"],
        row["best"], bands(table, y), runs,
    )  # fmt: skip


def check_target(target: float, objective: str = "skeleton_f1") -> None:
    """Raise InputError for a target outside (0, 1] and an unknown objective."""
    if not 0 < target <= 1:
        raise InputError(f"A target lies above 0 and is at most 1; {target:g} is not.")
    if objective not in OBJECTIVES:
        raise InputError(f"A score is {' or '.join(OBJECTIVES)}, not {objective!r}.")


# The values of a search -----------------------------------------------------------------


class Axis(NamedTuple):
    """One parameter of a search, and its possible values in order."""

    spec: Spec
    values: tuple[Any, ...]

    @property
    def name(self) -> str:
        """Name of the parameter."""
        return self.spec.name

    @property
    def ranged(self) -> bool:
        """True if it has a range; a search covers these parameters by default."""
        return self.spec.tuned is not None

    def grid(self, count: int) -> list[Any]:
        """Return some values of a range, including both ends, or all values of a choice."""
        if not self.ranged:
            return list(self.values)
        places = np.linspace(0, len(self.values) - 1, count).round().astype(int)
        return [self.values[k] for k in dict.fromkeys(places)]


def axes(key: str, rows: int) -> tuple[Axis, ...]:
    """List the parameters that a search may cover: those with a range, and choices.

    Args:
        key: An algorithm.
        rows: n, for ranges that end there.

    Returns:
        One axis per parameter, in the order of declaration.

    Examples:
        >>> [axis.name for axis in axes("priv_pc", 5000) if axis.ranged]
        ['threshold', 'max_order', 'blocks', 'tweak', 'subsample']
    """
    found = []
    for spec in algorithm(key).params.specs():
        values: tuple[Any, ...] = (False, True) if spec.kind == "bool" else spec.choices
        if spec.tuned is not None:
            low, end = spec.tuned
            high = float(rows) if isinstance(end, str) else float(end)
            low = min(low, high)
            spaced = np.geomspace if low > 0 and high / low >= 50 else np.linspace
            whole, some = spec.kind == "int", spaced(low, high, _PLACES).tolist()
            values = tuple(dict.fromkeys(round(v) if whole else float(f"{v:.3g}") for v in some))
        if values and spec.name not in _NEVER:
            found.append(Axis(spec, tuple(v for v in values if v != _ORACLE)))
    return tuple(found)


# The search -----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Tuned:
    """The result of a search.

    ``params`` are the chosen parameters. ``chosen`` is their score in the search, ``fresh`` that on
    new runs, with new seeds and, if given, held-out data. ``default`` is the score of the default
    setting on the same new runs. ``whole`` is False if the search was stopped.
    """

    key: str
    fixed: Mapping[str, Any]
    params: Mapping[str, Any]
    objective: str
    chosen: Score
    fresh: Score
    default: Score
    runs: int
    whole: bool

    @property
    def better(self) -> bool:
        """True if it beats the default on new runs by more than the error of the difference."""
        return bool(self.params) and self.fresh.beats(self.default)

    @property
    def gap(self) -> float:
        """Difference between the score in the search and that on new runs."""
        return self.chosen.mean - self.fresh.mean

    @property
    def sentence(self) -> str:
        """Result in words, for a terminal or a page."""
        if not self.whole:
            return "Stopped before the search had ended."
        what = f"{OBJECTIVES[self.objective]} on new runs"
        if not self.better:
            return f"The default is as good as any setting tried: {what} {self.default}."
        words = ", ".join(f"{name} = {value}" for name, value in self.params.items())
        return f"Best setting: {words}. {what}: {self.fresh}, the default {self.default}."


@renamed(cancelled="stop")
def tune(
    key: str,
    datasets: Datasets,
    fixed: Mapping[str, Any],
    names: Sequence[str] = (),
    *,
    runs: int = 200,
    objective: str = "skeleton_f1",
    held_out: Datasets = (),
    seed: int = 0,
    stop: Stop | None = None,
    on_progress: OnProgress | None = None,
    **how: Any,
) -> Tuned:
    """Search for the best setting, and report its score on new runs.

    Args:
        key: An algorithm.
        datasets: Names or public datasets with a true graph; the score is the mean over them.
        fixed: Parameters that stay constant, for example epsilon.
        names: The parameters to search over; by default all with a range.
        runs: The number of runs allowed, without those of the report.
        objective: "skeleton_f1" or "directed_f1", of the fully tested links.
        held_out: Other data, for the report.
        seed: The seed of the candidates.
        stop: A ``threading.Event``, or a function that returns True to stop. The search then ends
            without a choice.
        on_progress: Called after each run with the completed share and a phrase.
        how: ``store``, ``executor``, ``workers`` of :func:`engine.sweep`.

    Raises:
        InputError: For private data, data without a ground truth, and invalid values.

    Examples:
        >>> found = tune("priv_pc", "cancer", {"epsilon": 1.0}, ["tweak"], runs=20)
        >>> found.whole, found.fresh.runs
        (True, 20)
    """
    data, others = public(datasets), public(held_out)
    check_target(1.0, objective)
    if not data or not 20 <= runs <= MOST:
        raise InputError(f"A search needs data, and 20 to {MOST:,} runs; not {runs:,}.")
    tried = _candidates(key, fixed, names, data, max(2, runs // (_ROUNDS * len(data))), seed)
    rounds = [max(2, math.ceil(len(tried) / 2**k)) for k in range(_ROUNDS)]
    planned = sum(c << k for k, c in enumerate(rounds)) * len(data)
    planned += 2 * SEEDS * len(others or data)
    monitor, runs_made = Monitor(on_progress, stop), 0
    count = monitor.counted(planned)
    scores: dict[str, dict[int, list[float]]] = {one: defaultdict(list) for one in tried}

    def play(some: Sequence[str], on: Sequence[Dataset], seeds: range) -> None:
        nonlocal runs_made
        for r in sweep(on, key, [{**fixed, **tried[one]} for one in some], seeds, stop=stop, **how):
            scores[r.params][r.seed].append(score_of(r, objective))
            runs_made += 1
            count()

    def of(one: str, seeds: range) -> list[float]:
        """Return a candidate's scores: the mean over the datasets for each of its seeds."""
        return [fmean(scores[one][seed]) for seed in seeds if seed in scores[one]]

    def best_first(some: Iterable[str], seeds: int) -> list[str]:
        return sorted(some, key=lambda one: -fmean(of(one, range(seeds)) or [-math.inf]))

    alive = list(tried)
    for k, most in enumerate(rounds):
        alive = best_first(alive, 2**k - 1)[:most]
        play(alive, data, range(2**k - 1, 2 ** (k + 1) - 1))
    seeds, new = 2**_ROUNDS - 1, range(FRESH, FRESH + SEEDS)
    pair = best_first(alive, seeds)[0], next(iter(tried))
    play(pair, others or data, new)
    fresh, default = (Score.of(of(one, new)) for one in pair)
    return Tuned(
        key, dict(fixed), tried[pair[0]], objective, Score.of(of(pair[0], range(seeds))), fresh,
        default, runs_made, not monitor.stopped(),
    )  # fmt: skip


def _candidates(
    key: str,
    fixed: Mapping[str, Any],
    names: Sequence[str],
    data: Sequence[Dataset],
    count: int,
    seed: int,
) -> dict[str, dict[str, Any]]:
    """Return candidates by canonical parameters: the default, then valid evenly spread points."""
    from scipy.stats import qmc  # local import: it takes a third of a second

    build = algorithm(key).params.build
    every = {axis.name: axis for axis in axes(key, min(d.n for d in data))}
    for name in names:
        if name not in every:
            raise InputError(f"{key} has no {name!r} to search over.{did_you_mean(name, every)}")
    wanted = set(names or [a.name for a in every.values() if a.ranged]) - {*fixed}
    over = [axis for name, axis in every.items() if name in wanted]
    found: dict[str, dict[str, Any]] = {canonical(build(dict(fixed))): {}}
    if not over:
        raise InputError(f"{key} has nothing left to search over.")
    points = qmc.Sobol(len(over), scramble=True, rng=np.random.default_rng(seed))
    for point in points.random(1 << math.ceil(math.log2(4 * count))):
        places = (int(x * len(a.values)) for a, x in zip(over, point, strict=True))
        params = {a.name: a.values[k] for a, k in zip(over, places, strict=True)}
        with suppress(InputError):
            if len(found) < count:
                found.setdefault(canonical(build({**fixed, **params})), params)
    return found


def halves(draw: Callable[[int], Dataset]) -> tuple[list[Dataset], list[Dataset]]:
    """Draw datasets for the search and others for the report.

    Args:
        draw: Returns the dataset for a number from 0 on: that of a random network with a schema
            (:meth:`engine.studies.plan.PlanRequest.dataset`), or synthetic rows of a release.

    Returns:
        ``DRAWN`` datasets, and as many others.
    """
    made = list(map(draw, range(2 * DRAWN)))
    return made[:DRAWN], made[DRAWN:]


def score_of(result: TrialResult, objective: str) -> float:
    """Return a run's score on its fully tested links."""
    assert result.metrics_tested is not None  # the data have a ground truth
    return float(getattr(result.metrics_tested, objective))


def public(datasets: Datasets) -> list[Dataset]:
    """Load the datasets; raises InputError for private data and data without a true graph."""
    found = loaded(datasets)
    for data in found:
        if not data.public:
            raise InputError("A search on private data would spend budget on every run.")
        if data.truth is None:
            raise InputError(f"{data.name} has no true graph to score against.")
    return found
