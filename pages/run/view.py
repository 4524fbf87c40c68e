"""A finished run: graphs, three charts, pinned runs; scores, cost, reasons and files on demand."""

from __future__ import annotations

import streamlit as st

from engine import RunResult
from engine.registry import algorithm
from engine.studies.repeat import Point
from pages.draw import show
from pages.draw.bars import bars
from pages.draw.curves import Axis, Curve, curves
from pages.draw.graphs import comparison
from pages.run import descent, ledger, pins
from pages.run.work import EPSILONS, curve
from pages.shell import watch_node
from pages.shell.runs import Shown
from pages.shell.task import Task, look_again, shared
from pages.shell.words import style_of

HEIGHT = 250  # pixels of each of the three charts
PATIENCE = 0.3  # seconds that the page waits for the curve before it is drawn


def outcome(run: Shown) -> None:
    """Graphs and charts; then pinned runs, effects and everything else."""
    comparison(run.data, run.result, key="run", more=lambda: pins.pin_button(run))
    charts(run)
    pins.pins_view(run)
    if getattr(run.result.diagnostics, "released", None) is not None:
        from pages.draw.effect import how_much  # what comes with tables that were released

        how_much(run.result, "run")
    more(run)


# Three charts -----------------------------------------------------------------------------


def charts(run: Shown) -> None:
    """F1 over ε with this run, CI tests by order and budget by order, in one row."""
    result = run.result
    columns = st.columns(3, gap="medium")
    if descent.is_descent(result):
        with columns[1]:
            descent.progress(result, "run", HEIGHT)
        with columns[2]:
            descent.epsilons(result, "run", HEIGHT)
    else:
        with columns[1]:
            tests_chart(result)
        with columns[2]:
            st.markdown(f"**Budget by {ledger.charged(result)[1]}**")
            ledger.budget_chart(result, key="run-budget", height=HEIGHT)
    with columns[0]:  # last, for it may be drawn again while runs are made for it
        st.markdown("**F1 over ε**")
        f1_view(run)


def f1_view(run: Shown) -> None:
    """What these settings reach at other ε, from a few runs that are made now."""
    task = curve_of(run)
    if task is None:
        st.caption(
            "Not drawn: each run on your own data would spend ε."
            if not run.data.public
            else "No noise and no ε, or no known truth."
        )
    else:
        look_again(lambda: [task], lambda: _f1_chart(run, task))


def curve_of(run: Shown) -> Task | None:
    """The curve over ε of the run's settings, begun if need be; None where there is none."""
    params = {k: v for k, v in run.settings.asked.items() if k != "epsilon"}
    if not run.data.public or run.data.truth is None or "epsilon" not in run.settings.asked:
        return None
    key = "f1", run.data.identity, run.settings.algorithm, repr(params)
    task = shared(key, "F1 over ε", curve, run.settings.algorithm, run.data, params)
    task.wait(PATIENCE)
    return task


def _f1_chart(run: Shown, task: Task) -> None:
    points: list[Point] = sorted(task.parts, key=lambda p: p.epsilon)
    here, scores = float(run.settings.params["epsilon"]), run.result.metrics_tested
    assert scores is not None
    line = Curve(
        name=algorithm(run.result.algorithm).title,
        x=[p.epsilon for p in points],
        y=[p.f1[1] for p in points],
        low=[p.f1[0] for p in points],
        high=[p.f1[2] for p in points],
        style=style_of(run.result.algorithm),
    )
    ends = min(EPSILONS[0], here) / 1.3, max(EPSILONS[-1], here) * 1.3
    drawn = curves(
        [line] if points else [],
        Axis("ε", log=True, ends=ends),
        Axis("Skeleton F1", ends=(0.0, 1.05)),
        height=HEIGHT,
        here=(here, scores.skeleton_f1, "You are here"),
    )
    show.figure(drawn, key="run-f1", alt="Skeleton F1 over ε at these settings")


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
        height=HEIGHT,
    )
    show.figure(figure, key="run-tests", alt="Conditional independence tests at each order")


@st.fragment
def more(run: Shown) -> None:
    """Scores, cost, reasons and files: only the tab that is open is drawn."""
    _watch_chosen(run)
    box = st.expander(
        "More: scores, reasons, edges, ledger, files", key="run-more", on_change="rerun"
    )
    if not box.open:
        return
    from pages.run.more import tabs  # a first look does not wait for it

    with box:
        tabs(run)


def _watch_chosen(run: Shown) -> None:
    """Bring the chosen variable out in the graphs, and hear which one is clicked there.

    It is set again each time: the choice of a field that is not drawn would be forgotten.
    """
    chosen = st.session_state.get("run-node")
    chosen = chosen if chosen in run.data.names else None
    st.session_state["run-node"] = chosen
    watch_node(chosen or "", _clicked)


def _clicked(name: str) -> None:
    st.session_state["run-node"] = name or None
