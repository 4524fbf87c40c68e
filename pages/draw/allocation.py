"""CURATE's budget by order: as planned at the start, as planned anew at its turn, and as spent."""

from __future__ import annotations

import math
from typing import cast

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from engine import RunResult
from engine.algorithms.curate_pc import CuratePCParameters
from engine.percent import percent
from engine.search.allocation import Price
from engine.search.diagnostics import Allocation, SearchDiagnostics
from engine.theory import uniform_epsilon
from pages.draw import show
from pages.draw.bars import Group, grouped
from pages.shell.palette import PLAIN, group_inks, ink
from pages.shell.runs import Shown
from pages.shell.words import number

START, ANEW, SPENT, UNIFORM = "Planned at the start", "Planned anew", "Spent", "Uniform"
_WHAT = {"tests": "tests", "epsilon": "ε a test", "cost": "budget"}


def is_planned(result: RunResult) -> bool:
    """Whether the run planned its budget by order."""
    found = _of(result)
    return found is not None and bool(found.planned)


def _of(result: RunResult) -> Allocation | None:
    found = result.diagnostics
    return found.allocation if isinstance(found, SearchDiagnostics) else None


def unit_of(result: RunResult) -> str:
    """What the budget is counted in."""
    found = _of(result)
    return "ε" if found is None else found.unit


def allocation(result: RunResult) -> pd.DataFrame:
    """One row an order: tests, ε a test and budget in each of the three views; NaN if not run."""
    found = _of(result)
    assert found is not None
    views = {START: found.at_the_start(), ANEW: found.at_its_turn(), SPENT: found.paid()}
    orders = sorted(set().union(*views.values()))
    columns = {
        f"{view}: {title}": [
            float(getattr(rows[k], what)) if k in rows else math.nan for k in orders
        ]
        for view, rows in views.items()
        for what, title in _WHAT.items()
    }
    return pd.DataFrame({"Order": orders, **columns})


# On the Run page ------------------------------------------------------------------------


def plan_table(result: RunResult) -> pd.DataFrame:
    """The three budgets of every order."""
    names = {f"{START}: budget": START, f"{ANEW}: budget": "Planned at its turn"}
    names |= {f"{SPENT}: budget": SPENT}
    return allocation(result)[["Order", *names]].rename(columns=names).fillna(0.0)


def plan_chart(result: RunResult, *, key: str) -> None:
    """The three budgets as bars."""
    table, unit = plan_table(result), unit_of(result)
    costs = table.iloc[:, 1:].max(axis=1)
    table = table[costs > SEEN * costs.max()]
    looks = zip(table.columns[1:], group_inks(), ("/", "", ""), strict=True)
    figure = grouped(
        table["Order"].tolist(),
        [Group(name, table[name].tolist(), colour, fill) for name, colour, fill in looks],
        x_title="Order",
        y_title=f"Budget ({unit})",
    )
    show.figure(figure, key=key, alt="Budget planned and spent at each order")
    total = table["Spent"].sum()
    st.caption(
        f"Spent {number(float(total))} {unit} in all. Before each order the plan is made anew from "
        "what is left, so the middle bar is what the order was given."
    )


# On the Budget page ---------------------------------------------------------------------


def orders_view(run: Shown) -> None:
    """Planned, planned anew and spent budget of every order, against uniform."""
    result = run.result
    st.markdown("**CURATE's budget by order: planned, and spent**")
    if not is_planned(result):
        st.info("The total is too small for a plan: no order was run. Raise ε.")
        return
    table, unit = orders_table(result), unit_of(result)
    paid = table[[f"{view}: budget" for view in (START, ANEW, SPENT)]].max(axis=1)
    seen = paid > SEEN * paid.max()
    if seen.sum() > 1:
        _charts(table, unit)
    else:  # a chart of one bar says less than a sentence
        order, all_of_it = table.loc[seen, "Order"].iloc[0], number(float(paid.max()))
        st.markdown(f"Order {order} gets it all, {all_of_it} {unit}; the others next to nothing.")
    st.caption(_notes(result, table, unit))
    show.table(_short(table, unit), alt="Budget by order")
    with st.expander("All numbers", key="budget-all"):
        words = {c: c.replace(START, "Plan").replace("Planned", "Plan") for c in table.columns}
        show.table(table.rename(columns=words), alt="All numbers by order")


