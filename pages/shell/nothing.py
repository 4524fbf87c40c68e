"""False positives under independence, counted on every page on which ε is chosen.

From public facts alone (:mod:`engine.studies.null`): columns, levels, rows. Two pages that show the
same setting look at the same count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine import InputError
from engine.data.networks import load_network
from engine.registry import algorithm
from engine.studies import null
from engine.studies.null import Invented, Shape
from engine.studies.plan import all_unworkable, detectability
from pages.shell.data import data_for
from pages.shell.runs import Shown
from pages.shell.settings import Source, check_rows, filled, is_simulated
from pages.shell.task import Task, look_again, shared
from pages.worker import false_links

NOTHING = "False on independent columns"  # what tables call it
COUNTING, UNKNOWN = "…", "–"  # in a table


@dataclass(frozen=True)
class Nothing:
    """Simulated tables of a shape that hold nothing, and what one setting makes of them."""

    task: Task

    @property
    def running(self) -> bool:
        """Whether it is still counted."""
        return not self.task.done

    @property
    def found(self) -> Invented | None:
        """The count, once there is one."""
        return self.task.result if self.task.complete else None

    @property
    def sentence(self) -> str:
        """The count in words; "" where there is none."""
        if self.running:
            return "Counting false positives of this setting on independent columns …"
        return "" if self.found is None else self.found.sentence


Counts = Sequence[Nothing | None]  # one for each setting; None where it is not one


def nothing_of(key: str, shape: Shape, params: Mapping[str, Any]) -> Nothing | None:
    """The count for a setting, begun if need be; None where the setting is not one."""
    values = filled(key, params)
    try:
        algorithm(key).params.build(values)
    except InputError:
        return None
    asked = key, shape, values, null.DRAWS
    place = "nothing", key, shape, tuple(values.items())
    return Nothing(shared(place, f"{algorithm(key).title}: false links", false_links, *asked))


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


def warn(key: str, shape: Shape | None, values: Mapping[str, Any], *, brief: bool = False) -> None:
    """A warning where little is to be had at an ε, or the plan leaves the answers to the noise.

    Before anything is spent, of the strict guarantee alone; what a form has in the place of a
    number says nothing here. ``brief``: without the reasons, where nothing is at stake.
    """
    epsilon, delta = values.get("epsilon"), values.get("delta")
    if shape is None or values.get("guarantee", "strict") != "strict":
        return
    if not isinstance(epsilon, int | float) or not epsilon > 0:
        return
    usual = delta if isinstance(delta, float) and 0 < delta < 1 else 1e-6
    lines = [detectability(shape.rows, len(shape.cardinalities), [epsilon], usual)]
    with suppress(InputError):  # the form says itself what does not fit
        lines += all_unworkable([key], [(shape.cardinalities, shape.rows)], [epsilon], values)
    for said in filter(None, lines):
        st.warning(f"{said.split(':')[0]}." if brief else said, icon=":material/visibility_off:")


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
    look_again(lambda: [one.task for one in find() if one is not None], lambda: draw(find()))
