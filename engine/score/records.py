"""Least squares gradients whose dependence on one row is bounded: every row's own is clipped.

The row x contributes -x r' with r = x - W'x, without its diagonal. Its norm is known from |x| and
|r| alone, so that clipping needs no (n, d, d) array: a weight for each row, then one product.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.data.dataset import Dataset
from engine.score.acyclicity import Matrix
from engine.score.encodings import BLOCK, Encoding, blocks, lookup
from engine.tables.store import store_of


@dataclass(frozen=True, eq=False)
class Records:
    """Vectors (k, d), how many rows each stands for (k,), and the public number of rows n."""

    rows: Matrix
    weights: NDArray[np.float64]
    n: int

    @property
    def d(self) -> int:
        """Number of columns."""
        return int(self.rows.shape[1])

    def centred(self, means: NDArray[np.float64], scale: NDArray[np.float64]) -> Records:
        """Rows minus public means, times public scales."""
        return Records((self.rows - means) * scale, self.weights, self.n)

    def mean(self) -> NDArray[np.float64]:
        """Mean row, exact."""
        mean: NDArray[np.float64] = self.weights @ self.rows / self.n
        return mean

    def covariance(self) -> Matrix:
        """Second moments about 0, exact."""
        return self.rows.T @ (self.rows * self.weights[:, None]) / self.n

    def gradient(self, w: Matrix, radius: float) -> Matrix:
        """Mean over the rows of their gradients, each shrunk to l2 norm ``radius``; (d, d).

        Replacing one row moves it by at most 2 radius / n in l2 norm, whatever w.
        """
        total = np.zeros_like(w)
        for start in range(0, len(self.rows), BLOCK):
            part = slice(start, start + BLOCK)
            x = self.rows[part]
            r = x - x @ w
            weight = self.weights[part] * np.minimum(1.0, radius / np.maximum(_norms(x, r), radius))
            total -= x.T @ (r * weight[:, None])
        np.fill_diagonal(total, 0.0)
        return total / self.n


def _norms(x: Matrix, r: Matrix) -> NDArray[np.float64]:
    """Frobenius norms of x r' without its diagonal, one for each row."""
    squares_x, squares_r = x * x, r * r
    squared = squares_x.sum(axis=1) * squares_r.sum(axis=1) - (squares_x * squares_r).sum(axis=1)
    norms: NDArray[np.float64] = np.sqrt(np.maximum(squared, 0.0))
    return norms


def records(data: Dataset, encoding: Encoding) -> Records:
    """The encoded rows: distinct ones with weights for discrete data, all for numeric data."""
    if encoding.scores is None:
        rows = np.concatenate(list(blocks(data, encoding)))
        return Records(rows, np.ones(len(rows)), data.n)
    folded = store_of(data).rows
    return Records(lookup(folded.codes, encoding), folded.weights.astype(float), data.n)


def norm_limit(clip: float, d: int) -> float:
    """The ball that holds every gradient with entries of at most ``clip``: clip sqrt(d (d - 1))."""
    return clip * math.sqrt(d * (d - 1))
