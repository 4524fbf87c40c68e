"""How long work lasts, and how much of it goes on at once; nothing here is Streamlit's but here().

Work that nobody looks at any more ends, and what does not fit waits in line with a visible place.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

GRACE = 20.0  # seconds without a browser after which a session's work ends
LOOK = 2.0  # seconds between two looks for the browser
_TURN = 0.1  # seconds between two looks whether a waiting job was given up

Present = Callable[[], bool]


def here() -> Present:
    """Whether this session's browser is still connected; to be called in a page's script."""
    context = get_script_run_ctx()
    if context is None or not runtime.exists():
        return lambda: True
    server, session = runtime.get_instance(), context.session_id
    return lambda: bool(server.is_active_session(session))


class Line:
    """At most ``at_once`` jobs work; the others wait in the order in which they came."""

    def __init__(self, at_once: int):
        self._at_once = at_once
        self._jobs: list[object] = []  # those that work first, then those that wait
        self._change = threading.Condition()

    def join(self, job: object) -> None:
        """Stand at the end of the line."""
        with self._change:
            self._jobs.append(job)

    def turn(self, job: object, given_up: Callable[[], bool]) -> bool:
        """Wait until the job may work; False if it was given up before."""
        with self._change:
            while self._jobs.index(job) >= self._at_once:
                if given_up():
                    return False
                self._change.wait(_TURN)
        return True

    def leave(self, job: object) -> None:
        """Make room."""
        with self._change:
            self._jobs.remove(job)
            self._change.notify_all()

    def place(self, job: object) -> int:
        """How many turns away the job is: 0 once it works, 1 for the next in line."""
        with self._change:
            if job not in self._jobs:
                return 0
            return max(0, self._jobs.index(job) - self._at_once + 1)


RUNS = Line(os.cpu_count() or 1)
STUDIES = Line(1)


def end_when_left(
    present: Present, ended: Callable[[float], bool], cancel: Callable[[], None]
) -> None:
    """Cancel a job once its browser has been away for the grace; ``ended(s)`` waits s seconds."""

    def watch() -> None:
        away = 0.0
        while not ended(LOOK):
            away = 0.0 if present() else away + LOOK
            if away >= GRACE:
                cancel()
                return

    threading.Thread(target=watch, daemon=True, name="watch").start()
