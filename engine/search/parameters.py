"""Parameters of the PC loop, its test and the noise on it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from engine.data.dataset import Dataset
from engine.params import Parameters, param
from engine.privacy.budget import PrivateBudget
from engine.statistics.base import Statistic
from engine.statistics.blocks import default_blocks, odd
from engine.statistics.registry import AGGREGATED, BOUNDED, STATISTICS


@dataclass(frozen=True, kw_only=True)
class SearchParameters(Parameters):
    """Parameters of the PC loop and its test, common to the constraint-based family."""

    statistic: str = param(
        "kendall",
        kind="choice",
        choices=tuple(STATISTICS),
        title="Independence test",
        help="Conditional Kendall's τ and Spearman's ρ read the levels as ordered; G² and χ² do "
        "not. The oracle asks the true graph (d-separation) instead of the data.",
    )
    threshold: float | str = param(
        "auto",
        kind="float",
        words=("auto",),
        low=0.0,
        high=1.0,
        tuned=(0.001, 0.4),
        title="Threshold T",
        help="An edge goes when the p-value exceeds T. Rank tests have p in [0, ½] and T = 0.10 as "
        "published; G² and χ² have p in [0, 1] and T = 0.01. 'auto' takes these.",
    )
    max_order: int | str = param(
        "auto",
        kind="int",
        words=("auto",),
        low=0,
        high=50,
        tuned=(0, 5),
        title="Largest order",
        help="The largest conditioning set. 'auto' is the paper's clip(⌊log₂ n⌋ − 5, 0, d − 2).",
    )
    stable: bool = param(
        False,
        kind="bool",
        title="PC-stable",
        help="Draw conditioning sets from the adjacencies at the start of each order, so that the "
        "result does not depend on the order of the columns. Costs more tests.",
    )

    @property
    def by_order(self) -> bool:
        """PC asks in the order of the columns, and drops edges as it goes, unless it is stable."""
        return not self.stable

    @property
    def test(self) -> Statistic:
        """The statistic itself."""
        return STATISTICS[self.statistic]

    @property
    def cutoff(self) -> float:
        """The threshold as a number."""
        return self.test.threshold if isinstance(self.threshold, str) else self.threshold

    def order_limit(self, data: Dataset) -> int:
        """The largest order as a number, for n rows and d columns."""
        if isinstance(self.max_order, str):
            return int(np.clip(math.floor(math.log2(data.n)) - 5, 0, max(0, data.d - 2)))
        return min(self.max_order, max(0, data.d - 2))


@dataclass(frozen=True, kw_only=True)
class PrivateParameters(PrivateBudget, SearchParameters):
    """Budget and guarantee of the PC loop."""


# A block has few rows and little power: a stricter level than a single test's loses weak edges, and
# the vote over the blocks, not the level, guards against chance.
BLOCK_THRESHOLD = 0.10


@dataclass(frozen=True, kw_only=True)
class NoisyTestParameters(PrivateParameters):
    """Adds what noise is put on: a rank test's score, or the aggregate of G² or χ² by blocks."""

    score: str = param(
        "auto",
        kind="choice",
        choices=("auto", "p", "z"),
        title="Perturbed score",
        help="Noise on the p-value, as published, or on |z|, which has a stronger signal. 'auto' "
        "is p in published mode and z in strict mode.",
        when={"statistic": BOUNDED},
    )
    blocks: int | str = param(
        "auto",
        kind="int",
        words=("auto",),
        low=3,
        high=10_001,
        tuned=(3, 301),
        title="Blocks",
        help="G² and χ² run in this many random blocks of rows (made odd). Strict: how many blocks "
        "find independence, a count that one record changes by 1. Published: the median p-value "
        "with its smooth sensitivity. 'auto' is n / 1000, at least 11.",
        when={"statistic": AGGREGATED},
    )

    @property
    def cutoff(self) -> float:
        """The threshold as a number; inside blocks "auto" is :data:`BLOCK_THRESHOLD`."""
        if isinstance(self.threshold, str) and self.test.aggregated:
            return BLOCK_THRESHOLD
        return super().cutoff

    @property
    def perturbed(self) -> str:
        """The perturbed score with "auto" resolved."""
        return {"auto": "z" if self.strict else "p"}.get(self.score, self.score)

    def block_count(self, n: int) -> int:
        """The odd number of blocks for n rows."""
        return default_blocks(n) if isinstance(self.blocks, str) else odd(self.blocks)
