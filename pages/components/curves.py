"""Curves: one line a series, told apart by colour, dash and marker; bands, markers, heat maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from engine.registry import ALGORITHMS
from pages.components.state import theme

# Okabe and Ito's colours as in the theme; a band needs its colour by name.
INKS = {
    "light": ("#0072b2", "#b34700", "#00785a", "#a8467f", "#8a6a00", "#3a86b7", "#4d5666"),
    "dark": ("#56b4e9", "#e69f00", "#22b58a", "#dd8fbb", "#f0e442", "#e8743b", "#a9b4c6"),
}
PLAIN = 100  # styles from here on are grey: no privacy, or a mere reference
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
MARKERS = ("circle", "square", "diamond", "triangle-up", "x", "cross", "triangle-down", "star")
_SHADES = {"light": ("#ffffff", "#0072b2"), "dark": ("#1a2230", "#2f8fc6")}
_FONT = {"light": "#1a2230", "dark": "#e9edf4"}


@dataclass(frozen=True, kw_only=True)
class Line:
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


@dataclass(frozen=True)
class Axis:
    """An axis: its title, whether it is logarithmic, and its ends if they are fixed."""

    title: str
    log: bool = False
    ends: tuple[float, float] | None = None


def style_of(key: str) -> int:
    """An algorithm's place in the palette, the same on every page."""
    private = [k for k, a in ALGORITHMS.items() if a.private]
    if key in private:
        return private.index(key)
    return PLAIN + list(ALGORITHMS).index(key) if key in ALGORITHMS else PLAIN


def ink(style: int) -> str:
    """The style's colour in the theme that is shown."""
    *palette, grey = INKS[theme()]
    return grey if style >= PLAIN else palette[style % len(palette)]


def see_through(colour: str, share: float) -> str:
    """A hex colour with an opacity, as Plotly takes it."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share})"


def curves(
    lines: Sequence[Line],
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
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 12, "b": 8},
        legend={"orientation": "h", "y": -0.2, "yanchor": "top", "x": 0, "font": {"size": 13}},
        barmode="overlay",
        **axes,
    )
    return figure


def _axis(axis: Axis) -> dict[str, Any]:
    drawn: dict[str, Any] = {"title": {"text": axis.title}, "automargin": True}
    if axis.log:
        drawn |= {"type": "log", "dtick": "D2" if _decades(axis) <= 1 else 1, "tickformat": "~g"}
    if axis.ends is not None:
        drawn["range"] = [float(np.log10(e)) if axis.log else e for e in axis.ends]
    return drawn


def _decades(axis: Axis) -> float:
    if axis.ends is None:
        return 3.0
    return float(np.log10(axis.ends[1] / axis.ends[0]))


def trace(line: Line) -> go.Scatter:
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
        hovertemplate=f"{line.name}<br>%{{x:.4g}}: %{{y:.4g}}<extra></extra>",
    )


def _band(line: Line) -> go.Scatter:
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
    colour = _FONT[theme()]
    return go.Scatter(
        x=[x],
        y=[y],
        name=name,
        mode="markers",
        marker={"symbol": "star", "size": 17, "color": colour, "line": {"width": 0}},
        hovertemplate=f"{name}<br>%{{x:.4g}}: %{{y:.4g}}<extra></extra>",
    )


def vertical(figure: go.Figure, x: float, words: str, *, style: int, level: float = 1.0) -> None:
    """A named upright line; ``level`` says how high its name stands, so that names keep apart."""
    figure.add_vline(x=x, line={"color": ink(style), "width": 2, "dash": "dash"})
    figure.add_annotation(
        x=x,
        y=level,
        yref="paper",
        text=words,
        showarrow=False,
        xanchor="left",
        xshift=4,
        font={"color": ink(style), "size": 13},
        bgcolor=see_through(_SHADES[theme()][0], 0.75),
    )


def heat(
    table: pd.DataFrame, *, x_title: str, words: bool = True, height: int | None = None
) -> go.Figure:
    """A heat map of shares in [0, 1]: the table's rows from top to bottom, columns from the left.

    With ``words`` the share stands in each cell.
    """
    values = table.to_numpy(dtype=float)
    figure = go.Figure(
        go.Heatmap(
            z=values,
            x=[str(c) for c in table.columns],
            y=[str(i) for i in table.index],
            zmin=0,
            zmax=1,
            colorscale=[[0, _SHADES[theme()][0]], [1, _SHADES[theme()][1]]],
            text=[[f"{v:.0%}" for v in row] for row in values] if words else None,
            texttemplate="%{text}" if words else None,
            colorbar={"title": {"text": "Share"}, "tickformat": ".0%", "thickness": 12},
            xgap=2,
            ygap=2,
            hovertemplate="%{y}<br>" + x_title + " %{x}: %{z:.0%}<extra></extra>",
        )
    )
    figure.update_layout(
        height=height or max(240, 110 + 24 * len(table)),
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        xaxis={"title": x_title, "type": "category", "showgrid": False},
        yaxis={"autorange": "reversed", "type": "category", "automargin": True, "showgrid": False},
    )
    return figure


def table(frame: pd.DataFrame, *, alt: str, height: int | None = None, digits: int = 3) -> None:
    """The accessible form of a chart: a table with its numbers rounded to ``digits``."""
    shapes = {
        name: st.column_config.NumberColumn(name, format=f"%.{digits}g")
        for name in frame.columns
        if pd.api.types.is_float_dtype(frame[name])
    }
    st.dataframe(
        frame,
        width="stretch",
        height=height or min(38 + 35 * len(frame), 400),
        hide_index=True,
        column_config=shapes,
        placeholder="–",
        alt=alt,
    )
