"""A graph's still picture: what stands at its links is read, and says what tables say."""

import math
import re

import pytest

from engine.graphs.edges import Edge, svg
from engine.percent import probability


def _chain(d):
    """A cycle with a hub: too many links for layers, and short ones among them."""
    names = [f"Variable {i}" for i in range(d)]
    ring = [Edge(names[i], names[(i + 1) % d], 0.998, 0.7, "directed") for i in range(d)]
    return ring + [Edge(names[0], names[i], 0.44, math.nan, "undirected") for i in range(2, d, 5)]


def _boxes(drawn):
    number = r'="([-\d.]+)"'
    rects = re.findall(rf"<rect x{number} y{number} width{number} height{number}", drawn)
    nodes = [(x + w / 2, y + h / 2, w / 2, h / 2) for x, y, w, h in (map(float, r) for r in rects)]
    texts = re.findall(
        rf'<text x{number} y{number} text-anchor="middle" font-size="11"[^>]*>([^<]+)<', drawn
    )
    return nodes, [(float(x), float(y) - 4, 2.8 * len(s), 4.5) for x, y, s in texts]


def _apart(a, b):
    return abs(a[0] - b[0]) >= a[2] + b[2] or abs(a[1] - b[1]) >= a[3] + b[3]


@pytest.mark.parametrize("d", [2, 5, 12, 37])
def test_no_box_touches_another_and_no_number_a_box(d):
    edges = _chain(d)
    nodes, labels = _boxes(svg([f"Variable {i}" for i in range(d)], edges, "alt"))
    assert (len(nodes), len(labels)) == (d, len(edges))
    assert all(_apart(a, b) for k, a in enumerate(nodes) for b in nodes[:k])
    assert all(_apart(label, node) for label in labels for node in nodes)


def test_the_picture_says_of_a_link_what_the_table_says():
    said = svg(("a", "b"), [Edge("a", "b", 0.998, math.nan, "directed")], "alt")
    assert re.findall(r'font-size="11"[^>]*>([^<]+)<', said) == [probability(0.998)] == ["99.8 %"]
    assert "&gt; 99.9 %" in svg(("a", "b"), [Edge("a", "b", 1.0, math.nan, "directed")], "alt")
