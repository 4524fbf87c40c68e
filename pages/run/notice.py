"""What the Run page says above its result: what was found and its price, or what is in the way."""

from __future__ import annotations

import streamlit as st

from engine import RunResult
from pages.run.ledger import step_word
from pages.shell import runs
from pages.shell import words as text
from pages.shell.drafts import drafted
from pages.shell.runs import Shown
from pages.shell.verdict import findings, price_html


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
    else:
        headline(run)


def headline(run: Shown) -> None:
    """What was found, what it cost, and why a run that ended early did."""
    words = findings(run.data, run.result)
    end = f'<div style="font-size:.9rem">{_early(run.result)}</div>' if _early(run.result) else ""
    st.html(
        '<div role="status" class="headline" style="display:flex;flex-wrap:wrap;'
        'gap:.35rem 1.2rem;align-items:center"><span style="font-size:1.15rem;font-weight:600">'
        f"{text.safe(words)}</span>{price_html(run.result)}</div>{end}"
    )


def _early(result: RunResult) -> str:
    """Why the run ended before its end; empty if it did not."""
    tested = bool(result.ci_tests_by_order)
    if result.status == "cancelled":
        if tested:
            return "Stopped: what was decided until then is shown."
        return "Stopped: the weights reached until then are shown."
    if result.status != "budget_exhausted":
        return ""
    at = f"{step_word(result)} {max(result.ledger.by_order(), default=0)}"
    if not tested:
        return f"The budget ran out at {at}; the weights reached there are shown. Raise ε to go on."
    return (
        f"The budget ran out at {at}, so links not yet tested to the end stayed. Raise ε, lower "
        "the largest order or use a smaller network to finish."
    )
