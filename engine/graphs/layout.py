"""Where the nodes of a graph go: in layers where they fit, else spread by path length.

Units are pixels of the frame at zoom 1, origin at its centre, y downwards.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations

import networkx as nx
import numpy as np

Point = tuple[float, float]
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
        wires, layers = _ordered_layers(graph)
        if all(_row_width(row) <= width for row in layers) and len(layers) * 50 <= height:
            return _straighten(wires, layers, width, height)
    return _spread(graph, width, height, gap)


def frame_height(nodes: int) -> int:
    """Height of the frame in pixels, by the number of nodes."""
    return int(min(1100, max(400, 300 + 10 * nodes)))


def frame_scale(nodes: int, *, wide: bool) -> float:
    """How many units a pixel of the frame stands for: large graphs are drawn smaller."""
    return scale_of(nodes, 900 if wide else 460, frame_height(nodes))


def scale_of(nodes: int, width: float, height: float) -> float:
    """By how much a frame has to grow for so many nodes to fit; 1 at least."""
    return max(1.0, math.sqrt(nodes * _NODE_AREA / (height * width)))


# What a drawing asks -----------------------------------------------------------------------


def frame(
    names: Sequence[str], positions: Mapping[str, Point], edge: float
) -> tuple[float, float, float, float]:
    """Left, right, top and bottom of a frame that holds every box, ``edge`` wider all around."""
    xs, ys = zip(*(positions[n] for n in names), strict=True)
    half, tall = max(map(box_width, names)) / 2 + edge, NODE_HEIGHT / 2 + edge
    return min(xs) - half, max(xs) + half, min(ys) - tall, max(ys) + tall


def other_boxes(a: str, b: str, positions: Mapping[str, Point]) -> np.ndarray:
    """The boxes of all nodes but a and b: shape (n, 3), middle and width of each."""
    others = [(*at, box_width(name)) for name, at in positions.items() if name not in (a, b)]
    return np.array(others).reshape(-1, 3)


_BOWS = (0.15, -0.15, 0.25, -0.25, 0.35, -0.35, 0.45, -0.45)  # of a curve, clockwise above 0


def flattest(a: str, b: str, positions: Mapping[str, Point]) -> float:
    """The bow of a line from a to b: 0 is straight, else the least that crosses fewest boxes."""
    boxes = other_boxes(a, b, positions)
    best, fewest = 0.0, hits(positions[a], positions[b], 0.0, boxes)
    for bow in _BOWS:
        if not fewest:
            break
        if (found := hits(positions[a], positions[b], bow, boxes)) < fewest:
            best, fewest = bow, found
    return best


def via(start: Point, end: Point, bow: float) -> Point:
    """The middle point of the quadratic curve, where vis-network puts it."""
    (ax, ay), (bx, by) = start, end
    angle = math.atan2(ay - by, bx - ax) + (bow * 0.5 + 0.5) * math.pi
    reach = (abs(bow) * 0.5 + 0.5) * math.hypot(bx - ax, by - ay)
    return ax + reach * math.sin(angle), ay + reach * math.cos(angle)


def hits(start: Point, end: Point, bow: float, boxes: np.ndarray) -> int:
    """How many boxes a curve touches."""
    (ax, ay), (bx, by) = start, end
    t, middle = _ALONG, via(start, end, bow)
    x = (1 - t) ** 2 * ax + 2 * t * (1 - t) * middle[0] + t**2 * bx
    y = (1 - t) ** 2 * ay + 2 * t * (1 - t) * middle[1] + t**2 * by
    near_x = np.abs(x[None] - boxes[:, :1]) < boxes[:, 2:] / 2 + 3
    near_y = np.abs(y[None] - boxes[:, 1:2]) < NODE_HEIGHT / 2 + 3
    return int((near_x & near_y).any(axis=1).sum())


# Layers ---------------------------------------------------------------------------------


def _ordered_layers(graph: nx.DiGraph) -> tuple[nx.DiGraph, list[list[Hashable]]]:
    """Layers from the top, ordered to cross few edges, and the edges between next layers.

    A tuple in a layer stands for an edge that passes through it.
    """
    level: dict[Hashable, int] = {}
    for k, row in enumerate(nx.topological_generations(graph)):
        level.update(dict.fromkeys(row, k))
    for node in reversed(list(nx.topological_sort(graph))):
        below = [level[child] for child in graph.successors(node)]
        if below and not graph.in_degree(node):
            level[node] = min(below) - 1
    wires = nx.DiGraph()
    wires.add_nodes_from(graph)
    for a, b in graph.edges:
        steps = [(a, b, k) for k in range(level[a] + 1, level[b])]
        level.update({step: step[2] for step in steps})
        nx.add_path(wires, [a, *steps, b])
    layers: list[list[Hashable]] = [[] for _ in range(max(level.values(), default=0) + 1)]
    for node in _by_component(wires):
        layers[level[node]].append(node)
    return wires, _fewest_crossings(wires, layers)


def _by_component(graph: nx.DiGraph) -> list[Hashable]:
    parts = sorted(nx.weakly_connected_components(graph), key=len, reverse=True)
    order = {node: k for k, node in enumerate(nx.lexicographical_topological_sort(graph, key=str))}
    return [node for part in parts for node in sorted(part, key=order.__getitem__)]


def _fewest_crossings(wires: nx.DiGraph, layers: list[list[Hashable]]) -> list[list[Hashable]]:
    """Sort every layer by the mean place of its neighbours, down and up; keep the best seen."""
    best, fewest = [list(row) for row in layers], _crossings(wires, layers)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        order = range(1, len(layers)) if down else range(len(layers) - 2, -1, -1)
        for k in order:
            fixed = {node: i for i, node in enumerate(layers[k - 1 if down else k + 1])}
            near = wires.predecessors if down else wires.successors
            mean = {n: _mean([fixed[m] for m in near(n)], i) for i, n in enumerate(layers[k])}
            layers[k].sort(key=mean.__getitem__)
        if (count := _crossings(wires, layers)) < fewest:
            best, fewest = [list(row) for row in layers], count
    return best


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _crossings(wires: nx.DiGraph, layers: list[list[Hashable]]) -> int:
    at = {node: i for row in layers for i, node in enumerate(row)}
    total = 0
    for row in layers:
        ends: list[int] = []
        for _, b in sorted((at[a], at[b]) for a in row for b in wires.successors(a)):
            place = bisect_right(ends, b)
            total += len(ends) - place
            ends.insert(place, b)
    return total


def _width(node: Hashable) -> float:
    return box_width(node) if isinstance(node, str) else 24.0


def _row_width(row: list[Hashable]) -> float:
    return sum(_width(node) + GAP for node in row)


def _straighten(
    wires: nx.DiGraph, layers: list[list[Hashable]], width: float, height: float
) -> dict[str, Point]:
    """Give every layer a height, and its nodes places near their neighbours' mean."""
    step = min(height / max(1, len(layers)), 130.0)
    x: dict[Hashable, float] = {}
    for row in layers:
        share = width / len(row)
        x.update({node: (k + 0.5) * share - width / 2 for k, node in enumerate(row)})
    for _ in range(12):
        for row in (*layers, *reversed(layers)):
            wanted = [_mean([x[m] for m in nx.all_neighbors(wires, n)], x[n]) for n in row]
            x.update(_packed(row, wanted, width))
    low, high = min(x.values()), max(x.values())
    stretch = min(3.0, max(1.0, 0.72 * width / (high - low))) if high > low else 1.0
    middle, top = (low + high) / 2, -step * (len(layers) - 1) / 2
    return {
        node: ((x[node] - middle) * stretch, top + k * step)
        for k, row in enumerate(layers)
        for node in row
        if isinstance(node, str)
    }


