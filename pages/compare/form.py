"""Pin what Run shows, or run something else on the same data."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine import InputError
from engine.params import ParameterError
from engine.registry import algorithm
from engine.studies.known import facts_of
from engine.studies.null import Shape
from pages.compare.state import MOST, pin
from pages.shell import knowledge
from pages.shell import words as text
from pages.shell.drafts import Draft, adapt, kept
from pages.shell.form import algorithm_choice, parameter_form, seed
from pages.shell.runs import Shown, compute
from pages.shell.settings import Settings, filled, said, word_of
from pages.shell.strip import refuse


def draft(run: Shown) -> Draft:
    """The small form's fields; at first the settings of the run."""
    key = run.settings.algorithm
    fresh = {"algorithm": key, "params_of": key, "params": dict(run.settings.params)}
    known = word_of(run.settings.known, run.settings.source.name) if run.settings.known else ""
    return kept("compare_draft", fresh | {"seed": run.settings.seed or 0, "known": known})


def pin_form(run: Shown, pinned: Sequence[Shown]) -> None:
    """Pin what Run shows, or run something else on the same data."""
    full = len(pinned) >= MOST
    st.button(
        "Pin the Run page's result",
        key="compare-pin",
        on_click=pin,
        args=(run,),
        disabled=full or run in pinned,
        width="stretch",
        icon=":material/push_pin:",
    )
    d = draft(run)
    st.markdown("**Add a run**")
    st.caption(f"On the Run page's dataset: {text.plain(run.data.name)}, {run.data.n:,} rows.")
    chosen = algorithm(algorithm_choice(d, key="compare-algorithm"))
    adapt(d)
    knowledge.field(d, "known", key="compare-known")
    parameter_form(chosen, d["params"], key="compare-param", shape=Shape.of(run.data))
    if run.data.public:
        seed(d, "seed", "Noise seed", key="compare-seed")
    else:
        st.warning("Your own data: this run would spend its ε anew.")
    st.button(
        "Run and pin",
        key="compare-add",
        type="primary",
        on_click=add,
        args=(run,),
        disabled=full,
        width="stretch",
    )
    if full:
        st.caption(f"{MOST} runs are the most; unpin one first.")


def add(run: Shown) -> None:
    """Run the small form's settings and pin the result."""
    d = draft(run)
    drawn = d["seed"] if run.data.public else None
    params = filled(d["algorithm"], d["params"])
    source = run.settings.source
    try:
        known = facts_of(run.data, said(d["known"]))
        found = compute(Settings(source, d["algorithm"], params, drawn, known))
    except (InputError, ParameterError) as error:
        refuse("compare", str(error))
        return
    pin(found)
