"""Partially directed graphs as matrices.

A (d, d) boolean matrix ``a`` represents such a graph: ``a[i, j] & ~a[j, i]`` means i -> j, and
``a[i, j] & a[j, i]`` means i - j.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import networkx as nx
import numpy as np
from numpy.typing import NDArray

Adjacency = NDArray[np.bool_]

SeparatingSets = Mapping[frozenset[int], Sequence[frozenset[int]]]
DIRECTED, UNDIRECTED = "directed", "undirected"


def edges_of(matrix: Adjacency) -> Iterator[tuple[int, int, str]]:
    """Return (i, j, "directed" | "undirected") of a (d, d) CPDAG matrix, each adjacent pair once.

    A directed edge runs i -> j.
    """
    for i, j in np.argwhere(np.triu(matrix | matrix.T, 1)).tolist():
        if matrix[i, j] and matrix[j, i]:
            yield i, j, UNDIRECTED
        else:
            yield (i, j, DIRECTED) if matrix[i, j] else (j, i, DIRECTED)


def matrix_of(graph: nx.DiGraph, names: Sequence[str]) -> Adjacency:
    """Return the (d, d) boolean matrix of a DiGraph, in the order of ``names``."""
    whole = nx.compose(nx.empty_graph(names, nx.DiGraph), graph)  # a column may have no edge
    return np.asarray(nx.to_numpy_array(whole, names, dtype=bool, weight=None))


def digraph_of(matrix: Adjacency, names: Sequence[str]) -> nx.DiGraph:
    """Return a DiGraph on ``names``; an undirected edge has both directions."""
    return nx.from_numpy_array(matrix, create_using=nx.DiGraph, edge_attr=None, nodelist=names)


def pairs_of(matrix: Adjacency, names: Sequence[str]) -> set[frozenset[str]]:
    """Return the skeleton of a matrix as unordered pairs of names."""
    return {frozenset(edge) for edge in digraph_of(matrix, names).edges}


def unordered(pairs: Iterable[frozenset[str]]) -> list[tuple[str, str]]:
    """Return pairs as sorted tuples in sorted order, for tables, JSON and comparison."""
    return sorted((min(p), max(p)) for p in pairs)
