"""Budgets, the form of a release, and a running release with its charge."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from operator import itemgetter
from typing import Any

import pandas as pd
import streamlit as st

from engine import Dataset
from engine.data.schema import Schema
from engine.params import Parameters, param
from engine.registry import TITLES, algorithm
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
from pages.shell.state import Draft, session_values
from pages.shell.task import RUNS, Task, bar, find, start
from pages.table import question, share
from pages.table.columns import asks, unforeseen
from pages.table.work import CHARGED, release

PATIENCE = 5.0  # seconds that a release has after a stop, because a charged one should be saved
CHARGE = (
    "A release is charged to your budget before any noise is drawn. Its noise comes from the "
    "operating system, without a seed. Anyone can check its file without your data."
)
FOR_EVER = "You declare a total once. It outlives this session, and charges are never undone."
SIGNATURE = (
    "An Ed25519 signature binds file and page to the holder of the key. It is made on first use "
    "and stays in your data folder."
)


@dataclass(frozen=True, kw_only=True)
class Declared(Parameters):
    """The controls of a new budget."""

    name: str = param("", "Name", high=200)
    epsilon: float = param(3.0, "Total ε, never changed", low=0, high=math.inf, open_low=True)
    delta: float = param(1e-5, "Total δ, never changed", low=0, high=1)


def step(word: str, data: Dataset | None) -> None:
    """Draw the step Budget, Release or Share: the form that charges, the progress, the result."""
    st.caption(CHARGE)
    if mode.switched_off() or data is None:
        return
    if word == "share" and not made():
        st.info("This table was not released in this session. Go to Release first.")
    if _going():
        bar(RELEASE, more=_how_far)
        return
    _ended()
    with form.refusals():
        if word == "share":
            _again(mode.budgets().all())
        else:
            _spend(data, _budgets())


# Budgets ------------------------------------------------------------------------------------


def _budgets() -> Sequence[Budget]:
    """Return the budgets, with a form for a new one; empty if their file cannot be read."""
    st.markdown("**Your budgets**")
    found: Sequence[Budget] = ()
    with form.refusals():
        found = mode.budgets().all()
        for why in mode.budgets().closed().values():
            st.error(text.plain(why))
    if found:
        _table(found)
        _again(found)
    with st.expander("Declare a budget", expanded=not found):
        st.caption("Covers all records under one name, in any file. " + FOR_EVER)
        d = session_values("budget_new", Declared().as_dict())
        form.parameters(Declared.specs(), d, key="new")
        if st.button("Declare", key="new-budget"):
            with form.refusals():
                _paid_by(mode.budgets().new(d["name"], d["epsilon"], d["delta"]))
                st.rerun()
    return found


def _paying() -> Draft:
    return session_values("release", {"budget": "", "epsilon": 1.0, "sure": False, "sign": False})


def _paid_by(budget: Budget) -> None:
    """Select a budget for the next release."""
    d = _paying()
    d["budget"], d["delta"] = budget.name, budget.share(float(d["epsilon"]))


def _table(found: Sequence[Budget]) -> None:
    rows = [
        (b.name, f"{b.left[0]:f} of {b.epsilon.normalize():f}",
         f"{text.number(float(b.left[1]))} of {text.number(float(b.delta))}", f"{len(b.charges)}")
        for b in found
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["Budget", "ε left", "δ left", "Releases"])
    show.table(frame, alt="Budgets and their remaining ε and δ")


def _again(budgets: Sequence[Budget]) -> None:
    """Draw earlier releases, the last one first, so that a closed tab loses nothing."""
    book, made = mode.budgets(), []
    for budget in budgets:
        ids = book.ids(budget)
        made += [(c.at, ids[c.id], budget.name, c.epsilon) for c in budget.charges if c.id in ids]
    made.sort(key=itemgetter(0))  # those of one second in the order of their charges
    found = {id_: f"{at} UTC · {name} · ε = {e:f} · {id_}" for at, id_, name, e in reversed(made)}
    if not found:
        return
    with st.expander(f"Saved releases ({len(found)})"), form.refusals():
        st.caption("These files are paid for. Exporting one again costs no ε.")
        about: Any = {"format_func": found.__getitem__, "key": "kept-release"}
        chosen = st.selectbox("Release", list(found), **about)
        _, file, page = book.get(chosen)
        share.offer(lambda: file, lambda: page, f"release_{chosen}", "kept")


# The form -----------------------------------------------------------------------------------


def _spend(data: Dataset, book: Sequence[Budget]) -> None:
    """Draw the form of a release."""
    st.markdown(f"**Release by {TITLES[ALGORITHM]}**")
    file = OWN_FILE.get()
    if file is None or file.schema is None or not data.declared:
        st.info("Declare the columns of your file first, in the step Columns.")
        return
    unforeseen(data, key="release")
    if asks(data):
        return
    fitting = {budget.name: budget for budget in book if budget.takes(data.n, data.names)}
    if not fitting:
        other = " for this table; the existing ones belong to other records" if book else ""
        st.info(f"Declare a budget first{other}.")
        return
    d, places, key = _paying(), st.columns(3), "release-budget"
    if d["budget"] not in fitting:
        _paid_by(next(iter(fitting.values())))
    box, options = places[0].selectbox, list(fitting)
    form.bound(box, "Budget to charge", d, "budget", key=key, options=options)
    specs = [state.spec_of(algorithm(ALGORITHM).params, name) for name in ("epsilon", "delta")]
    for place, spec, sign in zip(places[1:], specs, "εδ", strict=True):
        with place:
            shown = replace(spec, log=False, title=f"{sign} of this release")
            form.parameter(shown, d, key="release")
    budget, schema = fitting[d["budget"]], stated(file.schema)
    if budget.unfinished:
        st.warning("A release of this budget was interrupted after its charge.")
        call = data, schema, {"resume": True}, budget.name
        st.button("Resume it without another charge", "release-resume", on_click=_begin, args=call)
    if any(form.fault(spec, d[spec.name]) for spec in specs):
        return  # the field says why
    asked: Any = {spec.name: float(d[spec.name]) for spec in specs}
    _remaining(budget, asked["epsilon"])
    told = question.ask(schema)
    aim = question.width(told, data.n, **asked)
    share.expect(schema, data.n, **asked)
    warn(ALGORITHM, Shape.of(data), asked)
    count_line(ALGORITHM, Shape.of(data), asked, "release")
    form.bound(st.toggle, "Sign it with my key", d, "sign", key="release-sign", help=SIGNATURE)
    known_button("release")
    words = f"Spend ε = {text.number(d['epsilon'])} of “{budget.name}” for good"
    words = f"{words}: {aim}" if aim else words
    form.bound(st.checkbox, words, d, "sure", key="release-sure")

    def go() -> None:
        _begin(data, told, asked, budget.name, sign=d["sign"])
        d["sure"] = False

    how: Any = {"type": "primary", "disabled": not d["sure"], "on_click": go}
    st.button("Release", key="release-go", **how)


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


def _begin(
    data: Dataset, schema: Schema, values: Mapping[str, Any], name: str, *, sign: bool = False
) -> None:
    """Start a release that is charged to the budget ``name``, unless one is running."""
    if not _going():
        mode.budgets()  # raises on a public server
        call = f"a release charged to “{text.plain(name)}”", release, data, schema, values, name
        start(RELEASE, *call, sign, line=RUNS, patience=PATIENCE, grace=math.inf)


def _going() -> bool:
    """Return whether a release is running."""
    task = find(RELEASE)
    return task is not None and not task.done


def _how_far(task: Task) -> None:
    """Draw the budgets, and the cost of stopping a release."""
    if CHARGED in task.parts:
        said = "It is charged. A stop keeps the charge and the drawn tables: Resume finishes it."
    elif task.place:
        said = "Nothing is charged yet."
    else:
        said = "The request is tested on empty rows. Nothing is charged yet, so you can stop."
    _table(mode.budgets().all())
    st.info(said)


def _problem(task: Task) -> str:
    """Return why there is no release and whether it was charged, or "" if there is one."""
    if not task.problem or task.error:
        return task.problem
    if CHARGED not in task.parts:
        return f"{task.problem} Nothing was charged."
    return (
        f"{task.problem} The charge to “{task.args[3]}” stays, since noise may have been drawn. "
        "Resume finishes the release without another charge."
    )


def made() -> bool:
    """Return whether a release was made from the current file; then mark its step as done."""
    found = released()
    if here := found is not None and in_force(found[1]):
        journey.mark_done("release")
    return here


def _ended() -> None:
    """Draw the last release, or why it was not made.

    A release from an earlier file is paid for, so it stays, folded away.
    """
    task, found = find(RELEASE), released()
    if task is not None and (why := _problem(task)) and in_force(task.args[0]):
        (st.warning if task.stopping else st.error)(text.plain(why))
    if found is not None:
        ids = [part for part in task.parts if part != CHARGED] if task and task.result else []
        title, key = "Released before, from another file", "release-before"
        with st.container() if in_force(found[1]) else st.expander(title, key=key):
            share.released(found[0], ids)
