"""What the Run page says above its result: what the app is, what was found and its price."""

from __future__ import annotations

import streamlit as st

from engine import InputError, RunResult
from engine.registry import ALGORITHMS, algorithm
from engine.studies.null import Shape
from engine.studies.price import price_steps
from pages.draw import price
from pages.shell import knowledge, nothing, runs
from pages.shell import words as text
from pages.shell.drafts import drafted
from pages.shell.palette import theme
from pages.shell.runs import Shown, compute
from pages.shell.settings import Settings, filled


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
    said = run.result.summary()
    end = f'<div style="font-size:.9rem">{text.safe(said.ended)}</div>' if said.ended else ""
    st.html(
        '<div role="status" class="headline" style="display:flex;flex-wrap:wrap;'
        'gap:.35rem 1.2rem;align-items:center"><span style="font-size:1.15rem;font-weight:600">'
        f"{text.safe(said.headline)}</span>{price.promise_html(said.promise)}</div>{end}"
    )
    for line in (run.result.diagnostics.chosen, said.order):
        if line:
            st.caption(line)
    knowledge.line(run.result)
    nothing.line(run.result.algorithm, Shape.of(run.data), run.settings.params, "run")


# What the app is, and what each part of this run's method costs: steps from the truth to it ---


OURS = "marginal_pc"
MOST_COLUMNS = 12  # with more a second private run takes longer than a first look may
ABOUT = (
    "A causal graph says which variables act on which. This app learns one from many people's "
    "records and shows what it costs to hide each single person."
)


def has_price(run: Shown) -> bool:
    """Whether it can be said where the links of a run went."""
    result = run.result
    return run.data.public and result.counts is not None and result.status != "cancelled"


def price_view(run: Shown) -> None:
    """Which links the test loses, which its bounded form, and which the noise, as bars.

    Drawn last, into a place kept for it: the page does not wait for its runs.
    """
    steps = price_of(run)
    if not steps:
        return
    st.html(f"<style>{price.STYLE}</style>")
    st.markdown(f"**{price.TITLE}**", help=_with(run.result))
    st.html(price.price_html(steps, theme()))


def price_of(run: Shown) -> list[price.Step]:
    """The steps of a run on public data, and Marginal PC beside it; computed, cached."""
    if not has_price(run):
        return []
    try:
        before = price_steps(run.data, run.result.algorithm, run.result.params)
        return [*price.steps_of(run.result, before), *_ours(run)] if before else []
    except InputError:
        return []


def _with(result: RunResult) -> str:
    """What the last step pays, and for what."""
    chosen = algorithm(result.algorithm)
    if not chosen.private:
        return "This run is one of these, and hides nobody."
    epsilon = text.number(float(result.params.as_dict()["epsilon"]))
    if result.ledger.cap is not None:
        return f"{chosen.title} pays at most ε = {epsilon} for everything (strict)."
    return f"{chosen.title} pays ε = {epsilon} as published, for {chosen.epsilon_pays}."


def _ours(run: Shown) -> list[price.Step]:
    """Marginal PC at the same ε and seed, where it is quick and the guarantee is of its kind."""
    result = run.result
    epsilon = getattr(result.params, "epsilon", None)
    if result.ledger.cap is None or epsilon is None or result.algorithm == OURS:
        return []
    if run.data.d > MOST_COLUMNS or algorithm(result.algorithm).family != "constraint-based":
        return []
    given = result.params.as_dict()
    values = {"epsilon": epsilon, "delta": given["delta"]}
    other = compute(Settings(run.settings.source, OURS, filled(OURS, values), run.settings.seed))
    if (counts := other.result.counts) is None:
        return []
    return [
        price.step(counts, f"our {ALGORITHMS[OURS].title} with the same ε, from tables", lit=True)
    ]
