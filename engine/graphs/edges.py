"""A graph's edges as a person reads them: a list, a frame, a small picture. No row is in them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import networkx as nx

from engine.graphs.cpdag import Adjacency
from engine.graphs.formats import DIRECTED, UNDIRECTED, edges_of
from engine.graphs.layout import (
    NODE_HEIGHT,
    Point,
    box_width,
    circle,
    frame,
    hits,
    layered,
    other_boxes,
    place,
)
from engine.graphs.weighed_colliders import SHOWN
from engine.percent import probability

if TYPE_CHECKING:
    import pandas as pd

UNTESTED = "untested"
Pair = tuple[int, int]


@dataclass(frozen=True)
class Edge:
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
    """The edges as a frame: cause, effect, link, arrow, class."""
    import pandas as pd  # here, so that importing the engine does not load pandas

    return pd.DataFrame(
        {
            "cause": [edge.cause for edge in found],
            "effect": [edge.effect for edge in found],
            "link": [edge.link for edge in found],
            "arrow": [edge.arrow for edge in found],
            "class": [edge.kind for edge in found],
        }
    )


# A small picture ------------------------------------------------------------------------

_WIDTH = 640.0
_EDGE = 14.0
_DASH = {UNTESTED: ' stroke-dasharray="2 4"'}


class Svg(str):
    """SVG text that a notebook shows as a picture."""

    def _repr_svg_(self) -> str:
        return str(self)


def svg(names: Sequence[str], found: Sequence[Edge], alt: str, *, steady: bool = False) -> Svg:
    """The graph as SVG in the colour of the text around it, links' probabilities beside them.

    Text is escaped, and nothing is loaded from elsewhere. ``steady`` pictures have the same bytes
    on every machine.
    """
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from((edge.cause, edge.effect) for edge in found)
    height = min(520.0, 140 + 34.0 * len(names))
    if len(graph) < 2:
        at = dict.fromkeys(names, (0.0, 0.0))
    elif steady and not layered(graph, _WIDTH, height):
        at = circle(names)
    else:
        at = place(graph, _WIDTH, height)
    left, right, top, bottom = frame(names, at, _EDGE)
    parts = [_line(edge, at) for edge in found] + [_box(name, at[name]) for name in names]
    size = f'viewBox="{left:.0f} {top:.0f} {right - left:.0f} {bottom - top:.0f}"'
    return Svg(
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(alt)}" {size} '
        f'style="width:100%;max-width:{right - left:.0f}px;font:13px system-ui,sans-serif" '
        f'fill="currentColor" stroke="none">{"".join(parts)}</svg>'
    )


def _box(name: str, at: Point) -> str:
    wide, (x, y) = box_width(name), at
    return (
        f'<rect x="{x - wide / 2:.1f}" y="{y - NODE_HEIGHT / 2:.1f}" width="{wide:.1f}" '
        f'height="{NODE_HEIGHT:.0f}" rx="5" fill="none" stroke="currentColor"/>'
        f'<text x="{x:.1f}" y="{y + 4.5:.1f}" text-anchor="middle">'
        f"{escape(' '.join(name.split()))}</text>"
    )


def _line(edge: Edge, at: Mapping[str, Point]) -> str:
    """A line from box to box, bent where it would cross another, with head and probability."""
    start, end = _leaves(edge.cause, edge.effect, at), _leaves(edge.effect, edge.cause, at)
    (ax, ay), (bx, by) = start, end
    crossing = hits(at[edge.cause], at[edge.effect], 0.0, other_boxes(edge.cause, edge.effect, at))
    bow = 0.3 if crossing else 0.0
    cx, cy = (ax + bx) / 2 - bow * (by - ay), (ay + by) / 2 + bow * (bx - ax)
    faint = 1.0 if math.isnan(edge.link) else 0.25 + 0.75 * edge.link
    said = [
        f'<path d="M{ax:.1f} {ay:.1f}Q{cx:.1f} {cy:.1f} {bx:.1f} {by:.1f}" fill="none" '
        f'stroke="currentColor" stroke-width="1.6" opacity="{faint:.2f}"'
        f"{_DASH.get(edge.kind, '')}/>"
    ]
    if edge.kind == DIRECTED:
        said.append(_head((cx, cy), end, faint))
    if not math.isnan(edge.link):
        x, y = _beside((ax + 2 * cx + bx) / 4, (ay + 2 * cy + by) / 4, bx - ax, by - ay)
        sure = probability(edge.link)  # as tables say it
        said.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="11">{escape(sure)}</text>')
    return "".join(said)


def _beside(x: float, y: float, dx: float, dy: float) -> Point:
    """Where words begin that stand to the right of a line in this direction, clear of it."""
    length = math.hypot(dx, dy) or 1.0
    right, down = abs(dy) / length, -math.copysign(dx, dx * dy or 1.0) / length
    return x + 8 * right, y + 8 * down + 4


def _head(start: Point, end: Point, faint: float) -> str:
    angle = math.atan2(end[1] - start[1], end[0] - start[0])
    sides = [
        (end[0] - 10 * math.cos(angle + t), end[1] - 10 * math.sin(angle + t)) for t in (-0.4, 0.4)
    ]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (end, *sides))
    return f'<polygon points="{points}" opacity="{faint:.2f}"/>'


def _leaves(a: str, b: str, at: Mapping[str, Point]) -> Point:
    """Where the line from a to b leaves a's box, with a little room."""
    (ax, ay), (bx, by) = at[a], at[b]
    dx, dy = bx - ax, by - ay
    across = (box_width(a) / 2 + 2) / abs(dx) if dx else math.inf
    down = (NODE_HEIGHT / 2 + 2) / abs(dy) if dy else math.inf
    share = min(across, down, 0.5)
    return ax + share * dx, ay + share * dy


