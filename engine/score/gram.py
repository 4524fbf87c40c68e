"""Second moments: computed once in blocks, and released once with Gaussian noise.

A row x in the box [-1, 1]^d is shrunk to the ball of radius R if it is longer, and extended by a
constant c. M is the mean of (c, x)(c, x)'. Replacing one row changes it by at most sqrt(2) (c^2 +
R^2) / n in Frobenius norm, because for a = (c, x) and b = (c, x') |aa' - bb'|^2 = |a|^4 + |b|^4 - 2
(a'b)^2 <= 2 (c^2 + R^2)^2. This is the l2 norm of the vector of M's diagonal and sqrt(2) times its
upper triangle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from engine.data.dataset import Dataset
from engine.score.acyclicity import Matrix
from engine.score.encodings import Encoding, blocks

_kept: WeakKeyDictionary[Dataset, dict[tuple[float, bytes], Matrix]] = WeakKeyDictionary()


def second_moments(data: Dataset, encoding: Encoding, radius: float = math.inf) -> Matrix:
    """Return the mean of (1, x)(1, x)' over the encoded rows, (d + 1, d + 1); cached per dataset.

    Rows longer than ``radius`` are shrunk to it.
    """
    key = (math.inf if holds_box(radius, data.d) else radius, _signature(encoding))
    made = _kept.setdefault(data, {})
    if key not in made:
        made[key] = _second_moments(data, encoding, radius)
    return made[key].copy()


def _signature(encoding: Encoding) -> bytes:
    parts = (encoding.half, encoding.middle, *(encoding.scores or ()))
    return b"|".join(part.tobytes() for part in parts)


def _second_moments(data: Dataset, encoding: Encoding, radius: float) -> Matrix:
    d = encoding.d
    total = np.zeros((d + 1, d + 1))
    for block, weights in blocks(data, encoding):
        rows = shrink(block, radius)
        weighted = rows if weights is None else rows * weights[:, None]
        total[1:, 1:] += rows.T @ weighted
        total[0, 1:] += weighted.sum(axis=0)
    total[1:, 0] = total[0, 1:]
    total[0, 0] = data.n
    moments: Matrix = total / data.n
    return moments


def holds_box(radius: float, d: int) -> bool:
    """Return True if the ball contains [-1, 1]^d; for a radius of sqrt(d) despite rounding."""
    return radius * radius >= d * (1 - 1e-12)


def shrink(rows: Matrix, radius: float) -> Matrix:
    """Return the rows, with longer ones shortened to the radius."""
    if holds_box(radius, rows.shape[1]):
        return rows
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    shorter: Matrix = rows * np.minimum(1.0, radius / np.maximum(lengths, radius))[:, None]
    return shorter


def covariance(moments: Matrix, encoding: Encoding) -> Matrix:
    """Return the covariance (d, d) in the columns' units from second moments (d + 1, d + 1)."""
    mean = moments[0, 1:]
    inside = moments[1:, 1:] - np.outer(mean, mean)
    return inside * np.outer(encoding.half, encoding.half)


@dataclass(frozen=True)
class Packing:
    """Conversion between M and the vector that is released, with its sensitivity.

    ``constant`` is c, ``radius`` R. Entries that are constant are omitted: c^2, and the squares of
    two-level columns at -1 and 1.
    """

    d: int
    n: int
    constant: float
    radius: float
    fixed: NDArray[np.bool_]

    @property
    def sensitivity(self) -> float:
        """Bound on the l2 norm of the change when one row is replaced."""
        return math.sqrt(2) * (self.constant**2 + self.radius**2) / self.n

    @property
    def _weights(self) -> Matrix:
        """Factor of each entry of (1, x)(1, x)': upper triangle, 0 for omitted entries."""
        c = np.ones(self.d + 1)
        c[0] = self.constant
        weights = np.triu(np.outer(c, c) * math.sqrt(2), 1)
        np.fill_diagonal(weights, np.concatenate([[0.0], np.where(self.fixed, 0.0, 1.0)]))
        return weights

    def pack(self, moments: Matrix) -> NDArray[np.float64]:
        """Return the entries to release, (k,)."""
        weights = self._weights
        released: NDArray[np.float64] = (moments * weights)[weights != 0]
        return released

    def unpack(self, released: NDArray[np.float64]) -> Matrix:
        """Return symmetric second moments (d + 1, d + 1) of (1, x) from the released entries."""
        weights = self._weights
        upper = np.diag(np.concatenate([[1.0], self.fixed.astype(float)]))
        upper[weights != 0] = released / weights[weights != 0]
        whole: Matrix = upper + np.triu(upper, 1).T
        return whole

    def entry_noise(self, sigma: float) -> float:
        """Return the deviation of an off-diagonal entry of x x' if each packed entry has sigma."""
        return sigma / math.sqrt(2)


def best_constant(d: int) -> float:
    """Return approximately the c for which a covariance has the least noise.

    Its error has variance (c^2 + R^2)^2 (1 + (m_i^2 + m_j^2) / c^2); with R^2 = d and means m up
    to 1, c^2 = sqrt(d / 2) is within a few per cent of the best.
    """
    return math.sqrt(math.sqrt(d / 2))


def semidefinite(matrix: Matrix, floor: float) -> Matrix:
    """Return the nearest symmetric matrix with no eigenvalue below ``floor``."""
    values, vectors = np.linalg.eigh(matrix)
    if values[0] >= floor:
        return matrix
    mended: Matrix = (vectors * np.maximum(values, floor)) @ vectors.T
    return mended
