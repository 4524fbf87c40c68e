"""The long work of this page, for a process without Streamlit."""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine import Dataset
from engine.graphs.cpdag import Adjacency
from engine.graphs.metrics import Counts
from engine.registry import algorithm
from engine.request import Request
from engine.studies.price import loss_steps
from engine.studies.repeat import around, point
from engine.studies.study import sweep
from engine.studies.trial import knowing
from pages.worker import Reporter, cached

REPETITIONS, PER_POINT, POINTS = 100, 15, 9


@dataclass(frozen=True, eq=False)
class Repetition:
    """One repetition: its counts, and its (d, d) graph as it is displayed."""

    counts: Counts
    drawn: Adjacency
    untested: frozenset[tuple[int, int]]


def repeat(monitor: Reporter, request: Request, data: Dataset) -> bool:
    """Send a tuple with the steps at which edges are lost, then repetitions, then points over
    epsilon.

    Returns True if all are there.
    """
    data, key, values = cached(data), request.algorithm, request.params
    monitor.part(loss_steps(data, key, algorithm(key).params.build(values)))
    for seed in range(REPETITIONS):
        result = replace(request, seed=seed).run(data, trace=False, stop=monitor.stop)
        if result.status == "cancelled":
            return False
        assert result.counts is not None
        monitor.part(Repetition(result.counts, result.displayed_cpdag, frozenset(result.untested)))
    informed = cached(knowing(data, request.knowledge))
    epsilon = float(values["epsilon"])
    # Begin at the run's epsilon and go outwards, so that an early end has the middle.
    for at in sorted(around(epsilon, points=POINTS), key=lambda e: max(e / epsilon, epsilon / e)):
        found = list(sweep(informed, key, {**values, "epsilon": at}, PER_POINT, stop=monitor.stop))
        if len(found) < PER_POINT:
            return False
        monitor.part(point(at, found))
    return True
