"""A release file under attack: its own answers, forced upon neighbours of its settings."""

from __future__ import annotations

import streamlit as st

from engine import InputError
from engine.audit.replay import Finding
from engine.release.attacked import HALF, verdict
from engine.release.checking import SECONDS
from engine.release.reading import loads
from pages.audit.state import RELEASE, ReleaseJob
from pages.audit.view import ratio_bars
from pages.shell import words as text

MOST = 20  # megabytes; the release of a hundred columns has less than one


def release_view() -> None:
    """The file, a button, how far the attack is, and what it found."""
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
    going = RELEASE.going()
    if going is not None:
        RELEASE.watch(key="audit-release-stop")
    elif file is not None and st.button("Attack this release", key="audit-release-go"):
        _begin(file.getvalue(), file.file_id)
    done = RELEASE.job()
    if done is not None and not done.running and (file is None or file.file_id == done.file):
        _ended(done)


def _begin(raw: bytes, name: str) -> None:
    RELEASE.forget()
    if len(raw) > MOST * 2**20:
        st.error(f"This file is larger than {MOST} MB; try python -m engine audit --release.")
        return
    try:
        job = ReleaseJob(loads(raw), name)
    except InputError as error:
        st.error(text.plain(str(error)))
        return
    RELEASE.begin(job, ReleaseJob.patience)
    if job.running:
        st.rerun()


def _ended(job: ReleaseJob) -> None:
    if job.problem or job.found is None:
        st.error(text.plain(job.problem or "Stopped before the first pair of neighbours."))
        return
    (st.info if job.found.passed else st.error)(f"{text.plain(verdict(job.found))}")
    for fault in job.found.faults:
        st.markdown(f"- {text.plain(fault)}")
    ratio_bars(job.found.ratios, key="audit-release-bars")
    st.caption(power_words(job.found))


def power_words(found: Finding) -> str:
    """What the bars say, and what they do not."""
    strong = sum(ratio > HALF for ratio in found.ratios.values())
    return (
        "How far one person moved each answer's exact input, of what the file says was paid for; "
        f"at most 1. A charge of half that size would have been found in {strong} of "
        f"{text.count(len(found.ratios), 'answer')}. The attack ends after {SECONDS:.0f} seconds "
        "with what it has tried. Not refuted is not proved."
    )
