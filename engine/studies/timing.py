"""How long a study will still take, told by its own runs so far.

How long a run takes depends on its dataset and algorithm above all, then on its parameters (a small
epsilon ends a search early), and little on its seed. So a study begins with a tenth of its runs,
spread over all of these, and what is left is reckoned from them.

A run's length is reckoned in the processor's seconds, which hold whatever else the machine does;
the clock on the wall goes by for them at a pace of its own (:class:`Pace`).
"""

from __future__ import annotations

import json
import math
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from engine.studies.cells import Cell, CellResult

Group = tuple[str, str]  # a dataset's fingerprint and an algorithm: runs of like length

_LOOKED = 0.1  # share of a group's runs that come first
_LEAST = 2  # of a group: the first run of all counts the tables
_MANY = 40  # runs of a dataset from which on its tables may be counted twice
_EVERY = 0.25  # seconds between two reckonings of every group
_CLOSE = 0.05  # distance within which settings count alike
_LATE = 0.3  # share of the time so far that tells the pace
_SHORTEST = 10.0  # seconds that tell it at least


def looks_first(cells: Sequence[Cell], holds: int | None = None) -> tuple[list[Cell], list[Cell]]:
    """(a tenth of the cells, spread over every group's settings; the others in their order).

    ``holds`` is how many datasets the workers keep tables of, None if all: where there are more,
    those of few cells are not begun early, as their tables would be counted again.
    """
    by_data: dict[str, list[Cell]] = {}
    for cell in cells:
        by_data.setdefault(cell.fingerprint, []).append(cell)
    early: list[Cell] = []
    for here in by_data.values():
        if holds is None or len(by_data) <= holds or len(here) >= _MANY:
            groups: dict[str, list[Cell]] = {}
            for cell in here:
                groups.setdefault(cell.algorithm, []).append(cell)
            for group in groups.values():
                early += _spread(group)
    chosen = set(early)
    return early, [cell for cell in cells if cell not in chosen]


def _spread(cells: Sequence[Cell]) -> list[Cell]:
    """A tenth of a group: of its first seeds, settings far apart before those between them."""
    settings = {params: at for at, params in enumerate(dict.fromkeys(c.params for c in cells))}
    seeds = {seed: at for at, seed in enumerate(dict.fromkeys(c.seed for c in cells))}
    rank = {at: place for place, at in enumerate(_far_apart(len(settings)))}
    count = max(_LEAST, math.ceil(_LOOKED * len(cells)))
    order = sorted(cells, key=lambda c: (seeds[c.seed], rank[settings[c.params]]))
    return order[:count]


def _far_apart(count: int) -> list[int]:
    """The places of 0 … count - 1: both ends, the middle, then between.

    >>> _far_apart(7)
    [0, 6, 3, 1, 4, 2, 5]
    """
    last = count - 1
    order = [0, last]
    step = 1
    while step < count:
        order += [round(last * (2 * k + 1) / (2 * step)) for k in range(step)]
        step *= 2
    return [at for at in dict.fromkeys(order) if 0 <= at < count]


class Pace:
    """Seconds on the wall that went by for each second of work, of late.

    Other work on the machine, workers beside each other and time between the runs are all in it.
    What lies far back is forgotten: the machine may have been emptier then.
    """

    def __init__(self) -> None:
        self._marks = deque([(0.0, 0.0)])

    def note(self, elapsed: float, worked: float) -> None:
        """So many seconds have gone by, for so many of work."""
        if elapsed - self._marks[-1][0] >= _EVERY:
            self._marks.append((elapsed, worked))
        far = max(_SHORTEST, _LATE * elapsed)
        while len(self._marks) > 1 and elapsed - self._marks[1][0] >= far:
            self._marks.popleft()

    def seconds(self, work: float, elapsed: float, worked: float) -> float:
        """How long so much work will take, where ``elapsed`` and ``worked`` are those of now."""
        since, done = self._marks[0]
        return work * (elapsed - since) / (worked - done) if worked > done else work


def cost(result: CellResult) -> float:
    """The processor's seconds that a run took; of one from a store, those on the wall."""
    return result.seconds if math.isnan(result.cpu) else result.cpu


