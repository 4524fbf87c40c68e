"""Where the nodes of a graph go: in layers where they fit, else spread by path length.

Units are pixels of the frame at zoom 1, origin at its centre, y downwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import combinations

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

Point = tuple[float, float]
Curve = tuple[Point, Point, Point]  # start, middle and end of a quadratic curve
NODE_HEIGHT = 30.0
GAP = 14.0
_LAYERED = 20  # larger graphs have too many edges that pass a layer
_NODE_AREA = 11_000.0  # square units for a node of a spread: Alarm's 37 fit without overlaps
_SWEEPS = 24
_PUSHES = 400
_SWEEPS_OF_STRESS = 80
_ALONG = np.linspace(0.06, 0.94, 23)  # where a line is looked at


def box_width(label: str) -> float:
    """Width of a node's box around its label, in a sans-serif of 14 pixels."""
    return 18 + sum(9.6 if c.isupper() else 4.5 if c in "iljt.,|1 " else 7.8 for c in label)


def place(graph: nx.DiGraph, width: float, height: float, gap: float = GAP) -> dict[str, Point]:
    """Positions of all nodes in a frame of the given size.

    Layers, causes above effects, for a small, sparse acyclic graph with layers that fit the frame;
    otherwise a spread in which distance follows path length and boxes keep a ``gap``.
    """
    if len(graph) < 2:
        return dict.fromkeys(graph, (0.0, 0.0))
    sparse = graph.number_of_edges() <= 1.3 * len(graph)
    if len(graph) <= _LAYERED and sparse and nx.is_directed_acyclic_graph(graph):
        layers = _layers(graph)
        widest = max(sum(box_width(name) + GAP for name in row) for row in layers)
        if widest <= width and len(layers) * 50 <= height:
            return _in_layers(graph, layers, width, height)
    return _spread(graph, width, height, gap)


def frame_height(nodes: int) -> int:
    """Height of the frame in pixels, by the number of nodes."""
    return int(min(1100, max(400, 300 + 10 * nodes)))


def scale_of(nodes: int, width: float, height: float) -> float:
    """By how much a frame has to grow for so many nodes to fit; 1 at least."""
    return max(1.0, math.sqrt(nodes * _NODE_AREA / (height * width)))


# What a drawing asks -----------------------------------------------------------------------


_BOWS = [bow * side for bow in (0.15, 0.25, 0.35, 0.45, 0.6, 0.8, 1.0) for side in (1, -1)]


def flattest(a: str, b: str, positions: Mapping[str, Point]) -> float:
    """The bow of a line from a to b: 0 is straight, else the least that crosses fewest boxes.

    Above 0 it is clockwise.
    """
    start, end = positions[a], positions[b]
    others = [(*at, box_width(name)) for name, at in positions.items() if name not in (a, b)]
    boxes = np.array(others).reshape(-1, 3)  # middle and width of each
    half = np.column_stack([boxes[:, 2], np.full(len(boxes), NODE_HEIGHT)]) / 2 + 3
    best, fewest = 0.0, math.inf
    for bow in (0.0, *_BOWS):
        points = along((start, via(start, end, bow), end), _ALONG)[0]
        near = np.abs(points - boxes[:, None, :2]) < half[:, None]
        if (found := int(near.all(axis=2).any(axis=1).sum())) < fewest:
            best, fewest = bow, found
        if not fewest:
            break
    return best


def via(start: Point, end: Point, bow: float) -> Point:
    """The middle point of the quadratic curve, where vis-network puts it."""
    (ax, ay), (bx, by) = start, end
    angle = math.atan2(ay - by, bx - ax) + (bow * 0.5 + 0.5) * math.pi
    reach = (abs(bow) * 0.5 + 0.5) * math.hypot(bx - ax, by - ay)
    return ax + reach * math.sin(angle), ay + reach * math.cos(angle)


