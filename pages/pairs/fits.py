"""The pair with both fitted curves, and what the fits leave against their inputs."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from engine import Dataset
from engine.teaching.pairwise import Picture
from pages.draw import show
from pages.draw.curves import Axis, Line, curves
from pages.shell.palette import ink, see_through

Values = NDArray[np.float64]
FORWARD, BACKWARD = 0, 1  # styles
_ROOM = 0.04  # of the range, on either side: more than half a point at any size of the chart


def fits_view(data: Dataset, found: Picture) -> None:
    """Scatter with curves at the left, residuals of both directions at the right."""
    x, y = data.names
    (low_x, high_x), (low_y, high_y) = data.bounds or ((-1.0, 1.0), (-1.0, 1.0))

    def unscaled(values: Values, low: float, high: float) -> Values:
        return (low + high) / 2 + values * (high - low) / 2

    left, right = st.columns([4, 5], gap="medium")
    with left:
        st.markdown("**Both regressions**")
        grid_x, grid_y = unscaled(found.grid, low_x, high_x), unscaled(found.grid, low_y, high_y)
        lines = [
            Line(
                name=f"{y} fitted on {x}",
                x=list(grid_x),
                y=list(unscaled(found.forward, low_y, high_y)),
                style=FORWARD,
                mode="lines",
            ),
            Line(
                name=f"{x} fitted on {y}",
                x=list(unscaled(found.backward, low_x, high_x)),
                y=list(grid_y),
                style=BACKWARD,
                mode="lines",
            ),
        ]
        points = (unscaled(found.x, low_x, high_x), unscaled(found.y, low_y, high_y))
        ends = [_with_room(p) for p in points]
        figure = curves(lines, Axis(x, ends=ends[0]), Axis(y, ends=ends[1]), height=380)
        figure.add_trace(_points(points[0], points[1], 6, "Test half"))
        figure.data = (figure.data[-1], *figure.data[:-1])
        show.figure(figure, key="pairs-fits", alt=f"{x} and {y} with both fitted curves")
    with right:
        st.markdown("**What each fit leaves, against its input**")
        one, two = st.columns(2, gap="small")
        for column, cause, effect, a, b, style in (
            (one, x, y, unscaled(found.x, low_x, high_x), found.of_y * (high_y - low_y) / 2, 0),
            (two, y, x, unscaled(found.y, low_y, high_y), found.of_x * (high_x - low_x) / 2, 1),
        ):
            with column:
                figure = curves([], Axis(cause), Axis(f"{effect} less its fit"), height=380)
                figure.add_trace(_points(a, b, style, f"{cause} → {effect}"))
                figure.update_layout(showlegend=True)
                show.figure(
                    figure,
                    key=f"pairs-residuals-{style}",
                    alt=f"Residuals of {effect} against {cause}",
                )
    st.caption(
        "In the causal direction the residuals spread alike at every input; in the other one their "
        "spread or place changes along it. The scores measure that."
    )


def _with_room(values: Values) -> tuple[float, float]:
    """Ends of an axis: a point at either end of the range is drawn whole."""
    low, high = float(values.min()), float(values.max())
    room = _ROOM * (high - low) or 1.0
    return low - room, high + room


def _points(x: Values, y: Values, style: int, name: str) -> go.Scattergl:
    return go.Scattergl(
        x=list(x),
        y=list(y),
        name=name,
        mode="markers",
        marker={"size": 4, "color": see_through(ink(style), 0.45)},
        hovertemplate="%{x:.3g}, %{y:.3g}<extra></extra>",
    )
