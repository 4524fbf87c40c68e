"""Graphs and curves as still pictures, SVG and PNG, drawn by matplotlib. No script in them.

A person's names are text here, whatever they hold: mathtext is off, and SVG text is escaped.
"""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from threading import RLock
from typing import Any

from engine.graphs.layout import NODE_HEIGHT, Point, box_width, frame, hits, other_boxes
from pages.draw.links import Link
from pages.shell import words as text
from pages.shell.palette import INKS, LOOKS, STROKES, stroke_ink

DPI = 100  # a unit of the layout is a pixel of the picture
_POINT = 72 / DPI
_LEVELS = ((6, 4), (2, 2), (8, 3, 2, 3))  # dashes of horizontal lines, so that they are told apart
_EDGE = 12.0  # pixels around a graph
_LOCK = RLock()  # matplotlib's rules belong to the whole process, and pages run in threads
_RULES: Mapping[str, Any] = {
    "svg.fonttype": "none",  # text stays text
    "font.family": "sans-serif",
    "text.parse_math": False,
    "axes.grid": True,
    "axes.axisbelow": True,
}


@contextmanager
def _drawing(theme: str) -> Iterator[Any]:
    """matplotlib's rules while a picture is drawn or written, in the theme's colours."""
    from matplotlib import rc_context  # here, so that other pages do not wait for it

    look = LOOKS[theme]
    inks = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), look.font)
    paper = dict.fromkeys(("figure.facecolor", "axes.facecolor"), look.background)
    lines = dict.fromkeys(("axes.edgecolor", "grid.color"), look.border)
    rules: Any = {**_RULES, **inks, **paper, **lines, "grid.alpha": 0.35}
    with _LOCK, rc_context(rules):
        yield look


@dataclass(frozen=True, eq=False)
class Picture:
    """One picture as SVG text, and as PNG when asked for; ``alt`` says what is on it."""

    svg: str
    alt: str
    figure: Any

    @cached_property
    def png(self) -> bytes:
        """PNG, twice as fine as the picture's units."""
        out = io.BytesIO()
        with _LOCK:
            self.figure.savefig(out, format="png", dpi=2 * DPI)
        return out.getvalue()

    @property
    def image(self) -> str:
        """An <img> that holds the SVG: Streamlit's pages drop inline SVG."""
        coded = base64.b64encode(self.svg.encode()).decode()
        return f'<img alt="{text.safe(self.alt)}" src="data:image/svg+xml;base64,{coded}">'


def graph_picture(
    names: Sequence[str],
    links: Sequence[Link],
    positions: Mapping[str, Point],
    *,
    alt: str,
    theme: str = "light",
) -> Picture:
    """The graph at the given positions, every label in its box; dashes as on the Run page."""
    from matplotlib.figure import Figure

    with _drawing(theme) as look:
        left, right, top, bottom = frame(names, positions, _EDGE)
        figure = Figure(figsize=((right - left) / DPI, (bottom - top) / DPI), dpi=DPI)
        _graph(figure.add_axes((0, 0, 1, 1)), names, links, positions, look, theme)
        return _written(figure, alt)


