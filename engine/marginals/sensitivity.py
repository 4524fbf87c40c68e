"""Squared l2 sensitivities of contrast tensors under replacement of one record.

If two records differ exactly in the variables D, the change of T_A depends only on D and A
(``changes``). The change of several tensors is therefore a sum of small functions of which
variables differ. ``largest_sum`` finds its maximum over D by eliminating the variables one by one.
Proofs: research/theory/marginal_pc.md, "Proof of the guarantee".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import count

import numpy as np

from engine.marginals.contrasts import Array, Check
from engine.privacy.accounting import Guarantee, mu_budget

Scope = tuple[int, ...]  # variables
Part = tuple[Scope, Array]  # a function of 0/1 variables: (2,) * len(scope) values

WIDEST = 16  # most variables per table in an elimination: 2^16 numbers, half a megabyte
ROUNDING = 1e-12  # least relative margin; a sum of m positive terms has a relative error <= m 2^-53
CLEAR = 1 + 1e-9  # an elimination stops when its result exceeds another bound by this factor


def changes(levels: Sequence[int]) -> Array:
    """Return the squared l2 change of T_A by which of A's variables differ (index 1).

    The array has shape (2,) * len(levels). With C = H H^T = I - J/r, records that differ in the
    variables D of A change T_A by

        2 prod_A (1 - 1/r) - 2 prod_{A - D} (1 - 1/r) prod_D (-1/r).
    """
    cross: Array = np.ones(())
    for r in levels:
        cross = np.multiply.outer(cross, np.array([1 - 1 / r, -1 / r]))
    return 2 * (math.prod(1 - 1 / r for r in levels) - cross)


def tables_change(
    tables: Iterable[Sequence[int]],
    cardinalities: Sequence[int],
    weights: Sequence[float] | None = None,
    check: Check = lambda: None,
) -> float:
    """Return the largest squared l2 change of several tensors together, under replace-one.

    The weight of a tensor (default 1) multiplies its squared change. The result is exact if no
    table in the elimination has more than ``WIDEST`` variables. Otherwise it is an upper bound, at
    most the sum over the single tensors, and for pairs also at most the best tangent. ``check`` may
    raise.
    """
    chosen = [tuple(table) for table in tables]
    shares = [1.0] * len(chosen) if weights is None else weights
    parts = []
    for table, share in zip(chosen, shares, strict=True):
        check()
        parts.append((table, share * changes([cardinalities[i] for i in table])))
    pairs = max(map(len, chosen)) <= 2
    tangent = partial(_tangent, parts, len(cardinalities), check) if pairs else None
    most, _ = largest_sum(parts, other=tangent, check=check)
    return most * (1 + max(ROUNDING, len(parts) * 2.0**-52))


class _Held:
    """The functions of each remaining variable, in order of arrival."""

    def __init__(self) -> None:
        self._of: dict[int, dict[int, Part]] = {}
        # variables that share a function with it, itself included
        self._beside: dict[int, set[int]] = {}
        self._numbers = count()

    def __bool__(self) -> bool:
        return bool(self._of)

    def add(self, part: Part) -> None:
        number = next(self._numbers)
        for u in part[0]:
            self._of.setdefault(u, {})[number] = part
            self._beside.setdefault(u, set()).update(part[0])

    def next(self) -> int:
        """Return the variable that shares functions with the fewest others; the first if tied."""
        return min(self._of, key=lambda u: (len(self._beside[u]), u))

    def take(self, v: int) -> list[Part]:
        """Remove a variable with its functions, and return these.

        Their maximum over it is a function of the same other variables, so the elimination joins
        these.
        """
        bucket = self._of.pop(v)
        for number, (scope, _) in bucket.items():
            for u in scope:
                if u != v:
                    del self._of[u][number]
        for u in self._beside.pop(v) - {v}:
            self._beside[u].discard(v)
        return list(bucket.values())


def largest_sum(
    parts: Iterable[Part],
    widest: int = WIDEST,
    *,
    other: Callable[[], float] | None = None,
    check: Check = lambda: None,
) -> tuple[float, bool]:
    """Return the largest value of a sum of functions of 0/1 variables, and True if it is exact.

    Bucket elimination (Dechter 1999): the functions of a variable are summed, and their maximum
    over it is a function of the others. If the sum would have more than ``widest`` variables, it is
    split into pieces (mini-buckets, Dechter and Rish 2003). The sum of the pieces' maxima is an
    upper bound, at most the sum of the maxima of all functions. The variable with the fewest others
    is eliminated first, ties by number, so that the result is the same on every machine.

    ``other`` computes another upper bound. It is called when exactness is lost, and the smaller
    bound is the result. The mean of the remaining sum over all values of the variables rises with
    every step and ends at the result, so the search stops once it exceeds the other bound.
    """
    held, total, mean, exact, ceiling = _Held(), 0.0, 0.0, True, math.inf
    for part in parts:
        check()
        held.add(part)
        mean += float(part[1].mean())
    while held:
        check()
        v = held.next()
        pieces = _pieces(held.take(v), widest)
        if exact and len(pieces) > 1:
            exact, ceiling = False, other() if other else math.inf
        for piece in pieces:
            (scope, table), rise = _without(v, piece)
            total, mean = total + (0.0 if scope else float(table)), mean + rise
            held.add((scope, table))
        if mean > ceiling * CLEAR:
            return ceiling, False
    return min(total, ceiling), exact


def _union(parts: Iterable[Part]) -> set[int]:
    return {v for scope, _ in parts for v in scope}


def _pieces(bucket: list[Part], widest: int) -> list[list[Part]]:
    """Group the functions so that each group has at most ``widest`` variables, wide ones first."""
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


def _without(v: int, parts: list[Part]) -> tuple[Part, float]:
    """Maximise the sum of the functions over v; also return the rise of the mean."""
    scope = sorted(_union(parts))
    total = np.zeros((2,) * len(scope))
    for names, table in parts:
        ordered = table.transpose(np.argsort(names))
        total += ordered.reshape([2 if u in names else 1 for u in scope])
    most = total.max(axis=scope.index(v))
    return (tuple(u for u in scope if u != v), most), float(most.mean() - total.mean())


def _tangent(parts: Sequence[Part], d: int, check: Check = lambda: None) -> float:
    """Bound the largest sum of functions of one and two of d 0/1 variables, all 0 at 0.

    The sum is f(z) = a'z - z'Kz. Since z = z^2, adding mu z (1 - z) makes f concave without
    changing its values. A concave function lies below its tangent at any point, so the tangent's
    maximum over the corners is a bound.
    """
    linear, curve = np.zeros(d), np.zeros((d, d))
    for scope, table in parts:
        check()
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
    """Return the exact largest squared l2 change of all pairs' and one-way tensors together.

    ``one_way`` multiplies the squared change of one-way tensors (2 if the records differ). For
    records that differ in the set D, with c_i = 1 - 1/r_i and k = |D|, the pairs give 2 [sum_{i in
    D} sum_{j != i} c_j - k (k - 1) / 2]: for each k the maximum has the k largest inner sums.
    """
    c = 1 - 1 / np.asarray(cardinalities, dtype=float)
    inner = np.sort(c.sum() - c)[::-1]
    k = np.arange(1, len(c) + 1)
    return float(np.max(2 * (np.cumsum(inner) - k * (k - 1) / 2) + 2 * k * one_way))


def hidden(cardinalities: Sequence[int], n: int, total: Guarantee) -> float:
    """Return the correlation of two balanced binary columns that equals its noise.

    It is 2 sigma / n for one release of all pairs with the whole budget.

    Args:
        cardinalities: Number of levels of each column.
        n: Number of rows.
        total: The budget.

    Examples:
        >>> round(hidden((2,) * 8, 10_000, Guarantee(0.1, 1e-6)), 3)
        0.029
    """
    change = all_pairs_change(cardinalities, 0.0)
    return 2 * math.sqrt(max(change, 0.0)) / (mu_budget(total.epsilon, total.delta) * n)
