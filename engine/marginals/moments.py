"""Released numbers: noisy contrast tensors with the variance of their noise."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from engine.context import RunContext
from engine.marginals.contrasts import BLOCK, Array, gram, helmert, tensor
from engine.marginals.sensitivity import all_pairs_change, tables_change
from engine.privacy.mechanisms import gaussian
from engine.privacy.sources import MOST_ENTRIES
from engine.tables.store import Store

Key = tuple[int, ...]
Pair = tuple[int, int]
Triple = tuple[int, int, int]
Wanted = tuple[Key, float, Array]  # a tensor to be released: its variables, weight, exact value

LEAST_WEIGHT = 0.1  # weight of the one-way tensors if there are hardly any pairs
ORDER_WEIGHT = 0.5  # weight of a tensor of m + 1 columns relative to one of m, if all are released
ONE_WAY = 0.42  # weight relative to that of a pair (research/marginal_pc.md, "Weights")


@dataclass(frozen=True, eq=False)
class Heard:
    """A tensor over n from one release, and the variance of the noise in an entry."""

    variables: Key
    value: Array
    variance: float


@dataclass
class Moments:
    """Noisy contrast tensors divided by n.

    ``one`` (D,) and ``two`` (D, D), symmetric, hold the contrasts of all variables in order, with D
    = sum of (levels - 1); those of variable i are at ``at[i]``. ``two``'s diagonal blocks follow
    from ``one``. ``higher`` maps three or more ordered variables to their tensor. ``noise_one``
    (d,) is the noise variance of an entry of a variable in ``one``, ``noise_two`` (d, d) that of an
    entry of a pair's block, ``noise_higher`` that of three or more variables.
    """

    n: int
    cardinalities: tuple[int, ...]
    one: Array
    two: Array
    noise_one: Array
    noise_two: Array
    higher: dict[Key, Array] = field(default_factory=dict)
    noise_higher: dict[Key, float] = field(default_factory=dict)
    heard: list[Heard] = field(default_factory=list)

    def __post_init__(self) -> None:
        ends = np.cumsum([r - 1 for r in self.cardinalities])
        self.at = [np.arange(e - r + 1, e) for e, r in zip(ends, self.cardinalities, strict=True)]
        for i in range(self.d):
            self._settle_margin(i)

    @property
    def d(self) -> int:
        """Number of variables."""
        return len(self.cardinalities)

    def _settle_margin(self, i: int) -> None:
        """Compute the diagonal block from the margin.

        The margin stays as released even if a rare level's share is below 0. Only then does a
        product of margins have the mean and the noise that a test assumes.
        """
        r, at = self.cardinalities[i], self.at[i]
        self.two[np.ix_(at, at)] = helmert(r).T @ (self.margin(i)[:, None] * helmert(r))

    def margin(self, i: int) -> Array:
        """Return the variable's released distribution over its levels, with no share below 0."""
        r = self.cardinalities[i]
        p = np.maximum(1 / r + helmert(r) @ self.one[self.at[i]], 0.0)
        shares: Array = p / p.sum()
        return shares

    def means(self) -> Array:
        """Return the contrasts' means under :meth:`margin`; (D,)."""
        parts = [helmert(r).T @ self.margin(i) for i, r in enumerate(self.cardinalities)]
        return np.concatenate(parts)

    def block(self, i: int, j: int) -> Array:
        """Return the pair's tensor with axes (i, j)."""
        out: Array = self.two[np.ix_(self.at[i], self.at[j])]
        return out

    def tensor_of(self, *variables: int) -> Array:
        """Return the released tensor of one, two or more variables; the axes have their order."""
        if len(variables) == 1:
            out: Array = self.one[self.at[variables[0]]]
            return out
        if len(variables) == 2:
            return self.block(*variables)
        key = _key(variables)
        return self.higher[key].transpose([key.index(v) for v in variables])

    def has(self, *variables: int) -> bool:
        """Return True if the tensor of these three or more variables has been released."""
        return _key(variables) in self.higher

    def knows(self, *variables: int) -> bool:
        """Return True if all subsets' tensors have been released, so that the table is known."""
        return all(self.has(*key) for key in subsets(variables, 3))

    def released(self) -> list[Key]:
        """List the column sets with released tensors, smallest first."""
        singles: list[Key] = [(i,) for i in range(self.d)]
        higher = sorted(self.higher, key=lambda key: (len(key), key))
        return singles + list(combinations(range(self.d), 2)) + higher

    def variance(self, *variables: int) -> float:
        """Return the noise variance of an entry of the variables' tensor."""
        if len(variables) == 1:
            return float(self.noise_one[variables[0]])
        if len(variables) == 2:
            return float(self.noise_two[variables])
        return self.noise_higher[_key(variables)]

    def add(self, variables: Key, value: Array, variance: float) -> None:
        """Average a new release of a tensor with the earlier estimate, by inverse variance."""
        self.heard.append(Heard(variables, value, variance))
        if len(variables) == 1:
            self._add_margin(*variables, value, variance)
        elif len(variables) == 2:
            self._add_pair(*variables, value, variance)
        else:
            self._add_higher(_key(variables), value, variance)

    def _add_margin(self, i: int, value: Array, variance: float) -> None:
        weight = _weight(self.noise_one[i], variance)
        self.one[self.at[i]] = (1 - weight) * self.one[self.at[i]] + weight * value
        self.noise_one[i] = _combined(self.noise_one[i], variance)
        self._settle_margin(i)

    def _add_pair(self, i: int, j: int, value: Array, variance: float) -> None:
        weight = _weight(self.noise_two[i, j], variance)
        value = (1 - weight) * self.block(i, j) + weight * value
        self.two[np.ix_(self.at[i], self.at[j])] = value
        self.two[np.ix_(self.at[j], self.at[i])] = value.T
        self.noise_two[i, j] = self.noise_two[j, i] = _combined(self.noise_two[i, j], variance)

    def _add_higher(self, key: Key, value: Array, variance: float) -> None:
        if key in self.higher:
            old = self.noise_higher[key]
            weight = _weight(old, variance)
            value = (1 - weight) * self.higher[key] + weight * value
            variance = _combined(old, variance)
        self.higher[key], self.noise_higher[key] = value, variance


