"""Whose server this is: its one user's own (the default), or public.

A public server (a demo, a class) has bundled networks, lessons and votes. It takes no file, and has
no budgets, no releases and no studies on a disk: there is nothing of one visitor for another to
find. Every visitor of a server that is not public is trusted with everything.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import InputError

if TYPE_CHECKING:  # the server asks for its mode before anything large is imported
    from engine.release.budget import Budgets

PUBLIC = "DP_CAUSAL_EXPLORER_PUBLIC"
OFF = (
    "This is a public demo: it takes no files and has no budgets. For your own table start your "
    "own server, on your own machine, with one command in a copy of this project: make app."
)


def public() -> bool:
    """Whether the server is public."""
    return os.environ.get(PUBLIC, "0") not in ("", "0")


def switched_off() -> bool:
    """Whether the server is public; says so in the place of what is off."""
    import streamlit as st

    if public():
        st.info(OFF.replace("make app", "`make app`"), icon=":material/lock:")
    return public()


def budgets() -> Budgets:
    """The budgets of the server's user, where the command line has them; InputError in public."""
    from engine.release.budget import Budgets

    if public():
        raise InputError(OFF)
    return Budgets()


def studies() -> Path | None:
    """The folder of the user's studies; None on a public server."""
    return None if public() else Path.cwd() / "studies"
