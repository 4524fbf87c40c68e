"""Place the nodes of a graph, in layers if they fit, and route edges around the boxes.

Units are pixels of the frame at zoom 1, with the origin at its centre and y downwards.
"""

from __future__ import annotations

import math
from itertools import combinations

import networkx as nx
import numpy as np
from numpy.typing import ArrayLike, NDArray

Point = tuple[float, float]
Curve = tuple[Point, Point, Point]  # start, middle and end of a quadratic curve
Points = NDArray[np.float64]
GAP = 14.0
_LAYERED = 20  # in larger graphs too many edges pass through a layer
# square units per node of a spread: the 37 nodes of Alarm fit without overlaps
_NODE_AREA = 11_000.0
_SWEEPS = 24
_PUSHES = 400
_SWEEPS_OF_STRESS = 80
# distance between checks along a line, and margin around a box, so that no crossing is missed
_STEP, _ROOM = 8.0, 4.5
_SLIGHT = 0.3
_BOWS = [0.0, *(bow * side for bow in (0.15, 0.3, 0.45, 0.6, 0.8, 1.0) for side in (1, -1))]


def place(graph: nx.DiGraph, sizes: Points, frame: Point, gap: float = GAP) -> Points:
    """Place the nodes 0 to d - 1, whose boxes have the given (d, 2) ``sizes``, in a frame.

    A small, sparse acyclic graph whose layers fit the frame gets layers with causes above effects.
    Any other graph is spread out: distances follow path lengths and boxes keep a ``gap``.
    """
    if len(graph) < 2:
        return np.zeros((len(graph), 2))
    (width, height), (widths, heights) = frame, sizes.T
    sparse = graph.number_of_edges() <= 1.3 * len(graph)
    if len(graph) <= _LAYERED and sparse and nx.is_directed_acyclic_graph(graph):
        layers = _layers(graph)
        widest = max(sum(widths[row] + GAP) for row in layers)
        if widest <= width and len(layers) * (max(heights) + 20) <= height:
            return _in_layers(graph, layers, widths, frame)
    return _spread(graph, sizes, frame, gap)


def scale_of(nodes: int, frame: Point) -> float:
    """Return the factor, at least 1, by which a frame must grow to fit this many nodes."""
    return max(1.0, math.sqrt(nodes * _NODE_AREA / (frame[0] * frame[1])))


# Lines around boxes ------------------------------------------------------------------------


def bows(at: Points, sizes: Points, pairs: ArrayLike) -> tuple[Points, NDArray[np.int_]]:
    """Bend each pair's line until it crosses no box, and count the boxes that it still crosses.

    A line goes from ``pairs[:, 0]`` to ``pairs[:, 1]``. 0 is straight, and positive values bend
    clockwise. If no bend is free of boxes, the line gets the smallest slight bend that crosses the
    fewest boxes.
    """
    ends = np.asarray(pairs, dtype=int).reshape(-1, 2)
    best, fewest = np.zeros(len(ends)), np.full(len(ends), len(at))
    left = np.arange(len(ends))
    for bow in _BOWS:
        a, b = ends[left].T
        curves = np.array([at[a], via(at[a], at[b], bow), at[b]])
        crossed = _crossed(curves, at, sizes)
        crossed[np.arange(len(left)), a] = crossed[np.arange(len(left)), b] = False
        found = crossed.sum(axis=1)
        better = (found < fewest[left]) & ((abs(bow) <= _SLIGHT) | (found == 0))
        best[left[better]], fewest[left[better]] = bow, found[better]
        left = left[fewest[left] > 0]
        if not len(left):
            break
    return best, fewest


