"""Hill-climbing for the worst pair of neighbours of a statistic of counts, compiled.

A candidate is a table of counts and one replaced record (its cell before and after). Proposals move
some records between two cells or pick another replacement; a change that is no worse is kept. The
proposals are drawn before the loop, which holds little else than two calls: it is compiled in a
second.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from engine.statistics.kendall import _kendall_sums
from engine.statistics.registry import STATISTICS
from engine.statistics.spearman import _spearman_sums

TESTS = {"kendall": 0, "spearman": 1}
Z, P = 0, 1


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def absolute(table, n, test, strict, scale):  # type: ignore[no-untyped-def]
    """|z| (or the p-value) of a table.

    Where no stratum can test, |z| is 0, and p is 1/2 for a constant column, else 0.
    """
    numerator, weight = _kendall_sums(table, strict) if test == 0 else _spearman_sums(table, strict)
    if strict:
        weight = 9.0 * n * (n - 1) / (2.0 * (2 * n + 5)) if test == 0 else n - 1.0
    if weight <= 0:
        x, y = 0, 0  # levels that occur
        for level in range(table.shape[1]):
            x += table[:, level].sum() > 0
        for level in range(table.shape[2]):
            y += table[:, :, level].sum() > 0
        return 0.5 if scale == 1 and min(x, y) < 2 else 0.0
    z = abs(numerator) / math.sqrt(weight)
    return z if scale == 0 else 0.5 * math.erfc(z / math.sqrt(2.0))


@njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
def climb(table, flat, n, test, strict, scale, cells, sizes):  # type: ignore[no-untyped-def]
    """Improve ``table`` in place; the largest change found and the record's two cells.

    ``flat`` is the same memory. A size of 0 proposes two cells for the record, another one to move
    as many records between them.
    """
    source, target, best = 0, 1, 0.0
    for k in range(sizes.size):
        a, b = cells[k]
        s, t, moved = source, target, min(flat[a], sizes[k])
        if sizes[k] == 0:
            s, t = a, b
        flat[a] -= moved
        flat[b] += moved
        value = 0.0
        if flat[s] > 0 and s != t:
            before = absolute(table, n, test, strict, scale)
            flat[s] -= 1
            flat[t] += 1
            value = abs(absolute(table, n, test, strict, scale) - before)
            flat[s] += 1
            flat[t] -= 1
        if value >= best:
            source, target, best = s, t, value
        else:
            flat[a] += moved
            flat[b] -= moved
    return best, source, target


def moved(
    test: str, variant: str, table: NDArray[np.int64], source: int, target: int
) -> tuple[float, float]:
    """How far |z| and p move when one record of cell ``source`` goes to ``target``.

    The engine's own, with p = 0 where nothing can be concluded.
    """
    other = table.copy()
    other.flat[source] -= 1
    other.flat[target] += 1
    found = [STATISTICS[test].score(t, variant) for t in (table, other)]
    (z, other_z), (p, other_p) = zip(
        *((abs(s.statistic), s.p) if s.testable else (0.0, 0.0) for s in found), strict=True
    )
    return abs(z - other_z), abs(p - other_p)


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
    rng, size = np.random.default_rng(n), math.prod(shape)
    found: tuple[float, NDArray[np.int64], int, int] = (0.0, np.zeros(shape, np.int64), 0, 0)
    for _ in range(starts):
        if make is not None:
            table = make(rng)
        else:
            shares = rng.dirichlet(np.full(size, 0.3))
            table = rng.multinomial(n, shares).astype(np.int64).reshape(shape)
        # From one record to all of the cell, every order of magnitude alike.
        moved = ((n + 1.0) ** rng.random(proposals)).astype(np.int64)
        moved[rng.random(proposals) < 0.2] = 0
        cells = rng.integers(size, size=(proposals, 2))
        best, source, target = climb(
            table, table.reshape(-1), float(n), TESTS[test], strict, scale, cells, moved
        )
        if best > found[0]:
            found = (best, table, source, target)
    return found
