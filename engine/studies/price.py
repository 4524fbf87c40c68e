"""Count the edges that each part of a method loses before the noise, from truth to run.

A private run misses links for several reasons, of which noise is the last. Methods that add noise
to a rank test lose links by the test (the best one here is G2), then by its form with a bounded
change by one record. Methods with votes of blocks lose links by the blocks. Marginal PC reads
tables of counts and tests them differently. A descent with noise follows a plan that a solver does
not need. Each step is a search without noise on the same rows, with the threshold and the orders of
the run. The difference between the last step and the run is due to the noise.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from engine.data.dataset import Dataset
from engine.graphs.metrics import Counts
from engine.params import Parameters
from engine.registry import algorithm
from engine.runner import run
from engine.search.pc import SearchParameters
from engine.tables.store import store_of

BEST, PAPER, BOUNDED = "best", "paper", "bounded"
BLOCKS, TABLES, SOLVER, DESCENT = "blocks", "tables", "solver", "descent"
BEST_TEST = "g2"
NO_NOISE = 1e7  # an epsilon with negligible noise
MOST_COLUMNS = 40  # with more, a search without noise may take minutes
SECONDS = 6.0  # CPU seconds per step; a threshold that removes no edge makes a step endless


class LossStep(NamedTuple):
    """One search without noise: ``kind`` says which, ``statistic`` its test ("" for a solver)."""

    kind: str
    statistic: str
    counts: Counts


def loss_steps(data: Dataset, key: str, params: Parameters) -> tuple[LossStep, ...]:
    """Compute the steps of a run of ``key`` with ``params``, from the best test to its test.

    The result is empty if there is no ground truth, for private rows (which are not read without
    noise), and with the oracle's answers. A step that takes too long is omitted.
    """
    if not data.public or data.truth is None or data.d > MOST_COLUMNS:
        return ()
    steps = []
    for kind, statistic, searched, values in searches(key, params):
        if (counts := _counted(data, searched, values)) is not None:
            steps.append(LossStep(kind, statistic, counts))
    return tuple(steps)


def searches(key: str, params: Parameters) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Yield kind, statistic, algorithm and parameters of each step."""
    chosen = algorithm(key)
    given = params.as_dict()
    limit = {**given, "epsilon": NO_NOISE}
    if chosen.family == "score-based":
        names = {s.name for s in algorithm("notears").params.specs()}
        yield (SOLVER, "", "notears", {k: v for k, v in given.items() if k in names})
        if chosen.private:
            yield (DESCENT, "", key, limit)
    if chosen.family != "constraint-based":
        return
    assert isinstance(params, SearchParameters)
    test = params.test
    if not test.reads_data:
        return
    loop = {name: given[name] for name in ("max_order", "stable")}
    yield (BEST, BEST_TEST, "pc", {**loop, "statistic": BEST_TEST})
    if key == "marginal_pc":
        yield (TABLES, test.key, key, limit)
    elif test.bounded:
        shared = {**loop, "statistic": test.key, "threshold": params.cutoff}
        yield (PAPER, test.key, "pc", {**shared, "variant": "published"})
        if "strict" in (given.get("variant"), given.get("guarantee")):
            yield (BOUNDED, test.key, "pc", {**shared, "variant": "strict"})
    elif chosen.private and "blocks" in given:
        planned = {"tests": 10**6} if "tests" in given else {}  # makes the plan exact, too
        yield (BLOCKS, test.key, key, limit | planned)


def _counted(data: Dataset, key: str, values: dict[str, Any]) -> Counts | None:
    """Count the edges of a search, cached for pages; return None after ``SECONDS``."""

    def searched() -> Counts | None:
        end = time.thread_time() + SECONDS
        slow: Any = {"trace": False, "stop": lambda: time.thread_time() > end}
        result = run(key, data, seed=0, **slow, **values)
        return None if result.status == "cancelled" else result.counts

    return store_of(data).keep(("price", key, *sorted(values.items())), searched)
