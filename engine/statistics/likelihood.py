"""G2 and Pearson's chi2 of a table of counts, with p-values per block."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, chdtri

from engine.compiled import kernel
from engine.statistics.base import Counts, Score, Statistic, checked
from engine.statistics.distance import records_changed, records_removed


@kernel()
def likelihood_sums(table, group, count, pearson):  # type: ignore[no-untyped-def]
    """Return (G2 or X2, degrees of freedom) of each of ``count`` groups of strata.

    Empty rows and columns of a stratum add no degrees of freedom. With N_ij observed and E_ij =
    N_i+ N_+j / n expected: G2 = 2 sum N_ij ln(N_ij / E_ij), X2 = sum (N_ij - E_ij)^2 / E_ij.
    """
    strata, rows, columns = table.shape
    value = np.zeros(count)
    dof = np.zeros(count, np.int64)
    row_sum, column_sum = np.empty(rows, np.int64), np.empty(columns, np.int64)
    for s in range(strata):
        n, high, wide = 0, 0, 0  # records, non-empty rows and non-empty columns
        column_sum[:] = 0
        for i in range(rows):
            row_sum[i] = 0
            for j in range(columns):
                row_sum[i] += table[s, i, j]
                column_sum[j] += table[s, i, j]
            n += row_sum[i]
            high += row_sum[i] > 0
        if n == 0:
            continue
        for j in range(columns):
            wide += column_sum[j] > 0
        g = group[s]
        dof[g] += (high - 1) * (wide - 1)
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


class Likelihood(Statistic):
    """G2, or Pearson's X2 if ``pearson``, with its chi-square p-value.

    Degrees of freedom are (non-empty rows - 1)(non-empty columns - 1) summed over strata. No useful
    bound on its sensitivity is known.
    """

    threshold = 0.01
    pearson: bool

    def score(self, table: ArrayLike, variant: str = "published") -> Score:
        """Return the sum over the strata; both variants are the same."""
        counts = checked(table, variant)
        one_group = np.zeros(len(counts), np.int64)
        values, freedom = likelihood_sums(counts, one_group, 1, self.pearson)
        value, dof = float(values[0]), int(freedom[0])
        return Score(value, float(chdtrc(dof, value)), dof) if dof else self.without_test(counts)

    def block_p_values(self, table: Counts, block: Counts, count: int) -> NDArray[np.float64]:
        """Compute all blocks in one pass."""
        value, dof = likelihood_sums(table, block, count, self.pearson)
        p = chdtrc(np.maximum(dof, 1), np.maximum(value, 0.0))
        if (dof > 0).all():
            return np.asarray(p)
        return np.where(dof > 0, p, np.nan_to_num(self.untested(table, block, count)))


class LikelihoodRatio(Likelihood):
    """G2, with the distance that EM-PC uses as its utility."""

    key, label, pearson = "g2", "G²", False

    def records_to_flip(self, table: Counts, alpha: float, limit: int) -> int:
        """Return the distance by greedy search
        (:func:`engine.statistics.distance.records_changed`), with the table's degrees of freedom.
        The value is ``limit`` for a constant column, because no change makes it dependent. It is
        -``limit`` if no conclusion is possible, so that the edge stays."""
        score = self.score(table)
        if not score.testable:
            return -limit
        critical, independent = float(chdtri(score.dof or 1, alpha)), score.p > alpha
        changed = records_changed(table, critical, independent, limit)
        return changed if independent else -changed

    def records_to_remove(self, table: Counts, alpha: float, limit: int) -> int:
        """Return the distance as in the authors' program: only removals, freedom from all levels.

        Examples:
            >>> G2.records_to_remove(np.array([[[30, 3], [2, 35]]]), 0.1, 70)
            -28
        """
        strata, x, y = table.shape
        freedom = max(1, strata * (x - 1) * (y - 1))
        score = self.score(table)
        value = max(score.statistic, 0.0) if score.testable else 0.0
        independent = float(chdtrc(freedom, value)) > alpha
        removed = records_removed(table, float(chdtri(freedom, alpha)), independent, limit)
        return removed if independent else -removed


class Pearson(Likelihood):
    """Pearson's chi2."""

    key, label, pearson = "chi2", "χ²", True


G2, CHI2 = LikelihoodRatio(), Pearson()
