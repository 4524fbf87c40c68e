"""The application that ``scripts/serve.py`` serves: app.py behind a gate, and ``/metrics``."""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from pages.host.gate import Gate, tidying
from pages.host.person import FORWARDED
from pages.host.record import metrics


def tell(request: Request) -> Response:
    """The metrics, for whoever reaches the server itself: a proxy's visitors do not."""
    if any(name in request.headers for name in FORWARDED):
        return PlainTextResponse("Not Found", 404)
    return PlainTextResponse(metrics(), media_type="text/plain; version=0.0.4")


app = st.App(
    Path(__file__).with_name("app.py"),
    routes=[Route("/metrics", tell)],
    middleware=[Middleware(Gate)],
    lifespan=tidying,
)
