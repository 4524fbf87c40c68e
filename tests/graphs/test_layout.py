"""Places of nodes: in the frame, none over another, causes above effects."""

from itertools import combinations, pairwise

import networkx as nx
import pytest

from engine.data.networks import NETWORKS, load_network
from engine.graphs.layout import GAP, NODE_HEIGHT, box_width, frame_height, place, scale_of

# Wider graphs than Alarm's do not fit without overlaps.
DRAWN = [name for name in NETWORKS if len(load_network(name).names) <= 40]


@pytest.mark.parametrize("name", DRAWN)
def test_no_two_nodes_overlap_and_all_lie_in_the_frame(name):
    graph = load_network(name).dag()
    scale = scale_of(len(graph), 460, frame_height(len(graph)))
    width, height = 460 * scale, (frame_height(len(graph)) - 20) * scale
    at = place(graph, width, height)
    assert set(at) == set(graph)
    for a, b in combinations(graph, 2):
        apart_x = abs(at[a][0] - at[b][0]) >= (box_width(a) + box_width(b)) / 2 - 1
        assert apart_x or abs(at[a][1] - at[b][1]) >= NODE_HEIGHT - 1, (a, b)
    assert all(abs(x) <= width / 2 + 1 and abs(y) <= height / 2 + 1 for x, y in at.values())


def test_small_graphs_stand_in_layers():
    """Causes above effects, boxes of a row apart, and a node in the middle below its two causes."""
    names = ["one", "two", "three", "four", "five"]
    graph = nx.DiGraph([*(("root", name) for name in names), ("five", "last")])
    at = place(graph, sum(box_width(name) + GAP for name in names), 400)  # no wider than the row
    assert all(at[cause][1] < at[effect][1] for cause, effect in graph.edges)
    row = sorted((at[name][0], box_width(name)) for name in names)
    for (a, wide), (b, other) in pairwise(row):
        assert b - a >= (wide + other) / 2 + GAP - 1e-9
    at = place(nx.DiGraph([("one", "both"), ("two", "both")]), 600, 400)
    assert at["both"][0] == pytest.approx((at["one"][0] + at["two"][0]) / 2)


@pytest.mark.parametrize("graph", [nx.DiGraph(), nx.DiGraph([("a", "b"), ("b", "a")])])
def test_a_graph_without_edges_or_with_a_cycle_can_be_laid_out(graph):
    graph.add_nodes_from("abc")
    assert set(place(graph, 460, 380)) == set("abc")
