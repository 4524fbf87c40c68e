"""Settings that a study recommends: a preset, and the study that chose it one click away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from engine.studies.recommended import Recommended, Score, Study, recommended, study
from pages.draw import show
from pages.shell import words as text
from pages.shell.dialog import dialog
from pages.shell.drafts import drafted_source
from pages.shell.form import title_of
from pages.shell.settings import filled
from pages.shell.state import as_word

NAME = "Recommended"
STUDY = "docs/reference/recommended.md"


def found_for(key: str, values: Mapping[str, Any]) -> Recommended | None:
    """What is recommended at the form's ε and n; None where the default is as good."""
    epsilon, rows = values.get("epsilon"), drafted_source().n
    return recommended(key, float(epsilon), rows) if isinstance(epsilon, int | float) else None


def laid_over(found: Recommended, values: Mapping[str, Any]) -> dict[str, Any]:
    """Every parameter of a recommended setting, with the form's ε and δ."""
    paid = {name: values[name] for name in ("epsilon", "delta") if name in values}
    return filled(found.algorithm, {**found.params, **paid, "guarantee": "strict"})


def help_of(key: str, values: Mapping[str, Any]) -> str:
    """What is said of the preset before it is chosen."""
    found = found_for(key, values)
    if found is None:
        return text.plain(
            f"At this n and ε no setting is known that beats the default; the study is of "
            f"{study().rows:,} rows. Which ε? searches for a best setting."
        )
    return text.plain(sentence(found, study()))


def why(key: str, values: Mapping[str, Any], place: str) -> None:
    """A sentence on the preset where it is what the form shows, and the study behind it."""
    found = found_for(key, values)
    if found is None or laid_over(found, values) != filled(key, values):
        return
    with st.container(key=f"recommended-{place}", gap="xxsmall"):
        st.caption(text.plain(sentence(found, study())))
        if st.button(
            "The study that chose it",
            key=f"study-{place}",
            type="tertiary",
            icon=":material/science:",
        ):
            _dialog(key)


def sentence(found: Recommended, made: Study) -> str:
    """What was recommended, from which networks, and what it is worth on others."""
    where = _and(made.searched[found.algorithm])
    at = f"{NAME} at ε = {text.number(found.epsilon)}"
    worth = ", ".join(
        f"{r.network.capitalize()} {r.tuned['skeleton_f1'].mean:.2f} "
        f"(default {r.default['skeleton_f1'].mean:.2f})"
        for r in found.reported
    )
    return f"{at}, {made.rows:,} rows: tuned on {where}; skeleton F1 elsewhere: {worth}."


def _and(names: Any) -> str:
    *first, last = [str(name).capitalize() for name in names]
    return f"{', '.join(first)} and {last}" if first else last


@dialog("The study that chose the setting")
def _dialog(key: str) -> None:
    made = study()
    own = [made.cells[c] for c in sorted(made.cells) if c[0] == key]
    st.markdown(
        f"{text.plain(title_of(key))}, strict guarantee, {made.rows:,} rows: tuned on "
        f"{_and(made.searched[key])}, told on networks and samples that the search never saw, "
        "beside the default setting. Skeleton F1 with its standard error."
    )
    show.table(told(own), alt="Recommended settings and what they reach")
    for one in own:
        chosen = ", ".join(f"{name} = {value}" for name, value in one.params.items())
        st.caption(text.plain(f"ε = {one.epsilon:g}: {chosen or 'the default setting'}."))
    st.caption(f"`python -m benchmarks.recommended`; all of it in `{STUDY}`.")
    if st.button("Search for the best setting", key="study-tune", icon=":material/tune:"):
        st.switch_page("pages/study/page.py", query_params=query(own[-1], made))


def told(found: list[Recommended]) -> pd.DataFrame:
    """A line for each ε and network."""
    rows = [
        {
            "ε": text.number(one.epsilon),
            "Network": reported.network.capitalize(),
            NAME: score(reported.tuned["skeleton_f1"]),
            "Default": score(reported.default["skeleton_f1"]),
        }
        for one in found
        for reported in one.reported
    ]
    return pd.DataFrame(rows)


def score(one: Score) -> str:
    """A mean with its standard error, which has a third place where two would make it 0."""
    if not one.runs:  # the search was stopped before
        return "–"
    if one.runs < 2:
        return f"{one.mean:.2f}"
    places = 3 if 0 < one.error < 0.005 else 2
    return f"{one.mean:.{places}f} ± {one.error:.{places}f}"


def query(one: Recommended, made: Study) -> dict[str, str]:
    """The algorithm, ε and n of a study's cell, as an address has them."""
    return {"algorithm": one.algorithm, "epsilon": as_word(one.epsilon), "n": as_word(made.rows)}
