"""The question of a release: cause, outcome, levels, and the order of time."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from engine import InputError, Knowledge, Question
from engine.data.schema import Schema
from engine.effects.outcome import yes_and_no
from engine.effects.width import Widths, widths
from engine.params import number
from engine.question import MOST, order_of_time
from pages.draw import show
from pages.draw.charts import Axis, Curve, curves, figure
from pages.shell import form
from pages.shell import words as text
from pages.shell.state import Draft, session_values

NONE = "–"
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)  # of the curve over ε, next to the release's own
MEAN = "the mean, in its unit"
HELP = (
    "Name the effect that matters most before the release. It gets a share of the budget, so its "
    "interval is narrower. The question is public and is stored in the file."
)
ORDER = "Columns that come before the cause, and columns after it. The order narrows the interval."
SHARES = "Shares of the levels, if they are public (e.g. a randomised treatment: 0.5, 0.5)"
SHARES_HELP = "The level set, then the one it is compared with. The forecast is then narrower."
SEVERAL = "Several questions divide that share by weight, and have one order of time."


def ask(schema: Schema) -> Schema:
    """Draw the form of the questions; return the schema with those that are complete."""
    many, first, told = session_values("questions", {"many": 1}), _draft(0), schema
    with st.expander("A question (optional)", expanded=first["cause"] != NONE):
        st.caption(HELP)
        with form.refusals():
            every = [_asked(schema, k, many["many"] > 1) for k in range(many["many"])]
            asked = [each for each in every if each is not None]
            told = schema.asked(asked or None)
            if len(asked) == many["many"] < MOST:
                more = lambda: many.update(many=many["many"] + 1)  # noqa: E731
                st.button("Ask another question", key="question-more", on_click=more)
    return told


def _draft(k: int) -> Draft:
    start = {"cause": NONE, "outcome": NONE, "before": (), "after": (), "weight": 1.0,
             "shares": ""}  # fmt: skip
    return session_values(f"question-{k}", start)


def _asked(schema: Schema, k: int, several: bool) -> Question | None:
    """Draw one question; return it, or None without a cause and an outcome.

    Values that do not fit these columns take defaults.
    """
    d, names, key = _draft(k), (NONE, *schema.names), f"question{k + 1 if k else ''}"
    if k == 1:
        st.caption(SEVERAL)
    places = st.columns([2, 2, 1] if several else 2)
    for place, name in zip(places, ("cause", "outcome"), strict=False):
        about: Any = {"options": names, "start": NONE, "key": f"{key}-{name}"}
        form.bound(place.selectbox, name.capitalize(), d, name, **about)
    if several:
        form.bound(places[2].number_input, "Weight", d, "weight", key=f"{key}-weight")
    if NONE in (d["cause"], d["outcome"]):
        return None
    question = Question(cause=d["cause"], outcome=d["outcome"], weight=d["weight"])
    levels = dict(zip(schema.names, schema.levels, strict=True))
    mine, theirs = levels[d["cause"]], levels[d["outcome"]]
    yes, no = yes_and_no(mine)
    counted = theirs[yes_and_no(theirs)[0]]
    whats: tuple[str, ...] = (*theirs, MEAN) if _has_numbers(schema, d["outcome"]) else theirs
    rows = (("level", f"{text.plain(d['cause'])} set to", mine, mine[yes]),
            ("reference", "compared with", mine, mine[no]),
            ("counted", f"{text.plain(d['outcome'])}: counted", whats, counted))  # fmt: skip
    for place, (name, title, options, start) in form.beside(rows, 3):
        about = {"options": options, "start": start, "key": f"{key}-{name}"}
        form.bound(place.selectbox, title, d, name, **about)
    mean = d["counted"] == MEAN
    question = replace(question, levels=(d["reference"], d["level"]), mean=mean,
                       outcome_level=None if mean else d["counted"])  # fmt: skip
    question = _with_shares(question, d, key)
    if k or schema.knowledge is not None:
        if not k:
            st.caption("The order of time is part of the background knowledge that you declared.")
        return question
    return replace(question, known=_order(schema, d))


def _with_shares(question: Question, d: Draft, key: str) -> Question:
    """Draw the field of the levels' shares; a refused entry leaves the question without them."""
    with st.container(key=f"field-{key}-shares", gap=None):
        form.bound(st.text_input, SHARES, d, "shares", key=f"{key}-shares", help=SHARES_HELP)
        if not (typed := d["shares"].strip()):
            return question
        try:
            shares: Any = tuple(_number(part) for part in typed.split(","))
            return replace(question, shares=shares)
        except InputError as error:
            form.refuse(str(error), key=f"{key}-shares")
    return question


def _number(typed: str) -> float:
    try:
        return number(typed.strip(), float)
    except ValueError:
        return math.nan  # the question refuses it


def _order(schema: Schema, d: Draft) -> Knowledge | None:
    """Draw the choice of columns before and after the cause, and return them as tiers; the others
    are free."""
    st.caption(ORDER)
    others = [name for name in schema.names if name not in (d["cause"], d["outcome"])]
    for place, name in form.beside(("before", "after")):
        d[name] = tuple(column for column in d[name] if column in others)
        title, key = f"{name.capitalize()} the cause", f"question-{name}"
        form.bound(place.multiselect, title, d, name, key=key, options=others)
    return order_of_time(d["cause"], d["outcome"], d["before"], d["after"])


def _has_numbers(schema: Schema, name: str) -> bool:
    with suppress(InputError):
        return len(set(schema.numbers(name))) > 1
    return False


def width(schema: Schema, rows: int, epsilon: float, delta: float) -> str:
    """Say how narrow each question's interval will be, before anything is spent; draw it over ε.

    Return it as a phrase for the button that spends; "" without a question.
    """
    epsilons, aims = sorted({*EPSILONS, epsilon}), ""
    with form.refusals():
        found = widths(
            schema.questions, schema.names, schema.levels, rows=rows, epsilons=epsilons,
            delta=delta, knowledge=schema.knowledge,
        )  # fmt: skip
        for k, each in enumerate(found):
            st.markdown(f"**{text.plain(each.sentences[epsilons.index(epsilon)])}**")
            with st.expander("Interval width over ε", icon=":material/show_chart:"):
                _curve(each, epsilon, f"question-{k}-width")
        aims = ", ".join(each.aims[epsilons.index(epsilon)] for each in found)
    return text.plain(aims)


def _curve(found: Widths, epsilon: float, key: str) -> None:
    """Draw the half width at each ε, and list it."""
    unit, times = ("in its unit", 1) if found.in_unit else ("of 100", 100)
    at = [each.epsilon for each in found.found]
    scaled = {"Expected": [times * each.half for each in found.found]}
    if most := [times * each.most for each in found.found if each.most is not None]:
        scaled["At most, in nine of ten releases"] = most
    lines = [Curve(name=name, x=at, y=y, style=k) for k, (name, y) in enumerate(scaled.items())]
    here = epsilon, scaled["Expected"][at.index(epsilon)], f"ε = {text.number(epsilon)}"
    shown = curves(lines, Axis("ε", log=True), Axis(f"± {unit}"), height=280, here=here)
    figure(shown, key=key, alt=f"Half width of the interval over ε, {unit}")
    show.table(pd.DataFrame({"ε": at, **scaled}), alt=f"Half width of the interval, {unit}")
