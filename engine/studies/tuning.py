"""Good settings as the outcome of a study: searched for on some runs, reported on others.

Candidates are the algorithm's default and points of a Sobol sequence over its declared parameters;
successive halving (Jamieson and Talwalkar, AISTATS 2016) gives twice the seeds to the better half
of them, round after round. What a candidate's neighbours did counts a little for it too: one seed
says little. The winner of a search looks better than it is, so that its score is told on seeds,
and on request on datasets, that the search never saw.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.data.dataset import Dataset
from engine.data.networks import load_dataset
from engine.errors import InputError, did_you_mean
from engine.params import Spec
from engine.registry import algorithm
from engine.studies.cells import CellResult, Datasets
from engine.studies.known import knowledge_alone
from engine.studies.sweep import StoreLike, sweep
from engine.studies.timing import Pace, cost

Array = NDArray[np.float64]

OBJECTIVES = {"skeleton_f1": "Skeleton F1", "directed_f1": "Directed F1"}
BESIDE = ("precision", "recall", "shd", "ci_tests", "seconds")
FRESH = 1_000_000  # the first seed of a report: no search counts so far
REPORTED = 20  # seeds of a report
MOST = 20_000  # runs of one search
_ROUNDS = 5  # half of the candidates with twice the new seeds, so that all cost the same
_REACH = 0.05  # how near a neighbour is, in widths of an axis
_HEARD = 8  # runs of a neighbour that count at most
_DOUBT = 4  # runs of the average candidate that each is given besides its own
_LOOKS = 2  # runs on other data before the search, to know how long theirs take
_FAR = 3.0  # standard errors from a target at which it is known whether it is met
_NEVER = {"epsilon", "delta", "guarantee"}  # what one pays is not found, it is given
_ORACLE = "oracle"  # asks the true graph


@dataclass(frozen=True)
class Axis:
    """One parameter of a search: a range, in equal ratios if ``log``, or named values."""

    spec: Spec
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    values: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        """The parameter's name."""
        return self.spec.name

    def at(self, share: float) -> Any:
        """The value at a share in [0, 1) of the axis."""
        if self.values:
            return self.values[min(int(share * len(self.values)), len(self.values) - 1)]
        if self.log:
            value = self.low * (self.high / self.low) ** share
        else:
            value = self.low + (self.high - self.low) * share
        return round(value) if self.spec.kind == "int" else float(f"{value:.3g}")

    def grid(self, count: int) -> list[Any]:
        """At most so many values from one end to the other, each once."""
        if self.values:
            return list(self.values)
        return list(dict.fromkeys(self.at(k / max(count - 1, 1)) for k in range(count)))


def axes(key: str, rows: int, names: Sequence[str] = ()) -> tuple[Axis, ...]:
    """The axes of a search over an algorithm's declared parameters, or over those named.

    Args:
        key: An algorithm.
        rows: n, where a range ends there.
        names: Of parameters; none: all with a range of their own.

    Returns:
        One axis a parameter, in the order of declaration.

    Raises:
        InputError: For a name that is not declared or has no range to search.

    Examples:
        >>> [axis.name for axis in axes("priv_pc", 5000)]
        ['threshold', 'max_order', 'blocks', 'tweak', 'subsample']
    """
    specs = {s.name: s for s in algorithm(key).params.specs()}
    for name in names:
        if name not in specs:
            raise InputError(f"{key} has no parameter {name!r}.{did_you_mean(name, sorted(specs))}")
        if _axis(specs[name], rows) is None:
            raise InputError(f"{name} of {key} is given, not searched for; leave it out.")
    wanted = names or [s.name for s in specs.values() if s.tuned is not None]
    found = (_axis(spec, rows) for spec in specs.values() if spec.name in wanted)
    return tuple(axis for axis in found if axis is not None)


def tunable(key: str) -> list[str]:
    """The parameters of an algorithm that a search may go over, choices among them."""
    return [s.name for s in algorithm(key).params.specs() if _axis(s, 2) is not None]


