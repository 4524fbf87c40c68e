"""Subsample and aggregate: a test without bounded sensitivity, made usable block by block.

The rows are dealt at random into blocks, regardless of their values; the test runs in each block;
one replaced record changes one block. Two aggregates of the blocks' p-values (preprint of Priv-PC,
appendix F, Algorithm 6; Nissim, Raskhodnikova and Smith 2007):

- the *votes*: how many blocks find independence. Its replace-one sensitivity is exactly 1;
- the *median* p-value, with its smooth sensitivity.

With an odd number of blocks the median exceeds the threshold exactly when more than half of the
blocks vote for independence, so both have the same limit without noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.compiled import kernel
from engine.statistics.base import Statistic
from engine.tables.store import DENSE_CELLS, Rows, Store

BLOCK_ROWS = 1000  # "auto" aims at blocks of about this many rows
MIN_BLOCKS = 11


def default_blocks(n: int) -> int:
    """Return an odd number of blocks for n rows: n / BLOCK_ROWS, but at least ``MIN_BLOCKS``."""
    return odd(max(MIN_BLOCKS, n // BLOCK_ROWS))


def odd(blocks: int) -> int:
    """Return the number itself if odd, else the next one."""
    return blocks + 1 - blocks % 2


@dataclass(frozen=True, eq=False)
class Blocks:
    """Rows dealt into ``count`` blocks: the block is one more column, after the data's own."""

    rows: Rows
    count: int

    @property
    def n(self) -> int:
        """How many rows were dealt."""
        return self.rows.n

    @classmethod
    def deal(cls, store: Store, count: int, picked: NDArray[np.int64]) -> Blocks:
        """Deal the rows with these indices, in this order, into ``count`` equal blocks.

        Their order is drawn from n alone, so that a replaced record stays in its block.
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
        """Each block's p-value, shape (count,); 0 where a block can test nothing."""
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
        # Block-major keys stay in order when compressed, so a stratum's block is its first row's.
        out, first = self.rows.occupied(x, y, dealt)
        return out, self.rows.codes[first, -1].astype(np.int64)


def votes(p_values: NDArray[np.float64], threshold: float) -> int:
    """How many blocks find independence, p > threshold."""
    return int(np.count_nonzero(p_values > threshold))


def smooth_sensitivity_of_median(p_values: NDArray[np.float64], beta: float) -> float:
    """Return the beta-smooth sensitivity of a median in [0, 1] (Nissim et al. 2007, 3.1).

    max over k of e^(-k beta) max over t = 0..k+1 of x_(m+t) - x_(m+t-k-1), the sorted values
    continued by 0 and 1. The preprint prints epsilon for beta; this is the form that holds.
    """
    return float(_smooth_median(np.sort(p_values), beta))


@kernel()
def _smooth_median(x, beta):  # type: ignore[no-untyped-def]
    n = x.size
    middle = n // 2  # the median's index, n odd
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
