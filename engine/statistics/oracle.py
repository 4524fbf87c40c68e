"""The d-separation oracle: a statistic that uses the true graph instead of the data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import networkx as nx

from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.statistics.base import Score, Scorer, Statistic

_SURE = 100.0  # log odds that represent certainty


class Separation:
    """Repeated d-separation queries on one DAG.

    A search makes tens of thousands of queries. networkx checks for cycles in each, so PC on
    Insurance would take six times as long.
    """

    def __init__(self, dag: nx.DiGraph, names: Sequence[str]):
        at = {name: i for i, name in enumerate(names)}
        self._parents = [{at[p] for p in dag.predecessors(name)} for name in names]
        self._children = [{at[c] for c in dag.successors(name)} for name in names]
        self._ancestors = [{at[a] for a in nx.ancestors(dag, name)} | {at[name]} for name in names]

    def separated(self, x: int, y: int, given: Iterable[int]) -> bool:
        """Return whether ``given`` d-separates x and y.

        This is the case if each path between them passes through ``given`` in the moral graph of
        all their ancestors: parents of one child joined, directions dropped (Lauritzen 1996, 3.25).
        """
        met = {x, *given}
        kept: set[int] = set().union(*(self._ancestors[node] for node in (y, *met)))
        left = [x]
        while left:
            node = left.pop()
            children = self._children[node] & kept
            near = self._parents[node].union(children, *(self._parents[c] for c in children)) - met
            if y in near:
                return False
            met |= near
            left += near
        return True


class Oracle(Statistic):
    """p = 1/2 if the set d-separates the pair in the true DAG, otherwise p = 0."""

    key, label = "oracle", "Oracle (true graph)"
    threshold = 0.10
    largest_p = 0.5
    reads_data = False

    def scorer(self, data: Dataset, variant: str) -> Scorer:
        """Return the graph's answers, or raise InputError if the true graph is unknown."""
        if data.truth is None:
            raise InputError(
                "The oracle test needs the true graph: give an edge list, or choose another test."
            )
        separated = Separation(data.truth, data.names).separated
        return lambda count, x, y, given: (
            Score(0.0, 0.5) if separated(x, y, given) else Score(math.inf, 0.0)
        )

    def log_odds(self, score: Score, n: int) -> float:
        """Return plus or minus certainty."""
        return -_SURE if score.p > 0 else _SURE


ORACLE = Oracle()
