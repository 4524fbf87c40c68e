"""The exact content of a dataset, and its files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from engine import Dataset
from engine.data.networks import NETWORKS, SAMPLE_DATA, load_network
from engine.data.spreadsheets import table_csv
from engine.graphs.view import Link
from engine.percent import span
from pages.draw import charts, show
from pages.draw.charts import bars
from pages.draw.graphs import draw_graph
from pages.draw.links import graph_view
from pages.shell import export
from pages.shell import words as text
from pages.shell.own import take
from pages.worker import Upload

PREVIEW_ROWS = 200
TRIAL = "trial_2000.csv", "trial_schema.json"


def exact(data: Dataset) -> None:
    """Draw the exact rows and their counts."""
    few, many = min(data.cardinalities), max(data.cardinalities)
    edges = "unknown" if data.truth is None else f"{data.truth.number_of_edges()}"
    counts = {"Rows": f"{data.n:,}", "Columns": f"{data.d}"}
    counts |= {"Levels per column": span(few, many), "True edges": edges}
    show.tiles([(title, value, "") for title, value in counts.items()])
    for note in data.notes:
        st.caption(text.plain(note))
    if not data.public:
        st.caption("Everything below shows your data as they are, without noise.")
    elif data.name in NETWORKS:
        network = load_network(data.name)
        st.caption(text.plain(f"Source: {network.source}. Licence: {network.licence}."))
    left, right = st.columns(2, gap="large")
    with left:
        levels = [", ".join(levels) for levels in data.levels]
        table = {"Column": data.names, "Levels": data.cardinalities, "In order": levels}
        show.table(pd.DataFrame(table), alt="Columns and levels", most=340)
        st.caption("Rank tests (Kendall, Spearman) use this order of levels.")
    with right:
        _distribution(data)
    if data.truth is not None:
        st.markdown("**True graph**")
        links = [Link(a, b, True) for a, b in sorted(data.truth.edges)]
        draw_graph("True graph", graph_view(data, links, None))
    rows = data.to_frame().head(PREVIEW_ROWS)
    show.table(rows, alt="First rows", most=300)
    st.caption(f"The first {len(rows):,} of {data.n:,} rows.")
    _downloads(data)


def _distribution(data: Dataset) -> None:
    name = st.selectbox("Distribution of", data.names, key="data-column")
    j = data.names.index(name)
    counts = np.bincount(data.codes[:, j], data.weights, minlength=data.cardinalities[j])
    shares = [float(s) for s in counts / data.n * 100]
    words = [f"{s:.1f} %" for s in shares]
    of, title = data.levels[j], "Share of rows (%)"
    figure = bars(of, shares, x_title=name, y_title=title, words=words, height=260)
    charts.figure(figure, key="data-marginal", alt=f"Distribution of {name}")


def _downloads(data: Dataset) -> None:
    stem = text.file_stem(data)
    with st.container(horizontal=True):
        made = lambda: table_csv(data.to_frame(data.schema))  # noqa: E731
        export.download("Data (CSV)", made, f"{stem}.csv", key="get-data")
        if data.truth is not None:
            edges = pd.DataFrame(sorted(data.truth.edges), columns=["from", "to"])
            name = f"{stem}_edges.csv"
            export.download("True edges (CSV)", lambda: table_csv(edges), name, key="get-truth")


def sample() -> None:
    """Draw a table to try the page with, and its declared schema."""
    st.button("Try a sample: a simulated trial of 2,000 patients", key="sample", on_click=_take)


def _take() -> None:
    table, schema = (Upload(name, (SAMPLE_DATA / name).read_bytes()) for name in TRIAL)
    take(table, table.name, schema=schema)