def front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Which of (cost, worth) points no other beats in both; by rising cost.

    Examples:
        >>> front([(1, 0.5), (2, 0.4), (3, 0.9), (3, 0.8)])
        [0, 2]
    """
    order = sorted(range(len(points)), key=lambda k: (points[k][0], -points[k][1]))
    found: list[int] = []
    for k in order:
        if not found or points[k][1] > points[found[-1]][1]:
            found.append(k)
    return found


def _axis(spec: Spec, rows: int) -> Axis | None:
    if spec.name in _NEVER:
        return None
    if spec.kind == "bool":
        return Axis(spec, values=(False, True))
    if spec.kind == "choice":
        return Axis(spec, values=tuple(c for c in spec.choices if c != _ORACLE))
    if spec.tuned is None:
        return None
    low, end = spec.tuned
    high = float(rows) if isinstance(end, str) else float(end)
    return Axis(spec, min(low, high), high, log=low > 0 and high / low >= 50)


@dataclass(frozen=True, eq=False)
class Score:
    """A mean over runs, its standard error, and how many runs they were."""

    mean: float
    error: float
    runs: int

    @classmethod
    def of(cls, values: Iterable[float]) -> Score:
        """Of some runs' scores."""
        seen = np.array(list(values), dtype=float)
        error = float(seen.std(ddof=1) / math.sqrt(len(seen))) if len(seen) > 1 else math.nan
        return cls(float(seen.mean()) if len(seen) else math.nan, error, len(seen))


@dataclass(eq=False)
class Candidate:
    """A setting that is tried: its parameters, where it lies, and the scores of its runs so far.

    ``means`` are those of its runs' other quantities (``BESIDE``).
    """

    params: dict[str, Any]
    place: Array
    scores: list[float] = field(default_factory=list)
    means: dict[str, float] = field(default_factory=dict)

    @property
    def score(self) -> Score:
        """What its runs say so far."""
        return Score.of(self.scores)


@dataclass(frozen=True, eq=False)
class Tuned:
    """What a search found.

    ``params`` are the parameters that it chose; ``chosen`` their score on the runs that chose
    them, ``fresh`` on new seeds of the same data, ``elsewhere`` on other data, where asked for.
    ``default`` is the default setting's on the fresh seeds, ``default_elsewhere`` on other data.
    ``alone``, where causes are known: the directed F1 of the fresh runs' links with no arrows but
    those that are known. ``tried`` are all candidates that were run. ``whole`` is False where the
    search was stopped.
    """

    key: str
    fixed: Mapping[str, Any]
    params: Mapping[str, Any]
    chosen: Score
    fresh: Score
    default: Score
    elsewhere: Score | None
    default_elsewhere: Score | None
    alone: Score | None
    tried: tuple[Candidate, ...]
    runs: int
    whole: bool

    @property
    def gap(self) -> float:
        """How much better the setting looked where it was chosen than it is on fresh seeds."""
        return self.chosen.mean - self.fresh.mean


class _Clock:
    """Seconds that a search's runs took, data by data."""

    def __init__(self, *planned: Mapping[str, int]):
        self._waiting: Counter[str] = Counter()
        for one in planned:
            self._waiting.update(one)
        self.planned = sum(self._waiting.values())
        self._took: dict[str, list[float]] = {}
        self._worked = self._went = 0.0
        self._pace = Pace()

    def skip(self, runs: Mapping[str, int]) -> None:
        """So many runs on each of the data will not be made."""
        self._waiting.subtract(runs)
        self.planned -= sum(runs.values())

    def note(self, runs: Sequence[CellResult], seconds: float) -> None:
        """Runs of one setting and seed that went by in so many seconds."""
        for run in runs:
            self._waiting[run.fingerprint] -= 1
            self._took.setdefault(run.fingerprint, []).append(cost(run))
            self._worked += 0.0 if math.isnan(run.cpu) else run.cpu  # from a store: no work
        self._went += seconds
        self._pace.note(self._went, self._worked)

    @property
    def left(self) -> float | None:
        """Seconds to come; None before the first run."""
        if not self._worked:
            return None
        # The first run on some data counts their tables.
        each = {name: float(np.mean(took[1:] or took)) for name, took in self._took.items()}
        slowest = max(each.values())
        work = sum(count * each.get(name, slowest) for name, count in self._waiting.items())
        return self._pace.seconds(work, self._went, self._worked)


