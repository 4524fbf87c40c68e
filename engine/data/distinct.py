"""Equal rows of codes, told by one number each and added up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


def mixed_radix_keys(
    codes: NDArray[np.unsignedinteger], cardinalities: Sequence[int]
) -> NDArray[np.int64]:
    """One integer a row that is equal for equal rows; compressed where it would overflow."""
    keys = np.zeros(codes.shape[0], np.int64)
    size = 1
    for column, levels in enumerate(cardinalities):
        if size > (1 << 62) // max(levels, 1):
            distinct, keys = np.unique(keys, return_inverse=True)
            keys, size = keys.astype(np.int64), len(distinct)
        keys = keys * levels + codes[:, column]
        size *= levels
    return keys


class Folded(NamedTuple):
    """Distinct rows of codes (k, d) in ascending order, and how many rows each stands for (k,)."""

    codes: NDArray[np.unsignedinteger]
    weights: NDArray[np.int64]

    def __repr__(self) -> str:
        """Without the rows."""
        return f"<Folded: {len(self.weights):,} distinct rows>"


def distinct(parts: Sequence[Folded], cardinalities: Sequence[int]) -> Folded:
    """Rows of several tables folded into one: the same whatever the parts and their order are."""
    codes = np.concatenate([part.codes for part in parts])
    weights = np.concatenate([part.weights for part in parts])
    keys = mixed_radix_keys(codes, cardinalities)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    total = np.zeros(len(first), np.int64)
    np.add.at(total, inverse, weights)
    return Folded(codes[first], total)


class Folding:
    """Tables folded one after the other, merged whenever they have grown by half."""

    _LEAST = 1 << 18  # rows that are cheaper kept than merged

    def __init__(self, cardinalities: Sequence[int]):
        self._cardinalities = tuple(cardinalities)
        self._parts: list[Folded] = []
        self._merged = self._waiting = 0

    def add(self, part: Folded) -> None:
        """Take in a table; its rows need not be distinct."""
        self._parts.append(part)
        self._waiting += len(part.weights)
        if self._waiting > max(self._LEAST, self._merged // 2):
            self._parts = [self._merge()]
            self._merged, self._waiting = len(self._parts[0].weights), 0

    def _merge(self) -> Folded:
        return distinct(self._parts, self._cardinalities)

    def finish(self) -> Folded:
        """All of it."""
        if not self._parts:
            width = len(self._cardinalities)
            return Folded(np.empty((0, width), np.uint8), np.empty(0, np.int64))
        return self._merge()
