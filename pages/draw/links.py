"""Edges to draw: from a matrix, with their class; their legend and their words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np

from engine.graphs.cpdag import Adjacency
from engine.graphs.metrics import EdgeClass
from pages.shell import words as text
from pages.shell.palette import STROKES, stroke_ink

RARE = (EdgeClass.CLAIMED, EdgeClass.UNTESTED)


@dataclass(frozen=True)
class Link:
    """One edge to draw: ``arrow`` a -> b, else undirected; ``kind`` None is a plain edge.

    ``width`` None is the class's own; ``label`` stands on the line and ``note`` under the pointer,
    both never a person's text.
    """

    a: str
    b: str
    arrow: bool
    kind: EdgeClass | None = None
    width: float | None = None
    opacity: float = 1.0
    note: str = ""
    label: str = ""


def links_of(
    matrix: Adjacency,
    names: Sequence[str],
    classes: Mapping[tuple[int, int], EdgeClass] | None = None,
    only: Iterable[EdgeClass] = tuple(EdgeClass),
) -> list[Link]:
    """The edges of a CPDAG matrix, each pair once, with its class if ``classes`` are given."""
    kinds, links = classes or {}, []
    for i, j in zip(*np.nonzero(np.triu(matrix | matrix.T, 1)), strict=True):
        kind = kinds.get((int(i), int(j)))
        if kind is not None and kind not in only:
            continue
        a, b = (i, j) if matrix[i, j] else (j, i)
        links.append(Link(names[a], names[b], bool(matrix[i, j] ^ matrix[j, i]), kind))
    return links


def legend(counts: Mapping[EdgeClass, int], theme: str) -> str:
    """HTML: the classes with a sample of their stroke and their counts; the rare ones if any."""
    items = "".join(
        f'<span style="white-space:nowrap;margin-right:1.6rem">{_sample(kind, theme)}'
        f"{text.CLASSES[kind.value]} <b>{counts.get(kind, 0):,}</b></span>"
        for kind in EdgeClass
        if counts.get(kind, 0) or kind not in RARE
    )
    return f'<div style="line-height:1.9">{items}</div>'


def _sample(kind: EdgeClass, theme: str) -> str:
    stroke, ink = STROKES[kind], stroke_ink(kind, theme)
    line = (
        f"display:inline-block;width:2.6rem;margin-right:.5rem;vertical-align:middle;"
        f"border-top:{stroke.width:.0f}px {stroke.css} {ink};height:0;text-align:center"
    )
    sign = f'<span style="position:relative;top:-.95em;color:{ink}">{stroke.sign}</span>'
    return f'<span style="{line}">{sign if stroke.sign else ""}</span>'


def describe(what: str, names: Sequence[str], links: Sequence[Link]) -> str:
    """The frame's name for screen readers."""
    return f"{what}: {text.count(len(names), 'node')}, {text.count(len(links), 'edge')}"


def as_digraph(names: Sequence[str], matrix: Adjacency) -> nx.DiGraph:
    """A directed graph to lay out: undirected edges run in column order."""
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    for link in links_of(matrix, names):
        graph.add_edge(link.a, link.b)
    return graph
