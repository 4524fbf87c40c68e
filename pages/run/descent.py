"""The course of a score-based run: objective, cycles, budget by iteration, and thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from engine import RunResult
from engine.diagnostics import Descent
from engine.words.run import CLAIMED, GUARANTEED
from pages.draw.charts import LOW, Axis, Curve, Figure, curves, titled
from pages.shell.words import UNITS, number

_TINY = 1e-16  # h(W) of an acyclic graph, on a log axis
_STEPS = Axis("Iteration")


def _record(result: RunResult) -> Descent:
    found = result.diagnostics.descent()
    assert found is not None
    return found


def progress(result: RunResult) -> None:
    """Draw objective and h(W) by iteration."""
    found = _record(result)
    cycles, objective = [max(v, _TINY) for v in found.h], found.objective
    scale = Axis("h(W)", log=True)
    drawn: Figure | str = "The run ended before its first iteration."
    if cycles and objective:
        right = _line("h(W), right axis", cycles, second=True)
        lines = [_line("Objective", objective, style=1), right]
        drawn = curves(lines, _STEPS, Axis("Objective"), second=scale, height=LOW)
    elif cycles:
        drawn = curves([_line("h(W)", cycles)], _STEPS, scale, height=LOW)
    titled(
        f"{'Objective and h(W)' if objective else 'h(W)'} by iteration",
        drawn,
        key="run-descent",
        alt="Objective and h(W) at each iteration",
        help="h(W) measures cycles: it is 0 when the weights have none.",
    )
    if cycles and not objective:
        st.caption("The objective is not shown: this run never releases it.")


def _line(name: str, values: Sequence[float], **look: Any) -> Curve:
    """Return one value per iteration, from the first on."""
    count = range(1, len(values) + 1)
    return Curve(name=name, x=count, y=list(map(float, values)), mode="lines", **look)


def epsilons(result: RunResult) -> None:
    """Draw the charge of each iteration."""
    spent, ledger = _record(result).epsilon, result.ledger
    drawn: Figure | str
    if len(spent) > 1:
        title = f"{CLAIMED if ledger.cap is None else GUARANTEED}, share"
        axis = Axis(title, ends=(0.0, 1.15 * max(spent)))
        drawn = curves([_line("ε", spent)], _STEPS, axis, height=LOW)
    elif spent:
        drawn = (
            f"One release took all of ε = {number(spent[0])}. Every iteration reuses the "
            "released values and costs no ε."
        )
    else:
        drawn = "No ε: the data are read without noise." if result.claimed is None else "None."
    titled("ε by iteration", drawn, key="run-epsilons", alt="ε at each iteration")
    if len(spent) > 1:
        unit = f"; the ledger counts them in {UNITS[ledger.method]}."
        how = " as the paper adds them." if ledger.cap is None else unit
        st.caption(f"{len(spent):,} gradients, together ε = {number(sum(spent))}{how}")


def thresholds(found: Descent) -> None:
    """Show the threshold that made the graph, and separately the best one, which needs the
    truth."""
    st.caption(
        f"Edge threshold: {number(found.threshold)}. Edges below it, by weight or partial "
        f"correlation (see the settings), are not in the graph."
    )
    if (best := found.oracle) is not None:
        with st.container(border=True, key="oracle"):
            st.markdown("**Uses the ground truth; not part of a release**")
            st.markdown(
                f"The best threshold on the weights would be {number(best.threshold)}, with a "
                f"skeleton F1 of **{best.f1:.2f}**. Choosing it needs the true graph."
            )
