"""What the tests of effects share: released tensors made by hand, and small networks."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from engine import Dataset
from engine.data.networks import load_network
from engine.effects.truth import joint
from engine.marginals.contrasts import gram, helmert, tensor
from engine.marginals.moments import Moments
from engine.tables.store import store_of


def exact(data: Dataset, sd: float = 0.0, triples: Iterable[tuple[int, int, int]] = ()) -> Moments:
    """The data's tensors without noise; they are said to have noise of this deviation."""
    rows, n, d = store_of(data).rows, data.n, data.d
    one, two = gram(rows)
    found = Moments(
        n=n,
        cardinalities=rows.cardinalities,
        one=one / n,
        two=two / n,
        noise_one=np.full(d, sd**2),
        noise_two=np.full((d, d), sd**2),
    )
    for key in triples:
        found.higher[key], found.noise_higher[key] = tensor(rows, key) / n, sd**2
    return found


def noisy(data: Dataset, sd: float, rng: np.random.Generator,
          triples: Iterable[tuple[int, int, int]] = ()) -> Moments:  # fmt: skip
    """The data's tensors with noise of this deviation on every entry."""
    clean = exact(data, sd, triples)
    one, two = clean.one + rng.normal(0, sd, clean.one.shape), clean.two.copy()
    for i in range(clean.d):
        for j in range(i):
            shift = rng.normal(0, sd, (len(clean.at[i]), len(clean.at[j])))
            two[np.ix_(clean.at[i], clean.at[j])] += shift
            two[np.ix_(clean.at[j], clean.at[i])] += shift.T
    three = {k: t + rng.normal(0, sd, t.shape) for k, t in clean.higher.items()}
    return Moments(
        n=clean.n,
        cardinalities=clean.cardinalities,
        one=one,
        two=two,
        noise_one=clean.noise_one,
        noise_two=clean.noise_two,
        higher=three,
        noise_higher=clean.noise_higher,
    )


def from_table(p: np.ndarray, n: int = 1_000_000) -> Moments:
    """Tensors of a joint table of two or three variables, the triple's included, without noise."""
    d, cards = p.ndim, p.shape
    part = {k: _tensor(p, k) for k in [(i,) for i in range(d)]}
    pairs = [(i, j) for i in range(d) for j in range(i + 1, d)]
    ends = np.cumsum([0] + [r - 1 for r in cards])
    two = np.zeros((ends[-1], ends[-1]))
    for i, j in pairs:
        two[ends[i] : ends[i + 1], ends[j] : ends[j + 1]] = _tensor(p, (i, j))
    found = Moments(
        n=n,
        cardinalities=cards,
        one=np.concatenate([part[(i,)] for i in range(d)]),
        two=two + two.T,
        noise_one=np.zeros(d),
        noise_two=np.zeros((d, d)),
    )
    if d == 3:
        found.higher[0, 1, 2], found.noise_higher[0, 1, 2] = _tensor(p, (0, 1, 2)), 0.0
    return found


def population(name: str) -> Moments:
    """The network's own one- and two-way tensors."""
    network = load_network(name)
    cards = tuple(map(len, network.states))
    ends = np.cumsum([0] + [r - 1 for r in cards])
    one, two = np.zeros(ends[-1]), np.zeros((ends[-1], ends[-1]))
    for i, j in combinations(range(len(cards)), 2):
        p = joint(network, (i, j))
        a, b = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
        two[a, b] = helmert(cards[i]).T @ p @ helmert(cards[j])
        two[b, a] = two[a, b].T
        one[a], one[b] = helmert(cards[i]).T @ p.sum(axis=1), helmert(cards[j]).T @ p.sum(axis=0)
    return Moments(10**9, cards, one, two, np.zeros(len(cards)), np.zeros((len(cards),) * 2))


def _tensor(p: np.ndarray, variables: tuple[int, ...]) -> np.ndarray:
    out = p.sum(axis=tuple(k for k in range(p.ndim) if k not in variables))
    for axis, i in enumerate(variables):
        out = np.moveaxis(np.tensordot(helmert(p.shape[i]).T, out, (1, axis)), 0, axis)
    return out
