"""Where cells run: this process, worker processes (joblib's loky), or a Dask cluster.

Workers keep the datasets they have met, and with them every table and score counted so far. A slot
therefore stays with one dataset as long as it has cells, and small cells travel in batches of less
than 50 ms.

Loky starts its processes without the program's main module. The standard library's would import it
again: a script without ``if __name__ == "__main__"``, or one from standard input, would not run.
"""

from __future__ import annotations

import gc
import math
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any, Protocol

from engine.cluster import WorkerError, connect, finished, workers_of
from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.studies.cells import Cell, CellResult, engine_version, run_cell

Batch = list[CellResult]
Cancelled = Callable[[], bool]
Started = Callable[[Sequence[Cell]], None]

BATCH_SECONDS = 0.04
GRACE_SECONDS = 2.0  # what running cells get to finish once a study is cancelled
_MOST = 64  # cells in a batch
_POLL = 0.05
_WATCH = 0.5
GARBAGE_AFTER = 50_000  # new objects in a worker between two looks for garbage
_AHEAD = 2  # batches a slot is given, so that it never waits for the next


def serial(
    datasets: Mapping[str, Dataset],
    cells: Sequence[Cell],
    cancelled: Cancelled,
    on_start: Started = lambda cells: None,
) -> Iterator[Batch]:
    """Run cells one after the other here; a cell that is cancelled midway is dropped."""
    for cell in cells:
        if cancelled():
            return
        on_start([cell])
        result = run_cell(datasets[cell.fingerprint], cell, cancelled)
        if result.status == "cancelled":
            return
        yield [result]


class Pool(Protocol):
    """Slots that each work through batches in the order in which they were submitted."""

    slots: int

    def submit(self, slot: int, data: Dataset, cells: Sequence[Cell]) -> Future[Batch]:
        """Run cells of one dataset."""
        ...

    def check(self) -> None:
        """Raise WorkerError if a worker has gone and its batches would wait for ever."""
        ...

    def close(self, *, kill: bool) -> None:
        """End the workers, or let go of them."""
        ...


def parallel(
    pool: Pool,
    datasets: Mapping[str, Dataset],
    cells: Sequence[Cell],
    cancelled: Cancelled,
    on_start: Started = lambda cells: None,
) -> Iterator[Batch]:
    """Run cells on a pool; batches come in the order in which they finish."""
    queue = _Queue(cells, {k: d.d for k, d in datasets.items()}, pool.slots)
    running: dict[Future[Batch], int] = {}
    deadline: float | None = None
    complete = False
    try:
        while True:
            if deadline is None and cancelled():
                deadline = monotonic() + GRACE_SECONDS
            if deadline is None:
                _fill(pool, queue, running, datasets, on_start)
            if not running or (deadline is not None and monotonic() > deadline):
                break
            done, _ = wait(running, _POLL, FIRST_COMPLETED)
            if not done:
                pool.check()
            for future in done:
                running.pop(future)
                try:
                    batch = finished(future, "what was finished is kept")
                except WorkerError:
                    if cancelled():  # Ctrl-C may have ended a worker that was just starting
                        return
                    raise
                queue.learn(batch)
                yield batch
        complete = not running
    finally:
        pool.close(kill=not complete)


def _fill(
    pool: Pool,
    queue: _Queue,
    running: dict[Future[Batch], int],
    datasets: Mapping[str, Dataset],
    on_start: Started,
) -> None:
    for slot in range(pool.slots):
        held = list(running.values()).count(slot)
        while held < _AHEAD and (cells := queue.take(slot)):
            data = datasets[cells[0].fingerprint]
            on_start(cells)
            running[pool.submit(slot, data, cells)] = slot
            held += 1


class _Queue:
    """Hands out batches: a dataset stays with a slot, the costly ones start first.

    A slot that runs out helps with another slot's dataset if what is left of it takes longer than
    counting it anew.
    """

    def __init__(self, cells: Sequence[Cell], widths: Mapping[str, int], slots: int):
        self._left: dict[str, deque[Cell]] = {}
        for cell in cells:
            self._left.setdefault(cell.fingerprint, deque()).append(cell)
        # Cost grows about with the square of the number of variables.
        self._rank = {f: widths[f] ** 2 * len(q) for f, q in self._left.items()}
        self._at: list[str | None] = [None] * slots
        self._first: dict[tuple[str, str], float] = {}  # dataset, algorithm -> first run's seconds
        self._pace: dict[tuple[str, str], float] = {}  # a running mean of the later ones

    def take(self, slot: int) -> list[Cell]:
        """The next batch of a slot; empty when nothing is left worth helping with."""
        here = self._at[slot]
        if here is None or not self._left[here]:
            here = self._at[slot] = self._choose()
        if here is None:
            return []
        waiting, seconds = self._left[here], 0.0
        batch: list[Cell] = []
        while waiting and len(batch) < _MOST:
            pace = self._pace.get((here, waiting[0].algorithm), BATCH_SECONDS)
            if batch and seconds + pace > BATCH_SECONDS:
                break
            batch.append(waiting.popleft())
            seconds += pace
        return batch

    def _choose(self) -> str | None:
        waiting = [f for f, queue in self._left.items() if queue]
        free = [f for f in waiting if f not in self._at]
        if free:
            return max(free, key=self._rank.__getitem__)
        worth = {f: self._seconds_left(f) - self._counting(f) for f in waiting}
        best = max(worth, key=worth.__getitem__, default=None)
        return best if best is not None and worth[best] > 0 else None

    def _seconds_left(self, fingerprint: str) -> float:
        return sum(self._pace.get((fingerprint, c.algorithm), 0.0) for c in self._left[fingerprint])

    def _counting(self, fingerprint: str) -> float:
        """What the first runs took: what a second worker would have to count again."""
        return sum(s for (f, _), s in self._first.items() if f == fingerprint)

    def learn(self, batch: Batch) -> None:
        """Take note of how long cells took."""
        for result in batch:
            if math.isnan(result.seconds):  # private rows: their clock is not told
                continue
            key = result.fingerprint, result.algorithm
            if key not in self._first:
                self._first[key] = result.seconds
                continue
            before = self._pace.get(key, result.seconds)
            self._pace[key] = 0.8 * before + 0.2 * result.seconds


