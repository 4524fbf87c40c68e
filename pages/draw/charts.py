"""Charts: curves, one line per series with its own colour, dash and marker; bars; put on a page.

A figure is a plain mapping with Plotly's ``data`` and ``layout``, which Plotly checks once per
content. Plotly's classes check every assignment, which takes five times as long. Fonts come from
Streamlit's theme.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape  # Plotly reads tags in a text
from typing import Any, cast

import streamlit as st

from engine.request import Request
from pages.draw import ink, palette, see_through

Figure = dict[str, Any]
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
MARKERS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "triangle-down", "star")
# At the figure's lower edge. Placed relative to the plot, a tall legend would cover the axis'
# title.
UNDER: Mapping[str, Any] = {
    "orientation": "h",
    "x": 0,
    "y": 0,
    "yref": "container",
    "yanchor": "bottom",
    "font": {"size": 13},
}
CONFIG: Mapping[str, Any] = {"displayModeBar": False, "responsive": True}
LOW = 180  # pixels of each chart in a row of three
MOST_WORDS = 16  # with more bars there is no room for their values


def figure(
    drawn: Figure, *, key: str, alt: str, points: bool = False
) -> Sequence[Mapping[str, Any]]:
    """Draw a figure over the full width, with its name for screen readers, without the tool bar.

    With ``points`` they can be clicked; returns the clicked one as the browser reports it.
    """
    muted = {"color": palette().muted}
    layout = {"font": muted, **drawn["layout"]}
    for name in layout.keys() & {"xaxis", "yaxis", "yaxis2"}:
        title = {**layout[name].get("title", {}), "font": muted}
        layout[name] = {**layout[name], "tickfont": muted, "title": title}
    shared: dict[str, Any] = {"width": "stretch", "config": dict(CONFIG), "key": key, "alt": alt}
    made = _checked(json.dumps({"data": drawn["data"], "layout": layout}))
    if not points:
        st.plotly_chart(made, **shared)
        return ()
    state = st.plotly_chart(made, on_select="rerun", selection_mode="points", **shared)
    return cast(Sequence[Mapping[str, Any]], state.selection.points)


@lru_cache(maxsize=64)
def _checked(drawn: str) -> Any:
    """Return Plotly's figure of a mapping in JSON; the check takes longer than the drawing."""
    from plotly.graph_objects import Figure  # loaded with the first chart

    return Figure(json.loads(drawn))


def titled(
    title: str, drawn: Figure | str, *, key: str = "", alt: str = "", help: str | None = None
) -> None:
    """Draw a figure below its title, or the words that say why there is none."""
    st.markdown(f"**{title}**", help=help)
    if isinstance(drawn, str):
        st.caption(drawn)
    else:
        figure(drawn, key=key, alt=alt)


def layout(height: int, **more: Any) -> dict[str, Any]:
    """Return the layout that every chart has: its height, narrow margins, its legend below."""
    margin = {"l": 8, "r": 8, "t": 12, "b": 8}
    return {"height": height, "margin": margin, "legend": dict(UNDER), **more}


def upright(x: float, **line: Any) -> dict[str, Any]:
    """Return a line at ``x`` from the lower to the upper edge: one of a layout's ``shapes``."""
    ends = {"x0": x, "x1": x, "y0": 0, "y1": 1}
    return {"type": "line", "xref": "x", "yref": "y domain", "line": line, **ends}


# Curves ---------------------------------------------------------------------------------------


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
    second: bool = False  # on the axis at the right


def banded(name: str, points: Iterable[tuple[float, ...]], style: int) -> Curve:
    """Return a line with its band through points (x, low, middle, high)."""
    x, low, middle, high = map(list, zip(*sorted(points), strict=True))
    return Curve(name=name, x=x, y=middle, low=low, high=high, style=style)


@dataclass(frozen=True)
class Axis:
    """An axis: its title, whether it is logarithmic, its ends if they are fixed."""

    title: str
    log: bool = False
    ends: tuple[float, float] | None = None


def curves(
    lines: Sequence[Curve],
    x: Axis,
    y: Axis,
    *,
    second: Axis | None = None,
    height: int = 400,
    here: tuple[float, float, str] | None = None,
) -> Figure:
    """Lines over their bands; ``here`` is a star with a name in the legend."""
    drawn = [
        {
            "type": "scatter",
            "x": [*line.x, *reversed(line.x)],
            "y": [*line.high, *reversed(line.low)],
            "fill": "toself",
            "fillcolor": see_through(ink(line.style), 0.16),
            "line": {"width": 0},
            "mode": "lines",
            "hoverinfo": "skip",
            "showlegend": False,
            "name": f"{line.name}, band",
        }
        for line in lines
        if line.low is not None and line.high is not None
    ]
    drawn += map(_trace, lines)
    if here is not None:
        at_x, at_y, name = here
        star = {"symbol": "star", "size": 17, "color": palette().font, "line": {"width": 0}}
        spot = Curve(name=name, x=[at_x], y=[at_y], mode="markers")
        drawn.append(_trace(spot) | {"marker": star})
    axes: dict[str, Any] = {"xaxis": _axis(x), "yaxis": _axis(y)}
    if second is not None:
        axes["yaxis2"] = _axis(second) | {"overlaying": "y", "side": "right", "showgrid": False}
    return {"data": drawn, "layout": layout(height, barmode="overlay", **axes)}


