"""Progress reports and requests to stop, in one value for all long work.

Public calls take ``stop=`` and ``on_progress=`` and combine them in a :class:`Monitor`; the
functions below them pass the monitor on.
"""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from threading import Event
from typing import Any, ParamSpec, Self, TypeVar

from engine.errors import InputError

P = ParamSpec("P")
T = TypeVar("T")
Stop = Callable[[], bool] | Event
OnProgress = Callable[[float | None, str], object]


class Cancelled(Exception):
    """The user stopped the work; every decision made until then is kept."""


@dataclass(frozen=True)
class Monitor:
    """Report how far the work is, and ask whether to stop it.

    ``progress`` is called with the completed share (0 to 1, None if unknown) and a phrase. ``stop``
    is a ``threading.Event``, or a function that returns whether to stop.

    Examples:
        >>> Monitor(print).tell(0.5, "3 of 6 runs")
        0.5 3 of 6 runs
        >>> Monitor(stop=lambda: True).stopped()
        True
    """

    progress: OnProgress | None = None
    stop: Stop | None = None

    def __post_init__(self) -> None:
        stop = (lambda: False) if self.stop is None else getattr(self.stop, "is_set", self.stop)
        if not callable(stop):
            raise InputError(
                "stop must be a threading.Event or a function that returns whether to stop."
            )
        if not (self.progress is None or _takes(self.progress, 2)):
            raise InputError("on_progress must be a function of two values: a share and a phrase.")
        object.__setattr__(self, "_stop", stop)

    @property
    def options(self) -> dict[str, Any]:
        """The options ``stop`` and ``on_progress`` for a public call whose work it monitors."""
        return {"stop": self.stop, "on_progress": self.progress}

    def stopped(self) -> bool:
        """Return whether the work should stop."""
        return bool(self._stop())  # type: ignore[attr-defined]

    def check(self) -> None:
        """Raise Cancelled if the work should stop."""
        if self.stopped():
            raise Cancelled

    def tell(self, share: float | None, phrase: str = "") -> None:
        """Report how far the work is."""
        if self.progress is not None:
            self.progress(share, phrase)

    def within(self, seconds: float) -> Self:
        """Return a monitor for a part of the work that also stops after this many seconds."""
        end = time.monotonic() + seconds
        return replace(self, stop=lambda: self.stopped() or time.monotonic() > end)

    def counted(self, total: int) -> Callable[[], None]:
        """Return a function to call after each of ``total`` runs, which take about equally long."""
        done, start = 0, time.monotonic()

        def count() -> None:
            nonlocal done
            done += 1
            left = (time.monotonic() - start) / done * max(total - done, 0)
            self.tell(done / total, runs_done(done, total, left))

        return count


QUIET = Monitor()  # reports nothing and stops nothing


def runs_done(done: int, total: int, left: float | None) -> str:
    """Return a phrase about completed runs; ``left`` is the remaining seconds, None if unknown."""
    rest = "" if left is None else f", about {left:.0f} s left"
    return f"{done:,} of {total:,} runs{rest}"


def _takes(function: Any, values: int) -> bool:
    try:
        inspect.signature(function).bind(*range(values))
    except ValueError:  # compiled code has no signature
        return True
    except TypeError:
        return False
    return True


def renamed(**current: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Accept keywords under their names of version 0.3, with a warning; version 0.5 refuses them.

    A callback passed under its old name gets only the first of the values that the new one gets.
    """

    def accepted(old: str, value: Any) -> Any:
        if old not in current:
            return value
        warnings.warn(f"{old} is called {current[old]}", DeprecationWarning, stacklevel=3)
        if current[old] == "stop":
            return value
        most = next(n for n in (2, 1, 0) if _takes(value, n))
        return lambda *told: value(*told[:most])

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*args: P.args, **given: P.kwargs) -> T:
            new: Any = {current.get(name, name): accepted(name, given[name]) for name in given}
            return function(*args, **new)

        return call

    return decorate
