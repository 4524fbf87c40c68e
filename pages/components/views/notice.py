"""What the Run page says above its result."""

from __future__ import annotations

import streamlit as st

from engine import RunResult
from pages.components import text
from pages.components.state import runs
from pages.components.state.drafts import drafted
from pages.components.state.runs import Shown
from pages.components.views.ledger import step_word


def notice(run: Shown, old: bool) -> None:
    """One box of fixed height: what was refused, what is stale, or what was found."""
    if problem := runs.refusal():
        st.error(text.plain(problem), icon=":material/error:")
    elif runs.stopped(drafted()):
        st.warning(
            "Stopped before anything was decided. Below is the last result; press Run to start "
            "again.",
            icon=":material/stop_circle:",
        )
    elif old:
        st.warning("Settings changed – press Run.", icon=":material/update:")
    elif run.result.status == "cancelled":
        st.warning(
            "Stopped: what was decided until then is shown. Edges not yet tested are still in the "
            "graph."
            if run.result.ci_tests_by_order
            else "Stopped: the weights reached until then are shown.",
            icon=":material/stop_circle:",
        )
    elif run.result.status == "budget_exhausted":
        st.warning(_exhausted(run.result), icon=":material/battery_alert:")
    else:
        st.info(_summary(run), icon=":material/check_circle:")


def _exhausted(result: RunResult) -> str:
    at = f"{step_word(result)} {max(result.ledger.by_order(), default=0)}"
    if not result.ci_tests_by_order:
        return f"The budget ran out at {at}; the weights reached there are shown. Raise ε to go on."
    return (
        f"The budget ran out at {at}, so the edges not yet tested stayed. Raise ε, lower "
        "the largest order or use a smaller network to finish."
    )


def _summary(run: Shown) -> str:
    scores, result = run.result.metrics, run.result
    if scores is None:
        edges = text.count(len(result.skeleton), "edge")
        return f"Complete: {edges} found. There is no truth to compare with."
    found = scores.correct + scores.wrong_direction
    true = found + scores.missed
    return (
        f"Complete: {found} of {text.count(true, 'true edge')} found, "
        f"{scores.wrong_direction} of them with another direction; {scores.extra} invented."
    )
