"""Bars. Fonts come from Streamlit's theme."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape  # Plotly reads tags in a text
from typing import Any

import plotly.graph_objects as go

from pages.draw.curves import layout
from pages.shell.words import ink

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
    axes = _axes(x_title, y_title, range=[0, highest])
    return figure.update_layout(layout(height, showlegend=False, **axes))


def _axes(x_title: str, y_title: str, **more: Any) -> dict[str, Any]:
    return {
        "xaxis": {"title": escape(x_title), "type": "category"},
        "yaxis": {"title": y_title, "rangemode": "tozero", **more},
    }


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
            marker={"color": group.colour, "pattern": {"shape": group.fill, "solidity": 0.35}},
            hovertemplate=f"{x_title} %{{x}}, {group.name}: %{{y:.4g}}<extra></extra>",
        )
    above = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
    figure.update_layout(layout(height, barmode="group", **_axes(x_title, y_title)))
    return figure if below else figure.update_layout(legend=above)
