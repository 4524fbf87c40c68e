"""The one static picture of a graph: SVG text for notebooks, releases, reports and files.

The SVG has no script and loads no external file; every name is escaped as text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from engine.graphs.layout import Curve, Point, along
from engine.graphs.links import MARKS, LinkClass, Mark
from engine.graphs.view import Box, Edge, GraphView

FONT = "'Source Sans 3', 'Source Sans Pro', 'DejaVu Sans', system-ui, sans-serif"
_LETTER, _TALL = 3.1, 6.0  # half of a label's width per letter, and half of its height
_PLACES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78)  # positions of a label along its line, best first


class Svg(str):
    """SVG text that a notebook shows as a picture."""

    def _repr_svg_(self) -> str:
        return str(self)


@dataclass(frozen=True)
class Inks:
    """Colours of a picture: those of a theme, or of the surrounding text if there is no theme."""

    theme: str | None = None
    font: str = "currentColor"
    paper: str | None = None

    def of(self, mark: Mark) -> str:
        """Return the colour of a class of edges."""
        return self.font if self.theme is None else mark.ink(self.theme)


def tag(name: str, content: str = "", /, **attributes: Any) -> str:
    """Write an element; underscores in attribute names become hyphens, and None omits one."""
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{said}>{content}</{name}>" if content else f"<{name}{said}/>"


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0")
    return escape(str(value))


def sheet(
    body: str, view: tuple[float, float, float, float], *, alt: str, paper: str | None = None
) -> Svg:
    """Wrap a body with extent ``view`` (left, top, width and height) as a picture."""
    left, top, width, height = map(float, view)
    whole = {"width": width, "height": height}
    back = tag("rect", x=left, y=top, **whole, fill=paper) if paper else ""
    return Svg(
        tag(
            "svg",
            back + body,
            xmlns="http://www.w3.org/2000/svg",
            role="img",
            aria_label=alt,
            viewBox=" ".join(map(_value, (left, top, width, height))),
            **whole,
            style="max-width:100%;height:auto",
            font_family=FONT,
        )
    )


def stroke(kind: LinkClass, theme: str) -> Svg:
    """Draw a piece of a class's line with its sign, as in a legend."""
    body = _path("M0 7H42", MARKS[kind], Inks(theme)) + _sign((21, 7), MARKS[kind], Inks(theme))
    return sheet(body, (0, 0, 42, 14), alt="")


def graph_svg(shown: GraphView, *, alt: str, inks: Inks | None = None) -> Svg:
    """Draw a graph: every label in its box, every line in the style of its class."""
    inks = inks or Inks()
    points = [
        p for edge in shown.edges for p in along(edge.curve, np.linspace(0, 1, 21))[0].tolist()
    ]
    body = "".join(_line(edge, inks) for edge in shown.edges)
    sides = [(*b.at, b.size[0] / 2 + 2, b.size[1] / 2 + 2, 100.0) for b in shown.boxes.values()]
    body += _labels(shown.edges, [*sides, *((x, y, 0.0, 0.0, 1.0) for x, y in points)], inks)
    body += "".join(_node(box, inks) for box in shown.boxes.values())
    return sheet(body, shown.frame, alt=alt, paper=inks.paper)