# Worker processes -------------------------------------------------------------------

_met: dict[str, Dataset] = {}  # in a worker: identity -> the dataset, oldest first
_MET_MOST = 2  # each may hold hundreds of megabytes of tables


class ProcessPool:
    """One joblib (loky) executor a slot, so that each has a queue and a memory of its own."""

    def __init__(self, workers: int):
        if workers < 1:
            raise InputError(f"workers must be at least 1; {workers} is not.")
        from joblib.externals.loky import ProcessPoolExecutor

        self.slots = workers
        self._sent: list[list[str]] = [[] for _ in range(workers)]  # what each worker holds
        # One thread each: the results must not depend on how many cores there are.
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        self._executors = [
            ProcessPoolExecutor(
                max_workers=1, initializer=_begin, initargs=(os.getpid(),), env=threads
            )
            for _ in range(workers)
        ]

    def submit(self, slot: int, data: Dataset, cells: Sequence[Cell]) -> Future[Batch]:
        """The dataset travels once, through the worker's pipe: private rows touch no disk."""
        name, sent = data.identity, self._sent[slot]
        fresh = name not in sent
        if fresh:
            sent[:] = [*sent, name][-_MET_MOST:]
        with _without_interrupts():  # a first batch starts the worker
            future: Future[Batch] = self._executors[slot].submit(
                _run_here, name, data if fresh else None, list(cells)
            )
        return future

    def check(self) -> None:
        """A process that ends breaks its executor, which says so itself."""

    def close(self, *, kill: bool) -> None:
        """End the processes; with ``kill`` in the middle of a cell."""
        for executor in self._executors:
            executor.shutdown(wait=False, kill_workers=kill)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Processes started in here never hear Ctrl-C, which reaches the parent's whole group."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(parent: int) -> None:
    """In a new worker: leave Ctrl-C to the parent, and end when it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Kept scores are many small objects, and to look through them for cycles every 700 new ones
    # took a tenth of a study's time. What a run leaves in cycles is a few arrays.
    gc.set_threshold(GARBAGE_AFTER)
    Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    """A killed parent leaves its children to another process, which they notice here."""
    while os.getppid() == parent:
        sleep(_WATCH)
    os._exit(1)


def _run_here(name: str, data: Dataset | None, cells: list[Cell]) -> Batch:
    """``data`` comes with the first batch; the pool keeps count of what is still held here."""
    if data is not None:
        while len(_met) >= _MET_MOST:
            del _met[next(iter(_met))]
        _met[name] = data
    return _run_batch(_met[name], cells)


def _run_batch(data: Dataset, cells: list[Cell]) -> Batch:
    if cells[0].version != engine_version():
        raise InputError(
            f"A worker runs engine {engine_version()}, the study {cells[0].version}; "
            "give both the same code."
        )
    return [run_cell(data, cell) for cell in cells]


# A Dask cluster ----------------------------------------------------------------------

_one_at_a_time = Lock()


class DaskPool:
    """One slot for each worker of a running cluster; its workers need this package."""

    def __init__(self, address: str, *, timeout: float = 5.0):
        self._client, workers = connect(address, timeout)
        self.slots = len(workers)
        self._workers, self._look_at = workers, 0.0
        self._executors = [self._client.get_executor(workers=[w], pure=False) for w in workers]
        self._sent: dict[str, Any] = {}

    def submit(self, slot: int, data: Dataset, cells: Sequence[Cell]) -> Future[Batch]:
        """The dataset is sent to every worker once."""
        if data.identity not in self._sent:
            self._sent[data.identity] = self._client.scatter(data, broadcast=True, hash=False)
        sent = self._sent[data.identity]
        future: Future[Batch] = self._executors[slot].submit(_run_on_cluster, sent, list(cells))
        return future

    def check(self) -> None:
        """Batches that belong to a worker that is gone would wait for its return."""
        if monotonic() < self._look_at:
            return
        self._look_at = monotonic() + _WATCH
        here = workers_of(self._client)
        if any(worker not in here for worker in self._workers):
            raise WorkerError("A worker of the cluster ended; what was finished is kept.")

    def close(self, *, kill: bool) -> None:
        """Leave the cluster running."""
        for executor in self._executors:
            executor.shutdown(wait=False)
        self._client.close()  # calls off what has not begun, and forgets the datasets


def _run_on_cluster(data: Dataset, cells: list[Cell]) -> Batch:
    # A worker with several threads shares the dataset's tables among them.
    with _one_at_a_time:
        return _run_batch(data, cells)
