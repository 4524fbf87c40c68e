"""The d-separation oracle: an ordinary statistic that asks the true graph instead of the data."""

from __future__ import annotations

import math

import networkx as nx

from engine.data import Dataset
from engine.errors import InputError
from engine.skeleton import Query
from engine.statistics import Score


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
