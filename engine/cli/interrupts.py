"""Ctrl-C and SIGTERM: the first asks for a stop that keeps what is finished, the second ends."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130  # the exit status of a program that Ctrl-C ended
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_broken: list[int] = []
_reading: list[str] = []  # what a signal says while modules are read


class Interrupt(KeyboardInterrupt):
    """A KeyboardInterrupt that Python does not take for its own.

    Where a plain one leaves exec() (which dataclasses are made with), Python notes it and ends
    itself by SIGINT at the end, whatever status was asked for.
    """


def end_on_signals() -> None:
    """From here on SIGTERM ends the program as Ctrl-C does: with a KeyboardInterrupt."""
    for number in _SIGNALS:
        signal.signal(number, _interrupt)


def interrupted() -> bool:
    """Whether a signal has broken into the program: what it raised may have been swallowed."""
    return bool(_broken)


def ignore_signals() -> None:
    """The program is ending: a further Ctrl-C must not break into what it still says.

    Nor does a library's thread that was cut off say anything.
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
    """Until it has modules to work with, a program ends at once, and says so: nothing is begun yet,
    and compiled code that an interrupt breaks into while it imports would print a traceback.
    """
    _reading.append(said)
    try:
        yield
    finally:
        _reading.clear()


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Whether a stop has been asked for; a second signal is a KeyboardInterrupt."""
    pressed: list[int] = []

    def press(number: int, frame: FrameType | None) -> None:
        if pressed:
            raise Interrupt
        pressed.append(number)

    before = {number: signal.signal(number, press) for number in _SIGNALS}
    try:
        yield lambda: bool(pressed)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def ending(cancelled: Callable[[], bool], out: str | None) -> int:
    """The exit status; after a stop, a line on standard error that says where the results are."""
    if not cancelled():
        return 0
    where = f" in {out}" if out else ""
    print(f"Stopped; what was finished is kept{where}.", file=sys.stderr)
    return INTERRUPTED
