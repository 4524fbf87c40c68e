"""The tables behind a run, and its files."""

from __future__ import annotations

import streamlit as st

from pages.draw import show
from pages.run import ledger, trace
from pages.shell import export
from pages.shell import words as text
from pages.shell.listen import watch_node
from pages.shell.runs import Shown


@st.fragment
def details(run: Shown) -> None:
    """Tables: reasons, edges, ledger; and the downloads. Only the tab that is open is drawn."""
    _watch_chosen(run)
    views = {
        "Why did this edge go?": lambda: trace.why_view(run.data, run.result, key="run"),
        "Edge table": lambda: edges_view(run),
        "Ledger": lambda: ledger.ledger_view(run.result),
        "Download and share": lambda: downloads(run),
    }
    tabs = st.tabs(list(views), key="run-details", on_change="rerun")
    for tab, view in zip(tabs, views.values(), strict=True):
        if tab.open:
            with tab:
                view()


def _watch_chosen(run: Shown) -> None:
    """Bring the chosen variable out in the graphs, and hear which one is clicked there.

    It is set anew each time: the choice of a field that is not drawn would be forgotten.
    """
    chosen = st.session_state.get("run-node")
    chosen = chosen if chosen in run.data.names else None
    st.session_state["run-node"] = chosen
    watch_node(chosen or "", _clicked)


def edges_view(run: Shown) -> None:
    """The graphs as a table; a variable that is searched for, or clicked, keeps its own edges."""
    names, table = run.data.names, trace.edges_table(run.data, run.result)
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
