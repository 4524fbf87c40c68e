"""Pin what Run shows, or run something else on the same data."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from engine import InputError
from engine.params import ParameterError
from engine.registry import algorithm
from engine.studies.null import Shape
from engine.studies.recommended import Recommended, ranked
from engine.studies.trial import facts_of
from pages.compare.state import MOST, pin, pin_only
from pages.draw import recommended
from pages.shell import knowledge
from pages.shell import words as text
from pages.shell.drafts import Draft, kept
from pages.shell.form import algorithm_choice, parameter_form, seed
from pages.shell.runs import Shown, compute
from pages.shell.settings import Settings, filled, fits, said, word_of
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
    published(run)
    st.markdown("**Add a run**")
    st.caption(f"On the Run page's dataset: {text.plain(run.data.name)}, {run.data.n:,} rows.")
    chosen = algorithm(algorithm_choice(d, key="compare-algorithm"))
    _adapt(d)
    knowledge.field(d, "known", key="compare-known")
    st.button(
        "At its recommended setting",
        key="compare-recommended",
        on_click=recommend,
        args=(run,),
        disabled=recommended.found_for(chosen.key, d["params"]) is None,
        help=recommended.help_of(chosen.key, d["params"]),
        width="stretch",
    )
    recommended.why(chosen.key, d["params"], "compare")
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


def published(run: Shown) -> None:
    """One press for the rivals: the best published algorithms, each as a study would set it."""
    epsilon = run.settings.params.get("epsilon")
    if not run.data.public or not isinstance(epsilon, int | float):
        return
    found = [one for one in ranked(float(epsilon)) if one.algorithm != run.settings.algorithm]
    if not found:
        return
    st.button(
        "Beside published ones, recommended",
        key="compare-published",
        on_click=pin_published,
        args=(run, found[: MOST - 1]),
        width="stretch",
        icon=":material/science:",
        help="The Run page's result beside the published algorithms that were best in a study at "
        "this ε, each at the setting which that study chose, with the same ε, δ and seed.",
    )


def pin_published(run: Shown, found: Sequence[Recommended]) -> None:
    """Pin the Run page's result and these settings on its data, and nothing else."""
    runs = [run]
    for one in found:
        params = recommended.laid_over(one, run.settings.params)
        settings = Settings(run.settings.source, one.algorithm, params, run.settings.seed)
        try:
            runs.append(compute(settings))
        except (InputError, ParameterError) as error:
            refuse("compare", str(error))
    pin_only(runs)


def recommend(run: Shown) -> None:
    """Fill the small form with what a study chose at its ε."""
    d = draft(run)
    found = recommended.found_for(d["algorithm"], d["params"])
    if found is not None:
        d["params"] = recommended.laid_over(found, d["params"])


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


def _adapt(form: Draft) -> None:
    """After a change of algorithm: what a person had changed stays if it fits, the rest is new.

    ``form`` holds "algorithm", "params", and in "params_of" whose parameters these are.
    """
    old, new = form["params_of"], form["algorithm"]
    if old == new:
        return
    before = {s.name: s.default for s in algorithm(old).params.specs()}
    changed = {k: v for k, v in form["params"].items() if v != before.get(k)}
    specs = {s.name: s for s in algorithm(new).params.specs()}
    fitting = {k: v for k, v in changed.items() if k in specs and fits(specs[k], v)}
    form.update(params_of=new, params=filled(new, fitting))
