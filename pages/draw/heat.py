"""A heat map of shares."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from pages.shell.palette import heat_inks


def heat(
    table: pd.DataFrame, *, x_title: str, words: bool = True, height: int | None = None
) -> go.Figure:
    """A heat map of shares in [0, 1]: the table's rows from top to bottom, columns from the left.

    With ``words`` the share stands in each cell.
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
