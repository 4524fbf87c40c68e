"""What a release at the ε beside it is expected to find, simulated from public facts alone."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

import streamlit as st

from engine import InputError
from engine.data.schema import Schema
from engine.release.settings import COVERED
from engine.studies.forecast import Forecast, Question, plan
from pages.shell import words as text
from pages.shell.job import Line, Watched, look_again, shared

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
        told = plan(
            question,
            [epsilon],
            [COVERED[0]],
            delta=delta,
            draws=DRAWS,
            empty=0,
            cancelled=self.stopped,
        )
        if told and not self.stopped():
            self.found, self.whole = told[0], True


@st.cache_resource(show_spinner=False)
def _store() -> OrderedDict[Hashable, Expected]:
    """Shared by all sessions: it follows from public facts alone."""
    return OrderedDict()


def line(schema: Schema, rows: int, density: float, epsilon: float, delta: float) -> None:
    """The forecast in a sentence, once it is known; and a warning where noise is all there is."""
    try:
        question = Question(schema.names, schema.levels, rows, density)
    except InputError:
        return

    def find() -> Expected:
        place = question, epsilon, delta
        made = shared(
            _store(), place, Expected.lasts, lambda: Expected(question, epsilon, delta), _KEPT
        )
        made.wait(PATIENCE)
        return made

    def going() -> Expected | None:
        found = find()
        return found if found.running else None

    with st.container(key="expected"):
        if going() is None:
            _say(find(), rows * epsilon)
        else:
            look_again(going, lambda found: _say(found, rows * epsilon))


def _say(found: Expected, product: float) -> None:
    if found.running:
        st.caption("Simulating what this ε will find …")
        return
    f = found.found
    if f is None:
        return
    st.markdown(f"**{sentence(f)}**")
    if f.noise:
        st.warning(
            f"With n·ε = {text.number(product)} expect nothing but noise: more links are invented "
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
