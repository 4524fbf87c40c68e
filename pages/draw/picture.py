"""Still pictures: graphs, curves, a hundred people. All of them are SVG from here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.graphs.layout import NODE_HEIGHT, Point, box_width, flattest, frame, via
from engine.graphs.links import MARKS
from engine.summary import FINE, NOTHING
from pages.draw.links import Link
from pages.draw.svg import Picture, head, polygon, sheet, sign, tag, wire, words
from pages.shell import words as text
from pages.shell.palette import INKS, LOOKS, Look, price_ink

__all__ = ["Band", "Picture", "curve_picture", "graph_picture", "people_picture"]
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

_LEVELS = ("6 4", "2 2", "8 3 2 3")  # dashes of horizontal lines, so that they are told apart
_LEFT, _RIGHT, _BELOW, _ROW, _SAMPLE = 52.0, 14.0, 52.0, 22.0, 34.0


@dataclass(frozen=True, kw_only=True)
class Band:
    """One curve with a band around it, told apart by colour and dash."""

    name: str
    x: Sequence[float]
    low: Sequence[float]
    middle: Sequence[float]
    high: Sequence[float]
    style: int
    dash: str | None = None


@dataclass(frozen=True)
class _Axes:
    """Where values go: x logarithmic from ``low`` to ``high``, y from 0 to ``most``."""

    low: float
    high: float
    most: float
    size: tuple[float, float]
    top: float

    def at(self, x: float, y: float) -> Point:
        wide = self.size[0] - _LEFT - _RIGHT
        tall = self.size[1] - self.top - _BELOW
        share = math.log(x / self.low) / math.log(self.high / self.low)
        return _LEFT + share * wide, self.top + (1 - y / self.most) * tall


def curve_picture(
    bands: Sequence[Band],
    *,
    x_title: str,
    y_title: str,
    alt: str,
    here: tuple[float, float, str] | None = None,
    levels: Sequence[tuple[float, str]] = (),
    theme: str = "light",
    size: tuple[float, float] = (600, 370),
) -> Picture:
    """Curves over a logarithmic x; ``here`` is a named star, ``levels`` named horizontal lines."""
    look, inks = LOOKS[theme], INKS[theme]
    flat = {"stroke": look.font, "stroke_width": 1.3}
    entries = [(b.name, _stroke(inks[b.style], 2.4, b.dash), inks[b.style]) for b in bands] + [
        (name, {**flat, "stroke_dasharray": _LEVELS[k % len(_LEVELS)]}, look.font)
        for k, (_, name) in enumerate(levels)
    ]
    key, top = _legend(entries, here, size[0], look)
    highs = [max(b.high) for b in bands] + [height for height, _ in levels]
    ends = [x for b in bands for x in (b.x[0], b.x[-1])]
    axes = _Axes(min(ends), max(ends), 1.06 * max(1.0, *highs), size, top)
    body = key + _grid(axes, x_title, y_title, look)
    for band, (_, stroke, ink) in zip(bands, entries, strict=False):
        edge = [
            *zip(band.x, band.low, strict=True),
            *reversed([*zip(band.x, band.high, strict=True)]),
        ]
        body += tag("path", d=polygon([axes.at(*p) for p in edge]), fill=ink, fill_opacity=0.16)
        line = [axes.at(*p) for p in zip(band.x, band.middle, strict=True)]
        body += tag("path", d=polygon(line)[:-1], fill="none", **stroke)
    for (height, _), (_, stroke, _) in zip(levels, entries[len(bands) :], strict=True):
        (x1, y1), (x2, _) = axes.at(axes.low, height), axes.at(axes.high, height)
        body += tag("line", x1=x1, y1=y1, x2=x2, y2=y1, **stroke)
    if here is not None:
        body += tag("path", d=_star(axes.at(here[0], here[1])), fill=look.font)
    return sheet(body, (0, 0, *size), alt=alt, background=look.background)


def _stroke(ink: str, width: float, dash: str | None) -> dict[str, object]:
    return {"stroke": ink, "stroke_width": width, "stroke_dasharray": dash}


def _legend(
    entries: Sequence[tuple[str, Mapping[str, object], str]],
    here: tuple[float, float, str] | None,
    width: float,
    look: Look,
) -> tuple[str, float]:
    """Samples with their names in as many rows as they need; and where the rows end."""
    drawn, x, y = "", 6.0, 16.0
    names = [name for name, *_ in entries] + ([here[2]] if here else [])
    for k, name in enumerate(names):
        room = _SAMPLE + 8 + box_width(name)
        if x > 6 and x + room > width:
            x, y = 6.0, y + _ROW
        if k < len(entries):
            drawn += tag("line", x1=x, y1=y, x2=x + _SAMPLE, y2=y, **entries[k][1])
        else:
            drawn += tag("path", d=_star((x + _SAMPLE / 2, y)), fill=look.font)
        drawn += words(name, x + _SAMPLE + 8, y + 5, font_size=14, fill=look.font)
        x += room
    return drawn, y + _ROW


def _grid(axes: _Axes, x_title: str, y_title: str, look: Look) -> str:
    """The axes with their numbers and titles."""
    width, height = axes.size
    bottom = height - _BELOW
    small = {"font_size": 14, "fill": look.font}
    thin = {"stroke": look.border, "stroke_width": 1}
    drawn = ""
    for x in _decades(axes.low, axes.high):
        at, _ = axes.at(x, 0)
        drawn += tag("line", x1=at, y1=axes.top, x2=at, y2=bottom, stroke_opacity=0.35, **thin)
        drawn += words(text.number(x), at, bottom + 18, text_anchor="middle", **small)
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500) if axes.most / s <= 7)
    for y in range(0, int(axes.most) + 1, step):
        _, at = axes.at(axes.low, y)
        drawn += tag("line", x1=_LEFT, y1=at, x2=width - _RIGHT, y2=at, stroke_opacity=0.35, **thin)
        drawn += words(f"{y}", _LEFT - 8, at + 5, text_anchor="end", **small)
    drawn += tag("path", d=f"M{_LEFT} {axes.top}V{bottom}H{width - _RIGHT}", fill="none", **thin)
    middle = (axes.top + bottom) / 2
    drawn += words(
        x_title, (_LEFT + width - _RIGHT) / 2, height - 10, text_anchor="middle", **small
    )
    turned = f"rotate(-90 16 {middle:.1f})"
    return drawn + words(y_title, 16, middle, text_anchor="middle", transform=turned, **small)


def _decades(low: float, high: float) -> list[float]:
    """Round numbers of a logarithmic axis: powers of ten, and 2 and 5 between where few fit."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    tens = [10.0**p for p in powers if low <= 10.0**p <= high]
    finer = [d * 10.0**p for p in powers for d in (1, 2, 5) if low <= d * 10.0**p <= high]
    return tens if len(tens) >= 3 else finer


def _star(at: Point) -> str:
    turns = [(k * math.pi / 5, 10 if k % 2 == 0 else 4) for k in range(10)]
    return polygon([(at[0] + r * math.sin(a), at[1] - r * math.cos(a)) for a, r in turns])


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
