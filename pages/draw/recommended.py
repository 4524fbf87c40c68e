"""Settings that a study recommends: a preset, and what it is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from engine.studies.recommended import Recommended, Study, recommended, study
from pages.shell import words as text
from pages.shell.settings import drafted_source, filled

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


def why(key: str, values: Mapping[str, Any]) -> None:
    """A sentence on the preset where it is what the form shows."""
    found = found_for(key, values)
    if found is not None and laid_over(found, values) == filled(key, values):
        st.caption(f"{text.plain(sentence(found, study()))} All of it: `{STUDY}`.")


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
