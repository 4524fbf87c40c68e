"""Release files: check one, combine several, or apply background knowledge. Nothing is charged.

The files are enough: no data and no budget are needed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from engine import load_knowledge
from engine.knowledge import MOST_BYTES
from engine.release.file import Release, digest
from engine.release.page import check_words, combined_words
from engine.release.signature import public_key, verify, verify_page
from pages import mode
from pages.draw import show
from pages.shell import words as text
from pages.shell.form import refusals
from pages.shell.task import shared
from pages.table import share
from pages.table.work import derive, verified

FREE = "This uses the file only: nothing is charged, and no data are needed."
REPLACES = (
    "The dialog “Background knowledge” saves such a file. It replaces the knowledge in the release."
)
DIFFERENT = "I know that each person is in one of these releases only"
ALIKE = (
    "Releases that look like the same people are combined only if you declare this. The new file "
    "says so."
)
APPLIED = (
    "Background knowledge was applied, and arrows that it fixes are not findings. The file "
    "contains it, and the check derives the graph with it."
)


def files() -> None:
    """Open shared release files: one is checked, several are combined."""
    if mode.public():
        return
    with st.expander("Release files: check one, or combine several", key="release-files"):
        st.caption("Releases of different people can be combined into one. " + FREE)
        given = st.file_uploader(
            "Release files (JSON)", type=["json"], key="check-file", accept_multiple_files=True
        )
        with refusals():
            opened = [_opened(file.getvalue()) for file in given]
            if len(opened) == 1:
                _check(*opened[0])
            if opened:
                _follows([release for release, _ in opened])


def _opened(raw: bytes) -> tuple[Release, float]:
    """Return a verified release and the result of its check; InputError for any other file."""
    key = "check", hashlib.sha256(raw).hexdigest()
    found: tuple[Release, float] = _waited("Checking the file …", key, verified, raw)
    return found


def _check(release: Release, doubt: float) -> None:
    """Show a file that was checked; InputError for another key, or for the page of another
    release."""
    page = st.file_uploader("Its page (HTML), if you have it", type=["html"], key="check-page")
    key = st.text_input("The signer's public key, if you have it", key="check-key").strip()
    verify(release, public_key(key) if key else None)
    if page is not None:
        verify_page(release, page.getvalue())
    first, *more = map(text.plain, check_words(release, doubt, key or None, page is not None))
    st.success(first)
    for words in more:
        st.markdown(words)
    share.graph(release, "check")


def _waited(title: str, key: Hashable, fn: Callable[..., Any], *args: Any) -> Any:
    """Wait for a task of the server and return its result; InputError with its problem."""
    with st.spinner(title):
        return shared(key, title, fn, *args).outcome()


def _follows(releases: Sequence[Release]) -> None:
    """Draw a new file from several releases, or with background knowledge that is applied
    afterwards."""
    several, key = len(releases) > 1, "check-afterwards"
    title = "Apply background knowledge afterwards"
    with st.container(key=key) if several else st.expander(title, key=key), refusals():
        known = st.file_uploader(
            "Background knowledge (JSON, or Tetrad's)" + ", if anything" * several,
            type=["json", "txt", "prior"],
            key="check-knowledge",
            max_upload_size=MOST_BYTES // 1_000_000,
            help=REPLACES,
        )
        if known is None and not several:
            st.caption("Arrows, effects and synthetic rows then also use it. " + FREE)
            return
        sure = several and st.checkbox(DIFFERENT, key="check-different", help=ALIKE)
        facts = None if known is None else load_knowledge(known.getvalue())
        words = json.dumps(facts and facts.to_json()), sure, *map(digest, releases)
        call = "Deriving the graph …", ("derive", *words), derive, releases, facts, sure
        _made(*_waited(*call))


def _made(release: Release, differ: Sequence[float]) -> None:
    """Show the new file: its assumption, graph and effects, with a download."""
    st.success("A new file; nothing is charged.", icon=":material/check:")
    if release.applied is not None:
        st.caption(APPLIED)
    for words in combined_words(release):
        st.markdown(text.plain(words))
    if release.parts:
        far = [f"{x:.1f}" for x in differ]
        rows = {"Column": release.names, "How far the releases differ (standardised χ²)": far}
        show.table(pd.DataFrame(rows), alt="How far the releases differ by column", most=340)
    share.graph(release, "check-new")
    stem = "combined" if release.parts else f"{release.name}_known".replace(" ", "_")
    share.files(release, stem, "check-new")
