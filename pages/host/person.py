"""Whose budgets, key, studies and own data these are.

A server knows its visitors by Streamlit's own sign-in (OIDC, ``[auth]`` in ``secrets.toml``) or by
a header that a trusted proxy writes. Each person has a folder, named by a digest of who they are.
Without either, a server that only this machine can reach is its one user's, with the files that the
command line has too; any other server belongs to nobody, so budgets and own data are off.
"""

from __future__ import annotations

import hashlib
import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from platformdirs import user_data_path
from streamlit.auth_util import get_secrets_auth_section

from engine.errors import InputError
from engine.release.budget import APP, Budgets
from engine.release.places import private_folder

HEADER = "DP_CAUSAL_EXPLORER_USER_HEADER"  # the proxy's header that names a visitor
HOME = "DP_CAUSAL_EXPLORER_HOME"  # the folder of all people's folders
FROM_PROXY = "proxy_user"  # the header's place in st.user
STUDIES = "studies"  # a folder's name
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip")

OPEN = (
    "Budgets and your own data are switched off: this server can be reached by others and does not "
    "know who is who. Whoever runs it can switch them on (docs/how-to/host.md); on your own "
    "machine, start it with make app."
)
SIGN_IN = "Sign in first: budgets, releases and own data belong to one person."
NAMELESS = (
    "Budgets and your own data are switched off: the proxy in front of this server did not say who "
    "you are."
)


@dataclass(frozen=True)
class Identity:
    """Who somebody is: a digest for the server, and a name for themselves to read."""

    key: str
    name: str


@dataclass(frozen=True)
class Person:
    """Where somebody's files are. ``folder`` None: this machine's user, where all programs look."""

    folder: Path | None = None
    name: str = ""

    def budgets(self) -> Budgets:
        """This person's budgets, with their vault beside them."""
        return Budgets(None if self.folder is None else self.folder / "budgets.db")

    @property
    def key(self) -> Path | None:
        """Their signing key's file; None: where the command line looks."""
        return None if self.folder is None else self.folder / "signing-key.pem"

    @property
    def studies(self) -> Path:
        """The folder of their studies."""
        return (Path.cwd() if self.folder is None else self.folder) / STUDIES


def header() -> str:
    """The header that a trusted proxy writes; "" where there is none."""
    return os.environ.get(HEADER, "").strip()


def signs_in() -> bool:
    """Whether visitors sign in with Streamlit."""
    return not header() and bool(get_secrets_auth_section())


def knows_people() -> bool:
    """Whether the server can tell its visitors apart."""
    return bool(header()) or signs_in()


def identity(user: Mapping[str, Any]) -> Identity | None:
    """Who Streamlit's ``st.user`` is, or the same mapping of another request; None for nobody."""
    if header():
        found = str(user.get(FROM_PROXY) or "").strip()
        return _identity(found, "proxy", found) if found else None
    issuer, subject = str(user.get("iss") or ""), str(user.get("sub") or "")
    if not (signs_in() and user.get("is_logged_in") and issuer and subject):
        return None
    return _identity(str(user.get("email") or user.get("name") or subject), issuer, subject)


def _identity(name: str, *parts: str) -> Identity:
    return Identity(hashlib.sha256("\n".join(parts).encode()).hexdigest()[:40], name)


def visitor() -> Person | None:
    """The person of this session; to be called in a page's script."""
    if knows_people():
        found = identity(st.user.to_dict())
        return None if found is None else Person(home() / "people" / found.key, found.name)
    return Person() if _only_here() else None


def required() -> Person:
    """The same, with a folder that is there; InputError, one sentence, where it is nobody."""
    found = visitor()
    if found is None:
        raise InputError(why_not())
    if found.folder is not None:
        private_folder(found.folder)
    return found


def why_not() -> str:
    """Why budgets and own data are off for a session that is nobody's."""
    if header():
        return NAMELESS
    return SIGN_IN if signs_in() else OPEN


def home() -> Path:
    """The folder of all people's folders."""
    named = os.environ.get(HOME)
    return Path(named) if named else user_data_path(APP, appauthor=False)


def _only_here() -> bool:
    """Whether only this machine can reach the server, as far as it and its browser can tell."""
    return loopback(str(st.get_option("server.address") or "")) and direct(st.context.headers)


def direct(headers: Mapping[str, str]) -> bool:
    """Whether a browser of this machine asked, and no proxy passed it on."""
    host = headers.get("host") or headers.get("Host")
    if any(headers.get(name) for name in FORWARDED):
        return False
    return host is None or loopback(urlsplit(f"//{host}").hostname or "")


def loopback(host: str) -> bool:
    """Whether a name or an address is this machine's alone."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


_OF = "host_person"  # session state: whose session it is


def settle() -> None:
    """A session that becomes another's forgets what it held; to be called before every page."""
    now = identity(st.user.to_dict()) if knows_people() else None
    if _OF in st.session_state and st.session_state[_OF] != now:
        for name in list(st.session_state):
            del st.session_state[name]
    st.session_state[_OF] = now
