"""The long work of this page, for a process that knows nothing of Streamlit."""

from __future__ import annotations

import time
from collections.abc import Callable

from engine import Dataset
from engine.registry import algorithm
from engine.request import Request
from engine.studies.price import price_steps
from engine.studies.repeat import around, point
from engine.studies.study import sweep
from engine.studies.trial import knowing
from pages.worker import Tell, met

SECONDS = 12.0  # for the repetitions, and again for the curve
REPETITIONS, PER_POINT = 100, 15


def repeat(tell: Tell, request: Request, data: Dataset) -> bool:
    """Send repetitions of a run, then a tuple of its price's steps, then points over epsilon.

    Returns whether all are there.
    """
    data, key, values = met(data), request.algorithm, request.params
    informed, params = met(knowing(data, request.knowledge)), algorithm(key).params.build(values)
    epsilon = float(values["epsilon"])
    count = 0
    for outcome in sweep(informed, key, values, REPETITIONS, cancelled=_until(tell)):
        tell(part=outcome)
        count += 1
    tell(part=price_steps(data, key, params))
    stop = _until(tell)
    # From the run's own epsilon outwards, so that an early end leaves the middle.
    for at in sorted(around(epsilon), key=lambda e: max(e / epsilon, epsilon / e)):
        found = list(sweep(informed, key, {**values, "epsilon": at}, PER_POINT, cancelled=stop))
        if len(found) < PER_POINT:
            return False
        tell(part=point(at, found))
    return count == REPETITIONS


def _until(tell: Tell) -> Callable[[], bool]:
    """Whether a stop was asked for, or the time for it is over."""
    end = time.monotonic() + SECONDS
    return lambda: tell() or time.monotonic() > end
