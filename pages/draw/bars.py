"""Bars, and a heat map. Fonts come from Streamlit's theme."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape  # Plotly reads tags in a text
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from pages.draw.curves import UNDER
from pages.shell.palette import heat_inks, ink

MOST_PLAIN = 7  # columns of a heat map whose numbers fit side by side on a phone
MOST_WORDS = 16  # more bars than these have no room for their values


def bars(
    x: Sequence[Any],
    y: Sequence[float],
    *,
    x_title: str,
    y_title: str,
    words: Sequence[str],
    height: int = 240,
    top: float | None = None,
) -> go.Figure:
    """Vertical bars with their values written on them; ``top`` fixes the axis' upper end."""
    figure = go.Figure(
        go.Bar(
            x=[escape(str(v)) for v in x],
            y=list(y),
            text=list(words) if len(words) <= MOST_WORDS else None,
            textposition="outside",
            cliponaxis=False,
            hoverinfo="skip",
            marker_color=ink(0),
            width=0.55 if len(x) > 2 else 0.3,
        )
    )
    highest = top if top is not None else 1.15 * max([*y, 1e-300])
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 22, "b": 8},
        showlegend=False,
        xaxis={"title": escape(x_title), "type": "category"},
        yaxis={"title": y_title, "range": [0, highest], "rangemode": "tozero"},
    )
    return figure


@dataclass(frozen=True)
class Group:
    """One of several series of bars: its colour, and a fill pattern that tells it apart without."""

    name: str
    values: Sequence[float]
    colour: str
    fill: str = ""


def grouped(
    x: Sequence[Any],
    groups: Sequence[Group],
    *,
    x_title: str,
    y_title: str,
    height: int = 260,
    below: bool = False,
) -> go.Figure:
    """Bars side by side; the legend stands above them, or ``below``. NaN is no bar."""
    figure = go.Figure()
    for group in groups:
        figure.add_bar(
            name=group.name,
            x=[str(v) for v in x],
            y=[None if math.isnan(v) else float(v) for v in group.values],
            marker={
                "color": group.colour,
                "pattern": {"shape": group.fill, "solidity": 0.35},
            },
            hovertemplate=f"{x_title} %{{x}}, {group.name}: %{{y:.4g}}<extra></extra>",
        )
    above = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
    figure.update_layout(
        height=height,
        barmode="group",
        margin={"l": 8, "r": 8, "t": 12 if below else 8, "b": 8},
        legend=UNDER if below else above,
        xaxis={"title": escape(x_title), "type": "category"},
        yaxis={"title": y_title, "rangemode": "tozero"},
    )
    return figure


# A heat map of shares --------------------------------------------------------------------


def heat(
    table: pd.DataFrame, *, x_title: str, words: bool = True, height: int | None = None
) -> go.Figure:
    """A heat map of shares in [0, 1]: the table's rows from top to bottom, columns from the left.

    With ``words`` the share stands in each cell, in percent but without the sign, and needs no
    scale of colours beside it: on a phone both would leave nothing that can be read.
    """
    low, high = heat_inks()
    values = table.to_numpy(dtype=float)
    figure = go.Figure(
        go.Heatmap(
            z=values,
            x=[str(c) for c in table.columns],
            y=[str(i) for i in table.index],
            zmin=0,
            zmax=1,
            colorscale=[[0, low], [1, high]],
            text=[[f"{100 * v:.0f}" for v in row] for row in values] if words else None,
            texttemplate="%{text}" if words else None,
            # Left to itself plotly makes letters as small as a cell wants them.
            textfont={"size": 12} if table.shape[1] <= MOST_PLAIN else None,
            showscale=not words,
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
