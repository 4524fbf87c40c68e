"""A figure or a table on the page, at full width, with its name for screen readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

if TYPE_CHECKING:
    import plotly.graph_objects as go

CONFIG: Mapping[str, Any] = {"displayModeBar": False, "responsive": True}


def figure(drawn: go.Figure, *, key: str, alt: str) -> None:
    """Draw a figure over the full width, without the tool bar."""
    st.plotly_chart(drawn, width="stretch", config=dict(CONFIG), key=key, alt=alt)


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
