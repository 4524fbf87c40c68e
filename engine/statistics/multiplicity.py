"""Correct for chance among many tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# About this share of the links seen may be chance. Without any dependence, share / (1 - share)^2 =
# .31 are seen per run.
FALSE_SHARE = 0.2


def step_up(p: NDArray[np.float64], share: float = FALSE_SHARE) -> float:
    """Return the largest p-value that is not taken for chance, of (m,) p-values (0 where none is).

    Benjamini and Hochberg (1995): the k-th smallest for the largest k at which it is at most
    ``share`` k / m. Where nothing is there, any is found with probability ``share``, and the mean
    number of those found is below share / (1 - share)^2; where much is there, less is asked of
    each. The p-values are to be independent, or nearly: those of pairs that share a column are
    uncorrelated.
    """
    ordered = np.sort(p)
    below = np.flatnonzero(ordered <= share * np.arange(1, p.size + 1) / p.size)
    return float(ordered[below[-1]]) if below.size else 0.0
