"""The d-separation oracle: an ordinary statistic that asks the true graph instead of the data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import networkx as nx

from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.statistics.base import Score, Scorer, Statistic

_SURE = 100.0  # log odds that stand for certainty


class Separation:
    """d-separation in one DAG, asked many times.

    A search asks tens of thousands of questions: with networkx, which looks each time whether the
    graph has a cycle, PC on Insurance takes six times as long.
    """

    def __init__(self, dag: nx.DiGraph, names: Sequence[str]):
        at = {name: i for i, name in enumerate(names)}
        self._parents = [{at[p] for p in dag.predecessors(name)} for name in names]
        self._children = [{at[c] for c in dag.successors(name)} for name in names]
        self._ancestors = [{at[a] for a in nx.ancestors(dag, name)} | {at[name]} for name in names]

    def separated(self, x: int, y: int, given: Iterable[int]) -> bool:
        """Whether ``given`` d-separates x and y.

        So it is where each path between them meets ``given`` in the moral graph of the ancestors
        of all of them: parents of one child joined, directions dropped (Lauritzen 1996, 3.25).
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
    """p = 1/2 where the set d-separates the pair in the true DAG, p = 0 where it does not."""

    key, label = "oracle", "Oracle (true graph)"
    threshold = 0.10
    largest_p = 0.5
    reads_data = False

    def scorer(self, data: Dataset, variant: str) -> Scorer:
        """Give the graph's answers; InputError where the true graph is not known."""
        if data.truth is None:
            raise InputError(
                "The oracle test needs the true graph: give an edge list, or choose another test."
            )
        separated = Separation(data.truth, data.names).separated
        return lambda count, x, y, given: (
            Score(0.0, 0.5) if separated(x, y, given) else Score(math.inf, 0.0)
        )

    def log_odds(self, score: Score, n: int) -> float:
        """Certain."""
        return -_SURE if score.p > 0 else _SURE


ORACLE = Oracle()
