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
        return ClippedGradient(self, radius)(w)


class ClippedGradient:
    """:meth:`Records.gradient` at one w after another, looking again only at rows that matter.

    Without clipping the mean gradient is -S (I - W), S the second moments; a row counts on its own
    only if its gradient is longer than the radius. From w to w' a row's gradient x r' moves by at
    most |x|^2 |w' - w| (spectral norm), so a row that was short at one w is short near it. The
    result is that of looking at every row, up to rounding.
    """

    SHARE = 0.1  # of the rows looked at again before all are

    def __init__(self, records: Records, radius: float):
        self._records, self._radius = records, radius
        self._covariance = records.covariance()
        self._squares = (records.rows * records.rows).sum(axis=1)
        self._at: Matrix | None = None
        self._slack = np.empty(0)

    def __call__(self, w: Matrix) -> Matrix:
        """The gradient at w, its diagonal 0; (d, d)."""
        near = self._near(w)
        x = self._records.rows[near]
        r = x - x @ w
        norms = _norms(x, r)
        long = norms > self._radius
        excess = self._records.weights[near][long] * (1.0 - self._radius / norms[long])
        total = w - np.eye(len(w))
        total = self._covariance @ total + x[long].T @ (r[long] * excess[:, None]) / self._records.n
        np.fill_diagonal(total, 0.0)
        return np.asarray(total)

    def _near(self, w: Matrix) -> NDArray[np.intp]:
        """Every row whose gradient may be longer than the radius at w."""
        if self._at is not None:
            moved = float(np.linalg.norm(w - self._at, 2))
            near = np.flatnonzero(self._slack <= moved)
            if len(near) <= self.SHARE * len(self._slack):
                return near
        self._look_at_all(w)
        return np.flatnonzero(self._slack <= 0.0)

    def _look_at_all(self, w: Matrix) -> None:
        """How far w may move before each row's gradient can reach the radius."""
        rows = self._records.rows
        room = np.empty(len(rows))
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            x = rows[part]
            room[part] = self._radius - _norms(x, x - x @ w)
        # A hair less than the room there is: rounding must not hide a row at the radius.
        self._slack = (room - 1e-9 * self._radius) / np.maximum(self._squares, 1e-300)
        self._at = w.copy()


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
