"""The expected result of a release, simulated from public facts only."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import streamlit as st

from engine import InputError
from engine.data.schema import Schema
from engine.release.file import ALGORITHM
from engine.studies.detectability import detectability
from engine.studies.plan import Forecast, PlanRequest, no_graph
from pages.shell import journey, state
from pages.shell.task import redraw_until_done, shared
from pages.table.work import forecast
from pages.worker import NETWORKS


def expect(
    schema: Schema, rows: int, epsilon: float, delta: float, came: int | None = None
) -> None:
    """Show the expected result of a release at (ε, δ), and the actual one of a finished release."""
    said, columns = state.Values(journey.Guess, "plan."), (schema.names, schema.levels)
    with suppress(InputError):
        question = PlanRequest(*columns, rows, said["links"] or None, said["strength"])
        call = question, epsilon, delta, ALGORITHM, NETWORKS
        find = partial(shared, ("expected", *call), "a forecast for this ε", forecast, *call)

        def draw() -> None:
            task = find()
            if not task.done:
                st.caption("Simulating what this ε will find …")
            elif task.complete and came is not None:
                st.markdown(f"**{against(task.result, came)}**")
            elif task.complete:
                _say(task.result, question, epsilon, delta)

        with st.container(key="expected" if came is None else "expected-release"):
            redraw_until_done(lambda: [find()], draw)


def against(f: Forecast, came: int) -> str:
    """A release's number of links next to the forecast's."""
    band, false = f.shown, round(f.false_positives.median)
    said = (
        f"Forecast: {band.low:.0f} to {band.high:.0f} links shown, {false or 'none'} of them "
        f"false, skeleton F1 between {f.f1.low:.2f} and {f.f1.high:.2f}. Result: {came}."
    )
    if band.holds(came):
        return said
    if came < band.low:
        why = "less than forecast: the links are weaker, or fewer, than in most simulated tables"
    else:
        why = "more than forecast: there are more links, or stronger ones, than you guessed"
    return f"{said} That is {why}."


def _say(f: Forecast, question: PlanRequest, epsilon: float, delta: float) -> None:
    false = round(f.false_positives.median)
    st.markdown(
        f"**Expect about {f.found.median:.0f} of {f.links.median:.0f} links, and "
        f"{false or 'no'} false {'one' if false == 1 else 'ones'}.**"
    )
    # The page says above if n, d and ε already imply it.
    if f.poor and not detectability(question.rows, len(question.names), [epsilon], delta):
        st.warning(no_graph(question, [epsilon], delta), icon=":material/warning:")
    st.caption(
        f"Simulated on {f.draws} random networks of your columns and rows, with "
        f"{question.assumed}. No row was read, and nothing was spent."
    )