# A small curve --------------------------------------------------------------------------


@dataclass(frozen=True)
class BandCurve:
    """A named line over epsilon with a band: (x, low, middle, high), each of one length."""

    name: str
    x: Sequence[float]
    low: Sequence[float]
    middle: Sequence[float]
    high: Sequence[float]


def curve_svg(curves: Sequence[BandCurve], title: str, alt: str) -> str:
    """Curves from 0 to 1 over a logarithmic x, as SVG in the colour of the text around it."""
    across = _across([x for curve in curves for x in curve.x])
    parts = [_axes(across, sorted({x for curve in curves for x in curve.x}), title)]
    for k, curve in enumerate(curves):
        xs = [across(x) for x in curve.x]
        band = [*zip(xs, curve.high, strict=True), *reversed([*zip(xs, curve.low, strict=True)])]
        line = " ".join(f"{x:.1f},{_up(y):.1f}" for x, y in zip(xs, curve.middle, strict=True))
        area = " ".join(f"{x:.1f},{_up(y):.1f}" for x, y in band)
        dash = f' stroke-dasharray="{(0, 7, 3)[k % 3]} {(0, 3, 3)[k % 3]}"' if k % 3 else ""
        parts.append(
            f'<polygon points="{area}" opacity=".12"/>'
            f'<polyline points="{line}" fill="none" stroke="currentColor" stroke-width="2"{dash}/>'
            f'<text x="{xs[-1] + 6:.1f}" y="{_up(curve.middle[-1]) + 4 + 12 * k:.1f}">'
            f"{escape(curve.name)}</text>"
        )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(alt)}" '
        'viewBox="0 0 700 240" style="width:100%;max-width:700px;font:12px system-ui,sans-serif" '
        f'fill="currentColor" stroke="none">{"".join(parts)}</svg>'
    )


def _across(values: Sequence[float]) -> Callable[[float], float]:
    low, high = math.log(min(values)), math.log(max(values))
    return lambda x: 60 + 400 * ((math.log(x) - low) / (high - low) if high > low else 0.5)


def _up(share: float) -> float:
    return 205 - 180 * min(max(share, 0.0), 1.0)


def _axes(across: Callable[[float], float], xs: Sequence[float], title: str) -> str:
    lines = [
        f'<line x1="56" x2="466" y1="{_up(y):.0f}" y2="{_up(y):.0f}" stroke="currentColor" '
        f'opacity=".25"/><text x="50" y="{_up(y) + 4:.0f}" text-anchor="end">{y:g}</text>'
        for y in (0, 0.5, 1)
    ]
    ticks = [f'<text x="{across(x):.0f}" y="222" text-anchor="middle">{x:g}</text>' for x in xs]
    named = f'<text x="56" y="14">{escape(title)}</text>'
    named += '<text x="466" y="237" text-anchor="end">ε</text>'
    return "".join([*lines, *ticks, named])


# For networkx ---------------------------------------------------------------------------


def annotated(names: Sequence[str], found: Sequence[Edge]) -> nx.DiGraph:
    """A DiGraph whose edges carry ``mark``, ``link`` and ``arrow`` where these are known.

    An edge without direction is both directions, each marked "undirected".
    """
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    for edge in found:
        known = {"link": edge.link, "arrow": edge.arrow}
        facts = {k: v for k, v in known.items() if not math.isnan(v)}
        graph.add_edge(edge.cause, edge.effect, mark=edge.kind, **facts)
        if edge.kind != DIRECTED:
            facts.pop("arrow", None)
            graph.add_edge(edge.effect, edge.cause, mark=edge.kind, **facts)
    return graph
