"""Scores of both directions, and their sensitivities (Kusner et al., Algorithm 1)."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.diagnostics import Diagnostics
from engine.pairs.columns import Halves, Pair
from engine.pairs.dependence import (
    KERNEL_SCORES,
    iqr_reach,
    log_iqr,
    record_sensitivity,
    score,
    training_sensitivity,
)
from engine.pairs.regression import Ridge, Vector, residual_bound

BOTH, TEST, TRAINING = "both", "test", "training"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Public settings of the protocol: lambda, kernel widths, and the half that noise protects."""

    ridge: float
    width: float
    score_width: float
    protect: str = BOTH
    variant: str = "strict"

    @property
    def test(self) -> bool:
        """True if a record of the test half is protected."""
        return self.protect in (BOTH, TEST)

    @property
    def training(self) -> bool:
        """True if a record of the training half is protected."""
        return self.protect in (BOTH, TRAINING)

    def shift(self, n: int) -> float:
        """Bound the change of a residual by one training record of n; 0 if that half is public."""
        if not self.training:
            return 0.0
        bound = residual_bound(n, self.ridge, self.variant)
        # Predictions are clipped to [-1, 1], so each changes by at most 2.
        return bound if self.variant == "published" else min(2.0, bound)

    def sensitivity(self, name: str, n: int, m: int) -> float:
        """Return the sensitivity of one score, on n training and m test records.

        A record lies in only one half, so the larger of the two sensitivities is enough.
        """
        bounds = [record_sensitivity(name, m, self.variant)] if self.test else []
        if self.training and (name in KERNEL_SCORES or self.variant == "strict"):
            shift = self.shift(n)
            bounds.append(training_sensitivity(name, m, shift, self.score_width, self.variant))
        return max(bounds, default=0.0)


@dataclass(frozen=True, kw_only=True)
class Decision(Diagnostics):
    """Decision about the pair of a run; every field is released or public.

    ``direction`` is "x->y" with the columns' names, or None if nothing was released. ``scores`` are
    the released numbers: two scores (the smaller one wins), or one difference that decides (above
    0: the first column is the cause). ``probability`` is the probability that noise of this size
    has not reversed the decision, at the released gap. ``scale`` is that of the noise on each
    number; ``protects`` says which record it protects.
    """

    direction: str | None
    scores: tuple[float, ...]
    probability: float
    scale: float
    score: str
    release: str
    protects: str

    @property
    def forward(self) -> bool:
        """True if the first column is the cause (names in ``direction`` may contain an arrow)."""
        if self.direction is None:
            return False
        return self.scores[0] > 0 if len(self.scores) == 1 else self.scores[1] > self.scores[0]


@dataclass(frozen=True, eq=False, repr=False)
class Residuals:
    """The test half x', y', and the residuals of both regressions, (m,) each."""

    x: Vector
    y: Vector
    of_y: Vector
    of_x: Vector
    n: int  # number of training records

    @classmethod
    def fit(cls, pair: Pair, halves: Halves, setting: Setting) -> Residuals:
        """Fit both directions on the training half, and apply the fits to the test half."""
        train, test = pair.rows(halves.training), pair.rows(halves.test)
        forward = Ridge.fit(train.x, train.y, setting.width).predict(test.x, setting.ridge)
        backward = Ridge.fit(train.y, train.x, setting.width).predict(test.y, setting.ridge)
        return cls(test.x, test.y, test.y - forward, test.x - backward, len(train.x))

    @property
    def m(self) -> int:
        """Number of test records."""
        return len(self.x)

    @property
    def nbytes(self) -> int:
        """Size in bytes, for the memory bound of a store."""
        return 8 * self.x.nbytes  # four columns, unsorted and sorted

    def scores(self, name: str, width: float) -> tuple[float, float]:
        """Return (s of x -> y, s of y -> x); the direction with the smaller score wins."""
        return score(name, self.x, self.of_y, width), score(name, self.y, self.of_x, width)

    @cached_property
    def ordered(self) -> tuple[Vector, Vector, Vector, Vector]:
        """Sorted x', r_Y, y', r_X for the IQR score, the forward pair first."""
        return tuple(np.sort(c) for c in (self.x, self.of_y, self.y, self.of_x))  # type: ignore[return-value]

    def moves(self, setting: Setting) -> tuple[float, ...]:
        """Bound the change of the values in each of ``ordered`` by one training record."""
        return (0.0, setting.shift(self.n)) * 2


