"""Curves: one line per series, with its own colour, dash and marker; bands, markers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape  # Plotly reads tags in a text
from typing import Any

import plotly.graph_objects as go

from pages.shell.words import font_ink, ink, see_through

DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
# At the figure's lower edge: measured from the plot, a tall legend comes to lie on the axis' title.
UNDER: Mapping[str, Any] = {
    "orientation": "h",
    "x": 0,
    "y": 0,
    "yref": "container",
    "yanchor": "bottom",
    "font": {"size": 13},
}
MARKERS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "triangle-down", "star")


@dataclass(frozen=True, kw_only=True)
class Curve:
    """One series; ``low`` and ``high`` are a band around it; ``style`` fixes its look."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] | None = None
    high: Sequence[float] | None = None
    style: int = 0
    mode: str = "lines+markers"
    fill: bool = False
    second: bool = False  # on the axis at the right
    opens: Sequence[int] | None = None  # which run each point opens (pages.draw.opening)


@dataclass(frozen=True)
class Axis:
    """An axis: its title, whether it is logarithmic, its ends if they are fixed."""

    title: str
    log: bool = False
    ends: tuple[float, float] | None = None


def layout(height: int, **more: Any) -> dict[str, Any]:
    """What every chart has: its height, narrow margins, its legend below."""
    margin = {"l": 8, "r": 8, "t": 12, "b": 8}
    return {"height": height, "margin": margin, "legend": UNDER, **more}


def curves(
    lines: Sequence[Curve],
    x: Axis,
    y: Axis,
    *,
    second: Axis | None = None,
    height: int = 400,
    here: tuple[float, float, str] | None = None,
) -> go.Figure:
    """Lines with their bands; ``here`` is a star with a name in the legend."""
    figure = go.Figure()
    for line in lines:
        if line.low is not None and line.high is not None:
            figure.add_trace(_band(line))
    for line in lines:
        figure.add_trace(trace(line))
    if here is not None:
        figure.add_trace(_star(*here))
    axes: dict[str, Any] = {"xaxis": _axis(x), "yaxis": _axis(y)}
    if second is not None:
        axes["yaxis2"] = _axis(second) | {"overlaying": "y", "side": "right", "showgrid": False}
    return figure.update_layout(layout(height, barmode="overlay", **axes))


def _axis(axis: Axis) -> dict[str, Any]:
    drawn: dict[str, Any] = {"title": {"text": escape(axis.title)}, "automargin": True}
    ends = None if axis.ends is None else list(axis.ends)
    if axis.log:
        few = axis.ends is not None and axis.ends[1] <= 10 * axis.ends[0]
        drawn |= {"type": "log", "dtick": "D2" if few else 1, "tickformat": "~g"}
        ends = ends and [math.log10(end) for end in ends]
    return drawn if ends is None else drawn | {"range": ends}


def trace(line: Curve) -> go.Scatter:
    """The line as Plotly draws it."""
    colour = ink(line.style)
    return go.Scatter(
        x=list(line.x),
        y=list(line.y),
        name=line.name,
        mode=line.mode,
        line={"color": colour, "width": 2.5, "dash": DASHES[line.style % len(DASHES)]},
        marker={"symbol": MARKERS[line.style % len(MARKERS)], "size": 8, "color": colour},
        fill="tozeroy" if line.fill else None,
        fillcolor=see_through(colour, 0.18) if line.fill else None,
        yaxis="y2" if line.second else "y",
        customdata=None if line.opens is None else list(line.opens),
        hovertemplate=f"{line.name}<br>%{{x:.4g}}: %{{y:.4g}}<extra></extra>",
    )


def _band(line: Curve) -> go.Scatter:
    assert line.low is not None
    assert line.high is not None
    return go.Scatter(
        x=[*line.x, *reversed(line.x)],
        y=[*line.high, *reversed(line.low)],
        fill="toself",
        fillcolor=see_through(ink(line.style), 0.16),
        line={"width": 0},
        mode="lines",
        hoverinfo="skip",
        showlegend=False,
        name=f"{line.name}, band",
    )


def _star(x: float, y: float, name: str) -> go.Scatter:
    colour = font_ink()
    return go.Scatter(
        x=[x],
        y=[y],
        name=name,
        mode="markers",
        marker={"symbol": "star", "size": 17, "color": colour, "line": {"width": 0}},
        hovertemplate=f"{name}<br>%{{x:.4g}}: %{{y:.4g}}<extra></extra>",
    )
