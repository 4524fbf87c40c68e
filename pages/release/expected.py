"""What a release at the ε beside it is expected to find, simulated from public facts alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from engine import InputError
from engine.data.schema import Schema
from engine.release.file import Release
from engine.release.settings import COVERED
from engine.studies.plan import Forecast, PlanRequest, detectability
from pages.release.work import forecast
from pages.shell import words as text
from pages.shell.task import Task, look_again, shared

DRAWS = 9


@dataclass(frozen=True)
class Expected:
    """Random networks of a schema, and what a release at (ε, δ) finds in them."""

    task: Task

    @property
    def running(self) -> bool:
        """Whether it is still simulated."""
        return not self.task.done

    @property
    def found(self) -> Forecast | None:
        """The forecast, once there is one."""
        return self.task.result if self.task.complete else None


def line(schema: Schema, rows: int, density: float, epsilon: float, delta: float) -> None:
    """The forecast in a sentence, once it is known; and a warning where noise is all there is."""
    if (question := _asked(schema, rows, density)) is not None:
        with st.container(key="expected"):
            _watch(question, epsilon, delta, lambda found: _say(found, question, epsilon))


def beside(release: Release, density: float, place: str) -> None:
    """What was forecast for a release, beside what came; from its public facts alone."""
    epsilon, delta = float(release.total.epsilon), float(release.total.delta)
    came = len({frozenset(pair) for pair in release.cpdag})
    if (question := _asked(release.schema, release.rows, density)) is not None:
        with st.container(key=f"expected-{place}"):
            _watch(question, epsilon, delta, lambda found: _compare(found, came))


def _asked(schema: Schema, rows: int, density: float) -> PlanRequest | None:
    try:
        return PlanRequest(schema.names, schema.levels, rows, density)
    except InputError:
        return None


def _watch(
    question: PlanRequest, epsilon: float, delta: float, draw: Callable[[Expected], None]
) -> None:
    """Draw a forecast once it is known; one that was asked for before is there at once."""

    def find() -> Expected:
        call = question, epsilon, delta, COVERED[0], DRAWS
        return Expected(shared(("expected", *call), "a forecast for this ε", forecast, *call))

    look_again(lambda: [find().task], lambda: draw(find()))


def _compare(found: Expected, came: int) -> None:
    if found.running:
        st.caption("Simulating what was to be expected of it …")
    elif found.found is not None:
        st.markdown(f"**{against(found.found, came)}**")


def against(f: Forecast, came: int) -> str:
    """A release's number of links beside the forecast's."""
    band, invented = f.shown, round(f.invented.median)
    said = (
        f"Forecast: {band.low:.0f} to {band.high:.0f} links shown, {invented or 'none'} of them "
        f"invented, skeleton F1 between {f.f1.low:.2f} and {f.f1.high:.2f}. Came: {came}."
    )
    if band.holds(came):
        return said
    less = came < band.low
    why = (
        "the links are weaker, or fewer, than in most simulated tables"
        if less
        else "there are more links, or stronger ones, than the guess had"
    )
    return f"{said} That is {'less' if less else 'more'} than forecast: {why}."


def _say(found: Expected, question: PlanRequest, epsilon: float) -> None:
    if found.running:
        st.caption("Simulating what this ε will find …")
        return
    f = found.found
    if f is None:
        return
    st.markdown(f"**{sentence(f)}**")
    # Where n, d and ε alone say it, they have said it above.
    if f.noise and not detectability(question.rows, len(question.names), [epsilon]):
        product = text.number(question.rows * epsilon)
        st.warning(
            f"With n·ε = {product} expect nothing but noise: more links are invented "
            "than found, or next to none is. Ask for a larger ε, or coarser levels.",
            icon=":material/warning:",
        )
    st.caption(
        f"Simulated on {f.draws} random networks of your columns and rows; no row was read, and "
        "nothing was spent."
    )


def sentence(f: Forecast) -> str:
    """About how many links will be found and invented."""
    invented = round(f.invented.median)
    return (
        f"Expect about {f.found.median:.0f} of {f.links.median:.0f} links, and "
        f"{invented or 'none'} invented."
    )
