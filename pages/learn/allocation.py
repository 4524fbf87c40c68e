"""The distance of tests from the threshold by order, and CURATE's plan, which can be dragged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from engine import Dataset
from engine.params import ParameterError, Parameters, param
from engine.percent import percent
from engine.story.modules import digested
from engine.studies.margins import planned
from engine.teaching.lessons import strengths
from pages.draw import charts
from pages.draw.charts import bars
from pages.draw.scene import mount
from pages.learn.search import perfect
from pages.learn.tour import Tour, nearest, places
from pages.shell import state
from pages.shell import words as text
from pages.shell.state import Draft, spec_of


@dataclass(frozen=True, kw_only=True)
class Fields(Parameters):
    """CURATE's margins."""

    beta1: float = param(0.2, "Margin β₁", low=0.0, high=1.0, step=0.05)
    beta2: float = param(0.4, "Margin β₂", low=0.0, high=1.0, step=0.05)


def orders_view(now: Tour) -> None:
    """Draw the distance of tests from the threshold by order, and CURATE's budget allocation."""
    d = state.Values(Fields, "plan.")
    left, right = st.columns([2, 3], gap="large")
    with left:
        _distances(now)
    with right:
        st.markdown("**CURATE's budget for each order: drag the margins**")
        content = plans(now.data, now.epsilon, d["beta1"], d["beta2"], now.dataset)
        if content is None:
            st.info("The total is too small for a budget allocation. Raise ε.")
        else:
            mount("plan", content, "learn-plan-scene", frame=partial(_rested, d))


def _distances(now: Tour) -> None:
    st.markdown("**How far real links lie above the threshold**")
    asked = perfect(now)
    each = now.epsilon / max(1, asked.ci_tests)
    lines = strengths(now.dataset, asked.steps, each)
    figure = bars(
        [s.order for s in lines],
        [s.margin for s in lines],
        x_title="Order: how many variables a test conditions on",
        y_title="Distance in sensitivities (median)",
        words=[text.number(s.margin) for s in lines],
        height=330,
    )
    charts.figure(figure, key="learn-margin", alt="Distance from the threshold by order")
    flips = ", ".join(f"{percent(s.flips)} at order {s.order}" for s in lines)
    st.caption(
        f"With ε = {text.number(now.epsilon)} (strict) shared equally among {asked.ci_tests} "
        f"tests, noise would remove a real link in {flips}. A link that order 0 wrongly keeps is "
        f"tested again at every later order, so an early mistake also costs budget."
    )


@st.cache_data(max_entries=32, show_spinner=False)
def plans(
    network: str, epsilon: float, beta1: float, beta2: float, _data: Dataset
) -> dict[str, Any] | None:
    """Return the first plan for every place of either dial; None if the total allows no plan."""
    betas = places(spec_of(Fields, "beta1"))

    def along(one: float, two: float) -> list[tuple[int, int, float, float]]:
        shares = planned(_data, guarantee="strict", epsilon=epsilon, beta1=one, beta2=two)
        return [share[:4] for share in shares]

    try:
        found = {
            "one": [along(beta, beta2) for beta in betas],
            "two": [along(beta1, beta) for beta in betas],
        }
    except ParameterError:
        return None
    if not all(found["one"] + found["two"]):
        return None
    at = {"one": nearest(betas, beta1), "two": nearest(betas, beta2)}
    return digested({"betas": betas, "plans": found, "at": at})


def _rested(d: Draft, frame: Mapping[str, Any]) -> None:
    d.update(beta1=float(frame["beta1"]), beta2=float(frame["beta2"]))
