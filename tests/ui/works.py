"""Work for tests of long work; as all such work it imports nothing of Streamlit."""

from __future__ import annotations

import os
import time
from typing import Any

from engine.errors import InputError
from pages.worker import Reporter


def listens(monitor: Reporter, most: float = 30.0) -> str:
    """Work that hears a stop and keeps what it has."""
    end = time.monotonic() + most
    monitor.tell(0.5, "half")
    monitor.part(os.getpid())
    while time.monotonic() < end:
        if monitor.stopped():
            return "stopped"
        time.sleep(0.005)
    return "whole"


def shares(monitor: Reporter) -> None:
    """Work that sends what it has often."""
    for done in range(12):
        monitor.tell(done / 12, str(done))
        monitor.part(done)
        time.sleep(0.05)


def deaf(monitor: Reporter) -> None:
    monitor.part(os.getpid())
    time.sleep(60)


def refuses(monitor: Reporter) -> None:
    raise InputError("No.")


def breaks(monitor: Reporter) -> None:
    raise ZeroDivisionError


def pid(monitor: Reporter, *_: Any) -> int:
    return os.getpid()


def doubled(monitor: Reporter, content: bytes) -> bytes:
    return content * 2
