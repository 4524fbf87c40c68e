"""Charts. Colours and fonts come from Streamlit's theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from pages.components.state import theme

INK = {"light": "#0072b2", "dark": "#56b4e9"}
GROUP_INKS = {
    "light": ("#8592a8", "#3a86b7", "#b34700"),
    "dark": ("#a9b4c6", "#56b4e9", "#e69f00"),
}
MOST_WORDS = 16  # more bars than these have no room for their values
CONFIG: Mapping[str, Any] = {"displayModeBar": False, "responsive": True}


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
            x=[str(v) for v in x],
            y=list(y),
            text=list(words) if len(words) <= MOST_WORDS else None,
            textposition="outside",
            cliponaxis=False,
            hoverinfo="skip",
            marker_color=INK[theme()],
            width=0.55 if len(x) > 2 else 0.3,
        )
    )
    highest = top if top is not None else 1.15 * max([*y, 1e-300])
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 22, "b": 8},
        showlegend=False,
        xaxis={"title": x_title, "type": "category"},
        yaxis={"title": y_title, "range": [0, highest], "rangemode": "tozero"},
    )
    return figure


def grouped(
    x: Sequence[Any],
    series: Mapping[str, Sequence[float]],
    *,
    x_title: str,
    y_title: str,
    height: int = 260,
) -> go.Figure:
    """Bars side by side, one colour and one fill pattern a series."""
    figure = go.Figure()
    inks, patterns = GROUP_INKS[theme()], ("/", "", "")
    for k, (name, values) in enumerate(series.items()):
        solid = patterns[k % 3] == ""
        figure.add_bar(
            name=name,
            x=[str(v) for v in x],
            y=list(values),
            marker={
                "color": inks[k % 3],
                "pattern": {"shape": patterns[k % 3], "solidity": 0.35} if not solid else None,
            },
            hovertemplate=f"{name}<br>{x_title} %{{x}}: %{{y:.3g}}<extra></extra>",
        )
    figure.update_layout(
        height=height,
        barmode="group",
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        xaxis={"title": x_title, "type": "category"},
        yaxis={"title": y_title, "rangemode": "tozero"},
    )
    return figure


def show(figure: go.Figure, *, key: str, alt: str) -> None:
    """Draw a figure over the full width, without the tool bar."""
    st.plotly_chart(figure, width="stretch", config=dict(CONFIG), key=key, alt=alt)