def people_svg(
    lit: int, low: str, beyond: str, edge: str, *, first: int = 50, across: int = 10, alt: str
) -> Svg:
    """Draw 100 icons, ``across`` per row, of which ``lit`` are filled: the ``first`` (chance's
    fifty) in one colour and those beyond in another."""
    wide, tall, body = 22.0, 27.0, ""
    for k in range(100):
        x, y = (k % across + 0.5) * wide, (k // across) * tall
        ink = low if k < first else beyond
        inks = {"fill": ink if k < lit else "none", "stroke": ink if k < lit else edge}
        body += tag("circle", cx=x, cy=y + 6.5, r=4.0, **inks)
        body += tag("path", d=f"M{x - 6:.1f} {y + 24:.1f}v-6q0 -5.5 6 -5.5t6 5.5v6z", **inks)
    return sheet(body, (0, 0, across * wide, 100 / across * tall), alt=alt)


def _node(box: Box, inks: Inks) -> str:
    (x, y), (width, height) = box.at, box.size
    drawn = tag(
        "rect",
        **{"x": x - width / 2, "y": y - height / 2, "width": width, "height": height},
        **{"rx": 8, "fill": inks.paper or "none", "stroke": inks.font, "stroke_width": 1.4},
    )
    words = {"text_anchor": "middle", "font_size": 13, "font_weight": 600, "fill": inks.font}
    for k, line in enumerate(box.lines):
        down = y + 5.0 + 17.0 * (k - (len(box.lines) - 1) / 2)
        drawn += tag("text", escape(line), x=x, y=down, **words)
    return drawn if box.lines == (box.name,) else tag("g", tag("title", escape(box.name)) + drawn)


def _line(edge: Edge, inks: Inks) -> str:
    link, ((ax, ay), (mx, my), tip) = edge.link, edge.curve
    mark = MARKS[link.kind]
    width = float(mark.width if link.width is None else link.width)
    angle = math.atan2(tip[1] - my, tip[0] - mx)
    size = 8.0 + 1.7 * width
    # The line ends inside the arrowhead, because a thick line would be visible at its tip.
    back = 0.6 * size if link.arrow else 0.0
    bx, by = tip[0] - back * math.cos(angle), tip[1] - back * math.sin(angle)
    drawn = tag("title", escape(link.note)) if link.note else ""
    drawn += _path(f"M{ax:.1f} {ay:.1f}Q{mx:.1f} {my:.1f} {bx:.1f} {by:.1f}", mark, inks, width)
    if link.arrow:
        sides = [
            (tip[0] - size * math.cos(angle + t), tip[1] - size * math.sin(angle + t))
            for t in (0.42, -0.42)
        ]
        drawn += tag("path", d=_polygon([tip, *sides]), fill=inks.of(mark))
    middle = (ax + 2 * mx + bx) / 4, (ay + 2 * my + by) / 4
    drawn += _sign(middle, mark, inks, 5.0 + width / 2)
    return tag("g", drawn, opacity=None if link.opacity == 1.0 else f"{link.opacity:.2f}")


def _path(d: str, mark: Mark, inks: Inks, width: float | None = None) -> str:
    dash = " ".join(map(str, mark.dash)) or None
    thick = float(mark.width if width is None else width)
    ink = inks.of(mark)
    return tag("path", d=d, fill="none", stroke=ink, stroke_width=thick, stroke_dasharray=dash)


def _sign(at: Point, mark: Mark, inks: Inks, size: float = 6.0) -> str:
    """Draw the sign of a class on its line, if it has one."""
    (x, y), far = at, 1.3 * size
    if mark.marker is None:
        return ""
    if mark.marker == "circle":
        return tag("circle", cx=float(x), cy=float(y), r=size, fill=inks.of(mark))
    corners = [(x, y - far), (x + far, y), (x, y + far), (x - far, y)]
    return tag("path", d=_polygon(corners), fill=inks.of(mark))


def _polygon(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + "Z"


def _labels(edges: Sequence[Edge], taken: list[tuple[float, ...]], inks: Inks) -> str:
    """Place each label where it overlaps least, if possible with no box and no label.

    ``taken`` has the middle, half sizes and weight of each obstacle: boxes, points of lines, and
    labels, which the function adds.
    """
    drawn = ""
    for link, curve in ((edge.link, edge.curve) for edge in edges if edge.link.label):
        half = np.array([_LETTER * len(link.label) + 1, _TALL])
        spots, there = _beside(curve, half), np.array(taken)
        near = (abs(spots[:, None] - there[:, :2]) < there[:, 2:4] + half).all(axis=2)
        x, y = spots[np.argmin(near @ there[:, 4])].tolist()
        taken.append((x, y, *half.tolist(), 100.0))
        words = {"text_anchor": "middle", "font_size": 11, "fill": inks.font}
        drawn += tag("text", escape(link.label), x=x, y=y + 4.0, **words)
    return drawn


def _beside(curve: Curve, half: np.ndarray) -> np.ndarray:
    """Return positions (n, 2) of a label with these half sizes on both sides of its line."""
    at, way = along(curve, _PLACES)
    length = np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-9)
    across = np.column_stack([way[:, 1], -way[:, 0]]) / length[:, None]
    clear = (abs(across) * half).sum(axis=1)
    away = np.array([side * (clear + room) for room in (3, 12) for side in (1, -1)]).T
    return np.asarray(at[:, None] + away[:, :, None] * across[:, None]).reshape(-1, 2)
