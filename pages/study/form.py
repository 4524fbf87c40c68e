"""The form: the visit's dataset, its n, an algorithm with its settings as they stand, a target."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from engine.params import Parameters, param
from engine.registry import ALGORITHMS, GRAPHS, TITLES, algorithm
from engine.request import Request
from engine.studies.tune import OBJECTIVES, SEEDS, TARGET
from pages.forms import algorithm_choice, known_button, parameter_form, picker, shape_of
from pages.shell import state
from pages.shell.form import bound, parameters
from pages.shell.journey import Guess
from pages.shell.settings import (
    OWN_DATA,
    draft,
    drafted,
    drafted_source,
    parameters_of,
)
from pages.study.work import Aim


@dataclass(frozen=True, kw_only=True)
class Fields(Parameters):
    """The fields of the form."""

    target: float = param(TARGET, "Target", low=0.3, high=1.0, step=0.05)
    objective: str = param(
        "skeleton_f1", "Score", choices=tuple(OBJECTIVES), help="Computed on fully tested edges."
    )
    seeds: int = param(
        SEEDS, "Seeds", among=(5, 10, 20, 50), help="Runs at each of 17 values of ε."
    )
    others: tuple[str, ...] = param(
        (), "Compare with", choices=GRAPHS, help="At their defaults, same guarantee."
    )


@dataclass(frozen=True, kw_only=True)
class PlanFields(Guess):
    """Expectations about a table that has not been read."""

    rows: int = param(3_000, "Rows", low=2, high=10_000_000)
    algorithms: tuple[str, ...] = param(
        ("marginal_pc", "priv_pc", "svt_pc"),
        "Algorithms",
        choices=tuple(k for k in GRAPHS if "strict" in ALGORITHMS[k].guarantees),
    )
    target: float = param(TARGET, "Target: skeleton F1", low=0.3, high=1.0, step=0.05)


PREFIX = "study."


def fields() -> state.Values:
    """Return the values of the page's controls."""
    return state.Values(Fields, PREFIX)


def plan_fields() -> state.Values:
    """Return the values of the forecast's controls."""
    return state.Values(PlanFields, "plan.")


def aim_of(request: Request) -> Aim:
    """Return the form's present aim for a request."""
    d = fields()
    return Aim(request.family, d["target"], d["objective"], d["seeds"], tuple(d["others"]))


def settings_form() -> bool:
    """The controls; returns whether "Find ε" was pressed."""
    form, d = draft(), fields()
    picker(key="study")
    if form["data"] == "own":
        return plan_form()
    chosen = algorithm(algorithm_choice(form, key="study-algorithm"))
    left, right = st.columns(2, gap="small")
    specs = d.specs
    with left:
        parameters([specs["target"]], d, key="study")
    with right:
        bound(
            st.radio, "Score", d, "objective", key="study-objective", options=list(OBJECTIVES),
            format_func=OBJECTIVES.get,
        )  # fmt: skip
    with st.container(key="run-bar"):
        pressed = st.button("Find ε", type="primary", key="study-find", width="stretch")
    known_button("study")
    # The page searches for ε, so it is no setting here.
    parameter_form(chosen, parameters_of(chosen.key), shape_of(drafted_source()), asked="epsilon")
    bound(
        st.multiselect, "Compare with", d, "others", key="study-others",
        options=[k for k in GRAPHS if k != chosen.key], format_func=TITLES.__getitem__,
        help=specs["others"].help,
    )  # fmt: skip
    parameters([specs["seeds"]], d, key="study")
    return pressed


def plan_form() -> bool:
    """Controls of a forecast; returns whether it was asked for."""
    d, data = plan_fields(), OWN_DATA.get()
    new = data is not None and st.session_state.get("plan-of") != data.identity
    if data is not None and new and "plan.rows" not in st.query_params:
        st.session_state["plan-of"], d["rows"] = data.identity, data.n
    bound(
        st.multiselect, "Algorithms", d, "algorithms", key="plan-algorithms",
        options=list(d.specs["algorithms"].choices), format_func=TITLES.__getitem__,
    )  # fmt: skip
    rest = [s for s in d.specs.values() if s.name != "algorithms"]
    parameters(rest, d, key="plan")
    with st.container(key="run-bar"):
        return st.button("Simulate", type="primary", key="plan-start", width="stretch")


def epsilon_now() -> float:
    """The visit's ε, for "you are here"."""
    value = drafted().params.get("epsilon")
    return float(value) if isinstance(value, int | float) and value > 0 else 1.0
