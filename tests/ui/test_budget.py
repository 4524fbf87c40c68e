"""The Budget page without a browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from engine import load_dataset, run
from engine.theory import lemma1
from pages.shell.words import number, safe

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def budget_page(open_app: Callable[..., AppTest]) -> AppTest:
    return open_app("budget", data="cancer", n="2000")


def table(app: AppTest, column: str):  # type: ignore[no-untyped-def]
    return next(d.value for d in app.dataframe if column in d.value)


@pytest.mark.parametrize("guarantee", ["published", "strict"])
def test_orders_as_planned_and_spent(budget_page: AppTest, guarantee: str) -> None:
    budget_page.radio(key="budget-guarantee").set_value(guarantee).run()
    assert not budget_page.exception
    data = load_dataset("cancer", n=2000, seed=0)
    result = run("curate_pc", data, epsilon=20.0, guarantee=guarantee, beta1=0.2, beta2=0.4)
    shown = table(budget_page, "Spent: budget")
    spent = {s.order: s.cost for s in result.diagnostics.allocation.spent}
    for order, cost in zip(shown["Order"], shown["Spent: budget"], strict=True):
        assert cost == pytest.approx(spent.get(order, 0.0))
    total = shown["Plan: budget"].sum()
    assert shown["Uniform: budget"].sum() == pytest.approx(total, rel=1e-6)
    assert shown["Uniform: ε a test"].nunique() == 1
    assert len(budget_page.get("plotly_chart")) == 4
    strip = " ".join(h.value for h in budget_page.get("html"))
    # The paper's total never stands without what is claimed and what can be defended.
    if guarantee == "published":
        claimed, able = number(result.claimed.epsilon), number(result.spent.epsilon)
        assert float(claimed) < float(budget_page.number_input(key="budget-epsilon").value)
        assert safe(f"the paper's cap; claimed: {claimed}; defended: {able}") in strip
    else:
        assert "defended: " not in strip


def test_lemma_1_follows_the_sliders(budget_page: AppTest) -> None:
    budget_page.slider(key="budget-beta1").set_value(0.5).run()
    budget_page.select_slider(key="budget-rows").set_value(1000).run()
    shown = table(budget_page, "Type I")
    unit = 0.51294 / 1000**0.5
    wanted = lemma1(float(shown["ε"].iloc[9]), 0.05, unit, beta1=0.5, beta2=0.4)
    assert (shown["Type I"].iloc[9], shown["Type II"].iloc[9]) == pytest.approx(wanted, rel=1e-3)


def test_increments_and_the_note(budget_page: AppTest) -> None:
    notes = " ".join(c.value for c in budget_page.caption)
    assert "falls from ε₀ to ε₀²" in notes
    shown = table(budget_page, "Increment").set_index("Increment")
    assert shown.loc["Multiplicative", "Last ε"] < shown.loc["Multiplicative", "First ε"]
    assert shown.loc["Rising", "Last ε"] > shown.loc["Rising", "First ε"]
    assert (shown["Sum"] <= 10 * (1 + 1e-9)).all()
    budget_page.number_input(key="budget-initial").set_value(2.0).run()
    assert "does not fall" in " ".join(c.value for c in budget_page.caption)


@pytest.mark.parametrize("field", ["budget-epsilon", "budget-total"])
def test_bad_numbers_are_one_sentence(budget_page: AppTest, field: str) -> None:
    budget_page.number_input(key=field).set_value(-1.0).run()
    assert not budget_page.exception
    assert len(budget_page.error) == 1
    assert "must be a" in budget_page.error[0].value


def test_own_data_are_run_only_when_asked(budget_page: AppTest) -> None:
    app = budget_page
    app.selectbox(key="budget-network").set_value("own").run()
    csv = (ROOT / "sample_data" / "asia_2000.csv").read_bytes()
    app.get("file_uploader")[0].upload("asia.csv", csv, "text/csv").run()
    assert not app.exception
    assert "press Run CURATE" in app.info[0].value
    assert "own_costs" not in app.session_state
    app.button(key="budget-run").click().run()
    assert not app.exception
    assert "Order" in table(app, "Order")


def test_the_coins_are_the_runs_own_first_plan(open_app: Callable[..., AppTest]) -> None:
    app = open_app("budget", data="cancer", n="2000", **{"budget.beta1": "0.35"})
    given = json.loads(app.get("bidi_component")[-1].proto.json)
    data = load_dataset("cancer", n=2000, seed=0)
    assert (given["betas"][given["at"]["one"]], given["betas"][given["at"]["two"]]) == (0.35, 0.4)
    for hand, one, two in (("one", 0.1, 0.4), ("two", 0.35, 0.9), ("one", 0.35, 0.4)):
        at = given["betas"].index(one if hand == "one" else two)
        result = run("curate_pc", data, epsilon=20.0, guarantee="published", beta1=one, beta2=two)
        planned = result.diagnostics.allocation.planned[0]
        total = sum(b.cost for b in planned)
        expected = [[b.order, b.tests, b.epsilon, 100 * b.cost / total] for b in planned]
        assert np.allclose(given["plans"][hand][at], expected)
