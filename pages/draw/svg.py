"""A still picture as SVG text, its elements, and the pieces that all of them share. No script.

A person's names are text, whatever they hold.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.graphs.layout import Point
from engine.graphs.links import Mark
from pages.draw.typeset import png
from pages.shell import words as text

FONT = "'Source Sans 3', 'Source Sans Pro', 'DejaVu Sans', sans-serif"


@dataclass(frozen=True)
class Picture:
    """One picture as SVG text, and as PNG when asked for; ``alt`` says what is on it."""

    svg: str
    alt: str

    @property
    def png(self) -> bytes:
        """PNG, two pixels for each unit of the picture."""
        return png(self.svg)

    @property
    def image(self) -> str:
        """An <img> that holds the SVG: Streamlit's pages drop inline SVG."""
        coded = base64.b64encode(self.svg.encode()).decode()
        return f'<img alt="{text.safe(self.alt)}" src="data:image/svg+xml;base64,{coded}">'


def tag(name: str, content: str = "", /, **attributes: Any) -> str:
    """An element; underscores in attributes' names are hyphens, and None leaves one out."""
    said = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{said}>{content}</{name}>" if content else f"<{name}{said}/>"


def _value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    return text.safe(str(value))


def words(said: str, x: float, y: float, **attributes: Any) -> str:
    """A line of text."""
    plain = text.safe(text.one_line(said))
    return tag("text", plain, x=float(x), y=float(y), **attributes)


def sheet(
    body: str, view: tuple[float, float, float, float], *, alt: str, background: str | None = None
) -> Picture:
    """The picture of a body that lies in ``view``: left, top, width and height."""
    left, top, width, height = map(float, view)
    paper = {"x": left, "y": top, "width": width, "height": height, "fill": background}
    drawn = (tag("rect", **paper) if background else "") + body
    whole = tag(
        "svg",
        drawn,
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        aria_label=alt,
        viewBox=" ".join(map(_value, (left, top, width, height))),
        width=width,
        height=height,
        font_family=FONT,
    )
    return Picture(whole, alt)


def wire(d: str, mark: Mark, ink: str, width: float | None = None) -> str:
    """A path in a class's stroke."""
    dash = " ".join(map(str, mark.dash)) or None
    thick = float(mark.width if width is None else width)
    return tag("path", d=d, fill="none", stroke=ink, stroke_width=thick, stroke_dasharray=dash)


def sign(mark: str, at: Point, ink: str, size: float = 6.0) -> str:
    """The sign of a class on its line: "circle" or "diamond"."""
    x, y = at
    if mark == "circle":
        return tag("circle", cx=float(x), cy=float(y), r=size, fill=ink)
    far = 1.3 * size
    return tag(
        "path", d=polygon([(x, y - far), (x + far, y), (x, y + far), (x - far, y)]), fill=ink
    )


def polygon(points: Sequence[Point]) -> str:
    """A closed path."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + "Z"


def head(tip: Point, angle: float, size: float) -> str:
    """An arrowhead, a path whose point is at ``tip``, flying at an angle."""

    def corner(turn: float) -> Point:
        return tip[0] - size * math.cos(angle + turn), tip[1] - size * math.sin(angle + turn)

    return polygon([tip, corner(0.42), corner(-0.42)])
