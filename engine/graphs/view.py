"""One picture of a graph, which pages, files and scenes draw alike: boxes, edges and a frame.

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

FRAME, NARROW = (540.0, 300.0), (360.0, 440.0)  # of a small graph, and of one on a phone
SMALL = (400.0, 180.0)  # in a low window, where letters of a larger frame would be too small
MOST_UNTESTED = 20  # pairs: more of them hide the edges, and are a number until one asks
EDGE, _CLEAR = 12.0, 3.0  # around a graph, and between a line's end and its box
_LINE, _HIGH, _MORE = 166.0, 30.0, 17.0  # of a box: its widest, its height and another line's
_LABELLED = 56.0  # between boxes where lines have labels
_GROW, _GROWTHS = 1.1, 14  # a layout is pulled apart until its edges are clear, about fourfold


@dataclass(frozen=True)
class Link:
    """One edge to draw: ``arrow`` a -> b, else undirected; ``kind`` None is a plain edge.

    ``width`` None is the class's own; ``label`` stands at the line and ``note`` under the pointer,
    both never a person's text.
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
    """A link and its way from box to box.

    ``bow`` is its line's from the column that comes first in the table, whichever the link's is.
    """

    link: Link
    bow: float
    curve: Curve


@dataclass(frozen=True)
class GraphView:
    """What every surface draws; ``frame`` is left, top, width and height, and holds all of it."""

    boxes: Mapping[str, Box]
    edges: tuple[Edge, ...]
    frame: tuple[float, float, float, float] = field(repr=False)

    def showing(self, links: Iterable[Link]) -> GraphView:
        """Draw other links in the same boxes and frame."""
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
    """Lay a graph out by its ``arrows`` and lead the ``links`` around the boxes.

    Args:
        names: The columns in their order.
        links: What is drawn. Boxes move apart until each edge but those of pairs that are not fully
            tested is clear.
        arrows: Pairs (from, to): the ground truth's, or without one the learned graph's, so that
            boxes stay while settings change.
        titles: Columns' plain names.
        frame: Width and height, which grow with the number of columns.
        labelled: Whether every line has a label, which needs more room between the boxes.
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
    """Return the middles of the boxes; a large graph takes seconds, once."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(sizes)))
    graph.add_edges_from(arrows)
    many, gap = (2 * len(sizes), _LABELLED) if labelled else (len(sizes), GAP)
    scale = scale_of(many, frame)
    inner = frame[0] * scale - 2 * EDGE, frame[1] * scale - 2 * EDGE
    at = _clear(place(graph, np.array(sizes), inner, gap), np.array(sizes), arrows)
    return tuple(map(tuple, at.tolist()))


def _clear(at: Points, sizes: Points, pairs: Sequence[tuple[int, int]]) -> Points:
    """Pull the boxes apart until no pair's line crosses one, as far as that is reasonable."""
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
    touch = np.where(leave > arrive, (leave + arrive) / 2, np.nan)  # then there is no line
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
    """Return the shares of (3, n, 2) curves at which they have left their starts' boxes."""
    low, high = np.zeros(len(half)), np.ones(len(half))
    for _ in range(20):
        t = (low + high) / 2
        inside = (abs(_blossom(curves, t, t) - curves[0]) < half).all(axis=1)
        low, high = np.where(inside, t, low), np.where(inside, high, t)
    return high


def _blossom(curves: Points, s: Points, t: Points) -> Points:
    """Points (n, 2) of the curves at s = t; else the middle point of the parts from s to t."""
    weights = np.array([(1 - s) * (1 - t), s * (1 - t) + t * (1 - s), s * t])
    return np.asarray((weights[:, :, None] * curves).sum(axis=0))


def _frame(boxes: Mapping[str, Box], edges: Sequence[Edge]) -> tuple[float, float, float, float]:
    """Left, top, width and height of what holds all boxes and lines, and the lines' labels."""
    shares = np.linspace(0, 1, 21)
    spots = [(*b.at, b.size[0] / 2 + EDGE, b.size[1] / 2 + EDGE) for b in boxes.values()]
    for edge in edges:
        spots += [(x, y, 2 * EDGE, 2 * EDGE) for x, y in along(edge.curve, shares)[0].tolist()]
    x, y, wide, high = np.array(spots).T
    left, top = min(x - wide), min(y - high)
    return float(left), float(top), float(max(x + wide) - left), float(max(y + high) - top)


# Labels ----------------------------------------------------------------------------------


def _lines(label: str) -> tuple[str, ...]:
    """Return the label as one line, or a long one as two and cut the second."""
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
    """Width of a box around a line, with room for the bold letters of any machine's font."""
    return 26 + sum(9.6 if c.isupper() else 4.5 if c in "iljt.,|1 " else 7.8 for c in line)


def _size(lines: Sequence[str]) -> Point:
    return max(map(_width, lines)), _HIGH + _MORE * (len(lines) - 1)
