"""The Run page's form: dataset, algorithm, parameters, seed."""

from __future__ import annotations

import time

import streamlit as st

from engine.privacy.budget import PRESETS
from engine.registry import algorithm
from pages.draw import recommended
from pages.shell import dataset, knowledge, runs
from pages.shell.drafts import draft, drafted, drafted_source, parameters_of
from pages.shell.form import algorithm_choice, parameter_form, preset, seed
from pages.shell.nothing import shape_of
from pages.shell.session import Place
from pages.shell.settings import Settings

# What Run was pressed for, and when, until the script comes to it. A press of something else begins
# the script anew, and of the first press only what its callback did is left.
_PRESSED: Place[tuple[Settings, float] | None] = Place("run_pressed")
_KEPT = 5.0  # seconds: who went elsewhere meanwhile finds no run begun when coming back


def settings_form() -> bool:
    """Dataset, algorithm, parameters, seed; returns whether Run was pressed."""
    form = draft()
    dataset.picker(key="run")
    chosen = algorithm(algorithm_choice(form, key="run-algorithm"))
    st.caption(chosen.summary)
    params = parameters_of(chosen.key)
    with st.container(horizontal=True, gap="xsmall", key="presets"):
        for name in PRESETS:
            st.button(
                name,
                key=f"preset-{name}",
                on_click=apply_preset,
                args=(name,),
                disabled=chosen.private and name not in chosen.presets,
            )
        st.button(
            recommended.NAME,
            key="preset-recommended",
            on_click=apply_recommended,
            disabled=recommended.found_for(chosen.key, params) is None,
            help=recommended.help_of(chosen.key, params),
        )
    recommended.why(chosen.key, params, "run")
    knowledge.button("run")
    shown = not runs.stale(drafted()) or runs.quick(drafted())
    shape = shape_of(drafted_source())
    parameter_form(chosen, params, key="param", shape=shape, told=shown)
    if not drafted_source().own:
        about = "Fixes every draw of noise, so that a run can be repeated."
        seed(form, "seed", "Noise seed", key="run-seed", help=about)
    with st.container(key="run-bar"):
        pressed = st.button("Run", type="primary", key="run", width="stretch", on_click=_press)
    asked, since = _PRESSED.take() or (None, 0.0)
    # Settings that were not on screen when Run was pressed are not run: on own data they cost.
    return pressed or (asked == drafted() and time.monotonic() - since < _KEPT)


def _press() -> None:
    _PRESSED.put((drafted(), time.monotonic()))


def apply_preset(name: str) -> None:
    """Fill every parameter; an algorithm without privacy gives way to Priv-PC."""
    form = draft()
    if not algorithm(form["algorithm"]).private:
        form["algorithm"] = "priv_pc"
    key = form["algorithm"]
    parameters_of(key).update(preset(algorithm(key), name))


def apply_recommended() -> None:
    """Fill every parameter with what a study chose at the form's ε, under the strict guarantee."""
    key = draft()["algorithm"]
    params = parameters_of(key)
    found = recommended.found_for(key, params)
    if found is not None:
        params.update(recommended.laid_over(found, params))
