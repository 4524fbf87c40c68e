"""A finished run: graphs, three charts, pinned runs; scores, cost, reasons and files on demand."""

from __future__ import annotations

import math
from types import ModuleType

import pandas as pd
import streamlit as st

from engine import RunResult
from engine.diagnostics import Allocation
from engine.registry import algorithm
from engine.words.run import CLAIMED, PROVEN, epsilon_name
from pages import worker
from pages.draw import palette, style_of
from pages.draw.charts import Axis, Group, banded, bars, curves, figure, grouped
from pages.draw.graphs import comparison
from pages.run.form import MOST, PINS
from pages.shell import listen
from pages.shell.runs import Points, Shown, first_curve
from pages.shell.task import Task, redraw_until_done
from pages.shell.words import UNITS, number

HEIGHT = 180  # pixels of each of the three charts
PATIENCE = 0.3  # seconds that the page waits for the curve before it is drawn
SEEN = 0.005  # a budget below this share of the largest has no visible bar


def outcome(run: Shown) -> None:
    """Draw graphs and charts, then pinned runs, effects and the rest."""
    comparison(run.data, run.result, key="run", more=lambda: _pin_button(run))
    charts(run)
    if PINS.get():
        _pins().pins_view(run)
    if run.result.diagnostics.effects() is not None:
        from pages.draw.effect import how_much  # only runs with released tables need it

        how_much(run.result, "run")
    more(run)


def _pins() -> ModuleType:
    from pages.run import pins  # loaded only if a run is pinned

    return pins


def _pin_button(run: Shown) -> None:
    """Draw the button that keeps the run on screen for comparison."""
    st.button(
        "Pin",
        key="pin",
        on_click=lambda: _pins().pin(run),
        disabled=len(PINS.get()) >= MOST,
        icon=":material/push_pin:",
        help=f"Keeps this run to compare others with; {MOST} at most.",
    )


# Three charts -----------------------------------------------------------------------------


def charts(run: Shown) -> None:
    """Draw F1 over ε with this run, CI tests by order and budget by order in one row."""
    result = run.result
    columns = st.container(key="run-charts").columns(3, gap="medium")
    if (found := result.diagnostics.descent()) is not None:
        from pages.run import descent  # the charts of a score-based run

        with columns[1]:
            descent.progress(found, "run", HEIGHT)
        with columns[2]:
            descent.epsilons(found, result, "run", HEIGHT)
    else:
        with columns[1]:
            tests_chart(result)
        with columns[2]:
            budget_chart(result)
    with columns[0]:  # last, because it may be redrawn while its runs are made
        task = first_curve(run.request, run.data)
        st.markdown("**F1 over ε**")
        if task is None:
            public = "Needs a private algorithm and a known true graph."
            own = "Not drawn: each run on your own data would spend ε."
            st.caption(public if run.data.public else own)
        else:
            task.wait(PATIENCE)
            redraw_until_done(lambda: [task], lambda: _f1_chart(run, task))


def _f1_chart(run: Shown, task: Task) -> None:
    points: Points = list(task.parts)
    here, scores = float(run.request.params["epsilon"]), run.result.metrics_tested
    unit, style = algorithm(run.result.algorithm).epsilon_unit, style_of(run.result.algorithm)
    assert scores is not None
    name = f"Median of {worker.CURVE_RUNS} runs"
    ends = min(worker.EPSILONS[0], here), max(worker.EPSILONS[-1], here)
    drawn = curves(
        [banded(name, points, style)] if points else [],
        Axis(epsilon_name(unit, run.result.params), log=True, ends=ends),
        Axis("Skeleton F1", ends=(0.0, 1.05)),
        height=HEIGHT,
        here=(here, scores.skeleton_f1, "You are here"),
    )
    # The star has its words below it, where the curve, which rises, leaves room.
    high = "top" if scores.skeleton_f1 < 0.3 else "bottom"
    at = f"{high} {'left' if here > 1 else 'right'}"
    star = drawn["data"][-1]
    star |= {"mode": "markers+text", "text": [star["name"]], "textposition": at}
    drawn["layout"]["showlegend"] = False
    figure(drawn, key="run-f1", alt="Skeleton F1 over ε at these settings")


def tests_chart(result: RunResult) -> None:
    """Draw bars of conditional independence tests per order."""
    st.markdown("**CI tests by order**")
    counts = result.ci_tests_by_order
    if not counts:
        st.caption("The run ended before its first test.")
        return
    words = [f"{c:,}" for c in counts]
    orders = range(len(counts))
    drawn = bars(orders, counts, x_title="Order", y_title="Tests", words=words, height=HEIGHT)
    figure(drawn, key="run-tests", alt="Conditional independence tests at each order")


