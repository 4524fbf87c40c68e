"""MST, written again: the package of :mod:`benchmarks.peers` takes a minute of CPU for a table.

McKenna, Miklau and Sheldon 2021 (Winning the NIST Contest), Algorithm 1: a third of zCDP's rho for
all one-way tables, a third for choosing d - 1 pairs by the exponential mechanism, a third for their
tables, then the distribution on that tree nearest to the measurements, and records from it. Levels
seen less than three deviations of the noise become one. Neighbours differ by one added or removed
record. The package descends for 7,500 steps to the nearest distribution; here it is projected to.

This is a rival to compare with. It draws its noise itself and is no algorithm of the project.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.sparse.linalg import splu

from engine.data.dataset import Dataset
from engine.privacy.accounting import Guarantee, renyi_to_epsilon
from engine.tables.store import store_of

Table = NDArray[np.float64]
Pair = tuple[int, int]
RARE = 3.0  # deviations of the noise
CLOSE = 0.01  # of a record: when the projection ends
STEPS = 5_000


def rho_of(total: Guarantee) -> float:
    """The largest rho of zCDP that implies the guarantee (Canonne, Kamath and Steinke 2020)."""

    def negative(log_more: float) -> float:
        order = 1 + math.exp(log_more)
        return (renyi_to_epsilon(0.0, order, total.delta) - total.epsilon) / order

    return -float(minimize_scalar(negative, bounds=(-5.0, 20.0), method="bounded").fun)


@dataclass(frozen=True)
class Measured:
    """A noisy table of one or two columns and the variance of each of its entries."""

    columns: tuple[int, ...]
    value: Table
    variance: Table


def measure(
    exact: Mapping[tuple[int, ...], Table], rho: float, rng: np.random.Generator
) -> list[Measured]:
    """The tables with Gaussian noise; together they spend ``rho`` (one record: 1 in each)."""
    sigma = math.sqrt(len(exact) / (2 * rho))
    found = []
    for columns, table in exact.items():
        noise = rng.normal(0.0, sigma, table.shape)
        found.append(Measured(columns, table + noise, np.full(table.shape, sigma**2)))
    return found


def merging(one: Measured, least: float) -> Table:
    """Which level becomes which, (levels, new levels) of 0 and 1: the rare ones become the last."""
    often = one.value >= least
    if often.all() or not often.any():
        return np.eye(len(often))
    return np.column_stack([np.eye(len(often))[:, often], ~often])


def nearest(measured: Sequence[Measured], n: int) -> dict[tuple[int, ...], Table]:
    """The non-negative tables of n records, consistent with each other, nearest to the measured.

    Nearest in squares weighted by the inverse variances. On a tree consistent tables are those of
    one distribution. Alternating directions between the equations and the orthant.
    """
    start = np.cumsum([0, *(m.value.size for m in measured)])
    at = {m.columns: start[k] + np.arange(m.value.size).reshape(m.value.shape)
          for k, m in enumerate(measured)}  # fmt: skip
    y = np.concatenate([m.value.ravel() for m in measured])
    scale = np.sqrt(np.concatenate([m.variance.ravel() for m in measured]))
    lines, right = _equations(at, n)
    lines = (lines @ sparse.diags(scale)).tocsc()  # in units of the noise all weigh alike
    tiny = 1e-9 * float(scale.mean()) ** 2  # the pairs' totals say one thing twice
    solve = splu((lines @ lines.T + tiny * sparse.eye(lines.shape[0])).tocsc()).solve
    y = y / scale
    z, dual = np.maximum(y, 0.0), np.zeros_like(y)
    for _ in range(STEPS):
        middle = (y + z - dual) / 2
        x = middle - lines.T @ solve(lines @ middle - right)
        z = np.maximum(x + dual, 0.0)
        dual += x - z
        if np.abs((x - z) * scale).max() < CLOSE:
            break
    return {c: (z * scale)[places] for c, places in at.items()}


def _equations(
    at: dict[tuple[int, ...], NDArray[np.int64]], n: int
) -> tuple[sparse.csr_array, Table]:
    """Each one-way table sums to n; each pair's margins are the one-way tables."""
    row: list[int] = []
    column: list[int] = []
    sign: list[float] = []
    right: list[float] = []

    def add(plus: NDArray[np.int64], minus: Sequence[int], total: float) -> None:
        row.extend([len(right)] * (plus.size + len(minus)))
        column.extend([*plus.ravel().tolist(), *minus])
        sign.extend([1.0] * plus.size + [-1.0] * len(minus))
        right.append(total)

    for columns, places in at.items():
        if len(columns) == 1:
            add(places, [], float(n))
            continue
        for axis, c in enumerate(columns):
            for line, place in zip(np.moveaxis(places, axis, 0), at[(c,)].tolist(), strict=True):
                add(line, [place], 0.0)
    shape = (len(right), sum(p.size for p in at.values()))
    return sparse.csr_array((sign, (row, column)), shape=shape), np.array(right)


