"""Least squares gradients with bounded influence of one row: the gradient of each row is clipped.

The row x contributes -x r' with r = x - W'x, without its diagonal. Its norm follows from |x| and
|r|, so clipping needs no (n, d, d) array, only a weight per row and one product.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.compiled import kernel
from engine.data.dataset import Dataset
from engine.score.acyclicity import Matrix
from engine.score.encodings import Encoding, blocks, lookup
from engine.tables.store import store_of

_BLOCK = 1 << 11  # rows per block; their residuals fit into the second-level cache


@dataclass(frozen=True, eq=False)
class Records:
    """Vectors (k, d), the number of rows that each represents (k,), and the public n."""

    rows: Matrix
    weights: NDArray[np.float64]
    n: int

    @property
    def d(self) -> int:
        """Number of columns."""
        return int(self.rows.shape[1])

    def centred(self, means: NDArray[np.float64], scale: NDArray[np.float64]) -> Records:
        """Return the rows minus public means, times public scales."""
        return Records((self.rows - means) * scale, self.weights, self.n)

    def mean(self) -> NDArray[np.float64]:
        """Return the exact mean row."""
        mean: NDArray[np.float64] = self.weights @ self.rows / self.n
        return mean

    def covariance(self) -> Matrix:
        """Return the exact second moments about 0."""
        return self.rows.T @ (self.rows * self.weights[:, None]) / self.n


class ClippedGradient:
    """Mean over the rows of their gradients, each shrunk to l2 norm ``radius``; (d, d).

    Replacing one row changes it by at most 2 radius / n in l2 norm, for every w. It is computed at
    one w after another, and reads only those rows again whose clipping can change.

    Rows that are far from being clipped are summed as -S_far (I - W), where S_far is their second
    moments; every other row is computed separately. From w to w' a row's gradient x r' changes by
    at most |x|^2 |w' - w| (spectral norm), so far rows stay unclipped while w stays within a reach.
    No term is added and subtracted again, so the clipped gradient of a huge row loses no digits.
    """

    SHARE = 0.1  # share of the unclipped rows at w that are computed separately, too

    def __init__(self, records: Records, radius: float):
        self._n, self._radius = records.n, radius
        # Rows are contiguous in memory, as they are read; the encoded array is stored by column.
        self._rows, self._all_weights = np.ascontiguousarray(records.rows), records.weights
        self._at: Matrix | None = None
        self._reach = 0.0
        self._far = np.empty((0, 0))
        self._x, self._weights = self._rows[:0], records.weights[:0]  # those of the close rows

    def __call__(self, w: Matrix) -> Matrix:
        """Return the gradient at w with diagonal 0; (d, d)."""
        if self._at is None or self._beyond(w - self._at):
            self._look_at_all(w)
        x = self._x
        r = _residuals(x, w)
        shrink = self._radius / np.maximum(_norms(x, r), self._radius)
        r *= (self._weights * shrink)[:, None]
        total = self._far @ (w - np.eye(len(w))) - x.T @ r / self._n
        np.fill_diagonal(total, 0.0)
        return np.asarray(total)

    def _beyond(self, step: Matrix) -> bool:
        """Return True if the step's spectral norm (at most Frobenius') exceeds the reach."""
        frobenius, reach = float(np.linalg.norm(step)), self._reach
        return frobenius > reach and float(np.linalg.norm(step, 2)) > reach

    def _look_at_all(self, w: Matrix) -> None:
        """Divide the rows by how far w may change before their gradients can reach the radius."""
        rows, weights = self._rows, self._all_weights
        slack = np.empty(len(rows))
        for start in range(0, len(rows), _BLOCK):
            x = rows[start : start + _BLOCK]
            # Slightly less than the exact distance, so that rounding cannot hide a row at the
            # radius.
            room = self._radius - _norms(x, _residuals(x, w)) - 1e-9 * self._radius
            slack[start : start + _BLOCK] = room / np.maximum(_squared_lengths(x), 1e-300)
        short = slack[slack > 0]
        self._reach = float(np.quantile(short, self.SHARE)) if short.size else math.inf
        far = slack > self._reach
        close, beyond = np.flatnonzero(~far), np.flatnonzero(far)
        # Selection by index copies whole rows; a mask would be checked for each entry.
        self._x, self._weights = rows.take(close, axis=0), weights[close]
        x = rows.take(beyond, axis=0)
        self._far = x.T @ (x * weights[beyond, None]) / self._n
        self._at = w.copy()


def _residuals(x: Matrix, w: Matrix) -> Matrix:
    """Return r = x - W'x of every row x, without a second array of this size."""
    r = x @ w
    return np.subtract(x, r, out=r)


def _norms(x: Matrix, r: Matrix) -> NDArray[np.float64]:
    """Return the Frobenius norm of x r' without its diagonal for each row x and its r."""
    return np.asarray(_outer_norms(x, r))


def _squared_lengths(x: Matrix) -> NDArray[np.float64]:
    """Return |x|^2 for every row."""
    return np.asarray(np.einsum("ij,ij->i", x, x))


_LANES = 8  # number of parallel sums, added in the order in which numpy sums a row


@kernel()
def _outer_norms(x, r):  # type: ignore[no-untyped-def]
    """Compute :func:`_norms`: |x r'|^2 without its diagonal is |x|^2 |r|^2 - sum (x_j r_j)^2."""
    rows, d = x.shape
    out = np.empty(rows)
    xx, rr, both = np.empty(_LANES), np.empty(_LANES), np.empty(_LANES)
    whole = d - d % _LANES
    for i in range(rows):
        xx[:] = 0.0
        rr[:] = 0.0
        both[:] = 0.0
        for j in range(0, whole, _LANES):
            for k in range(_LANES):
                a, b = x[i, j + k] * x[i, j + k], r[i, j + k] * r[i, j + k]
                xx[k] += a
                rr[k] += b
                both[k] += a * b
        length, residual, diagonal = _added(xx), _added(rr), _added(both)
        for j in range(whole, d):
            a, b = x[i, j] * x[i, j], r[i, j] * r[i, j]
            length += a
            residual += b
            diagonal += a * b
        out[i] = math.sqrt(max(length * residual - diagonal, 0.0))
    return out


@kernel()
def _added(lanes):  # type: ignore[no-untyped-def]
    low = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
    return low + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]))


def records(data: Dataset, encoding: Encoding) -> Records:
    """Encode the rows: distinct rows with weights for discrete data, all rows for numeric data."""
    if encoding.scores is None:
        rows = np.concatenate([block for block, _ in blocks(data, encoding)])
        return Records(rows, np.ones(len(rows)), data.n)
    folded = store_of(data).rows
    return Records(lookup(folded.codes, encoding), folded.weights.astype(float), data.n)


def norm_limit(clip: float, d: int) -> float:
    """Return the norm that gradients with entries up to ``clip`` reach: clip sqrt(d (d - 1))."""
    return clip * math.sqrt(d * (d - 1))
