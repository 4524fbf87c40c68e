"""From a point of a chart to the run behind it: by a click."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
import streamlit as st

from pages.draw.show import figure
from pages.shell.settings import Settings

_HINT = "Click a point to open its run."


def figure_of_runs(
    drawn: go.Figure, runs: Sequence[Settings], *, key: str, alt: str, hint: str = _HINT
) -> None:
    """Draw a figure; its points' ``customdata`` are places in ``runs``; a click opens that run."""
    drawn.layout.dragmode = "zoom"  # with a choice of points Streamlit would make it "pan"
    drawn.update_traces(
        selector={"type": "scatter"},
        # One that is chosen leads away at once: the others need not fade.
        unselected={"marker": {"opacity": 1}},
        selected={"marker": {"opacity": 1}},
    )
    with st.container(gap="xxsmall"):
        chosen = figure(drawn, key=key, alt=alt, points=True)
        st.caption(hint)
    for point in chosen:
        place = point.get("customdata")
        if isinstance(place, list):
            place = place[0] if place else None
        if isinstance(place, int) and 0 <= place < len(runs):
            visit(runs[place])


def over_cells(drawn: go.Figure, words: Sequence[Sequence[str]]) -> None:
    """Let a heat map's cells be clicked, each under its place, row by row; ``words`` name them.

    A heat map itself cannot be: over each cell lies a mark that nobody sees, and the nearest one
    answers wherever the hand is.
    """
    cells = drawn.data[0]
    x, y = list(cells.x), list(cells.y)
    cells.hovertemplate, cells.hoverinfo = None, "skip"
    drawn.add_scatter(
        x=x * len(y),
        y=[name for name in y for _ in x],
        mode="markers",
        showlegend=False,
        marker={"size": 20, "color": "rgba(0,0,0,0)"},
        customdata=list(range(len(x) * len(y))),
        text=[word for row in words for word in row],
        hovertemplate="%{x}, %{y}: %{text}<extra></extra>",
    )
    drawn.layout.hoverdistance = -1


def visit(settings: Settings) -> None:
    """Go to the Run page with these settings."""
    st.switch_page("pages/run/page.py", query_params=settings.to_query())
