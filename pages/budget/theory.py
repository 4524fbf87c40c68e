"""CURATE's lemmas as charts: one test's errors, and the increments of a descent."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from engine import InputError
from engine.score.budgets import Growth, growths
from engine.theory import kendall_p_bound, lemma1
from pages.budget.form import field, typed
from pages.draw import show
from pages.draw.curves import Axis, Curve, curves
from pages.shell import words as text
from pages.shell.drafts import Draft


def lemma_view(d: Draft) -> None:
    """Lemma 1's two bounds against ε as the margins, the threshold and n move."""
    st.markdown("**Lemma 1: bounds on one noisy test's errors**")
    places = st.columns(4, gap="medium")
    for place, name in zip(places, ("beta1", "beta2", "threshold", "rows"), strict=True):
        with place:
            field(d, name)
    table = lemma_table(d)
    left, right = st.columns([5, 3], gap="medium")
    with left:
        at, one, two = (table[c].tolist() for c in ("ε", "Type I", "Type II"))
        figure = curves(
            [
                Curve(name="Type I: a deletion is lost", x=at, y=one, style=0),
                Curve(name="Type II: a wrong deletion", x=at, y=two, style=1),
            ],
            Axis("ε of one test", log=True, ends=(0.009, 11)),
            Axis("Bound", ends=(0, 1.04)),
            height=340,
        )
        show.figure(figure, key="budget-lemma1", alt="Lemma 1's bounds against ε of one test")
    with right:
        show.table(table, alt="Lemma 1's bounds by ε", height=340)
    st.caption(
        f"c/2 + e^(−Tβε/Δ)/2 with Δ = {kendall_p_bound(1):.4f}/√n (eq. 16, Kendall's p-value) and "
        "c = 1, the safe value: no bound falls below one half. A wider margin, a higher T and more "
        "rows bring it there sooner."
        + (" The two coincide while β₁ = β₂." if d["beta1"] == d["beta2"] else "")
    )


def lemma_table(d: Draft) -> pd.DataFrame:
    """Both bounds over a grid of ε."""
    unit = kendall_p_bound(d["rows"])
    rows = []
    for epsilon in map(float, np.geomspace(0.01, 10, 19)):
        one, two = lemma1(epsilon, d["threshold"], unit, beta1=d["beta1"], beta2=d["beta2"])
        rows.append((epsilon, one, two))
    return pd.DataFrame(rows, columns=["ε", "Type I", "Type II"])


def increments_view(d: Draft) -> None:
    """ε of every iteration under each increment, and how many iterations a total affords."""
    st.markdown("**Score-based CURATE: how ε grows, and how many iterations it affords (Lemma 2)**")
    left, right, _ = st.columns([1, 1, 2], gap="medium")
    with left:
        typed(d, "total")
    with right:
        typed(d, "initial")
    try:
        found = growths(float(d["total"]), float(d["initial"]))
    except InputError as error:
        st.error(text.plain(str(error)))
        return
    lines = [_line(g, style) for style, g in enumerate(found) if g.epsilons]
    figure = curves(lines, Axis("Iteration k"), Axis("ε of iteration k", log=True), height=360)
    show.figure(figure, key="budget-increments", alt="ε of each iteration by increment")
    # Its last column is the formula: beside the chart nobody would see it.
    show.table(growth_table(found), alt="Iterations that each increment affords")
    st.caption(
        f"Since ε₀ = {d['initial']:g} is below 1, the published multiplicative increment "
        "ε₀^(1 + k/I) falls from ε₀ to ε₀² instead of rising. 'Rising' is ours: ε₀·10^(k/I)."
        if d["initial"] < 1
        else "For ε₀ of 1 or more the multiplicative increment does not fall. 'Rising' is ours: "
        "ε₀·10^(k/I)."
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