def along(curve: Curve, shares: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Points of the curve at n shares of it, and its directions there; both (n, 2)."""
    t, (start, middle, end) = np.asarray(shares)[:, None], np.array(curve)
    points = (1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * end
    return points, (1 - t) * (middle - start) + t * (end - middle)


# Layers ---------------------------------------------------------------------------------


def _layers(graph: nx.DiGraph) -> list[list[str]]:
    """The nodes by the longest path that ends at them; one without causes next to its effects."""
    level: dict[str, int] = {}
    for k, row in enumerate(nx.topological_generations(graph)):
        level.update(dict.fromkeys(row, k))
    for node, causes in graph.in_degree():
        if graph.out_degree(node) and not causes:
            level[node] = min(level[child] for child in graph.successors(node)) - 1
    return [[n for n in level if level[n] == k] for k in range(max(level.values()) + 1)]


def _in_layers(
    graph: nx.DiGraph, layers: list[list[str]], width: float, height: float
) -> dict[str, Point]:
    """Give every layer a height, and its nodes places near their neighbours' mean.

    They start where :func:`_least_stress` puts them, so that few lines cross.
    """
    step = min(height / len(layers), 130.0)
    names = list(graph)
    x = dict(zip(names, _least_stress(_joined(graph), names)[:, 0].tolist(), strict=True))
    for _ in range(_SWEEPS):
        for row in (*layers, *reversed(layers)):
            near = {n: [x[m] for m in nx.all_neighbors(graph, n)] or [x[n]] for n in row}
            wanted = {n: sum(places) / len(places) for n, places in near.items()}
            row.sort(key=wanted.__getitem__)
            x.update(_packed(row, [wanted[n] for n in row], width))
    low, high = min(x.values()), max(x.values())
    stretch = min(3.0, max(1.0, 0.72 * width / (high - low))) if high > low else 1.0
    middle, top = (low + high) / 2, -step * (len(layers) - 1) / 2
    y = {name: top + k * step for k, row in enumerate(layers) for name in row}
    return {name: ((x[name] - middle) * stretch, y[name]) for name in names}


def _packed(row: list[str], wanted: list[float], width: float) -> dict[str, float]:
    """Places in the row's order, near those wanted, boxes apart, inside the frame."""

    def pushed(row: list[str], wanted: list[float]) -> list[float]:
        """As far left as is wanted, and as the frame and those before leave room."""
        places, edge = [], -width / 2
        for half, want in zip((box_width(node) / 2 for node in row), wanted, strict=True):
            places.append(max(want, edge + half))
            edge = places[-1] + half + GAP
        return places

    left = pushed(row, wanted)
    right = pushed(row[::-1], [-want for want in wanted[::-1]])[::-1]  # the same from the right
    return {node: (a - b) / 2 for node, a, b in zip(row, left, right, strict=True)}


# Spread ---------------------------------------------------------------------------------


def _joined(graph: nx.DiGraph) -> nx.Graph:
    """The graph without directions, invisible edges between its parts: one layout holds them."""
    loose = graph.to_undirected()
    parts = sorted(nx.connected_components(loose), key=len, reverse=True)
    loose.add_edges_from((min(parts[0]), min(part)) for part in parts[1:])
    return loose


def _spread(graph: nx.DiGraph, width: float, height: float, gap: float) -> dict[str, Point]:
    names = list(graph)
    turned = _long_side_down(_least_stress(_joined(graph), names), wide=width > height)
    rooms = width - 110, height - NODE_HEIGHT
    at = np.stack([_evened(u) * room for u, room in zip(turned, rooms, strict=True)], 1).tolist()
    sizes = [(box_width(name) + gap, NODE_HEIGHT + gap) for name in names]
    _push_apart(at, sizes, (width, height))
    return {name: (x, y) for name, (x, y) in zip(names, at, strict=True)}


def _least_stress(graph: nx.Graph, names: list[str]) -> NDArray[np.float64]:
    """Points (n, 2) at distances near the path lengths, by stress majorization, one at a time.

    Gansner, Koren and North (2004), section 2.3, weights 1/d². Sums are rounded once (``fsum``):
    the same on every machine, as a release's page has to be.
    """
    paths = nx.floyd_warshall_numpy(graph, names)
    weights = 1 / (paths + np.diag([np.inf] * len(names))) ** 2  # none for a node itself
    turns = [2 * math.pi * k / len(names) for k in range(len(names))]
    at = len(names) / 4 * np.array([[f(turn) for f in (math.cos, math.sin)] for turn in turns])
    for _ in range(_SWEEPS_OF_STRESS):
        for i, (far, weight) in enumerate(zip(paths, weights, strict=True)):
            x, y = away = (at[i] - at).T
            near = np.sqrt(x * x + y * y)
            near[i] = 1.0
            moved = weight * (at.T + far / near * away)
            at[i] = [math.fsum(m) / math.fsum(weight) for m in moved.tolist()]
    return at


def _long_side_down(points: NDArray[np.float64], *, wide: bool) -> list[NDArray[np.float64]]:
    """Both coordinates (n,), turned so that the main axis follows the frame's longer side."""
    x, y = (values - math.fsum(values) / len(values) for values in points.T)
    turn = math.atan2(2 * math.fsum(x * y), math.fsum(x * x - y * y)) / 2
    main = x * math.cos(turn) + y * math.sin(turn)
    other = y * math.cos(turn) - x * math.sin(turn)
    return [main, other] if wide else [other, main]


def _evened(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values brought to [-1/2, 1/2], half way to equal distances, so that the frame is filled."""
    rank = values.argsort(kind="stable").argsort() / max(1, len(values) - 1)
    span = np.ptp(values) or 1.0
    return np.asarray(((values - values.min()) / span + rank) / 2 - 0.5)


def _push_apart(at: list[list[float]], sizes: list[Point], frame_size: Point) -> None:
    """Move overlapping boxes apart, along the axis on which they overlap least."""
    for _ in range(_PUSHES):
        moved = False
        for i, j in combinations(range(len(at)), 2):
            far = [at[j][k] - at[i][k] for k in (0, 1)]
            over = [(sizes[i][k] + sizes[j][k]) / 2 - abs(far[k]) for k in (0, 1)]
            if min(over) <= 0.5:
                continue
            moved, axis = True, 0 if over[0] < over[1] else 1
            shift = math.copysign(over[axis], far[axis]) / 2
            at[i][axis] -= shift
            at[j][axis] += shift
        for point, size in zip(at, sizes, strict=True):
            for k, whole in enumerate(frame_size):
                point[k] = min(max(point[k], (size[k] - whole) / 2), (whole - size[k]) / 2)
        if not moved:
            return
