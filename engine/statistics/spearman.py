"""Conditional Spearman's rho."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from engine.compiled import kernel
from engine.statistics.base import RankStatistic


@kernel()
def _spearman_sums(table, strict):  # type: ignore[no-untyped-def]
    """Return (sum of n_i-weighted rank covariances, sum of weights) over the strata that count.

    T_i is the sum of products of centred midranks. The strict form adds 12 T_i / (n_i (n_i + 1))
    and does not use the weight. The published form adds (n_i - 1) rho_i, with rho_i = 12 T_i / (n_i
    (n_i^2 - 1)), and the weight n_i - 1.
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


@kernel()
def _centred_midranks(sums, n, out):  # type: ignore[no-untyped-def]
    """Fill in each level's midrank minus (n + 1) / 2."""
    before = 0
    for i in range(sums.size):
        out[i] = before + (sums[i] + 1) / 2.0 - (n + 1) / 2.0
        before += sums[i]


def spearman_z(table: ArrayLike, variant: str = "strict") -> float:
    """Return conditional Spearman's rho as a z-score (Taylor 1987; Priv-PC preprint appendix E).

    With rho_i = 12 T_i / (n_i (n_i^2 - 1)), T_i the sum of products of centred midranks:

    - "published": sum (n_i - 1) rho_i / sqrt(sum (n_i - 1)) over the strata that can be tested, or
      NaN if there are none.
    - "strict": sum (n_i - 1) rho_i / sqrt(n - 1) over all strata.

    Args:
        table: Counts, (strata, levels of x, levels of y) or one stratum (levels of x, levels of y).
        variant: "published" or "strict".

    Returns:
        A number without unit, approximately standard normal if x and y are independent.

    Raises:
        InputError: If the shape or the variant is invalid, or an entry is not a count.

    Examples:
        >>> strata = [[[30, 10], [5, 25]], [[12, 8], [9, 11]]]
        >>> round(spearman_z(strata, "published"), 6), round(spearman_z(strata, "strict"), 6)
        (3.268544, 3.253516)
    """
    return SPEARMAN.z(table, variant)


class Spearman(RankStatistic):
    """Spearman's rho."""

    key, label = "spearman", "Spearman's ρ"
    sums = staticmethod(_spearman_sums)

    def weight(self, n: int) -> float:
        """Return n - 1."""
        return n - 1.0

    def constant(self, levels: int) -> float:
        """Return 10, or 6 if a variable is binary."""
        return 6.0 if levels == 2 else 10.0

    def published_sensitivity(self, n: int, strata: int | None) -> float:
        """Return the bounds of Priv-PC's preprint: 30 / sqrt(n) without a set (Theorem 8); 31
        sqrt(k / (n - k)) with a set of k strata by the schema (Theorem 9)."""
        if strata is None or strata >= n:
            return 30 / math.sqrt(n)
        return 31 * math.sqrt(strata / (n - strata))


SPEARMAN = Spearman()
