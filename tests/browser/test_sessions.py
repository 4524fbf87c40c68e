"""Several sessions at once on one server, without a browser: each sees its own and nothing else."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from benchmarks.visitor import Seen, mixed, visitors

PEOPLE = (0, 4, 1, 5)  # two on Asia, two on Cancer


def test_sessions_at_once_see_their_own_results(app_server: str) -> None:
    """Two visitors a dataset, each with seeds of its own; every result is the run's made alone."""
    seen = Seen()
    with ThreadPoolExecutor(1) as apart:  # this thread's event loop may be Playwright's
        apart.submit(lambda: asyncio.run(visitors(app_server, PEOPLE, 0.5, 0.1, seen))).result()
    assert not seen.trouble
    assert len(seen.results) >= len(PEOPLE)
    assert not mixed(seen)
    # The check would notice: two results of one dataset change places.
    pair = next(
        (a, b)
        for a in seen.results
        for b in seen.results
        if a[0] == b[0] and (a[2], a[3]) != (b[2], b[3])
    )
    (name, seed, *_), (_, _, words, graphs) = pair
    assert mixed(replace(seen, results=[(name, seed, words, graphs)]))
