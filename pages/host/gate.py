"""What stands before Streamlit: nobody speaks for another, and takes no more than their share.

A header that names a visitor is believed from a trusted proxy alone. A file's address says whose it
is, and is answered to that person; an upload goes into a session of one's own, within bounds.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import io
import ipaddress
import json
import os
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import unquote

import streamlit as st
from starlette.datastructures import Headers
from starlette.formparsers import MultiPartParser
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import runtime
from streamlit.runtime import memory_media_file_storage as media
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile
from streamlit.web.server.starlette import starlette_websocket as cookies
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from pages.host import bounds, person, record
from pages.host.person import Identity

PROXIES = "DP_CAUSAL_EXPLORER_PROXIES"  # addresses and networks, with commas
NEAR = "127.0.0.0/8, ::1"  # a proxy on the same machine
OF_NOBODY = 10_000_000  # bytes of uploads in a session of somebody who is not known
OF_A_PERSON = 250_000_000  # bytes in one of a person's sessions
SHARE = 8  # of the memory there is, one part for all uploads together
_SECRET = secrets.token_bytes(32)
_UNKNOWN = secrets.token_hex(16)  # a mark that nobody has
_LATER: ContextVar[str] = ContextVar("later", default=_UNKNOWN)
_execute = MediaFileManager.execute_deferred


class Gate:
    """ASGI middleware around Streamlit's application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        media._calculate_file_id = _file_id
        setattr(MediaFileManager, "execute_deferred", _made_later)  # noqa: B010
        setattr(UploadedFile, "__deepcopy__", _same_bytes)  # noqa: B010
        MultiPartParser.spool_max_size = 0  # none: what is more than 1 MB would go to a disk

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is allowed."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        if person.header() and not _from_proxy(scope):
            scope = _without_names(scope)
        refused = refusal(scope) if scope["type"] == "http" else None
        await (self._app if refused is None else refused)(scope, receive, send)


# Who asks ---------------------------------------------------------------------------------


def _from_proxy(scope: Scope) -> bool:
    """Whether the header may be believed: a trusted proxy wrote it, and wrote it once."""
    name = person.header().lower().encode("latin-1")
    if sum(key == name for key, _ in scope["headers"]) != 1:
        return False
    peer = scope.get("client")
    try:
        address = ipaddress.ip_address(peer[0] if peer else "")
    except ValueError:
        return False
    return any(address in network for network in trusted())


def trusted() -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    """The networks of trusted proxies; ValueError for what is none."""
    listed = os.environ.get(PROXIES) or NEAR
    return [ipaddress.ip_network(part.strip()) for part in listed.split(",") if part.strip()]


def _without_names(scope: Scope) -> Scope:
    name = person.header().lower().encode("latin-1")
    return {**scope, "headers": [(k, v) for k, v in scope["headers"] if k != name]}


def asks(scope: Scope) -> Identity | None:
    """Who sends a request, told as Streamlit tells it of a session."""
    if name := person.header():
        return person.identity({person.FROM_PROXY: Headers(scope=scope).get(name)})
    if not person.signs_in():
        return None
    request = Request(scope)
    try:
        found = cookies._get_signed_cookie_with_chunks(request.cookies, USER_COOKIE_NAME)
        return person.identity(json.loads(found)) if found else None
    except ValueError:
        return None


# What they ask for ------------------------------------------------------------------------


def refusal(scope: Scope) -> Response | None:
    """The answer to a request that must not reach Streamlit; None for all others."""
    base = str(st.get_option("server.baseUrlPath") or "").strip("/")
    path = unquote(scope["path"]).removeprefix(f"/{base}" if base else "")
    if path.startswith("/media/") and _whose(path) != _mark(asks(scope)):
        return _refused("file", 404, "There is no such file.")
    if path.startswith("/_stcore/upload_file/") and scope["method"] == "PUT":
        return _upload(scope, path.split("/")[3])
    return None


def _refused(why: str, status: int, words: str) -> Response:
    record.count("dpce_refused_total", reason=why)
    return PlainTextResponse(words, status)