def _weight(old: float, new: float) -> float:
    return 1.0 if old + new == 0 else old / (old + new)


def _combined(old: float, new: float) -> float:
    return 0.0 if old + new == 0 else old * new / (old + new)


def subsets(columns: Sequence[int], least: int = 1) -> Iterator[Key]:
    """Yield the sets of at least ``least`` of the columns, smallest first."""
    for size in range(least, len(columns) + 1):
        yield from combinations(columns, size)


def holdable(moments: Moments, names: Sequence[Key]) -> bool:
    """Return True if a file can hold the earlier releases, these tensors, and all pairs again."""
    sizes = [r - 1 for r in moments.cardinalities]
    pairs = sum(sizes) + (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2
    before = pairs + sum(heard.value.size for heard in moments.heard)
    more = sum(math.prod(sizes[i] for i in name) for name in names)
    return before + more + pairs <= MOST_ENTRIES


def _key(variables: Key) -> Key:
    return tuple(sorted(variables))


def _sigma(change: float, rho: float) -> float:
    """Return the Gaussian noise that spends rho on a release of this squared l2 sensitivity."""
    return math.sqrt(change / (2 * rho))


def rounding(n: int, weight: float = 1.0) -> float:
    """Bound the floating-point error of an entry of a tensor times sqrt(weight), weight >= 0.

    A sum of m terms has an error of at most m 2^-53 of the sum of their sizes, which is at most n
    because contrasts are at most 1. Blocks have BLOCK terms. Twice that covers the sum of the
    blocks (fewer than BLOCK), the products, and the roots of this weight and of the row weights.
    """
    return 2 * (BLOCK + 8) * 2.0**-53 * n * max(1.0, math.sqrt(weight))


def one_way_weight(cardinalities: Sequence[int]) -> float:
    """Return the weight w of one-way tensors relative to pairs, on the squared scale.

    For skewed margins, the noise variance of a pair's covariance T_xy - T_x T_y^T is about (1 +
    1/(2w)) sigma^2, and sigma^2 grows as a + b w. The product is smallest at w = sqrt(a / (2b)).
    """
    pairs = all_pairs_change(cardinalities, 0.0)
    single = all_pairs_change(cardinalities, 1.0) - pairs
    return max(math.sqrt(pairs / (2 * single)), LEAST_WEIGHT)


def release_pairs(session: RunContext, store: Store, rho: float) -> Moments:
    """Release all one-way and two-way tensors in one Gaussian release that spends ``rho``."""
    cards = store.rows.cardinalities
    one, two = store.keep(("contrast gram",), lambda: gram(store.rows, session.check))
    weight = one_way_weight(cards)
    change = all_pairs_change(cards, weight)
    sigma = _sigma(change, rho)
    block = np.repeat(np.arange(len(cards)), [r - 1 for r in cards])
    upper = np.nonzero(np.triu(block[:, None] < block[None, :]))
    exact = np.concatenate([math.sqrt(weight) * one, two[upper]])
    noisy = gaussian(
        session,
        exact,
        sensitivity=math.sqrt(change),
        sigma=sigma,
        label="all pairs",
        order=0,
        rounding=rounding(store.n, weight),
    )
    full = np.zeros_like(two)
    full[upper] = noisy[len(one) :]
    return Moments(
        n=store.n,
        cardinalities=cards,
        one=noisy[: len(one)] / math.sqrt(weight) / store.n,
        two=(full + full.T) / store.n,
        noise_one=np.full(len(cards), (sigma / store.n) ** 2 / weight),
        noise_two=np.full((len(cards), len(cards)), (sigma / store.n) ** 2),
    )


def refine_pairs(
    session: RunContext, store: Store, moments: Moments, pairs: Sequence[Pair], rho: float
) -> None:
    """Release the named pairs' tensors and those of their variables again; spends ``rho``.

    T_xy - T_x T_y^T is only as precise as the one-way tensors, so these are released too, each with
    a weight that grows with the root of the number of pairs that need it. Without ``pairs`` it
    releases all pairs.
    """
    at, pairs_of = moments.at, np.bincount(np.ravel(pairs).astype(int), minlength=moments.d)
    if not pairs:
        pairs_of = np.ones(moments.d, dtype=int)
    one, two = store.keep(("contrast gram",), lambda: gram(store.rows, session.check))
    wanted: list[Wanted] = [
        ((i,), ONE_WAY * math.sqrt(k), one[at[i]]) for i, k in enumerate(pairs_of) if k
    ]
    wanted += [((i, j), 1.0, two[np.ix_(at[i], at[j])]) for i, j in pairs]
    names, weights, _ = zip(*wanted, strict=True)
    change = tables_change(names, moments.cardinalities, weights, session.check)
    _release(session, moments, wanted, change, rho, label="pairs again", order=0)


def release_triples(
    session: RunContext,
    store: Store,
    moments: Moments,
    triples: Sequence[Triple],
    rho: float,
    most: float = math.inf,
) -> bool:
    """Release the named triples' tensors for ``rho``; return False, uncharged, if too noisy.

    They are too noisy if the noise of an entry over n would have a standard deviation of ``most``
    or more. It also returns False if a file could not hold them (:func:`holdable`).
    """
    if not holdable(moments, triples):
        return False
    change = tables_change(triples, moments.cardinalities, check=session.check)
    if _sigma(change, rho) / moments.n >= most:
        return False
    wanted: list[Wanted] = [(key, 1.0, _exact(store, key)) for key in triples]
    _release(session, moments, wanted, change, rho, label="triples", order=1)
    return True


def release_tables(
    session: RunContext, store: Store, moments: Moments, tables: Sequence[Key], rho: float
) -> bool:
    """Release the missing tensors of these columns' table; return False, uncharged, if none.

    It also returns False if a file could not hold them (:func:`holdable`).
    """
    lacking = {key for columns in tables for key in subsets(columns, 3) if not moments.has(*key)}
    names = sorted(lacking, key=lambda key: (len(key), key))
    if not names or not holdable(moments, names):
        return False
    change = tables_change(names, moments.cardinalities, check=session.check)
    wanted: list[Wanted] = [(key, 1.0, _exact(store, key)) for key in names]
    _release(session, moments, wanted, change, rho, label="whole tables", order=1)
    return True


def release_orders(session: RunContext, store: Store, moments: Moments, rho: float) -> None:
    """Release the tensors of all sets of three or more columns at once; spends ``rho``."""
    names = subsets(range(moments.d), 3)
    weights = {key: ORDER_WEIGHT ** (len(key) - 3) for key in names}
    release_weighted(session, store, moments, weights, rho, label="all orders")


def release_weighted(
    session: RunContext,
    store: Store,
    moments: Moments,
    weights: Mapping[Key, float],
    rho: float,
    *,
    label: str,
) -> None:
    """Release the tensors of these columns at once, each with its weight; spends ``rho``."""
    change = tables_change(weights, moments.cardinalities, [*weights.values()], session.check)
    wanted: list[Wanted] = [(key, weight, _exact(store, key)) for key, weight in weights.items()]
    _release(session, moments, wanted, change, rho, label=label, order=1)


def _release(
    session: RunContext,
    moments: Moments,
    wanted: Sequence[Wanted],
    change: float,
    rho: float,
    *,
    label: str,
    order: int,
) -> None:
    """Make one Gaussian release of the tensors and average it into the moments; spends ``rho``.

    A tensor with weight w is multiplied by sqrt(w) for the release, so its noise has variance
    sigma^2 / w. ``change`` is the result of ``tables_change`` with these weights.
    """
    _, weights, exact = zip(*wanted, strict=True)
    sigma = _sigma(change, rho)
    noisy = gaussian(
        session,
        np.concatenate([math.sqrt(w) * t.ravel() for w, t in zip(weights, exact, strict=True)]),
        sensitivity=math.sqrt(change),
        sigma=sigma,
        label=label,
        order=order,
        rounding=rounding(moments.n, max(weights)),
    )
    parts = np.split(noisy / moments.n, np.cumsum([t.size for t in exact])[:-1])
    for (name, weight, value), part in zip(wanted, parts, strict=True):
        found = part.reshape(value.shape) / math.sqrt(weight)
        moments.add(name, found, (sigma / moments.n) ** 2 / weight)


def _exact(store: Store, variables: Sequence[int]) -> Array:
    """Compute the variables' tensor without noise; cached."""
    return store.keep(("tensor", *variables), lambda: tensor(store.rows, variables))
