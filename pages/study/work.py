"""The page's work, done by the engine in a separate process; this module imports no Streamlit."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from engine.data.dataset import Dataset
from engine.request import Request
from engine.studies.margins import margins
from engine.studies.plan import Plan, PlanRequest, plan
from engine.studies.store import ResultStore
from engine.studies.study import sweep
from engine.studies.trial import TrialResult
from engine.studies.tune import EPSILONS, HALVINGS, Tuned, halves, narrowed, tune
from pages.worker import NETWORKS, Reporter, cached, mark

if TYPE_CHECKING:
    from engine.release.file import Release

    Where = Dataset | PlanRequest | Release  # a search draws its data from it

EVERY = 0.2  # seconds between two batches of results
ROUNDS = (0, 1, 5, 10, 20, 50)  # seeds, all lines up to one of them before any goes on
Key = str | None


def paid(request: Request) -> dict[str, Any]:
    """Return the price of the runs, apart from ε: the guarantee and δ."""
    return {k: v for k, v in request.params.items() if k in ("guarantee", "delta")}


def _sent(monitor: Reporter, results: Iterable[TrialResult], key: Key = None) -> list[TrialResult]:
    """Return all results; send them in batches with a key as they come."""
    found, sent, last = list[TrialResult](), 0, time.monotonic()
    for result in results:
        found.append(result)
        if time.monotonic() > last + EVERY:
            monitor.part((key, tuple(found[sent:])))
            sent, last = len(found), time.monotonic()
    monitor.part((key, tuple(found[sent:])))
    return found


def answered(
    monitor: Reporter,
    lines: Sequence[tuple[Request, tuple[TrialResult, ...]]],
    target: float,
    objective: str,
    seeds: int,
    *data: Dataset,
) -> bool:
    """Send the runs that lines lack, each with its line's key.

    Args:
        monitor: It hears about each run.
        lines: Requests with the runs that are known.
        target: The score whose crossing is narrowed.
        objective: The score.
        seeds: How many at each ε.
        data: The datasets of the requests.

    Returns:
        Whether all runs are there.
    """
    rows = {mark(one): cached(one) for one in data}
    known = {run.key for _, runs in lines for run in runs}
    grids = {request.key: _grid(request, runs) for request, runs in lines}
    tried = (len(grid["epsilon"]) + HALVINGS if "epsilon" in grid else 1 for grid in grids.values())
    count = monitor.counted(max(1, seeds * sum(tried) - len(known)))
    found: dict[str, list[TrialResult]] = {request.key: [] for request, _ in lines}
    with ResultStore(":memory:") as store:
        store.put(run for _, runs in lines for run in runs)
        how: Any = {"stop": monitor.stop, "store": store}

        def new(key: str, runs: Iterable[TrialResult]) -> Iterator[TrialResult]:
            for run in runs:
                found[key].append(run)
                if run.key not in known:
                    count()
                    yield run

        for first, end in pairwise(k for k in ROUNDS if k <= seeds):
            for request, _ in lines:
                key, here = request.key, rows[place(request)]
                made = sweep(here, request.algorithm, grids[key], range(first, end), **how)
                _sent(monitor, new(key, made), key)
        for request, _ in lines:
            if monitor.stopped() or "epsilon" not in request.params:
                continue
            key, here = request.key, rows[place(request)]
            how["on_progress"] = lambda *_: count()
            more = narrowed(here, found[key], target, objective, **how).results
            monitor.part((key, more))
    return not monitor.stopped()


def _grid(request: Request, runs: Iterable[TrialResult]) -> dict[str, Any]:
    """Return the parameters of a line's runs; its ε are the usual ones and those known already."""
    if "epsilon" not in request.params:
        return dict(request.params)
    tried = sorted({*EPSILONS, *(run.values["epsilon"] for run in runs)})
    return {**request.params, "epsilon": tried}


def place(request: Request) -> Hashable:
    """Return the mark of the rows that a request draws (:func:`pages.worker.mark`)."""
    source = request.source
    return source.name, source.n, source.seed, request.knowledge


def searched(
    monitor: Reporter,
    where: Where,
    request: Request,
    objective: str,
    epsilon: float,
    over: Sequence[str],
) -> Tuned:
    """Return the best setting at an ε, with all else that the request holds left aside.

    Search on rows with a truth; for a schema on random networks and for a release on synthetic
    tables, as many rows as the request has. For both, report on others.
    """
    if isinstance(where, Dataset):
        data, held_out = [where], list[Dataset]()
    elif isinstance(where, PlanRequest):
        data, held_out = halves(where.dataset)
    else:
        from engine.release.synthetic import synthetic  # here: no answer needs it

        data, held_out = halves(partial(synthetic, where, request.source.n))
    return tune(
        request.algorithm, data, {**paid(request), "epsilon": epsilon}, over, objective=objective,
        held_out=held_out, **monitor.options,
    )  # fmt: skip


def mapped(
    monitor: Reporter, data: Dataset, key: str, grid: Mapping[str, Any], seeds: int
) -> list[TrialResult]:
    """Return every run of a map."""
    return _sent(monitor, sweep(data, key, grid, seeds, **monitor.options))


def by_hand(
    monitor: Reporter, data: Dataset, epsilon: float, guarantee: str, objective: str
) -> dict[str, Any] | None:
    """Return CURATE's plans and scores at every margin."""
    return margins(data, epsilon, guarantee=guarantee, objective=objective, **monitor.options)


def forecast(
    monitor: Reporter,
    request: PlanRequest,
    epsilons: Sequence[float],
    algorithms: Sequence[str],
    delta: float,
    target: float,
) -> Plan:
    """Return a plan from public facts only."""
    return plan(
        request, epsilon=epsilons, algorithms=algorithms, delta=delta, draws=NETWORKS, empty=5,
        target=target, **monitor.options,
    )  # fmt: skip
