"""Conditional independence statistics of a table of counts, and their sensitivities.

A table has shape (strata, levels of x, levels of y). Rank statistics read the codes as ordered
levels. Ties count as neither concordant nor discordant. What no stratum can test is *untestable*:

- published rank tests skip a stratum of at most two rows or with a constant column; with every
  stratum skipped the statistic is NaN and the search keeps the edge (the Priv-PC code's rule);
- strict rank tests sum over all strata, so such a table gives 0: whether a stratum can be tested
  depends on the data, and a guarantee must not;
- G2 and chi2 have no degree of freedom left; the statistic is NaN and the edge is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numba import njit
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from engine.errors import InputError
from engine.statistics.kinds import RANK, Score, checked


@njit(cache=True, nogil=True)
def _kendall_sums(table, strict):  # type: ignore[no-untyped-def]
    """(sum of 9 S_i / (2 n_i + 5), sum of w(n_i)) over the strata that count."""
    strata, rows, columns = table.shape
    numerator, weight = 0.0, 0.0
    # below[j]: records of column j in the rows already passed, which rank higher in x.
    below = np.zeros(columns, np.int64)
    for s in range(strata):
        below[:] = 0
        n, score, used_rows = 0, 0, 0
        # From the highest level of x downwards: a record of cell (i, j) is concordant with every
        # record below it in this walk to the right of j, discordant with every one to its left.
        # Records of the same row or column are ties, and count as neither.
        for i in range(rows - 1, -1, -1):
            right = below.sum()
            left, row = 0, 0
            for j in range(columns):
                right -= below[j]
                score += table[s, i, j] * (right - left)
                left += below[j]
                row += table[s, i, j]
            for j in range(columns):
                below[j] += table[s, i, j]
            n += row
            used_rows += row > 0
        if n == 0:
            continue
        # The published rule: a stratum of two rows, or with a constant column, tests nothing. The
        # strict form sums over all strata, because what may be skipped depends on the data.
        if not strict and (n <= 2 or used_rows < 2 or np.count_nonzero(below) < 2):
            continue
        # w_i tau_i with tau_i = 2 S_i / (n_i (n_i - 1)): the n_i (n_i - 1) cancels.
        numerator += 9.0 * score / (2 * n + 5)
        weight += _kendall_weight(n)
    return numerator, weight


@njit(cache=True, nogil=True)
def _kendall_weight(n):  # type: ignore[no-untyped-def]
    """w(n) = 9 n (n-1) / (2 (2n+5)), the inverse variance of tau on n rows."""
    return 9.0 * n * (n - 1) / (2.0 * (2 * n + 5))


@njit(cache=True, nogil=True)
def _spearman_sums(table, strict):  # type: ignore[no-untyped-def]
    """(sum of n_i-weighted rank covariance terms, sum of weights) over the strata that count.

    With T_i the sum of products of centred midranks: strict adds 12 T_i / (n_i (n_i + 1)) (weight
    unused); published adds (n_i - 1) rho_i with rho_i = 12 T_i / (n_i (n_i^2 - 1)), and n_i - 1.
    """
    strata, rows, columns = table.shape
    numerator, weight = 0.0, 0.0
    x = np.zeros(rows)
    y = np.zeros(columns)
    row_sum = np.zeros(rows, np.int64)
    column_sum = np.zeros(columns, np.int64)
    for s in range(strata):
        row_sum[:] = 0
        column_sum[:] = 0
        for i in range(rows):
            for j in range(columns):
                row_sum[i] += table[s, i, j]
                column_sum[j] += table[s, i, j]
        n = row_sum.sum()
        if n == 0:
            continue
        constant = np.count_nonzero(row_sum) < 2 or np.count_nonzero(column_sum) < 2
        if not strict and (n <= 2 or constant):
            continue
        _centred_midranks(row_sum, n, x)
        _centred_midranks(column_sum, n, y)
        total = 0.0
        for i in range(rows):
            for j in range(columns):
                total += table[s, i, j] * x[i] * y[j]
        numerator += 12.0 * total / (n * (n + 1.0))
        weight += n - 1.0
    return numerator, weight


@njit(cache=True, nogil=True)
def _centred_midranks(sums, n, out):  # type: ignore[no-untyped-def]
    """Each level's midrank minus (n + 1) / 2."""
    before = 0
    for i in range(sums.size):
        out[i] = before + (sums[i] + 1) / 2.0 - (n + 1) / 2.0
        before += sums[i]


