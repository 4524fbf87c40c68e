"""A dialog over a page: what looks again by the clock behind it waits, for it would close it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec

import streamlit as st

from pages.shell.session import Place

P = ParamSpec("P")
OPEN: Place[bool] = Place("dialog", bool)  # whether one is; a page drawn again has none


def dialog(title: str) -> Callable[[Callable[P, object]], Callable[P, None]]:
    """Make a function the content of a wide dialog, which opens when it is called."""

    def made(content: Callable[P, object]) -> Callable[P, None]:
        shown = st.dialog(title, width="large", on_dismiss="rerun")(content)

        def opened(*args: P.args, **kwargs: P.kwargs) -> None:
            OPEN.put(True)
            shown(*args, **kwargs)

        return opened

    return made
