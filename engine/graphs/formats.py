"""Graphs as text for other tools: DOT, GraphML, dagitty, Tetrad, Mermaid.

An undirected edge of a CPDAG is one line without arrowheads if the format has such lines (DOT's
``dir=none``, dagitty's ``--``, Tetrad's ``---``). GraphML readers refuse a graph with both kinds of
edges, so there an undirected edge has both directions, each marked "undirected", as in
``RunResult.cpdag``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import networkx as nx

from engine.errors import NOT_IN_TETRAD, portable
from engine.graphs.cpdag import DIRECTED, UNDIRECTED, Adjacency, edges_of
from engine.graphs.edges import annotated, edges


def _quoted(names: Sequence[str]) -> list[str]:
    # Readers of DOT and dagitty differ on a backslash that is not followed by a quotation mark.
    return [f'"{n}"' for n in (m.replace('"', '\\"') for m in portable(names, "\\", "/"))]


def _lines(ids: Sequence[str], matrix: Adjacency, arrow: str, line: str) -> list[str]:
    """Write a line per edge: the names are inserted in ``arrow``, or in ``line`` if undirected."""
    form = {DIRECTED: arrow, UNDIRECTED: line}
    return [form[kind].format(ids[i], ids[j]) for i, j, kind in edges_of(matrix)]


def dot(names: Sequence[str], matrix: Adjacency) -> str:
    """Write Graphviz DOT, for DoWhy, pydot and igraph."""
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
    """Write Tetrad's graph text, also for causal-learn; it allows no space, "," or ";" in names."""
    ids = portable(names, NOT_IN_TETRAD)
    lines = enumerate(_lines(ids, matrix, "{} --> {}", "{} --- {}"), start=1)
    head = ["Graph Nodes:", ";".join(ids), "", "Graph Edges:"]
    return "\n".join([*head, *(f"{k}. {line}" for k, line in lines), ""])


def graphml(names: Sequence[str], matrix: Adjacency) -> str:
    """Write GraphML of a directed graph, with ``mark`` "directed" or "undirected" per edge."""
    ids = portable(names)
    return "\n".join([*nx.generate_graphml(annotated(ids, edges(ids, matrix))), ""])


def mermaid(names: Sequence[str], matrix: Adjacency) -> str:
    """Write Mermaid, for GitHub and wikis; nodes are numbered, and names are labels."""
    labels = (name.replace('"', "#quot;") for name in portable(names))
    nodes = [f'  n{k}["{label}"]' for k, label in enumerate(labels)]
    ids = [f"n{k}" for k in range(len(names))]
    lines = _lines(ids, matrix, "  {} --> {}", "  {} --- {}")
    return "\n".join(["graph LR", *nodes, *lines, ""])


class Format(NamedTuple):
    """A file format: its name, its readers, its extension, and the function that writes it."""

    name: str
    readers: str
    extension: str
    write: Callable[[Sequence[str], Adjacency], str]

    @property
    def title(self) -> str:
        """The format with its readers, as a list of formats shows it."""
        return f"{self.name}: {self.readers}"


FORMATS: Mapping[str, Format] = {
    "dot": Format("DOT", "DoWhy, Graphviz, pydot", "dot", dot),
    "graphml": Format("GraphML", "R (igraph), networkx, Gephi", "graphml", graphml),
    "dagitty": Format("dagitty", "R and the web tool", "dagitty.txt", dagitty),
    "tetrad": Format("Tetrad", "also causal-learn", "tetrad.txt", tetrad),
    "mermaid": Format("Mermaid", "GitHub, wikis", "mmd", mermaid),
}