def charged(result: RunResult) -> tuple[dict[str, float] | dict[int, float], str]:
    """Return the charges by the paid unit of such a run, and the word for that unit."""
    ledger = result.ledger
    if result.diagnostics.tables():
        return ledger.by_label(), "release"
    if result.ci_tests_by_order:
        return ledger.by_order(), "order"
    return ledger.by_iteration(), "iteration"


def budget_chart(result: RunResult) -> None:
    """Draw bars of the charge for each order: the share of the cap, or the Proven ε."""
    spent, word = charged(result)
    limit, unit = result.ledger.limit, UNITS[result.ledger.method]
    capped = math.isfinite(limit)
    st.markdown(f"**Budget by {word}**")
    found = result.diagnostics.plan()
    if found is not None and found.planned:
        _plan_chart(found, result)
        return
    if not spent or not all(map(math.isfinite, spent.values())):
        st.caption(f"Nothing to show: no finite budget was charged to any {word}.")
        return
    values = [v / limit * 100 if capped else v for v in spent.values()]
    drawn = bars(
        list(spent),
        values,
        x_title=word.capitalize(),
        y_title=f"Share of {unit} (%)" if capped else PROVEN,
        words=[f"{v:.0f} %" if capped else number(v) for v in values],
        height=HEIGHT,
        top=min(118.0, max(values) * 1.3) if capped else None,
    )
    figure(drawn, key="run-budget", alt=f"Budget charged at each {word}")


def plan_table(found: Allocation) -> pd.DataFrame:
    """Return CURATE's budget per order: planned at the start and at its turn, and charged."""
    views = {
        "Planned at the start": found.at_the_start(),
        "Planned at its turn": found.at_its_turn(),
        "Charged": found.paid(),
    }
    orders = sorted(set().union(*views.values()))
    budgets = {
        view: [float(rows[k].cost) if k in rows else 0.0 for k in orders]
        for view, rows in views.items()
    }
    return pd.DataFrame({"Order": orders, **budgets})


def _plan_chart(found: Allocation, result: RunResult) -> None:
    table = plan_table(found)
    costs = table.iloc[:, 1:].max(axis=1)
    table = table[costs > SEEN * costs.max()]
    looks = zip(table.columns[1:], palette().bars, ("/", "", ""), strict=True)
    drawn = grouped(
        table["Order"].tolist(),
        [Group(name, table[name].tolist(), colour, fill) for name, colour, fill in looks],
        x_title="Order",
        y_title=CLAIMED if result.claimed else f"Budget ({found.unit})",
        height=HEIGHT,
    )
    figure(drawn, key="run-budget", alt="Budget planned and charged at each order")
    if table["Order"].tolist() == [0]:
        st.caption("The plan gives order 0 all budget, so no conditional CI test ran.")


@st.fragment
def more(run: Shown) -> None:
    """Draw scores, cost, reasons and files; only the open tab is drawn."""
    # The chosen variable, which is highlighted and can be clicked in the graphs. It is set again
    # each time, because Streamlit forgets the value of a field that is not drawn.
    chosen = st.session_state.get("run-node")
    chosen = chosen if chosen in run.data.names else None
    st.session_state["run-node"] = chosen
    _watch_node(chosen or "")
    box = st.expander(
        "More: scores, reasons, edges, ledger, files", key="run-more", on_change="rerun"
    )
    if not box.open:
        return
    from pages.run.more import tabs  # the first view does not wait for it

    with box:
        tabs(run)


# Graphs live in frames: a click travels to the page here, and the chosen node to every frame.
_NODE = """
export default function ({data, setStateValue}) {
  const tell = () => document.querySelectorAll("iframe").forEach(
    (f) => f.contentWindow && f.contentWindow.postMessage({bringOut: data.node || ""}, "*"));
  const hear = (e) => {
    if (!e.data) { return; }
    if (e.data.graphReady && data.node) { tell(); }
    if (typeof e.data.graphNode === "string") {
      data = {...data, node: e.data.graphNode}; tell(); setStateValue("node", data.node); }
  };
  window.addEventListener("message", hear);
  tell();
  return () => window.removeEventListener("message", hear);
}
"""


def _watch_node(chosen: str) -> None:
    """Highlight the chosen node in every graph ("" for no node), and keep the clicked one."""
    key = "node-watch-state"

    def clicked() -> None:
        st.session_state["run-node"] = st.session_state[key].get("node") or None

    listen("node_watch", _NODE, key=key, data={"node": chosen}, on_node_change=clicked)
