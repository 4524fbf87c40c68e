"""Draw synthetic rows from released tables along a graph; no row is a record.

The graph is first extended to a DAG. Each variable is drawn given its parents, from the best linear
prediction of its contrasts by theirs. The released one- and two-way tables determine this
prediction. The rows lack interactions of three and more variables, which were not released.
"""

from __future__ import annotations

from collections.abc import Mapping

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from engine.graphs.cpdag import Adjacency
from engine.marginals.contrasts import Array, helmert
from engine.marginals.moments import Moments
from engine.randomness import Randomness

Codes = NDArray[np.uint8]


def consistent_dag(matrix: Adjacency) -> nx.DiGraph:
    """Return a DAG on the columns' positions with a CPDAG's edges, without its cycles."""
    dag = nx.empty_graph(len(matrix), nx.DiGraph)
    directed, lines = matrix & ~matrix.T, np.triu(matrix & matrix.T)
    for a, b in (*np.argwhere(directed).tolist(), *np.argwhere(lines).tolist()):
        dag.add_edge(*((b, a) if nx.has_path(dag, b, a) else (a, b)))
    return dag


def drawn(
    moments: Moments,
    dag: nx.DiGraph,
    rows: int,
    rng: Randomness,
    held: Mapping[int, int] | None = None,
) -> Codes:
    """Draw (rows, d) codes along a DAG; columns in ``held`` have this code in every row."""
    codes = np.zeros((rows, moments.d), dtype=np.uint8)
    for node in nx.lexicographical_topological_sort(dag):
        parents = sorted(dag.predecessors(node))
        chances = _chances(moments, node, parents, codes)
        # drawn even for a set column, so that all other columns stay the same
        uniform = rng.uniform(rows)
        found = (np.cumsum(chances, axis=1)[:, :-1] < uniform[:, None]).sum(axis=1)
        codes[:, node] = (held or {}).get(node, found)
    return codes


def _chances(moments: Moments, node: int, parents: list[int], codes: np.ndarray) -> Array:
    """Return the probabilities of a node's levels given its parents' codes; (rows, levels)."""
    levels, mine = moments.cardinalities[node], moments.at[node]
    means = moments.means()
    expected = np.tile(means[mine], (len(codes), 1))
    if parents:
        theirs = np.concatenate([moments.at[p] for p in parents])
        mean = means[theirs]
        cross = moments.two[np.ix_(theirs, mine)] - np.outer(mean, means[mine])
        spread = moments.two[np.ix_(theirs, theirs)] - np.outer(mean, mean)
        noise = float(max(moments.noise_one.max(), moments.noise_two.max()))
        ridge = (1e-9 + noise**0.5) * np.eye(len(theirs))
        seen = np.hstack([helmert(moments.cardinalities[p])[codes[:, p]] for p in parents])
        expected += (seen - mean) @ np.linalg.solve(spread + ridge, cross)
    chances = np.maximum(1 / levels + expected @ helmert(levels).T, 1e-6)
    return np.asarray(chances / chances.sum(axis=1, keepdims=True))
