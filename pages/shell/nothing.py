"""What a setting invents where nothing is, counted beside every page on which ε is chosen.

From public facts alone (:mod:`engine.studies.null`): columns, levels, rows. Two pages that show the
same setting look at the same count.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import streamlit as st

from engine import InputError
from engine.data.networks import load_network
from engine.registry import algorithm
from engine.studies import null
from engine.studies.forecast import regime as told
from engine.studies.null import Invented, Shape, invented
from engine.studies.planning import all_unworkable
from pages.host import apart
from pages.shell.data import data_for
from pages.shell.job import Line, Watched, look_again, shared
from pages.shell.runs import Shown
from pages.shell.session import Place
from pages.shell.settings import Source, check_rows, filled, is_simulated

SECONDS = 60.0  # for one setting; fewer tables are counted where that is too short
PATIENCE = 0.0  # seconds that a page waits before it shows what is there
NOTHING = "Invented on nothing"  # what tables call it
COUNTING, UNKNOWN = "…", "–"  # in a table
_KEPT = 256


class Nothing(Watched):
    """Simulated tables of a shape that hold nothing, and what one setting makes of them."""

    queue = Line(1)

    def __init__(self, key: str, shape: Shape, params: Mapping[str, Any]) -> None:
        super().__init__()
        self.what = f"{algorithm(key).title} on nothing"
        self._asked = key, shape, dict(params)
        self.found: Invented | None = None

    def work(self) -> None:
        """Run on every table."""
        stop = self.until(time.monotonic() + SECONDS)
        found = apart.call(invented, *self._asked, draws=null.DRAWS, stopped=stop)
        if not self.stopped():
            self.found, self.whole = found, True

    @property
    def sentence(self) -> str:
        """The count in words; "" where there is none."""
        if self.running:
            return "Counting what this setting invents on data with nothing in them …"
        return "" if self.found is None else self.found.sentence


Counts = Sequence[Nothing | None]  # one for each setting; None where it is not one


@st.cache_resource(show_spinner=False)
def _store() -> OrderedDict[Hashable, Nothing]:
    """Shared by all sessions: counts for the shapes of public tables."""
    return OrderedDict()


# For a person's own shapes: a count that is there at once would tell others of the table.
_OWN: Place[OrderedDict[Hashable, Nothing]] = Place("nothing_own", OrderedDict)


def nothing_of(key: str, shape: Shape, params: Mapping[str, Any]) -> Nothing | None:
    """The count for a setting, begun if need be; None where the setting is not one."""
    values = filled(key, params)
    try:
        algorithm(key).params.build(values)
    except InputError:
        return None
    place = key, shape, tuple(values.items())
    store = _store() if shape.public else _OWN.get()
    found = shared(store, place, Nothing.lasts, lambda: Nothing(key, shape, values), _KEPT)
    found.wait(PATIENCE)
    return found


def nothing_for(run: Shown) -> Nothing | None:
    """The count for a run's setting, on the shape of its data."""
    return nothing_of(run.result.algorithm, Shape.of(run.data), run.settings.params)


def shape_of(source: Source) -> Shape | None:
    """The shape of the data that a form names; None where there are none yet."""
    try:
        if source.own or is_simulated(source.name):
            return Shape.of(data_for(source))
        check_rows(source)
        return Shape(tuple(map(len, load_network(source.name).states)), source.n)
    except InputError:
        return None


def line(key: str, shape: Shape | None, params: Mapping[str, Any], place: str) -> None:
    """One quiet line about a setting on data of this shape, which comes once it is known.

    ``place`` says where on a page it stands: its room is kept there, so that nothing jumps.
    """
    with st.container(key=f"nothing-{place}"):
        if shape is not None:
            watch(lambda: [nothing_of(key, shape, params)], lambda found: _say(found[0]))


def regime(shapes: Sequence[Shape | None], epsilons: Sequence[Any], delta: Any = None) -> None:
    """A warning where little is to be had at an ε, before anything is spent.

    One line for each shape that it holds for; a shape that is not known, and what a form has in
    the place of a number, say nothing.
    """
    numbers = [float(e) for e in epsilons if isinstance(e, int | float) and e > 0]
    usual = delta if isinstance(delta, float) and 0 < delta < 1 else 1e-6
    known = [shape for shape in shapes if shape is not None]
    found = (told(shape.rows, len(shape.cardinalities), numbers, usual) for shape in known)
    if lines := list(dict.fromkeys(filter(None, found))):
        st.warning("\n\n".join(lines), icon=":material/visibility_off:")


def unworkable(
    keys: Sequence[str],
    shapes: Sequence[Shape | None],
    epsilons: Sequence[Any],
    values: Mapping[str, Any],
) -> None:
    """A warning where an algorithm's own plan leaves its answers to the noise."""
    known = [(shape.cardinalities, shape.rows) for shape in shapes if shape is not None]
    numbers = [float(e) for e in epsilons if isinstance(e, int | float) and e > 0]
    try:
        lines = all_unworkable(keys, known, numbers, values)
    except InputError:  # the form says itself what does not fit
        return
    if lines:
        st.warning("\n\n".join(lines), icon=":material/visibility_off:")


def _say(found: Nothing | None) -> None:
    if found is not None and found.sentence:
        st.caption(found.sentence)


def cell(found: Nothing | None) -> str:
    """The count in a table."""
    if found is None or not (found.running or found.found):
        return UNKNOWN
    return COUNTING if found.found is None else found.found.about


def watch(find: Callable[[], Counts], draw: Callable[[Counts], None]) -> None:
    """Draw counts; while one of them goes on, again and again."""

    def going() -> Nothing | None:
        return next((one for one in find() if one is not None and one.running), None)

    if going() is None:
        draw(find())
    else:
        look_again(going, lambda _: draw(find()))
