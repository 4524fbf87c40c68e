"""Small graphs: written down, and all there are."""

from __future__ import annotations

from itertools import combinations, product

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


def dags_on(links: Adjacency) -> list[Adjacency]:
    """Every way to turn the links that closes no cycle, by brute force."""
    pairs, found = np.argwhere(np.triu(links)).tolist(), []
    for turned in product((False, True), repeat=len(pairs)):
        dag = np.zeros_like(links)
        for (i, j), back in zip(pairs, turned, strict=True):
            dag[(j, i) if back else (i, j)] = True
        if not has_cycle(dag):
            found.append(dag)
    return found


def all_dags(d: int) -> list[Adjacency]:
    """Every DAG of d nodes: 3 of two, 25 of three, 543 of four."""
    pairs, found = list(combinations(range(d), 2)), []
    for kept in product((False, True), repeat=len(pairs)):
        links = np.zeros((d, d), dtype=bool)
        for (i, j), there in zip(pairs, kept, strict=True):
            links[i, j] = links[j, i] = there
        found += dags_on(links)
    return found
