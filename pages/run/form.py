"""The Run page's form: dataset, algorithm, its levers and ε at sight, the rest folded away."""

from __future__ import annotations

import time
from functools import partial

import streamlit as st

from engine.algorithm import Algorithm
from engine.privacy.budget import PRESETS
from engine.registry import algorithm
from pages.draw import recommended
from pages.shell.form import (
    algorithm_choice,
    known_button,
    parameter,
    parameter_form,
    picker,
    placed,
)
from pages.shell.runs import shape_of
from pages.shell.settings import (
    VISIT,
    Settings,
    draft,
    drafted,
    drafted_source,
    filled,
    parameters_of,
)
from pages.shell.state import Draft, Place

# What Run was pressed for, and when, until the script comes to it. A press of something else starts
# the script again, and of the first press only what its callback did is left.
_PRESSED: Place[tuple[Settings, float] | None] = Place("run_pressed")
_KEPT = 5.0  # seconds: who went elsewhere meanwhile finds no run begun when coming back


def settings_form() -> bool:
    """Dataset, algorithm, parameters, seed; returns whether Run was pressed."""
    form = draft()
    picker(key="run", seeded=False)
    chosen = algorithm(algorithm_choice(form, key="run-algorithm"))
    params = parameters_of(chosen.key)
    folded = partial(_folded, chosen, params)
    parameter_form(chosen, params, shape_of(drafted_source()), levers=2, folded=folded)
    with st.container(key="run-bar"):
        pressed = st.button("Run", type="primary", key="run", width="stretch", on_click=_press)
    asked, since = _PRESSED.take() or (None, 0.0)
    # Settings that were not on screen when Run was pressed are not run: on own data they cost.
    return pressed or (asked == drafted() and time.monotonic() - since < _KEPT)


def _folded(chosen: Algorithm, params: Draft) -> None:
    """Presets, what is known, seeds."""
    presets(chosen, params)
    recommended.why(chosen.key, params)
    known_button("run")
    form = draft()
    if not drafted_source().own:
        for column, name in zip(st.columns(2, gap="small"), ("sample", "seed"), strict=True):
            with column:
                parameter(VISIT[name], form, key="run")


def presets(chosen: Algorithm, params: Draft) -> None:
    """The presets, of which that is marked which the form shows.

    They are a choice and no buttons: the browser sends what is chosen with whatever is pressed
    next, while a press that the next one overtakes is lost.
    """
    target = chosen if chosen.private else algorithm("priv_pc")  # which a preset is of
    made = {n: filled(target.key, target.presets[n]) for n in PRESETS if n in target.presets}
    if (found := recommended.found_for(chosen.key, params)) is not None:
        made[recommended.NAME] = recommended.laid_over(found, params)
    now = filled(chosen.key, params) if chosen is target else {}

    def apply(name: str | None) -> None:
        if name in made:
            draft()["algorithm"] = target.key
            parameters_of(target.key).update(made[name])

    placed(
        st.pills,
        "Presets",
        next((name for name, values in made.items() if values == now), None),
        apply,
        key="presets",
        options=list(made),
        help=recommended.help_of(chosen.key, params),
    )


def _press() -> None:
    _PRESSED.put((drafted(), time.monotonic()))
