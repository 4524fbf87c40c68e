"""Ctrl-C and SIGTERM: the first requests a stop that keeps finished work, the second exits."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from engine.monitor import Monitor, OnProgress

EVERY = 10.0  # seconds between lines of progress if standard error is not a terminal
INTERRUPTED = 130  # exit status of a program ended by Ctrl-C
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_broken: list[int] = []
_reading: list[str] = []  # message for a signal during imports


class Interrupt(KeyboardInterrupt):
    """A KeyboardInterrupt for which Python keeps the exit status.

    If a plain KeyboardInterrupt passes through exec() (used by dataclasses), Python ends itself by
    SIGINT at the end and ignores the exit status.
    """


def end_on_signals() -> None:
    """Make SIGTERM raise a KeyboardInterrupt, like Ctrl-C."""
    for number in _SIGNALS:
        signal.signal(number, _interrupt)


def interrupted() -> bool:
    """Return True if a signal has interrupted the program, even if its exception was caught."""
    return bool(_broken)


def ignore_signals() -> None:
    """Ignore further signals while the program ends and prints its last lines.

    Interrupted threads of libraries print nothing either.
    """
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    threading.excepthook = lambda cut_off: None


def _interrupt(number: int, frame: FrameType | None) -> None:
    if _reading:
        os.write(2, f"{_reading[0]}\n".encode())
        os._exit(INTERRUPTED)
    _broken.append(number)
    raise Interrupt


@contextmanager
def modules_are_read(said: str) -> Iterator[None]:
    """End the program at once, with a message, if a signal arrives during imports.

    No work has started yet, and an interrupt inside compiled code would print a traceback.
    """
    _reading.append(said)
    try:
        yield
    finally:
        _reading.clear()


@contextmanager
def interruptible(progress: OnProgress | None = None) -> Iterator[Monitor]:
    """Yield a monitor that a signal stops; a second signal raises KeyboardInterrupt."""
    pressed: list[int] = []

    def press(number: int, frame: FrameType | None) -> None:
        if pressed:
            raise Interrupt
        pressed.append(number)

    before = {number: signal.signal(number, press) for number in _SIGNALS}
    try:
        yield Monitor(progress, stop=lambda: bool(pressed))
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def watched() -> Iterator[Monitor]:
    """Yield a monitor that Ctrl-C stops, with a progress line on standard error.

    A terminal rewrites the line in place; otherwise new lines are printed from time to time.
    """
    there, last, shown = sys.stderr.isatty(), [time.monotonic()], list[bool]()

    def show(share: float | None, line: str) -> None:
        if there:
            shown.append(True)
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() > last[0] + EVERY:
            last[0] = time.monotonic()
            print(line, file=sys.stderr, flush=True)

    try:
        with interruptible(show) as monitor:
            yield monitor
    finally:
        if shown:
            print(file=sys.stderr)


def ending(monitor: Monitor, out: str | None) -> int:
    """Return the exit status; after a stop, print on standard error where the results are."""
    if not monitor.stopped():
        return 0
    where = f" in {out}" if out else ""
    print(f"Stopped; finished runs are kept{where}.", file=sys.stderr)
    return INTERRUPTED
