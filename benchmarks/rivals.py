"""Three more rivals than :mod:`benchmarks.mst`: Chow and Liu's tree, PrivBayes, the whole table.

Each is given (epsilon, delta) for one replaced record, the guarantee of this project's methods. Its
noise follows from that directly, without a detour through added and removed records:

- ``chow_liu``: all pairs' tables in one Gaussian release; the tree of most mutual information is
  the graph (Chow and Liu 1968). It has d - 1 edges for any data.
- ``privbayes``: Zhang et al. 2017. A Bayesian network, parents by the exponential mechanism on the
  distance R to a product, its tables with noise, as many records from it, then G2 PC. As in the
  paper .3 of the budget chooses, and a table may have as many cells as leave theta = 4 records'
  worth of noise in each; under zCDP (Gaussian noise) in the place of pure differential privacy,
  which makes it stronger than in the paper.
- ``flat``: every cell of the whole table with Gaussian noise, the nearest table of n records that
  has no negative cell, then G2 PC; none where there are more than ``MOST_CELLS``.

They draw their noise themselves and are no algorithms of the project.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from benchmarks.mst import Table, column, rho_of
from engine import run
from engine.data.dataset import Dataset
from engine.graphs.cpdag import Adjacency
from engine.privacy.accounting import Guarantee, mu_budget
from engine.tables.store import Store, store_of

Family = tuple[int, tuple[int, ...]]  # a column and its parents

MOST_CELLS = 1 << 16
MOVED = math.sqrt(2)  # l2 distance of two count tables that differ in one replaced record
TO_CHOOSE, USEFUL = 0.3, 4.0  # PrivBayes' beta and theta
MOST_PARENTS, WIDE = 3, 12  # parents of a column; one less from so many columns on: time, no rule


def chow_liu(data: Dataset, total: Guarantee, seed: int) -> Adjacency:
    """(d, d): the tree of most mutual information in the noisy tables of all pairs, undirected."""
    rng, store = np.random.default_rng(seed), store_of(data)
    pairs = list(combinations(range(data.d), 2))
    sigma = MOVED * math.sqrt(len(pairs)) / mu_budget(total.epsilon, total.delta)
    graph = nx.Graph()
    graph.add_nodes_from(range(data.d))
    for x, y in pairs:
        table = store.joint((x, y))
        graph.add_edge(x, y, weight=information(table + rng.normal(0.0, sigma, table.shape)))
    tree = nx.maximum_spanning_tree(graph)
    out: Adjacency = nx.to_numpy_array(tree, nodelist=range(data.d), weight=None) > 0
    return out


def information(table: Table) -> float:
    """Return the mutual information of a noisy table; entries below 0 count as 0."""
    p = np.maximum(table, 0.0)
    if not p.any():
        return 0.0
    p /= p.sum()
    product = np.outer(p.sum(axis=1), p.sum(axis=0))
    some = p > 0
    return float((p[some] * np.log(p[some] / product[some])).sum())


def flat(data: Dataset, total: Guarantee, seed: int) -> Adjacency | None:
    """G2 PC on the whole noisy table; None where it has too many cells."""
    if math.prod(data.cardinalities) > MOST_CELLS:
        return None
    rng = np.random.default_rng(seed)
    counts = store_of(data).joint(tuple(range(data.d)))
    sigma = MOVED / mu_budget(total.epsilon, total.delta)
    noisy = counts + rng.normal(0.0, sigma, counts.shape)
    return _pc(_folded(data, nearest_counts(noisy.ravel(), data.n, rng)))


def nearest_counts(noisy: Table, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """(cells,): whole numbers of sum n about the nearest non-negative table of that sum."""
    falling = np.sort(noisy)[::-1]
    levels = (np.cumsum(falling) - n) / np.arange(1, len(falling) + 1)
    level = levels[np.flatnonzero(falling > levels)[-1]]
    part, whole = np.modf(np.maximum(noisy - level, 0.0))
    found: NDArray[np.int64] = whole.astype(np.int64)
    left = n - int(found.sum())
    if left > 0:
        found[rng.choice(len(found), left, replace=False, p=part / part.sum())] += 1
    return found


def privbayes(data: Dataset, total: Guarantee, seed: int) -> Adjacency:
    """G2 PC on as many records as there are from PrivBayes' network."""
    rng, rho = np.random.default_rng(seed), rho_of(total)
    # d tables, each moved by sqrt 2, share the remaining budget: d / sigma^2 = rho.
    sigma = math.sqrt(data.d / ((1 - TO_CHOOSE) * rho))
    families = network(data, TO_CHOOSE * rho, data.n / (USEFUL * sigma), rng)
    codes = np.zeros((data.n, data.d), dtype=data.codes.dtype, order="F")
    for x, parents in families:
        table = store_of(data).joint((*parents, x))
        noisy = np.maximum(table + rng.normal(0.0, sigma, table.shape), 0.0)
        rows = noisy.reshape(-1, data.cardinalities[x])
        config = np.zeros(data.n, np.int64)
        for j in parents:
            config = config * data.cardinalities[j] + codes[:, j]
        for k, row in enumerate(rows):
            here = np.flatnonzero(config == k)
            codes[here, x] = column(row, len(here), rng)
    codes.flags.writeable = False
    return _pc(replace(data, codes=codes, weights=None))


