"""Was noise drawn at all? What one release file can and cannot tell.

Nobody can prove from a file that its noise was drawn: any numbers could have been. But numbers with
too little noise are too good. Two things in a release are known but for the noise:

1. *Whole numbers.* A contrast tensor times the lengths of its contrasts counts records, so it is a
   whole number; with noise of a whole and more, what is left after the point is as good as uniform.
2. *Twice the same.* A tensor that is released again has fresh noise. Whatever was known before, the
   sum of (new - known before)^2 / variance of the new noise is at least as large as chi-square with
   as many degrees of freedom: what was known before can be wrong, but not wrong in the direction of
   noise that was drawn later.

Both are turned into a number E with a mean over the noise of at most 1, whatever the data, whatever
is released again after looking at what came before. By Markov's inequality E reaches 1/p with
probability at most p: ``goodness_of_fit_p`` returns that p. A file that was made with the noise it
states falls below :data:`ALARM` with probability at most :data:`ALARM`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from engine.marginals.contrasts import Array
from engine.marginals.moments import Heard, Moments, one_way_weight
from engine.privacy.sources import STEPS, Released

ALARM = 1e-6
# The second test's exponents: best where 1 / (1 + 2t) of the variance was drawn, from a half to
# 1e-16. Fixed in advance, all of the same weight.
THETAS = tuple(0.5 * 4.0**k for k in range(27))
LEAST_SPREAD = 0.3  # noise below that many whole numbers hides none, and the first test skips it
# A number is a multiple of at most 2^-STEPS of its noise, or of 1.5 times that where rounding took
# its share; distances below a few such steps count as four.
_FLOOR = 2 * 4 * 1.5 * 2.0**-STEPS


def goodness_of_fit_p(first: Released, moments: Moments) -> float:
    """Bound on the probability of numbers this good if their noise had been drawn; at most 1.

    ``first`` is the release of all pairs; ``moments`` hold those that came after it.
    """
    start = All(first, moments)
    logs = [
        whole_numbers(start, moments.heard),
        twice_the_same(start, moments.heard),
    ]
    return min(1.0, math.exp(-max(_log_mean(logs), 0.0)))


def _log_mean(logs: Iterable[float]) -> float:
    found = np.array(list(logs))
    return float(np.logaddexp.reduce(found) - math.log(len(found)))


class All:
    """The first release, as it came: ``one`` (D,) and ``two`` (D, D) over n, with their noise."""

    def __init__(self, first: Released, moments: Moments):
        cards = moments.cardinalities
        self.n, self.cardinalities, self._at = moments.n, cards, moments.at
        weight, values = one_way_weight(cards), first.values / moments.n
        block = np.repeat(np.arange(len(cards)), [r - 1 for r in cards])
        self.upper = np.nonzero(np.triu(block[:, None] < block[None, :]))
        size = len(block)
        self.one = values[:size] / math.sqrt(weight)
        self.two = np.zeros((size, size))
        self.two[self.upper] = values[size:]
        self.variance_two = (first.sigma / moments.n) ** 2
        self.variance_one = self.variance_two / weight
        self.units = np.concatenate([_units(r) for r in cards])

    def tensor_of(self, variables: tuple[int, ...]) -> tuple[Array, float]:
        """One or two variables' tensor and its noise variance."""
        if len(variables) == 1:
            return self.one[self._at[variables[0]]], self.variance_one
        i, j = variables
        return self.two[np.ix_(self._at[i], self._at[j])], self.variance_two


def whole_numbers(start: All, heard: Iterable[Heard]) -> float:
    """log E of the first test.

    With u in (0, 1] twice the distance to the nearest whole number, u^(-1/2) / 2 has mean 1 if u is
    uniform. After the point, noise of spread s (in whole numbers) has a density of at most
    1 + 2 sum exp(-2 pi^2 s^2 k^2). u below a few steps of the grid counts as these few: that takes
    more off the mean than the grid's steps can add to it.
    """
    units = np.outer(start.units, start.units)[start.upper]
    found = _excess(start.n * start.one, start.units, start.n**2 * start.variance_one)
    found += _excess(start.n * start.two[start.upper], units, start.n**2 * start.variance_two)
    for one in heard:
        units = np.ones(())
        for i in one.variables:
            units = np.multiply.outer(units, _units(start.cardinalities[i]))
        value = one.value.reshape(units.shape)
        found += _excess(start.n * value, units, start.n**2 * one.variance)
    return found


def _excess(values: Array, units: Array, variance: float) -> float:
    spread = units * math.sqrt(variance)
    seen = spread >= LEAST_SPREAD
    counts, spread = (values * units)[seen], spread[seen]
    u = np.maximum(2 * np.abs(counts - np.rint(counts)), np.minimum(_FLOOR * spread, 1.0))
    return float(np.sum(-0.5 * np.log(u) - math.log(2) - np.log(density(spread))))


def _units(levels: int) -> Array:
    """(levels - 1,): what makes whole numbers of a variable's contrasts (Helmert's)."""
    k = np.arange(1, levels)
    found: Array = np.sqrt(k * (k + 1.0))
    return found


def density(spread: Array) -> Array:
    """Largest density, after the point, of Gaussian noise of this spread."""
    waves: Array = np.ones_like(spread)
    for k in range(1, 8):
        waves += 2 * np.exp(-2 * (math.pi * spread * k) ** 2)
    return waves


def twice_the_same(start: All, heard: Iterable[Heard]) -> float:
    """log E of the second test, the mean of exp(-t S) (1 + 2t)^(K/2) over :data:`THETAS`.

    S is the sum over all K numbers that were released again; chi-square's Laplace transform makes
    the mean of each term at most 1, also where it is decided on the way which they are.
    """
    known: dict[tuple[int, ...], tuple[Array, float]] = {}
    total, count = 0.0, 0
    for one in heard:
        if len(one.variables) > 2 and one.variables not in known:
            known[one.variables] = one.value, one.variance
            continue
        before, variance = known.get(one.variables) or start.tensor_of(one.variables)
        total += float(np.sum((one.value - before) ** 2)) / one.variance
        count += one.value.size
        weight = variance / (variance + one.variance)
        known[one.variables] = before + weight * (one.value - before), variance * (1 - weight)
    return _log_mean(-t * total + count / 2 * math.log1p(2 * t) for t in THETAS)
