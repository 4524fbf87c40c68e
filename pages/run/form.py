"""The Run page's form: dataset, algorithm, its main settings and ε are visible, the rest is
folded."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from engine.algorithm import Algorithm
from engine.data.networks import plainly
from engine.privacy.budget import PRESETS
from engine.registry import TITLES, algorithm
from engine.request import Request, filled
from engine.studies.recommended import Recommended, recommended
from pages.draw.links import NAMES
from pages.forms import known_button, parameter_form, picker
from pages.shell import state
from pages.shell import words as text
from pages.shell.form import beside, parameter, parameters, placed
from pages.shell.runs import Shown, button_label
from pages.shell.settings import VISIT, draft, drafted, drafted_source, parameters_of
from pages.shell.state import Draft, Place

# The request of a press on Run, and its time, until the script handles it. Another press starts the
# script again, and only the effect of the first press's callback remains.
_PRESSED: Place[tuple[Request, float] | None] = Place("run_pressed")
_KEPT = 5.0  # seconds after which a pending Run click is dropped


MOST = 3  # pinned runs
PINS: Place[list[Shown]] = Place("pinned", list)


def settings_form() -> tuple[Request, bool]:
    """Draw dataset, algorithm, parameters and seed; return the request, and whether to run it."""
    picker(key="run", seeded=False)
    parameter(VISIT["algorithm"], draft(), key="run", format_func=TITLES.get)
    chosen = algorithm(draft()["algorithm"])
    params = parameters_of(chosen.key)
    folded = partial(_folded, chosen, params)
    parameter_form(chosen, params, folded=folded)
    now = drafted()
    with st.container(key="run-bar"):
        pressed = st.button(
            button_label(now),
            type="primary",
            key="run",
            width="stretch",
            on_click=lambda: _PRESSED.put((drafted(), time.monotonic())),
        )
    asked, since = _PRESSED.take() or (None, 0.0)
    # Settings that were not on screen when Run was pressed are not run, because a run on the user's
    # data costs ε.
    return now, pressed or (asked == now and time.monotonic() - since < _KEPT)


def _folded(chosen: Algorithm, params: Draft) -> None:
    """Draw the presets, the background knowledge and the seeds."""
    presets(chosen, params)
    known_button("run")
    form = draft()
    if not drafted_source().own:
        for column, name in beside(("sample", "seed")):
            with column:
                parameter(VISIT[name], form, key="run")
    if plainly(drafted_source().name)["nodes"]:
        parameters(NAMES, state.Values(NAMES), key="run")


def presets(chosen: Algorithm, params: Draft) -> None:
    """Draw the presets, with a mark on the one that the form shows; explain the recommended one.

    They are a choice, not buttons: the browser sends a choice again with the next press, but a
    press that another one follows quickly is lost.
    """
    target = chosen if chosen.private else algorithm("priv_pc")  # the presets' algorithm
    made = {n: filled(target.key, target.presets[n]) for n in PRESETS if n in target.presets}
    epsilon, said = params.get("epsilon"), NONE_KNOWN
    if isinstance(epsilon, int | float):
        found = recommended(chosen.key, float(epsilon), drafted_source().n)
        if found is not None:
            made[NAME], said = laid_over(found, params), text.plain(sentence(found))
    now = filled(chosen.key, params) if chosen is target else {}
    shown = next((name for name, values in made.items() if values == now), None)

    def apply(name: str | None) -> None:
        if name in made:
            draft()["algorithm"] = target.key
            parameters_of(target.key).update(made[name])

    placed(st.pills, "Presets", shown, apply, key="presets", options=list(made), help=said)
    if shown == NAME:
        st.caption(f"{said} Details: `{STUDY}`.")


# The preset that a study recommends ------------------------------------------------------------

NAME = "Recommended"
STUDY = "research/settings.md"
NONE_KNOWN = (
    "No known setting beats the default at this n and ε. Choose ε searches for a better one."
)


def laid_over(found: Recommended, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return every parameter of a recommended setting, with the form's ε and δ."""
    paid = {name: values[name] for name in ("epsilon", "delta") if name in values}
    return filled(found.algorithm, {**found.params, **paid, "guarantee": "strict"})


def sentence(found: Recommended) -> str:
    """Describe the recommendation, its networks, and its gain on others."""
    *first, last = map(str.capitalize, found.on)
    where = f"{', '.join(first)} and {last}" if first else last
    worth = ", ".join(
        f"{name.capitalize()} {tuned.mean:.2f} (default {default.mean:.2f})"
        for name, (tuned, default) in found.elsewhere.items()
    )
    return (
        f"{NAME} at ε = {text.number(found.epsilon)}, {found.rows:,} rows: tuned on {where}; "
        f"skeleton F1 elsewhere: {worth}."
    )
