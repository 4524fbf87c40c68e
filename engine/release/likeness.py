"""Are two releases of the same people? The difference of their numbers is the evidence.

Let D be the difference of the two releases' one- and two-way tensors. Over independent samples of
one population it has the variance of both noises, S, and of both samples, C; over the same people
that of the noises alone. The likelihood ratio of the two is a sum of lambda / (1 + lambda) y^2 over
the eigenvectors of S^(-1/2) C S^(-1/2) with eigenvalues lambda, y the coordinates of S^(-1/2) D.
Over different people it is a sum of lambda chi^2_1, and of more where the populations differ; by
Chernoff's bound it is at most q with probability exp(tq) prod (1 + 2 t lambda)^(-1/2) for any t.
Where noise dominates, lambda is small, and the two cannot be distinguished.

C is that of rows drawn from the released tables along the released graph.
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

ALIKE = 1e-4  # the probability at which different people are taken for the same, over all pairs
ROWS = 10_000  # that C is taken from
MOST_NUMBERS = 200  # that are compared: those of the first columns
_TILTS = 2.0 ** np.arange(-20, 32)  # t of Chernoff's bound


class Sampled(NamedTuple):
    """Released numbers with the (p,) variance of their noise and the (p, p) one of their sample."""

    values: Array
    noise: Array
    sample: Array

    @classmethod
    def of(cls, moments: Moments, codes: Codes) -> Sampled:
        """Return the first columns' tensors; their sample covariance is that of (rows, d) codes."""
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
    """How many columns, from the first on, have at most MOST_NUMBERS one- and two-way numbers."""
    ones = np.array(cards) - 1
    sizes = np.cumsum(ones) + (np.cumsum(ones) ** 2 - np.cumsum(ones**2)) // 2
    return max(2, int(np.searchsorted(sizes, MOST_NUMBERS, side="right")))


def likeness(one: Sampled, other: Sampled) -> float:
    """Bound on the probability that samples of different people are this alike; at most 1."""
    scale = np.sqrt(one.noise + other.noise)
    sample = (one.sample + other.sample) / np.multiply.outer(scale, scale)
    values, vectors = np.linalg.eigh(sample)
    values = np.maximum(values, 0.0)
    apart = ((one.values - other.values) / scale) @ vectors
    return _at_most(float(np.sum(values / (1 + values) * apart**2)), values)


def same_noise(one: Release, other: Release) -> bool:
    """Return whether two releases differ by less than two noises would, for any people."""
    first, again = one.releases[0], other.releases[0]
    apart = first.values / one.rows - again.values / other.rows
    variance = (first.sigma / one.rows) ** 2 + (again.sigma / other.rows) ** 2
    return _at_most(float(np.sum(apart**2)) / variance, np.ones(len(apart))) < ALARM


def _at_most(q: float, weights: Array) -> float:
    """Chernoff's bound on the probability that a sum of weighted chi-squares is at most ``q``."""
    spread = np.log1p(2 * np.multiply.outer(_TILTS, weights)).sum(axis=1)
    return float(np.exp(min(0.0, np.min(_TILTS * q - spread / 2))))
