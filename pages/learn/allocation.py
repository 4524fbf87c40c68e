"""CURATE's plan to take hold of, and its lemmas: a test's errors, the iterations of a descent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from engine import Dataset, InputError
from engine.params import ParameterError, Parameters
from engine.percent import percent
from engine.score.budgets import Growth, growths
from engine.studies.margins import planned
from engine.teaching.lessons import strengths
from engine.theory import kendall_p_bound, lemma1
from pages.draw import show
from pages.draw.bars import bars
from pages.draw.curves import Axis, Curve, curves
from pages.draw.scene import digested, show_plan
from pages.learn.search import perfect
from pages.learn.tour import ROWS, Tour
from pages.shell import state
from pages.shell import words as text
from pages.shell.drafts import Draft
from pages.shell.fields import choice, nearest, number, places, slider, spec_of
from pages.shell.form import parameters
from pages.shell.words import plain

LARGEST = 1e7


@dataclass(frozen=True, kw_only=True)
class Fields(Parameters):
    """CURATE's margins and threshold, and the totals of a descent."""

    guarantee: str = choice("strict", "Guarantee", ("strict", "published"))
    beta1: float = slider(0.2, "Margin β₁", 0.0, 1.0, 0.05)
    beta2: float = slider(0.4, "Margin β₂", 0.0, 1.0, 0.05)
    threshold: float = slider(0.05, "Threshold T", 0.01, 0.3, 0.01)
    total: float = number(10.0, "Total ε of the descent", -LARGEST, LARGEST)
    initial: float = number(0.1, "Initial ε₀", -LARGEST, LARGEST)


def orders_view(now: Tour) -> None:
    """How far tests lie from the threshold by order, and where CURATE puts its budget."""
    d = state.of(Fields, "plan.")
    left, right = st.columns([2, 3], gap="large")
    with left:
        _distances(now)
    with right:
        st.markdown("**What CURATE gives each order: drag its margins**")
        content = plans(now.data, d["guarantee"], now.epsilon, d["beta1"], d["beta2"], now.dataset)
        if content is None:
            st.info("The total is too small for a plan. Raise ε.")
        else:
            show_plan(content, "learn-plan-scene", partial(_rested, d))
    with st.expander("Lemma 1: bounds on one noisy test's errors", key="learn-lemma"):
        _lemma(d)
    with st.expander("Score-based CURATE: how ε grows (Lemma 2)", key="learn-increments"):
        _increments(d)


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
    show.figure(figure, key="learn-margin", alt="Distance from the threshold by order")
    flips = ", ".join(f"{percent(s.flips)} at order {s.order}" for s in lines)
    st.caption(
        f"With ε = {text.number(now.epsilon)} (strict) shared equally among {asked.ci_tests} "
        f"tests, noise would take away a real link in {flips}. A link wrongly kept at order 0 is "
        "asked about again in every later order: an early mistake costs budget too."
    )


@st.cache_data(max_entries=32, show_spinner=False)
def plans(
    network: str, guarantee: str, epsilon: float, beta1: float, beta2: float, _data: Dataset
) -> dict[str, Any] | None:
    """The first plan for every place of either dial; None where the total allows no plan."""
    betas = places(spec_of(Fields, "beta1"))

    def along(one: float, two: float) -> list[tuple[int, int, float, float]]:
        shares = planned(_data, guarantee=guarantee, epsilon=epsilon, beta1=one, beta2=two)
        return [(s.order, s.tests, s.epsilon, s.coins) for s in shares]

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


def _fields(d: Draft, *names: str) -> None:
    specs = [spec_of(Fields, name) for name in names]
    for place, spec in zip(st.columns(len(specs), gap="medium"), specs, strict=True):
        with place:
            parameters([spec], d, key="plan")


def _lemma(d: Draft) -> None:
    """Lemma 1's two bounds against ε as the margins and the threshold move."""
    _fields(d, "beta1", "beta2", "threshold")
    table = lemma_table(d["threshold"], d["beta1"], d["beta2"])
    at, one, two = (table[c].tolist() for c in ("ε", "Type I", "Type II"))
    figure = curves(
        [
            Curve(name="Type I: a deletion is lost", x=at, y=one, style=0),
            Curve(name="Type II: a wrong deletion", x=at, y=two, style=1),
        ],
        Axis("ε of one test", log=True, ends=(0.009, 11)),
        Axis("Bound", ends=(0, 1.04)),
        height=320,
    )
    show.figure(figure, key="learn-lemma1", alt="Lemma 1's bounds against ε of one test")
    st.caption(
        f"c/2 + e^(−Tβε/Δ)/2 with Δ = {kendall_p_bound(1):.4f}/√n (eq. 16, Kendall's p-value), "
        f"n = {ROWS:,} and c = 1, the safe value: no bound falls below one half."
        + (" The two coincide while β₁ = β₂." if d["beta1"] == d["beta2"] else "")
    )


def lemma_table(threshold: float, beta1: float, beta2: float) -> pd.DataFrame:
    """Both bounds over a grid of ε, on the tour's rows."""
    unit = kendall_p_bound(ROWS)
    grid = [float(e) for e in np.geomspace(0.01, 10, 19)]
    rows = [(e, *lemma1(e, threshold, unit, beta1=beta1, beta2=beta2)) for e in grid]
    return pd.DataFrame(rows, columns=["ε", "Type I", "Type II"])


def _increments(d: Draft) -> None:
    """ε of every iteration under each increment, and how many iterations a total affords."""
    _fields(d, "total", "initial")
    try:
        found = growths(float(d["total"]), float(d["initial"]))
    except InputError as error:
        st.error(plain(str(error)))
        return
    lines = [_line(g, style) for style, g in enumerate(found) if g.epsilons]
    figure = curves(lines, Axis("Iteration k"), Axis("ε of iteration k", log=True), height=320)
    show.figure(figure, key="learn-growth", alt="ε of each iteration by increment")
    # Its last column is the formula: beside the chart nobody would see it.
    show.table(growth_table(found), alt="Iterations that each increment affords")
    st.caption(
        "'Rising' is ours: ε₀·10^(k/I). The published multiplicative increment ε₀^(1 + k/I) "
        + ("falls from ε₀ to ε₀² here." if d["initial"] < 1 else "does not fall here.")
    )


def _line(growth: Growth, style: int) -> Curve:
    """At most 12 points of the increment's curve."""
    count = len(growth.epsilons)
    picked = [int(k) for k in np.unique(np.linspace(0, count - 1, min(count, 12)).astype(int))]
    values = [growth.epsilons[k] for k in picked]
    return Curve(name=growth.increment.capitalize(), x=picked, y=values, style=style)


def growth_table(found: list[Growth]) -> pd.DataFrame:
    """One row an increment."""
    names = ["Increment", "Iterations", "First ε", "Last ε", "Sum", "Lemma 2", "ε of iteration k"]
    rows = []
    for g in found:
        ends = (g.epsilons[0], g.epsilons[-1], sum(g.epsilons)) if g.epsilons else (None,) * 3
        rows.append((g.increment.capitalize(), len(g.epsilons), *ends, g.lemma2, g.formula))
    return pd.DataFrame(rows, columns=names)
