"""The small picture of a graph: what stands beside its links is read, and says what tables say."""

from __future__ import annotations

import math
import re

import pytest

from engine.graphs.edges import Edge, _beside, svg
from engine.percent import probability


@pytest.mark.parametrize("turn", range(16))
def test_words_beside_a_line_are_clear_of_it(turn: int) -> None:
    angle = math.tau * turn / 16
    dx, dy = 100 * math.cos(angle), 100 * math.sin(angle)
    x, y = _beside(0.0, 0.0, dx, dy)
    corners = [(x + a, y + b) for a in (0.0, 40.0) for b in (-9.0, 1.0)]  # six characters of 11 px
    sides = [(dx * v - dy * u) / 100 for u, v in corners]
    assert min(map(abs, sides)) > 1.5
    assert len({side > 0 for side in sides}) == 1  # all on one side of the line


def test_the_picture_says_of_a_link_what_the_table_says() -> None:
    said = svg(("a", "b"), [Edge("a", "b", 0.998, math.nan, "directed")], "alt")
    assert re.findall(r'font-size="11">([^<]+)<', said) == [probability(0.998)] == ["99.8 %"]
    assert "&gt; 99.9 %" in svg(("a", "b"), [Edge("a", "b", 1.0, math.nan, "directed")], "alt")
