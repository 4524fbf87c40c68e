"""Whose server this is: its one user's own (the default), or public.

A public server (a demo, a class) has bundled networks, lessons and votes. It takes no file, and has
no budgets, no releases and no studies on a disk: there is nothing of one visitor for another to
find. Every visitor of a server that was started with ``--trusted`` is trusted with everything.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from engine.errors import InputError

if TYPE_CHECKING:  # the server asks for its mode before anything large is imported
    from engine.release.budget import Budgets

PUBLIC, TRUSTED = "DP_CAUSAL_EXPLORER_PUBLIC", "DP_CAUSAL_EXPLORER_TRUSTED"  # "1": it is
OFF = (
    "This is a public demo: it takes no files and has no budgets. For your own table start your "
    "own server, on your own machine, with one command in a copy of this project: make app."
)
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip")


def _is(variable: str) -> bool:
    return os.environ.get(variable, "0") not in ("", "0")


def public() -> bool:
    """Whether the server is public, to this visitor: so is an untrusted one behind a proxy."""
    if _is(PUBLIC) or _is(TRUSTED):
        return _is(PUBLIC)
    import streamlit as st

    return not direct(st.context.headers)


def direct(headers: Mapping[str, str]) -> bool:
    """Whether a browser of this machine asked under this machine's name.

    A page of another site can make a browser ask under its own name (DNS rebinding).
    """
    host = headers.get("Host")
    if any(headers.get(name) for name in _FORWARDED):
        return False
    return host is None or local(urlsplit(f"//{host}").hostname or "")


def local(host: str) -> bool:
    """Whether a name or an address is this machine's alone."""
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost" or host.endswith(".localhost")


def switched_off() -> bool:
    """Whether the server is public; says so in the place of what is off."""
    import streamlit as st

    if public():
        st.info(OFF.replace("make app", "`make app`"), icon=":material/lock:")
        return True
    return False


def budgets() -> Budgets:
    """The budgets of the server's user, where the command line has them; InputError in public."""
    from engine.release.budget import Budgets

    if public():
        raise InputError(OFF)
    return Budgets()


def studies() -> Path | None:
    """The folder of the user's studies; None on a public server."""
    return None if public() else Path.cwd() / "studies"
