"""Downloads: a run as JSON, its tables as CSV, pages and pictures."""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Callable, Mapping

import streamlit as st

from engine import Dataset, RunResult, __version__
from engine.serialise import result_dict


def run_json(data: Dataset, result: RunResult, settings: dict[str, str]) -> str:
    """Return the run under the engine's names, with its settings, as JSON."""
    record = result_dict(result) | {"version": __version__, "n": data.n, "settings": settings}
    return json.dumps(record, ensure_ascii=False, indent=1)


def download(title: str, make: Callable[[], str | bytes] | str, name: str, *, key: str) -> None:
    """Draw a button that makes its file only when it is pressed.

    A part of a page that is redrawn by the clock gives the text: the next drawing would take away
    a file that is still to be made.
    """
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    st.download_button(
        title, make, name, kind, key=key, on_click="ignore", icon=":material/download:"
    )


def downloads(
    stem: str, files: Mapping[str, tuple[str, Callable[[], str | bytes]]], key: str = "get"
) -> None:
    """Draw a row of such buttons: label -> the end of the file's name, and its content."""
    with st.container(horizontal=True):
        for title, (end, make) in files.items():
            download(title, make, f"{stem}{end}", key=f"{key}-{title}")
