"""The form: dataset, algorithm and settings of the visit, the target, and the lines to compare."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import streamlit as st

from engine.errors import InputError
from engine.params import Parameters, Spec, param, relevant
from engine.registry import ALGORITHMS, GRAPHS, TITLES, algorithm
from engine.request import Request, as_word
from engine.studies.tune import EPSILONS, HALVINGS, OBJECTIVES, SEEDS, TARGET
from pages.forms import LEVERS, known_button, parameter_form, picker
from pages.shell import state
from pages.shell.form import beside, parameter, parameters, placed, refusals, refuse
from pages.shell.journey import Guess
from pages.shell.settings import OWN_DATA, VISIT, draft, drafted, parameters_of
from pages.study import lines

SIGHT = 4  # settings of the algorithm that take several values


@dataclass(frozen=True, kw_only=True)
class Fields(Parameters):
    """The fields that all lines share."""

    target: float = param(TARGET, "Target", low=0.3, high=1.0, step=0.05)
    objective: str = param(
        "skeleton_f1", "Score", choices=tuple(OBJECTIVES), help="Computed on fully tested edges."
    )
    seeds: int = param(
        SEEDS, "Seeds", among=(5, 10, 20, 50),
        help=f"Runs at each of {len(EPSILONS)} values of ε, and at up to {HALVINGS} more.",
    )  # fmt: skip


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
fields = partial(state.Values, Fields, PREFIX)  # the values of the page's controls
plan_fields = partial(state.Values, PlanFields, "plan.")  # those of the forecast's controls


def settings_form() -> bool:
    """Draw the controls; return whether "Find ε" was pressed."""
    form = draft()
    picker(key="study")
    if form["data"] == "own":
        return plan_form()
    parameter(VISIT["algorithm"], form, key="study", format_func=TITLES.get)
    chosen = algorithm(form["algorithm"])
    values = parameters_of(chosen.key)
    several = _several(chosen.key, values)
    with st.container(key="run-bar"):
        buttons = st.container()
    parameters(Fields.specs(), fields(), key="study")
    known_button("study")
    # The page searches for ε, so it is no setting here.
    parameter_form(chosen, values, asked=("epsilon", *several))
    with buttons:
        return _buttons(several)


def _buttons(several: Several) -> bool:
    """Draw the two buttons; both add the form's settings."""
    found: list[Request] = []
    with refusals():
        found = _requests(several)
    there = {one.request for one in lines.lines()}
    new = [one for one in found if one not in there]
    label = "Add this setting" if len(found) < 2 else f"Add these {len(found)} settings"
    how: dict[str, Any] = {"width": "stretch", "on_click": lines.add, "args": (new,)}
    pressed = st.button("Find ε", type="primary", key="study-find", **how)
    st.button(label, key="study-add", disabled=not new, **how)
    return pressed


# Fields that take several values ---------------------------------------------------------------

Several = dict[str, list[Any]]  # the values of each field by name; none where one is refused


def _several(key: str, values: state.Draft) -> Several:
    """Draw fields for the first of the algorithm's levers."""
    specs = {s.name: s for s in relevant(algorithm(key).params.specs(), values)}
    some = [specs[name] for name in LEVERS if name in specs][:SIGHT]
    typed = (Spec(name=s.name, kind="text", default="", title=s.title, high=200) for s in some)
    said, found = state.Values(typed, PREFIX), {}
    for place, spec in beside(some):
        with place:
            found[spec.name] = _entry(spec, values, said)
    if some:
        st.caption("Several values, such as “0, .02, .05”: a line for each combination.")
    return found


def _entry(spec: Spec, values: state.Draft, said: state.Draft) -> list[Any]:
    """Draw one field; a single value is the visit's, others are of this page alone."""

    def keep(entry: str) -> None:
        said[spec.name] = entry.strip()
        with suppress(InputError):
            found = _values(spec, entry)
            if len(found) == 1:
                values[spec.name], said[spec.name] = found[0], ""

    shown, key = said[spec.name] or as_word(values[spec.name]), f"study-{spec.name}"
    placed(st.text_input, spec.title, shown, keep, key=key, help=spec.help or None)
    try:
        return _values(spec, said[spec.name] or as_word(values[spec.name]))
    except InputError as error:
        refuse(str(error), key=key)
        return []


def _values(spec: Spec, words: str) -> list[Any]:
    return [spec.check(spec.parse(word.strip())) for word in words.split(",") if word.strip()]


def _requests(several: Several) -> list[Request]:
    """Return a request for each combination of the fields' values; raise InputError."""
    now = drafted()
    made = (dict(zip(several, one, strict=True)) for one in product(*several.values()))
    return [lines.checked(replace(now, params={**now.params, **one})) for one in made]


def plan_form() -> bool:
    """Controls of a forecast; returns whether it was asked for."""
    d, data = plan_fields(), OWN_DATA.get()
    new = data is not None and st.session_state.get("plan-of") != data.identity
    if data is not None and new and "plan.rows" not in st.query_params:
        st.session_state["plan-of"], d["rows"] = data.identity, data.n
    algorithms, *rest = (d.specs[n] for n in ("algorithms", "rows", "links", "strength", "target"))
    parameter(algorithms, d, key="plan", format_func=TITLES.get)
    parameters(rest, d, key="plan")
    with st.container(key="run-bar"):
        return st.button("Simulate", type="primary", key="plan-start", width="stretch")


def epsilon_now() -> float:
    """Return the visit's ε, for "you are here"."""
    value = drafted().params.get("epsilon")
    return float(value) if isinstance(value, int | float) and value > 0 else 1.0
