"""What the rank statistics share: a z-score, with p = P(Z > |z|) in [0, 1/2].

They read the codes as ordered levels. Ties count as neither concordant nor discordant.

- Published rank tests skip a stratum of at most two rows or with a constant column; with every
  stratum skipped the statistic is NaN and the search keeps the edge (the Priv-PC code's rule).
- Strict rank tests sum over all strata, so such a table gives 0: whether a stratum can be tested
  depends on the data, and a guarantee must not.
"""

from __future__ import annotations

import math
from functools import lru_cache

from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from engine.statistics.base import Score, Statistic


class RankStatistic(Statistic):
    """A z-score whose |z| has a proven sensitivity c / sqrt(n); subclasses define :meth:`z` and c.

    Unconditional c = 6, or 3 if both variables are binary. Each c holds for every n and is
    approached as n grows; proofs in docs/explanation/privacy.md.
    """

    threshold = 0.10  # Priv-PC's T
    largest_p = 0.5
    bounded = True

    def z(self, table: ArrayLike, variant: str) -> float:
        """The z-score, positive for concordance; NaN where untestable."""
        raise TypeError(f"{type(self).__name__} must define z().")

    def constant(self, levels: int) -> float:
        """c of a conditional test whose variables have at least so many levels each."""
        raise TypeError(f"{type(self).__name__} must define constant().")

    def score(self, table: ArrayLike, variant: str = "published") -> Score:
        """z with p = P(Z > |z|)."""
        z = self.z(table, variant)
        return Score(z, float(ndtr(-abs(z))))

    def chi_square(self, score: Score) -> float:
        """z squared."""
        return score.statistic**2

    def largest(self, n: int) -> float:
        """3 sqrt(n) / 2: Kendall's z^2 is at most its weight w(n) < 9n / 4, Spearman's n - 1."""
        return math.sqrt(9 * n / 4)

    def sensitivity(self, n: int, levels_x: int, levels_y: int, *, conditional: bool) -> float:
        """c / sqrt(n)."""
        if conditional:
            return self.constant(min(levels_x, levels_y)) / math.sqrt(n)
        return (3.0 if levels_x == levels_y == 2 else 6.0) / math.sqrt(n)


@lru_cache(maxsize=256)  # asked for with every query of a search, for a few values
def critical_z(threshold: float) -> float:
    """The |z| at which a one-sided normal p equals ``threshold``: 0 from 1/2 on, inf at 0."""
    if threshold >= 0.5:
        return 0.0
    return float(-ndtri(threshold))


@lru_cache(maxsize=4096)
def p_sensitivity(z_sensitivity: float) -> float:
    """Sensitivity of p = P(Z > |z|) for a |z| of the given sensitivity: Phi(s) - 1/2."""
    return float(ndtr(z_sensitivity)) - 0.5
