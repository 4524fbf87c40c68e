"""Still pictures: graphs, curves, a hundred people. All of them are SVG from here."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from engine.graphs.layout import NODE_HEIGHT, Point, box_width, flattest, frame, via
from engine.graphs.links import MARKS
from engine.studies.figures import Panel, draw
from engine.summary import FINE, NOTHING
from pages.draw.links import Link
from pages.draw.svg import Picture, head, sheet, sign, tag, wire, words
from pages.shell import words as text
from pages.shell.palette import INKS, LOOKS, Look, price_ink

__all__ = ["Picture", "curve_picture", "graph_picture", "people_picture"]
_EDGE = 12.0  # around a graph


def graph_picture(
    names: Sequence[str],
    links: Sequence[Link],
    positions: Mapping[str, Point],
    *,
    alt: str,
    theme: str = "light",
) -> Picture:
    """The graph at the given positions, every label in its box; dashes as on the Run page."""
    left, right, top, bottom = frame(names, positions, _EDGE)
    body = _graph(names, links, positions, theme)
    view = (left, top, right - left, bottom - top)
    return sheet(body, view, alt=alt, background=LOOKS[theme].background)


def _graph(
    names: Sequence[str], links: Sequence[Link], positions: Mapping[str, Point], theme: str
) -> str:
    look = LOOKS[theme]
    lines = "".join(_line(link, positions, theme) for link in links)
    return lines + "".join(_node(name, positions[name], look) for name in names)


def _node(name: str, at: Point, look: Look) -> str:
    width, (x, y) = _wide(name), at
    box = tag(
        "rect",
        x=x - width / 2,
        y=y - NODE_HEIGHT / 2,
        width=width,
        height=NODE_HEIGHT,
        rx=8,
        fill=look.background,
        stroke=look.font,
        stroke_width=1.4,
    )
    label = {"text_anchor": "middle", "font_size": 13, "font_weight": 600, "fill": look.font}
    return box + words(name, x, y + 5, **label)


def _wide(name: str) -> float:
    """Width of a box, with room for the bold letters of any machine's font."""
    return box_width(name) + 8.0


def _line(link: Link, positions: Mapping[str, Point], theme: str) -> str:
    """A line that ends at the boxes; one that would pass through another box bends around it."""
    mark = MARKS[link.kind]
    ink = mark.ink(theme)
    width = float(mark.width if link.width is None else link.width)
    bend = via(positions[link.a], positions[link.b], flattest(link.a, link.b, positions))
    start, tip = _clipped(link.a, bend, positions), _clipped(link.b, bend, positions)
    angle = math.atan2(tip[1] - bend[1], tip[0] - bend[0])
    size = 8.0 + 1.7 * width
    # The line ends inside the head: a thick one would show beside its point.
    back = 0.6 * size if link.arrow else 0.0
    end = tip[0] - back * math.cos(angle), tip[1] - back * math.sin(angle)
    (ax, ay), (mx, my), (bx, by) = start, bend, end
    drawn = tag("title", text.safe(link.note)) if link.note else ""
    drawn += wire(f"M{ax:.1f} {ay:.1f}Q{mx:.1f} {my:.1f} {bx:.1f} {by:.1f}", mark, ink, width)
    if link.arrow:
        drawn += tag("path", d=head(tip, angle, size), fill=ink)
    if mark.marker:
        middle = (ax + 2 * mx + bx) / 4, (ay + 2 * my + by) / 4
        drawn += sign(mark.marker, middle, ink, 5.0 + width / 2)
    return tag("g", drawn, opacity=None if link.opacity == 1.0 else link.opacity)


def _clipped(name: str, towards: Point, positions: Mapping[str, Point]) -> Point:
    """Where a line that leaves towards a point leaves the box, with a little room."""
    x, y = positions[name]
    dx, dy = towards[0] - x, towards[1] - y
    across = (_wide(name) / 2 + 3) / abs(dx) if dx else math.inf
    down = (NODE_HEIGHT / 2 + 3) / abs(dy) if dy else math.inf
    share = min(across, down, 1.0)
    return x + share * dx, y + share * dy


# Curves -----------------------------------------------------------------------------------

_META = re.compile(r"<metadata>.*?</metadata>|<style.*?</style>", re.DOTALL)


def curve_picture(panel: Panel, *, alt: str) -> Picture:
    """A chart as files have it, on white, without what names an address or styles other parts."""
    drawn = draw([panel], kind="svg", width=5.6, across=1).decode()
    named = f'<svg role="img" aria-label="{text.safe(alt)}" '
    return Picture(_META.sub("", drawn[drawn.index("<svg") :]).replace("<svg ", named, 1), alt)


# A hundred people ---------------------------------------------------------------------------

_CELL = 22.0, 27.0


def people_picture(lit: int, level: str, *, alt: str, theme: str = "light") -> Picture:
    """A hundred figures, ten in a row: chance's fifty grey, those beyond in colour, the rest empty.

    ``level`` is how well the price holds; where it is nothing, all of them are red.
    """
    look, body = LOOKS[theme], ""
    beyond = INKS[theme][0] if level == FINE else price_ink(level, theme)
    for k in range(100):
        x, y = (k % 10 + 0.5) * _CELL[0], (k // 10) * _CELL[1]
        ink = look.border if k < 50 and level != NOTHING else beyond
        fill = ink if k < lit else "none"
        edge = ink if k < lit else look.border
        body += tag("circle", cx=x, cy=y + 6.5, r=4.0, fill=fill, stroke=edge)
        shape = f"M{x - 6:.1f} {y + 24:.1f}v-6q0 -5.5 6 -5.5t6 5.5v6z"
        body += tag("path", d=shape, fill=fill, stroke=edge)
    return sheet(body, (0, 0, 10 * _CELL[0], 10 * _CELL[1]), alt=alt)
