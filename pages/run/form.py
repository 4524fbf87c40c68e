"""The Run page's form: dataset, algorithm, parameters, seed."""

from __future__ import annotations

import streamlit as st

from engine.privacy.budget import PRESETS
from engine.registry import algorithm
from pages.shell import dataset, knowledge
from pages.shell.drafts import adapt, draft, drafted_source, typed
from pages.shell.form import algorithm_choice, parameter_form, preset, seed
from pages.shell.nothing import shape_of


def settings_form() -> bool:
    """Dataset, algorithm, parameters, seed; returns whether Run was pressed."""
    form = draft()
    dataset.picker(key="run")
    chosen = algorithm(algorithm_choice(form, key="run-algorithm"))
    st.caption(chosen.summary)
    adapt(form)
    with st.container(horizontal=True, gap="xsmall", key="presets"):
        for name in PRESETS:
            st.button(
                name,
                key=f"preset-{name}",
                on_click=apply_preset,
                args=(name,),
                disabled=chosen.private and name not in chosen.presets,
            )
    knowledge.button("run")
    parameter_form(chosen, form["params"], key="param", shape=shape_of(drafted_source()))
    if not drafted_source().own:
        about = "Fixes every draw of noise, so that a run can be repeated."
        seed(form, "seed", "Noise seed", key="run-seed", help=about)
    with st.container(key="run-bar"):
        return st.button("Run", type="primary", key="run", width="stretch")


def apply_preset(name: str) -> None:
    """Fill every parameter; an algorithm without privacy gives way to Priv-PC."""
    form = draft()
    if not algorithm(form["algorithm"]).private:
        form["algorithm"] = "priv_pc"
    adapt(form)
    form["params"] = preset(algorithm(form["algorithm"]), name)
    typed()
