"""Test whether two releases are about the same people, by the difference of their numbers.

Let D be the difference of the two releases' one- and two-way tensors. For independent samples of
one population, its variance is that of both noises, S, plus that of both samples, C. For the same
people, it is only that of the noises. The likelihood ratio is a sum of lambda / (1 + lambda) y^2
over the eigenvectors of S^(-1/2) C S^(-1/2) with eigenvalues lambda, where y are the coordinates of
S^(-1/2) D. For different people it is a sum of lambda chi^2_1, or more if the populations differ.
By Chernoff's bound it is at most q with probability exp(tq) prod (1 + 2 t lambda)^(-1/2) for any t.
If noise dominates, lambda is small, and the two cases cannot be distinguished.

C is computed from rows drawn from the released tables along the released graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from engine.marginals.contrasts import Array, helmert
from engine.marginals.moments import Moments
from engine.release.drawing import Codes
from engine.release.file import Release
from engine.release.noise import ALARM

ALIKE = 1e-4  # probability of a false match over all pairs
ROWS = 10_000  # rows drawn to compute C
MOST_NUMBERS = 200  # numbers compared, from the first columns
_TILTS = 2.0 ** np.arange(-20, 32)  # values of t in Chernoff's bound


class Sampled(NamedTuple):
    """Released numbers, the variance of their noise (p,), and their sample covariance (p, p)."""

    values: Array
    noise: Array
    sample: Array

    @classmethod
    def of(cls, moments: Moments, codes: Codes) -> Sampled:
        """Take the tensors of the first columns, and the sample covariance of (rows, d) codes."""
        cards = moments.cardinalities[: _columns(moments.cardinalities)]
        block = np.repeat(np.arange(len(cards)), [r - 1 for r in cards])
        a, b = np.nonzero(block[:, None] < block[None, :])
        h = np.concatenate([helmert(r)[codes[:, i]] for i, r in enumerate(cards)], axis=1)
        covariance = np.cov(np.concatenate([h, h[:, a] * h[:, b]], axis=1), rowvar=False)
        return cls(
            np.concatenate([moments.one[: len(block)], moments.two[a, b]]),
            np.concatenate([moments.noise_one[block], moments.noise_two[block[a], block[b]]]),
            covariance / moments.n,
        )


def _columns(cards: Sequence[int]) -> int:
    """Return how many of the first columns have at most MOST_NUMBERS one- and two-way numbers."""
    ones = np.array(cards) - 1
    sizes = np.cumsum(ones) + (np.cumsum(ones) ** 2 - np.cumsum(ones**2)) // 2
    return max(2, int(np.searchsorted(sizes, MOST_NUMBERS, side="right")))


def likeness(one: Sampled, other: Sampled) -> float:
    """Bound the probability that samples of different people are this similar; at most 1."""
    scale = np.sqrt(one.noise + other.noise)
    sample = (one.sample + other.sample) / np.multiply.outer(scale, scale)
    values, vectors = np.linalg.eigh(sample)
    values = np.maximum(values, 0.0)
    apart = ((one.values - other.values) / scale) @ vectors
    return _at_most(float(np.sum(values / (1 + values) * apart**2)), values)


def same_noise(one: Release, other: Release) -> bool:
    """Return True if two releases differ less than independent noises would, for any people."""
    first, again = one.releases[0], other.releases[0]
    apart = first.values / one.rows - again.values / other.rows
    variance = (first.sigma / one.rows) ** 2 + (again.sigma / other.rows) ** 2
    return _at_most(float(np.sum(apart**2)) / variance, np.ones(len(apart))) < ALARM


def _at_most(q: float, weights: Array) -> float:
    """Bound the probability that a sum of weighted chi-squares is at most ``q`` (Chernoff)."""
    spread = np.log1p(2 * np.multiply.outer(_TILTS, weights)).sum(axis=1)
    return float(np.exp(min(0.0, np.min(_TILTS * q - spread / 2))))
