"""What a budget will buy, before any of it is spent."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine.studies.forecast import Forecast
from pages.plan.form import draft, question_form, target_field
from pages.plan.state import JOB, PlanJob, example
from pages.plan.view import OWN, forecast_view, whose
from pages.shell import journey
from pages.shell import words as text
from pages.shell.data import own_file


def main() -> None:
    """The page, top to bottom."""
    here = journey.at("plan")
    journey.bar(here)
    st.html("<h1>Plan</h1>")
    st.caption(
        "What each algorithm will find at each ε, from public facts alone: the columns and their "
        "levels, the number of rows, and a guess of how many links there are."
    )
    with st.sidebar:
        choice = question_form()
        target = target_field(draft())
    current = job_in_force(choice)
    if current is not None and current.running:
        JOB.watch(key="plan-stop")
    elif current is not None and current.forecasts:
        if current.schema == OWN:
            journey.done("plan")
        forecast_view(current.question, whose(current.schema), chosen(current.forecasts), target)
    else:
        if current is not None:
            st.info(text.plain(current.problem or "Stopped before the first network."))
        if choice == OWN:  # another schema's forecast would be taken for this one's
            st.info("Press Simulate: what is shown here is about your own columns and rows alone.")
        else:
            question, schema, forecasts = example()
            forecast_view(question, whose(schema), chosen(forecasts), target)
    journey.onward(here)


def job_in_force(choice: str) -> PlanJob | None:
    """The plan that goes on or ended last, unless its schema was of a file that has gone.

    A plan of a bundled network is none of a table of one's own that is asked about.
    """
    current, own = JOB.job(), own_file()
    if current is None:
        return None
    if current.schema != OWN:
        return None if choice == OWN else current
    schema = None if own is None else own.schema
    asked = current.question
    if schema is not None and (schema.names, schema.levels) == (asked.names, asked.levels):
        return current
    current.cancel()
    return None


def chosen(forecasts: Sequence[Forecast]) -> list[Forecast]:
    """Those of the form's algorithms; all of them where none of these is among them."""
    keys = draft()["algorithms"]
    return [f for f in forecasts if f.algorithm in keys] or list(forecasts)


main()
