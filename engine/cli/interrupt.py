"""How long commands begin and end: Ctrl-C asks for a stop that keeps what is finished."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

INTERRUPTED = 130  # the exit status of a program that Ctrl-C ended


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Ctrl-C once asks for a stop that keeps what is finished; twice ends the program."""
    pressed: list[int] = []

    def press(number: int, frame: object) -> None:
        pressed.append(number)
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, press)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)


def ending(cancelled: Callable[[], bool], out: str | None) -> int:
    """The exit status; after a stop, a line that says where the results are."""
    if not cancelled():
        return 0
    where = f" in {out}" if out else ""
    print(f"Stopped; what was finished is kept{where}.", file=sys.stderr)
    return INTERRUPTED
