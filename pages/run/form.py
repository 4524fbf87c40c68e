"""The Run page's form: dataset, algorithm, its levers and ε at sight, the rest folded away."""

from __future__ import annotations

import time

import streamlit as st

from engine.algorithm import Algorithm
from engine.params import Spec, relevant
from engine.privacy.budget import PRESETS
from engine.registry import algorithm
from pages.draw import recommended
from pages.shell import dataset, knowledge, nothing
from pages.shell import words as text
from pages.shell.drafts import Draft, draft, drafted, drafted_source, parameters_of
from pages.shell.form import algorithm_choice, parameter, preset, seed
from pages.shell.nothing import shape_of
from pages.shell.session import Place
from pages.shell.settings import Settings, filled

# What Run was pressed for, and when, until the script comes to it. A press of something else starts
# the script again, and of the first press only what its callback did is left.
_PRESSED: Place[tuple[Settings, float] | None] = Place("run_pressed")
_KEPT = 5.0  # seconds: who went elsewhere meanwhile finds no run begun when coming back
_PRIVACY = ("epsilon", "guarantee")
# What is an algorithm's own to turn, of which the first two that it has are always in sight.
LEVERS = (
    *("tweak", "beta1", "beta2", "subsample", "rounds", "tests", "clip", "gradients"),
    *("initial", "radius", "caution", "threshold"),
)
_SHOWN = 2


def settings_form() -> bool:
    """Dataset, algorithm, parameters, seed; returns whether Run was pressed."""
    form = draft()
    dataset.picker(key="run", seeded=False)
    chosen = algorithm(algorithm_choice(form, key="run-algorithm"))
    params = parameters_of(chosen.key)
    params.update(filled(chosen.key, params))
    specs = {s.name: s for s in relevant(chosen.params.specs(), params)}
    for name in _PRIVACY:
        if name in specs:
            parameter(specs[name], params, key="param")
    first = levers(specs)
    for column, name in zip(st.columns(_SHOWN, gap="small"), first, strict=False):
        with column:
            parameter(specs[name], params, key="param")
    _warnings(chosen, params)
    rest = [s for name, s in specs.items() if name not in (*_PRIVACY, *first)]
    changed = sum(params[s.name] != s.default for s in rest)
    title = f"More settings ({changed} changed)" if changed else "More settings"
    with st.expander(title, key="param-more"):
        _more(chosen, params, rest)
    with st.container(key="run-bar"):
        pressed = st.button("Run", type="primary", key="run", width="stretch", on_click=_press)
    asked, since = _PRESSED.take() or (None, 0.0)
    # Settings that were not on screen when Run was pressed are not run: on own data they cost.
    return pressed or (asked == drafted() and time.monotonic() - since < _KEPT)


def levers(specs: dict[str, Spec]) -> list[str]:
    """The parameters that are in sight, apart from the privacy's."""
    return [name for name in LEVERS if name in specs][:_SHOWN]


def _warnings(chosen: Algorithm, params: Draft) -> None:
    shape = shape_of(drafted_source())
    if shape is not None and params.get("guarantee") == "strict":
        nothing.regime([shape], [params["epsilon"]], params.get("delta"))
        nothing.unworkable([chosen.key], [shape], [params["epsilon"]], params)


def _more(chosen: Algorithm, params: Draft, rest: list[Spec]) -> None:
    """Presets, what is known, seeds, and the parameters that are seldom turned."""
    form, source = draft(), drafted_source()
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
    recommended.why(chosen.key, params)
    shape = shape_of(source)
    st.caption(text.epsilon_meaning(chosen, params, None if shape is None else shape.rows))
    nothing.line(chosen.key, shape, params, "form")
    knowledge.button("run")
    if not source.own:
        left, right = st.columns(2, gap="small")
        with left:
            dataset.data_seed(key="run")
        with right:
            about = "Fixes every draw of noise, so that a run can be repeated."
            seed(form, "seed", "Noise seed", key="run-seed", help=about)
    for spec in rest:
        parameter(spec, params, key="param")


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
