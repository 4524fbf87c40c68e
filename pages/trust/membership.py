"""Membership in a released model: a tracing attack, and its limits."""

from __future__ import annotations

import streamlit as st

from engine import load_dataset
from engine.audit.tracing import Tracing, tracing
from engine.percent import percent
from pages.draw import PLAIN
from pages.draw.charts import Axis, Curve, curves, figure

NETWORK, ROWS, MEMBERS = "child", 100_000, 200
EPSILON = 1.0


@st.cache_data(show_spinner=False)
def _traced(epsilon: float | None) -> Tracing:
    return tracing(load_dataset(NETWORK, n=ROWS), MEMBERS, epsilon)


def membership_view() -> None:
    """Draw the power of the attack against its false positives, with noise and without."""
    box = st.expander("Membership: does a released model reveal whose data it used?",
                      key="audit-membership", on_change="rerun")  # fmt: skip
    if not box.open:
        return
    exact, private = _traced(None), _traced(EPSILON)
    at = exact.false_positives.index(0.1)
    with box:
        st.caption(
            f"The graph of {NETWORK.capitalize()} and its tables, made from {MEMBERS} people. An "
            f"attacker compares a person's likelihood under them with that in the population "
            f"(Murakonda et al. 2021) and wrongly accuses 10 of 100 others. The attacker then "
            f"recognises {percent(exact.measured[at])} of the members in the exact tables, and "
            f"{percent(private.measured[at])} in tables released with ε = {EPSILON:g}."
        )
        lines = [
            Curve(name=name, x=found.false_positives, y=values, style=style, mode="lines")
            for name, found, values, style in (
                ("Exact tables, measured", exact, exact.measured, 0),
                ("Exact tables, at most about", exact, exact.claimed, PLAIN + 2),
                (f"ε = {EPSILON:g}, measured", private, private.measured, 1),
                (f"ε = {EPSILON:g}, at most", private, private.claimed, PLAIN + 1),
            )
        ]
        axes = Axis("False positives"), Axis("Members recognised", ends=(0.0, 1.0))
        figure(curves(lines, *axes, height=320), key="audit-membership-curve",
               alt="Members recognised against false positives")  # fmt: skip
