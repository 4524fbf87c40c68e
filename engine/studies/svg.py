"""Line charts as self-contained SVG text: panels, log axes, bands, dashes, one legend."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555")
DASHES = ("", "6 3", "2 3", "8 3 2 3")

_WIDTH, _HEIGHT = 300, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 10, 26, 38
_LEGEND, _TITLE = 24, 30


@dataclass(frozen=True)
class Series:
    """One line; ``low`` and ``high`` make a band. ``marks`` draws points without a line."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str
    dash: str = ""
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    marks: bool = False


@dataclass(frozen=True)
class Panel:
    """One chart. ``names`` labels x = 0, 1, ...; otherwise ticks are numbers."""

    title: str
    series: Sequence[Series]
    x_label: str = ""
    y_label: str = ""
    x_log: bool = True
    y_log: bool = False
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    names: Sequence[str] = field(default=())


def chart(panels: Sequence[Panel], title: str, columns: int = 4) -> str:
    """An SVG document of the panels in rows, with one legend for all of them."""
    columns = max(1, min(columns, len(panels)))
    rows = math.ceil(len(panels) / columns)
    legend = {s.label: s for p in panels for s in p.series if _drawable(s)}
    keys, height = _legend(list(legend.values()), columns * _WIDTH)
    top = _TITLE + height
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{columns * _WIDTH}" '
        f'height="{top + rows * _HEIGHT}" viewBox="0 0 {columns * _WIDTH} {top + rows * _HEIGHT}" '
        'font-family="sans-serif" font-size="11">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="10" y="20" font-size="15">{escape(title)}</text>',
        f'<g transform="translate(10 {_TITLE})">{keys}</g>',
    ]
    for i, panel in enumerate(panels):
        x, y = i % columns * _WIDTH, top + i // columns * _HEIGHT
        parts.append(f'<g transform="translate({x} {y})">{_panel(panel)}</g>')
    return "\n".join([*parts, "</svg>\n"])


def _legend(series: Sequence[Series], width: int) -> tuple[str, int]:
    parts, x, y = [], 0, 8
    for s in series:
        room = 44 + 6.5 * len(s.label)
        if x and x + room > width - 20:
            x, y = 0, y + 18
        parts.append(_mark(x + 12, y, s.colour) if s.marks else _line(x, y, x + 24, y, s))
        parts.append(f'<text x="{x + 30}" y="{y + 4}">{escape(s.label)}</text>')
        x += int(room)
    return "".join(parts), y - 8 + _LEGEND


def _drawable(s: Series) -> bool:
    return any(map(math.isfinite, s.x))


def _panel(panel: Panel) -> str:
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    lines = [s for s in panel.series if _drawable(s)]
    x_ends = panel.x_range or _ends([v for s in lines for v in s.x], panel.x_log)
    values = [v for s in lines for v in (*s.y, *s.low, *s.high)]
    y_ends = panel.y_range or _padded(_ends(values, panel.y_log), panel.y_log)
    if panel.names:
        x_ends = (-0.5, len(panel.names) - 0.5)
    at_x = _scale(x_ends, (_LEFT, right), panel.x_log and not panel.names)
    at_y = _scale(y_ends, (bottom, _TOP), panel.y_log)
    parts = [
        f'<text x="{_LEFT}" y="{_TOP - 8}" font-size="12" font-weight="bold">'
        f"{escape(panel.title)}</text>",
        *_axes(panel, at_x, at_y, x_ends, y_ends),
    ]
    for s in lines:
        parts.append(_drawn(s, at_x, at_y, x_ends, y_ends))
    return "".join(parts)


def _ends(values: Sequence[float], log: bool) -> tuple[float, float]:
    usable = [v for v in values if math.isfinite(v) and (v > 0 or not log)]
    if not usable:
        return (0.1, 1.0)
    low, high = min(usable), max(usable)
    if low == high:
        return (low / 2, high * 2) if log else (low - 0.5, high + 0.5)
    return low, high


