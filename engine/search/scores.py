"""Scores of queries on a dataset, kept for later runs."""

from __future__ import annotations

from engine.data.dataset import Dataset
from engine.search.skeleton import Query
from engine.statistics.base import Count, Score, Statistic
from engine.tables.rows import Rows
from engine.tables.store import Known, Store, store_of


class QueryScores:
    """What a statistic says of queries on a dataset, each computed at most once per store."""

    def __init__(self, data: Dataset, statistic: Statistic, variant: str):
        self.statistic = statistic
        self._kind = f"{variant} {statistic.key}"
        self.store: Store = store_of(data)
        self._scorer = statistic.scorer(data, variant)
        self._pairs: dict[tuple[int, int], Known[Score]] = {}  # those that this run has met

    def full(self, q: Query) -> Score:
        """The query's score on all rows."""
        known = self._pairs.get(q[:2])
        if known is None:
            known = self._pairs[q[:2]] = self.store.known((self._kind, q[:2]))
        found = known.get(q.given)
        if found is None:
            found = self.compute(q)
            self.store.note((self._kind, q[:2]), known, q.given, found)
        return found

    def compute(self, q: Query) -> Score:
        """The query's score on all rows, which somebody else keeps."""
        return self._compute(self.store.count, q)

    def on(self, rows: Rows, q: Query) -> Score:
        """The query's score on a subsample."""
        return self.full(q) if rows is self.store.rows else self._compute(rows.table, q)

    def _compute(self, count: Count, q: Query) -> Score:
        found = self._scorer(count, q.x, q.y, q.given)
        if not found.testable and not q.given:
            # Without a conditioning set a column is constant, and a constant is independent of
            # everything. (With one, the set determines a variable: nothing can be concluded.)
            return Score(0.0, self.statistic.largest_p, found.dof)
        return found
