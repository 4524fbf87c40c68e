"""Correct an effect by one number per adjustment set: the sum of the records' influences.

Released tables determine a fitted joint table of a cause x, an outcome y and an adjustment set.
From this table follow the effect and the influence of one record in each cell: the doubly robust
(AIPW) influence function. To first order, the mean influence of the private records is the fit's
error. It is one number. Its replace-one sensitivity is the range of the influence over all cells of
the schema, occupied or not. If few records have a level, their weight is capped, and the interval
includes the remaining error.

Influences are rounded to a grid, so that sums are exact and a file verifies on every machine.
Source: Robins, Rotnitzky and Zhao (1994); the one-step estimator of Chernozhukov et al. (2018).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from engine.effects.estimate import (
    Z95,
    Contrast,
    Interval,
    Set,
    cell_variance,
    fitted,
    rare_arms,
    table,
)
from engine.marginals.contrasts import Array
from engine.marginals.moments import Moments
from engine.tables.store import Rows

MOST_CELLS = 5_000  # most cells of a set with a number
CAPS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256)  # of a record's weight
CAPPED = 0.1  # of the outcome's range: the error that each record beyond the cap may add
BLUR = 10.0  # noise deviations of a pair by which the fit leans towards independence ...
LEAST_BLUR, MOST_BLUR = 0.005, 0.5  # ... within these shares
CLEAR = 4.0  # factor on the noise variance with which the squared share of a cell is compared
REDRAWN = 8  # number of times that the noise of the fit is redrawn, from a public sequence
GRID = 2.0**-20  # of the outcome's range

Steps = NDArray[np.int64]


def countable(m: Moments, asked: Contrast, adjusted: Set) -> bool:
    """Return whether a set has few enough cells for a number."""
    columns = (asked.cause, *adjusted, asked.outcome)
    return math.prod(m.cardinalities[c] for c in columns) <= MOST_CELLS


@dataclass(frozen=True, eq=False)
class Influence:
    """A fitted effect and the influence (x, *adjusted, y) of one record in each cell.

    The influence is ``steps`` times ``unit``. ``value`` is the effect from the fitted table.
    ``variance`` is the variance that remains once the mean influence is known, from the noise of
    the fit, the cap and the sample.
    """

    asked: Contrast
    adjusted: Set
    value: float
    steps: Steps
    unit: float
    variance: float

    @property
    def columns(self) -> Set:
        """The columns on the axes of the cells."""
        return (self.asked.cause, *self.adjusted, self.asked.outcome)

    def corrected(self, mean: float, noise: float) -> Interval:
        """Add a released mean influence whose noise has this standard deviation."""
        value = self.value + mean
        spread = Z95 * math.sqrt(self.variance + noise**2)
        return Interval(value, value - spread, value + spread)


def influence(m: Moments, asked: Contrast, adjusted: Set, mu: float) -> Influence:
    """Fit the effect and the influence of one record from released tables.

    Args:
        m: The released tensors.
        asked: The contrast.
        adjusted: The adjustment set (see :func:`countable`).
        mu: The Gaussian DP budget of the mean influence, which determines the cap.
    """
    first = _Fit(m, asked, adjusted, mu, None)
    errors = []
    for draw in range(REDRAWN):
        again = _Fit(_redrawn(m, draw), asked, adjusted, mu, first.cap)
        errors.append(again.value + float((first.p * again.cells).sum()) - first.value)
    arms = rare_arms(m, asked)[[asked.level, asked.reference]].sum()
    variance = float(np.mean(np.square(errors))) + first.left**2 + first.sampling + arms
    cards = [m.cardinalities[c] for c in (asked.cause, *adjusted, asked.outcome)]
    unit = GRID * asked.span
    steps = np.round(first.cells / unit).astype(np.int64).reshape(cards)
    return Influence(asked, adjusted, first.value, steps, unit, float(variance))


class _Fit:
    """The effect from a fitted table (x, z, y), with z the cells of the set, and its influence."""

    def __init__(
        self, m: Moments, asked: Contrast, adjusted: Set, mu: float, cap: float | None
    ) -> None:
        self.p = _blurred(m, asked, adjusted)
        values = np.array(asked.values)
        joint, of_set = self.p.sum(2), self.p.sum((0, 2))
        mean = (self.p @ values) / np.maximum(joint, 1e-12)
        shift = mean[asked.level] - mean[asked.reference]
        self.value = float(of_set @ shift)
        best = math.inf
        for each in CAPS if cap is None else (cap,):
            cells = np.tile((shift - self.value)[None, :, None], (len(joint), 1, len(values)))
            beyond = np.zeros(len(of_set))
            for arm, sign in ((asked.level, 1), (asked.reference, -1)):
                weight = of_set / np.maximum(joint[arm], 1e-9 * np.maximum(of_set, 1e-300))
                used = np.minimum(weight, each)
                cells[arm] += sign * used[:, None] * (values[None, :] - mean[arm][:, None])
                beyond += 1 - used / np.maximum(weight, 1e-300)
            sampling = float((self.p * cells**2).sum()) / m.n
            left = CAPPED * asked.span * float(of_set @ beyond)
            cost = (float(np.ptp(cells)) / (mu * m.n)) ** 2 + sampling + left**2
            if cost < best:
                best, self.cells, self.cap, self.left, self.sampling = (
                    cost, cells, each, left, sampling,
                )  # fmt: skip


def _blurred(m: Moments, asked: Contrast, adjusted: Set) -> Array:
    """Return the fitted table (x, z, y), nearer to independence the more noise hides it."""
    columns = (asked.cause, *adjusted, asked.outcome)
    p = _with_whole_tables(m, columns, fitted(m, columns))
    p = p.reshape(p.shape[0], -1, p.shape[-1])
    pairs = [m.variance(a, b) for a, b in combinations(columns, 2)]
    blur = min(max(BLUR * math.sqrt(float(np.mean(pairs))), LEAST_BLUR), MOST_BLUR)
    one, of_set, other = p.sum((1, 2)), p.sum((0, 2)), p.sum((0, 1))
    apart = one[:, None, None] * of_set[None, :, None] * other[None, None]
    out: Array = (1 - blur) * p + blur * apart
    return out


def _with_whole_tables(m: Moments, columns: Set, p: Array) -> Array:
    """Use each released cell as far as it exceeds its noise, if all tables are known."""
    if len(columns) < 3 or not m.knows(*columns):
        return p
    whole = np.maximum(table(m, *columns), 0.0)
    noise = cell_variance(lambda some: m.variance(*some), columns, m.cardinalities)
    clear = whole**2 / (whole**2 + CLEAR * noise + 1e-300)
    mixed = clear * whole + (1 - clear) * p
    out: Array = mixed / mixed.sum()
    return out


def _redrawn(m: Moments, draw: int) -> Moments:
    """Return the tensors with added noise of the same size, from a public sequence."""
    block = np.repeat(np.arange(m.d), [r - 1 for r in m.cardinalities])
    sizes = [m.one.size, m.two.size, *(value.size for value in m.higher.values())]
    parts = np.split(_public_normals(draw, sum(sizes)), np.cumsum(sizes)[:-1])
    one = m.one + parts[0] * np.sqrt(m.noise_one)[block]
    drawn = np.triu(parts[1].reshape(m.two.shape))
    two = m.two + (drawn + np.triu(drawn, 1).T) * np.sqrt(m.noise_two)[np.ix_(block, block)]
    higher = {
        key: value + part.reshape(value.shape) * math.sqrt(m.noise_higher[key])
        for part, (key, value) in zip(parts[2:], m.higher.items(), strict=True)
    }
    noise = m.noise_one, m.noise_two, higher, m.noise_higher
    return Moments(m.n, m.cardinalities, one, two, *noise)


def _public_normals(draw: int, size: int) -> Array:
    """Return normal deviates that are the same for every reader of a file (SplitMix64)."""
    z = (np.arange(size, dtype=np.uint64) + np.uint64((draw + 1) << 32)) * np.uint64(
        0x9E3779B97F4A7C15
    )
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    out: Array = ndtri(((z >> np.uint64(11)) + 0.5) * 2.0**-53)
    return out


@dataclass(frozen=True, eq=False)
class Numbers:
    """The mean influences to release from the private records, one per set.

    The first is released directly. A later one is released as its difference from the first if this
    has the smaller range. Each is divided by the root of its range, so that mu^2 is divided in
    proportion to ranges.
    """

    sets: tuple[Influence, ...]

    @cached_property
    def asked(self) -> tuple[tuple[Set, Steps, bool], ...]:
        """Columns, influence by cell, and True for a difference from the first set, per number."""
        found = [(self.sets[0].columns, self.sets[0].steps, False)]
        for each in self.sets[1:]:
            own, less = (each.columns, each.steps, False), self._less_first(each)
            found.append(less if less and np.ptp(less[1]) < np.ptp(own[1]) else own)
        return tuple(found)

    def _less_first(self, each: Influence) -> tuple[Set, Steps, bool] | None:
        """Return the influence of a set minus the first one's, over the columns of both."""
        sizes = {c: r for one in (each, self.sets[0])
                 for c, r in zip(one.columns, one.steps.shape, strict=True)}  # fmt: skip
        if math.prod(sizes.values()) > MOST_CELLS:
            return None
        both = tuple(sizes)
        return both, _laid_out(each, both) - _laid_out(self.sets[0], both), True

    @property
    def ranges(self) -> Array:
        """The largest minus the smallest influence of each number: its replace-one sensitivity."""
        steps = [max(int(np.ptp(steps)), 1) for _, steps, _ in self.asked]
        out: Array = np.array(steps) * self.sets[0].unit
        return out

    @property
    def sensitivity(self) -> float:
        """The l2 sensitivity of all numbers, each divided by the root of its range."""
        return math.sqrt(float(self.ranges.sum()))

    def sums(self, rows: Rows) -> Array:
        """Return the sum of each influence over the records, divided by the root of its range."""
        found = [
            int(rows.weights @ steps[tuple(rows.codes[:, c] for c in columns)])
            for columns, steps, _ in self.asked
        ]
        out: Array = np.array(found) * self.sets[0].unit / np.sqrt(self.ranges)
        return out

    def intervals(self, noisy: Array, sigma: float, n: int) -> list[Interval]:
        """Convert the released sums, with noise of this deviation, to an interval per set."""
        scale = np.sqrt(self.ranges) / n
        means, noises = noisy * scale, sigma * scale
        found = []
        for k, (each, (_, _, less)) in enumerate(zip(self.sets, self.asked, strict=True)):
            mean, noise = (means[k], noises[k]) if not less else (
                means[k] + means[0], math.hypot(noises[k], noises[0])
            )  # fmt: skip
            found.append(each.corrected(float(mean), float(noise)))
        return found


def _laid_out(each: Influence, columns: Set) -> Steps:
    """Return a set's influence with one axis per column, of length 1 for unused columns."""
    order = [each.columns.index(c) for c in columns if c in each.columns]
    turned = each.steps.transpose(order)
    sizes = dict(zip(each.columns, each.steps.shape, strict=True))
    out: Steps = turned.reshape([sizes.get(c, 1) for c in columns])
    return out
