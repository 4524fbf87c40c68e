"""The long work of this page, for a process that knows nothing of Streamlit."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import Any

from engine import Dataset
from pages.worker import Tell, met

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
REPEATS, SECONDS = 5, 12.0  # runs at each epsilon, and time for all of them


def curve(tell: Tell, key: str, data: Dataset, asked: Mapping[str, Any]) -> None:
    """Parts: each epsilon with its F1 (low, middle, high), from 1 outwards, while there is time."""
    from engine.studies.repeat import point, repeated  # the page knows this module, too

    data, end = met(data), time.monotonic() + SECONDS
    for done, epsilon in enumerate(sorted(EPSILONS, key=lambda e: abs(math.log(e))), 1):
        values = {**asked, "epsilon": epsilon}
        stop = lambda: tell() or time.monotonic() > end  # noqa: E731
        found = list(repeated(key, data, values, range(REPEATS), stop))
        if len(found) < REPEATS:
            return
        tell(done / len(EPSILONS), part=(epsilon, *point(epsilon, found).f1))