def sheet_picture(
    names: Sequence[str],
    graphs: Sequence[tuple[str, Sequence[Link]]],
    positions: Mapping[str, Point],
    *,
    columns: int,
    alt: str,
    theme: str = "light",
) -> Picture:
    """Several titled graphs on the same nodes and positions, row by row."""
    from matplotlib.figure import Figure

    title = 26.0
    with _drawing(theme) as look:
        left, right, top, bottom = frame(names, positions, _EDGE)
        wide, tall = right - left, bottom - top + title
        rows = math.ceil(len(graphs) / columns)
        size = wide * columns, tall * rows
        figure = Figure(figsize=(size[0] / DPI, size[1] / DPI), dpi=DPI)
        for k, (words, links) in enumerate(graphs):
            x, y = (k % columns) * wide, size[1] - (k // columns + 1) * tall
            corner = (x / size[0], y / size[1], wide / size[0], (tall - title) / size[1])
            axes = figure.add_axes(corner)
            axes.set_title(words, fontsize=14 * _POINT, pad=4)
            _graph(axes, names, links, positions, look, theme)
        return _written(figure, alt)


def _graph(
    axes: Any,
    names: Sequence[str],
    links: Sequence[Link],
    positions: Mapping[str, Point],
    look: Any,
    theme: str,
) -> None:
    left, right, top, bottom = frame(names, positions, _EDGE)
    axes.set(xlim=(left, right), ylim=(bottom, top))
    axes.set_axis_off()
    for link in links:
        _edge(axes, link, positions, theme)
    for name in names:
        _node(axes, name, positions[name], look)


def _node(axes: Any, name: str, at: Point, look: Any) -> None:
    from matplotlib.patches import FancyBboxPatch

    width, (x, y) = box_width(name), at
    corner = (x - width / 2, y - NODE_HEIGHT / 2)
    box = FancyBboxPatch(
        corner,
        width,
        NODE_HEIGHT,
        boxstyle="round,pad=0,rounding_size=5",
        facecolor=look.node,
        edgecolor=look.border,
        linewidth=1,
        zorder=2,
    )
    axes.add_patch(box)
    label = " ".join(name.split())
    axes.text(x, y, label, ha="center", va="center", fontsize=14 * _POINT, zorder=3)


def _edge(axes: Any, link: Link, positions: Mapping[str, Point], theme: str) -> None:
    """A line that ends at the boxes; one that would pass through another box bends around it."""
    from matplotlib.patches import FancyArrowPatch

    stroke, colour = STROKES[link.kind], stroke_ink(link.kind, theme)
    start, end = _clipped(link.a, link.b, positions), _clipped(link.b, link.a, positions)
    others = other_boxes(link.a, link.b, positions)
    bend = 0.25 if hits(positions[link.a], positions[link.b], 0.0, others) else 0.0
    width = stroke.width if link.width is None else link.width
    dash: Any = (0, [d / width for d in stroke.dash]) if stroke.dash else "solid"
    arrow = FancyArrowPatch(
        start,
        end,
        arrowstyle="-|>,head_length=8,head_width=4" if link.arrow else "-",
        mutation_scale=1,
        shrinkA=0,
        shrinkB=0,
        connectionstyle=f"arc3,rad={bend}",
        color=colour,
        linewidth=width * _POINT,
        linestyle=dash,
        alpha=link.opacity,
        zorder=1,
    )
    axes.add_patch(arrow)
    if stroke.mark:
        at = _middle(start, end, bend)
        sign = {"circle": "o", "diamond": "D"}[stroke.mark]
        axes.plot(*at, sign, color=colour, ms=5.5, zorder=1.5)


def _middle(start: Point, end: Point, bend: float) -> Point:
    """The middle of matplotlib's "arc3" from start to end, y pointing down."""
    (ax, ay), (bx, by) = start, end
    return (ax + bx) / 2 - bend * (by - ay) / 2, (ay + by) / 2 + bend * (bx - ax) / 2


def _clipped(a: str, b: str, positions: Mapping[str, Point]) -> Point:
    """Where the line from a to b leaves a's box, with a little room."""
    (ax, ay), (bx, by) = positions[a], positions[b]
    dx, dy = bx - ax, by - ay
    across = (box_width(a) / 2 + 3) / abs(dx) if dx else float("inf")
    down = (NODE_HEIGHT / 2 + 3) / abs(dy) if dy else float("inf")
    share = min(across, down, 0.5)
    return ax + share * dx, ay + share * dy


@dataclass(frozen=True, kw_only=True)
class Band:
    """One curve with a band around it, told apart by colour and dash."""

    name: str
    x: Sequence[float]
    low: Sequence[float]
    middle: Sequence[float]
    high: Sequence[float]
    style: int
    dash: str = "solid"


def curve_picture(
    bands: Sequence[Band],
    *,
    x_title: str,
    y_title: str,
    alt: str,
    here: tuple[float, float, str] | None = None,
    levels: Sequence[tuple[float, str]] = (),
    theme: str = "light",
    size: tuple[float, float] = (740, 360),
) -> Picture:
    """Curves over a logarithmic x; ``here`` is a named star, ``levels`` named horizontal lines."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    with _drawing(theme) as look:
        figure = Figure(figsize=(size[0] / DPI, size[1] / DPI), dpi=DPI, layout="constrained")
        axes = figure.add_subplot()
        for band in bands:
            colour = INKS[theme][band.style]
            axes.plot(band.x, band.middle, ls=band.dash, color=colour, lw=2.4, label=band.name)
            axes.fill_between(band.x, band.low, band.high, color=colour, alpha=0.16, linewidth=0)
        for k, (height, name) in enumerate(levels):
            dash = (0, _LEVELS[k % len(_LEVELS)])
            axes.axhline(height, color=look.font, lw=1.3, ls=dash, label=name)
        if here is not None:
            axes.plot(
                here[0], here[1], "*", ms=16, color=look.font, label=here[2], zorder=5, ls="none"
            )
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(lambda v, _: text.number(float(v)))
        axes.xaxis.set_minor_formatter(lambda v, _: "")
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))  # links are whole
        axes.set_ylim(bottom=0)
        axes.set_xlabel(x_title, fontsize=15 * _POINT)
        axes.set_ylabel(y_title, fontsize=15 * _POINT)
        axes.tick_params(labelsize=14 * _POINT)
        figure.legend(loc="outside upper left", ncols=4, frameon=False, fontsize=14 * _POINT)
        return _written(figure, alt)


def _written(figure: Any, alt: str) -> Picture:
    from matplotlib import rc_context

    out = io.StringIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    # Two pictures on one page must not share the names of their parts.
    with rc_context({"svg.hashsalt": alt}):
        figure.savefig(out, format="svg", metadata=nothing)
    drawn = out.getvalue()
    drawn = drawn[drawn.index("<svg") :]  # without the document type, which names an address
    named = f'<svg role="img" aria-label="{text.safe(alt)}" '
    return Picture(drawn.replace("<svg ", named, 1), alt, figure)
