"""Declare conditional independence statistics and compute them on tables.

A table has shape (strata, levels of x, levels of y). A stratum in which x or y is constant tests
nothing. If no stratum can test the query, :meth:`Statistic.untested` gives the answer; tables,
blocks and distances all use it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.tables.store import Known, Rows, Store, store_of

VARIANTS = ("published", "strict")


class Score(NamedTuple):
    """The statistic, p-value (NaN if untestable) and, for G2 and chi2, ``dof`` of a query.

    A search keeps the edge of an untestable query.
    """

    statistic: float
    p: float
    dof: int | None = None

    @property
    def testable(self) -> bool:
        """True if the query allows a conclusion."""
        return not math.isnan(self.p)

    @property
    def cautious_p(self) -> float:
        """p, or 0 if no conclusion is possible, so that such a query counts as dependent."""
        return self.p if self.testable else 0.0


UNTESTABLE = Score(math.nan, math.nan, 0)

Counts = NDArray[np.int64]
Given = tuple[int, ...]
Count = Callable[[int, int, Given], Counts]  # function of x, y, given that returns their table
Scorer = Callable[[Count, int, int, Given], Score]


class Statistic:
    """One conditional independence statistic, with all facts that other files use.

    A subclass defines :meth:`score` and overrides what differs. A ``bounded`` statistic has a
    proven sensitivity, and noise is added to its score. Any other statistic runs block by block,
    and noise is added to the aggregate (:mod:`engine.statistics.blocks`).
    """

    key: str
    label: str
    threshold: float  # value of "auto"
    largest_p: float = 1.0  # upper end of the range of p
    bounded = False
    reads_data = True  # False: it uses the true graph

    @property
    def aggregated(self) -> bool:
        """True if a private algorithm runs it block by block."""
        return self.reads_data and not self.bounded

    def score(self, table: ArrayLike, variant: str = "published") -> Score:
        """Return a table's statistic, which is high for dependence, and its p-value."""
        raise TypeError(f"{type(self).__name__} must define score().")

    def untested(self, table: Counts, block: Counts, count: int) -> NDArray[np.float64]:
        """Return the p-values of blocks in which no stratum can test the query, shape (count,).

        A column that is constant in the whole block shows no dependence, so p is the largest
        possible value. If both columns vary, but never in the same stratum, no conclusion is
        possible, and p is NaN. The usual reason is that the conditioning set determines a column.
        ``block`` has the block of each stratum.
        """
        varies = np.ones(count, bool)
        for axis in (1, 2):
            levels = np.zeros((count, table.shape[3 - axis]), np.int64)
            np.add.at(levels, block, table.sum(axis=axis))
            varies &= np.count_nonzero(levels, axis=1) > 1
        return np.where(varies, math.nan, self.largest_p)

    def without_test(self, table: Counts) -> Score:
        """Return the score of a table that no stratum can test."""
        p = float(self.untested(table, np.zeros(len(table), np.int64), 1)[0])
        return UNTESTABLE if math.isnan(p) else Score(0.0, p, 0)

    def scorer(self, data: Dataset, variant: str) -> Scorer:
        """Return a function of (count, x, y, given) that scores queries about this dataset."""
        return lambda count, x, y, given: self.score(count(x, y, given), variant)

    def log_odds(self, score: Score, n: int) -> float:
        """Return the log Bayes factor of dependence by Schwarz, (chi-square - dof ln n) / 2."""
        if not score.testable:
            return 0.0
        return (self.chi_square(score) - (score.dof or 1) * math.log(n)) / 2

    def chi_square(self, score: Score) -> float:
        """Return the statistic on the chi-square scale, with ``score.dof`` or 1 dof."""
        return score.statistic

    def block_p_values(self, table: Counts, block: Counts, count: int) -> NDArray[np.float64]:
        """Return each block's p-value, shape (count,), in [0, 1], from the block's rows only.

        ``block`` has the block of each of the table's strata. Every block is included: a block
        without rows shows no dependence, and a block that allows no conclusion has p = 0.
        """
        return np.array([self.score(table[block == b]).cautious_p for b in range(count)])

    def sensitivity(self, n: int, levels_x: int, levels_y: int, *, conditional: bool) -> float:
        """Return the replace-one sensitivity of the strict |statistic| on n rows, if bounded."""
        return math.inf

    def largest(self, n: int) -> float:
        """Return an upper bound of the published |statistic| on n rows, if bounded."""
        return math.inf

    def published_sensitivity(self, n: int, strata: int | None) -> float:
        """Return the paper's sensitivity on n rows; ``strata`` is None without a set."""
        return math.inf


def checked(table: ArrayLike, variant: str) -> Counts:
    """Return the table as (strata, levels of a, levels of b).

    Raises InputError for any other shape, and for entries that are not whole numbers of at least 0.
    """
    if variant not in VARIANTS:
        raise InputError(f"variant must be published or strict; {variant!r} is not.")
    if type(table) is np.ndarray and table.ndim == 3 and table.dtype == np.int64:
        return np.ascontiguousarray(table)
    counts = np.asarray(table)
    if counts.ndim == 2:
        counts = counts[None]
    if counts.ndim != 3:
        raise InputError("A table of counts has the shape (strata, levels of a, levels of b).")
    if counts.dtype.kind == "f" and np.equal(np.rint(counts), counts).all():
        counts = np.where(abs(counts) < 2**53, counts, -1).astype(np.int64)
    if counts.dtype.kind not in "iu" or (counts < 0).any():
        raise InputError("Counts are whole numbers of at least 0; this table holds others.")
    return np.ascontiguousarray(counts, dtype=np.int64)


