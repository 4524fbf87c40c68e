"""What a release at the ε beside it is expected to find, simulated from public facts alone."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable

import streamlit as st

from engine import InputError
from engine.data.schema import Schema
from engine.release.file import Release
from engine.release.settings import COVERED
from engine.studies.forecast import Forecast, Question, plan, regime
from pages.host import apart
from pages.shell import words as text
from pages.shell.job import Line, Watched, look_again, shared
from pages.shell.session import Place

DRAWS = 9
PATIENCE = 0.0  # seconds that the page waits before it shows what is there
_KEPT = 64


class Expected(Watched):
    """Random networks of a schema, and what a release at (ε, δ) finds in them."""

    queue = Line(1)

    def __init__(self, question: Question, epsilon: float, delta: float) -> None:
        super().__init__()
        self.what = "a forecast for this ε"
        self._asked = question, epsilon, delta
        self.found: Forecast | None = None

    def work(self) -> None:
        """Simulate; what is shown needs all of it."""
        question, epsilon, delta = self._asked
        told = apart.call(
            plan,
            *(question, [epsilon], [COVERED[0]]),
            delta=delta,
            draws=DRAWS,
            empty=0,
            stopped=self.stopped,
        )
        if told and not self.stopped():
            self.found, self.whole = told[0], True


# The session's: a forecast that is there at once would tell others of a table like theirs.
_STORE: Place[OrderedDict[Hashable, Expected]] = Place("release_expected", OrderedDict)


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


def _asked(schema: Schema, rows: int, density: float) -> Question | None:
    try:
        return Question(schema.names, schema.levels, rows, density)
    except InputError:
        return None


def _watch(
    question: Question, epsilon: float, delta: float, draw: Callable[[Expected], None]
) -> None:
    """Draw a forecast once it is known; one that was asked for before is there at once."""

    def find() -> Expected:
        place = question, epsilon, delta
        made = shared(
            _STORE.get(), place, Expected.lasts, lambda: Expected(question, epsilon, delta), _KEPT
        )
        made.wait(PATIENCE)
        return made

    def going() -> Expected | None:
        found = find()
        return found if found.running else None

    if going() is None:
        draw(find())
    else:
        look_again(going, draw)


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


def _say(found: Expected, question: Question, epsilon: float) -> None:
    if found.running:
        st.caption("Simulating what this ε will find …")
        return
    f = found.found
    if f is None:
        return
    st.markdown(f"**{sentence(f)}**")
    # Where n, d and ε alone say it, they have said it above.
    if f.noise and not regime(question.rows, len(question.names), [epsilon]):
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
