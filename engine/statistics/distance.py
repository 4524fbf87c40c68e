"""The number of records to change until a G2 test flips, by EM-PC's greedy search (Xu et al. 2017).

Changing records moves counts between the cells of one table, so the search works on counts and
never sees a record. The greedy result is an upper bound of the exact distance. It is not
1-sensitive (research/theory/privacy_proofs.md has a counterexample).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.compiled import kernel

# A batch of equal moves closes at most this share of the gap, so that the greedy choice is renewed
# before it becomes outdated and the last moves are single.
BATCH_SHARE = 1 / 16
_LOOKED_UP = 1 << 20  # stored products, at most 8 MB


def records_changed(
    table: NDArray[np.int64], critical: float, independent: bool, limit: int
) -> int:
    """Return the number of records that the search changes until G2 crosses its critical value.

    Each step moves one record, from the cell and to the cell whose change moves G2 most. The result
    is at most ``limit``, and equals ``limit`` if no step helps.
    """
    known = _known(min(int(table.sum()) + 2, _LOOKED_UP))
    return int(_greedy(np.array(table, order="C"), critical, independent, limit, known))


def records_removed(
    table: NDArray[np.int64], critical: float, independent: bool, limit: int
) -> int:
    """Return how many records the authors' program removes before G2 reaches its critical value.

    Each step removes the record whose removal moves G2 most and does not empty a cell. The removal
    that reaches the value is not counted. The result is at most ``limit``.
    """
    known = _known(min(int(table.sum()) + 2, _LOOKED_UP))
    return int(_removing(np.array(table, order="C"), critical, independent, limit, known))


@lru_cache(maxsize=2)
def _known(size: int) -> NDArray[np.float64]:
    """Return x ln x for x = 0 to size - 1."""
    return np.asarray(_products(size))


@kernel()
def _products(size):  # type: ignore[no-untyped-def]
    """Compute the table with the function for larger values, so a look-up changes no result."""
    out = np.empty(size)
    for x in range(size):
        out[x] = _product(x)
    return out


@kernel()
def _product(x):  # type: ignore[no-untyped-def]
    return x * np.log(x) if x > 0 else 0.0


@kernel()
def _xlogx(x, known):  # type: ignore[no-untyped-def]
    return known[x] if x < known.size else _product(x)


@kernel()
def _stratum(table, s, rows, columns, known):  # type: ignore[no-untyped-def]
    """Fill in the margins of one stratum and return (G2, its total)."""
    rows[:] = 0
    columns[:] = 0
    value = 0.0
    for i in range(rows.size):
        for j in range(columns.size):
            rows[i] += table[s, i, j]
            columns[j] += table[s, i, j]
            value += _xlogx(table[s, i, j], known)
    for i in range(rows.size):
        value -= _xlogx(rows[i], known)
    for j in range(columns.size):
        value -= _xlogx(columns[j], known)
    n = rows.sum()
    return 2 * (value + _xlogx(n, known)), n


@kernel()
def _step(x, known):  # type: ignore[no-untyped-def]
    """Return xlogx(x + 1) - xlogx(x)."""
    return _xlogx(x + 1, known) - _xlogx(x, known)


@kernel()
def _steps(counts, up, down, known):  # type: ignore[no-untyped-def]
    """Fill in the change of xlogx for one more (``up``) and for one less (``down``)."""
    for i in range(counts.size):
        up[i] = _step(counts[i], known)
        down[i] = _step(counts[i] - 1, known) if counts[i] > 0 else 0.0


@kernel()
def _moves(table, s, sign, rows, columns, gain, cell, known):  # type: ignore[no-untyped-def]
    """Find a stratum's best removal, addition and move of one record; return its G2.

    ``gain[s]`` and ``cell[s]`` store them: (removal, addition, move) and (from, to, from, to).
    """
    value, n = _stratum(table, s, rows, columns, known)
    gain[s] = -np.inf
    counts = table[s].ravel()
    # The logarithms are computed once per stratum; the moves are sums of them.
    up, down = np.empty(counts.size), np.empty(counts.size)
    row_up, row_down = np.empty(rows.size), np.empty(rows.size)
    column_up, column_down = np.empty(columns.size), np.empty(columns.size)
    _steps(counts, up, down, known)
    _steps(rows, row_up, row_down, known)
    _steps(columns, column_up, column_down, known)
    best, source, target = -np.inf, cell[s, 2], cell[s, 3]
    for here in range(counts.size):
        i, j = here // columns.size, here % columns.size
        if rows[i] > 0 and columns[j] > 0:
            # No record is added to an empty row or column, because this would change the degrees of
            # freedom.
            into = sign * (up[here] - row_up[i] - column_up[j] + _step(n, known))
            if into > gain[s, 1]:
                gain[s, 1], cell[s, 1] = into, here
        if counts[here] > 0:
            out = -sign * (down[here] - row_down[i] - column_down[j] + _step(n - 1, known))
            if out > gain[s, 0]:
                gain[s, 0], cell[s, 0] = out, here
            for k in range(rows.size):
                if rows[k] == 0:
                    continue
                row = row_up[k] - row_down[i] if k != i else 0.0
                for m in range(columns.size):
                    there = k * columns.size + m
                    if there == here or columns[m] == 0:
                        continue
                    column = column_up[m] - column_down[j] if m != j else 0.0
                    change = sign * (up[there] - down[here] - row - column)
                    if change > best:
                        best, source, target = change, here, there
    gain[s, 2], cell[s, 2], cell[s, 3] = best, source, target
    return value


@kernel()
def _surplus(table, s, i, j):  # type: ignore[no-untyped-def]
    """Return |count - expected| of a cell."""
    n = table[s].sum()
    return abs(table[s, i, j] - table[s, i].sum() * table[s, :, j].sum() / n)


@kernel()
def _choose(gain, cell):  # type: ignore[no-untyped-def]
    """Return (gain of one record, stratum and cell it leaves, stratum and cell it enters)."""
    s, t, inner = np.argmax(gain[:, 0]), np.argmax(gain[:, 1]), np.argmax(gain[:, 2])
    across = gain[s, 0] + gain[t, 1]
    if s != t and across > gain[inner, 2]:
        return 2 * across, s, cell[s, 0], t, cell[t, 1]
    return 2 * gain[inner, 2], inner, cell[inner, 2], inner, cell[inner, 3]


@kernel()
def _greedy(table, critical, raising, limit, known):  # type: ignore[no-untyped-def]
    """Return how many records the search changes, in place; ``limit`` if no change helps."""
    strata, a, b = table.shape
    sign = 1.0 if raising else -1.0
    gain = np.empty((strata, 3))
    cell = np.zeros((strata, 4), np.int64)
    part = np.empty(strata)
    rows, columns = np.empty(a, np.int64), np.empty(b, np.int64)
    for u in range(strata):
        part[u] = _moves(table, u, sign, rows, columns, gain, cell, known)
    value, changed = part.sum(), 0
    while changed < limit and (value <= critical if raising else value > critical):
        each, s, start, t, end = _choose(gain, cell)
        if not each > 0:
            return limit
        i, j, k, m = start // b, start % b, end // b, end % b
        size = abs(critical - value) * BATCH_SHARE / each
        if not raising:  # beyond independence the G2 of a stratum would rise again
            size = min(size, _surplus(table, s, i, j) / 2, _surplus(table, t, k, m) / 2)
        batch = max(1, min(int(size), table[s, i, j] // 2, limit - changed))
        table[s, i, j] -= batch
        table[t, k, m] += batch
        before = value
        for again, u in enumerate((s, t)):
            value -= part[u]
            if not (again and s == t):  # a move inside one stratum updates it once
                part[u] = _moves(table, u, sign, rows, columns, gain, cell, known)
            value += part[u]
        changed += batch
        if sign * (value - before) <= 0:
            return limit
    return changed


@kernel()
def _removal(table, s, sign, rows, columns, known):  # type: ignore[no-untyped-def]
    """Return (signed change of G2, cell, G2) of a stratum's best removal that empties no cell."""
    value, n = _stratum(table, s, rows, columns, known)
    best, cell = -np.inf, 0
    for i in range(rows.size):
        for j in range(columns.size):
            if table[s, i, j] < 2:
                continue
            margins = _step(rows[i] - 1, known) + _step(columns[j] - 1, known)
            change = 2 * sign * (margins - _step(table[s, i, j] - 1, known) - _step(n - 1, known))
            if change > best:
                best, cell = change, i * columns.size + j
    return best, cell, value


@kernel()
def _removing(table, critical, raising, limit, known):  # type: ignore[no-untyped-def]
    """Return how many records are removed, in place, before one reaches the critical value."""
    strata, a, b = table.shape
    sign = 1.0 if raising else -1.0
    gain, cell, part = np.empty(strata), np.zeros(strata, np.int64), np.empty(strata)
    rows, columns = np.empty(a, np.int64), np.empty(b, np.int64)
    for u in range(strata):
        gain[u], cell[u], part[u] = _removal(table, u, sign, rows, columns, known)
    value = part.sum()
    for removed in range(limit):
        s = np.argmax(gain)
        if sign * (value - critical) + gain[s] >= 0:
            return removed
        if not np.isfinite(gain[s]):
            return limit
        table[s, cell[s] // b, cell[s] % b] -= 1
        value -= part[s]
        gain[s], cell[s], part[s] = _removal(table, s, sign, rows, columns, known)
        value += part[s]
    return limit
