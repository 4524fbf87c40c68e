"""Budgets, the form of a release, and a running release with its charge."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pandas as pd
import streamlit as st

from engine import Dataset, InputError
from engine.data.schema import Schema
from engine.params import Parameters, param
from engine.registry import algorithm
from engine.release.budget import Budget
from engine.release.file import ALGORITHM
from engine.studies.detectability import Shape
from pages import mode
from pages.draw import show
from pages.forms import count_line, known_button, warn
from pages.shell import form, journey, state
from pages.shell import words as text
from pages.shell.journey import RELEASE, released
from pages.shell.settings import OWN_FILE, in_force, stated
from pages.shell.state import Draft, Place, session_values
from pages.shell.task import RUNS, Task, bar, find, start
from pages.table import expected, question, share
from pages.table.columns import asks, unforeseen
from pages.table.work import CHARGED, release

PATIENCE = 5.0  # seconds that a release has after a stop, because a charged one should be saved
_REFUSED: Place[str] = Place(
    "budget_refused", str
)  # the reason why no budget was declared, shown once
FOR_EVER = "You declare a total once. It outlives this session, and charges are never undone."


@dataclass(frozen=True, kw_only=True)
class Declared(Parameters):
    """The controls of a new budget."""

    name: str = param("", "Name", high=200)
    epsilon: float = param(3.0, "Total ε, never changed", low=0, high=math.inf, open_low=True)
    delta: float = param(1e-5, "Total δ, never changed", low=0, high=1)


SIGNATURE = (
    "An Ed25519 signature binds file and page to the holder of the key. It is made on first use "
    "and stays in your data folder."
)


# Budgets ------------------------------------------------------------------------------------


def budgets() -> list[Budget]:
    """Return the budgets, with a form for a new one; empty if their file cannot be read."""
    st.markdown("**Your budgets**")
    found: list[Budget] = []
    try:
        found = list(mode.budgets().all())
        for why in mode.budgets().closed().values():
            st.error(text.plain(why))
    except InputError as error:
        st.error(text.plain(str(error)))
    if found:
        _table(found)
        again(found)
    with st.expander("Declare a budget", expanded=not found):
        st.caption("Covers all records under one name, in any file. " + FOR_EVER)
        d = session_values("budget_new", Declared().as_dict())
        form.parameters(Declared.specs(), d, key="new")
        st.button("Declare", key="new-budget", on_click=_declare, args=(d,))
        if problem := _REFUSED.take():
            st.error(text.plain(problem))
    return found


def _declare(d: Draft) -> None:
    """Declare a new budget and select it for the next release."""
    try:
        _paid_by(mode.budgets().new(str(d["name"]), d["epsilon"], d["delta"]))
    except InputError as error:
        _REFUSED.put(str(error))


def _paying() -> Draft:
    return session_values("release", {"budget": "", "epsilon": 1.0, "sure": False, "sign": False})


def _paid_by(budget: Budget) -> None:
    d = _paying()
    d["budget"], d["delta"] = budget.name, budget.share(float(d["epsilon"]))


def _table(found: Sequence[Budget]) -> None:
    rows = [
        {
            "Budget": budget.name,
            "ε left": f"{budget.left[0]:f} of {budget.epsilon.normalize():f}",
            "δ left": f"{text.number(float(budget.left[1]))} of {text.number(float(budget.delta))}",
            "Releases": str(len(budget.charges)),
        }
        for budget in found
    ]
    show.table(pd.DataFrame(rows), alt="Budgets and their remaining ε and δ")


def again(budgets: Sequence[Budget]) -> None:
    """Draw earlier releases, the last one first, so that a closed tab loses nothing."""
    book = mode.budgets()
    made = [
        (c.at, ids[c.id], f"{c.at} UTC · {budget.name} · ε = {c.epsilon:f}")
        for budget in budgets
        for ids in [book.ids(budget)]
        for c in budget.charges
        if c.id in ids
    ]
    found = {id_: words for _, id_, words in sorted(made, reverse=True)}
    if not found:
        return
    with st.expander(f"Saved releases ({len(found)})"):
        st.caption("These files are paid for. Exporting one again costs no ε.")
        said = lambda name: f"{found[name]} · {name}"  # noqa: E731
        chosen = st.selectbox("Release", list(found), format_func=said, key="kept-release")
        try:
            _, file, page = book.get(chosen)
        except InputError as error:
            st.error(text.plain(str(error)))
            return
        share.offer(lambda: file, lambda: page, f"release_{chosen}", "kept")


# The form -----------------------------------------------------------------------------------


def spend(data: Dataset, book: Sequence[Budget]) -> None:
    """Draw the form of a release."""
    st.markdown(f"**Release by {algorithm(ALGORITHM).title}**")
    file = OWN_FILE.get()
    if file is None or file.schema is None or not data.declared:
        st.info("Declare the columns of your file first, in the step Columns.")
        return
    schema = file.schema
    unforeseen(data, key="release")
    if asks(data):
        return
    fitting = {budget.name: budget for budget in book if budget.takes(data.n, data.names)}
    if not fitting:
        other = " for this table; the existing ones belong to other records" if book else ""
        st.info(f"Declare a budget first{other}.")
        return
    d = _paying()
    if d["budget"] not in fitting:
        _paid_by(next(iter(fitting.values())))
    places, title = st.columns(3), "Budget to charge"
    key = "release-budget"
    form.bound(places[0].selectbox, title, d, "budget", key=key, options=list(fitting))
    for place, name, sign in zip(places[1:], ("epsilon", "delta"), "εδ", strict=True):
        spec = state.spec_of(algorithm(ALGORITHM).params, name)
        with place:
            shown = replace(spec, log=False, title=f"{sign} of this release")
            form.parameter(shown, d, key="release")
    if fitting[d["budget"]].unfinished:
        st.warning("A release of this budget was interrupted after its charge.")
        call = data, stated(schema), {"resume": True}, str(d["budget"])
        st.button("Resume it without another charge", "release-resume", on_click=begin, args=call)
    asked = {"epsilon": float(d["epsilon"]), "delta": float(d["delta"])}
    try:
        algorithm(ALGORITHM).params.build(asked)
    except InputError:
        return  # the field says why
    _remaining(fitting[d["budget"]], asked["epsilon"])
    told = question.ask(stated(schema))
    aim = question.width(told, data.n, asked["epsilon"], asked["delta"])
    expected.expect(schema, data.n, asked["epsilon"], asked["delta"])
    warn(ALGORITHM, Shape.of(data), asked)
    count_line(ALGORITHM, Shape.of(data), asked, "release")
    title, key = "Sign it with my key", "release-sign"
    form.bound(st.toggle, title, d, "sign", key=key, help=SIGNATURE)
    known_button("release")
    words = f"Spend ε = {text.number(d['epsilon'])} of “{d['budget']}” for good"
    words = f"{words}: {aim}" if aim else words
    form.bound(st.checkbox, words, d, "sure", key="release-sure")

    def go() -> None:
        begin(data, told, asked, str(d["budget"]), sign=bool(d["sign"]))
        d["sure"] = False

    options: dict[str, Any] = {"type": "primary", "disabled": not d["sure"], "on_click": go}
    st.button("Release", key="release-go", **options)


def _remaining(budget: Budget, epsilon: float) -> None:
    """Show the remaining budget, now and after this release."""
    name, after = text.plain(budget.name), (budget.left[0] - Decimal(str(epsilon))).normalize()
    if after < 0:
        st.warning(
            f"“{name}” has ε = {budget.left[0]:f} remaining, which is too little for this release.",
            icon=":material/account_balance_wallet:",
        )
    else:
        st.caption(f"“{name}”: {budget.remaining}. After this release ε = {after:f} remains.")


# A running release ---------------------------------------------------------------------


def begin(
    data: Dataset, schema: Schema, values: Mapping[str, Any], name: str, *, sign: bool = False
) -> None:
    """Start a release that is charged to the budget ``name``, unless one is running."""
    if going():
        return
    mode.budgets()  # raises on a public server
    title = f"a release charged to “{text.plain(name)}”"
    call = data, schema, dict(values), name, sign
    options: dict[str, Any] = {"line": RUNS, "patience": PATIENCE, "grace": math.inf}
    start(RELEASE, title, release, *call, **options)


def going() -> bool:
    """Return whether a release is running."""
    task = find(RELEASE)
    return task is not None and not task.done


def live() -> None:
    """Show the release's progress, the remaining time, and the cost of stopping it."""
    bar(RELEASE, more=_how_far)