class Search:
    """One search: give its runs out with :meth:`tune`; ``done`` of ``planned`` runs say how far,
    :attr:`left` how long the others will take.

    Args:
        key: An algorithm.
        datasets: Names or public datasets with a true graph; the score is the mean over them.
        fixed: Parameters that stay as they are, such as epsilon.
        names: Of the parameters to search over; none: all with a range of their own.
        runs: How many runs it may take, without those of the report.
        objective: "skeleton_f1" or "directed_f1", of the links tested to the end.
        elsewhere: Other data, on which the result is told as well.
        target: A score that is asked for: once the best lies far from it, on either side, the
            search ends, as further runs would not change the answer.
        store: A path or a ResultStore: what is in it is not run again.
        seed: Of the candidates.

    Raises:
        InputError: For private data, data without a truth, and what does not fit.
    """

    def __init__(
        self,
        key: str,
        datasets: Datasets,
        fixed: Mapping[str, Any],
        names: Sequence[str] = (),
        *,
        runs: int = 200,
        objective: str = "skeleton_f1",
        elsewhere: Datasets = (),
        target: float | None = None,
        store: StoreLike = None,
        seed: int = 0,
        cancelled: Callable[[], bool] = lambda: False,
        on_progress: Callable[[int, int], None] = lambda done, planned: None,
    ):
        self.key, self.fixed, self.objective = key, dict(fixed), objective
        self._target = target
        self._data, self._elsewhere = _public(datasets), _public(elsewhere)
        self._store, self._cancelled, self._on_progress = store, cancelled, on_progress
        self._check(runs)
        self.axes = axes(key, min(d.n for d in self._data), names)
        self.axes = tuple(axis for axis in self.axes if axis.name not in self.fixed)
        if not self.axes:
            raise InputError(f"{key} has nothing left to search over.")
        first = max(2, runs // (_ROUNDS * len(self._data)))
        self.candidates = list(self._candidates(first, seed))
        searched = sum(c * s for c, s in self._rounds())
        self._clock = _Clock(
            {d.identity: searched + 2 * REPORTED for d in self._data},
            {d.identity: 2 * REPORTED for d in self._elsewhere},
        )
        self.done = 0
        self._known: dict[tuple[str, int], list[float]] = {}
        self._results: dict[str, list[CellResult]] = {}
        self._alone: dict[tuple[str, int], list[float]] = {}

    def _check(self, runs: int) -> None:
        if not self._data:
            raise InputError("Give at least one dataset to search on.")
        if self.objective not in OBJECTIVES:
            raise InputError(f"A search aims at {' or '.join(OBJECTIVES)}, not {self.objective!r}.")
        if not 20 <= runs <= MOST:
            raise InputError(f"A search takes 20 to {MOST:,} runs, not {runs:,}.")
        algorithm(self.key).params.build(self.fixed)

    def _candidates(self, count: int, seed: int) -> Iterator[Candidate]:
        """The default setting, then points spread evenly; those that do not fit are passed over."""
        from scipy.stats import qmc  # here: it takes a third of a second

        yield Candidate({}, np.full(len(self.axes), math.inf))
        points = qmc.Sobol(len(self.axes), scramble=True, rng=np.random.default_rng(seed))
        seen: set[str] = set()
        for point in points.random(1 << math.ceil(math.log2(4 * count))):
            params = {a.name: a.at(float(x)) for a, x in zip(self.axes, point, strict=True)}
            name = json.dumps(params, sort_keys=True)
            if len(seen) == count - 1:
                return
            if name not in seen and self._fits(params):
                seen.add(name)
                yield Candidate(params, np.array(point))

    def _fits(self, params: Mapping[str, Any]) -> bool:
        """Whether the parameters may stand together."""
        try:
            algorithm(self.key).params.build({**self.fixed, **params})
        except InputError:
            return False
        return True

    def _rounds(self) -> list[tuple[int, int]]:
        """(candidates, new seeds of each) of every round."""
        left, found = len(self.candidates), []
        for k in range(_ROUNDS):
            found.append((left, 1 << k))
            left = max(2, math.ceil(left / 2))
        return found

    @property
    def planned(self) -> int:
        """Runs in all, those of the report among them."""
        return self._clock.planned

    @property
    def left(self) -> float | None:
        """Seconds to come, from the runs so far on each of the data; None before the first."""
        return self._clock.left

    def tune(self) -> Tuned:
        """Search, choose, and tell the choice on runs that it was not chosen by."""
        for seed in range(FRESH, FRESH + _LOOKS):  # of the report: how long its runs will take
            if self._elsewhere:
                self._run({}, seed, self._elsewhere)
        alive, first, rounds = list(self.candidates), 0, self._rounds()
        for k, (count, seeds) in enumerate(rounds):
            alive = sorted(alive, key=self._smoothed(), reverse=True)[:count] if first else alive
            for candidate in alive:
                for seed in range(first, first + seeds):
                    candidate.scores += self._run(candidate.params, seed, self._data)
            first += seeds
            if self._settled(alive):
                rest = sum(c * s for c, s in rounds[k + 1 :])
                self._clock.skip({d.identity: rest for d in self._data})
                break
        scored = [c for c in alive if c.scores]
        best = max(scored, key=self._smoothed(), default=self.candidates[0])
        return self._told(best)

    def _settled(self, alive: Sequence[Candidate]) -> bool:
        """Whether the best is so far from the target that it is known to miss or to meet it.

        The spread is that of all runs of those still tried: no less than that of one's own. Where
        the result is told on other data, the default setting's first runs there must agree.
        """
        scores = [score for c in alive for score in c.scores]
        if self._target is None or not scores or self._cancelled():
            return False
        best = max((c.score for c in alive if c.scores), key=lambda score: score.mean)
        sides = {self._side(best.mean, scores, best.runs)}
        if self._elsewhere:
            away = [s for k in range(_LOOKS) for s in self._run({}, FRESH + k, self._elsewhere)]
            sides.add(self._side(Score.of(away).mean, scores, len(away)))
        return sides in ({-1}, {1})

    def _side(self, mean: float, scores: Sequence[float], runs: int) -> int:
        """-1 for a mean of so many runs that is far below the target, 1 far above, 0 between."""
        assert self._target is not None
        far = _FAR * float(np.std(scores)) / math.sqrt(max(runs, 1))
        return int(mean - self._target > far) - int(self._target - mean > far)

    def _told(self, best: Candidate) -> Tuned:
        fresh, default = (self._report(p, self._data) for p in (best.params, {}))
        away: list[Score | None] = [None, None]
        if self._elsewhere:
            away = [self._report(p, self._elsewhere) for p in (best.params, {})]
        tried = tuple(c for c in self.candidates if c.scores)
        for one in tried:
            one.means = self._means(one.params)
        return Tuned(
            self.key, self.fixed, best.params, best.score, fresh, default, away[0], away[1],
            self._alone_at(best.params), tried, self.done, not self._cancelled(),
        )  # fmt: skip

    def _report(self, params: Mapping[str, Any], data: Sequence[Dataset]) -> Score:
        """The mean over datasets on fresh seeds; a seed's runs on them count as one."""
        each = (self._run(params, FRESH + s, data) for s in range(REPORTED))
        return Score.of(float(np.mean(scores)) for scores in each if scores)

    def _means(self, params: Mapping[str, Any]) -> dict[str, float]:
        """What else a setting's runs came to, on average."""
        runs = self._results.get(json.dumps(params, sort_keys=True), [])
        return {
            name: float(np.mean([float(getattr(r, name)) for r in runs])) for name in BESIDE if runs
        }

    def _smoothed(self) -> Callable[[Candidate], float]:
        """A candidate's mean, drawn to its neighbours' and to all's: luck passes."""
        done = [c for c in self.candidates if c.scores]
        places = np.array([c.place for c in done])
        means = np.array([float(np.mean(c.scores)) for c in done])
        counts = np.array([float(len(c.scores)) for c in done])

        def score(one: Candidate) -> float:
            if not one.scores:
                return -math.inf
            with np.errstate(invalid="ignore"):
                far = ((places - one.place) ** 2).sum(axis=1) / (2 * _REACH**2)
            near = np.exp(-np.nan_to_num(far, nan=math.inf)) * np.minimum(counts, _HEARD)
            own, n = float(np.mean(one.scores)), len(one.scores)
            near[[c is one for c in done]] = 0.0
            total = n * own + near @ means + _DOUBT * means.mean()
            return float(total / (n + near.sum() + _DOUBT))

        return score

    def _alone_at(self, params: Mapping[str, Any]) -> Score | None:
        """What is known alone makes of a report's links; None where nothing is."""
        keys = (_key(params, FRESH + s, self._data) for s in range(REPORTED))
        found = [float(np.mean(self._alone[key])) for key in keys if key in self._alone]
        return Score.of(found) if found else None

    def _run(self, params: Mapping[str, Any], seed: int, data: Sequence[Dataset]) -> list[float]:
        """The score on each dataset with this seed; none once the search was stopped."""
        name, key = json.dumps(params, sort_keys=True), _key(params, seed, data)
        if key not in self._known:
            if self._cancelled():
                return []
            given, began = {**self.fixed, **params}, monotonic()
            results = sweep(
                data, self.key, given, [seed], store=self._store, cancelled=self._cancelled
            )
            runs = list(results)
            if len(runs) < len(data):
                return []
            found = [score_of(r, self.objective) for r in runs]
            if seed < FRESH:
                self._results.setdefault(name, []).extend(runs)
            self._known[key] = found
            by_print = {d.identity: d for d in data}
            told = [knowledge_alone(r, by_print[r.fingerprint]) for r in runs]
            if known := [value for value in told if value is not None]:
                self._alone[key] = known
            self.done += len(found)
            self._clock.note(runs, monotonic() - began)
            self._on_progress(self.done, self.planned)
        return self._known[key]


def _key(params: Mapping[str, Any], seed: int, data: Sequence[Dataset]) -> tuple[str, int]:
    return json.dumps(params, sort_keys=True) + "|".join(d.identity for d in data), seed


# The least epsilon -----------------------------------------------------------------------

EPSILONS = tuple(float(f"{10 ** (k / 4):.3g}") for k in range(-8, 5))  # .01 to 10


@dataclass(frozen=True, eq=False)
class Least:
    """From which epsilon on a target is met, as a range, and the searches that say so.

    ``may`` is the least epsilon whose tuned setting may reach the target (two standard errors above
    its mean do), ``will`` the least whose mean does with two to spare; None where no epsilon does.
    ``found`` are the searches that came to their end; ``whole`` is False where they were stopped,
    and then neither end is known, but both may be bounded: ``missed`` and ``met``.
    """

    target: float
    may: float | None
    will: float | None
    found: Mapping[float, Tuned]
    whole: bool = True

    @property
    def missed(self) -> float | None:
        """The largest epsilon tried that does not reach the target; None where none is known."""
        out = [e for e, one in self.found.items() if not _reaches(one, self.target, 2.0)]
        return max(out, default=None)

    @property
    def met(self) -> float | None:
        """The least epsilon tried that surely reaches the target; None where none is known."""
        known = [e for e, one in self.found.items() if _reaches(one, self.target, -2.0)]
        return min(known, default=None)


def bounds(found: Least) -> str:
    """What a stopped one knows, as the end of a sentence; "" where that is nothing."""
    known = ((found.missed, "not by"), (found.met, "surely from"))
    said = [f"{words} ε = {epsilon:g}" for epsilon, words in known if epsilon is not None]
    return f": {', '.join(said)}" if said else ""


def verdict(one: Tuned, target: float) -> str:
    """Whether a search's outcome reaches the target, in words."""
    if not _reaches(one, target, 2.0):
        return "too low"
    return "enough" if _reaches(one, target, -2.0) else "too close to tell"


def _reaches(one: Tuned, target: float, slack: float) -> bool:
    """Whether the mean, so many standard errors added, comes up to the target."""
    score = one.elsewhere or one.fresh
    return bool(score.mean + slack * np.nan_to_num(score.error) >= target)


def least_epsilon(
    target: float,
    search: Callable[[float], Search],
    epsilons: Sequence[float] = EPSILONS,
    cancelled: Callable[[], bool] = lambda: False,
    on_search: Callable[[float, int, int], object] = lambda epsilon, done, most: None,
    on_found: Callable[[float, Tuned], object] = lambda epsilon, found: None,
) -> Least:
    """The least epsilon that reaches a score when everything else is tuned for it.

    Halving the list of epsilons, so that a score is taken to rise with epsilon. Judged on fresh
    seeds, of other data where the search has some.

    Args:
        target: Of the search's objective, in (0, 1].
        search: Makes the search at an epsilon.
        epsilons: What is tried, rising.
        cancelled: Polled; what is known by then is given back.
        on_search: Called before each search with its epsilon, how many searches of those that
            there may be need not be made any more, and how many there may be.
        on_found: Called after each search that came to its end.

    Returns:
        The range, and what was found at each epsilon that was tried.

    Raises:
        InputError: For a target outside (0, 1].
    """
    if not 0 < target <= 1:
        raise InputError(f"A target lies above 0 and is at most 1; {target:g} is not.")
    found: dict[int, Tuned] = {}

    def between(slack: float) -> tuple[int, int]:
        """The first and the last place where the least epsilon of this end may lie."""
        reached = [k for k, one in found.items() if _reaches(one, target, slack)]
        high = min(reached, default=len(epsilons))
        return max((k + 1 for k in found if k < high), default=0), high

    def steps() -> int:
        """How many more searches there may be."""
        return sum((high - low).bit_length() for low, high in map(between, (2.0, -2.0)))

    most = steps()
    while steps() and not cancelled():
        low, high = next(ends for ends in map(between, (2.0, -2.0)) if ends[0] < ends[1])
        middle = (low + high) // 2
        on_search(epsilons[middle], most - steps(), most)
        found[middle] = one = search(epsilons[middle]).tune()
        if one.whole:
            on_found(epsilons[middle], one)
    whole = not cancelled()
    ends = [high for _, high in map(between, (2.0, -2.0))]
    may, will = (epsilons[k] if whole and k < len(epsilons) else None for k in ends)
    ended = {epsilons[k]: found[k] for k in sorted(found) if found[k].whole}
    return Least(target, may, will, ended, whole)


def score_of(result: CellResult, objective: str) -> float:
    """What a run counts for: the score of the links that it tested to the end."""
    assert result.metrics_tested is not None  # the data have a truth
    return float(getattr(result.metrics_tested, objective))


def _public(datasets: Datasets) -> list[Dataset]:
    given = [datasets] if isinstance(datasets, (Dataset, str)) else list(datasets)
    found = [load_dataset(d) if isinstance(d, str) else d for d in given]
    for data in found:
        if not data.public:
            raise InputError("A search on a person's own data would spend budget on every run.")
        if data.truth is None:
            raise InputError(f"{data.name} has no true graph to score against.")
    return found
