"""A table that has not been read: a forecast at each ε, from its columns and n alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from engine import InputError
from engine.data.schema import Schema
from engine.registry import TITLES
from engine.studies.plan import Plan, PlanRequest
from engine.studies.tune import DRAWN
from pages.draw import charts, show, style_of
from pages.draw.charts import Axis, Curve, curves
from pages.shell import journey, state, task
from pages.shell import words as text
from pages.shell.settings import OWN_FILE, drafted, in_force, stated
from pages.study import work
from pages.study.form import plan_fields
from pages.study.more import best
from pages.study.view import of_form, target_line

NAME = "study-plan"
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
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
        st.info(
            "Declare the columns of your table first: a forecast needs their levels.",
            icon=":material/table:",
        )
        journey.next_link(here)
        return
    try:
        asked = _asked(file.schema)
    except InputError as error:
        st.error(text.plain(str(error)), icon=":material/error:")
        return
    if pressed:
        task.start(NAME, "a forecast", work.forecast, *asked)
    found = task.watch(NAME)
    if found is not None and found.problem:
        task.show_problem(found)
    elif found is not None and found.result.forecasts:
        old = found.args != asked
        with of_form("study-plan", "The form has changed: press Simulate.", old=old):
            plan_view(found.result)
            if stated(file.schema).knowledge:
                st.caption(
                    "Computed without your background knowledge, which would fix more directions."
                )
        journey.mark_done("plan")
    elif found is None:
        st.info(
            "Press Simulate in the sidebar to forecast a release of this table. No row is read."
        )
    with st.expander("Best setting", icon=":material/tune:"):
        _best(asked[0])
    journey.next_link(here)


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
    lines = []
    for key in dict.fromkeys(f.algorithm for f in found.forecasts):
        own = sorted((f for f in found.forecasts if f.algorithm == key), key=lambda f: f.epsilon)
        f1 = [f.f1 for f in own]
        ends: Any = {end: [getattr(b, end) for b in f1] for end in ("low", "high")}
        lines.append(
            Curve(name=TITLES[key], x=[f.epsilon for f in own], y=[b.median for b in f1],
                  style=style_of(key), **ends)
        )  # fmt: skip
    lines.append(target_line(found.target, (min(EPSILONS), max(EPSILONS))))
    drawn = curves(lines, Axis("ε", log=True), Axis("Skeleton F1", ends=(0.0, 1.02)))
    charts.figure(drawn, key="study-plan-curve", alt="Expected skeleton F1 against ε")
    unknown = [f.unknown and not f.noise for f in found.forecasts]
    show.table(found.table, alt="Forecasts", grey=unknown)
    st.caption(text.plain(found.notes))
