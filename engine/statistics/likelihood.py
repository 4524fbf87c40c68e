"""G2 and chi2 of a table of counts."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import ArrayLike
from scipy.special import chdtrc

from engine.errors import InputError
from engine.statistics.kinds import Score, checked

PEARSON = {"g2": False, "chi2": True}  # which of the two sums a statistic is


@njit(cache=True, nogil=True)
def likelihood_sums(table, group, count, pearson):  # type: ignore[no-untyped-def]
    """(G2 or X2, degrees of freedom) of each of ``count`` groups of strata.

    A stratum's empty rows and columns give no freedom. With N_ij observed and E_ij = N_i+ N_+j / n
    expected: G2 = 2 sum N_ij ln(N_ij / E_ij), X2 = sum (N_ij - E_ij)^2 / E_ij.
    """
    strata, rows, columns = table.shape
    value = np.zeros(count)
    dof = np.zeros(count, np.int64)
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
        g = group[s]
        dof[g] += (np.count_nonzero(row_sum) - 1) * (np.count_nonzero(column_sum) - 1)
        for i in range(rows):
            for j in range(columns):
                expected = row_sum[i] * column_sum[j] / n
                observed = table[s, i, j]
                if expected == 0.0:
                    continue
                if pearson:
                    value[g] += (observed - expected) ** 2 / expected
                elif observed > 0:
                    value[g] += 2.0 * observed * np.log(observed / expected)
    return value, dof


def is_pearson(statistic: str) -> bool:
    """Whether the sums of ``statistic`` are Pearson's; InputError if it is no likelihood test."""
    if statistic not in PEARSON:
        raise InputError(f"{statistic!r} is not computed from expected counts: use g2 or chi2.")
    return PEARSON[statistic]


def likelihood_score(table: ArrayLike, statistic: str) -> Score:
    """G2 ("g2") or Pearson's X2 ("chi2") with its chi-square p-value.

    Degrees of freedom are (non-empty rows - 1)(non-empty columns - 1) summed over strata; with
    none left the score is NaN.
    """
    counts = checked(table, "published")
    one_group = np.zeros(len(counts), np.int64)
    values, freedom = likelihood_sums(counts, one_group, 1, is_pearson(statistic))
    value, dof = float(values[0]), int(freedom[0])
    if dof == 0:
        return Score(math.nan, math.nan, 0)
    return Score(value, float(chdtrc(dof, value)), dof)
