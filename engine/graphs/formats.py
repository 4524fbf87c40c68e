"""Graphs as text that other tools read: DOT, GraphML, dagitty, Tetrad, Mermaid.

A CPDAG's undirected edge is one line without arrowheads where the format has such a thing (DOT's
``dir=none``, dagitty's ``--``, Tetrad's ``---``). GraphML readers refuse a graph with both kinds,
so there it is both directions, each marked "undirected", as in ``RunResult.cpdag``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np

from engine.graphs.cpdag import Adjacency

DIRECTED, UNDIRECTED = "directed", "undirected"


def edges_of(matrix: Adjacency) -> Iterator[tuple[int, int, str]]:
    """(i, j, "directed" | "undirected") of a (d, d) CPDAG matrix, each adjacent pair once.

    A directed edge runs i -> j.
    """
    for i, j in np.argwhere(np.triu(matrix | matrix.T, 1)).tolist():
        if matrix[i, j] and matrix[j, i]:
            yield i, j, UNDIRECTED
        else:
            yield (i, j, DIRECTED) if matrix[i, j] else (j, i, DIRECTED)


def portable(names: Sequence[str], forbidden: str = "", instead: str = "_") -> list[str]:
    """The names on one line each, without forbidden characters, still all different.

    Control characters become spaces: no format here keeps them.
    """
    taken: set[str] = set()
    out = []
    for name in names:
        line = "".join(c if c.isprintable() else " " for c in name)
        base = line = "".join(instead if c in forbidden else c for c in line)
        k = 2
        while line in taken:
            line, k = f"{base}{instead}{k}", k + 1
        taken.add(line)
        out.append(line)
    return out


def _quoted(names: Sequence[str]) -> list[str]:
    # Readers of DOT and dagitty differ on a backslash that is not before a quotation mark.
    return [f'"{n}"' for n in (m.replace('"', '\\"') for m in portable(names, "\\", "/"))]


def dot(names: Sequence[str], matrix: Adjacency) -> str:
    """Graphviz DOT, as DoWhy, pydot and igraph read it."""
    ids = _quoted(names)
    lines = [f"  {name};" for name in ids]
    for i, j, kind in edges_of(matrix):
        mark = " [dir=none]" if kind == UNDIRECTED else ""
        lines.append(f"  {ids[i]} -> {ids[j]}{mark};")
    return "\n".join(["digraph {", *lines, "}", ""])


def dagitty(names: Sequence[str], matrix: Adjacency) -> str:
    """The text of a dagitty graph: "dag" if every edge has a direction, else "pdag"."""
    ids, edges = _quoted(names), list(edges_of(matrix))
    head = "pdag" if any(kind == UNDIRECTED for *_, kind in edges) else "dag"
    lines = [f"  {name}" for name in ids]
    lines += [f"  {ids[i]} {'--' if kind == UNDIRECTED else '->'} {ids[j]}" for i, j, kind in edges]
    return "\n".join([f"{head} {{", *lines, "}", ""])


def tetrad(names: Sequence[str], matrix: Adjacency) -> str:
    """Tetrad's graph text, which causal-learn reads too; names hold no spaces, "," or ";" there."""
    ids = portable(names, " \u00a0,;")
    lines = ["Graph Nodes:", ";".join(ids), "", "Graph Edges:"]
    for k, (i, j, kind) in enumerate(edges_of(matrix), start=1):
        lines.append(f"{k}. {ids[i]} {'---' if kind == UNDIRECTED else '-->'} {ids[j]}")
    return "\n".join([*lines, ""])


def graphml(names: Sequence[str], matrix: Adjacency) -> str:
    """GraphML of a directed graph with edge attribute ``mark``, "directed" or "undirected"."""
    ids, graph = portable(names), nx.DiGraph()
    graph.add_nodes_from(ids)
    for i, j, kind in edges_of(matrix):
        graph.add_edge(ids[i], ids[j], mark=kind)
        if kind == UNDIRECTED:
            graph.add_edge(ids[j], ids[i], mark=kind)
    return "\n".join([*nx.generate_graphml(graph), ""])


def mermaid(names: Sequence[str], matrix: Adjacency) -> str:
    """Mermaid, as GitHub and wikis draw it; nodes are numbered, names are labels."""
    labels = [name.replace('"', "#quot;") for name in portable(names)]
    lines = [f'  n{k}["{label}"]' for k, label in enumerate(labels)]
    for i, j, kind in edges_of(matrix):
        lines.append(f"  n{i} {'---' if kind == UNDIRECTED else '-->'} n{j}")
    return "\n".join(["graph LR", *lines, ""])


@dataclass(frozen=True)
class Format:
    """A kind of file: what it is for, the end of its name, and what writes it."""

    title: str
    extension: str
    write: Callable[[Sequence[str], Adjacency], str]


FORMATS: Mapping[str, Format] = {
    "dot": Format("DOT: DoWhy, Graphviz, pydot", "dot", dot),
    "graphml": Format("GraphML: R (igraph), networkx, Gephi", "graphml", graphml),
    "dagitty": Format("dagitty: R and the web tool", "dagitty.txt", dagitty),
    "tetrad": Format("Tetrad and causal-learn", "tetrad.txt", tetrad),
    "mermaid": Format("Mermaid: GitHub, wikis", "mmd", mermaid),
}
