"""A process that does the long work of pages; nothing of Streamlit is imported in here.

The work is a function ``fn(tell, *args)`` of a module that imports nothing of Streamlit either.
``tell(share, phrase, part)`` reports progress and a part of the result, each of them optional, and
returns whether a stop was asked for, so that it also serves as an engine's ``cancelled``.
"""

from __future__ import annotations

import atexit
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

Tell = Callable[..., bool]

IDLE = 120.0  # seconds after which a process without work ends
LOOK = 0.05  # seconds between two looks for a stop: each takes as long as many a CI test
_TOLD = 0.25  # seconds between two reports of progress


def _serve(pipe: Any, parent: int) -> None:
    """Do one task after the other, until there is none for a while."""
    os.nice(5)  # pages go first
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    with suppress(EOFError, OSError):
        while pipe.poll(IDLE):
            if (call := pipe.recv()) is not None:  # None: a stop that came after the end
                pipe.send(_answer(pipe, *call))
            del call


def _end_with(parent: int) -> None:
    while os.getppid() == parent:  # the children of a killed server get another parent
        time.sleep(0.5)
    os._exit(1)


def _answer(pipe: Any, fn: Callable[..., Any], args: tuple[Any, ...]) -> tuple[str, Any]:
    told = looked = 0.0
    stop = False

    def tell(share: float | None = None, phrase: str = "", part: Any = None) -> bool:
        nonlocal told, looked, stop
        now = time.monotonic()
        if part is not None or ((share is not None or phrase) and now - told > _TOLD):
            told = now
            pipe.send(("told", (share, phrase, part)))
        if not stop and now - looked > LOOK:  # a look takes as long as many a CI test
            looked, stop = now, pipe.poll()
        return stop

    try:
        return "result", fn(tell, *args)
    except Exception as error:
        return "error", error.with_traceback(None)


class Process:
    """One process and a pipe to it; private rows go through the pipe and touch no disk."""

    def __init__(self) -> None:
        from joblib.externals.loky.backend import get_context

        context = get_context("loky")  # does not import the server's main module again
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, os.getpid()), daemon=False)
        self.process.start()
        theirs.close()
        self.since = time.monotonic()
        atexit.register(self.end)  # Python would wait for it; as a daemon it could start none

    def usable(self) -> bool:
        """Whether it is alive and will stay so until it has a task."""
        return self.process.is_alive() and time.monotonic() - self.since < IDLE - 5.0

    def end(self) -> None:
        """Kill it."""
        if self.process.is_alive():
            os.kill(self.process.pid, signal.SIGKILL)  # a loky process has no kill()
        self.process.join(5.0)
        self.pipe.close()
        atexit.unregister(self.end)
