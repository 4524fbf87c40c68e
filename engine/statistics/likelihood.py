"""G2 and chi2 of a table of counts."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from engine.statistics.kinds import Score, checked


@njit(cache=True, nogil=True)
def _likelihood_sums(table, pearson):  # type: ignore[no-untyped-def]
    """(G2 or X2, degrees of freedom); a stratum's empty rows and columns give no freedom."""
    strata, rows, columns = table.shape
    value, dof = 0.0, 0
    row_sum = np.zeros(rows, np.int64)
    column_sum = np.zeros(columns, np.int64)
    for s in range(strata):
        row_sum[:] = 0
        column_sum[:] = 0
        n = 0
        for i in range(rows):
            for j in range(columns):
                count = table[s, i, j]
                row_sum[i] += count
                column_sum[j] += count
                n += count
        if n == 0:
            continue
        dof += int((np.count_nonzero(row_sum) - 1) * (np.count_nonzero(column_sum) - 1))
        for i in range(rows):
            for j in range(columns):
                expected = row_sum[i] * column_sum[j] / n
                observed = table[s, i, j]
                if expected == 0.0:
                    continue
                if pearson:
                    value += (observed - expected) ** 2 / expected
                elif observed > 0:
                    value += 2.0 * observed * np.log(observed / expected)
    return value, dof


def likelihood_score(table: ArrayLike, statistic: str) -> Score:
    """G2 ("g2") or Pearson's X2 ("chi2") with its chi-square p-value.

    Degrees of freedom are (non-empty rows - 1)(non-empty columns - 1) summed over strata; with
    none left the score is NaN.
    """
    counts = checked(table, "published")
    value, dof = _likelihood_sums(counts, statistic == "chi2")
    if dof == 0:
        return Score(math.nan, math.nan, 0)
    return Score(value, float(chdtrc(dof, value)), dof)
