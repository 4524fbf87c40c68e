"""A release file under attack: its own answers, forced upon neighbours of its settings."""

from __future__ import annotations

import streamlit as st

from engine import InputError
from engine.audit.replay import Finding
from engine.release.attacked import HALF, verdict
from engine.release.checking import SECONDS
from engine.release.reading import loads
from pages import mode
from pages.shell import words as text
from pages.shell.task import Task, drop, find, start, watch
from pages.trust.view import ratio_bars
from pages.trust.work import attack_file

TASK = "audit-release"
MOST = 20  # megabytes; the release of a hundred columns has less than one


def release_view() -> None:
    """The file, a button, how far the attack is, and what it found."""
    if mode.public():
        return
    st.subheader("Attack a release file", anchor=False)
    st.caption(
        "Under the same answers a release takes the same course whatever the records are. So the "
        "answers of the file are forced on pairs of invented tables of its columns and rows that "
        "differ in one person, and a climb looks for the two people who move each answer's exact "
        "input furthest. No data are needed, and nothing is spent."
    )
    file = st.file_uploader(
        "Release file (JSON)",
        type=["json"],
        key="audit-release-file",
        max_upload_size=MOST,
        help=f"The attack runs on this server; a file of more than {MOST} MB is attacked on the "
        "command line: python -m engine audit --release FILE.",
    )
    done = watch(TASK)
    if done is None and find(TASK) is not None:
        return
    if file is not None and st.button("Attack this release", key="audit-release-go"):
        _begin(file.getvalue(), file.file_id)
        done = find(TASK)
    if done is not None and (file is None or file.file_id == done.about):
        _ended(done)


def _begin(raw: bytes, name: str) -> None:
    drop(TASK)
    if len(raw) > MOST * 2**20:
        st.error(f"This file is larger than {MOST} MB; try python -m engine audit --release.")
        return
    try:
        release = loads(raw)
    except InputError as error:
        st.error(text.plain(str(error)))
        return
    title = f"the attack on the release “{text.plain(release.name)}”"
    if not start(TASK, title, attack_file, release, about=name).done:
        st.rerun()


def _ended(task: Task) -> None:
    found: Finding | None = task.result
    if found is None:
        st.error(text.plain(task.problem or "Stopped before the first pair of neighbours."))
        return
    (st.info if found.passed else st.error)(f"{text.plain(verdict(found))}")
    for fault in found.faults:
        st.markdown(f"- {text.plain(fault)}")
    ratio_bars(found.ratios, key="audit-release-bars")
    st.caption(power_words(found))


def power_words(found: Finding) -> str:
    """What the bars say, and what they do not."""
    strong = sum(ratio > HALF for ratio in found.ratios.values())
    return (
        "How far one person moved each answer's exact input, of what the file says was paid for; "
        f"at most 1. A charge of half that size would have been found in {strong} of "
        f"{text.count(len(found.ratios), 'answer')}. The attack ends after {SECONDS:.0f} seconds "
        "with what it has tried. Not refuted is not proved."
    )
