"""What fields were told to show, and whether the browser has seen it.

A field that is told another value shows its old one until the answer is there, and whatever is
pressed meanwhile brings the old one back. The last thing on every page is a number that nobody
sees: how often a field was told anything. The browser sends it with all else, which says what it
had seen.
"""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.shell.session import Place

MARK = "told-mark"
_TOLD: Place[int] = Place("told", int)
# Of each field, what it showed from which telling on.
_SHOWN: Place[dict[str, list[tuple[int, str]]]] = Place("told_shown", dict)


def alone() -> list[str] | None:
    """The pieces of the page that run without the rest of it; None where the whole page runs."""
    context = get_script_run_ctx()
    return None if context is None else context.fragment_ids_this_run


def tell(key: str, value: Any) -> None:
    """Have a widget show a value. It is told only what it does not show already: a browser takes
    every telling for the last word, and what was typed since would be lost on a slow line.
    """
    if key not in st.session_state:
        st.session_state[key] = value
    elif (shown := st.session_state[key]) != value:
        if alone() is None:  # only then the mark is drawn
            at = _TOLD.get()
            _SHOWN.get().setdefault(key, []).extend([(at, repr(shown)), (at + 1, repr(value))])
            _TOLD.put(at + 1)
        st.session_state[key] = value


def behind(key: str) -> bool:
    """Whether a widget brings what it was told by the last telling that the browser had seen, or
    by one it had not: no hand's doing. What a hand did takes the place of what was seen.
    """
    shown, said = _SHOWN.get().get(key), st.session_state.get(MARK, "")
    # A page that was not drawn to its end has no mark; what a browser sends may be anything.
    if not shown or not said.isdecimal():
        return False
    seen, value = int(said), repr(st.session_state[key])
    reached = max((at for at, _ in shown if at <= seen), default=0)
    if any(value == told for at, told in shown if at >= reached):
        return True
    shown[:] = [(seen, value), *((at, told) for at, told in shown if at > seen)]
    return False


def mark() -> None:
    """The number of tellings; to be drawn when all of them are."""
    count = str(_TOLD.get())
    if st.session_state.get(MARK) != count:
        st.session_state[MARK] = count
    with st.container(key="told"):
        st.text_input("What the browser has seen", key=MARK, label_visibility="collapsed")
