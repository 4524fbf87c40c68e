"""A table that has not been read: a forecast at each ε, from its columns and n alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from engine.data.schema import Schema
from engine.registry import TITLES
from engine.studies.plan import Plan, PlanRequest
from engine.studies.tune import DRAWN
from pages.draw import show, style_of
from pages.draw.charts import banded
from pages.shell import journey, state, task
from pages.shell import words as text
from pages.shell.form import refusals
from pages.shell.settings import OWN_FILE, drafted, in_force, stated
from pages.study import work
from pages.study.form import plan_fields
from pages.study.more import best
from pages.study.view import chart

NAME = "study-plan"
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
UNDECLARED = "Declare the columns of your table first: a forecast needs their levels."
START = "Press Simulate in the sidebar to forecast a release of this table. No row is read."
CHANGED = "The form has changed: press Simulate."
WITHOUT = "Computed without your background knowledge, which would fix more directions."
NETWORKS, RELEASE = ON = ("Random networks of these columns", "Synthetic tables of your release")
ABOUT = (
    "Forecast for each algorithm at each ε, from public facts only: the columns and their "
    "levels, the number of rows, and the links that you expect. No row is read."
)


def page(pressed: bool) -> None:
    """Draw the forecast for the declared schema of the user's own table."""
    here = journey.stage_at("study")
    journey.stages_bar(here)
    st.title(state.visit().page or "Choose ε", anchor=False)
    st.caption(ABOUT)
    file = OWN_FILE.get()
    if file is None or file.schema is None:
        st.info(UNDECLARED, icon=":material/table:")
    else:
        with refusals():
            _forecast(file.schema, pressed)
    journey.next_link(here)


def _forecast(schema: Schema, pressed: bool) -> None:
    """Draw the forecast for a schema and the search for its best setting; raise InputError."""
    asked = _asked(schema)
    if pressed:
        task.start(NAME, "a forecast", work.forecast, *asked)
    found = task.watch(NAME)
    if found is None:
        st.info(START)
    elif found.problem:
        task.show_problem(found)
    elif found.result.forecasts:
        if old := found.args != asked:
            st.warning(CHANGED, icon=":material/update:")
        with task.faded("study-plan", old=old):
            plan_view(found.result)
            if stated(schema).knowledge:
                st.caption(WITHOUT)
        journey.mark_done("plan")
    with st.expander("Best setting", icon=":material/tune:"):
        _best(asked[0])


def _best(request: PlanRequest) -> None:
    """Search on rows drawn from the schema, or from the release of this table."""
    where: work.Where = request
    drawn, made = "random networks of these columns", journey.released()
    if made is not None:
        other = not in_force(made[1])
        why = "Your release was made from another file." if other else None
        on = st.radio("Search on", ON, key="study-plan-on", disabled=other, help=why)
        if on == RELEASE and not other:
            where = made[0]
            drawn = f"synthetic tables drawn from your release “{made[0].name}”"
    now = drafted()
    st.caption(text.plain(
        f"The settings of {TITLES[now.algorithm]} are searched on {DRAWN} {drawn}, "
        f"{request.rows:,} rows each; the best is reported on {DRAWN} others. Nothing is charged."
    ))  # fmt: skip
    best(where, replace(now, source=replace(now.source, n=request.rows)), "skeleton_f1")


def _asked(schema: Schema) -> tuple[Any, ...]:
    """Return a forecast's key: the arguments of :func:`pages.study.work.forecast`."""
    d, delta = plan_fields(), drafted().params.get("delta", 1e-6)
    request = PlanRequest(schema.names, schema.levels, d["rows"], d["links"] or None, d["strength"])
    return request, EPSILONS, tuple(d["algorithms"]), delta, d["target"]


def plan_view(found: Plan) -> None:
    """Draw the sentence, the curves, and the table."""
    st.header(text.plain(found.sentence), anchor=False)
    points: dict[str, list[tuple[float, ...]]] = {}
    for f in found.forecasts:
        points.setdefault(f.algorithm, []).append((f.epsilon, *f.f1))
    lines = [banded(TITLES[key], some, style_of(key)) for key, some in points.items()]
    ends, alt = (EPSILONS[0], EPSILONS[-1]), "Expected skeleton F1 against ε"
    chart(lines, found.target, "Skeleton F1", alt=alt, ends=ends)
    unknown = [f.unknown and not f.noise for f in found.forecasts]
    show.table(found.table, alt="Forecasts", grey=unknown)
    st.caption(text.plain(found.notes))
