"""Where a budget goes: CURATE's orders, Lemma 1's bounds, and the increments of a descent."""

from __future__ import annotations

import math
from collections.abc import MutableMapping
from typing import Any, cast

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from engine import InputError, RunResult
from engine.algorithms.curate_pc import CuratePCParameters
from engine.constraint.allocation import Price
from engine.score.budgets import INCREMENTS, iterations, schedule
from engine.theory import affordable_iterations, lemma1
from pages.components import charts, curves, dataset, state, text
from pages.components.curves import Axis, Line
from pages.components.shell import draw
from pages.components.state import Settings, Shown
from pages.components.strip import show_strip

# Eq. 16 at its largest: the sensitivity of Kendall's p-value on n rows is this over the root of n.
EQ_16 = 2 / math.sqrt(math.pi) * 5 / 11
RISING = "rising"


def main() -> None:
    """The page, top to bottom."""
    state.shown()
    with st.sidebar:
        dataset.picker(key="budget")
        d = fields()
    own = state.drafted_source().own
    run = own_run(d) if own else public_run(d)
    if run is not None:
        show_strip("Budget", run.data, run.result)
        orders_view(run)
    lemma_view(d)
    increments_view(d)


def draft() -> MutableMapping[str, Any]:
    """The page's settings, kept over changes of page."""
    return st.session_state.setdefault(
        "budget_draft",
        {
            "guarantee": "published",
            "epsilon": 20.0,
            "seed": 0,
            "beta1": 0.2,
            "beta2": 0.2,
            "threshold": 0.05,
            "rows": 100_000,
            "total": 10.0,
            "initial": 0.1,
        },
    )


def fields() -> MutableMapping[str, Any]:
    """CURATE's total, guarantee and seed."""
    d = draft()
    state.bound(
        st.radio,
        "Guarantee",
        d,
        "guarantee",
        key="budget-guarantee",
        options=["published", "strict"],
        format_func=text.label,
        horizontal=True,
    )
    number(d, "epsilon", "Total ε", "The total of the whole run in both modes.")
    if not state.drafted_source().own:
        state.bound(st.number_input, "Noise seed", d, "seed", key="budget-seed", min_value=0)
    return d


def number(d: MutableMapping[str, Any], name: str, title: str, help_text: str = "") -> None:
    """A number bound to the settings; the engine says what it refuses."""
    state.bound(
        st.number_input, title, d, name, key=f"budget-{name}", format="%g", help=help_text or None
    )


# CURATE's orders ------------------------------------------------------------------------


def settings(d: MutableMapping[str, Any]) -> Settings:
    """CURATE on the drafted dataset."""
    values = {"guarantee": d["guarantee"], "epsilon": d["epsilon"]}
    source = state.drafted_source()
    params = state.filled("curate_pc", values)
    return Settings(source, "curate_pc", params, None if source.own else d["seed"])


def public_run(d: MutableMapping[str, Any]) -> Shown | None:
    """CURATE on bundled data: run, or looked up."""
    try:
        with st.spinner("Running CURATE …"):
            run = state.compute(settings(d))
    except InputError as error:
        return refused(str(error))
    st.session_state["budget_shown"] = run
    return run


def own_run(d: MutableMapping[str, Any]) -> Shown | None:
    """CURATE on a person's own data: only when asked, since each run spends ε anew."""
    last: Shown | None = st.session_state.get("budget_own")
    with st.sidebar:
        st.warning(f"Your own data: each run spends ε = {text.number(d['epsilon'])} anew.")
        pressed = st.button("Run CURATE", key="budget-run", type="primary", width="stretch")
    if pressed:
        try:
            last = st.session_state["budget_own"] = state.compute(settings(d))
        except InputError as error:
            return refused(str(error))
    if last is None or last.settings.source != state.drafted_source():
        return refused("Upload a file if there is none, then press Run CURATE.", problem=False)
    return last


def refused(words: str, *, problem: bool = True) -> Shown | None:
    """One sentence in the place of the chart; the last run on bundled data stays."""
    last: Shown | None = st.session_state.get("budget_shown") if problem else None
    if last is None:
        st.title("Budget", anchor=False)
    (st.error if problem else st.info)(text.plain(words))
    return last


def orders_view(run: Shown) -> None:
    """Planned, planned anew and spent budget of every order, against uniform."""
    result = run.result
    table, unit = orders_table(run)
    st.markdown("**CURATE's budget by order: planned, and spent**")
    if table.empty:
        st.info("The total is too small for a plan: no order was run. Raise ε.")
        return
    left, right = st.columns(2, gap="medium")
    with left:
        charts.show(
            grouped(table, "budget", f"Budget of the order ({unit})"),
            key="budget-orders",
            alt="Budget of every order: planned, spent, uniform",
        )
    with right:
        charts.show(
            grouped(table, "ε a test", "ε of one test"),
            key="budget-tests",
            alt="ε of one test at every order: planned, spent, uniform",
        )
    st.caption(_orders_notes(result, table, unit))
    shown = table.drop(columns="uniform tests")
    shown.columns = [
        c.replace("Planned at the start", "Plan").replace("Planned", "Plan") for c in shown.columns
    ]
    curves.table(shown, alt="Budget by order")