def choose(
    pairs: Mapping[Pair, Table],
    ones: Mapping[tuple[int, ...], Table],
    rho: float,
    rng: np.random.Generator,
) -> list[Pair]:
    """A spanning tree, edge by edge, by the exponential mechanism on the distance to a product."""
    d, n = len(ones), ones[(0,)].sum()
    far = {(a, b): np.abs(t - np.outer(ones[(a,)], ones[(b,)]) / n).sum()
           for (a, b), t in pairs.items()}  # fmt: skip
    epsilon = math.sqrt(8 * rho / (d - 1))
    group, tree = list(range(d)), []
    for _ in range(d - 1):
        left = [pair for pair in far if group[pair[0]] != group[pair[1]]]
        # The largest after Gumbel noise is drawn as the exponential mechanism draws.
        noisy = np.array([epsilon / 2 * far[pair] for pair in left]) + rng.gumbel(size=len(left))
        a, b = left[int(np.argmax(noisy))]
        tree.append((a, b))
        group = [group[a] if g == group[b] else g for g in group]
    return tree


def column(table: Table, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """n levels in the table's proportions, rounded, in random order (the authors' sampler)."""
    share = table / table.sum() if table.sum() > 0 else np.full(len(table), 1 / len(table))
    part, whole = np.modf(share * n)
    counts = whole.astype(np.int64)
    extra = n - int(counts.sum())
    if extra > 0:
        counts[rng.choice(len(counts), extra, replace=False, p=part / part.sum())] += 1
    return rng.permutation(np.repeat(np.arange(len(counts)), counts))


def records(
    tables: dict[tuple[int, ...], Table], tree: Sequence[Pair], n: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """n records of the tree's distribution, column after column from the first, (n, d)."""
    out = np.zeros((n, len(tree) + 1), np.int64)
    out[:, 0] = column(tables[(0,)], n, rng)
    for parent, child in nx.bfs_edges(nx.Graph(tree), 0):
        pair = tables[(parent, child)] if parent < child else tables[(child, parent)].T
        for level, row in enumerate(pair):
            here = np.flatnonzero(out[:, parent] == level)
            out[here, child] = column(row, len(here), rng)
    return out


def mst_table(data: Dataset, total: Guarantee, seed: int) -> Dataset:
    """As many records as there are from MST's model; ``total`` is for add/remove neighbours."""
    rng, store = np.random.default_rng(seed), store_of(data)
    rho, columns = rho_of(total) / 3, range(data.d)
    ones = measure({(c,): _margin(data, c) for c in columns}, rho, rng)
    # Rare by the noise of a table that is measured alone, as in the authors' code.
    new = [merging(one, RARE * math.sqrt(1 / (2 * rho))) for one in ones]
    ones = [Measured(one.columns, one.value @ m, one.variance @ m)
            for one, m in zip(ones, new, strict=True)]  # fmt: skip
    pairs = {(a, b): new[a].T @ store.table(a, b)[0] @ new[b] for a, b in combinations(columns, 2)}
    tree = choose(pairs, nearest(ones, data.n), rho, rng)
    measured = [*ones, *measure({pair: pairs[pair] for pair in tree}, rho, rng)]
    made = records(nearest(measured, data.n), tree, data.n, rng)
    codes = np.empty_like(data.codes, shape=made.shape, order="F")
    for c in columns:
        codes[:, c] = _unmerged(made[:, c], new[c], rng)
    codes.flags.writeable = False
    return replace(data, codes=codes, weights=None)


def _margin(data: Dataset, c: int) -> Table:
    return np.bincount(data.codes[:, c], data.weights, data.cardinalities[c]).astype(float)


def _unmerged(codes: NDArray[np.int64], new: Table, rng: np.random.Generator) -> NDArray[np.int64]:
    """The old levels; those that were merged are as likely as each other."""
    out = np.empty_like(codes)
    for level in range(new.shape[1]):
        here = codes == level
        out[here] = rng.choice(np.flatnonzero(new[:, level]), int(here.sum()))
    return out
