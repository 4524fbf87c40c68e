"""Work for tests of long work; as all such work it imports nothing of Streamlit."""

from __future__ import annotations

import os
import time
from typing import Any

from engine.errors import InputError
from pages.worker import Tell


def listens(tell: Tell, most: float = 30.0) -> str:
    """Work that hears a stop and keeps what it has."""
    end = time.monotonic() + most
    tell(0.5, "half", os.getpid())
    while time.monotonic() < end:
        if tell():
            return "stopped"
        time.sleep(0.005)
    return "whole"


def shares(tell: Tell) -> None:
    """Work that sends what it has often."""
    for done in range(12):
        tell(done / 12, str(done))
        tell(part=done)
        time.sleep(0.05)


def deaf(tell: Tell) -> None:
    tell(None, "", os.getpid())
    time.sleep(60)


def refuses(tell: Tell) -> None:
    raise InputError("No.")


def breaks(tell: Tell) -> None:
    raise ZeroDivisionError


def pid(tell: Tell, *_: Any) -> int:
    return os.getpid()


def doubled(tell: Tell, content: bytes) -> bytes:
    return content * 2
