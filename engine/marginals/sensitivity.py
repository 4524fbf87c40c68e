"""How far one replaced record moves contrast tensors: squared l2 sensitivities.

Records that differ exactly in the variables D move T_A by a number that D and A alone decide
(``changes``), so several tensors together move by a sum of small functions of which variables
differ. Its maximum over D is found by eliminating one variable after the other (``largest_sum``).
Proofs: docs/marginal_pc.md, "Proof of the guarantee".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from engine.marginals.contrasts import Array

Scope = tuple[int, ...]  # variables
Part = tuple[Scope, Array]  # a function of 0/1 variables: (2,) * len(scope) values

WIDEST = 16  # variables of the largest table of an elimination: 2^16 numbers, half a megabyte
ROUNDING = 1e-12  # relative; sums of a few thousand terms err by less


def changes(levels: Sequence[int]) -> Array:
    """(2,) * len(levels): squared l2 change of T_A, by which of A's variables differ (index 1).

    With C = H H^T = I - J/r, records that differ in the variables D of A change T_A by

        2 prod_A (1 - 1/r) - 2 prod_{A - D} (1 - 1/r) prod_D (-1/r).
    """
    cross: Array = np.ones(())
    for r in levels:
        cross = np.multiply.outer(cross, np.array([1 - 1 / r, -1 / r]))
    return 2 * (math.prod(1 - 1 / r for r in levels) - cross)


def table_change(levels: Sequence[int]) -> float:
    """Largest squared l2 change of one contrast tensor T_A under replace-one."""
    return float(changes(levels).max())


def tables_change(
    tables: Iterable[Sequence[int]],
    cardinalities: Sequence[int],
    weights: Sequence[float] | None = None,
) -> float:
    """Largest squared l2 change of several tensors together, under replace-one.

    Each tensor enters with its weight (default 1) on its squared change. Exact as long as the
    elimination meets no table of more than ``WIDEST`` variables, and else an upper bound: at most
    the sum of the tensors' own, and for pairs also at most the best tangent.
    """
    chosen = [tuple(table) for table in tables]
    shares = [1.0] * len(chosen) if weights is None else weights
    parts = [
        (table, share * changes([cardinalities[i] for i in table]))
        for table, share in zip(chosen, shares, strict=True)
    ]
    most, exact = largest_sum(parts)
    if not exact and max(map(len, chosen)) <= 2:
        most = min(most, _tangent(parts, len(cardinalities)))
    return most * (1 + ROUNDING)


def largest_sum(parts: Iterable[Part], widest: int = WIDEST) -> tuple[float, bool]:
    """Largest value of a sum of functions of 0/1 variables, and whether it is exact.

    Bucket elimination (Dechter 1999): the functions of a variable are summed, and their maximum
    over it is a function of the others. Where the sum would have more than ``widest`` variables it
    is taken in pieces (mini-buckets, Dechter and Rish 2003): the sum of the pieces' maxima is an
    upper bound, at most the sum of all functions' own maxima. The variable with the fewest others
    comes first, ties by number, so that the result is the same everywhere.
    """
    held: dict[int, list[Part]] = {}  # the functions of each variable that is left
    for part in parts:
        for v in part[0]:
            held.setdefault(v, []).append(part)
    beside = {v: len(_union(held[v])) for v in held}
    total, exact = 0.0, True
    while held:
        v = min(held, key=lambda u: (beside[u], u))
        bucket = held.pop(v)
        touched = _union(bucket) - {v}
        for u in touched:
            held[u] = [part for part in held[u] if v not in part[0]]
        pieces = _pieces(bucket, widest)
        exact = exact and len(pieces) == 1
        for scope, table in (_without(v, piece) for piece in pieces):
            total += 0.0 if scope else float(table)
            for u in scope:
                held[u].append((scope, table))
        beside |= {u: len(_union(held[u])) for u in touched}
    return total, exact


def _union(parts: Iterable[Part]) -> set[int]:
    return {v for scope, _ in parts for v in scope}


def _pieces(bucket: list[Part], widest: int) -> list[list[Part]]:
    """The functions in groups of at most ``widest`` variables together, wide ones first."""
    groups: list[tuple[set[int], list[Part]]] = []
    for part in sorted(bucket, key=lambda p: -len(p[0])):
        for scope, group in groups:
            if len(scope.union(part[0])) <= widest:
                scope.update(part[0])
                group.append(part)
                break
        else:
            groups.append((set(part[0]), [part]))
    return [group for _, group in groups]


def _without(v: int, parts: list[Part]) -> Part:
    """The maximum over v of the sum of the functions."""
    scope = sorted(_union(parts))
    total = np.zeros((2,) * len(scope))
    for names, table in parts:
        ordered = table.transpose(np.argsort(names))
        total += ordered.reshape([2 if u in names else 1 for u in scope])
    return tuple(u for u in scope if u != v), total.max(axis=scope.index(v))


def _tangent(parts: Sequence[Part], d: int) -> float:
    """Bound on the largest sum of functions of one and two of d 0/1 variables, all 0 at 0.

    The sum is f(z) = a'z - z'Kz. As z = z^2, adding mu z (1 - z) makes f concave without changing
    it; a concave function lies below its tangent at any point, so the tangent's maximum over the
    corners is a bound.
    """
    linear, curve = np.zeros(d), np.zeros((d, d))
    for scope, table in parts:
        for axis, i in enumerate(scope):
            linear[i] += table[tuple(int(k == axis) for k in range(len(scope)))]
        if len(scope) == 2:
            i, j = scope
            curve[i, j] += (table[1, 0] + table[0, 1] - table[1, 1]) / 2
            curve[j, i] = curve[i, j]
    mu = max(0.0, -float(np.linalg.eigvalsh(curve)[0])) + 1e-9
    linear, curve = linear + mu, curve + mu * np.eye(d)
    step, z, best = 0.5 / float(np.linalg.eigvalsh(curve)[-1]), np.full(d, 0.5), math.inf
    for _ in range(200):
        slope = linear - 2 * curve @ z
        value = float(linear @ z - z @ curve @ z)
        best = min(best, value + float(np.where(slope > 0, slope * (1 - z), -slope * z).sum()))
        z = np.clip(z + step * slope, 0, 1)
    return best


def all_pairs_change(cardinalities: Sequence[int], one_way: float) -> float:
    """Exact largest squared l2 change of all pairs' tensors with all one-way ones.

    One-way tensors enter with weight ``one_way`` on their squared change (2 where the records
    differ). For records that differ in the set D, with c_i = 1 - 1/r_i and k = |D|, the pairs give
    2 [sum_{i in D} sum_{j != i} c_j - k (k - 1) / 2]: for each k it is largest for the k largest
    inner sums.
    """
    c = 1 - 1 / np.asarray(cardinalities, dtype=float)
    inner = np.sort(c.sum() - c)[::-1]
    k = np.arange(1, len(c) + 1)
    return float(np.max(2 * (np.cumsum(inner) - k * (k - 1) / 2) + 2 * k * one_way))
