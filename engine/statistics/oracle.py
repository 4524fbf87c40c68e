"""The d-separation oracle: an ordinary statistic that asks the true graph instead of the data."""

from __future__ import annotations

import math

from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.graphs.separation import Separation
from engine.statistics.base import Score, Scorer, Statistic

_SURE = 100.0  # log odds that stand for certainty


class Oracle(Statistic):
    """p = 1/2 where the set d-separates the pair in the true DAG, p = 0 where it does not."""

    key, label = "oracle", "Oracle (true graph)"
    threshold = 0.10
    largest_p = 0.5
    reads_data = False

    def scorer(self, data: Dataset, variant: str) -> Scorer:
        """The graph's answers; InputError where the true graph is not known."""
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
