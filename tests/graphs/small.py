"""Small graphs, written down."""

from __future__ import annotations

import networkx as nx
import numpy as np

from engine.graphs.cpdag import Adjacency


def graph(d: int, *edges: str) -> Adjacency:
    """Edges "0>1" directed and "0-1" undirected."""
    out = np.zeros((d, d), dtype=bool)
    for edge in edges:
        a, b = int(edge[0]), int(edge[2])
        out[a, b] = True
        out[b, a] = edge[1] == "-"
    return out


def has_cycle(arrows: Adjacency) -> bool:
    return not nx.is_directed_acyclic_graph(nx.DiGraph(arrows.astype(int)))
