"""Test whether noise was drawn at all; a release file can give only partial evidence.

A file cannot prove that its noise was drawn, because any numbers are possible. But numbers with too
little noise are improbably good. Two quantities in a release are known up to the noise:

1. *Whole numbers.* A contrast tensor times the lengths of its contrasts counts records, so it is a
whole number. With noise of about 1 and more, the digits after the decimal point are nearly uniform.
2. *Repeated releases.* A tensor that is released again has independent noise. For any earlier
estimate, the sum of (new - known before)^2 / variance of the new noise is at least as large as
chi-square with as many degrees of freedom: the earlier estimate can be wrong, but it cannot
anticipate noise that was drawn later.

Both give a number E whose mean over the noise is at most 1, for all data and for every adaptive
choice of the tables to release again. By Markov's inequality, E reaches 1/p with probability at
most p. ``goodness_of_fit_p`` returns this p. For a file with the declared noise, it falls below
:data:`ALARM` with probability at most :data:`ALARM`.
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
# Exponents t of the second test. Each is best if 1 / (1 + 2t) of the variance was drawn, from a
# half to 1e-16. They are fixed in advance with equal weights.
THETAS = tuple(0.5 * 4.0**k for k in range(27))
LEAST_SPREAD = 0.3  # the first test skips noise below this, in whole numbers
# A number is a multiple of at most 2^-STEPS of its noise, or of 1.5 times that after rounding.
# Smaller distances count as four of these steps.
_FLOOR = 2 * 4 * 1.5 * 2.0**-STEPS


def goodness_of_fit_p(first: Released, moments: Moments) -> float:
    """Bound the probability of numbers this good if their noise had been drawn; at most 1.

    ``first`` is the release of all pairs; ``moments`` holds the later releases.
    """
    before = as_it_came(first, moments)
    logs = whole_numbers(moments, [*before, *moments.heard]), twice_the_same(before, moments.heard)
    return min(1.0, math.exp(-max(_log_mean(logs), 0.0)))


def _log_mean(logs: Iterable[float]) -> float:
    found = np.array(list(logs))
    return float(np.logaddexp.reduce(found) - math.log(len(found)))


def as_it_came(first: Released, moments: Moments) -> list[Heard]:
    """Return the first release as tensors: those of all columns, and of all pairs."""
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
    """Return log E of the first test over all released tensors.

    With u in (0, 1] twice the distance to the nearest whole number, u^(-1/2) / 2 has mean 1 if u is
    uniform. The fractional part of noise with spread s (in whole numbers) has a density of at most
    1 + 2 sum exp(-2 pi^2 s^2 k^2). A u below a few steps of the grid counts as these few steps.
    This lowers the mean by more than the grid can raise it.
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
    """Return the largest density of the fractional part of Gaussian noise with this spread."""
    waves = np.exp(-2 * (math.pi * np.multiply.outer(np.arange(1, 8), spread)) ** 2)
    return np.asarray(1 + 2 * np.sum(waves, axis=0))


def twice_the_same(before: Iterable[Heard], heard: Iterable[Heard]) -> float:
    """Return log E of the second test: the mean of exp(-t S) (1 + 2t)^(K/2) over THETAS.

    S is the sum over all K numbers that were released again; by the Laplace transform of chi-square
    the mean of each term is at most 1, even if these numbers were chosen adaptively.
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
