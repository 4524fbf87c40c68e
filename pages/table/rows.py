"""The exact content of a dataset with its files, and a second file whose columns are added."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from engine import Dataset
from engine.data.networks import NETWORKS, SAMPLE_DATA, load_network
from engine.data.spreadsheets import table_csv
from engine.graphs.view import Link
from engine.percent import span
from pages import worker
from pages.draw import charts, show
from pages.draw.charts import bars
from pages.draw.graphs import draw_graph
from pages.draw.links import graph_view
from pages.shell import export
from pages.shell import words as text
from pages.shell.form import beside, bound, folded, refusals
from pages.shell.own import KINDS, begin, take
from pages.shell.settings import OwnFile
from pages.shell.state import session_values
from pages.worker import Upload

ADDED = (
    "Each row gets the cells of the second file’s row with the same key, or empty cells if there "
    "is no such row. Each key occurs once in the second file, so no row is repeated. The guarantee "
    "is about the rows of your table; the second file counts as public."
)
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
    files = {"Data (CSV)": (".csv", lambda: table_csv(data.to_frame(data.schema)))}
    if data.truth is not None:
        arrows = pd.DataFrame(sorted(data.truth.edges), columns=["from", "to"])
        files["True edges (CSV)"] = "_edges.csv", lambda: table_csv(arrows)
    export.downloads(text.file_stem(data), files)


def _distribution(data: Dataset) -> None:
    name = st.selectbox("Distribution of", data.names, key="data-column")
    j = data.names.index(name)
    counts = np.bincount(data.codes[:, j], data.weights, minlength=data.cardinalities[j])
    shares = [float(s) for s in counts / data.n * 100]
    words = [f"{s:.1f} %" for s in shares]
    of, title = data.levels[j], "Share of rows (%)"
    figure = bars(of, shares, x_title=name, y_title=title, words=words, height=260)
    charts.figure(figure, key="data-marginal", alt=f"Distribution of {name}")


def sample() -> None:
    """Draw a table to try the page with, and its declared schema."""
    st.button("Try a sample: a simulated trial of 2,000 patients", key="sample", on_click=_take)


def _take() -> None:
    table, schema = (Upload(name, (SAMPLE_DATA / name).read_bytes()) for name in TRIAL)
    take(table, table.name, schema=schema)


# A second file --------------------------------------------------------------------------


def second(file: OwnFile) -> None:
    """Offer to add the columns of a second file by a key; say whose columns were added."""
    if file.upload.other is not None:
        st.success(f"The columns of {text.plain(file.upload.other.name)} were added.")
    folded("Add columns from a second file", partial(_second, file), key="join-open")


def _second(file: OwnFile) -> None:
    """Draw the second file and the two keys, at first a name that both tables have."""
    st.caption(ADDED)
    given = st.file_uploader("Second file", type=list(KINDS), key="join-file")
    if given is None:
        return
    d, of = session_values("joined", {}), (file.identity, given.file_id)
    mine, other = replace(file.upload, other=None), Upload(given.name, given.getvalue())
    with refusals():
        if d.get("of") != of:
            names = [worker.names(one) for one in (mine, other)]
            shared = next((name for name in names[0] if name in names[1]), None)
            d.update(of=of, names=names, sound=None)
            d.update(key=shared or names[0][0], its=shared or names[1][0])
        titles = "Key in your table", f"Key in {text.plain(given.name)}"
        fields = zip(("key", "its"), titles, d["names"], strict=True)
        for place, (name, title, options) in beside(fields):
            bound(place.selectbox, title, d, name, key=f"join-{name}", options=options)
        both = replace(mine, other=other, keys=(d["key"], d["its"]))
        if d["sound"] != both.keys:  # refuses keys that would repeat rows
            worker.names(both)
            d["sound"] = both.keys
        st.button("Add the columns", key="join-go", on_click=_add, args=(file, both, other.name))


def _add(file: OwnFile, both: Upload, name: str) -> None:
    """Read the table with the columns of the other file, undeclared."""
    file.identity = f"{file.identity} {Path(name).name}"
    file.upload, file.schema, file.proposal = both, None, None
    begin(file, None)
