"""The address of a page: its settings, never data. It is written after each look and read at the
start and after Back, Forward or Reload.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from engine.params import Parameters
from pages.shell import state
from pages.shell.drafts import Draft, drafted_source, kept
from pages.shell.fields import decode, defaults, encode
from pages.shell.session import Place
from pages.shell.settings import DRAWN
from pages.shell.state import Query

_WRITTEN: Place[tuple[str, Query] | None] = Place("address")  # as it was written last


def arrived(page: str) -> Query | None:
    """What the address asks for, if the browser brought it: a link, Reload, Back or Forward.

    None where the menu led here. On a page that is open an address may be one of before: who
    presses and types fast is ahead of the browser. There it counts where the browser says that it
    went through its history, and nowhere else.
    """
    now: Query = st.query_params.to_dict()
    last = _WRITTEN.get()
    if last is None or last[0] != page:
        return now or None
    return now if went() and now != last[1] else None


def went() -> bool:
    """Whether Back or Forward is why the page is drawn."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def write(page: str, query: Mapping[str, str]) -> None:
    """Put the settings into the address; a change is one step for Back."""
    wanted = dict(query)
    state.ELSEWHERE.put(True)
    _WRITTEN.put((page, wanted))
    if st.query_params.to_dict() != wanted:
        st.query_params.from_dict(wanted)


def source_query() -> Query:
    """The dataset that the form names; a person's own are not named."""
    source = drafted_source()
    if source.own:
        return {}
    named = {"data": source.name} if source.name != "asia" else {}
    return named | encode(DRAWN, {"n": source.n, "sample": source.seed})


def kept_fields(page: str, fields: type[Parameters]) -> Draft:
    """The page's fields as the session left them, or as a link has them: what it leaves out, or
    what no field could show, is as at the start.
    """
    form = kept(f"{page}_draft", defaults(fields))
    if (query := arrived(page)) is not None:
        form.update(defaults(fields) | decode(fields.specs(), query, f"{page}.", leniently=True))
    return form


def keep_fields(page: str, fields: type[Parameters], form: Mapping[str, Any]) -> None:
    """Write the dataset and what differs from fresh fields into the address."""
    write(page, source_query() | encode(fields.specs(), form, f"{page}."))
