"""A graph's edges for readers: a list, a frame, a small picture. They contain no row."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from engine.graphs.cpdag import DIRECTED, UNDIRECTED, Adjacency, edges_of
from engine.graphs.links import LinkClass
from engine.graphs.picture import Svg, graph_svg
from engine.graphs.view import Link, view
from engine.graphs.weighed_colliders import SHOWN
from engine.percent import probability

if TYPE_CHECKING:
    import pandas as pd

UNTESTED = "untested"
LOW_CONFIDENCE, CONTRADICTED = "low_confidence", "contradicted"  # notes on an undirected edge
Pair = tuple[int, int]
_NONE: Mapping[Pair, float] = {}
_NO_OUTCOMES: Mapping[Pair, LinkClass] = {}


class Edge(NamedTuple):
    """One adjacent pair as data; :mod:`engine.words` describes it in English.

    ``edge_confidence`` is the share of such edges that are real. ``direction_confidence`` is the
    share of the real ones that run from source to target. ``weight`` is its weight in a linear
    model. They are NaN if the algorithm does not give them. ``kind`` is "directed", "undirected" or
    "untested". ``outcome`` compares it with the ground truth; it is None without one. ``note``
    gives the reason if an edge has no direction: "low_confidence", "contradicted" (by other
    directions), "untested", or "".
    """

    source: str
    target: str
    edge_confidence: float
    direction_confidence: float
    kind: str
    weight: float = math.nan
    outcome: LinkClass | None = None
    note: str = ""


def edges(
    names: Sequence[str],
    matrix: Adjacency,
    untested: Collection[Pair] = (),
    edge_confidence: Mapping[Pair, float] = _NONE,
    direction_confidence: Mapping[Pair, float] = _NONE,
    *,
    weights: NDArray[np.float64] | None = None,
    outcomes: Mapping[Pair, LinkClass] = _NO_OUTCOMES,
    contradicted: Collection[Pair] = (),
) -> list[Edge]:
    """List every adjacent pair of a (d, d) CPDAG matrix once, in column order.

    The keys for pairs are (i, j), i < j; those of ``direction_confidence`` and ``weights`` are
    (from, to).
    """
    found = []
    for i, j, kind in edges_of(matrix):
        pair = min(i, j), max(i, j)
        way = direction_confidence.get((i, j), math.nan)
        note = CONTRADICTED if pair in contradicted else ""
        if way < SHOWN:
            kind, note = UNDIRECTED, note or (LOW_CONFIDENCE if kind == DIRECTED else "")
        if pair in untested:
            kind = note = UNTESTED
        weight = math.nan if weights is None else max(weights[i, j], weights[j, i], key=abs)
        sure = edge_confidence.get(pair, math.nan)
        one = Edge(names[i], names[j], sure, way, kind, float(weight), outcomes.get(pair), note)
        found.append(one)
    return found


def edge_frame(found: Sequence[Edge]) -> pd.DataFrame:
    """Return the edges as a frame; ``link`` and ``arrow`` are the confidences' names in 0.3."""
    import pandas as pd  # imported here, so that importing the engine does not load pandas

    rows = [(*e[:5], e.edge_confidence, e.direction_confidence) for e in found]
    columns = ["source", "target", "edge_confidence", "direction_confidence", "class"]
    return pd.DataFrame(rows, columns=[*columns, "link", "arrow"])


# As a picture ---------------------------------------------------------------------------


def svg(names: Sequence[str], found: Sequence[Edge], alt: str) -> Svg:
    """Draw the graph in the colour of the surrounding text, with probabilities at its edges."""
    arrows = [(edge.source, edge.target) for edge in found]
    links = [
        Link(
            edge.source,
            edge.target,
            edge.kind == DIRECTED,
            LinkClass.UNTESTED if edge.kind == UNTESTED else None,
            opacity=1.0 if math.isnan(sure := edge.edge_confidence) else 0.25 + 0.75 * sure,
            label="" if math.isnan(sure) else probability(sure),  # as in tables
        )
        for edge in found
    ]
    return graph_svg(view(names, links, arrows, labelled=True), alt=alt)


# For networkx ---------------------------------------------------------------------------


def annotated(names: Sequence[str], found: Sequence[Edge]) -> nx.DiGraph:
    """Return a DiGraph with the edge attribute ``mark`` and the confidences, if they are known.

    An undirected edge has both directions, each marked "undirected". ``link`` and ``arrow`` are the
    confidences' names in version 0.3.
    """
    graph = nx.empty_graph(names, nx.DiGraph)
    for edge in found:
        sure, way = edge.edge_confidence, edge.direction_confidence
        known = {} if math.isnan(sure) else {"edge_confidence": sure, "link": sure}
        one = {} if math.isnan(way) else {"direction_confidence": way, "arrow": way}
        graph.add_edge(edge.source, edge.target, mark=edge.kind, **known, **one)
        if edge.kind != DIRECTED:
            graph.add_edge(edge.target, edge.source, mark=edge.kind, **known)
    return graph
