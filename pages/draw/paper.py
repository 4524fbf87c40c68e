"""A chart of the page as a paper prints it: a file, its numbers, and its caption."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from engine.studies.figures import KINDS
from pages.shell.export import as_csv, download

_WIDTHS = {1: "one column", 2: "two columns"}
Make = Callable[[str, int], bytes]  # from a kind of file and a number of columns


def paper_figure(make: Make, data: pd.DataFrame, caption: str, *, name: str, key: str) -> None:
    """Offer a figure as PDF, SVG or PNG (300 dpi), with its numbers, and the caption to copy.

    The file is drawn when it is asked for.
    """
    with st.expander("Figure for a paper", key=f"{key}-paper"):
        with st.container(horizontal=True, gap="large", vertical_alignment="bottom"):
            kind = st.segmented_control(
                "File", KINDS, default=KINDS[0], format_func=str.upper, key=f"{key}-kind",
                required=True,
            )  # fmt: skip
            width = st.segmented_control(
                "Width", list(_WIDTHS), default=1, format_func=lambda n: _WIDTHS[n],
                key=f"{key}-columns", required=True,
            )  # fmt: skip
            end, columns = str(kind or KINDS[0]), int(width or 1)
            download("Figure", lambda: make(end, columns), f"{name}.{end}", key=f"{key}-figure")
            download("Numbers (CSV)", lambda: as_csv(data), f"{name}.csv", key=f"{key}-numbers")
        st.code(caption, language=None, wrap_lines=True)
