"""Probability tables of a real network, fitted to other numbers of levels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.data.networks import Network

Table = NDArray[np.float64]


def table_like(like: Network, shape: Sequence[int], size: int, rng: np.random.Generator) -> Table:
    """A table of one of a network's nodes, for parents of other numbers of levels.

    A node with as many parents, or the next number that the network has, is drawn; nodes whose
    levels are near the wanted ones are likelier.

    Args:
        like: The network.
        shape: Levels of the parents.
        size: Levels of the node itself.
        rng: What is drawn.

    Returns:
        (parents' configurations, size) probabilities, the last parent fastest; rows sum to 1.
    """
    if size == 1:
        return np.ones((int(np.prod(shape, dtype=int)), 1))
    levels = {name: len(states) for name, states in zip(like.names, like.states, strict=True)}
    nodes = [
        (table, [levels[p] for p in parents])
        for table, parents in zip(like.tables, like.parents, strict=True)
        if table.shape[1] > 1
    ]
    count = min({len(s) for _, s in nodes}, key=lambda k: (abs(k - len(shape)), k))
    some = [(table, s) for table, s in nodes if len(s) == count]
    far = [abs(np.log(t.shape[1] / size)) + abs(np.log(_mean(s) / _mean(shape))) for t, s in some]
    weights = np.exp(-2 * np.array(far))
    table, source = some[int(rng.choice(len(some), p=weights / weights.sum()))]
    return fitted(table, source, shape, size, rng)


def _mean(shape: Sequence[int]) -> float:
    return float(np.mean(shape)) if len(shape) else 1.0


def fitted(
    table: Table, source: Sequence[int], shape: Sequence[int], size: int, rng: np.random.Generator
) -> Table:
    """A table for parents of ``source`` levels, for parents of ``shape`` and ``size`` levels.

    Levels keep their order: of too many parents' levels some are left out, of too few some stand
    twice; of too many levels of the node neighbours are added up, of too few some are split. A
    parent more than the table knows changes nothing; of one that is not there a level is drawn.
    """
    cube = table.reshape(*source, table.shape[1])
    while cube.ndim - 1 > len(shape):
        cube = np.take(cube, rng.integers(cube.shape[0]), axis=0)
    while cube.ndim - 1 < len(shape):
        cube = cube[None]
    # The parents with the fewest levels stand for each other, and so on.
    axes = np.empty(len(shape), dtype=int)
    axes[np.argsort(shape, kind="stable")] = np.argsort(cube.shape[:-1], kind="stable")
    cube = cube.transpose(*axes, -1 % cube.ndim)
    places = [_places(have, want, rng) for have, want in zip(cube.shape, shape, strict=False)]
    cube = cube[np.ix_(*places, np.arange(cube.shape[-1]))]
    return np.ascontiguousarray(_resized(cube.reshape(-1, cube.shape[-1]), size, rng))


def _places(have: int, want: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """For each wanted level the level it is taken from, rising."""
    if want <= have:
        return np.sort(rng.choice(have, want, replace=False))
    return np.sort(np.concatenate([np.arange(have), rng.integers(0, have, want - have)]))


def _resized(rows: Table, size: int, rng: np.random.Generator) -> Table:
    """Rows of probabilities over another number of levels."""
    have = rows.shape[1]
    if size <= have:
        cuts = np.sort(rng.choice(np.arange(1, have), size - 1, replace=False))
        return np.add.reduceat(rows, np.concatenate([[0], cuts]).astype(int), axis=1)
    places = _places(have, size, rng)
    parts = rng.dirichlet(np.ones(size))
    return rows[:, places] * (parts / np.bincount(places, parts)[places])
