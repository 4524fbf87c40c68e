"""What a budget will buy, before any of it is spent."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine import InputError
from engine.data.networks import NETWORKS, load_network
from engine.registry import algorithm
from engine.studies.forecast import Forecast, Question, donors_for, planned_algorithms
from engine.studies.null import Shape
from pages.plan.state import JOB, PlanJob, example
from pages.plan.view import forecast_view
from pages.shell import journey, nothing
from pages.shell import words as text
from pages.shell.data import own_file
from pages.shell.form import bound

OWN = "Your declared schema"
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
FIRST = ("marginal_pc", "gram_notears", "gauss_pc")
DRAWS = 19


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
        target = st.slider("Skeleton F1 to reach", 0.3, 1.0, 0.8, 0.05, key="plan-target")
    current = job_in_force()
    if current is not None and current.running:
        JOB.watch(key="plan-stop")
    elif current is not None and current.forecasts:
        if current.schema == OWN:
            journey.done("plan")
        forecast_view(current.question, current.schema, chosen(current.forecasts), target)
    else:
        if current is not None:
            st.info(text.plain(current.problem or "Stopped before the first network."))
        if choice == OWN:  # another schema's forecast would be taken for this one's
            st.info("Press Simulate: what is shown here is about your own columns and rows alone.")
        else:
            question, schema, forecasts = example()
            forecast_view(question, schema, chosen(forecasts), target)
    journey.onward(here)


def job_in_force() -> PlanJob | None:
    """The plan that goes on or ended last, unless its schema was of a file that has gone.

    A plan of a bundled network is none of a table of one's own that is asked about.
    """
    current, own = JOB.job(), own_file()
    if current is None:
        return None
    if current.schema != OWN:
        return None if st.session_state.get("plan-schema") == OWN else current
    schema = None if own is None else own.schema
    asked = current.question
    if schema is not None and (schema.names, schema.levels) == (asked.names, asked.levels):
        return current
    current.cancel()
    return None


def chosen(forecasts: Sequence[Forecast]) -> list[Forecast]:
    """Those of the form's algorithms; all of them where none of these is among them."""
    keys = st.session_state["plan-algorithms"]
    return [f for f in forecasts if f.algorithm in keys] or list(forecasts)


def question_form() -> str:
    """What is known, and a button; whose schema it is."""
    st.subheader("What is public", anchor=False)
    own = own_file()
    schema = None if own is None else own.schema
    names = [*([OWN] if schema is not None else []), *NETWORKS]
    # The tour's last step may have put a network and a number of people there.
    st.session_state.setdefault("plan-schema", "asia" if schema is None else OWN)
    st.session_state.setdefault("plan-rows", 3_000)
    choice = st.selectbox("Schema", names, key="plan-schema")
    if choice == OWN and schema is not None and schema.rows is not None:
        rows: float = schema.rows
        what = f"{rows:,} {schema.what}, {len(schema.columns)} columns: those of your table."
        st.caption(text.plain(what))
    else:
        st.caption("State the columns of a table of your own on Data.")
        rows = st.number_input("Rows", 2, 10_000_000, step=1_000, key="plan-rows")
    density = float(
        bound(
            st.slider,
            "Links per column (a guess)",
            journey.GUESS.get(),
            "density",
            key="plan-density",
            min_value=0.2,
            max_value=3.0,
            step=0.1,
        )
    )
    keys = st.multiselect(
        "Algorithms",
        planned_algorithms(),
        list(FIRST),
        format_func=lambda key: algorithm(key).title,
        key="plan-algorithms",
    )
    if choice == OWN and schema is not None:
        columns = schema.names, schema.levels
    else:
        network = load_network(choice)
        columns = network.names, network.states
    nothing.regime([Shape(tuple(map(len, columns[1])), int(rows))], EPSILONS)
    if st.button("Simulate", type="primary", width="stretch", key="plan-go", disabled=not keys):
        try:
            question = Question(*columns, int(rows), density, donors_for(choice))
            JOB.begin(PlanJob(question, choice, EPSILONS, keys, DRAWS))
        except InputError as error:
            st.error(text.plain(str(error)))
    return choice


main()
