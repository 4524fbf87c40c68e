"""The mode of serving: one user's server (the default), or a public one.

A public server (a demo, a class) has bundled networks, lessons and votes. It takes no file, and has
no budgets, no releases and no studies on a disk: there is nothing of one visitor for another to
find. Every visitor of a server that was started with ``--trusted`` is trusted with everything.
"""

from __future__ import annotations

import ipaddress
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import InputError

if TYPE_CHECKING:  # the server asks for its mode before anything large is imported
    from engine.release.budget import Budgets

PUBLIC, TRUSTED = "DP_CAUSAL_EXPLORER_PUBLIC", "DP_CAUSAL_EXPLORER_TRUSTED"  # "1": it is
TOKEN = "DP_CAUSAL_EXPLORER_TOKEN"  # the start token of every request; "" asks for none
OFF = (
    "This public demo accepts no files and has no budgets. To use your own table, start a server "
    "on your machine: run `make app` in a copy of this project."
)


def _is(variable: str) -> bool:
    return os.environ.get(variable, "0") not in ("", "0")


def public() -> bool:
    """Return whether the server is public."""
    return _is(PUBLIC)


def trusted() -> bool:
    """Return whether every visitor of the server has its user's rights."""
    return _is(TRUSTED)


def local(host: str) -> bool:
    """Return whether a name or an address is this machine's alone."""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost" or host.endswith(".localhost")


def switched_off() -> bool:
    """Return whether the server is public; then say so in the place of the control."""
    import streamlit as st

    if public():
        st.info(OFF, icon=":material/lock:")
        return True
    return False


def budgets() -> Budgets:
    """Return the budgets of the server's user; raise InputError on a public server."""
    from engine.release.budget import Budgets

    if public():
        raise InputError(OFF)
    return Budgets()


def studies() -> Path | None:
    """Return the folder of the user's studies; None on a public server."""
    return None if public() else Path.cwd() / "studies"