def _padded(ends: tuple[float, float], log: bool) -> tuple[float, float]:
    """A little room, so that no mark sits on the frame."""
    low, high = ends
    if log:
        room = (high / low) ** 0.06
        return low / room, high * room
    return low - 0.06 * (high - low), high + 0.06 * (high - low)


def _scale(
    ends: tuple[float, float], pixels: tuple[float, float], log: bool
) -> Callable[[float], float]:
    def place(value: float) -> float:
        return math.log(value) if log else value

    low, high = map(place, ends)
    return lambda v: pixels[0] + (place(v) - low) / (high - low) * (pixels[1] - pixels[0])


def _ticks(ends: tuple[float, float], log: bool) -> list[float]:
    low, high = ends
    if not log:
        step = 10 ** math.floor(math.log10((high - low) / 2))
        step *= 1 if (high - low) / step <= 6 else 2 if (high - low) / step <= 12 else 5
        first = math.ceil(low / step - 1e-9)
        return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    every = max(1, (last - first) // 5 + 1)
    return [10.0**k for k in range(first, last + 1, every)] or [low, high]


def _axes(
    panel: Panel,
    at_x: Callable[[float], float],
    at_y: Callable[[float], float],
    x_ends: tuple[float, float],
    y_ends: tuple[float, float],
) -> list[str]:
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    parts = []
    for v in _ticks(y_ends, panel.y_log):
        y = at_y(v)
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{right}" stroke="#ddd"/>')
        parts.append(f'<text x="{_LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{v:.4g}</text>')
    if panel.names:
        ticks = [(at_x(i), escape(name)) for i, name in enumerate(panel.names)]
    else:
        ticks = [(at_x(v), f"{v:.4g}") for v in _ticks(x_ends, panel.x_log)]
    for x, label in ticks:
        parts.append(f'<path d="M{x:.1f} {bottom}v4" stroke="#333"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 15}" text-anchor="middle">{label}</text>')
    middle, height = (_LEFT + right) / 2, (_TOP + bottom) / 2
    parts += [
        f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="#333"/>',
        f'<text x="{middle}" y="{bottom + 30}" text-anchor="middle">{escape(panel.x_label)}</text>',
        f'<text transform="translate(12 {height}) rotate(-90)" text-anchor="middle">'
        f"{escape(panel.y_label)}</text>",
    ]
    return parts


def _drawn(
    s: Series,
    at_x: Callable[[float], float],
    at_y: Callable[[float], float],
    x_ends: tuple[float, float],
    y_ends: tuple[float, float],
) -> str:
    def clip(y: float) -> float:
        return at_y(min(max(y, y_ends[0]), y_ends[1]))

    keep = [
        i
        for i, (x, y) in enumerate(zip(s.x, s.y, strict=True))
        if math.isfinite(x) and math.isfinite(y) and x_ends[0] <= x <= x_ends[1]
    ]
    keep.sort(key=lambda i: s.x[i])
    points = [(at_x(s.x[i]), clip(s.y[i])) for i in keep]
    if s.marks:
        return "".join(_mark(x, y, s.colour) for x, y in points)
    out = ""
    if s.low and points:
        there = " ".join(f"{at_x(s.x[i]):.1f},{clip(s.high[i]):.1f}" for i in keep)
        back = " ".join(f"{at_x(s.x[i]):.1f},{clip(s.low[i]):.1f}" for i in reversed(keep))
        out = f'<polygon points="{there} {back}" fill="{s.colour}" fill-opacity="0.15"/>'
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return out + (
        f'<polyline points="{path}" fill="none" stroke="{s.colour}" stroke-width="1.8" '
        f'stroke-dasharray="{s.dash}"/>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, s: Series) -> str:
    return (
        f'<path d="M{x1} {y1}L{x2} {y2}" stroke="{s.colour}" stroke-width="2" '
        f'stroke-dasharray="{s.dash}"/>'
    )


def _mark(x: float, y: float, colour: str) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}" fill-opacity="0.85"/>'
