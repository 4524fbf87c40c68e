"""Random discrete Bayesian networks: what Marginal PC is tuned on.

Four kinds of nodes are mixed, because real networks have them all: tables drawn from a Dirichlet
distribution, noisy-or nodes with rare causes, nodes that copy or combine their parents with a
little noise, and deterministic ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.data.dataset import Dataset
from engine.data.networks import Network

Table = NDArray[np.float64]
KINDS = ("dirichlet", "noisy-or", "noisy", "deterministic")
SHARES = (0.6, 0.2, 0.15, 0.05)
MOST_PARENTS, MOST_LEVELS = 4, 4


def random_network(d: int, edges: int, seed: int) -> Network:
    """A network of d nodes and about ``edges`` edges, of node degree far from equal.

    Parents come from the nodes before, near ones first, so that chains, trees and shared children
    all occur; at most 4 parents and 4 levels a node.
    """
    rng = np.random.default_rng(np.random.SeedSequence([d, edges, seed]))
    levels = rng.choice([2, 3, MOST_LEVELS], d, p=[0.6, 0.25, 0.15])
    parents: list[list[int]] = [[] for _ in range(d)]
    left = edges
    while left > 0:
        child = int(rng.integers(1, d))
        near = np.exp(-(child - np.arange(child)) / 6.0)
        parent = int(rng.choice(child, p=near / near.sum()))
        if parent not in parents[child] and len(parents[child]) < min(MOST_PARENTS, child):
            parents[child].append(parent)
            left -= 1
        elif sum(len(p) for p in parents) >= d * (d - 1) // 4:
            break
    order = rng.permutation(d)  # so that the order of the columns says nothing of the edges
    names = tuple(f"v{i:02d}" for i in range(d))
    tables = [_table([int(levels[p]) for p in pa], int(levels[i]), rng)
              for i, pa in enumerate(parents)]  # fmt: skip
    at = np.argsort(order)
    return Network(
        name=f"random-{d}-{edges}-{seed}",
        names=names,
        states=tuple(tuple(map(str, range(levels[order[k]]))) for k in range(d)),
        parents=tuple(tuple(names[at[p]] for p in parents[order[k]]) for k in range(d)),
        tables=tuple(tables[order[k]] for k in range(d)),
        source="benchmarks.random_networks",
        licence="",
    )


def _table(shape: list[int], levels: int, rng: np.random.Generator) -> Table:
    """(parent configurations, levels) probabilities of a node of a random kind."""
    rows = int(np.prod(shape))
    kind = rng.choice(KINDS, p=SHARES) if shape else "dirichlet"
    if kind == "noisy-or":
        keep = rng.uniform(0.1, 0.8, len(shape))
        grid = np.indices(shape).reshape(len(shape), rows)
        share = grid / (np.array(shape) - 1)[:, None]
        on = 1 - (1 - rng.uniform(0.005, 0.05)) * np.prod(1 - keep[:, None] * share, axis=0)
        rest = rng.dirichlet(np.ones(levels - 1))
        return np.column_stack([1 - on, on[:, None] * rest])
    if kind in ("noisy", "deterministic"):
        out = np.eye(levels)[rng.integers(0, levels, rows)]
        noise = rng.uniform(0.05, 0.3) if kind == "noisy" else 0.0
        return (1 - noise) * out + noise / levels
    if not shape and rng.random() < 0.2:  # a rare cause
        rare = rng.uniform(0.01, 0.1)
        return np.array([[1 - rare, *rare * rng.dirichlet(np.ones(levels - 1))]])
    return rng.dirichlet(np.full(levels, rng.choice([0.5, 1.0, 2.0])), rows)


def random_dataset(d: int, edges: int, seed: int, n: int = 100_000) -> Dataset:
    """n rows of :func:`random_network`, drawn with the same seed."""
    network = random_network(d, edges, seed)
    codes = network.sample(n, np.random.default_rng(np.random.SeedSequence([seed, n, d])))
    codes.flags.writeable = False
    return Dataset(
        name=network.name,
        codes=codes,
        names=network.names,
        levels=network.states,
        truth=network.dag(),
        public=True,
    )
