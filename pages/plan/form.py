"""What is asked of a plan: whose columns, how many rows, a guess of the links, which algorithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from engine import InputError
from engine.data.networks import NETWORKS, load_network
from engine.studies.forecast import Question, donors_for, planned_algorithms
from engine.studies.null import Shape
from pages.plan.state import JOB, PlanJob
from pages.plan.view import OWN, title_of
from pages.shell import journey, nothing
from pages.shell import words as text
from pages.shell.data import own_file
from pages.shell.drafts import Draft
from pages.shell.form import bound, placed
from pages.shell.form import title_of as algorithm_title

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
FIRST = ("marginal_pc", "gram_notears", "gauss_pc")
DRAWS = 19
TARGET = 0.8  # of the skeleton's F1
Options = Mapping[str, Any]


def draft() -> Draft:
    """The form as the session, or the tour's last step, left it."""
    form = journey.PLAN.get()
    for name, value in {"rows": 3_000, "algorithms": list(FIRST), "target": TARGET}.items():
        form.setdefault(name, value)
    return form


def schema_field(form: Draft, names: Sequence[str]) -> str:
    """Whose columns; one's own, where they are stated, until another is chosen."""
    chosen = form.get("schema")
    value = chosen if chosen in names else OWN if OWN in names else "asia"
    keep = partial(form.__setitem__, "schema")
    field: Options = {"options": names, "format_func": title_of}
    return str(placed(st.selectbox, "Schema", value, keep, key="plan-schema", **field))


def rows_field(form: Draft) -> int:
    """How many rows a table has that nobody has stated yet."""
    st.caption("State the columns of a table of your own on Data.")
    field: Options = {"min_value": 2, "max_value": 10_000_000, "step": 1_000}
    return int(bound(st.number_input, "Rows", form, "rows", key="plan-rows", **field))


def density_field(form: Draft) -> float:
    """The guess that a forecast hangs on."""
    field: Options = {"min_value": 0.2, "max_value": 3.0, "step": 0.1}
    title = "Links per column (a guess)"
    return float(bound(st.slider, title, form, "density", key="plan-density", **field))


def target_field(form: Draft) -> float:
    """Which F1 is to be reached."""
    field: Options = {"min_value": 0.3, "max_value": 1.0, "step": 0.05}
    title = "Skeleton F1 to reach"
    return float(bound(st.slider, title, form, "target", key="plan-target", **field))


def algorithms_field(form: Draft) -> list[str]:
    """Which algorithms are tried."""
    keys = planned_algorithms()
    field: Options = {"options": keys, "format_func": algorithm_title}
    title = "Algorithms"
    return list(bound(st.multiselect, title, form, "algorithms", key="plan-algorithms", **field))


def question_form() -> str:
    """What is known, and a button; whose schema it is."""
    st.subheader("What is public", anchor=False)
    own, form = own_file(), draft()
    schema = None if own is None else own.schema
    choice = schema_field(form, [*([OWN] if schema is not None else []), *NETWORKS])
    if choice == OWN and schema is not None and schema.rows is not None:
        rows: float = schema.rows
        what = f"{rows:,} {schema.what}, {len(schema.columns)} columns: those of your table."
        st.caption(text.plain(what))
    else:
        rows = rows_field(form)
    density, keys = density_field(form), algorithms_field(form)
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