def _how_far(task: Task) -> None:
    if CHARGED in task.parts:
        said = "It is charged. A stop keeps the charge and the drawn tables: Resume finishes it."
    elif task.place:
        said = "Nothing is charged yet."
    else:
        said = "The request is tested on empty rows. Nothing is charged yet, so you can stop."
    _table(mode.budgets().all())
    st.info(said)


def problem(task: Task) -> str:
    """Return why there is no release and whether it was charged, or "" if there is one."""
    if not task.problem or isinstance(task.error, InputError):
        return task.problem
    if CHARGED not in task.parts:
        return f"{task.problem} Nothing was charged."
    return (
        f"{task.problem} The charge to “{task.args[3]}” stays, since noise may have been drawn. "
        "Resume finishes the release without another charge."
    )


def made() -> bool:
    """Return whether a release was made from the current file, so that its step is done."""
    found = released()
    if found is None or not in_force(found[1]):
        return False
    journey.mark_done("release")
    return True


def ended() -> None:
    """Draw the last release, or why it was not made.

    A release from an earlier file is paid for, so it stays, folded away.
    """
    task, found = find(RELEASE), released()
    if task is not None and (why := problem(task)) and in_force(task.args[0]):
        (st.warning if task.stopping else st.error)(text.plain(why))
    if found is None:
        return
    ids = [part for part in task.parts if part != CHARGED] if task and task.result else []
    if in_force(found[1]):
        share.released(found[0], ids)
        return
    with st.expander("Released before, from another file", key="release-before"):
        share.released(found[0], ids)
