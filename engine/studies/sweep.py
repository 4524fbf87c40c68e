"""``sweep()``: a study as an iterator of results; ``estimate()``: what it would take."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import Any

import numpy as np

from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.studies.cells import (
    Cell,
    CellResult,
    Datasets,
    Names,
    Seeds,
    Study,
    run_cell,
    study_of,
)
from engine.studies.executors import (
    MET_MOST,
    Batch,
    DaskPool,
    ProcessPool,
    parallel,
    serial,
)
from engine.studies.known import Said
from engine.studies.store import ResultStore, held, opened
from engine.studies.timing import Group, Left, looks_first

StoreLike = ResultStore | str | os.PathLike[str] | None
EXECUTORS = ("serial", "processes")


@dataclass(frozen=True)
class Progress:
    """How far a study is: cells done of how many, those found in the store, seconds so far.

    ``left`` estimates the seconds to come, None before the first run: by dataset, algorithm and
    setting (:mod:`engine.studies.timing`), since an Alarm run takes a hundred times an Asia run.
    """

    done: int
    total: int
    reused: int
    seconds: float
    left: float | None


def sweep(
    datasets: Datasets,
    algorithms: Names,
    parameters: Mapping[str, Any] | None = None,
    seeds: Seeds = 5,
    *,
    knowledge: Said = None,
    store: StoreLike = None,
    repair: bool = False,
    executor: str = "serial",
    workers: int = 2,
    cancelled: Callable[[], bool] = lambda: False,
    on_progress: Callable[[Progress], None] | None = None,
    on_start: Callable[[Sequence[Cell]], None] = lambda cells: None,
    expected: Mapping[Group, float] | None = None,
) -> Iterator[CellResult]:
    """Run every cell of datasets x algorithms x parameters x seeds.

    What is asked for is checked at once; cells run as the iterator is consumed, and the datasets'
    tables and scores are counted once a process. A tenth of the cells, spread over all datasets,
    algorithms and settings, comes first: from then on it is known how long the others take.

    Args:
        datasets: A name, a dataset, or several.
        algorithms: A key, or several.
        parameters: By name: a value, or a list of values to go through.
        seeds: How many, or which.
        knowledge: What is known of the causes, of every dataset: Knowledge, or the name of a set
            that is true of each one's true graph: "two tiers", "four tiers", "complete order".
        store: A path or a ResultStore. Results in it come first and are not run again; new ones are
            in it before they are yielded. A damaged row is named and left as it is.
        repair: Compute damaged rows of the store again.
        executor: "serial", "processes", or the address of a Dask scheduler such as
            "tcp://host:8786". Each gives the same results, in an order of its own.
        workers: Of "processes".
        cancelled: Polled; what is finished by then is yielded and kept.
        on_progress: Called after each result.
        on_start: Called with cells before they are given to a worker: from then on their budget may
            be spent, whatever becomes of the worker.
        expected: :attr:`Estimate.seconds_each`, for kinds of runs not yet seen.

    Returns:
        An iterator of results, one a cell.

    Raises:
        InputError: For what does not fit, before the first run.

    Examples:
        >>> from engine import sweep
        >>> cells = list(sweep("cancer", "priv_pc", {"epsilon": [0.1, 10.0]}, seeds=2))
        >>> len(cells), cells[0].values["epsilon"], cells[0].spent_epsilon
        (4, 0.1, 0.1)
    """
    study = study_of(datasets, algorithms, parameters, seeds, knowledge)
    if executor not in EXECUTORS and "://" not in executor:
        raise InputError(
            f"executor must be {', '.join(EXECUTORS)} or a scheduler's address such as "
            f"tcp://host:8786; {executor!r} is not."
        )
    kept = opened(store)
    if repair and kept is not None:
        kept.repair(study.cells)
    make = {"serial": lambda: None, "processes": lambda: ProcessPool(workers)}.get(
        executor, lambda: DaskPool(executor)
    )
    left = Left(study.cells, expected)
    return _Walk(
        study, kept, kept is not store, make, cancelled, on_progress, on_start, left
    ).results()


class _Walk:
    """One run through a plan."""

    def __init__(
        self,
        study: Study,
        store: ResultStore | None,
        owns_store: bool,
        make_pool: Callable[[], Any],
        cancelled: Callable[[], bool],
        on_progress: Callable[[Progress], None] | None,
        on_start: Callable[[Sequence[Cell]], None],
        left: Left,
    ):
        self._left = left
        self._plan, self._store, self._owns_store = study, store, owns_store
        self._make_pool, self._cancelled, self._on_progress = make_pool, cancelled, on_progress
        self._on_start = on_start
        self._done = self._reused = 0
        self._start = self._began = monotonic()

    def results(self) -> Iterator[CellResult]:
        """Kept results first, then new ones."""
        self._start = monotonic()
        try:
            missing: list[Cell] = []
            for cell in self._plan.cells:
                found = self._store.get(cell) if self._store is not None else None
                if found is None:
                    missing.append(cell)
                else:
                    self._reused += 1
                    yield self._report(found, fresh=False)
            self._began = monotonic()
            for batch in self._run(missing):
                if self._store is not None:
                    self._store.put(batch)
                for result in batch:
                    yield self._report(result, fresh=True)
        finally:
            if self._owns_store and self._store is not None:
                self._store.close()

    def _run(self, cells: Sequence[Cell]) -> Iterator[Batch]:
        if not cells or self._cancelled():
            return iter(())
        pool = self._make_pool()
        if pool is None:
            early, later = looks_first(cells)
            return serial(self._plan.datasets, early + later, self._cancelled, self._on_start)
        parts = looks_first(cells, holds=MET_MOST * pool.slots)
        return parallel(pool, self._plan.datasets, parts, self._cancelled, self._on_start)

    def _report(self, result: CellResult, *, fresh: bool) -> CellResult:
        self._done += 1
        if fresh and self._done == self._reused + 1 and not math.isnan(result.seconds):
            # Workers start up and import once: that tells nothing of the runs to come.
            self._began = max(self._began, monotonic() - result.seconds)
        self._left.note(result, fresh=fresh)
        if self._on_progress is not None:
            total, now = len(self._plan.cells), monotonic()
            left = self._left.seconds(now - self._began) if fresh else None
            self._on_progress(Progress(self._done, total, self._reused, now - self._start, left))
        return result


@dataclass(frozen=True)
class Estimate:
    """What a study would take: its cells, those already kept, and seconds for the others.

    ``at_least`` says that some run outlasted its probe, so that ``seconds`` is a lower bound.
    ``seconds_each`` is what one run of a kind takes.
    """

    cells: int
    kept: int
    seconds: float
    at_least: bool
    seconds_each: Mapping[Group, float] = field(default_factory=dict, compare=False)

    @property
    def runs(self) -> int:
        """How many runs are left to do."""
        return self.cells - self.kept


def estimate(
    datasets: Datasets,
    algorithms: Names,
    parameters: Mapping[str, Any] | None = None,
    seeds: Seeds = 5,
    *,
    store: StoreLike = None,
    workers: int = 1,
    patience: float = 2.0,
) -> Estimate:
    """Seconds a study would take on ``workers`` cores, from a probe of at most ``patience`` s.

    For each dataset and algorithm a few cells spread over the grid are run, or their times are
    taken from the store. A cell that exceeds its share of the patience is stopped. Private rows
    are not touched: random ones of their schema stand in, and may take longer.
    """
    study = _standing_in(study_of(datasets, algorithms, parameters, seeds))
    with held(store) as kept:
        missing = [c for c in study.cells if kept is None or not kept.has(c)]
        groups: dict[Group, list[Cell]] = {}
        for cell in missing:
            groups.setdefault((cell.fingerprint, cell.algorithm), []).append(cell)
        total, at_least = 0.0, False
        each: dict[Group, float] = {}
        for key, cells in groups.items():
            known = kept.mean_seconds(*key) if kept is not None else None
            if known is not None:
                each[key] = known
                total += known * len(cells)
                continue
            seconds, cut = _probe(study, cells, patience / len(groups))
            each[key] = seconds / len(cells)
            total, at_least = total + seconds, at_least or cut
    done = len(study.cells) - len(missing)
    return Estimate(len(study.cells), done, total / workers, at_least, each)


def _standing_in(study: Study) -> Study:
    """The study with uniform random rows in the place of private ones, under their identity.

    Time spent on private rows is an output that nobody has paid for, as is a probe's noise.
    """
    stands = {
        name: data if data.public else _uniform(data) for name, data in study.datasets.items()
    }
    return Study(stands, study.cells)


def _uniform(data: Dataset) -> Dataset:
    """Public rows of the same shape: column j runs through its levels at a pace of its own."""
    rows = np.arange(data.n, dtype=np.uint64)
    mixed = [
        ((rows * np.uint64(2 * j + 3) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(33)) % size
        for j, size in enumerate(map(np.uint64, data.cardinalities))
    ]
    codes = np.stack(mixed, axis=1).astype(np.int64)
    return Dataset.from_codes(
        codes, data.names, data.levels, name=data.name, truth=data.truth, public=True
    )


def _probe(study: Study, cells: list[Cell], patience: float) -> tuple[float, bool]:
    """(seconds for all the cells, whether that is a lower bound)."""
    end = monotonic() + patience
    spread = dict.fromkeys(cells[i * (len(cells) - 1) // 3] for i in (1, 0, 3, 2))
    times: list[float] = []
    for cell in spread:
        # The first run may spend half of the time on counting.
        late = partial(_after, end if times else end - patience / 2)
        result = run_cell(study.datasets[cell.fingerprint], cell, late)
        times.append(result.seconds)
        if result.status == "cancelled" and len(times) == 2:
            return _total(times, len(cells)), True
        if monotonic() > end:
            break
    return _total(times, len(cells)), False


def _after(end: float) -> bool:
    return monotonic() > end


def _total(times: list[float], count: int) -> float:
    """The first run counts the tables; the others tell how long a run takes once counted."""
    later = times[1:] or times
    return times[0] + sum(later) / len(later) * (count - 1)
