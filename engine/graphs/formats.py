"""Graphs as text that other tools read: DOT, GraphML, dagitty, Tetrad, Mermaid.

A CPDAG's undirected edge is one line without arrowheads where the format has such a thing (DOT's
``dir=none``, dagitty's ``--``, Tetrad's ``---``). GraphML readers refuse a graph with both kinds,
so there it is both directions, each marked "undirected", as in ``RunResult.cpdag``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import networkx as nx

from engine.errors import NOT_IN_TETRAD, portable
from engine.graphs.cpdag import DIRECTED, UNDIRECTED, Adjacency, edges_of
from engine.graphs.edges import annotated, edges


def _quoted(names: Sequence[str]) -> list[str]:
    # Readers of DOT and dagitty differ on a backslash that is not before a quotation mark.
    return [f'"{n}"' for n in (m.replace('"', '\\"') for m in portable(names, "\\", "/"))]


def _lines(ids: Sequence[str], matrix: Adjacency, arrow: str, line: str) -> list[str]:
    """Write a line for each edge: names are put into ``arrow``, or ``line`` if undirected."""
    form = {DIRECTED: arrow, UNDIRECTED: line}
    return [form[kind].format(ids[i], ids[j]) for i, j, kind in edges_of(matrix)]


def dot(names: Sequence[str], matrix: Adjacency) -> str:
    """Graphviz DOT, as DoWhy, pydot and igraph read it."""
    ids = _quoted(names)
    lines = _lines(ids, matrix, "  {} -> {};", "  {} -> {} [dir=none];")
    return "\n".join(["digraph {", *(f"  {name};" for name in ids), *lines, "}", ""])


def dagitty(names: Sequence[str], matrix: Adjacency) -> str:
    """Write a dagitty graph: "dag" if every edge has a direction, else "pdag"."""
    ids = _quoted(names)
    head = "pdag {" if (matrix & matrix.T).any() else "dag {"
    lines = _lines(ids, matrix, "  {} -> {}", "  {} -- {}")
    return "\n".join([head, *(f"  {name}" for name in ids), *lines, "}", ""])


def tetrad(names: Sequence[str], matrix: Adjacency) -> str:
    """Tetrad's graph text, which causal-learn reads too; names hold no spaces, "," or ";" there."""
    ids = portable(names, NOT_IN_TETRAD)
    lines = enumerate(_lines(ids, matrix, "{} --> {}", "{} --- {}"), start=1)
    head = ["Graph Nodes:", ";".join(ids), "", "Graph Edges:"]
    return "\n".join([*head, *(f"{k}. {line}" for k, line in lines), ""])


def graphml(names: Sequence[str], matrix: Adjacency) -> str:
    """GraphML of a directed graph with edge attribute ``mark``, "directed" or "undirected"."""
    ids = portable(names)
    return "\n".join([*nx.generate_graphml(annotated(ids, edges(ids, matrix))), ""])


def mermaid(names: Sequence[str], matrix: Adjacency) -> str:
    """Mermaid, as GitHub and wikis draw it; nodes are numbered, names are labels."""
    labels = (name.replace('"', "#quot;") for name in portable(names))
    nodes = [f'  n{k}["{label}"]' for k, label in enumerate(labels)]
    ids = [f"n{k}" for k in range(len(names))]
    lines = _lines(ids, matrix, "  {} --> {}", "  {} --- {}")
    return "\n".join(["graph LR", *nodes, *lines, ""])


class Format(NamedTuple):
    """A kind of file: its use, the end of its name, and the function that writes it."""

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
