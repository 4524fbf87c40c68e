"""The folded parts of a finished run: scores, cost, reasons, edges, ledger, files."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine import RunResult
from engine.data.spreadsheets import table_csv
from engine.studies.detectability import Shape
from engine.words.run import together
from pages.draw import price, show
from pages.draw.links import labels_of
from pages.forms import count_line
from pages.run import descent, ledger, trace
from pages.shell import export
from pages.shell import words as text
from pages.shell.own import costs_of
from pages.shell.runs import Shown, steps_before
from pages.shell.words import number, share, theme


def tabs(run: Shown) -> None:
    """Only the tab that is open is drawn."""
    views = {
        "Scores and cost": lambda: scores_view(run),
        "Where edges are lost": lambda: price_view(run),
        "Why was this edge removed?": lambda: trace.why_view(run.data, run.result, key="run"),
        "Edge table": lambda: edges_view(run),
        "Ledger": lambda: ledger.ledger_view(run.result, labels_of(run.data)),
        "Download and share": lambda: downloads(run),
    }
    parts = st.tabs(list(views), key="run-details", on_change="rerun")
    for tab, view in zip(parts, views.values(), strict=True):
        if tab.open:
            with tab:
                view()


def scores_view(run: Shown) -> None:
    """Show the scores against the truth, if any, the run's cost, and the meaning of its ε."""
    result = run.result
    tiles(score_tiles(result) + cost_tiles(result) + ledger.privacy_tiles(result))
    if result.untested and (whole := result.metrics_all) is not None:
        st.caption(
            "Computed on fully tested edges. Counting partly tested pairs as edges: recall "
            f"{whole.recall:.2f}, precision {share(whole.precision)}, skeleton F1 "
            f"{whole.skeleton_f1:.2f}, directed F1 {whole.directed_f1:.2f}, SHD {whole.shd}."
        )
    if (found := result.diagnostics.descent()) is not None:
        descent.thresholds(found)
    said = result.summary()
    for words in filter(None, (said.ended, said.directions, said.order)):
        st.caption(words)
    ledger.privacy_sentence(result)
    count_line(result.algorithm, Shape.of(run.data), run.request.params, "run")
    if not run.data.public:
        own_data_costs(run)


def tiles(rows: Sequence[ledger.Tile], across: int = 4) -> None:
    """Draw titles with their values, ``across`` per row."""
    for start in range(0, len(rows), across):
        row = rows[start : start + across]
        for column, (title, value, words) in zip(st.columns(across), row, strict=False):
            column.metric(title, value, help=words)


def score_tiles(result: RunResult) -> list[ledger.Tile]:
    """Return the scores of the fully tested edges; none without a truth."""
    m, counts = result.metrics_tested, result.counts
    if m is None or counts is None:
        return []
    return [
        ("Recall", f"{m.recall:.2f}", "Share of the true edges that were learned."),
        ("Precision", share(m.precision), "Share of the learned edges that are true."),
        ("Skeleton F1", f"{m.skeleton_f1:.2f}", "Counts edges in either direction."),
        (
            "Directed F1",
            f"{m.directed_f1:.2f}",
            "Edges with the right direction.",
        ),
        ("SHD", f"{m.shd}", "Pairs whose edge is missing, extra or wrongly oriented."),
    ]


def cost_tiles(result: RunResult) -> list[ledger.Tile]:
    """Return the run's cost; the time is not shown for private rows."""
    steps = ("CI tests", f"{result.ci_tests:,}", "Number of conditional independence tests.")
    facts = [
        (f.name, f"{number(f.value)} {f.unit}".strip(), f.help) for f in result.diagnostics.facts()
    ]
    clock = ("Seconds", text.number(result.seconds, 2), "Time from start to end.")
    tests = [steps] if result.ci_tests_by_order else []
    return [*tests, *facts, *([clock] if result.public else [])]


def price_view(run: Shown) -> None:
    """Draw bars of the links lost by the test, by its bounded form, and by the noise."""
    result = run.result
    told = run.data.public and result.counts is not None and result.status != "cancelled"
    if not (told and (before := steps_before(run))):
        st.caption("Shown for public data with a known truth.")
        return
    steps = price.steps_of(result, before)
    st.html(f"<style>{price.STYLE}</style>{price.price_html(steps, theme())}")


def own_data_costs(run: Shown) -> None:
    """Show the sum of this session's runs on the user's data."""
    for reason in run.result.ledger.no_guarantee_reasons:
        st.warning(f"No guarantee: {text.plain(reason)}.")
    costs = list(costs_of(run.data).values())
    runs = text.count(len(costs), "run")
    st.caption(f"This session: {runs} on these data, together {together(costs)}.")
    for note in run.data.notes:
        st.caption(text.plain(note))


def edges_view(run: Shown) -> None:
    """Draw the graphs as a table; with a chosen variable only its edges."""
    titles = labels_of(run.data)
    table = trace.edges_table(run.data, run.result, titles)
    node = st.selectbox(
        "Find a variable",
        list(titles),
        index=None,
        format_func=titles.__getitem__,
        key="run-node",
        placeholder="All variables; click one in the graph to choose it",
    )
    if node:
        mine = [pair for pair in table["Pair"] if titles[node] in pair.split(" – ")]
        table = table[table["Pair"].isin(mine)]
    show.table(table, alt="Edges of the true and the learned graph", height=320)


def downloads(run: Shown) -> None:
    """Draw the run as files, and its link."""
    data, result, csv = run.data, run.result, table_csv
    name = f"{text.file_stem(data)}_{result.algorithm}"
    query = run.request.to_words()
    files = {
        "Run (JSON)": ("json", ".json", lambda: export.run_json(data, result, query)),
        "Trace (CSV)": ("trace", "_trace.csv", lambda: csv(trace.steps_table(result.steps))),
        "Edges (CSV)": ("edges", "_edges.csv", lambda: csv(trace.edges_table(data, result))),
        "Ledger (CSV)": ("ledger", "_ledger.csv", lambda: csv(ledger.ledger_table(result))),
    }
    with st.container(horizontal=True):
        for title, (key, end, make) in files.items():
            export.download(title, make, f"{name}{end}", key=f"get-{key}")
    with st.expander("Copy this run as Python or as a command"):
        st.code(run.request.to_python(), language="python")
        st.code(run.request.to_command(), language="bash", wrap_lines=True)
    if data.public:
        st.caption(
            "The address of this page holds these settings and reproduces the run. Trace and JSON "
            "hold raw values, which exist for public benchmark data only."
        )
    else:
        st.caption("The address of this page holds the settings, never your data or the seed.")
