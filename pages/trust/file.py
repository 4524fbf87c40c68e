"""A release file under attack: its own answers, forced upon neighbours of its settings."""

from __future__ import annotations

import streamlit as st

from engine import InputError
from engine.audit.replay import Finding
from engine.release.attacked import HALF, verdict
from engine.release.checking import SECONDS
from engine.release.file import loads
from pages import mode
from pages.shell import words as text
from pages.shell.task import Task, drop, find, start, watch
from pages.trust.view import ratio_bars
from pages.trust.work import attack_file

TASK = "audit-release"
MOST = 20  # megabytes; the release of a hundred columns has less than one


def release_view() -> None:
    """The file, a button, how far the attack is, and what it found."""
    if not mode.public():
        with st.expander("Attack a release file", key="audit-file"):
            _view()


def _view() -> None:
    st.caption(
        "The answers of the file are forced on pairs of simulated tables of its columns and rows "
        "that differ in one person, and a search looks for the two people who move each answer's "
        "exact input furthest. No data are needed, and nothing is spent."
    )
    file = st.file_uploader(
        "Release file (JSON)",
        type=["json"],
        key="audit-release-file",
        max_upload_size=MOST,
        help="A larger one is attacked by python -m engine audit --release FILE.",
    )
    task = watch(TASK)
    if task is None and find(TASK) is not None:
        return
    if file is not None and st.button("Attack this release", key="audit-release-go"):
        drop(TASK)
        try:
            release = loads(file.getvalue())
        except InputError as error:
            st.error(text.plain(str(error)))
            return
        title = f"the attack on the release “{text.plain(release.name)}”"
        task = start(TASK, title, attack_file, release, about=file.file_id)
        if not task.done:
            st.rerun()
    if task is not None and (file is None or file.file_id == task.about):
        _ended(task)


def _ended(task: Task) -> None:
    found: Finding | None = task.result
    if found is None:
        st.error(text.plain(task.problem or "Stopped before the first pair of neighbours."))
        return
    (st.info if found.passed else st.error)(text.plain(verdict(found)))
    for fault in found.faults:
        st.markdown(f"- {text.plain(fault)}")
    ratio_bars(found.ratios, key="audit-release-bars")
    strong = sum(ratio > HALF for ratio in found.ratios.values())
    st.caption(
        "How far one person moved each answer's exact input, of what the file says was paid for; "
        f"at most 1. A charge of half that size would have been found in {strong} of "
        f"{text.count(len(found.ratios), 'answer')}. The attack ends after {SECONDS:.0f} seconds "
        "with what it has tried. Not refuted is not proved."
    )
