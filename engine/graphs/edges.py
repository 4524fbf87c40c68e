"""A graph's edges as a person reads them: a list, a frame, a small picture. No row is in them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import networkx as nx

from engine.graphs.cpdag import DIRECTED, UNDIRECTED, Adjacency, edges_of
from engine.graphs.layout import place, scale_of
from engine.graphs.links import LinkClass
from engine.graphs.picture import Link, Svg, graph_svg
from engine.graphs.weighed_colliders import SHOWN
from engine.percent import probability

if TYPE_CHECKING:
    import pandas as pd

UNTESTED = "untested"
_WIDTH, _GAP = 640.0, 56.0  # of a picture, and between its boxes: room for probabilities
Pair = tuple[int, int]


class Edge(NamedTuple):
    """One adjacent pair: which way it runs, and what is known of it.

    ``link`` is how often such a link is real, ``arrow`` how often it runs from cause to effect if
    it is; NaN where nothing is known. ``kind`` is "directed", "undirected" or "untested": an arrow
    below the limit of what is drawn is undirected everywhere.
    """

    cause: str
    effect: str
    link: float
    arrow: float
    kind: str


def edges(
    names: Sequence[str],
    matrix: Adjacency,
    untested: Collection[Pair] = (),
    link: Mapping[Pair, float] | None = None,
    arrow: Mapping[Pair, float] | None = None,
) -> list[Edge]:
    """Every adjacent pair of a (d, d) CPDAG matrix once, in the columns' order.

    ``link`` and ``untested`` go by (i, j), i < j, ``arrow`` by (from, to).
    """
    found = []
    for i, j, kind in edges_of(matrix):
        low, high = min(i, j), max(i, j)
        sure = math.nan if link is None else link.get((low, high), math.nan)
        way = math.nan if arrow is None else arrow.get((i, j), math.nan)
        line = UNDIRECTED if way < SHOWN else kind
        shown = UNTESTED if (low, high) in untested else line
        found.append(Edge(names[i], names[j], sure, way, shown))
    return found


def edge_frame(found: Sequence[Edge]) -> pd.DataFrame:
    """The edges as a frame: source, target, link, arrow, class."""
    import pandas as pd  # here, so that importing the engine does not load pandas

    return pd.DataFrame(found, columns=["source", "target", "link", "arrow", "class"])


# As a picture ---------------------------------------------------------------------------


def svg(names: Sequence[str], found: Sequence[Edge], alt: str) -> Svg:
    """The graph in the colour of the text around it, links' probabilities at their lines."""
    graph = nx.empty_graph(names, nx.DiGraph)
    graph.add_edges_from((edge.cause, edge.effect) for edge in found)
    height = min(520.0, 140 + 34.0 * len(names))
    scale = scale_of(2 * len(names), _WIDTH, height)
    at = place(graph, scale * _WIDTH, scale * height, gap=_GAP)
    links = [
        Link(
            edge.cause,
            edge.effect,
            edge.kind == DIRECTED,
            LinkClass.UNTESTED if edge.kind == UNTESTED else None,
            opacity=1.0 if math.isnan(edge.link) else 0.25 + 0.75 * edge.link,
            label="" if math.isnan(edge.link) else probability(edge.link),  # as tables say it
        )
        for edge in found
    ]
    return graph_svg(names, links, at, alt=alt)


# For networkx ---------------------------------------------------------------------------


def annotated(names: Sequence[str], found: Sequence[Edge]) -> nx.DiGraph:
    """A DiGraph with edge attributes ``mark``, ``link`` and ``arrow`` where these are known.

    An edge without direction is both directions, each marked "undirected".
    """
    graph = nx.empty_graph(names, nx.DiGraph)
    for edge in found:
        known = {"link": edge.link, "arrow": edge.arrow}
        facts = {k: v for k, v in known.items() if not math.isnan(v)}
        graph.add_edge(edge.cause, edge.effect, mark=edge.kind, **facts)
        if edge.kind != DIRECTED:
            facts.pop("arrow", None)
            graph.add_edge(edge.effect, edge.cause, mark=edge.kind, **facts)
    return graph