def _crossed(curves: Points, at: Points, sizes: Points) -> NDArray[np.bool_]:
    """Return which boxes (columns) each of the (3, n, 2) curves (rows) touches."""
    start, middle, end = curves
    lengths = np.hypot(*(middle - start).T) + np.hypot(*(end - middle).T)
    t = np.linspace(0, 1, 2 + int(max(lengths, default=0.0) / _STEP))[:, None, None]
    points = (1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * end
    half = (sizes / 2 + _ROOM).T
    inside = [abs(points[..., k, None] - at[:, k]) < half[k] for k in (0, 1)]
    return np.asarray((inside[0] & inside[1]).any(axis=0))


def via(start: Points, end: Points, bow: float | Points) -> Points:
    """Return the middle points (n, 2) of quadratic curves, where vis-network puts them."""
    turn, share = (np.asarray(bow) + 1) * (math.pi / 2), (abs(np.asarray(bow)) + 1) / 2
    (dx, dy), sin, cos = (end - start).T, np.sin(turn), np.cos(turn)
    return np.asarray(start + (share * np.array([dx * sin - dy * cos, dx * cos + dy * sin])).T)


def along(curve: Curve, shares: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the curve's points at n shares of its length, and directions there; both (n, 2)."""
    t, (start, middle, end) = np.asarray(shares)[:, None], np.array(curve)
    points = (1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * end
    return points, (1 - t) * (middle - start) + t * (end - middle)


# Layers ---------------------------------------------------------------------------------


def _layers(graph: nx.DiGraph) -> list[list[int]]:
    """Sort nodes by the longest path that ends there; one without causes is next to its effects."""
    level: dict[int, int] = {}
    for k, row in enumerate(nx.topological_generations(graph)):
        level.update(dict.fromkeys(row, k))
    for node, causes in graph.in_degree():
        if graph.out_degree(node) and not causes:
            level[node] = min(level[child] for child in graph.successors(node)) - 1
    return [[n for n in level if level[n] == k] for k in range(max(level.values()) + 1)]


def _in_layers(graph: nx.DiGraph, layers: list[list[int]], widths: Points, frame: Point) -> Points:
    """Give every layer a height, and place its nodes near the mean of their neighbours.

    They start at the positions of :func:`_least_stress`, so that few lines cross.
    """
    width, height = frame
    step = min(height / len(layers), 130.0)
    x = _least_stress(_joined(graph))[:, 0]
    for _ in range(_SWEEPS):
        for row in (*layers, *reversed(layers)):
            near = {n: x[[*nx.all_neighbors(graph, n)] or [n]] for n in row}
            wanted = {n: math.fsum(places) / len(places) for n, places in near.items()}
            row.sort(key=wanted.__getitem__)
            x[row] = _packed(widths[row].tolist(), [wanted[n] for n in row], width)
    low, high = min(x), max(x)
    stretch = min(3.0, max(1.0, 0.72 * width / (high - low))) if high > low else 1.0
    y, top = np.zeros(len(graph)), -step * (len(layers) - 1) / 2
    for k, row in enumerate(layers):
        y[row] = top + k * step
    return np.column_stack([(x - (low + high) / 2) * stretch, y])


def _packed(widths: list[float], wanted: list[float], width: float) -> Points:
    """Return places in the row's order, near the wanted ones, without overlap, in the frame."""

    def pushed(widths: list[float], wanted: list[float]) -> list[float]:
        """Return places as far left as wanted, limited by the frame and the boxes before."""
        places, edge = [], -width / 2
        for wide, want in zip(widths, wanted, strict=True):
            places.append(max(want, edge + wide / 2))
            edge = places[-1] + wide / 2 + GAP
        return places

    right = pushed(widths[::-1], [-want for want in wanted[::-1]])[::-1]  # the same from the right
    return (np.array(pushed(widths, wanted)) - right) / 2


# Spread ---------------------------------------------------------------------------------


def _joined(graph: nx.DiGraph) -> nx.Graph:
    """Return the undirected graph with its parts joined by invisible edges, for one layout."""
    loose = graph.to_undirected()
    parts = sorted(nx.connected_components(loose), key=len, reverse=True)
    loose.add_edges_from((min(parts[0]), min(part)) for part in parts[1:])
    return loose


def _spread(graph: nx.DiGraph, sizes: Points, frame: Point, gap: float) -> Points:
    turned = _long_side_down(_least_stress(_joined(graph)), wide=frame[0] > frame[1])
    rooms = np.array(frame) - [110, max(sizes[:, 1])]
    at = np.stack([_evened(u) * room for u, room in zip(turned, rooms, strict=True)], 1).tolist()
    _push_apart(at, (sizes + gap).tolist(), frame)
    return np.array(at)


def _least_stress(graph: nx.Graph) -> Points:
    """Place points (n, 2) at distances near the path lengths by stress majorization, one at a time.

    The method is Gansner, Koren and North (2004), section 2.3, with weights 1/d². Sums are rounded
    once (``fsum``), so that every machine gives the same result, as a release's page requires.
    """
    names = range(len(graph))
    paths = nx.floyd_warshall_numpy(graph, names)
    # no weight between a node and itself
    weights = 1 / (paths + np.diag([np.inf] * len(names))) ** 2
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


def _long_side_down(points: Points, *, wide: bool) -> list[Points]:
    """Return both coordinates (n,), with the main axis along the frame's longer side."""
    x, y = (values - math.fsum(values) / len(values) for values in points.T)
    turn = math.atan2(2 * math.fsum(x * y), math.fsum(x * x - y * y)) / 2
    main = x * math.cos(turn) + y * math.sin(turn)
    other = y * math.cos(turn) - x * math.sin(turn)
    return [main, other] if wide else [other, main]


def _evened(values: Points) -> Points:
    """Scale values to [-1/2, 1/2], half way to equal distances, so that they fill the frame."""
    rank = values.argsort(kind="stable").argsort() / max(1, len(values) - 1)
    span = np.ptp(values) or 1.0
    return np.asarray(((values - values.min()) / span + rank) / 2 - 0.5)


def _push_apart(at: list[list[float]], sizes: list[list[float]], frame_size: Point) -> None:
    """Move overlapping boxes apart along the axis on which they overlap least."""
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
