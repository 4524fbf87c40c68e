"""Kernel ridge regression of one bounded column on the other (Kusner et al. 2016, eq. 5).

The kernel is exp(-(x - x')^2 / (2 width^2)) on [-1, 1]. Its Taylor series gives features that do
not depend on data, phi_k(x) = e^(-x^2 / (2 width^2)) (x / width)^k / sqrt(k!), so n rows and D
features take n D^2 operations and no n x n matrix. The series is cut off when the rest is below
rounding. The result is still a kernel bounded by 1, and the residual bounds need no more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError

Vector = NDArray[np.float64]

REST = 1e-15  # the part of k(x, x) = 1 that the truncated series may omit


@lru_cache(maxsize=64)
def feature_count(width: float) -> int:
    """Count the features that give all but REST of the kernel: k(1, 1) is a Poisson sum."""
    from scipy.stats import poisson  # local import: it takes half a second

    return int(poisson.isf(REST, 1 / width**2)) + 2


def features(x: Vector, width: float) -> NDArray[np.float64]:
    """Return the (n, D) features of n values in [-1, 1]; each row has norm <= 1."""
    scaled = np.asarray(x, dtype=float) / width
    out = np.empty((feature_count(width), scaled.size))
    out[0] = np.exp(-(scaled**2) / 2)
    for k in range(1, len(out)):
        np.multiply(out[k - 1], scaled / math.sqrt(k), out=out[k])
    return out.T


@dataclass(frozen=True, eq=False)
class Ridge:
    """A factorised regression that can be solved for any lambda.

    ``basis`` (D, D) and ``spectrum`` (D,) are the eigenvectors and eigenvalues of the features'
    second moments, ``target`` (D,) their products with y in that basis, ``n`` the sum of the row
    weights.
    """

    width: float
    n: float
    basis: NDArray[np.float64]
    spectrum: Vector
    target: Vector
    square: float  # sum of y^2, for the error of generalised cross-validation

    @classmethod
    def fit(cls, x: Vector, y: Vector, width: float, weights: Vector | None = None) -> Ridge:
        """Factorise; ``weights`` (n,) say how often each row counts (None: once)."""
        phi = features(x, width)
        weighted = phi if weights is None else phi * weights[:, None]
        spectrum, basis = np.linalg.eigh(phi.T @ weighted)
        total = float(len(phi)) if weights is None else float(weights.sum())
        square = float(y @ (y if weights is None else weights * y))
        target = basis.T @ (weighted.T @ y)
        return cls(width, total, basis, np.maximum(spectrum, 0.0), target, square)

    def coefficients(self, ridge: float) -> Vector:
        """Return w of eq. 5: (sum phi phi^T + n lambda / 2) w = sum phi y."""
        solved: Vector = self.basis @ (self.target / (self.spectrum + self.n * ridge / 2))
        return solved

    def predict(self, x: Vector, ridge: float) -> Vector:
        """Return predictions at x, clipped to [-1, 1] like y; clipping increases no distance."""
        cut: Vector = np.clip(features(x, self.width) @ self.coefficients(ridge), -1.0, 1.0)
        return cut

    def cross_validation(self, ridge: float) -> float:
        """Return the generalised cross-validation error (Golub, Heath and Wahba 1979)."""
        shrunk = self.spectrum + self.n * ridge / 2
        used = float((self.spectrum / shrunk).sum())
        error = self.square - float((self.target**2 / shrunk * (2 - self.spectrum / shrunk)).sum())
        return max(error, 0.0) / self.n / max(1e-9, 1 - used / self.n) ** 2


def residual_bound(n: int, ridge: float, variant: str = "strict") -> float:
    """Bound a prediction's change by one replaced training record, for |y| <= 1 and k <= 1.

    "published": 8 / (n lambda^(3/2)), Theorem 5 (lambda <= 1). "strict": 2 (1 + 1 / sqrt(2 lambda))
    / (mu + 1) with mu = n lambda / 2, proved in research/theory/pairs.md; it is at most .86 of the
    published bound.
    """
    if not (n >= 1 and ridge > 0):
        raise InputError("The residual bound needs at least one row and a ridge above 0.")
    if variant == "published":
        return 8 / (n * math.pow(ridge, 1.5))
    mu = n * ridge / 2
    # s / (1 + s^2) for s <= 1 / sqrt(mu) is largest at the end, or at s = 1 if that is allowed.
    reach = 1 / (mu + 1) if mu >= 1 else 1 / (2 * math.sqrt(mu))
    steps = 2 * (1 + 1 / math.sqrt(2 * ridge)) * reach
    return min(steps, math.sqrt(2 / ridge))  # predictions are bounded by |w| <= 1 / sqrt(2 lambda)
