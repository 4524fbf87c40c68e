"""The folded parts of a finished run: scores, cost, reasons, edges, ledger, files."""

from __future__ import annotations

import streamlit as st

from engine import RunResult
from engine.data.spreadsheets import table_csv
from engine.graphs.metrics import Scores
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
from pages.shell.words import number, theme

# Field of a score -> its name in a sentence, and its meaning.
_SCORES = {
    "recall": ("recall", "Share of the true edges that were learned."),
    "precision": ("precision", "Share of the learned edges that are true."),
    "skeleton_f1": ("skeleton F1", "Counts edges in either direction."),
    "directed_f1": ("directed F1", "Edges with the right direction."),
    "shd": ("SHD", "Pairs whose edge is missing, extra or wrongly oriented."),
}


def scores_view(run: Shown) -> None:
    """Show the scores against the truth, if any, the run's cost, and the meaning of its ε."""
    result = run.result
    show.tiles(score_tiles(result) + cost_tiles(result) + ledger.privacy_tiles(result))
    if result.untested and result.metrics_all is not None:
        whole = [f"{name} {score(result.metrics_all, of)}" for of, (name, _) in _SCORES.items()]
        st.caption(
            "Computed on fully tested edges. Counting partly tested pairs as edges: "
            f"{', '.join(whole)}."
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


def score(scores: Scores | None, field: str) -> str:
    """Return a score as text; a dash if it is undefined."""
    value = None if scores is None else getattr(scores, field)
    return "–" if value is None else f"{value}" if isinstance(value, int) else f"{value:.2f}"


def score_tiles(result: RunResult) -> list[ledger.Tile]:
    """Return the scores of the fully tested edges; none without a truth."""
    if (scores := result.metrics_tested) is None:
        return []
    return [
        (name[0].upper() + name[1:], score(scores, of), said)
        for of, (name, said) in _SCORES.items()
    ]


def cost_tiles(result: RunResult) -> list[ledger.Tile]:
    """Return the run's cost; the time is not shown for private rows."""
    steps = ("CI tests", f"{result.ci_tests:,}", "Number of conditional independence tests.")
    facts = [
        (f.name, f"{number(f.value)} {f.unit}".strip(), f.help) for f in result.diagnostics.facts()
    ]
    clock = ("Seconds", number(result.seconds, 2), "Time from start to end.")
    tests = [steps] if result.ci_tests_by_order else []
    return [*tests, *facts, *([clock] if result.public else [])]


def price_view(run: Shown) -> None:
    """Draw bars of the links lost by the test, by its bounded form, and by the noise."""
    result = run.result
    told = run.data.public and result.counts is not None and result.status != "cancelled"
    if told and (before := steps_before(run)):
        bars = price.price_html(price.steps_of(result, before), theme())
        st.html(f"<style>{price.STYLE}</style>{bars}")
    else:
        st.caption("Shown for public data with a known truth.")


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
    table = trace.edges_table(run.result, titles)
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
    name, query = f"{text.file_stem(data)}_{result.algorithm}", run.request.to_words()
    files = {
        "Run (JSON)": (".json", lambda: export.run_json(data, result, query)),
        "Trace (CSV)": ("_trace.csv", lambda: csv(trace.steps_table(result.steps))),
        "Edges (CSV)": ("_edges.csv", lambda: csv(trace.edges_table(result))),
        "Ledger (CSV)": ("_ledger.csv", lambda: csv(ledger.ledger_table(result))),
    }
    export.downloads(name, files)
    with st.expander("Copy this run as Python or as a command"):
        st.code(run.request.to_python(), language=None)
        st.code(run.request.to_command(), language="bash", wrap_lines=True)
    public = (
        "The address of this page holds these settings and reproduces the run. Trace and JSON "
        "hold raw values, which exist for public benchmark data only."
    )
    own = "The address of this page holds the settings, never your data or the seed."
    st.caption(public if data.public else own)


_TABS = {
    "Scores and cost": scores_view,
    "Where edges are lost": price_view,
    "Why was this edge removed?": trace.why_view,
    "Edge table": edges_view,
    "Ledger": ledger.ledger_view,
    "Download and share": downloads,
}


def tabs(run: Shown) -> None:
    """Only the tab that is open is drawn."""
    parts = st.tabs(list(_TABS), key="run-details", on_change="rerun")
    for tab, view in zip(parts, _TABS.values(), strict=True):
        if tab.open:
            with tab:
                view(run)
