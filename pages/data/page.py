"""The dataset: what is in it, where it comes from, what is true about it."""

from __future__ import annotations

import streamlit as st

from engine import Dataset
from pages.data import form as schema
from pages.data import view as views
from pages.shell import address, dataset, known, runs
from pages.shell.dataset import exact_wanted
from pages.shell.drafts import drafted_source
from pages.shell.strip import drafted_data, show_strip


def main() -> None:
    """The page, top to bottom."""
    runs.follow_source("data")
    runs.shown()
    with st.sidebar:
        dataset.picker(key="data")
        known.button("data")
    data = drafted_data("Data")
    if data is not None:
        show_strip("Data", data)
    if drafted_source().own:
        schema.builder()
    if data is not None and (data.public or exact_wanted()):
        exact(data)
    views.sample_files()
    address.write("data", address.source_query())


def exact(data: Dataset) -> None:
    """Everything about the rows, as they are."""
    views.facts(data)
    left, right = st.columns(2, gap="large")
    with left:
        views.columns_view(data)
    with right:
        views.marginal(data)
    views.graph_view(data)
    views.rows_view(data)
    views.downloads(data)


main()
