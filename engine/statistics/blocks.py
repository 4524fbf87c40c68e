"""Subsample and aggregate: use a test without bounded sensitivity block by block.

The rows are divided into random blocks, independently of their values, and the test runs in each
block, so one replaced record changes one block. There are two aggregates of the blocks' p-values
(preprint of Priv-PC, appendix F, Algorithm 6; Nissim, Raskhodnikova and Smith 2007):

- the *votes*: the number of blocks that find independence. Their replace-one sensitivity is exactly
1;
- the *median* p-value, with its smooth sensitivity.

With an odd number of blocks the median exceeds the threshold exactly if more than half of the
blocks vote for independence. Without noise both aggregates therefore give the same answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.compiled import kernel
from engine.statistics.base import Statistic
from engine.tables.store import DENSE_CELLS, Rows, Store

BLOCK_ROWS = 1000  # block size that "auto" aims at
MIN_BLOCKS = 11


def default_blocks(n: int) -> int:
    """Return an odd number of blocks for n rows: n / BLOCK_ROWS, but at least ``MIN_BLOCKS``."""
    return odd(max(MIN_BLOCKS, n // BLOCK_ROWS))


def odd(blocks: int) -> int:
    """Return the number if it is odd, otherwise the next one."""
    return blocks + 1 - blocks % 2


@dataclass(frozen=True, eq=False)
class Blocks:
    """Rows divided into ``count`` blocks; the block is one more column after the data's columns."""

    rows: Rows
    count: int

    @property
    def n(self) -> int:
        """The number of rows in all blocks."""
        return self.rows.n

    @classmethod
    def deal(cls, store: Store, count: int, picked: NDArray[np.int64]) -> Blocks:
        """Divide the rows with these indices, in this order, into ``count`` equal blocks.

        Their order depends only on n, so a replaced record stays in its block.
        """
        key = store.index_of_rows()[picked] * count + np.arange(picked.size) % count
        distinct, weights = np.unique(key, return_counts=True)
        folded = store.rows
        kind = np.promote_types(folded.codes.dtype, np.min_scalar_type(count - 1))
        codes = np.empty((distinct.size, folded.codes.shape[1] + 1), kind, order="F")
        codes[:, :-1] = folded.codes[distinct // count]
        codes[:, -1] = distinct % count
        cardinalities = (*folded.cardinalities, count)
        return cls(Rows(codes, weights.astype(np.int32), cardinalities, picked.size), count)

    def p_values(
        self, x: int, y: int, given: tuple[int, ...], statistic: Statistic
    ) -> NDArray[np.float64]:
        """Return each block's p-value, shape (count,), or 0 if a block can test nothing."""
        return statistic.block_p_values(*self._tables(x, y, given), self.count)

    def _tables(
        self, x: int, y: int, given: tuple[int, ...]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return counts (strata of all blocks, levels x, levels y), and each stratum's block."""
        sizes = self.rows.cardinalities
        dealt = (len(sizes) - 1, *given)
        strata = math.prod(sizes[c] for c in given)
        if self.count * strata * sizes[x] * sizes[y] <= DENSE_CELLS:
            return self.rows.table(x, y, dealt), np.repeat(np.arange(self.count), strata)
        # Block-major keys keep their order when compressed, so the block of a stratum is that of
        # its first row.
        out, first = self.rows.occupied(x, y, dealt)
        return out, self.rows.codes[first, -1].astype(np.int64)


def votes(p_values: NDArray[np.float64], threshold: float) -> int:
    """Return the number of blocks that find independence, p > threshold."""
    return int(np.count_nonzero(p_values > threshold))


def smooth_sensitivity_of_median(p_values: NDArray[np.float64], beta: float) -> float:
    """Return the beta-smooth sensitivity of a median in [0, 1] (Nissim et al. 2007, 3.1).

    It is the max over k of e^(-k beta) max over t = 0..k+1 of x_(m+t) - x_(m+t-k-1), where x are
    the sorted values, extended by 0 and 1. The preprint prints epsilon in place of beta; this is
    the correct form.
    """
    return float(_smooth_median(np.sort(p_values), beta))


@kernel()
def _smooth_median(x, beta):  # type: ignore[no-untyped-def]
    n = x.size
    middle = n // 2  # index of the median, n is odd
    best = 0.0
    for k in range(n + 1):
        discount = np.exp(-k * beta)
        if discount <= best:  # a span is at most 1
            break
        for t in range(k + 2):
            high, low = middle + t, middle + t - k - 1
            upper = 1.0 if high >= n else x[high]
            lower = 0.0 if low < 0 else x[low]
            best = max(best, discount * (upper - lower))
    return best
