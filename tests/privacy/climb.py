"""Hill-climbing for the worst pair of neighbours of a statistic of counts, compiled.

A candidate is a table of counts and one replaced record (its cell before and after). Proposals move
some records between two cells or pick another replacement; what is no worse is kept.
"""

# ruff: noqa: NPY002 - inside compiled code np.random is numba's own generator, not numpy's

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from engine.statistics.kendall import _kendall_sums, _kendall_weight
from engine.statistics.spearman import _spearman_sums

KENDALL, SPEARMAN = 0, 1
TESTS = {"kendall": KENDALL, "spearman": SPEARMAN}
Z, P = 0, 1


@njit(cache=True)
def absolute(table, test, strict, scale):  # type: ignore[no-untyped-def]
    """|z| (or the p-value) of a table; an untestable published query counts as p = 0."""
    if test == 0:
        numerator, weight = _kendall_sums(table, strict)
        if strict:
            weight = _kendall_weight(table.sum())
    else:
        numerator, weight = _spearman_sums(table, strict)
        if strict:
            weight = table.sum() - 1.0
    if scale == 0:
        return abs(numerator) / math.sqrt(weight) if weight > 0 else 0.0
    if weight <= 0:
        return 0.0
    return 0.5 * math.erfc(abs(numerator) / math.sqrt(2.0 * weight))


@njit(cache=True)
def change(table, source, target, test, strict, scale):  # type: ignore[no-untyped-def]
    """How far the statistic moves when one record of cell ``source`` goes to ``target``."""
    flat = table.reshape(-1)
    if flat[source] == 0 or source == target:
        return 0.0
    before = absolute(table, test, strict, scale)
    flat[source] -= 1
    flat[target] += 1
    after = absolute(table, test, strict, scale)
    flat[source] += 1
    flat[target] -= 1
    return abs(after - before)


@njit(cache=True)
def climb(table, test, strict, scale, proposals, seed):  # type: ignore[no-untyped-def]
    """Improve ``table`` in place; the largest change found and the record's two cells."""
    np.random.seed(seed)
    flat = table.reshape(-1)
    cells, n = flat.size, flat.sum()
    source, target, best = 0, 1, 0.0
    for _ in range(proposals):
        if np.random.random() < 0.2:
            s, t = np.random.randint(cells), np.random.randint(cells)
            value = change(table, s, t, test, strict, scale)
            if value >= best:
                source, target, best = s, t, value
            continue
        a, b = np.random.randint(cells), np.random.randint(cells)
        if a == b or flat[a] == 0:
            continue
        # From one record to all of the cell, every order of magnitude alike.
        k = min(flat[a], int(math.exp(np.random.random() * math.log(n + 1.0))))
        flat[a] -= k
        flat[b] += k
        value = change(table, source, target, test, strict, scale)
        if value >= best:
            best = value
        else:
            flat[a] += k
            flat[b] -= k
    return best, source, target


def worst(
    shape: tuple[int, int, int],
    n: int,
    *,
    test: str,
    strict: bool = True,
    scale: int = Z,
    starts: int = 8,
    proposals: int = 6000,
    make: Callable[[np.random.Generator], NDArray[np.int64]] | None = None,
) -> tuple[float, NDArray[np.int64], int, int]:
    """The best of several random starts: change, table, and the record's cells."""
    rng = np.random.default_rng(n)
    found: tuple[float, NDArray[np.int64], int, int] = (0.0, np.zeros(shape, np.int64), 0, 0)
    for start in range(starts):
        if make is not None:
            table = make(rng)
        else:
            shares = rng.dirichlet(np.full(math.prod(shape), 0.3))
            table = rng.multinomial(n, shares).astype(np.int64).reshape(shape)
        best, source, target = climb(table, TESTS[test], strict, scale, proposals, start)
        if best > found[0]:
            found = (best, table, source, target)
    return found
