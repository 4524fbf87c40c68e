"""Was noise drawn at all? One release file can show some of it, not all.

Nobody can prove from a file that its noise was drawn: any numbers could have been. But numbers with
too little noise are too good. Two things in a release are known but for the noise:

1. *Whole numbers.* A contrast tensor times the lengths of its contrasts counts records, so it is a
whole number; with noise of a whole and more, the digits after the point are as good as uniform. 2.
*Twice the same.* A tensor that is released again has fresh noise. For any earlier estimate, the sum
of (new - known before)^2 / variance of the new noise is at least as large as chi-square with as
many degrees of freedom: the earlier estimate can be wrong, but not in the direction of noise that
was drawn later.

Both are turned into a number E with a mean over the noise of at most 1, for all data and for every
choice, made after earlier releases, of the tables to release again. By Markov's inequality E
reaches 1/p with probability at most p: ``goodness_of_fit_p`` returns that p. A file that was made
with the noise it states falls below :data:`ALARM` with probability at most :data:`ALARM`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import reduce
from itertools import combinations

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
    before = as_it_came(first, moments)
    logs = whole_numbers(moments, [*before, *moments.heard]), twice_the_same(before, moments.heard)
    return min(1.0, math.exp(-max(_log_mean(logs), 0.0)))


def _log_mean(logs: Iterable[float]) -> float:
    found = np.array(list(logs))
    return float(np.logaddexp.reduce(found) - math.log(len(found)))


def as_it_came(first: Released, moments: Moments) -> list[Heard]:
    """Return the first release: the tensors of all columns, and of all pairs."""
    at, cards = moments.at, moments.cardinalities
    weight, values = one_way_weight(cards), first.values / moments.n
    variance, size = (first.sigma / moments.n) ** 2, len(moments.one)
    block = np.repeat(np.arange(len(at)), [len(mine) for mine in at])
    two = np.zeros((size, size))
    two[block[:, None] < block[None, :]] = values[size:]
    found = [
        Heard((i,), values[mine] / math.sqrt(weight), variance / weight)
        for i, mine in enumerate(at)
    ]
    pairs = combinations(range(len(at)), 2)
    return found + [Heard(pair, two[np.ix_(at[pair[0]], at[pair[1]])], variance) for pair in pairs]


def whole_numbers(moments: Moments, heard: Iterable[Heard]) -> float:
    """log E of the first test, over all tensors that were ``heard``.

    With u in (0, 1] twice the distance to the nearest whole number, u^(-1/2) / 2 has mean 1 if u is
    uniform. After the point, noise of spread s (in whole numbers) has a density of at most
    1 + 2 sum exp(-2 pi^2 s^2 k^2). u below a few steps of the grid counts as these few: that takes
    more off the mean than the grid's steps can add to it.
    """
    n, found = moments.n, 0.0
    # The factors that turn a variable's contrasts (Helmert's) into whole numbers
    lengths = [np.sqrt(np.arange(1, r) * np.arange(2, r + 1)) for r in moments.cardinalities]
    for one in heard:
        units: Array = reduce(np.multiply.outer, (lengths[i] for i in one.variables))
        found += _excess(n * one.value.reshape(units.shape), units, n**2 * one.variance)
    return found


def _excess(values: Array, units: Array, variance: float) -> float:
    spread = units * math.sqrt(variance)
    seen = spread >= LEAST_SPREAD
    counts, spread = (values * units)[seen], spread[seen]
    u = np.maximum(2 * np.abs(counts - np.rint(counts)), np.minimum(_FLOOR * spread, 1.0))
    return float(np.sum(-0.5 * np.log(u) - math.log(2) - np.log(density(spread))))


def density(spread: Array) -> Array:
    """Largest density, after the point, of Gaussian noise of this spread."""
    waves = np.exp(-2 * (math.pi * np.multiply.outer(np.arange(1, 8), spread)) ** 2)
    return np.asarray(1 + 2 * np.sum(waves, axis=0))


def twice_the_same(before: Iterable[Heard], heard: Iterable[Heard]) -> float:
    """log E of the second test, the mean of exp(-t S) (1 + 2t)^(K/2) over :data:`THETAS`.

    S is the sum over all K numbers that were released again; chi-square's Laplace transform makes
    the mean of each term at most 1, also where it is decided on the way which they are.
    """
    known = {one.variables: (one.value, one.variance) for one in before}
    total, count = 0.0, 0
    for one in heard:
        if one.variables not in known:
            known[one.variables] = one.value, one.variance
            continue
        value, variance = known[one.variables]
        total += float(np.sum((one.value - value) ** 2)) / one.variance
        count += one.value.size
        weight = variance / (variance + one.variance)
        known[one.variables] = value + weight * (one.value - value), variance * (1 - weight)
    return _log_mean(-t * total + count / 2 * math.log1p(2 * t) for t in THETAS)
