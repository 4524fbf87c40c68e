"""A finished run: graphs, scores, cost, reasons."""

from __future__ import annotations

import streamlit as st

from engine import RunResult
from pages.components import text
from pages.components.charts import show
from pages.components.charts.bars import bars
from pages.components.state.data import own_costs
from pages.components.state.runs import Shown
from pages.components.views import descent, ledger
from pages.components.views.details import details
from pages.components.views.graphs import comparison


def outcome(run: Shown) -> None:
    """Graphs, scores, cost, and the reasons."""
    data, result = run.data, run.result
    comparison(data, result, key="run")
    scores_row(result)
    ledger.privacy_view(result)
    if not data.public:
        own_data_costs(run)
    if descent.is_descent(result):
        descent.descent_view(result, key="run")
    else:
        left, right = st.columns(2, gap="large")
        with left:
            tests_chart(result)
        with right:
            st.markdown(f"**Budget by {ledger.charged(result)[1]}**")
            ledger.budget_chart(result, key="run-budget")
    details(run)


def scores_row(result: RunResult) -> None:
    """Scores against the truth if there is one, and what the run took."""
    tiles = []
    if (scores := result.metrics) is not None:
        tiles = [
            ("Skeleton F1", f"{scores.skeleton_f1:.2f}", "Adjacencies, whatever their direction."),
            ("Directed F1", f"{scores.directed_f1:.2f}", "Edges with the true CPDAG's mark."),
            ("Precision", f"{scores.precision:.2f}", "Share of learned adjacencies that are true."),
            ("Recall", f"{scores.recall:.2f}", "Share of true adjacencies that were learned."),
            ("SHD", f"{scores.shd}", "Pairs whose state differs from the true CPDAG."),
        ]
    steps = ("CI tests", f"{result.ci_tests:,}", "Conditional independence tests, of all orders.")
    if descent.is_descent(result):
        steps = ("Iterations", f"{descent.iterations(result):,}", "Steps of the optimisation.")
    tiles += [
        steps,
        ("Seconds", text.number(result.seconds, 2), "Wall time of the run."),
    ]
    for column, (title, value, help_text) in zip(st.columns(7), tiles, strict=False):
        column.metric(title, value, help=help_text)


def own_data_costs(run: Shown) -> None:
    """What all of this session's runs on the person's data add up to."""
    runs, epsilon, delta = own_costs(run.data)
    st.caption(
        f"This session: {text.count(runs, 'run')} on these data, together ε = "
        f"{text.number(epsilon)}, δ = {text.number(delta)} (basic composition of what can be "
        "defended)."
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