def network(data: Dataset, rho: float, most: float, rng: np.random.Generator) -> list[Family]:
    """Every column with its parents, parents first; d - 1 choices spend ``rho`` together.

    The distance R of a table to the product of its margins, half the sum of differences of counts,
    moves by at most 3 + 2 / n: the table by 2, the product by 4 + 4 / n. ``most`` bounds a table's
    cells.
    """
    first = int(rng.integers(data.d))
    found: list[Family] = [(first, ())]
    left = [x for x in range(data.d) if x != first]
    # Exponential mechanisms of parameter e are e^2 / 8 zCDP each.
    scale = math.sqrt(8 * rho / max(data.d - 1, 1)) / (2 * (3 + 2 / data.n))
    known: dict[Family, float] = {}
    while left:
        before = [x for x, _ in found]
        some = [(x, s) for x in left for s in _parents(before, data.cardinalities, x, most)]
        for one in some:
            if one not in known:
                known[one] = _distance(store_of(data), data.n, *one)
        noisy = np.array([scale * known[one] for one in some]) + rng.gumbel(size=len(some))
        found.append(some[int(np.argmax(noisy))])
        left.remove(found[-1][0])
    return found


def _parents(
    before: Sequence[int], cards: Sequence[int], x: int, most: float
) -> Iterator[tuple[int, ...]]:
    """The largest sets of columns with a table with x of no more cells than ``most``."""
    limit = MOST_PARENTS - (len(cards) >= WIDE)
    for size in range(min(limit, len(before)) + 1):
        for chosen in combinations(sorted(before), size):
            cells = cards[x] * math.prod(cards[j] for j in chosen)
            others = [cards[j] for j in before if j not in chosen]
            whole = size == limit or not others or cells * min(others) > most
            if whole and (cells <= most or not size):
                yield chosen


def _distance(store: Store, n: int, x: int, parents: tuple[int, ...]) -> float:
    if not parents:
        return 0.0
    table = store.joint((*parents, x)).reshape(-1, store.rows.cardinalities[x])
    product = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    return float(np.abs(table - product).sum()) / 2


def _folded(data: Dataset, counts: NDArray[np.int64]) -> Dataset:
    """The records that a table of all cells tells."""
    some = np.flatnonzero(counts)
    codes = np.empty((len(some), data.d), dtype=data.codes.dtype, order="F")
    for i, place in enumerate(np.unravel_index(some, data.cardinalities)):
        codes[:, i] = place
    weights = counts[some]
    codes.flags.writeable = weights.flags.writeable = False
    return replace(data, codes=codes, weights=weights)


def _pc(table: Dataset) -> Adjacency:
    return run("pc", table, statistic="g2", trace=False).matrix


RIVALS: dict[str, Callable[[Dataset, Guarantee, int], Adjacency | None]] = {
    "chow_liu": chow_liu,
    "privbayes": privbayes,
    "flat": flat,
}