SEEN = 0.005  # a budget below this share of the largest is no bar that can be seen


def _charts(table: pd.DataFrame, unit: str) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        show.figure(
            _bars(table, "budget", f"Budget of the order ({unit})"),
            key="budget-orders",
            alt="Budget of every order: planned, spent, uniform",
        )
    with right:
        show.figure(
            _bars(table, "ε a test", "ε of one test"),
            key="budget-tests",
            alt="ε of one test at every order: planned, spent, uniform",
        )


def _short(table: pd.DataFrame, unit: str) -> pd.DataFrame:
    """What a reader asks first: tests and budget, planned and spent."""
    names = {
        f"{START}: tests": "Tests planned",
        f"{SPENT}: tests": "Tests made",
        f"{START}: budget": f"Planned ({unit})",
        f"{ANEW}: budget": f"Planned anew ({unit})",
        f"{SPENT}: budget": f"Spent ({unit})",
        f"{UNIFORM}: budget": f"Uniform ({unit})",
    }
    return table[["Order", *names]].rename(columns=names)


def orders_table(result: RunResult) -> pd.DataFrame:
    """The allocation, with what uniform would give every planned test; nothing spent is 0."""
    table = allocation(result)
    price, total = price_of(result)
    planned = table[f"{START}: tests"].to_numpy(dtype=float)
    quadratic, linear = (float(c.sum()) for c in price.coefficients(planned))
    even = uniform_epsilon(quadratic, linear, total)
    table[f"{UNIFORM}: ε a test"] = even
    table[f"{UNIFORM}: budget"] = price.cost(planned, even)
    for view in (START, ANEW):
        table[f"{view}: tests"] = table[f"{view}: tests"].round().astype("Int64")
    tests, each = f"{SPENT}: tests", f"{SPENT}: ε a test"
    table[tests] = table[tests].fillna(0).astype(int)
    table[each] = table[each].where(table[tests] > 0)
    table[f"{SPENT}: budget"] = table[f"{SPENT}: budget"].fillna(0.0)
    return table


def price_of(result: RunResult) -> tuple[Price, float]:
    """(how the run added its tests up, its total in that unit)."""
    params = cast(CuratePCParameters, result.params)
    if result.ledger.cap is not None:
        return Price(result.ledger.method), result.ledger.limit
    return Price("curate", params.delta), params.epsilon  # delta' of every order


def _bars(table: pd.DataFrame, what: str, title: str) -> go.Figure:
    looks = {START: (0, ""), ANEW: (2, "/"), SPENT: (1, "x"), UNIFORM: (PLAIN, ".")}
    groups = [
        Group(view, table[f"{view}: {what}"].tolist(), ink(style), fill)
        for view, (style, fill) in looks.items()
    ]
    return grouped(
        table["Order"].tolist(), groups, x_title="Order", y_title=title, height=340, below=True
    )


def _notes(result: RunResult, table: pd.DataFrame, unit: str) -> str:
    notes = [
        "Before each order CURATE plans the budgets of all remaining orders anew, from what is "
        "left of the total and of the edges; uniform gives every planned test the same ε.",
    ]
    if unit == "ρ":
        notes.append("Strict runs add up in ρ (zCDP).")
    planned, spent = (float(table[f"{view}: budget"].sum()) for view in (START, SPENT))
    if planned > spent and result.status == "complete":
        notes.append(f"At the end {percent((planned - spent) / planned)} of the total was left.")
    if result.status == "budget_exhausted":
        notes.append("The budget ran out before the last order.")
    return " ".join(notes)
