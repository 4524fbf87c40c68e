"""A new budget of the person, and the button that spends one."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st

from engine import Dataset, InputError
from engine.release.budget import plain
from engine.release.settings import COVERED
from engine.studies.null import Shape
from pages import mode
from pages.draw.unforeseen import unforeseen
from pages.release import expected
from pages.release import state as releases
from pages.shell import journey, knowledge, nothing
from pages.shell import words as text
from pages.shell.data import asks, own_file
from pages.shell.drafts import kept
from pages.shell.form import bound, number

FOR_EVER = "A total is declared once, outlives this session, and nothing takes a charge back."


def declare(*, expanded: bool) -> None:
    """A form for a new budget."""
    with st.expander("Declare a budget", expanded=expanded):
        st.caption(
            "For all records that you call by one name, whatever file they come in. " + FOR_EVER
        )
        d = kept("budget_new", {"name": "", "epsilon": 3.0, "delta": 1e-5})
        bound(st.text_input, "Name", d, "name", key="new-name")
        number(d, "epsilon", "Total ε, for ever", key="new-epsilon")
        number(d, "delta", "Total δ, for ever", key="new-delta")
        if st.button("Declare", key="new-budget"):
            try:
                mode.budgets().new(str(d["name"]), d["epsilon"], d["delta"])
            except InputError as error:
                st.error(text.plain(str(error)))
                return
            st.rerun()


def remaining(name: str, epsilon: float) -> None:
    """What the budget has, and what this release would leave of it."""
    budget = mode.budgets().show(name)
    after = plain(budget.left[0] - Decimal(str(epsilon)))
    if after < 0:
        st.warning(
            f"“{text.plain(name)}” has ε = {budget.left[0]:f} left, which does not pay for this.",
            icon=":material/account_balance_wallet:",
        )
    else:
        said = f"“{text.plain(name)}”: {budget.remaining}."
        st.caption(f"{said} After this release ε = {after:f} is left.")


def spend(data: Dataset) -> None:
    """The form of a release."""
    st.markdown("**Release**")
    file = own_file()
    try:
        book = mode.budgets().all()
    except InputError:
        return
    fitting = [budget for budget in book if budget.takes(data.n, data.names)]
    names = [budget.name for budget in fitting]
    if file is None or file.schema is None or not data.declared:
        st.info(
            "Declare the schema of your file first: state its columns, in the step Columns above."
        )
        return
    unforeseen(data, key="release")
    if asks(data):
        return
    if not names:
        other = " for this table: those there are belong to other records" if book else ""
        st.info(f"Declare a budget first{other}.")
        return
    start = {"epsilon": 1.0, "delta": fitting[0].share(1.0), "sign": False, "sure": False}
    d = kept("release", {"budget": names[0], **start})
    if d["budget"] not in names:
        d["budget"], d["delta"] = names[0], fitting[0].share(float(d["epsilon"]))
    bound(st.selectbox, "Budget that pays", d, "budget", key="release-budget", options=names)
    number(d, "epsilon", "ε of this release", key="release-epsilon")
    number(d, "delta", "δ of this release", key="release-delta")
    asked = {"epsilon": d["epsilon"], "delta": d["delta"]}
    remaining(str(d["budget"]), float(d["epsilon"]))
    guess = float(journey.PLAN.get()["density"])
    expected.line(file.schema, data.n, guess, float(d["epsilon"]), float(d["delta"]))
    nothing.regime([Shape.of(data)], [d["epsilon"]], d["delta"])
    nothing.line(COVERED[0], Shape.of(data), asked, "release")
    bound(
        st.checkbox,
        "Sign it with my key",
        d,
        "sign",
        key="release-sign",
        help="An Ed25519 signature binds file and page to whoever holds the key. It is made on "
        "first use and stays in your data folder.",
    )
    knowledge.button("release")
    words = f"Spend ε = {text.number(d['epsilon'])} of “{d['budget']}” for good"
    bound(st.checkbox, words, d, "sure", key="release-sure")
    if st.button("Release", key="release-go", type="primary", disabled=not d["sure"]):
        releases.begin(
            data, knowledge.stated(file.schema), asked, str(d["budget"]), sign=bool(d["sign"])
        )
        d["sure"] = False
        st.rerun()  # the box is not ticked any more