def _packed(row: list[Hashable], wanted: list[float], width: float) -> dict[Hashable, float]:
    """Places in the row's order, near those wanted, boxes apart, inside the frame."""
    right, left = [], []
    edge = -width / 2
    for node, want in zip(row, wanted, strict=True):
        right.append(max(want, edge + _width(node) / 2))
        edge = right[-1] + _width(node) / 2 + GAP
    edge = width / 2
    for node, want in zip(reversed(row), reversed(wanted), strict=True):
        left.append(min(want, edge - _width(node) / 2))
        edge = left[-1] - _width(node) / 2 - GAP
    middle = [(a + b) / 2 for a, b in zip(right, reversed(left), strict=True)]
    return dict(zip(row, middle, strict=True))


# Spread ---------------------------------------------------------------------------------


def _spread(graph: nx.DiGraph, width: float, height: float, gap: float) -> dict[str, Point]:
    loose = graph.to_undirected()
    parts = sorted(nx.connected_components(loose), key=len, reverse=True)
    # Invisible edges join the parts, so that one layout holds them all.
    loose.add_edges_from((min(parts[0]), min(part)) for part in parts[1:])
    names = list(graph)
    xs, ys = _long_side_down(_least_stress(loose, names), wide=width > height)
    at = [
        [x * (width - 110), y * (height - NODE_HEIGHT)]
        for x, y in zip(_evened(xs), _evened(ys), strict=True)
    ]
    sizes = [(box_width(name) + gap, NODE_HEIGHT + gap) for name in names]
    _push_apart(at, sizes, (width, height))
    return {name: (x, y) for name, (x, y) in zip(names, at, strict=True)}


