"""What is in a dataset, and its files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from engine import Dataset
from engine.data.networks import load_network
from pages.draw import show
from pages.draw.bars import bars
from pages.draw.graphs import true_graph
from pages.shell import export
from pages.shell import words as text
from pages.shell.dataset import LIMITS
from pages.shell.drafts import drafted_source
from pages.shell.settings import is_simulated

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
PREVIEW_ROWS = 200


def facts(data: Dataset) -> None:
    """Size, and what was done to the data on reading."""
    edges = data.truth.number_of_edges() if data.truth is not None else None
    few, many = min(data.cardinalities), max(data.cardinalities)
    tiles = [
        ("Rows", f"{data.n:,}"),
        ("Columns", f"{data.d}"),
        ("Levels a column", f"{few}" if few == many else f"{few}–{many}"),
        ("True edges", "unknown" if edges is None else f"{edges}"),
        ("Pairs of variables", f"{data.d * (data.d - 1) // 2:,}"),
    ]
    for column, (title, value) in zip(st.columns(5), tiles, strict=True):
        column.metric(title, value)
    for note in data.notes:
        st.caption(text.plain(note))
    if not data.public:
        st.caption("Everything on this page shows your data as they are, without noise.")
    elif not is_simulated(data.name):
        network = load_network(drafted_source().name)
        st.caption(text.plain(f"Source: {network.source}. Licence: {network.licence}."))


def columns_view(data: Dataset) -> None:
    """One row a column: its levels in their order."""
    st.markdown("**Columns**")
    table = pd.DataFrame(
        {
            "Column": data.names,
            "Levels": data.cardinalities,
            "Levels in order": [", ".join(levels) for levels in data.levels],
        }
    )
    show.table(table, alt="Columns and levels", most=340)
    st.caption("Rank tests (Kendall, Spearman) use this order of levels.")


def rows_view(data: Dataset) -> None:
    """The first rows, as they are."""
    st.markdown("**Rows**")
    rows = data.to_frame().head(PREVIEW_ROWS)
    show.table(rows, alt="First rows", most=300)
    st.caption(f"The first {len(rows):,} of {data.n:,} rows.")


def marginal(data: Dataset) -> None:
    """The distribution of one column."""
    st.markdown("**Distribution**")
    name = st.selectbox("Column", data.names, key="data-column")
    j = data.names.index(name)
    counts = np.bincount(data.codes[:, j], data.weights, minlength=data.cardinalities[j])
    shares = [float(s) for s in counts / data.n * 100]
    figure = bars(
        data.levels[j],
        shares,
        x_title=name,
        y_title="Share of rows (%)",
        words=[f"{s:.1f} %" for s in shares],
        height=260,
    )
    show.figure(figure, key="data-marginal", alt=f"Distribution of {name}")


def graph_view(data: Dataset) -> None:
    """The true graph, if it is known."""
    st.markdown("**True graph**")
    if data.truth is None:
        st.caption("Not known. Upload a list of true edges to compare results with it.")
        return
    true_graph(data)


def downloads(data: Dataset) -> None:
    """The dataset and its true edges as CSV."""
    with st.container(horizontal=True):
        export.download(
            "Data (CSV)",
            lambda: export.as_csv(data.to_frame()),
            f"{text.file_stem(data)}.csv",
            key="get-data",
        )
        if (truth := data.truth) is not None:
            edges = pd.DataFrame(sorted(truth.edges), columns=["from", "to"])
            export.download(
                "True edges (CSV)",
                lambda: export.as_csv(edges),
                f"{text.file_stem(data)}_edges.csv",
                key="get-truth",
            )


def sample_files() -> None:
    """Files to try the upload with."""
    st.markdown("**Sample files to try the upload with**")
    st.caption(LIMITS)
    with st.container(horizontal=True):
        for path in sorted(SAMPLES.glob("*.csv")):
            st.download_button(
                path.name,
                path.read_bytes(),
                path.name,
                "text/csv",
                key=f"sample-{path.stem}",
                on_click="ignore",
                icon=":material/download:",
            )
