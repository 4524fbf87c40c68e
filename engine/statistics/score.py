"""One door to every statistic of counts."""

from __future__ import annotations

from numpy.typing import ArrayLike

from engine.errors import InputError
from engine.statistics.kinds import LIKELIHOOD, RANK, Score
from engine.statistics.likelihood import likelihood_score
from engine.statistics.rank import rank_score


def score(table: ArrayLike, statistic: str, variant: str = "published") -> Score:
    """Score a table with any statistic of ``STATISTICS`` that is computed from counts."""
    if statistic in RANK:
        return rank_score(table, statistic, variant)
    if statistic in LIKELIHOOD:
        return likelihood_score(table, statistic)
    raise InputError(f"{statistic!r} is not a statistic of counts; use one of {RANK + LIKELIHOOD}.")
