"""The layout of a graph, shared by pages, files and scenes: boxes, edges and a frame.

Units are pixels at zoom 1, y downwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import networkx as nx
import numpy as np

from engine.graphs.layout import GAP, Curve, Point, Points, along, bows, place, scale_of, via
from engine.graphs.links import LinkClass

FRAME, NARROW = (540.0, 300.0), (360.0, 440.0)  # for a small graph, and for one on a phone
SMALL = (400.0, 180.0)  # in a low window, where letters would be too small in a larger frame
# pairs: more would hide the edges, so only their number is shown until the user asks
MOST_UNTESTED = 20
EDGE, _CLEAR = 12.0, 3.0  # margin around a graph, and gap between a line's end and its box
# of a box: largest width, height, and height of each further line
_LINE, _HIGH, _MORE = 166.0, 30.0, 17.0
_LABELLED = 56.0  # between boxes if lines have labels
# a layout is enlarged, at most about fourfold, until its edges cross no box
_GROW, _GROWTHS = 1.1, 14


@dataclass(frozen=True)
class Link:
    """One edge to draw: a -> b if ``arrow``, otherwise undirected; ``kind`` None is plain.

    ``width`` None means the width of the class. ``label`` is shown at the line, and ``note`` under
    the pointer. Neither is ever text from a user.
    """

    a: str
    b: str
    arrow: bool
    kind: LinkClass | None = None
    width: float | None = None
    opacity: float = 1.0
    note: str = ""
    label: str = ""


@dataclass(frozen=True)
class Box:
    """A column's box: its label in ``lines``, its middle and its size."""

    name: str
    lines: tuple[str, ...]
    at: Point
    size: Point


@dataclass(frozen=True)
class Edge:
    """An edge to draw and its route from box to box.

    ``bow`` is measured from the column that comes first in the table, for either direction of the
    edge.
    """

    link: Link
    bow: float
    curve: Curve


@dataclass(frozen=True)
class GraphView:
    """The layout for every surface; ``frame`` is left, top, width and height around all of it."""

    boxes: Mapping[str, Box]
    edges: tuple[Edge, ...]
    frame: tuple[float, float, float, float] = field(repr=False)

    def showing(self, links: Iterable[Link]) -> GraphView:
        """Draw other edges in the same boxes and frame."""
        return replace(self, edges=_edges(self.boxes, links))


def view(
    names: Sequence[str],
    links: Sequence[Link],
    arrows: Iterable[tuple[str, str]],
    *,
    titles: Mapping[str, str] | None = None,
    frame: Point = FRAME,
    labelled: bool = False,
) -> GraphView:
    """Lay a graph out by its ``arrows`` and route the ``links`` around the boxes.

    Args:
        names: The columns in their order.
        links: The edges to draw. Boxes move apart until each edge between fully tested pairs
            crosses no box.
        arrows: Pairs (from, to) of the ground truth, or else of the learned graph, so that boxes
            stay in place while settings change.
        titles: Plain names of the columns.
        frame: Width and height, which grow with the number of columns.
        labelled: True if every line has a label, which needs more space between the boxes.
    """
    index = {name: k for k, name in enumerate(names)}
    shown = tuple(_lines((titles or {}).get(name, name)) for name in names)
    sizes = tuple(map(_size, shown))
    led = tuple(sorted((index[a], index[b]) for a, b in arrows))
    wanted = [(index[k.a], index[k.b]) for k in links if k.kind is not LinkClass.UNTESTED]
    at = _clear(np.array(_places(sizes, led, frame, labelled)), np.array(sizes), wanted)
    boxes = {
        name: Box(name, said, (x, y), size)
        for name, said, (x, y), size in zip(names, shown, at.tolist(), sizes, strict=True)
    }
    edges = _edges(boxes, links)
    return GraphView(boxes, edges, _frame(boxes, edges))


@lru_cache(maxsize=64)
def _places(
    sizes: tuple[Point, ...], arrows: tuple[tuple[int, int], ...], frame: Point, labelled: bool
) -> tuple[tuple[float, float], ...]:
    """Return the middles of the boxes, cached because a large graph takes seconds."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(sizes)))
    graph.add_edges_from(arrows)
    many, gap = (2 * len(sizes), _LABELLED) if labelled else (len(sizes), GAP)
    scale = scale_of(many, frame)
    inner = frame[0] * scale - 2 * EDGE, frame[1] * scale - 2 * EDGE
    at = _clear(place(graph, np.array(sizes), inner, gap), np.array(sizes), arrows)
    return tuple(map(tuple, at.tolist()))


def _clear(at: Points, sizes: Points, pairs: Sequence[tuple[int, int]]) -> Points:
    """Pull the boxes apart until no pair's line crosses one, within limits."""
    pairs = sorted({(min(pair), max(pair)) for pair in pairs})
    for _ in range(_GROWTHS):
        if not bows(at, sizes, pairs)[1].any():
            break
        at = at * _GROW
    return at


