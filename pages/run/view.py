"""A finished run: graphs, scores, cost, reasons."""

from __future__ import annotations

import math
from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine import RunResult
from pages.draw import show
from pages.draw.bars import bars
from pages.draw.effect import how_much
from pages.draw.graphs import comparison
from pages.run import descent, ledger, trace
from pages.shell import export
from pages.shell import words as text
from pages.shell.data import own_costs
from pages.shell.listen import watch_node
from pages.shell.runs import Shown


def outcome(run: Shown, *, priced: bool) -> DeltaGenerator:
    """Graphs, scores, cost, and the reasons; returns the place where links are said to go.

    Where that can be said (``priced``), room is kept for it.
    """
    data, result = run.data, run.result
    comparison(data, result, key="run")
    place = st.container(key="price" if priced else "unpriced")
    scores_row(result)
    ledger.privacy_sentence(result)
    if not data.public:
        own_data_costs(run)
    how_much(result, "run")
    more(result)
    details(run)
    return place


@st.fragment
def more(result: RunResult) -> None:
    """Numbers for experts and the charts: drawn, and Plotly's 4.7 MB fetched, once asked for."""
    box = st.expander("More numbers", key="run-more", on_change="rerun")
    if box.open:
        with box:
            tiles(expert_tiles(result), across=4)
            charts(result)


def charts(result: RunResult) -> None:
    """What the run did by order or by iteration."""
    if descent.is_descent(result):
        descent.descent_view(result, key="run")
        return
    left, right = st.columns(2, gap="large")
    with left:
        tests_chart(result)
    with right:
        st.markdown(f"**Budget by {ledger.charged(result)[1]}**")
        ledger.budget_chart(result, key="run-budget")


def tiles(rows: Sequence[ledger.Tile], *, across: int) -> None:
    """Titles with their values, ``across`` a row."""
    for start in range(0, len(rows), across):
        row = rows[start : start + across]
        for column, (title, value, words) in zip(st.columns(across), row, strict=False):
            column.metric(title, value, help=words)


def scores_row(result: RunResult) -> None:
    """Scores against the truth if there is one, in plain words with the term in brackets."""
    scores, counts = result.metrics_tested, result.counts
    if scores is None or counts is None:
        return
    rows = [
        (
            "Links found (recall)",
            f"{scores.recall:.2f}",
            "Share of the true links that were learned, whatever their direction.",
        ),
        (
            "Real among the learned (precision)",
            f"{scores.precision:.2f}" if counts.learned else "–",
            "Share of the learned links that are true ones, whatever their direction.",
        ),
        (
            "Both in one number (skeleton F1)",
            f"{scores.skeleton_f1:.2f}",
            "1 when every true link was learned and none invented; 0 when none was found.",
        ),
    ]
    tiles(rows, across=3)
    if result.untested and (whole := result.metrics) is not None:
        st.caption(
            "These count the links tested to the end, as the sentence above does. With "
            f"{text.count(counts.untested, 'pair')} not tested to the end as links: recall "
            f"{whole.recall:.2f}, precision {whole.precision:.2f}, skeleton F1 "
            f"{whole.skeleton_f1:.2f}, directed F1 {whole.directed_f1:.2f}, SHD {whole.shd}."
        )


def expert_tiles(result: RunResult) -> list[ledger.Tile]:
    """What only those ask for who know the field."""
    rows: list[ledger.Tile] = []
    if (scores := result.metrics_tested) is not None:
        rows = [
            (
                "Right with direction (directed F1)",
                f"{scores.directed_f1:.2f}",
                "As F1, but a link counts only if its arrow, or its having none, is right too.",
            ),
            (
                "Pairs that differ (SHD)",
                f"{scores.shd}",
                "Pairs of variables whose link differs from the truth in being there or in arrow.",
            ),
        ]
    made = "Questions put to the data: are two variables independent, given some others?"
    steps = ("Tests made (CI tests)", f"{result.ci_tests:,}", made)
    if descent.is_descent(result):
        steps = ("Iterations", f"{descent.iterations(result):,}", "Steps of the optimisation.")
    rows.append(steps)
    if result.public:  # the time that private rows take is told to nobody
        rows.append(("Seconds", text.number(result.seconds, 2), "From the start to the end."))
    return rows + ledger.privacy_tiles(result)


def own_data_costs(run: Shown) -> None:
    """What all of this session's runs on the person's data add up to."""
    for reason in run.result.ledger.undefended:
        st.warning(f"Nothing is defended: {text.plain(reason)}.")
    runs, epsilon, delta = own_costs(run.data)
    said = f"This session: {text.count(runs, 'run')} on these data, together "
    if math.isinf(epsilon):
        st.caption(f"{said}without any bound: for one of them at least nothing is defended.")
    else:
        st.caption(
            f"{said}ε = {text.number(epsilon)}, δ = {text.number(delta)} (basic composition of "
            "what can be defended)."
        )
    for note in run.data.notes:
        st.caption(text.plain(note))


def tests_chart(result: RunResult) -> None:
    """Bars of conditional independence tests per order."""
    st.markdown("**CI tests by order**")
    counts = result.ci_tests_by_order
    if not counts:
        st.caption("The run ended before its first test.")
        return
    figure = bars(
        range(len(counts)),
        counts,
        x_title="Order",
        y_title="CI tests",
        words=[f"{c:,}" for c in counts],
    )
    show.figure(figure, key="run-tests", alt="Conditional independence tests at each order")


# The tables behind a run, and its files --------------------------------------------------


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