class RankStatistic(Statistic):
    """A z-score whose |z| has proven sensitivity c / sqrt(n); subclasses define :meth:`z` and c.

    Rank statistics read the codes as ordered levels. Ties count as neither concordant nor
    discordant.

    - Published rank tests skip a stratum with at most two rows or a constant column. If all strata
      are skipped, z is NaN (as in the code of Priv-PC), and :meth:`untested` decides.
    - Strict rank tests sum over all strata, so such a table gives 0. A guarantee must not depend on
      which strata can be tested, because this depends on the data.

    Unconditional c = 6, or 3 if both variables are binary. Each c is valid for every n and is
    approached as n grows (proofs in research/theory/privacy_proofs.md).
    """

    threshold = 0.10  # T in Priv-PC
    largest_p = 0.5
    bounded = True

    def sums(self, counts: Counts, strict: bool) -> tuple[float, float]:
        """Return (numerator, weight) over the strata that count; z is numerator / sqrt(weight)."""
        raise TypeError(f"{type(self).__name__} must define sums().")

    def weight(self, n: int) -> float:
        """Return the statistic's inverse variance on n > 1 rows, by which strict z are divided."""
        raise TypeError(f"{type(self).__name__} must define weight().")

    def z(self, table: ArrayLike, variant: str) -> float:
        """Return the z-score, positive for concordance, or NaN if untestable."""
        counts = checked(table, variant)
        strict = variant == "strict"
        numerator, weight = self.sums(counts, strict)
        if strict:
            n = int(counts.sum())
            return numerator / math.sqrt(self.weight(n)) if n > 1 else 0.0
        return numerator / math.sqrt(weight) if weight > 0 else math.nan

    def constant(self, levels: int) -> float:
        """Return c of a conditional test on variables with at least ``levels`` levels each."""
        raise TypeError(f"{type(self).__name__} must define constant().")

    def score(self, table: ArrayLike, variant: str = "published") -> Score:
        """Return z with p = P(Z > |z|)."""
        counts = checked(table, variant)
        z = self.z(counts, variant)
        return self.without_test(counts) if math.isnan(z) else Score(z, float(ndtr(-abs(z))))

    def chi_square(self, score: Score) -> float:
        """Return z squared."""
        return score.statistic**2

    def largest(self, n: int) -> float:
        """Return 3 sqrt(n) / 2: Kendall's z^2 is at most w(n) < 9n / 4, Spearman's n - 1."""
        return math.sqrt(9 * n / 4)

    def sensitivity(self, n: int, levels_x: int, levels_y: int, *, conditional: bool) -> float:
        """Return c / sqrt(n)."""
        if conditional:
            return self.constant(min(levels_x, levels_y)) / math.sqrt(n)
        return (3.0 if levels_x == levels_y == 2 else 6.0) / math.sqrt(n)


@lru_cache(maxsize=256)  # every query of a search needs it, for only a few values
def critical_z(threshold: float) -> float:
    """Return the |z| whose one-sided normal p is ``threshold``: 0 from 1/2 on, inf at 0."""
    if threshold >= 0.5:
        return 0.0
    return float(-ndtri(threshold))


@lru_cache(maxsize=4096)
def p_sensitivity(z_sensitivity: float) -> float:
    """Sensitivity of p = P(Z > |z|) for a |z| of the given sensitivity: Phi(s) - 1/2."""
    return float(ndtr(z_sensitivity)) - 0.5


Query = tuple[int, int, Given]  # x < y and their conditioning set


class QueryScores:
    """Scores of queries on a dataset, each computed at most once per store."""

    def __init__(self, data: Dataset, statistic: Statistic, variant: str):
        self.statistic = statistic
        self._kind = f"{variant} {statistic.key}"
        self.store: Store = store_of(data)
        self._scorer = statistic.scorer(data, variant)
        self._pairs: dict[tuple[int, int], Known[Score]] = {}  # the pairs that this run has used

    def full(self, q: Query) -> Score:
        """Return the query's score on all rows."""
        pair, given = q[:2], q[2]
        known = self._pairs.get(pair)
        if known is None:
            known = self._pairs[pair] = self.store.known((self._kind, pair))
        found = known.get(given)
        if found is None:
            found = self.compute(q)
            self.store.note((self._kind, pair), known, given, found)
        return found

    def compute(self, q: Query) -> Score:
        """Compute the query's score on all rows; the caller stores it."""
        return self._compute(self.store.count, q)

    def on(self, rows: Rows, q: Query) -> Score:
        """Return the query's score on a subsample."""
        return self.full(q) if rows is self.store.rows else self._compute(rows.table, q)

    def _compute(self, count: Count, q: Query) -> Score:
        return self._scorer(count, *q)