def _edges(boxes: Mapping[str, Box], links: Iterable[Link]) -> tuple[Edge, ...]:
    links, index = list(links), {name: k for k, name in enumerate(boxes)}
    at, sizes = (np.array([getattr(b, of) for b in boxes.values()]) for of in ("at", "size"))
    pairs = np.array([sorted((index[k.a], index[k.b])) for k in links], dtype=int).reshape(-1, 2)
    bowed, _ = bows(at, sizes, pairs)
    a, b = pairs.T
    whole, half = np.array([at[a], via(at[a], at[b], bowed), at[b]]), sizes / 2 + _CLEAR
    leave, arrive = _outside(whole, half[a]), 1 - _outside(whole[::-1], half[b])
    touch = np.where(leave > arrive, (leave + arrive) / 2, np.nan)  # otherwise there is no line
    leave, arrive = np.fmin(leave, touch), np.fmax(arrive, touch)
    parts = np.array(
        [_blossom(whole, *at) for at in ((leave, leave), (leave, arrive), (arrive, arrive))]
    )
    edges = []
    for link, bow, part, first in zip(
        links, bowed.tolist(), parts.swapaxes(0, 1).tolist(), a, strict=True
    ):
        start, middle, end = map(tuple, part if index[link.a] == first else part[::-1])
        edges.append(Edge(link, bow, (start, middle, end)))
    return tuple(edges)


def _outside(curves: Points, half: Points) -> Points:
    """Return the shares of (3, n, 2) curves at which they have left the boxes at their start."""
    low, high = np.zeros(len(half)), np.ones(len(half))
    for _ in range(20):
        t = (low + high) / 2
        inside = (abs(_blossom(curves, t, t) - curves[0]) < half).all(axis=1)
        low, high = np.where(inside, t, low), np.where(inside, high, t)
    return high


def _blossom(curves: Points, s: Points, t: Points) -> Points:
    """Return the curves' points (n, 2) at s if s = t, else the middle points from s to t."""
    weights = np.array([(1 - s) * (1 - t), s * (1 - t) + t * (1 - s), s * t])
    return np.asarray((weights[:, :, None] * curves).sum(axis=0))


def _frame(boxes: Mapping[str, Box], edges: Sequence[Edge]) -> tuple[float, float, float, float]:
    """Return left, top, width and height around all boxes, lines and labels."""
    shares = np.linspace(0, 1, 21)
    spots = [(*b.at, b.size[0] / 2 + EDGE, b.size[1] / 2 + EDGE) for b in boxes.values()]
    for edge in edges:
        spots += [(x, y, 2 * EDGE, 2 * EDGE) for x, y in along(edge.curve, shares)[0].tolist()]
    x, y, wide, high = np.array(spots).T
    left, top = min(x - wide), min(y - high)
    return float(left), float(top), float(max(x + wide) - left), float(max(y + high) - top)


# Labels ----------------------------------------------------------------------------------


def _lines(label: str) -> tuple[str, ...]:
    """Return the label as one line, or a long label as two with the second shortened."""
    words = " ".join(label.split())
    if _width(words) <= _LINE:
        return (words,)
    fit = max(k for k in range(1, len(words)) if _width(words[:k]) <= _LINE)
    spots = [k for k in range(1, fit + 1) if not words[k - 1].isalnum()] or [fit]
    spot = min(spots, key=lambda k: max(_width(words[:k]), _width(words[k:])))
    first, rest = words[:spot].strip(), words[spot:].strip()
    while _width(rest) > _LINE:
        rest = f"{rest.removesuffix('…')[:-1]}…"
    return first, rest


def _width(line: str) -> float:
    """Return the width of a box around a line, enough for the bold letters of any font."""
    return 26 + sum(9.6 if c.isupper() else 4.5 if c in "iljt.,|1 " else 7.8 for c in line)


def _size(lines: Sequence[str]) -> Point:
    return max(map(_width, lines)), _HIGH + _MORE * (len(lines) - 1)
