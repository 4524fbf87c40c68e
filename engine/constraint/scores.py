"""The d-separation oracle: an ordinary statistic that asks the true graph instead of the data."""

from __future__ import annotations

import math
from collections.abc import Callable

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from engine.constraint.skeleton import Query
from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.statistics.kinds import RANK, Score
from engine.statistics.score import score
from engine.tables.rows import Rows
from engine.tables.store import Store, store_of


class OracleScores:
    """p = 1/2 where the set d-separates the pair in the true DAG, p = 0 where it does not."""

    def __init__(self, data: Dataset):
        if data.truth is None:
            raise InputError(
                "The oracle test needs the true graph: give an edge list, or choose another test."
            )
        self._truth, self._names = data.truth, data.names

    def score(self, q: Query) -> Score:
        """The oracle's answer to one query."""
        given = {self._names[g] for g in q.given}
        x, y = {self._names[q.x]}, {self._names[q.y]}
        if nx.is_d_separator(self._truth, x, y, given):
            return Score(0.0, 0.5)
        return Score(math.inf, 0.0)


class Scores:
    """Scores queries on all rows of a dataset, each computed at most once per store."""

    def __init__(self, data: Dataset, statistic: str, variant: str):
        self.statistic, self.variant = statistic, variant
        self._kind = f"{variant} {statistic}"
        self.store: Store = store_of(data)
        self._oracle = OracleScores(data) if statistic == "oracle" else None

    def full(self, q: Query) -> Score:
        """The query's score on all rows."""
        return self.store.keep((self._kind, q), lambda: self._compute(self.store.count, q))

    def on(self, rows: Rows, q: Query) -> Score:
        """The query's score on a subsample."""
        return self.full(q) if rows is self.store.rows else self._compute(rows.table, q)

    def _compute(self, table: Callable[..., NDArray[np.int64]], q: Query) -> Score:
        if self._oracle is not None:
            return self._oracle.score(q)
        found = score(table(q.x, q.y, q.given), self.statistic, self.variant)
        if not found.testable and not q.given:
            # Without a conditioning set a column is constant, and a constant is independent of
            # everything. (With one, the set determines a variable: nothing can be concluded.)
            return Score(0.0, 0.5 if self.statistic in RANK else 1.0, found.dof)
        return found
