"""Tables of all pairs of columns at once: one product of indicator columns, a block of rows each.

A pair's own table is a pass over two columns, and d columns have d (d - 1) / 2 of them; the product
reads every column once a block, from the cache, at the speed of the machine's linear algebra.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.compiled import kernel
from engine.tables.rows import Rows

WIDE = 64  # columns from which all pairs together are cheaper than one by one
MOST_INDICATORS = 6_000  # columns of indicators: their product takes 8 bytes a pair, 288 MB
_BLOCK = 4096
_EXACT = 1 << 24  # whole numbers up to here are exact in 32 bits of floating point


class Pairs:
    """Counts over every two columns of some rows.

    Every level of a column but the last has an indicator column; what the product leaves out
    follows from the margins, which are its diagonal.
    """

    def __init__(self, rows: Rows):
        self._levels, self._n = np.array(rows.cardinalities), rows.n
        self._first = np.concatenate(([0], np.cumsum(self._levels - 1)))
        self._product = self._counted(rows)

    @staticmethod
    def worthwhile(rows: Rows) -> bool:
        """Whether there are enough columns, and not too many indicators to hold."""
        indicators = sum(r - 1 for r in rows.cardinalities)
        return len(rows.cardinalities) >= WIDE and indicators <= MOST_INDICATORS

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._product.nbytes

    def _counted(self, rows: Rows) -> NDArray[np.float64]:
        # Sums of whole numbers: exact, whatever order the product adds them in.
        kind = np.float32 if rows.n < _EXACT else np.float64
        total = np.zeros((int(self._first[-1]),) * 2)
        for start in range(0, len(rows.codes), _BLOCK):
            part = slice(start, start + _BLOCK)
            marks = self._marks(rows.codes[part], kind)
            weights = rows.weights[part]
            if weights.size and (weights > 1).any():
                total += (marks * weights.astype(kind)[:, None]).T @ marks
            else:
                total += marks.T @ marks
        return total

    def _marks(self, codes: NDArray[np.unsignedinteger], kind: type) -> NDArray[Any]:
        """(rows, indicators): 1 where a row has the level."""
        marks: NDArray[Any] = np.empty((len(codes), int(self._first[-1])), kind, order="F")
        for column, levels in enumerate(self._levels):
            for level in range(levels - 1):
                marks[:, self._first[column] + level] = codes[:, column] == level
        return marks

    def table(self, x: int, y: int) -> NDArray[np.int64]:
        """Counts of shape (1, levels of x, levels of y), as :meth:`Rows.table` without a set."""
        sizes = self._levels[x], self._levels[y]
        places = self._first[x], self._first[y]
        return np.asarray(_table(self._product, places, sizes, self._n))


@kernel()
def _table(product, places, sizes, n):  # type: ignore[no-untyped-def]
    x, y = places
    rows, columns = sizes[0] - 1, sizes[1] - 1
    out = np.zeros((1, sizes[0], sizes[1]), np.int64)
    for i in range(rows):
        left = np.int64(product[x + i, x + i])
        for j in range(columns):
            out[0, i, j] = np.int64(product[x + i, y + j])
            left -= out[0, i, j]
        out[0, i, columns] = left
    for j in range(columns):
        out[0, rows, j] = np.int64(product[y + j, y + j]) - out[0, :rows, j].sum()
    out[0, rows, columns] = n - out.sum()
    return out
