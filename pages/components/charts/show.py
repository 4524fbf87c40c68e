"""A figure or a table on the page, at full width, with its name for screen readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from pages.components.palette import muted_ink
from pages.components.text import number

if TYPE_CHECKING:
    import plotly.graph_objects as go

CONFIG: Mapping[str, Any] = {"displayModeBar": False, "responsive": True}


def figure(drawn: go.Figure, *, key: str, alt: str) -> None:
    """Draw a figure over the full width, without the tool bar."""
    # attribute by attribute: update_layout() and its like take twice as long
    drawn.layout.font.color = muted_ink()
    for axis in (*drawn.select_xaxes(), *drawn.select_yaxes()):
        axis.tickfont.color = axis.title.font.color = muted_ink()
    st.plotly_chart(drawn, width="stretch", config=dict(CONFIG), key=key, alt=alt)


def table(frame: pd.DataFrame, *, alt: str, height: int | None = None, digits: int = 3) -> None:
    """The accessible form of a chart: a table with its numbers rounded to ``digits``.

    Whole numbers have their thousands apart; a number without limit stands as a word.
    """
    endless = [c for c in frame.columns if _endless(frame[c])]
    frame = frame.assign(**{c: frame[c].map(number) for c in endless})
    shapes = {name: shape for name in frame.columns if (shape := _shape(frame[name], digits))}
    st.dataframe(
        frame,
        width="stretch",
        height=height or min(38 + 35 * len(frame), 400),
        hide_index=True,
        column_config=shapes,
        placeholder="–",
        alt=alt,
    )


def _endless(column: pd.Series[Any]) -> bool:
    return pd.api.types.is_float_dtype(column) and bool(np.isinf(column.to_numpy(float)).any())


def _shape(column: pd.Series[Any], digits: int) -> ColumnConfig | None:
    """How the column's numbers are written, if it holds any."""
    name = str(column.name)
    if pd.api.types.is_bool_dtype(column):
        return None
    if pd.api.types.is_integer_dtype(column):
        return st.column_config.NumberColumn(name, format="localized")
    if pd.api.types.is_float_dtype(column):
        return st.column_config.NumberColumn(name, format=f"%.{digits}g")
    return None
