"""A table on the page, at full width, with its name for screen readers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from pages.shell.form import beside
from pages.shell.words import number

Options = Mapping[str, Any]  # of a column: label, help, width


def table(
    frame: pd.DataFrame,
    *,
    alt: str,
    height: int | None = None,
    most: int = 400,
    digits: int = 3,
    columns: Mapping[str, Options] | None = None,
    grey: Sequence[bool] = (),
) -> None:
    """Draw a table with its numbers rounded to ``digits``; every table of the app comes from here.

    Whole numbers have thousands separators, infinity is a word, and a missing value is a dash.
    ``columns`` adds details about some columns: label, help or width; ``grey`` marks the faint
    rows. The table is as high as its rows, up to about ``most`` pixels, unless ``height`` is given.
    """
    frame = frame.assign(**{c: frame[c].map(_cell) for c in frame.columns if _mixed(frame[c])})
    wanted = columns or {}
    faint = dict(zip(frame.index, grey, strict=False))  # a canvas: opacity would do nothing
    ink = "color: #98989d"
    st.dataframe(
        frame.style.apply(lambda r: [ink * faint[r.name]] * len(r), axis=1) if grey else frame,
        width="stretch",
        height=_height(max(len(frame), 1), most) if height is None else _cut(len(frame), height),
        hide_index=True,
        column_config={c: _shape(frame[c], digits, wanted.get(c, {})) for c in frame.columns},
        placeholder="–",
        alt=alt,
    )


def tiles(rows: Sequence[tuple[str, str, str]], across: int = 4) -> None:
    """Draw titles with their values and helps, ``across`` per row."""
    for place, (title, value, words) in beside(rows, across):
        place.metric(title, value, help=words)


_HEAD, _ROW = 38, 35  # pixels of Streamlit's column titles and of a row


def _height(rows: int, most: int) -> int | Literal["content"]:
    return "content" if _HEAD + _ROW * rows <= most else _cut(rows, most)


def _cut(rows: int, height: int) -> int:
    """Return the height, or with more rows than fit the next height that cuts a row in two.

    A table that ends with a whole row would hide that there are more.
    """
    if _HEAD + _ROW * rows <= height:
        return height
    shown = round((height - _HEAD) / _ROW - 0.5)
    return _HEAD + _ROW * shown + _ROW // 2


def _mixed(column: pd.Series[Any]) -> bool:
    """Return whether the browser would write "None" or "Infinity" into the column."""
    if pd.api.types.is_float_dtype(column):
        return bool(np.isinf(column.to_numpy(float, na_value=np.nan)).any())
    return pd.api.types.is_object_dtype(column)


def _cell(value: Any) -> str | None:
    """Return a cell of a mixed column as text; None is drawn as the dash."""
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    return number(value) if isinstance(value, float) else str(value)


def _shape(column: pd.Series[Any], digits: int, wanted: Options) -> ColumnConfig:
    """Return the format of the column's cells."""
    options = {"label": str(column.name), **wanted}
    if pd.api.types.is_integer_dtype(column):
        return st.column_config.NumberColumn(format="localized", **options)
    if pd.api.types.is_float_dtype(column):
        return st.column_config.NumberColumn(format=f"%.{digits}g", **options)
    return st.column_config.Column(**options)
