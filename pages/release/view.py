"""Budgets, and a release on screen and as files."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine import InputError
from engine.release.budget import Budget, plain
from engine.release.file import Release, canonical, neighbours
from engine.release.page import to_html
from engine.release.synthetic import LABEL
from engine.release.vault import Vault
from pages import mode
from pages.draw import show
from pages.release import expected, handed, share
from pages.release import state as releases
from pages.release.effect import how_much
from pages.release.form import declare
from pages.shell import journey
from pages.shell import words as text
from pages.shell.data import in_force
from pages.shell.dialog import OPEN
from pages.shell.session import Place
from pages.shell.task import Task, find, watch


def budgets() -> None:
    """What there is, and a form for a new one."""
    st.markdown("**Your budgets**")
    try:
        found = mode.budgets().all()
    except InputError as error:
        st.error(text.plain(str(error)))
        return
    try:
        Vault(mode.budgets()).check()
    except InputError as error:
        st.error(text.plain(str(error)))
    if found:
        rows = pd.DataFrame([_row(budget) for budget in found])
        show.table(rows, alt="Budgets and what is left")
        kept(found)
    declare(expanded=not found)


def kept(budgets: Sequence[Budget]) -> None:
    """Releases made before, offered again: a closed tab loses nothing."""
    vault = Vault(mode.budgets())
    found = {}
    for budget in budgets:
        ids = vault.ids(budget)
        for c in budget.charges:
            if c.number in ids:
                found[ids[c.number]] = f"{c.at} UTC · {budget.name} · ε = {c.epsilon:f}"
    if not found:
        return
    with st.expander(f"Releases that are kept ({len(found)})"):
        st.caption("Files that were paid for; to have one again costs nothing.")
        newest = list(found)[::-1]
        chosen = st.selectbox(
            "Release",
            newest,
            format_func=lambda name: f"{found[name]} · {name}",
            key="kept-release",
        )
        try:
            files = vault.get(chosen)
        except InputError as error:
            st.error(text.plain(str(error)))
            return
        share.offer(files.text, files.page, f"release_{files.id}", "kept")


def _row(budget: Budget) -> dict[str, str]:
    left = budget.left
    return {
        "Budget": budget.name,
        "ε left": f"{left[0]:f} of {plain(budget.epsilon):f}",
        "δ left": f"{left[1]:.3g} of {budget.delta:.3g}",
        "Releases": str(len(budget.charges)),
    }


_COUNTED: Place[Task | None] = Place("release_counted")  # whose charge the table holds


def live() -> None:
    """How far the release is, and what it would cost to stop it."""
    if watch(releases.TASK, more=_how_far) is not None:  # it ended while the page was drawn
        st.rerun()


def _how_far(task: Task) -> None:
    if releases.charged(task) and _COUNTED.get() is not task and not OPEN.get():
        _COUNTED.put(task)
        st.rerun()  # the table above says what was left before
    st.info(releases.cost_of_stopping(task))


def ended() -> None:
    """Why the last release was not made, in one sentence; or the release.

    One that was made of a file before is paid for: it stays, folded away under its own words.
    """
    task, last = find(releases.TASK), releases.last()
    if task is not None and (problem := releases.problem(task)) and in_force(task.about[0]):
        (st.warning if task.stopping else st.error)(text.plain(problem))
    if last is not None and in_force(last[1]):
        shown(last[0])
    elif last is not None:
        with st.expander("Released before, from another file", key="release-before"):
            shown(last[0])


def share_step() -> None:
    """What was released, and what was before: everything that can be handed out."""
    if not releases.made():
        st.info("Nothing was released of this table in this session: go to Release first.")
    ended()
    try:
        kept(mode.budgets().all())
    except InputError as error:
        st.error(text.plain(str(error)))


def shown(release: Release) -> None:
    """Its promise, its edges, its files."""
    epsilon, delta = text.number(release.total.epsilon), text.number(release.total.delta)
    st.success(
        f"Released under (ε, δ) = ({epsilon}, {delta}), charged to “{text.plain(release.name)}”. "
        f"Neighbours: {neighbours(release.schema)}."
    )
    task = find(releases.TASK)
    if task is not None and task.result is release:
        kept_as = releases.kept(task)
        st.caption(
            f"Kept as {kept_as}, and offered again under “Releases that are kept”."
            if kept_as
            else "It could not be kept beside the budgets: save it now."
        )
    if release.signature is not None:
        st.caption(f"Signed with your key {release.signature.public_key}: give it to your readers.")
    share.picture(release)
    share.edges(release)
    expected.beside(release, float(journey.PLAN.get()["density"]), "release")
    how_much(release, "release")
    stem = release.name.replace(" ", "_")
    with st.container(horizontal=True):
        share.offer(canonical(release), to_html(release), f"{stem}_release", "release")
        share.rows(release, stem, "release")
    st.caption(f"{LABEL} It costs nothing more.")
    st.markdown("**The graph for other tools**")
    share.for_tools(release, "release")
    handed.follows([release], "release")