def _axis(axis: Axis) -> dict[str, Any]:
    drawn: dict[str, Any] = {"title": {"text": escape(axis.title)}, "automargin": True}
    ends = None if axis.ends is None else list(axis.ends)
    if axis.log:
        few = axis.ends is not None and axis.ends[1] <= 10 * axis.ends[0]
        drawn |= {"type": "log", "dtick": "D2" if few else 1, "tickformat": "~g"}
        # A point at an end is drawn whole, and the end has its number.
        ends = ends and [math.log10(ends[0]) - 0.1, math.log10(ends[1]) + 0.1]
    return drawn if ends is None else drawn | {"range": ends}


def _trace(line: Curve) -> dict[str, Any]:
    colour = ink(line.style)
    return {
        "type": "scatter",
        "x": list(line.x),
        "y": list(line.y),
        "name": line.name,
        "mode": line.mode,
        "cliponaxis": False,  # a point on an axis is drawn whole
        "line": {"color": colour, "width": 2.5, "dash": DASHES[line.style % len(DASHES)]},
        "marker": {"symbol": MARKERS[line.style % len(MARKERS)], "size": 8, "color": colour},
        "yaxis": "y2" if line.second else "y",
        "hovertemplate": f"{line.name}<br>%{{x:.4g}}: %{{y:.4g}}<extra></extra>",
    }


# Bars -----------------------------------------------------------------------------------------


def bars(
    x: Sequence[Any],
    y: Sequence[float],
    *,
    x_title: str,
    y_title: str,
    words: Sequence[str],
    height: int = 240,
    top: float | None = None,
) -> Figure:
    """Vertical bars with their values written on them; ``top`` fixes the axis' upper end."""
    drawn = {
        "type": "bar",
        "x": [escape(str(v)) for v in x],
        "y": list(y),
        "text": list(words) if len(words) <= MOST_WORDS else None,
        "textposition": "outside",
        "cliponaxis": False,
        "hoverinfo": "skip",
        "marker": {"color": ink(0)},
        "width": 0.55 if len(x) > 2 else 0.3,
    }
    axes = _axes(x_title, y_title, top if top is not None else 1.15 * max([*y, 1e-300]))
    return {"data": [drawn], "layout": layout(height, showlegend=False, **axes)}


def _axes(x_title: str, y_title: str, top: float | None = None) -> dict[str, Any]:
    ends = {} if top is None else {"range": [0, top]}
    return {
        "xaxis": {"title": {"text": escape(x_title)}, "type": "category"},
        "yaxis": {"title": {"text": y_title}, "rangemode": "tozero", **ends},
    }


@dataclass(frozen=True)
class Group:
    """One of several series of bars: its colour, and a fill pattern that distinguishes it without
    colour."""

    name: str
    values: Sequence[float]
    colour: str
    fill: str = ""


def grouped(
    x: Sequence[Any], groups: Sequence[Group], *, x_title: str, y_title: str, height: int = 260
) -> Figure:
    """Bars side by side. NaN has no bar."""
    drawn = [
        {
            "type": "bar",
            "name": group.name,
            "x": [str(v) for v in x],
            "y": [None if math.isnan(v) else float(v) for v in group.values],
            "marker": {"color": group.colour, "pattern": {"shape": group.fill, "solidity": 0.35}},
            "hovertemplate": f"{x_title} %{{x}}, {group.name}: %{{y:.4g}}<extra></extra>",
        }
        for group in groups
    ]
    return {"data": drawn, "layout": layout(height, barmode="group", **_axes(x_title, y_title))}


# From a cell to the run behind it -------------------------------------------------------------


def heat_of_runs(
    cells: Mapping[str, Any], layout: Mapping[str, Any], runs: Sequence[Request], **named: str
) -> None:
    """Draw a heat map whose cells, row by row, are clicked to open their runs.

    A heat map cannot be clicked, so each cell has an invisible mark, and the one next to the
    pointer answers.
    """
    x, y = cells["x"], cells["y"]
    same = {"marker": {"opacity": 1}}  # a click opens another page, so no mark needs to fade
    marks = {
        "type": "scatter",
        "x": x * len(y),
        "y": [name for name in y for _ in x],
        "mode": "markers",
        "showlegend": False,
        "marker": {"size": 20, "color": "rgba(0,0,0,0)"},
        "text": [word for row in cells["text"] for word in row],
        "hovertemplate": "%{x}, %{y}: %{text}<extra></extra>",
        "selected": same,
        "unselected": same,
    }
    # With selectable points Streamlit would set the drag mode to "pan".
    layout = {"hoverdistance": -1, "dragmode": "zoom", **layout}
    cells = {"type": "heatmap", "hoverinfo": "skip", **cells}
    for point in figure({"data": [cells, marks], "layout": layout}, points=True, **named):
        place = point.get("point_index")
        if isinstance(place, int) and 0 <= place < len(runs):
            st.switch_page("pages/run/page.py", query_params=runs[place].to_words())
