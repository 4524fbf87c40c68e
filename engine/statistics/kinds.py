"""Which statistics there are, and what each of them returns."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from engine.errors import InputError

VARIANTS = ("published", "strict")
RANK = ("kendall", "spearman")
LIKELIHOOD = ("g2", "chi2")
STATISTICS = (*RANK, *LIKELIHOOD, "oracle")

# Thresholds that "auto" stands for: a rank test's p lies in [0, 1/2] and is compared with
# Priv-PC's T = 0.10; a G2 or chi2 p-value in [0, 1] with the usual alpha = 0.01.
DEFAULT_THRESHOLD = {"kendall": 0.10, "spearman": 0.10, "g2": 0.01, "chi2": 0.01, "oracle": 0.10}


class Score(NamedTuple):
    """A query's statistic and p-value; ``dof`` for G2 and chi2. p is NaN where untestable."""

    statistic: float
    p: float
    dof: int | None = None

    @property
    def testable(self) -> bool:
        """Whether any stratum could test the query."""
        return not math.isnan(self.p)


def checked(table: ArrayLike, variant: str) -> NDArray[np.int64]:
    if variant not in VARIANTS:
        raise InputError(f"variant must be published or strict; {variant!r} is not.")
    counts = np.asarray(table)
    if counts.ndim == 2:
        counts = counts[None]
    if counts.ndim != 3:
        raise InputError("A table of counts has the shape (strata, levels of a, levels of b).")
    return np.ascontiguousarray(counts, dtype=np.int64)