def _least_stress(graph: nx.Graph, names: list[str]) -> list[list[float]]:
    """Points at distances near the path lengths, by stress majorization, one node at a time.

    Gansner, Koren and North (2004), section 2.3, weights 1/d². Plain floats in a fixed order: the
    same on every machine, as a release's page has to be.
    """
    paths = dict(nx.all_pairs_shortest_path_length(graph))
    turn = 2 * math.pi / len(names)
    at = [[len(names) / 4 * f(k * turn) for f in (math.cos, math.sin)] for k in range(len(names))]
    for _ in range(_SWEEPS_OF_STRESS):
        for i, name in enumerate(names):
            x, y = at[i]
            sums = [0.0, 0.0, 0.0]
            for j, other in enumerate(names):
                if i == j:
                    continue
                far, dx, dy = paths[name][other], x - at[j][0], y - at[j][1]
                stretch = far / math.sqrt(dx * dx + dy * dy or 1.0)
                weight = 1 / far**2
                sums[0] += weight * (at[j][0] + stretch * dx)
                sums[1] += weight * (at[j][1] + stretch * dy)
                sums[2] += weight
            at[i] = [sums[0] / sums[2], sums[1] / sums[2]]
    return at


def _long_side_down(points: list[list[float]], *, wide: bool) -> tuple[list[float], list[float]]:
    """Turn the points so that their main axis follows the frame's longer side."""
    mean = [sum(values) / len(points) for values in zip(*points, strict=True)]
    centred = [(x - mean[0], y - mean[1]) for x, y in points]
    xx, yy, xy = (sum(p[i] * p[j] for p in centred) for i, j in ((0, 0), (1, 1), (0, 1)))
    turn = math.atan2(2 * xy, xx - yy) / 2
    main = [x * math.cos(turn) + y * math.sin(turn) for x, y in centred]
    other = [y * math.cos(turn) - x * math.sin(turn) for x, y in centred]
    return (main, other) if wide else (other, main)


def _evened(values: Sequence[float]) -> list[float]:
    """Values brought to [-1/2, 1/2], half way to equal distances, so that the frame is filled."""
    low, high = min(values), max(values)
    order = sorted(range(len(values)), key=values.__getitem__)
    rank = {i: k / max(1, len(values) - 1) for k, i in enumerate(order)}
    span = (high - low) or 1.0
    return [((v - low) / span + rank[i]) / 2 - 0.5 for i, v in enumerate(values)]


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