def orders_table(run: Shown) -> tuple[pd.DataFrame, str]:
    """One row an order, and the unit of the budget."""
    result = run.result
    plans = result.extras.get("planned budget by order", [])
    spent = {s["order"]: s for s in result.extras.get("spent budget by order", [])}
    unit = str(result.extras.get("budget unit", "ε"))
    if not plans:
        return pd.DataFrame(), unit
    anew = {plan[0]["order"]: plan[0] for plan in plans}
    price, total = price_of(run)
    even = uniform(price, np.array([p["tests"] for p in plans[0]]), total)
    rows = []
    for first in plans[0]:
        k = first["order"]
        now, used = anew.get(k), spent.get(k)
        rows.append(
            {
                "Order": k,
                "Planned at the start: tests": round(first["tests"]),
                "Planned at the start: ε a test": first["epsilon"],
                "Planned at the start: budget": first["cost"],
                "Planned anew: tests": round(now["tests"]) if now else None,
                "Planned anew: ε a test": now["epsilon"] if now else math.nan,
                "Planned anew: budget": now["cost"] if now else math.nan,
                "Spent: tests": used["tests"] if used else 0,
                "Spent: ε a test": used["epsilon"] if used and used["tests"] else math.nan,
                "Spent: budget": used["cost"] if used else 0.0,
                "uniform tests": first["tests"],
                "Uniform: ε a test": even,
                "Uniform: budget": float(price.cost(first["tests"], even)),
            }
        )
    return pd.DataFrame(rows), unit


def price_of(run: Shown) -> tuple[Price, float]:
    """(how the run added its tests up, its total in that unit)."""
    result, params = run.result, cast(CuratePCParameters, run.result.params)
    if result.ledger.cap is not None:
        return Price(result.ledger.method), result.ledger.limit
    orders = params.order_limit(run.data) + 1
    return Price("curate", params.delta / orders), params.epsilon


def uniform(price: Price, tests: np.ndarray, total: float) -> float:
    """The ε that every planned test gets if all get the same."""
    a, b = price.coefficients(tests.astype(float))
    quadratic, linear = float(a.sum()), float(b.sum())
    return 2 * total / (linear + math.sqrt(linear**2 + 4 * quadratic * total))


KINDS = ("Planned at the start", "Planned anew", "Spent", "Uniform")


def grouped(table: pd.DataFrame, what: str, title: str) -> go.Figure:
    """Grouped bars: one group an order, told apart by colour and by pattern."""
    figure = go.Figure()
    for k, kind in enumerate(KINDS):
        values = table[f"{kind}: {what}"]
        figure.add_trace(
            go.Bar(
                x=[str(o) for o in table["Order"]],
                y=[None if pd.isna(v) else float(v) for v in values],
                name=kind,
                marker={
                    "color": curves.ink((0, 2, 1, curves.PLAIN)[k]),
                    "pattern": {"shape": ("", "/", "x", ".")[k], "solidity": 0.35},
                },
                hovertemplate=f"Order %{{x}}, {kind}: %{{y:.4g}}<extra></extra>",
            )
        )
    figure.update_layout(
        barmode="group",
        height=340,
        margin={"l": 8, "r": 8, "t": 12, "b": 8},
        legend={"orientation": "h", "y": -0.22, "yanchor": "top", "x": 0, "font": {"size": 13}},
        xaxis={"title": "Order", "type": "category"},
        yaxis={"title": title, "rangemode": "tozero"},
    )
    return figure


def _orders_notes(result: RunResult, table: pd.DataFrame, unit: str) -> str:
    notes = [
        "Before each order CURATE plans the budgets of all remaining orders anew, from what is "
        "left of the total and of the edges; uniform gives every planned test the same ε.",
    ]
    if unit == "ρ":
        notes.append("Strict runs add up in ρ (zCDP).")
    saved = float(table["Planned at the start: budget"].sum() - table["Spent: budget"].sum())
    if saved > 0 and result.status == "complete":
        share = saved / float(table["Planned at the start: budget"].sum())
        notes.append(f"At the end {share:.0%} of the total was left.")
    if result.status == "budget_exhausted":
        notes.append("The budget ran out before the last order.")
    return " ".join(notes)


# Lemma 1 --------------------------------------------------------------------------------


