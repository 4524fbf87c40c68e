"""CURATE's plan to take hold of: drag the margins, and see the coins move."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from engine import Dataset
from engine.params import ParameterError
from engine.teaching.money import first_plan
from pages.budget.form import Fields
from pages.draw.scene import digested, show_plan
from pages.shell.drafts import Draft
from pages.shell.fields import nearest, places, spec_of

MOST_COLUMNS = 12  # with more, forty plans take longer than a hand waits


def plan_scene(data: Dataset, d: Draft) -> None:
    """Draw it where it answers in time; what is dragged goes into the fields below."""
    if data.d > MOST_COLUMNS:
        return
    try:
        content = plans(data.identity, d["guarantee"], d["epsilon"], d["beta1"], d["beta2"], data)
    except ParameterError:
        return  # the run says in words what does not fit
    if content is not None:
        show_plan(content, "budget-scene", partial(_rested, d))


@st.cache_data(max_entries=32, show_spinner=False, scope="session")
def plans(
    fingerprint: str, guarantee: str, epsilon: float, beta1: float, beta2: float, _data: Dataset
) -> dict[str, Any] | None:
    """The first plan for every place of either dial; None where the total allows no plan."""
    betas = places(spec_of(Fields, "beta1"))

    def along(one: float, two: float) -> list[tuple[int, int, float, float]]:
        shares = first_plan(_data, guarantee=guarantee, epsilon=epsilon, beta1=one, beta2=two)
        return [(s.order, s.tests, s.epsilon, s.coins) for s in shares]

    found = {
        "one": [along(beta, beta2) for beta in betas],
        "two": [along(beta1, beta) for beta in betas],
    }
    if not all(found["one"] + found["two"]):
        return None
    at = {"one": nearest(betas, beta1), "two": nearest(betas, beta2)}
    return digested({"betas": betas, "plans": found, "at": at})


def _rested(d: Draft, frame: Mapping[str, Any]) -> None:
    d.update(beta1=float(frame["beta1"]), beta2=float(frame["beta2"]))
