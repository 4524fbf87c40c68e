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

    Rows that are far from being clipped count together, -S_far (I - W) with S_far their second
    moments; every other row counts on its own. From w to w' a row's gradient x r' moves by at most
    |x|^2 |w' - w| (spectral norm), so far rows stay short while w stays within a reach. Nothing is
    added that is taken off again: a huge row's clipped gradient loses no digits to its whole one.
    """

    SHARE = 0.1  # of the rows that are short at w: so many more are looked at again each time

    def __init__(self, records: Records, radius: float):
        self._records, self._radius = records, radius
        self._squares = (records.rows * records.rows).sum(axis=1)
        self._at: Matrix | None = None
        self._reach = 0.0
        self._far = np.empty((0, 0))
        self._x, self._weights = records.rows[:0], records.weights[:0]  # of the close rows
        self._squared = _squares(self._x)

    def __call__(self, w: Matrix) -> Matrix:
        """The gradient at w, its diagonal 0; (d, d)."""
        if self._at is None or self._beyond(w - self._at):
            self._look_at_all(w)
        x = self._x
        r = x - x @ w
        shrink = self._radius / np.maximum(_norms(self._squared, r), self._radius)
        own = x.T @ (r * (self._weights * shrink)[:, None])
        total = self._far @ (w - np.eye(len(w))) - own / self._records.n
        np.fill_diagonal(total, 0.0)
        return np.asarray(total)

    def _beyond(self, step: Matrix) -> bool:
        """Whether the step's spectral norm passes the reach; Frobenius' is larger, and cheaper."""
        frobenius, reach = float(np.linalg.norm(step)), self._reach
        return frobenius > reach and float(np.linalg.norm(step, 2)) > reach

    def _look_at_all(self, w: Matrix) -> None:
        """Part the rows by how far w may move before their gradients can reach the radius."""
        rows, weights = self._records.rows, self._records.weights
        room = np.empty(len(rows))
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            x = rows[part]
            room[part] = self._radius - _norms(_squares(x), x - x @ w)
        # A hair less than the room there is: rounding must not hide a row at the radius.
        slack = (room - 1e-9 * self._radius) / np.maximum(self._squares, 1e-300)
        short = slack[slack > 0]
        self._reach = float(np.quantile(short, self.SHARE)) if short.size else math.inf
        far = slack > self._reach
        close = np.flatnonzero(~far)
        self._x, self._weights = rows[close], weights[close]
        self._squared = _squares(self._x)
        self._far = rows[far].T @ (rows[far] * weights[far][:, None]) / self._records.n
        self._at = w.copy()


def _squares(x: Matrix) -> tuple[Matrix, NDArray[np.float64]]:
    """The squared entries of rows, and each row's sum of them."""
    squares = x * x
    return squares, squares.sum(axis=1)


def _norms(squares: tuple[Matrix, NDArray[np.float64]], r: Matrix) -> NDArray[np.float64]:
    """Frobenius norms of x r' without its diagonal, one for each row x of these squares."""
    squares_x, lengths = squares
    squares_r = r * r
    squared = lengths * squares_r.sum(axis=1) - (squares_x * squares_r).sum(axis=1)
    norms: NDArray[np.float64] = np.sqrt(np.maximum(squared, 0.0))
    return norms


def records(data: Dataset, encoding: Encoding) -> Records:
    """The encoded rows: distinct ones with weights for discrete data, all for numeric data."""
    if encoding.scores is None:
        rows = np.concatenate([block for block, _ in blocks(data, encoding)])
        return Records(rows, np.ones(len(rows)), data.n)
    folded = store_of(data).rows
    return Records(lookup(folded.codes, encoding), folded.weights.astype(float), data.n)


def norm_limit(clip: float, d: int) -> float:
    """The ball that holds every gradient with entries of at most ``clip``: clip sqrt(d (d - 1))."""
    return clip * math.sqrt(d * (d - 1))
