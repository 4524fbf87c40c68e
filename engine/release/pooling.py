"""Pool released tables of different people under one schema, and measure their difference.

Each release has one weight for all its pairs and single columns, the inverse of a pair's noise and
sampling variance. Then all pooled tables describe the same mixture of the populations. Weights per
table would combine the margins of one mixture with the pairs of another, and differences between
hospitals would appear as links that no hospital has. Noise variances add up with the squares of the
weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from engine.marginals.contrasts import Array, helmert
from engine.marginals.moments import Key, Moments

WARN = 4.0  # smallest drift that counts as a difference; without one it was at most 3.8 in 60 draws
LEAST_SHARE = 1e-3  # least share of a level in the covariance of sampling


def weights(parts: Sequence[Moments]) -> Array:
    """Return the releases' weights: inverse (noise + sampling) variance of a pair; sum 1."""
    upper = np.triu_indices(parts[0].d, 1)
    spread = [float(np.median(m.noise_two[upper])) + 1 / (4 * m.n) for m in parts]
    inverse = 1 / np.array(spread)
    return np.asarray(inverse / inverse.sum())


def pooled(parts: Sequence[Moments]) -> Moments:
    """Return the weighted mean of the tensors with its noise variance and effective n.

    Tensors of three and more columns that only some releases contain are averaged over these. Their
    smaller number of rows counts as noise: the additional variance compared with n rows.
    """
    w, cards = weights(parts), parts[0].cardinalities

    def mean(name: str, power: int) -> Array:
        return np.asarray(sum(a**power * getattr(m, name) for a, m in zip(w, parts, strict=True)))

    n = round(1 / float(np.sum(w**2 / np.array([m.n for m in parts]))))
    out = Moments(
        n, cards, mean("one", 1), mean("two", 1), mean("noise_one", 2), mean("noise_two", 2)
    )
    for key in sorted({key for m in parts for key in m.higher}, key=lambda key: (len(key), key)):
        out.higher[key], out.noise_higher[key] = _higher(key, parts, w, n)
    return out


def _higher(key: Key, parts: Sequence[Moments], w: Array, n: int) -> tuple[Array, float]:
    """Return a tensor of three or more columns, and the noise variance of an entry."""
    have = [(a, m) for a, m in zip(w.tolist(), parts, strict=True) if key in m.higher]
    total = sum(a for a, _ in have)
    shares = [(a / total, m) for a, m in have]
    fewer = max(0.0, sum(a**2 / m.n for a, m in shares) - 1 / n)
    noise = sum(a**2 * m.noise_higher[key] for a, m in shares)
    unit = math.prod(1 / parts[0].cardinalities[i] for i in key)
    return np.asarray(sum(a * m.higher[key] for a, m in shares)), noise + unit * fewer


def drift(parts: Sequence[Moments]) -> tuple[float, Array]:
    """Measure how far the releases' single columns differ: overall, and per column (d,).

    The measure is (Q - f) / sqrt(2 f), with Cochran's Q of a column's contrasts over the releases
    (variance from noise and sampling) and its degrees of freedom f. Without differences, its mean
    is about 0 and its deviation about 1.
    """
    q, dof = np.array([_cochran(parts, i) for i in range(parts[0].d)]).T
    return float((q.sum() - dof.sum()) / math.sqrt(2 * dof.sum())), (q - dof) / np.sqrt(2 * dof)


def _cochran(parts: Sequence[Moments], i: int) -> tuple[float, int]:
    """Return Cochran's Q of one column, and its degrees of freedom."""
    h = helmert(parts[0].cardinalities[i])
    values = [m.one[m.at[i]] for m in parts]
    p = np.maximum(1 / len(h) + h @ np.mean(values, axis=0), LEAST_SHARE)
    p /= p.sum()
    spread = h.T @ (p[:, None] * h) - np.outer(h.T @ p, h.T @ p)
    noise = np.eye(h.shape[1])
    inverse = [np.linalg.inv(spread / m.n + m.variance(i) * noise) for m in parts]
    each = [v @ x for v, x in zip(inverse, values, strict=True)]
    middle = np.linalg.solve(sum(inverse), sum(each))
    apart = [x - middle for x in values]
    q = sum(float(x @ v @ x) for x, v in zip(apart, inverse, strict=True))
    return q, (len(parts) - 1) * h.shape[1]
