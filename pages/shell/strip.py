"""The strip on top of a page: dataset, algorithm, ε with its guarantee, seed, and a badge."""

from __future__ import annotations

import streamlit as st

from engine import Dataset, InputError, RunResult
from engine.registry import algorithm
from pages.shell import state
from pages.shell import words as text
from pages.shell.data import data_for
from pages.shell.drafts import drafted_source
from pages.shell.palette import BADGE_OWN, BADGE_PUBLIC
from pages.shell.words import safe

SIMULATION = "Simulation on public data"
OWN_DATA = "Your own data: every rerun spends ε, and F1 against a truth is not private"


def show_strip(title: str, data: Dataset, result: RunResult | None = None) -> None:
    """The page's heading with what is on screen; without a result, the dataset alone."""
    cells = [("Dataset", text.dataset_title(data), f"n = {data.n:,}")]
    if result is not None:
        epsilon, kind = text.guarantee_label(result)
        cells += [
            ("Algorithm", algorithm(result.algorithm).title, ""),
            ("ε", epsilon, kind),
            ("Noise seed", f"{result.seed}" if data.public else "secret", ""),
        ]
    badge = SIMULATION if data.public else OWN_DATA
    st.html(_html(state.page() or title, cells, badge, own=not data.public))


def drafted_strip(title: str) -> Dataset | None:
    """The strip of the dataset that the form names; without it, the title and one sentence."""
    try:
        data = data_for(drafted_source())
    except InputError as error:
        st.title(state.page() or title, anchor=False)
        st.info(text.plain(str(error)), icon=":material/upload_file:")
        return None
    show_strip(title, data)
    return data


def refuse(page: str, words: str) -> None:
    """Leave a sentence on what was refused, for the page to show once."""
    st.session_state[f"{page}_problem"] = words


def show_refusal(page: str) -> None:
    """The sentence that was left, once."""
    if words := st.session_state.pop(f"{page}_problem", None):
        st.error(text.plain(words), icon=":material/error:")


def _html(title: str, cells: list[tuple[str, str, str]], badge: str, own: bool) -> str:
    body = "".join(
        f'<div style="min-width:6rem"><div style="font-size:.8rem;opacity:.75">{safe(name)}</div>'
        f'<div style="font-size:1.1rem;font-weight:600;line-height:1.3">{safe(value)}</div>'
        f'<div style="font-size:.8rem;opacity:.75">{safe(note)}</div></div>'
        for name, value, note in cells
    )
    edge = BADGE_OWN if own else BADGE_PUBLIC
    mark = "●" if own else "○"
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:.6rem 2rem;align-items:flex-start">'
        f'<div><h1 style="font-size:1.7rem;margin:0;padding:0">{safe(title)}</h1>'
        f'<div style="max-width:17rem;border:2px solid {edge};border-radius:.8rem;line-height:1.25;'
        f'padding:.1rem .6rem;font-size:.8rem">{mark} {safe(badge)}</div></div>{body}</div>'
    )
