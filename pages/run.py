"""Run one algorithm on one dataset; see what it found, what it cost, and why."""

from __future__ import annotations

import streamlit as st

from engine import RunResult
from engine.registry import ALGORITHMS, algorithm
from pages.components import (
    charts,
    dataset,
    descent,
    export,
    form,
    ledger,
    progress,
    state,
    text,
    trace,
)
from pages.components.compare import comparison
from pages.components.shell import draw
from pages.components.state import Shown
from pages.components.strip import show_strip


def main() -> None:
    """The page, top to bottom."""
    state.shown()
    with st.sidebar:
        if settings_form():
            with st.spinner("Running …", show_time=True):
                state.freeze(state.drafted())
    now = state.drafted()
    job, run = state.job(), state.shown()
    state.write_link(job.settings if job is not None else run.settings)
    show_strip("Run", run.data, run.result)
    old = state.stale(now) or job is not None
    with st.container(key="notice"):
        if job is not None:
            progress.progress_view()
        else:
            notice(run, old)
    st.html(f"<style>.st-key-result{{opacity:{0.4 if old else 1}}}</style>")
    with st.container(key="result"):
        outcome(run)


# The form -------------------------------------------------------------------------------


def settings_form() -> bool:
    """Dataset, algorithm, parameters, seed; returns whether Run was pressed."""
    draft = state.draft()
    dataset.picker(key="run")
    chosen = algorithm(
        state.bound(
            st.selectbox,
            "Algorithm",
            draft,
            "algorithm",
            key="run-algorithm",
            options=list(ALGORITHMS),
            format_func=lambda k: ALGORITHMS[k].title,
            help="\n\n".join(f"**{a.title}**: {a.summary}" for a in ALGORITHMS.values()),
        )
    )
    state.adapt()
    with st.container(horizontal=True, gap="xsmall", key="presets"):
        for name in form.PRESETS:
            st.button(
                name,
                key=f"preset-{name}",
                on_click=apply_preset,
                args=(name,),
                disabled=chosen.private and not form.has_preset(chosen, name),
            )
    form.parameter_form(chosen, draft["params"], key="param", n=_rows())
    if not state.drafted_source().own:
        state.bound(
            st.number_input,
            "Noise seed",
            draft,
            "seed",
            key="run-seed",
            step=1,
            min_value=0,
            help="Fixes every draw of noise, so that a run can be repeated.",
        )
    with st.container(key="run-bar"):
        return st.button("Run", type="primary", key="run", width="stretch")


def apply_preset(name: str) -> None:
    """Fill every parameter; an algorithm without privacy gives way to Priv-PC."""
    draft = state.draft()
    if not algorithm(draft["algorithm"]).private:
        draft["algorithm"] = "priv_pc"
    state.adapt()
    draft["params"] = form.preset(algorithm(draft["algorithm"]), name)


def _rows() -> int | None:
    draft = state.draft()
    if draft["network"] != state.OWN:
        return draft["n"]
    data = state.own_data()
    return data.n if data is not None else None


# The result -----------------------------------------------------------------------------


def notice(run: Shown, old: bool) -> None:
    """One box of fixed height: what was refused, what is stale, or what was found."""
    if problem := state.refusal():
        st.error(text.plain(problem), icon=":material/error:")
    elif state.stopped(state.drafted()):
        st.warning(
            "Stopped before anything was decided. Below is the last result; press Run to start "
            "again.",
            icon=":material/stop_circle:",
        )
    elif old:
        st.warning("Settings changed – press Run.", icon=":material/update:")
    elif run.result.status == "cancelled":
        st.warning(
            "Stopped: what was decided until then is shown. Edges not yet tested are still in the "
            "graph."
            if run.result.ci_tests_by_order
            else "Stopped: the weights reached until then are shown.",
            icon=":material/stop_circle:",
        )
    elif run.result.status == "budget_exhausted":
        st.warning(_exhausted(run.result), icon=":material/battery_alert:")
    else:
        st.info(_summary(run), icon=":material/check_circle:")


def _exhausted(result: RunResult) -> str:
    at = f"{ledger.step_word(result)} {max(result.ledger.by_order(), default=0)}"
    if not result.ci_tests_by_order:
        return f"The budget ran out at {at}; the weights reached there are shown. Raise ε to go on."
    return (
        f"The budget ran out at {at}, so the edges not yet tested stayed. Raise ε, lower "
        "the largest order or use a smaller network to finish."
    )


def _summary(run: Shown) -> str:
    scores, result = run.result.metrics, run.result
    if scores is None:
        edges = text.count(len(result.skeleton), "edge")
        return f"Complete: {edges} found. There is no truth to compare with."
    found = scores.correct + scores.wrong_direction
    true = found + scores.missed
    return (
        f"Complete: {found} of {text.count(true, 'true edge')} found, "
        f"{scores.wrong_direction} of them with another direction; {scores.extra} invented."
    )


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
            st.markdown(
                f"**Budget by {'release' if 'released tables' in result.extras else 'order'}**"
            )
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
    runs, epsilon, delta = state.own_costs(run.data)
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
    figure = charts.bars(
        range(len(counts)),
        counts,
        x_title="Order",
        y_title="CI tests",
        words=[f"{c:,}" for c in counts],
    )
    charts.show(figure, key="run-tests", alt="Conditional independence tests at each order")


def details(run: Shown) -> None:
    """Tables: reasons, edges, ledger; and the downloads."""
    data, result = run.data, run.result
    why, edges, charges, files = st.tabs(
        ["Why did this edge go?", "Edge table", "Ledger", "Download and share"]
    )
    with why:
        trace.why_view(data, result, key="run")
    with edges:
        st.dataframe(
            trace.edges_table(data, result),
            width="stretch",
            height=320,
            hide_index=True,
            alt="Edges of the true and the learned graph",
        )
    with charges:
        table = ledger.ledger_table(result)
        shape = {
            c: st.column_config.NumberColumn(c, format="%.4g")
            for c in table.columns
            if c in ("ε", "ρ") or c.startswith("Total")
        }
        st.dataframe(
            table,
            width="stretch",
            height=320,
            hide_index=True,
            column_config=shape,
            alt="Every charge of the run",
            placeholder="–",
        )
        ledger.released_view(result)
    with files:
        downloads(run)


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


draw(main)