def kendall_z(table: ArrayLike, variant: str = "strict") -> float:
    """Conditional Kendall's tau as a z-score, positive for concordance.

    With S_i concordant minus discordant pairs of stratum i, w(n) = 9n(n-1)/(2(2n+5)) and
    N = sum 9 S_i / (2 n_i + 5):

    - "published": N / sqrt(sum w(n_i)) over the strata that can be tested; NaN without any
      (Korn 1984; Priv-PC appendix D).
    - "strict": N / sqrt(w(n)) over all strata, n the table's total, so that its sensitivity is
      bounded by :func:`rank_sensitivity`; 0 for fewer than two rows.
    """
    counts = checked(table, variant)
    numerator, weight = _kendall_sums(counts, variant == "strict")
    if variant == "strict":
        n = int(counts.sum())
        return numerator / math.sqrt(_kendall_weight(n)) if n > 1 else 0.0
    return numerator / math.sqrt(weight) if weight > 0 else math.nan


def spearman_z(table: ArrayLike, variant: str = "strict") -> float:
    """Conditional Spearman's rho as a z-score (Taylor 1987; Priv-PC preprint appendix E).

    With rho_i = 12 T_i / (n_i (n_i^2 - 1)), T_i the sum of products of centred midranks:

    - "published": sum (n_i - 1) rho_i / sqrt(sum (n_i - 1)) over the strata that can be tested;
      NaN without any.
    - "strict": sum (n_i - 1) rho_i / sqrt(n - 1) over all strata.
    """
    counts = checked(table, variant)
    numerator, weight = _spearman_sums(counts, variant == "strict")
    if variant == "strict":
        n = int(counts.sum())
        return numerator / math.sqrt(n - 1) if n > 1 else 0.0
    return numerator / math.sqrt(weight) if weight > 0 else math.nan


def rank_score(table: ArrayLike, statistic: str, variant: str) -> Score:
    """Kendall's or Spearman's z with p = P(Z > |z|) in [0, 1/2]."""
    z = _RANK_Z[statistic](table, variant)
    return Score(z, float(ndtr(-abs(z))))


_RANK_Z: dict[str, Callable[[ArrayLike, str], float]] = {
    "kendall": kendall_z,
    "spearman": spearman_z,
}


@lru_cache(maxsize=256)  # asked for with every query of a search, for a few values
def critical_z(threshold: float) -> float:
    """The |z| at which a one-sided normal p equals ``threshold``: 0 from 1/2 on, inf at 0."""
    if threshold >= 0.5:
        return 0.0
    return float(-ndtri(threshold))


def rank_sensitivity(
    statistic: str, n: int, levels_x: int, levels_y: int, *, conditional: bool
) -> float:
    """Replace-one sensitivity of the strict |z| on n rows: c / sqrt(n).

    Unconditional c = 6, or 3 if both variables are binary. Conditional, with L the smaller number
    of levels: Kendall c = 3 (3L - 4) / (L - 1); Spearman 10, or 6 if L = 2. Each holds for every
    n and is approached as n grows; proofs in docs/privacy.md. InputError for any other statistic.
    """
    if statistic not in RANK:
        raise InputError(f"No bound on the sensitivity of {statistic!r} is proved.")
    if not conditional:
        c = 3.0 if levels_x == levels_y == 2 else 6.0
    elif statistic == "spearman":
        c = 6.0 if min(levels_x, levels_y) == 2 else 10.0
    else:
        levels = max(2, min(levels_x, levels_y))
        c = 3.0 * (3 * levels - 4) / (levels - 1)
    return c / math.sqrt(n)


@lru_cache(maxsize=4096)
def p_sensitivity(z_sensitivity: float) -> float:
    """Sensitivity of p = P(Z > |z|) for a |z| of the given sensitivity: Phi(s) - 1/2."""
    return float(ndtr(z_sensitivity)) - 0.5
