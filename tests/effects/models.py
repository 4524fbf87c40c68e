"""Shared by the tests of effects: released tensors made by hand, and small networks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import combinations

import numpy as np

from engine import Dataset
from engine.data.networks import load_network
from engine.effects.estimate import Contrast
from engine.effects.truth import joint
from engine.marginals.contrasts import gram, helmert, tensor
from engine.marginals.moments import Moments
from engine.tables.store import store_of


def event(m: Moments, x: int, y: int, k: int, level: int = 1, reference: int = 0) -> Contrast:
    """The chance of y's level k at two levels of x."""
    return Contrast(x, level, reference, y, tuple(float(k == j) for j in range(m.cardinalities[y])))


def exact(data: Dataset, sd: float = 0.0, wide: Iterable[tuple[int, ...]] = ()) -> Moments:
    """The data's tensors without noise; they are said to have noise of this deviation."""
    rows, n = store_of(data).rows, data.n
    one, two = gram(rows)
    found = _moments(n, rows.cardinalities, one / n, two / n, sd**2)
    for key in wide:
        found.higher[key], found.noise_higher[key] = tensor(rows, key) / n, sd**2
    return found


def noisy(data: Dataset, sd: float, rng: np.random.Generator,
          wide: Iterable[tuple[int, ...]] = ()) -> Moments:  # fmt: skip
    """The data's tensors with noise of this deviation on every entry."""
    found = exact(data, sd, wide)
    found.one += rng.normal(0, sd, found.one.shape)
    for i in range(found.d):
        for j in range(i):
            block = np.ix_(found.at[i], found.at[j])
            found.two[block] += rng.normal(0, sd, found.two[block].shape)
            found.two[np.ix_(found.at[j], found.at[i])] = found.two[block].T
    for key, value in found.higher.items():
        found.higher[key] = value + rng.normal(0, sd, value.shape)
    return replace(found)  # with what follows from the margins


def from_table(p: np.ndarray, n: int = 1_000_000) -> Moments:
    """Tensors of a joint table of two or three variables, the triple's included, without noise."""
    every = range(p.ndim)
    found = _of_margins(
        n, p.shape, lambda *kept: p.sum(axis=tuple(k for k in every if k not in kept))
    )
    if p.ndim == 3:
        found.higher[0, 1, 2], found.noise_higher[0, 1, 2] = _tensor(p), 0.0
    return found


def population(name: str) -> Moments:
    """The network's own one- and two-way tensors."""
    network = load_network(name)
    cards = tuple(map(len, network.states))
    return _of_margins(10**9, cards, lambda *kept: joint(network, kept))


def _of_margins(n: int, cards: tuple[int, ...], margin: Callable[..., np.ndarray]) -> Moments:
    size = sum(cards) - len(cards)
    found = _moments(n, cards, np.zeros(size), np.zeros((size, size)), 0.0)
    for i in range(len(cards)):
        found.one[found.at[i]] = _tensor(margin(i))
    for i, j in combinations(range(len(cards)), 2):
        found.two[np.ix_(found.at[i], found.at[j])] = _tensor(margin(i, j))
    return replace(found, two=found.two + found.two.T)


def _moments(
    n: int, cards: tuple[int, ...], one: np.ndarray, two: np.ndarray, variance: float
) -> Moments:
    d = len(cards)
    return Moments(n, cards, one, two, np.full(d, variance), np.full((d, d), variance))


def _tensor(p: np.ndarray) -> np.ndarray:
    """Helmert contrasts of a joint distribution along each of its axes."""
    for axis, levels in enumerate(p.shape):
        p = np.moveaxis(np.tensordot(helmert(levels).T, p, (1, axis)), 0, axis)
    return p