def _upload(scope: Scope, session: str) -> Response | None:
    """Uploads go into one's own session, and together stay below a share of the memory."""
    server = runtime.get_instance()
    found = server.get_app_session(session)
    if found is None or (person.knows_people() and _user(found) != asks(scope)):
        return _refused("session", 404, "There is no such session.")
    try:
        size = int(Headers(scope=scope).get("content-length") or "")
    except ValueError:
        return _refused("length", 411, "Say how long the file is.")
    held = _held(server)
    known = not person.knows_people() or asks(scope) is not None
    if held.get(session, 0) + size > (OF_A_PERSON if known else OF_NOBODY):
        return _refused("size", 413, "This session's files would be too large together.")
    if sum(held.values()) + size > bounds.memory() // SHARE:
        return _refused("memory", 507, "The server holds as many files as it can; try later.")
    return None


def _same_bytes(file: UploadedFile, _: object) -> UploadedFile:
    """A file as Streamlit copies it for each script that runs: its bytes are the same ones."""
    found = UploadedFile.__new__(UploadedFile)
    io.BytesIO.__init__(found, file.getvalue())
    found.__dict__.update(file.__dict__)
    return found


def _held(server: Any) -> dict[str, int]:
    """Session -> bytes of its uploaded files."""
    stored: Mapping[str, Mapping[str, Any]] = server.uploaded_file_mgr.file_storage
    return {one: sum(len(f.data) for f in files.values()) for one, files in list(stored.items())}


@asynccontextmanager
async def tidying(_: object = None, every: float = 10.0) -> AsyncIterator[None]:
    """While the server runs: let go of sessions whose time is over, and give their memory back.

    Streamlit forgets a session whose browser has gone two minutes ago, but only once another one
    goes: on a quiet night a person's rows would stay in memory until the morning.
    """
    task = asyncio.create_task(_tidy(every))
    try:
        yield
    finally:
        task.cancel()


async def _tidy(every: float) -> None:
    before = 0
    while True:
        await asyncio.sleep(every)
        server = runtime.get_instance()
        over = server._session_mgr._session_storage._cache.expire()  # type: ignore[attr-defined]
        for _, info in over:
            info.session.shutdown()
            info.session.session_state.clear()  # Streamlit's loop holds on to the last session
        now = sum(_held(server).values())
        if over or now < before:
            await asyncio.to_thread(bounds.give_back)
        before = now


def _user(session: Any) -> Identity | None:
    return person.identity(session._user_info)


# Whose a file is --------------------------------------------------------------------------


def _file_id(data: bytes, mimetype: str, filename: str | None = None) -> str:
    """An address that nobody can work out, with a mark of whose file it is.

    Streamlit's own is a digest of the content, and of large files of a part of it: whoever can
    guess a file could see whether somebody has it, and two people's could be taken for one.
    """
    context = get_script_run_ctx()
    owner = _LATER.get() if context is None else _mark(person.identity(context.user_info))
    made = hmac.new(_SECRET, f"{owner}\n{mimetype}\n{filename}\n".encode(), hashlib.sha256)
    made.update(data)
    return f"{made.hexdigest()}{owner}"


def _made_later(files: MediaFileManager, file_id: str) -> str:
    """A file that is made when its button is pressed, outside any page: its session's person's."""
    entry = files._deferred_callables.get(file_id)
    found = None if entry is None else runtime.get_instance().get_app_session(entry["session_id"])
    token = _LATER.set(_UNKNOWN if found is None else _mark(_user(found)))
    try:
        return _execute(files, file_id)
    finally:
        _LATER.reset(token)


def _mark(owner: Identity | None) -> str:
    key = "" if owner is None else owner.key
    return hmac.new(_SECRET, f"whose\n{key}".encode(), hashlib.sha256).hexdigest()[:_MARK]


_MARK = 32  # hexadecimal digits at the end of a file's address


def _whose(path: str) -> str:
    """The mark in an address."""
    return path.rpartition("/")[2].partition(".")[0][-_MARK:]
