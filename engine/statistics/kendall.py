"""Conditional Kendall's tau."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from engine.compiled import kernel
from engine.statistics.base import RankStatistic


@kernel()
def _kendall_sums(table, strict):  # type: ignore[no-untyped-def]
    """Return (sum of 9 S_i / (2 n_i + 5), sum of w(n_i)) over the strata that count."""
    strata, rows, columns = table.shape
    numerator, weight = 0.0, 0.0
    # below[j]: records of column j in the rows already visited, which rank higher in x.
    below = np.zeros(columns, np.int64)
    for s in range(strata):
        below[:] = 0
        n, score, used_rows = 0, 0, 0
        # From the highest level of x downwards, a record in cell (i, j) is concordant with every
        # visited record to the right of j and discordant with every visited record to its left.
        # Records in the same row or column are ties and count as neither.
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
        # The published rule: a stratum with two rows or a constant column tests nothing. The strict
        # form sums over all strata, because the rule for skipping depends on the data.
        if not strict and (n <= 2 or used_rows < 2 or np.count_nonzero(below) < 2):
            continue
        # w_i tau_i with tau_i = 2 S_i / (n_i (n_i - 1)), in which n_i (n_i - 1) cancels.
        numerator += 9.0 * score / (2 * n + 5)
        weight += _kendall_weight(n)
    return numerator, weight


@kernel("f8(i8)")
def _kendall_weight(n):  # type: ignore[no-untyped-def]
    """Return w(n) = 9 n (n-1) / (2 (2n+5)), the inverse variance of tau on n rows."""
    return 9.0 * n * (n - 1) / (2.0 * (2 * n + 5))


def kendall_z(table: ArrayLike, variant: str = "strict") -> float:
    """Return conditional Kendall's tau as a z-score, positive for concordance.

    With S_i the concordant minus the discordant pairs of stratum i, w(n) = 9n(n-1)/(2(2n+5)) and N
    = sum 9 S_i / (2 n_i + 5):

    - "published": N / sqrt(sum w(n_i)) over the strata that can be tested, or NaN if there are none
      (Korn 1984; Priv-PC appendix D).
    - "strict": N / sqrt(w(n)) over all strata, with n the table's total, so that
      :meth:`Kendall.sensitivity` bounds its sensitivity, or 0 for fewer than two rows.

    Args:
        table: Counts, (strata, levels of x, levels of y) or one stratum (levels of x, levels of y).
        variant: "published" or "strict".

    Returns:
        A number without unit, approximately standard normal if x and y are independent.

    Raises:
        InputError: If the shape or the variant is invalid, or an entry is not a count.

    Examples:
        >>> strata = [[[30, 10], [5, 25]], [[12, 8], [9, 11]]]
        >>> round(kendall_z(strata, "published"), 6), round(kendall_z(strata, "strict"), 6)
        (3.266199, 3.215995)
    """
    return KENDALL.z(table, variant)


class Kendall(RankStatistic):
    """Kendall's tau; the papers calibrate every order to the unconditional bound."""

    key, label = "kendall", "Kendall's τ"
    sums = staticmethod(_kendall_sums)
    weight = staticmethod(_kendall_weight)

    def constant(self, levels: int) -> float:
        """Return 3 (3L - 4) / (L - 1), where L is the smaller number of levels."""
        smaller = max(2, levels)
        return 3.0 * (3 * smaller - 4) / (smaller - 1)

    def published_sensitivity(self, n: int, strata: int | None) -> float:
        """Return 6 / sqrt(n), as in Priv-PC's program; its text has 9 / 2 for some strata."""
        return 6.0 / math.sqrt(n)


KENDALL = Kendall()
