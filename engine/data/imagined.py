"""Random discrete Bayesian networks over a given schema, as examples of its possible data.

Like real networks, they mix kinds of nodes: probability tables from a Dirichlet distribution,
effects that need only one cause (noisy-or), and copies of the parents with a little noise. Some
causes are rare. Or all tables come from one real network (:func:`table_like`), with its
near-deterministic nodes, rare levels, copies and dense neighbourhoods.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from engine.data.networks import Network

Table = NDArray[np.float64]
Levels = Sequence[Sequence[str]]

MOST_PARENTS = 3
MOST_BORROWED = 4  # most parents of a node with a borrowed table
LEAST_LEAN = 0.3  # weight as a child, for a node whose drawn number of parents is 0
TABLES, NOISY_OR = 0.6, 0.2  # shares of two kinds of nodes with parents; the others are copies
RARE = 0.2  # share of rare causes among the nodes without parents


def random_network(
    names: Sequence[str], levels: Levels, edges: int, rng: Generator, like: Network | None = None
) -> Network:
    """Draw a network with these columns and about ``edges`` edges, at most 3 parents per node.

    Parents come from earlier nodes in a random order, near ones preferred, so that chains, trees
    and shared children all occur. With ``like`` the tables come from that network, fitted to these
    levels, and the nodes have as many parents as its nodes (at most 4). Nodes that already have
    children may then attract more of them.
    """
    lean, most, pull, table = np.ones(len(names)), MOST_PARENTS, 0.0, _table
    if like is not None:
        lean = rng.choice([len(p) for p in like.parents], len(names)) + LEAST_LEAN
        most, pull, table = MOST_BORROWED, rng.uniform(0.0, 1.5), partial(table_like, like)
    parents = _parents(lean, edges, most, pull, rng)
    order = rng.permutation(len(names))  # of the columns
    causes = [[int(order[p]) for p in parents[place]] for place in np.argsort(order)]
    return Network(
        name="imagined",
        names=tuple(names),
        states=tuple(map(tuple, levels)),
        parents=tuple(tuple(names[p] for p in pa) for pa in causes),
        tables=tuple(
            table([len(levels[p]) for p in pa], len(own), rng)
            for pa, own in zip(causes, levels, strict=True)
        ),
        source="drawn at random",
    )


def _parents(
    lean: NDArray[np.float64], edges: int, most: int, pull: float, rng: Generator
) -> list[list[int]]:
    """Draw each node's parents among the nodes before it, with ``edges`` edges in total.

    A node becomes a child with weight ``lean``. A parent's weight grows as it is nearer and with
    its number of children, as (1 + children) to the power of ``pull``.
    """
    d = len(lean)
    parents: list[list[int]] = [[] for _ in range(d)]
    children = np.zeros(d)
    room = np.minimum(np.arange(d), most)
    for _ in range(min(edges, int(room.sum()))):
        free = np.where(room > 0, lean, 0.0)
        child = int(rng.choice(d, p=free / free.sum()))
        near = np.exp(-(child - np.arange(child)) / 6.0) * (1 + children[:child]) ** pull
        near[parents[child]] = 0.0
        parent = int(rng.choice(child, p=near / near.sum()))
        parents[child].append(parent)
        children[parent] += 1
        room[child] -= 1
    return parents


def _table(shape: list[int], levels: int, rng: Generator) -> Table:
    """Draw (parents' configurations, levels) probabilities for a node of a random kind."""
    rows = int(np.prod(shape))
    if levels == 1:
        return np.ones((rows, 1))
    if not shape:
        if rng.random() >= RARE:
            return rng.dirichlet(np.full(levels, 2.0), 1)
        rare = rng.uniform(0.01, 0.1)
        return np.concatenate([[1 - rare], rare * rng.dirichlet(np.ones(levels - 1))])[None]
    kind = rng.random()
    if kind < TABLES:
        return rng.dirichlet(np.full(levels, rng.choice([0.5, 1.0, 2.0])), rows)
    if kind < TABLES + NOISY_OR:
        strength = rng.uniform(0.2, 0.9, len(shape))
        share = np.indices(shape).reshape(len(shape), rows).T / np.maximum(np.array(shape) - 1, 1)
        on = 1 - (1 - rng.uniform(0.005, 0.05)) * np.prod(1 - strength * share, axis=1)
        return np.column_stack([1 - on, on[:, None] * rng.dirichlet(np.ones(levels - 1))])
    noise = rng.uniform(0.05, 0.3)
    copied: Table = np.eye(levels)[rng.integers(0, levels, rows)]
    return (1 - noise) * copied + noise / levels


def independent(
    cardinalities: Sequence[int], rows: int, margins: Sequence[float], rng: Generator
) -> NDArray[np.uint8]:
    """Draw (rows, d) codes of independent columns.

    ``margins`` are used in turn as the share of a column's rows outside its first level; its other
    levels divide this share equally.
    """
    out = np.zeros((rows, len(cardinalities)), dtype=np.uint8, order="F")
    for i, r in enumerate(cardinalities):
        if r > 1:
            others = np.full(r - 1, margins[i % len(margins)] / (r - 1))
            steps = np.cumsum([1 - others.sum(), *others])[:-1]
            out[:, i] = np.searchsorted(steps, rng.random(rows), side="right")
    return out


def independent_numbers(
    bounds: Sequence[tuple[float, float]], rows: int, rng: Generator
) -> NDArray[np.float64]:
    """Draw (rows, d) numbers of independent columns.

    Each column is normal with its mean in the middle of its bounds, which are four standard
    deviations away.
    """
    low, high = np.array(bounds).T
    return rng.normal((low + high) / 2, (high - low) / 8, (rows, len(bounds)))


# Tables of a real network, fitted to other numbers of levels -------------------------------------


def table_like(like: Network, shape: Sequence[int], size: int, rng: Generator) -> Table:
    """Borrow the table of one of a network's nodes for parents with other numbers of levels.

    The node is drawn among those with as many parents, or with the nearest number that the network
    has. Nodes with about the wanted number of levels are more likely.

    Args:
        like: The network.
        shape: Numbers of levels of the parents.
        size: Number of levels of the node.
        rng: The generator of all draws.

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
    usual = np.mean(shape or 1)
    far = [abs(np.log(t.shape[1] / size)) + abs(np.log(np.mean(s or 1) / usual)) for t, s in some]
    weights = np.exp(-2 * np.array(far))
    table, source = some[int(rng.choice(len(some), p=weights / weights.sum()))]
    return fitted(table, source, shape, size, rng)


def fitted(
    table: Table, source: Sequence[int], shape: Sequence[int], size: int, rng: Generator
) -> Table:
    """Fit a table with parents of ``source`` levels to parents of ``shape`` and ``size`` levels.

    Levels keep their order. If parents have too many levels, some are left out; with too few, some
    are used twice. If the node has too many levels, neighbours are added up; with too few, some are
    split. An additional parent has no effect; for a parent that is no longer there a level is
    drawn.
    """
    cube = table.reshape(*source, table.shape[1])
    while cube.ndim - 1 > len(shape):
        cube = np.take(cube, rng.integers(cube.shape[0]), axis=0)
    while cube.ndim - 1 < len(shape):
        cube = cube[None]
    # Parents are matched in order of their number of levels.
    axes = np.empty(len(shape), dtype=int)
    axes[np.argsort(shape, kind="stable")] = np.argsort(cube.shape[:-1], kind="stable")
    cube = cube.transpose(*axes, -1 % cube.ndim)
    places = [_places(have, want, rng) for have, want in zip(cube.shape, shape, strict=False)]
    cube = cube[np.ix_(*places, np.arange(cube.shape[-1]))]
    return np.ascontiguousarray(_resized(cube.reshape(-1, cube.shape[-1]), size, rng))


def _places(have: int, want: int, rng: Generator) -> NDArray[np.intp]:
    """Return, for each wanted level, the level it is taken from, in ascending order."""
    if want <= have:
        return np.sort(rng.choice(have, want, replace=False))
    return np.sort(np.concatenate([np.arange(have), rng.integers(0, have, want - have)]))


def _resized(rows: Table, size: int, rng: Generator) -> Table:
    """Convert rows of probabilities to another number of levels."""
    have = rows.shape[1]
    if size <= have:
        cuts = np.sort(rng.choice(np.arange(1, have), size - 1, replace=False))
        return np.add.reduceat(rows, np.concatenate([[0], cuts]).astype(int), axis=1)
    places = _places(have, size, rng)
    parts = rng.dirichlet(np.ones(size))
    return rows[:, places] * (parts / np.bincount(places, parts)[places])
