"""Random discrete Bayesian networks over a given schema: what data of it might look like.

Real networks mix kinds of nodes, and so do these: probability tables drawn from a Dirichlet
distribution, effects that need no more than one cause (noisy-or), and copies of the parents with a
little noise. Some causes are rare.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.data.networks import Network

MOST_PARENTS = 3
TABLES, NOISY_OR, COPIES = 0.6, 0.2, 0.2  # shares of the three kinds of nodes with parents
RARE = 0.2  # share of rare causes among nodes without parents


def random_network(
    names: Sequence[str], levels: Sequence[Sequence[str]], edges: int, rng: np.random.Generator
) -> Network:
    """A network of these columns and about so many edges (d, with at most 3 parents a node).

    Parents come from the nodes before in a random order, near ones first, so that chains, trees
    and shared children all occur.
    """
    d = len(names)
    order = rng.permutation(d)
    parents: list[list[int]] = [[] for _ in range(d)]  # by place in the order
    possible = sum(min(k, MOST_PARENTS) for k in range(d))
    left = min(edges, possible)
    while left > 0:
        child = int(rng.integers(1, d))
        near = np.exp(-(child - np.arange(child)) / 6.0)
        parent = int(rng.choice(child, p=near / near.sum()))
        if parent not in parents[child] and len(parents[child]) < MOST_PARENTS:
            parents[child].append(parent)
            left -= 1
    place = np.argsort(order)
    causes = [[int(order[p]) for p in parents[place[j]]] for j in range(d)]
    tables = [
        _table([len(levels[p]) for p in pa], len(levels[j]), rng) for j, pa in enumerate(causes)
    ]
    return Network(
        name="imagined",
        names=tuple(names),
        states=tuple(map(tuple, levels)),
        parents=tuple(tuple(names[p] for p in pa) for pa in causes),
        tables=tuple(tables),
        source="drawn at random",
        licence="",
    )


def _table(shape: list[int], levels: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """(parents' configurations, levels) probabilities of a node of a random kind."""
    if levels == 1:
        return np.ones((int(np.prod(shape)), 1))
    if not shape:
        return _cause(levels, rng)
    rows, kind = int(np.prod(shape)), rng.random()
    if kind < TABLES:
        return rng.dirichlet(np.full(levels, rng.choice([0.5, 1.0, 2.0])), rows)
    if kind < TABLES + NOISY_OR:
        strength = rng.uniform(0.2, 0.9, len(shape))
        grid = np.indices(shape).reshape(len(shape), rows)
        share = grid / np.maximum(np.array(shape) - 1, 1)[:, None]
        on = 1 - (1 - rng.uniform(0.005, 0.05)) * np.prod(1 - strength[:, None] * share, axis=0)
        return np.column_stack([1 - on, on[:, None] * rng.dirichlet(np.ones(levels - 1))])
    noise = rng.uniform(0.05, 0.3)
    copied: NDArray[np.float64] = np.eye(levels)[rng.integers(0, levels, rows)]
    return (1 - noise) * copied + noise / levels


def _cause(levels: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """(1, levels) probabilities of a node without parents."""
    if rng.random() >= RARE:
        return rng.dirichlet(np.full(levels, 2.0), 1)
    rare = rng.uniform(0.01, 0.1)
    return np.concatenate([[1 - rare], rare * rng.dirichlet(np.ones(levels - 1))])[None]


def independent(
    cardinalities: Sequence[int], rows: int, margins: Sequence[float], rng: np.random.Generator
) -> NDArray[np.uint8]:
    """(rows, d) codes of columns that depend on nothing.

    ``margins`` in turn are the shares of a column's rows that are not at its first level; its other
    levels have equal parts of them.
    """
    out = np.zeros((rows, len(cardinalities)), dtype=np.uint8, order="F")
    for i, r in enumerate(cardinalities):
        if r > 1:
            others = np.full(r - 1, margins[i % len(margins)] / (r - 1))
            steps = np.cumsum(np.concatenate([[1 - others.sum()], others]))[:-1]
            out[:, i] = np.searchsorted(steps, rng.random(rows), side="right")
    return out


def independent_numbers(
    bounds: Sequence[tuple[float, float]], rows: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """(rows, d) numbers of columns that depend on nothing.

    Each is normal about the middle of its bounds, which lie four deviations from it.
    """
    low, high = np.array(bounds).T
    return rng.normal((low + high) / 2, (high - low) / 8, (rows, len(bounds)))