def lemma_view(d: MutableMapping[str, Any]) -> None:
    """The two bounds against ε as the margins, the threshold and n move."""
    st.markdown("**Lemma 1: bounds on one noisy test's errors**")
    columns = st.columns(4, gap="medium")
    for column, (name, title, low, high, step) in zip(
        columns,
        (
            ("beta1", "Margin β₁", 0.0, 1.0, 0.05),
            ("beta2", "Margin β₂", 0.0, 1.0, 0.05),
            ("threshold", "Threshold T", 0.01, 0.3, 0.01),
        ),
        strict=False,
    ):
        with column:
            slide(d, name, title, low, high, step)
    with columns[3]:
        state.bound(
            st.select_slider,
            "Rows n",
            d,
            "rows",
            key="budget-rows",
            options=[1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000],
            format_func=lambda v: f"{v:,}",
        )
    table = lemma_table(d)
    left, right = st.columns([5, 3], gap="medium")
    with left:
        lines = [
            Line(name="Type I: a deletion is lost", x=table["ε"], y=table["Type I"], style=0),
            Line(name="Type II: a wrong deletion", x=table["ε"], y=table["Type II"], style=1),
        ]
        figure = curves.curves(
            lines,
            Axis("ε of one test", log=True, ends=(0.009, 11)),
            Axis("Bound", ends=(0, 1.04)),
            height=340,
        )
        charts.show(figure, key="budget-lemma1", alt="Lemma 1's bounds against ε of one test")
    with right:
        curves.table(table, alt="Lemma 1's bounds by ε", height=340)
    st.caption(
        f"c/2 + e^(−Tβε/Δ)/2 with Δ = {EQ_16:.4f}/√n (eq. 16, Kendall's p-value) and c = 1, the "
        "safe value: no bound falls below one half. A wider margin, a higher T and more rows "
        "bring it there sooner."
        + (" The two coincide while β₁ = β₂." if d["beta1"] == d["beta2"] else "")
    )


def slide(
    d: MutableMapping[str, Any], name: str, title: str, low: float, high: float, step: float
) -> None:
    """One slider bound to the settings."""
    state.bound(
        st.slider, title, d, name, key=f"budget-{name}", min_value=low, max_value=high, step=step
    )


def lemma_table(d: MutableMapping[str, Any]) -> pd.DataFrame:
    """Both bounds over a grid of ε."""
    unit = EQ_16 / math.sqrt(d["rows"])
    rows = []
    for epsilon in np.geomspace(0.01, 10, 19):
        one, two = lemma1(float(epsilon), d["threshold"], unit, beta1=d["beta1"], beta2=d["beta2"])
        rows.append((float(epsilon), one, two))
    return pd.DataFrame(rows, columns=["ε", "Type I", "Type II"])


# Increments -----------------------------------------------------------------------------


def increments_view(d: MutableMapping[str, Any]) -> None:
    """ε of every iteration under each increment, and how many iterations a total affords."""
    st.markdown("**Score-based CURATE: how ε grows, and how many iterations it affords (Lemma 2)**")
    left, right, _ = st.columns([1, 1, 2], gap="medium")
    with left:
        number(d, "total", "Total ε of the descent")
    with right:
        number(d, "initial", "Initial ε₀")
    try:
        rows, lines = increments(float(d["total"]), float(d["initial"]))
    except InputError as error:
        st.error(text.plain(str(error)))
        return
    left, right = st.columns([5, 3], gap="medium")
    with left:
        figure = curves.curves(
            lines, Axis("Iteration k"), Axis("ε of iteration k", log=True), height=360
        )
        charts.show(figure, key="budget-increments", alt="ε of each iteration by increment")
    with right:
        curves.table(rows, alt="Iterations that each increment affords")
    note = (
        f"Since ε₀ = {d['initial']:g} is below 1, the published multiplicative increment "
        "ε₀^(1 + k/I) falls from ε₀ to ε₀² instead of rising. 'Rising' is ours: ε₀·10^(k/I)."
        if d["initial"] < 1
        else "For ε₀ of 1 or more the multiplicative increment does not fall. 'Rising' is ours: "
        "ε₀·10^(k/I)."
    )
    st.caption(note)


FORMULAS = {
    "multiplicative": "ε₀^(1 + k/I)",
    "additive": "ε₀ (1 + k/I)",
    "exponential": "ε₀ e^(k/I)",
    RISING: "ε₀ 10^(k/I), ours",
}


def increments(total: float, initial: float) -> tuple[pd.DataFrame, list[Line]]:
    """(a row an increment, its curve); raises InputError where a number cannot be."""
    if not (total > 0 and initial > 0):
        raise InputError("The total and the initial ε must be above 0.")
    rows, lines = [], []
    for style, kind in enumerate(INCREMENTS):
        exact = None if kind == RISING else affordable_iterations(total, initial, kind)
        try:
            count = iterations(total, initial, kind)
        except InputError:
            rows.append((kind.capitalize(), 0, None, None, None, exact, FORMULAS[kind]))
            continue
        each = schedule(initial, count, kind)
        ends = each[0], each[-1]
        rows.append((kind.capitalize(), count, *ends, sum(each), exact, FORMULAS[kind]))
        picked = np.unique(np.linspace(0, count - 1, min(count, 12)).astype(int))
        values = [each[k] for k in picked]
        lines.append(Line(name=kind.capitalize(), x=list(picked), y=values, style=style))
    if not lines:
        raise InputError(f"A total of {total:g} affords no iteration that starts at {initial:g}.")
    names = ["Increment", "Iterations", "First ε", "Last ε", "Sum", "Lemma 2", "ε of iteration k"]
    return pd.DataFrame(rows, columns=names), lines


draw(main)