def training_distance(residuals: Vector, shift: float) -> float:
    """Return how many training records can change before two ranks can meet (section 5.1).

    The smallest gap shrinks by at most 2 shift per record, so this number changes by at most 1.
    """
    gap = float(np.diff(np.sort(residuals)).min())
    return math.floor(gap / (2 * shift))


# The interquartile range: records to change until its logarithm leaves an interval ---------------

IQR_SIGNS = (1, 1, -1, -1)  # of x', r_Y, y', r_X in the score of x -> y minus that of y -> x


def intervals(value: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return two intervals of length 1 around a value, on a grid and on the grid moved by 1/2."""
    first, second = math.floor(value) + 0.0, math.floor(value - 0.5) + 0.5
    return (first, first + 1.0), (second, second + 1.0)


class Reach:
    """Reachable values of a signed sum of log IQRs after some changes; 1-Lipschitz distances.

    ``columns`` are sorted (m,) arrays with their ``signs``; ``shifts`` bounds the change of the
    values of each by one training record. Only records of protected halves change; ``test`` is True
    if the test half is protected.
    """

    def __init__(
        self,
        columns: tuple[Vector, ...],
        signs: tuple[int, ...],
        shifts: tuple[float, ...],
        test: bool,
    ):
        self.columns, self.signs, self.shifts, self.test = columns, signs, shifts, test
        self.value = sum(s * log_iqr(column) for column, s in zip(columns, signs, strict=True))

    def _range(self, replaced: int, refitted: int) -> tuple[float, float]:
        """Return the lowest and highest signed sum after these numbers of changed records."""
        lowest = highest = 0.0
        for column, sign, shift in zip(self.columns, self.signs, self.shifts, strict=True):
            small, large = iqr_reach(column, replaced, refitted * shift)
            low, high = _log(small), _log(large)
            lowest += low if sign > 0 else -high
            highest += high if sign > 0 else -low
        return lowest, highest

    def distances(self) -> tuple[int, ...]:
        """Return :meth:`distance` for both intervals of the value; 0 if an IQR is 0."""
        if any(iqr_reach(column, 0)[1] <= 0 for column in self.columns):
            return 0, 0
        return tuple(self.distance(interval) for interval in intervals(self.value))

    def distance(self, interval: tuple[float, float]) -> int:
        """Return the fewest changed records that can move the value out of the interval."""
        most = len(self.columns[0])
        found = most
        for replaced in range(most + 1 if self.test else 1):
            if replaced >= found:
                break
            found = min(found, replaced + self._refits(interval, replaced, found - replaced))
        return found

    def _refits(self, interval: tuple[float, float], replaced: int, most: int) -> int:
        """Return the fewest further changes of training records, or ``most``; by bisection."""

        def out(refitted: int) -> bool:
            lowest, highest = self._range(replaced, refitted)
            return lowest < interval[0] or highest >= interval[1]

        if not any(self.shifts):
            return 0 if out(0) else most
        return bisect_left(range(most), True, key=out)


def reaches(rest: Residuals, setting: Setting) -> list[Reach]:
    """Return the reach of each of the four log IQRs, in the order of ``ordered``."""
    four = zip(rest.ordered, rest.moves(setting), strict=True)
    return [Reach((column,), (1,), (move,), setting.test) for column, move in four]


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf
