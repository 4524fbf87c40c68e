"""Correct for chance among many tests."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# About this share of the displayed edges may be due to chance. Without any dependence, share / (1 -
# share)^2 = .31 edges are displayed per run.
FALSE_SHARE = 0.2


def step_up(p: NDArray[np.float64], share: float = FALSE_SHARE) -> float:
    """Return the largest significant p-value of (m,) p-values, or 0 if none is significant.

    Benjamini and Hochberg (1995): the k-th smallest, for the largest k for which it is at most
    ``share`` k / m. Without any dependence, the probability of finding anything is ``share``, and
    the mean number found is below share / (1 - share)^2. If there is much dependence, the threshold
    per test is higher. The method assumes independent p-values, or nearly independent ones: those
    of pairs that share a column are uncorrelated.
    """
    ordered = np.sort(p)
    below = np.flatnonzero(ordered <= share * np.arange(1, p.size + 1) / p.size)
    return float(ordered[below[-1]]) if below.size else 0.0
