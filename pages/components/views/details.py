"""The tables behind a run, and its files."""

from __future__ import annotations

import streamlit as st

from pages.components import export, text
from pages.components.charts import show
from pages.components.state.listen import watch_node
from pages.components.state.runs import Shown
from pages.components.views import ledger, trace


def details(run: Shown) -> None:
    """Tables: reasons, edges, ledger; and the downloads."""
    data, result = run.data, run.result
    why, edges, charges, files = st.tabs(
        ["Why did this edge go?", "Edge table", "Ledger", "Download and share"]
    )
    with why:
        trace.why_view(data, result, key="run")
    with edges:
        edges_view(run)
    with charges:
        ledger.ledger_view(result)
    with files:
        downloads(run)


@st.fragment
def edges_view(run: Shown) -> None:
    """The graphs as a table; a variable that is searched for, or clicked, keeps its own edges."""
    names, table = run.data.names, trace.edges_table(run.data, run.result)
    chosen = st.session_state.get("run-node")
    chosen = chosen if chosen in names else None
    watch_node(chosen or "", _clicked)
    st.session_state["run-node"] = chosen
    node = st.selectbox(
        "Find a variable",
        list(names),
        index=None,
        key="run-node",
        placeholder="All variables; a click on one in the graph chooses it",
    )
    if node:
        mine = [pair for pair in table["Pair"] if node in pair.split(" – ")]
        table = table[table["Pair"].isin(mine)]
    show.table(table, alt="Edges of the true and the learned graph", height=320)


def _clicked(name: str) -> None:
    st.session_state["run-node"] = name or None


def downloads(run: Shown) -> None:
    """The run as files, and its link."""
    data, result, csv = run.data, run.result, export.as_csv
    name = f"{text.file_stem(data)}_{result.algorithm}"
    query = run.settings.to_query()
    with st.container(horizontal=True):
        export.download(
            "Run (JSON)",
            lambda: export.as_json(export.run_record(data, result, query)),
            f"{name}.json",
            key="get-json",
        )
        export.download(
            "Trace (CSV)",
            lambda: csv(trace.steps_table(result.steps)),
            f"{name}_trace.csv",
            key="get-trace",
        )
        export.download(
            "Edges (CSV)",
            lambda: csv(trace.edges_table(data, result)),
            f"{name}_edges.csv",
            key="get-edges",
        )
        export.download(
            "Ledger (CSV)",
            lambda: csv(ledger.ledger_table(result)),
            f"{name}_ledger.csv",
            key="get-ledger",
        )
    if data.public:
        st.caption(
            "The address of this page holds these settings and reproduces the run. Trace and JSON "
            "hold raw values marked 'simulation only'."
        )
    else:
        st.caption("The address of this page holds the settings, never your data or the seed.")
