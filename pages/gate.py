"""The check of every request for a page, a file or a WebSocket, before Streamlit sees it.

Streamlit's check admits every port of this machine, and contacts two internet addresses before it
refuses another Origin. This check only compares strings of the request.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from fnmatch import fnmatchcase
from secrets import compare_digest
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import streamlit as st
from starlette.convertors import StringConvertor, register_url_convertor
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from pages import mode

TWICE = "A request must have one Host header and at most one Origin header."
NO_HOST = "The Host header of this request is not a host name or an address with an optional port."
PROXIED = (
    "This server answers only browsers on its machine, and this request came through a proxy. "
    "If every visitor of the proxy may use all its budgets, start the server with --trusted."
)
ELSEWHERE = (
    "This server does not answer to the name {!r}. If it is the server's name, start the server "
    "with --trusted --server.allowedHosts {}."
)
FOREIGN = (
    "A page from another address ({}) sent this request, and this server answers only its own "
    "pages. If a proxy changes the Host header, start the server with --server.corsAllowedOrigins "
    "{}."
)
NO_TOKEN = (
    "This server was started with --token. Open the address that it printed. "
    'If you did so before in this browser, <a href="">open this page again</a>.'
)
PRINTED = "\n  Open this address; it carries the start token: {}\n"
HEALTH = "/_stcore/health"  # answers without a token; it says "ok" and nothing else
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip")


class Gate:
    """ASGI middleware that refuses foreign Hosts and Origins, and requests without a token."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass the request on."""
        answer: ASGIApp = self.app
        if scope["type"] in ("http", "websocket"):
            asked = HTTPConnection(scope)
            answer = _refused(asked) or _unproved(asked) or self.app
            if scope["type"] == "websocket" and answer is self.app and "origin" in asked.headers:
                # Streamlit would ask the internet about an admitted Origin.
                MutableHeaders(scope=scope)["origin"] = f"http://{asked.headers['host']}"
        await answer(scope, receive, send)


def _refused(asked: HTTPConnection) -> Response | None:
    hosts, origins = asked.headers.getlist("host"), asked.headers.getlist("origin")
    if len(hosts) != 1 or len(origins) > 1:
        return PlainTextResponse(TWICE, 400)
    reason = "" if mode.public() else _elsewhere(asked, hosts[0])
    foreign = [one for one in origins if one.partition("://")[2].lower() != hosts[0].lower()]
    if not reason and foreign and foreign[0] not in st.get_option("server.corsAllowedOrigins"):
        reason = FOREIGN.format(*foreign * 2)
    return PlainTextResponse(reason, 403) if reason else None


def _elsewhere(asked: HTTPConnection, host: str) -> str:
    """Return why the user's server does not answer to that Host; "" if it does. Another site's page
    can make a browser send a request under that site's name (DNS rebinding), but not under a bare
    address.
    """
    try:
        name, _ = urlsplit(f"//{host}").hostname or "", urlsplit(f"//{host}").port
    except ValueError:
        return NO_HOST
    if not mode.trusted():
        if any(asked.headers.get(header) for header in _FORWARDED):
            return PROXIED
        return "" if mode.local(name) else ELSEWHERE.format(host, name)
    stated: Sequence[str] = st.get_option("server.allowedHosts")
    if _bare(name) or mode.local(name) or any(fnmatchcase(name, one.lower()) for one in stated):
        return ""
    return ELSEWHERE.format(host, name)


def _bare(name: str) -> bool:
    with suppress(ValueError):
        return bool(str(ipaddress.ip_address(name)))
    return False


def _unproved(asked: HTTPConnection) -> Response | None:
    """Refuse a request without the start token; redirect a request that has it, and set a cookie.

    The cookie's name contains the port, because browsers share cookies among all ports of a
    machine.
    """
    token = os.environ.get(mode.TOKEN, "")
    if not token or asked.scope["path"] == f"{_base()}{HEALTH}":
        return None
    cookie = f"dp_causal_explorer_{urlsplit('//' + asked.headers['host']).port or ''}"
    if asked.scope["type"] == "http" and _same(asked.query_params.get("token", ""), token):
        words = parse_qsl(asked.scope["query_string"].decode("latin-1"), keep_blank_values=True)
        rest = urlencode([pair for pair in words if pair[0] != "token"])
        path = "/" + asked.scope["raw_path"].decode("latin-1").lstrip("/")  # "//" names a host
        led = RedirectResponse(f"{path}?{rest}" if rest else path, 303, _UNKEPT)
        led.set_cookie(cookie, token, httponly=True, samesite="strict")
        return led
    if _same(asked.cookies.get(cookie, ""), token):
        return None
    return HTMLResponse(f"<!doctype html><title>DP Causal Explorer</title>{NO_TOKEN}", 403, _UNKEPT)


_UNKEPT = {"Cache-Control": "no-store"}


def _same(given: str, token: str) -> bool:
    return compare_digest(given.encode(), token.encode())


def _base() -> str:
    """Return the path under which the app is served, without a closing slash."""
    path = str(st.get_option("server.baseUrlPath")).strip("/")
    return f"/{path}" if path else ""


class _Code(StringConvertor):
    regex = "[A-Za-z]{4}"


# Addresses of version 0.3 and the current addresses of their pages.
OLD = {
    **{"scene": "explore", "study": "choose-epsilon", "pairs": "cause-or-effect"},
    **{"table": "my-data", "trust": "audit"},
}


def redirects() -> list[Route]:
    """Return the routes of old addresses and of class rooms: /j and four letters."""
    register_url_convertor("room", _Code())
    old = [Route(f"{_base()}/{name}", _led) for name in OLD]
    return [Route(f"{_base()}/j{{code:room}}", _joined), *old]


async def _joined(request: Request) -> Response:
    return RedirectResponse(f"learn?room={request.path_params['code']}", 303, _UNKEPT)


async def _led(request: Request) -> Response:
    page, words = OLD[request.url.path.rpartition("/")[2]], request.url.query
    return RedirectResponse(f"{page}?{words}" if words else page, 303, _UNKEPT)


@asynccontextmanager
async def announced(app: Any) -> AsyncIterator[None]:
    """Print the address with the start token, once the port is taken."""
    if token := os.environ.get(mode.TOKEN):
        address = f"http://localhost:{st.get_option('server.port')}{_base()}/?token={token}"
        print(PRINTED.format(address), flush=True)
    yield
