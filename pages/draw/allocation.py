"""CURATE's budget by order: as planned at the start, as planned again at its turn, and as spent."""

from __future__ import annotations

import pandas as pd

from engine import RunResult
from engine.search.diagnostics import Allocation, SearchDiagnostics
from pages.draw import show
from pages.draw.bars import Group, grouped
from pages.shell.words import group_inks

SEEN = 0.005  # a budget below this share of the largest is no bar that can be seen


def is_planned(result: RunResult) -> bool:
    """Whether the run planned its budget by order."""
    found = _of(result)
    return found is not None and bool(found.planned)


def _of(result: RunResult) -> Allocation | None:
    found = result.diagnostics
    return found.allocation if isinstance(found, SearchDiagnostics) else None


def plan_table(result: RunResult) -> pd.DataFrame:
    """The three budgets of every order; 0 where an order was not run."""
    found = _of(result)
    assert found is not None
    views = {
        "Planned at the start": found.at_the_start(),
        "Planned at its turn": found.at_its_turn(),
        "Spent": found.paid(),
    }
    orders = sorted(set().union(*views.values()))
    budgets = {
        view: [float(rows[k].cost) if k in rows else 0.0 for k in orders]
        for view, rows in views.items()
    }
    return pd.DataFrame({"Order": orders, **budgets})


def plan_chart(result: RunResult, *, key: str, height: int) -> None:
    """The three budgets as bars."""
    found = _of(result)
    table, unit = plan_table(result), "ε" if found is None else found.unit
    costs = table.iloc[:, 1:].max(axis=1)
    table = table[costs > SEEN * costs.max()]
    looks = zip(table.columns[1:], group_inks(), ("/", "", ""), strict=True)
    figure = grouped(
        table["Order"].tolist(),
        [Group(name, table[name].tolist(), colour, fill) for name, colour, fill in looks],
        x_title="Order",
        y_title=f"Budget ({unit})",
        height=height,
        below=True,
    )
    show.figure(figure, key=key, alt="Budget planned and spent at each order")