class Left:
    """The seconds that the runs to come will take, from those so far.

    ``expected`` are seconds a run of groups that none has been seen of.
    """

    def __init__(self, cells: Iterable[Cell], expected: Mapping[Group, float] | None = None):
        self._expected = dict(expected or {})
        self._groups: dict[Group, _Group] = {}
        for cell in cells:
            self._groups.setdefault((cell.fingerprint, cell.algorithm), _Group()).add(cell)
        self._worked, self._count, self._at = 0.0, 0, -math.inf
        self._each: dict[Group, float] = {}
        self._pace = Pace()

    def note(self, result: CellResult, *, fresh: bool) -> None:
        """A run is there; one from the store took no time, but tells how long its kind takes."""
        group = result.fingerprint, result.algorithm
        took = cost(result)
        self._groups[group].note(result.params, took, fresh=fresh)
        self._count += 1
        if fresh and not math.isnan(took):
            self._worked += took

    def seconds(self, elapsed: float) -> float | None:
        """Seconds to come, as ``elapsed`` went by for the runs so far; None before the first."""
        if self._count < 64 or elapsed > self._at + _EVERY:
            self._at = elapsed
            self._reckon()
        if not self._each:
            return None
        # A kind of run that nobody has seen is taken to be as slow as the slowest.
        slowest = max(self._each.values())
        work = sum(g.left * self._each.get(key, slowest) for key, g in self._groups.items())
        if not self._worked:  # the clock of private rows is not told
            return work
        self._pace.note(elapsed, self._worked)
        return self._pace.seconds(work, elapsed, self._worked)

    def _reckon(self) -> None:
        """Seconds that each run to come takes, group by group."""
        for key, group in self._groups.items():
            each = group.seconds_each()
            found = self._expected.get(key) if each is None else each
            if found is not None:
                self._each[key] = found


class _Group:
    """The runs of an algorithm on a dataset: which are left, and how long others took."""

    def __init__(self) -> None:
        self.left = 0
        self._waiting: Counter[str] = Counter()
        self._took: dict[str, list[float]] = {}  # by setting
        self._first: float | None = None  # of the run that counted the tables
        self._kept: list[float] = []
        self._known: float | None = None  # what was reckoned last, until another run is there
        self._changed = False

    def add(self, cell: Cell) -> None:
        """One more to come."""
        self._waiting[cell.params] += 1
        self.left += 1

    def note(self, params: str, seconds: float, *, fresh: bool) -> None:
        """One has come."""
        self._waiting[params] -= 1
        self.left -= 1
        if math.isnan(seconds):
            return
        self._changed = True
        if not fresh:
            self._kept.append(seconds)
        elif self._first is None:
            self._first = seconds
        else:
            self._took.setdefault(params, []).append(seconds)

    def seconds_each(self) -> float | None:
        """Seconds a run to come takes; None where nothing is known of this group."""
        if self._changed:
            self._changed = False
            self._known = self._reckoned()
        return self._known

    def _reckoned(self) -> float | None:
        if not self._took:
            told = [self._first] if self._first is not None else self._kept
            return float(np.mean(told)) if told else None
        waiting = [params for params, count in self._waiting.items() if count > 0]
        seen = list(self._took)
        means = np.array([np.mean(self._took[params]) for params in seen])
        if not waiting:  # none to come; it still says how long an unseen kind may take
            return float(means.mean())
        places = _places([*waiting, *seen])
        far = np.abs(places[: len(waiting), None] - places[None, len(waiting) :]).sum(axis=2)
        near = (far + _CLOSE) ** -2.0
        each = near @ means / near.sum(axis=1)
        return float(np.average(each, weights=[self._waiting[params] for params in waiting]))


def _places(settings: Sequence[str]) -> np.ndarray:
    """Settings as points (count, parameters): a parameter's values from 0 to 1 by rank."""
    read = [json.loads(params) for params in settings]
    columns = [_ranks([one[name] for one in read]) for name in read[0]]
    return np.array(columns, dtype=float).reshape(len(read[0]), len(settings)).T


def _ranks(values: Sequence[Any]) -> list[float]:
    words = [json.dumps(value, sort_keys=True) for value in values]
    try:
        order = sorted(set(values))
        ranks = {json.dumps(value): at for at, value in enumerate(order)}
    except TypeError:
        ranks = {word: at for at, word in enumerate(dict.fromkeys(words))}
    last = max(len(ranks) - 1, 1)
    return [ranks[word] / last for word in words]
