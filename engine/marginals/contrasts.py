"""Contrasts of count tables, released instead of whole tables.

A variable with r levels has r - 1 orthonormal Helmert contrasts H (r, r-1), all orthogonal to the
constant. A set A of variables has the *contrast tensor*

    T_A = sum over records of the outer product of h(X_i), i in A,     h(level) = that row of H.

The tensors of all subsets of A determine A's count table and vice versa. No number is released
twice, because the margins of a pair's table are not part of T_xy. Independent noise on the tensors
therefore needs no consistency step, and replacing a record changes them less than it changes the
tables (the residual basis of Xiao et al. 2023, for replace-one neighbours).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from engine.tables.store import Rows

Array = NDArray[np.float64]
Check = Callable[[], None]  # called between two steps; raises if the run has to stop
BLOCK = 1 << 14


@cache
def helmert(levels: int) -> Array:
    """Return (levels, levels - 1) orthonormal columns, each orthogonal to the constant."""
    out = np.zeros((levels, levels - 1))
    for k in range(1, levels):
        out[:k, k - 1], out[k, k - 1] = 1.0, -k
        out[:, k - 1] /= math.sqrt(k * (k + 1))
    out.flags.writeable = False
    return out


def gram(rows: Rows, check: Check = lambda: None) -> tuple[Array, Array]:
    """Return the sums of h and h h^T over the records; h has the contrasts of all variables."""
    size = sum(r - 1 for r in rows.cardinalities)
    one, two = np.zeros(size), np.zeros((size, size))
    for start in range(0, len(rows.codes), BLOCK):
        check()
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
    """Return T_A of the variables, with one axis of size levels - 1 per variable."""
    out: Array = rows.counts(variables).astype(float)
    for axis, i in enumerate(variables):
        out = np.moveaxis(np.tensordot(helmert(rows.cardinalities[i]), out, (0, axis)), 0, axis)
    return out
