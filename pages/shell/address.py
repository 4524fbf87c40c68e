"""The address of a page: its settings, never data. It is written after each look and read at the
start and after Back, Forward or Reload.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from pages.shell.drafts import Draft, drafted_source

Query = dict[str, str]
_WRITTEN = "address"  # session state: (page, query) as it was written last


def arrived(page: str) -> Query | None:
    """What the address asks for, if the browser brought it: a link, Reload, Back or Forward.

    None where the address is the one this session wrote, or the menu led here.
    """
    now: Query = st.query_params.to_dict()
    last = st.session_state.get(_WRITTEN)
    if last is None or last[0] != page:
        return now or None
    return None if now == last[1] else now


def write(page: str, query: Mapping[str, str]) -> None:
    """Put the settings into the address; a change is one step for Back."""
    wanted = dict(query)
    st.session_state[_WRITTEN] = (page, wanted)
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)


def source_query() -> Query:
    """The dataset that the form names; a person's own are not named."""
    source, start = drafted_source(), {"data": "asia", "n": "100000", "sample": "0"}
    if source.own:
        return {}
    named = {"data": source.name, "n": f"{source.n}", "sample": f"{source.seed}"}
    return {name: value for name, value in named.items() if value != start[name]}


def draft_query(page: str, draft: Draft, fresh: Mapping[str, Any]) -> Query:
    """What differs from a fresh draft, under names that begin with the page's."""
    return {
        f"{page}.{name}": f"{draft[name]}" for name, at in fresh.items() if draft.get(name) != at
    }


def fill(
    page: str,
    query: Mapping[str, str],
    draft: Draft,
    fresh: Mapping[str, Any],
    allowed: Mapping[str, Sequence[Any]],
) -> None:
    """Fill the draft from an address. ``allowed`` are a field's two ends, or its choices.

    What does not fit a field is left out: a widget would raise.
    """
    for name, at in fresh.items():
        value = _parsed(query.get(f"{page}.{name}"), at)
        fits = value is not None and _allowed(value, allowed.get(name, ()))
        draft[name] = value if fits else at


def _parsed(word: str | None, like: Any) -> Any:
    """The word as a value of the same kind, or None."""
    if word is None:
        return None
    if isinstance(like, bool):
        return {"True": True, "False": False}.get(word)
    try:
        return type(like)(word)
    except ValueError:
        return None


def _allowed(value: Any, within: Sequence[Any]) -> bool:
    if isinstance(value, float) and value != value:
        return False
    if len(within) == 2 and not isinstance(value, str):
        return bool(within[0] <= value <= within[1])
    return not within or value in within
