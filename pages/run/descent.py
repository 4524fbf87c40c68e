"""The course of a score-based run: objective, cycles, budget by iteration, and thresholds."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine import RunResult
from engine.diagnostics import Descent
from engine.words.run import CLAIMED, GUARANTEED
from pages.draw import charts
from pages.draw.charts import Axis, Curve, curves
from pages.shell.words import UNITS, number

_TINY = 1e-16  # h(W) of an acyclic graph, on a log axis


def progress(found: Descent, key: str, height: int) -> None:
    """Objective and h(W) by iteration."""
    h, objective = found.h, found.objective
    st.markdown(
        f"**{'Objective and h(W)' if len(objective) else 'h(W)'} by iteration**",
        help="h(W) measures cycles: it is 0 when the weights have none.",
    )
    if not len(h):
        st.caption("The run ended before its first iteration.")
        return
    scale = Axis("h(W)", log=True)
    cycles = Curve(name="h(W)", x=_count(h), y=[max(float(v), _TINY) for v in h], mode="lines")
    if not len(objective):
        figure = curves([cycles], Axis("Iteration"), scale, height=height)
    else:
        loss = Curve(
            name="Objective",
            x=_count(objective),
            y=list(map(float, objective)),
            mode="lines",
            style=1,
        )
        right = Curve(name="h(W), right axis", x=cycles.x, y=cycles.y, mode="lines", second=True)
        figure = curves(
            [loss, right], Axis("Iteration"), Axis("Objective"), second=scale, height=height
        )
    charts.figure(figure, key=f"{key}-descent", alt="Objective and h(W) at each iteration")
    if not len(objective):
        st.caption("The objective is not shown: this run never releases it.")


def _count(values: Sequence[float]) -> list[int]:
    return list(range(1, len(values) + 1))


def epsilons(found: Descent, result: RunResult, key: str, height: int) -> None:
    """Draw the charge of each iteration."""
    st.markdown("**ε by iteration**")
    spent = found.epsilon
    if not len(spent):
        st.caption("No ε: the data are read without noise." if result.claimed is None else "None.")
        return
    if len(spent) == 1:
        st.caption(
            f"One release took all of ε = {number(float(spent[0]))}. Every iteration reuses the "
            "released values and costs no ε."
        )
        return
    title = f"{GUARANTEED if result.ledger.cap is not None else CLAIMED}, share"
    ends = (0.0, 1.15 * max(map(float, spent)))
    line = Curve(name="ε", x=_count(spent), y=list(map(float, spent)), mode="lines", style=0)
    figure = curves([line], Axis("Iteration"), Axis(title, ends=ends), height=height)
    charts.figure(figure, key=f"{key}-epsilons", alt="ε at each iteration")
    st.caption(
        f"{len(spent):,} gradients, together ε = {number(sum(map(float, spent)))}"
        + (
            "; the ledger counts them in " + UNITS[result.ledger.method] + "."
            if result.ledger.cap is not None
            else " as the paper adds them."
        )
    )


def thresholds(found: Descent) -> None:
    """Show the threshold that made the graph, and separately the best one, which needs the
    truth."""
    st.caption(
        f"Edge threshold: {number(found.threshold)}. Edges below it, by weight or partial "
        f"correlation (see the settings), are not in the graph."
    )
    if found.oracle is None:
        return
    with st.container(border=True, key="oracle"):
        st.markdown("**Uses the ground truth; not part of a release**")
        f1, at = found.oracle.f1, found.oracle.threshold
        st.markdown(
            f"The best threshold on the weights would be {number(at)}, with a skeleton F1 of "
            f"**{f1:.2f}**. Choosing it needs the true graph."
        )
