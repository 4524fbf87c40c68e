"""What the Run page says above its result: what the app is, what was found and its price."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine import InputError, RunResult
from engine.graphs.metrics import Counts
from engine.registry import ALGORITHMS, algorithm
from engine.studies.null import Shape
from engine.studies.price import BOUNDED, PAPER, PriceStep, price_steps
from pages.run.ledger import step_word
from pages.shell import knowledge, nothing, runs
from pages.shell import words as text
from pages.shell.drafts import drafted
from pages.shell.runs import Shown, compute
from pages.shell.settings import Settings, filled
from pages.shell.verdict import findings, price_html, step_words


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
    words = findings(run.result)
    end = f'<div style="font-size:.9rem">{_early(run.result)}</div>' if _early(run.result) else ""
    st.html(
        '<div role="status" class="headline" style="display:flex;flex-wrap:wrap;'
        'gap:.35rem 1.2rem;align-items:center"><span style="font-size:1.15rem;font-weight:600">'
        f"{text.safe(words)}</span>{price_html(run.result)}</div>{end}"
    )
    if run.result.order_words:
        st.caption(run.result.order_words)
    knowledge.line(run.result)
    nothing.line(run.result.algorithm, Shape.of(run.data), run.settings.params, "run")


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


# What the app is, and what each part of this run's method costs: steps from the truth to it ---


OURS = "marginal_pc"
MOST_COLUMNS = 12  # with more a second private run takes longer than a first look may
_ABOUT = (
    "A causal graph says which variables act on which. This app learns one from many people's "
    "records and shows what it costs to hide each single person."
)


def story(run: Shown) -> None:
    """One plain paragraph about the run on screen: its data, its guarantee, its seed.

    Drawn last, into a place kept on top: the page does not wait for its runs.
    """
    try:
        st.markdown(f"{_ABOUT} {price_words(run)}")
    except InputError:
        st.markdown(_ABOUT)


def price_words(run: Shown) -> str:
    """Which links the test loses, which its bounded form, and which the noise; computed, cached."""
    result, counts = run.result, run.result.counts
    if not run.data.public or counts is None or result.status == "cancelled":
        return ""
    steps = price_steps(run.data, result.algorithm, result.params)
    if not steps:
        return ""
    title = text.plain(text.dataset_title(run.data))
    start = f"**{title}** ({run.data.n:,} rows) has **{text.count(counts.true, 'true link')}**."
    return f"{start} {_without(steps)} {_with(result, counts, steps)}{_ours(run)}"


def _without(steps: Sequence[PriceStep]) -> str:
    """The searches without noise, each with what it finds."""
    found = [f"{step_words(s)} finds {_found(s.counts)}" for s in steps]
    return f"Without noise, {_list(found)}."


def _with(result: RunResult, counts: Counts, steps: Sequence[PriceStep]) -> str:
    """The run on screen, in the headline's own numbers."""
    chosen = algorithm(result.algorithm)
    if not chosen.private:
        return "This run is one of these, and hides nobody."
    epsilon = text.number(float(result.params.as_dict()["epsilon"]))
    strict = result.ledger.cap is not None
    guarantee = (
        f"at most ε = {epsilon} for everything (strict)"
        if strict
        else f"ε = {epsilon} as published, for {chosen.epsilon_pays}"
    )
    last = steps[-1].counts
    blame = " Only this last step is the noise's." if steps[-1].kind in (BOUNDED, PAPER) else ""
    same = (last.found, last.invented) == (counts.found, counts.invented)
    blame = " The noise changes none of that here." if same and not counts.untested else blame
    return f"With {guarantee}, {chosen.title} finds {_found(counts)}.{blame}"


def _ours(run: Shown) -> str:
    """Marginal PC at the same ε and seed, where it is quick and the guarantee is of its kind."""
    result = run.result
    epsilon = getattr(result.params, "epsilon", None)
    if result.ledger.cap is None or epsilon is None or result.algorithm == OURS:
        return ""
    if run.data.d > MOST_COLUMNS or algorithm(result.algorithm).family != "constraint-based":
        return ""
    given = result.params.as_dict()
    values = {"epsilon": epsilon, "delta": given["delta"]}
    other = compute(Settings(run.settings.source, OURS, filled(OURS, values), run.settings.seed))
    counts = other.result.counts
    exact = price_steps(run.data, OURS, other.result.params)
    if counts is None or not exact:
        return ""
    return (
        f" Our {ALGORITHMS[OURS].title} reads tables of counts instead: {_found(exact[-1].counts)} "
        f"without noise, {_found(counts)} with the same ε."
    )


def _found(counts: Counts) -> str:
    """ "**5**", with what was invented and what was left open, if anything was."""
    more = [f"invents {counts.invented:,}"] if counts.invented else []
    if counts.untested:
        more.append(f"leaves {text.count(counts.untested, 'pair')} not tested to the end")
    return f"**{counts.found}**" + (f" (and {' and '.join(more)})" if more else "")


def _list(parts: Sequence[str]) -> str:
    return ", ".join(parts[:-1]) + f" and {parts[-1]}" if len(parts) > 1 else parts[0]
