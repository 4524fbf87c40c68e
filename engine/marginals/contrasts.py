"""Contrasts of count tables: what is released instead of whole tables, and its sensitivity.

A variable with r levels has r - 1 orthonormal Helmert contrasts H (r, r-1), all orthogonal to the
constant. A set A of variables has the *contrast tensor*

    T_A = sum over records of the outer product of h(X_i), i in A,     h(level) = that row of H.

The tensors of all subsets of A determine A's count table and the other way round, and no number is
released twice: the margins of a pair's table are not part of T_xy. So independent noise on the
tensors needs no consistency step, and replacing a record moves them less than it moves the tables
(the residual basis of Xiao et al. 2023, for replace-one neighbours).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from engine.tables.rows import Rows

Array = NDArray[np.float64]
BLOCK = 1 << 14


@cache
def helmert(levels: int) -> Array:
    """(levels, levels - 1): orthonormal columns, each orthogonal to the constant."""
    out = np.zeros((levels, levels - 1))
    for k in range(1, levels):
        out[:k, k - 1], out[k, k - 1] = 1.0, -k
        out[:, k - 1] /= math.sqrt(k * (k + 1))
    out.flags.writeable = False
    return out


def gram(rows: Rows) -> tuple[Array, Array]:
    """(sum of h, sum of h h^T) over the records, h all variables' contrasts side by side."""
    size = sum(r - 1 for r in rows.cardinalities)
    one, two = np.zeros(size), np.zeros((size, size))
    for start in range(0, len(rows.codes), BLOCK):
        codes = rows.codes[start : start + BLOCK]
        h = np.concatenate(
            [helmert(r)[codes[:, i]] for i, r in enumerate(rows.cardinalities)], axis=1
        )
        if rows.weights.size:
            weights = rows.weights[start : start + BLOCK].astype(float)
            one += weights @ h
            h *= np.sqrt(weights)[:, None]  # h^T h of one matrix costs half of a general product
        else:
            one += h.sum(axis=0)
        two += h.T @ h
    return one, two


def tensor(rows: Rows, variables: Sequence[int]) -> Array:
    """T_A of the variables, one axis of size levels - 1 each."""
    out: Array = rows.counts(variables).astype(float)
    for axis, i in enumerate(variables):
        out = np.moveaxis(np.tensordot(helmert(rows.cardinalities[i]), out, (0, axis)), 0, axis)
    return out


def table_change(levels: Sequence[int]) -> float:
    """Largest squared l2 change of one contrast tensor T_A under replace-one.

    With C = H H^T = I - J/r, records that differ in the variables D of A change T_A by

        2 prod_A (1 - 1/r) - 2 prod_{A - D} (1 - 1/r) prod_D (-1/r).
    """
    same = [1 - 1 / r for r in levels]
    other = [-1 / r for r in levels]
    cross = [1.0]  # prod over A of either factor, over all D; D empty comes first
    for s, o in zip(same, other, strict=True):
        cross = [c * s for c in cross] + [c * o for c in cross]
    return 2 * math.prod(same) - 2 * min(cross)


def tables_change(tables: Iterable[Sequence[int]], cardinalities: Sequence[int]) -> float:
    """Bound on the squared l2 change of several tensors together: the sum of their own."""
    return sum(table_change([cardinalities[i] for i in table]) for table in tables)


def all_pairs_change(cardinalities: Sequence[int], one_way: float) -> float:
    """Exact largest squared l2 change of all pairs' tensors with all one-way ones.

    One-way tensors enter with weight ``one_way`` on their squared change (2 where the records
    differ). For records that differ in the set D, with c_i = 1 - 1/r_i and k = |D|, the pairs give
    2 [sum_{i in D} sum_{j != i} c_j - k (k - 1) / 2]: for each k it is largest for the k largest
    inner sums.
    """
    c = 1 - 1 / np.asarray(cardinalities, dtype=float)
    inner = np.sort(c.sum() - c)[::-1]
    k = np.arange(1, len(c) + 1)
    return float(np.max(2 * (np.cumsum(inner) - k * (k - 1) / 2) + 2 * k * one_way))


def some_pairs_change(pairs: Sequence[tuple[int, int]], cardinalities: Sequence[int]) -> float:
    """Bound on the squared l2 change of some pairs' tensors together.

    For records that differ where z = 1 it is f(z) = sum over pairs of 2 c_j z_i + 2 c_i z_j
    - 2 z_i z_j. As z = z^2, adding mu z (1 - z) makes f concave without changing it; a concave
    function lies below its tangent at any point, so the tangent's maximum over the corners is a
    bound. The sum of the pairs' own bounds is another; the smaller one holds.
    """
    apart = tables_change(pairs, cardinalities)
    if len(pairs) < 2:
        return apart
    d = len(cardinalities)
    joined = np.zeros((d, d))
    for i, j in pairs:
        joined[i, j] = joined[j, i] = 1.0
    c = 1 - 1 / np.asarray(cardinalities, dtype=float)
    mu = max(0.0, -float(np.linalg.eigvalsh(joined)[0])) + 1e-9
    linear, curve = 2 * joined @ c + mu, joined + mu * np.eye(d)
    step, z = 0.5 / float(np.linalg.eigvalsh(curve)[-1]), np.full(d, 0.5)
    best = apart
    for _ in range(200):
        slope = linear - 2 * curve @ z
        value = float(linear @ z - z @ curve @ z)
        tangent = value + float(np.where(slope > 0, slope * (1 - z), -slope * z).sum())
        best = min(best, tangent)
        z = np.clip(z + step * slope, 0, 1)
    return best
