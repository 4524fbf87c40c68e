"""The dataset: what is in it, where it comes from, what is public and what is known of it."""

from __future__ import annotations

import streamlit as st

from engine import Dataset, InputError
from pages.data import form as columns
from pages.data import known
from pages.data import view as views
from pages.draw.unforeseen import unforeseen
from pages.shell import dataset, journey, runs
from pages.shell.data import data_for
from pages.shell.dataset import exact_wanted
from pages.shell.drafts import drafted_source
from pages.shell.strip import drafted_data, show_strip
from pages.shell.words import plain


def main() -> None:
    """The page, top to bottom."""
    runs.shown()
    with st.sidebar:
        dataset.picker(key="data")
    own = drafted_source().own
    here = journey.at("data")
    journey.bar(here)
    if not own:
        door()
        return
    data = drafted_data("Data")
    if data is not None:
        show_strip("Data", data)
    if here.word == "columns":
        columns.builder()
        if data is not None and data.declared:
            unforeseen(data, key="data")
    elif here.word == "known":
        known.view()
    else:
        table(data)
    journey.onward(here)
    if st.query_params.get(journey.NAME) != here.word:  # what was opened stays when it is done
        st.query_params[journey.NAME] = here.word
    journey.keep(here)


def door() -> None:
    """No table yet: a place for one, and below it what is in the public one of the other pages."""
    dataset.door(
        "From a file to a private graph: drop a table, say what its columns can hold, see what a "
        "budget will buy, release once."
    )
    with st.expander("The public dataset of the other pages", key="data-public"):
        try:
            exact(data_for(drafted_source()))
        except InputError as error:
            st.info(plain(str(error)))
    views.sample_files()


def table(data: Dataset | None) -> None:
    """A person's own table: what it asks, and on demand what is in it."""
    if data is not None:
        unforeseen(data, key="data")
        if not data.declared:
            st.warning(columns.OPEN)
        if exact_wanted():
            exact(data)
    views.sample_files()


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
