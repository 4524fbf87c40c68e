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
from pages.draw.charts import LOW, Axis, Group, banded, bars, curves, figure, grouped, titled
from pages.draw.graphs import comparison
from pages.draw.links import labels_of
from pages.run.form import MOST, PINS
from pages.shell import listen
from pages.shell.form import folded
from pages.shell.runs import Points, Shown, first_curve
from pages.shell.task import Task, redraw_until_done
from pages.shell.words import UNITS, number

PATIENCE = 0.3  # seconds that the page waits for the curve before it is drawn
SEEN = 0.005  # a budget below this share of the largest has no visible bar


def outcome(run: Shown) -> None:
    """Draw graphs and charts, then pinned runs, effects and the rest."""
    comparison(run.data, run.result, more=lambda: _pin_button(run))
    charts(run)
    if PINS.get():
        _pins().pins_view(run)
    if run.result.diagnostics.effects() is not None and run.result.skeleton:
        from pages.draw.effect import how_much  # only runs with released tables need it

        how_much(run.result, labels_of(run.data))
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
    first, *others = st.container(key="run-charts").columns(3, gap="medium")
    parts = tests_chart, budget_chart
    if run.result.diagnostics.descent() is not None:
        from pages.run import descent  # the charts of a score-based run

        parts = descent.progress, descent.epsilons
    for column, part in zip(others, parts, strict=True):
        with column:
            part(run.result)
    with first:  # last, because it may be redrawn while its runs are made
        task = first_curve(run.request, run.data)
        if task is None:
            public = "Needs a private algorithm and a known true graph."
            own = "Not drawn: each run on your own data would spend ε."
            titled("F1 over ε", public if run.data.public else own)
        else:
            st.markdown("**F1 over ε**")
            task.wait(PATIENCE)
            redraw_until_done(lambda: [task], lambda: _f1_chart(run, task))


def _f1_chart(run: Shown, task: Task) -> None:
    points: Points = list(task.parts)
    here, scores = float(run.request.params["epsilon"]), run.result.metrics_tested
    assert scores is not None
    key, f1 = run.result.algorithm, scores.skeleton_f1
    name = f"Median of {worker.CURVE_RUNS} runs"
    ends = min(worker.EPSILONS[0], here), max(worker.EPSILONS[-1], here)
    drawn = curves(
        [banded(name, points, style_of(key))] if points else [],
        Axis(epsilon_name(algorithm(key).epsilon_unit, run.result.params), log=True, ends=ends),
        Axis("Skeleton F1", ends=(0.0, 1.05)),
        height=LOW,
        here=(here, f1, "You are here"),
    )
    # The star has its words below it, where the curve, which rises, leaves room.
    at = f"{'top' if f1 < 0.3 else 'bottom'} {'left' if here > 1 else 'right'}"
    star = drawn["data"][-1]
    star |= {"mode": "markers+text", "text": [star["name"]], "textposition": at}
    drawn["layout"]["showlegend"] = False
    figure(drawn, key="run-f1", alt="Skeleton F1 over ε at these settings")


def tests_chart(result: RunResult) -> None:
    """Draw bars of conditional independence tests per order."""
    title, counts = "CI tests by order", result.ci_tests_by_order
    if not counts:
        titled(title, "The run ended before its first test.")
        return
    words, orders = [f"{c:,}" for c in counts], range(len(counts))
    drawn = bars(orders, counts, x_title="Order", y_title="Tests", words=words, height=LOW)
    titled(title, drawn, key="run-tests", alt="Conditional independence tests at each order")


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
    found, title = result.diagnostics.plan(), f"Budget by {word}"
    limit, unit = result.ledger.limit, UNITS[result.ledger.method]
    if found is not None and found.planned:
        _plan_chart(found, title, CLAIMED if result.claimed else f"Budget ({found.unit})")
    elif not spent or not all(map(math.isfinite, spent.values())):
        titled(title, f"Nothing to show: no finite budget was charged to any {word}.")
    else:
        capped = math.isfinite(limit)
        values = [v / limit * 100 if capped else v for v in spent.values()]
        drawn = bars(
            list(spent),
            values,
            x_title=word.capitalize(),
            y_title=f"Share of {unit} (%)" if capped else PROVEN,
            words=[f"{v:.0f} %" if capped else number(v) for v in values],
            height=LOW,
            top=min(118.0, max(values) * 1.3) if capped else None,
        )
        titled(title, drawn, key="run-budget", alt=f"Budget charged at each {word}")


def _plan_chart(found: Allocation, title: str, y_title: str) -> None:
    """Draw CURATE's budget per order: planned at the start and at its turn, and charged."""
    views = {
        "Planned at the start": found.at_the_start(),
        "Planned at its turn": found.at_its_turn(),
        "Charged": found.paid(),
    }
    costs = {name: {k: float(b.cost) for k, b in rows.items()} for name, rows in views.items()}
    table = pd.DataFrame(costs).fillna(0.0).sort_index()
    table = table[table.max(axis=1) > SEEN * table.to_numpy().max()]
    looks = zip(costs, palette().bars, ("/", "", ""), strict=True)
    groups = [Group(name, table[name].tolist(), colour, fill) for name, colour, fill in looks]
    drawn = grouped(list(table.index), groups, x_title="Order", y_title=y_title, height=LOW)
    titled(title, drawn, key="run-budget", alt="Budget planned and charged at each order")
    if list(table.index) == [0]:
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
    title = "More: scores, reasons, edges, ledger, files"
    folded(title, lambda: _tabs(run), key="run-more")


def _tabs(run: Shown) -> None:
    from pages.run.more import tabs  # the first view does not wait for it

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
