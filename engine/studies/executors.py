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
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any, NamedTuple, Protocol

from engine.cluster import Lost, WorkerError, connect, finished, present
from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.studies.cells import Cell, CellResult, engine_version, run_cell

Batch = list[CellResult]
_Pile = tuple[int, str]  # which part of the study, and a dataset's fingerprint
Cancelled = Callable[[], bool]
Started = Callable[[Sequence[Cell]], None]

BATCH_SECONDS = 0.04
GRACE_SECONDS = 2.0  # what running cells get to finish once a study is cancelled
_MOST = 64  # cells in a batch
_POLL = 0.05
_WATCH = 0.5
MET_MOST = 2  # datasets a worker keeps: each may hold hundreds of megabytes of tables
GARBAGE_AFTER = 50_000  # new objects in a worker between two looks for garbage
PATIENCE = 30.0  # seconds for a worker to come back where there is none
MOST_LOST = 3  # workers that may end over the same cells
_KEPT = "what was finished is kept, and the same command goes on from there"
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

    def there(self, slot: int) -> bool:
        """Whether the slot has a worker; one whose worker has gone may get another."""
        ...

    def check(self, *, now: bool = False) -> list[int]:
        """The slots whose worker has gone since the last look: their batches are lost.

        Raises WorkerError if there is nobody left to wait for. Without ``now`` it may put off the
        look.
        """
        ...

    def close(self, *, kill: bool) -> None:
        """End the workers, or let go of them."""
        ...


def parallel(
    pool: Pool,
    datasets: Mapping[str, Dataset],
    parts: Sequence[Sequence[Cell]],
    cancelled: Cancelled,
    on_start: Started = lambda cells: None,
) -> Iterator[Batch]:
    """Run cells on a pool, one part before the next; batches come in the order they finish in."""
    queue = _Queue(parts, {k: d.d for k, d in datasets.items()}, pool.slots)
    running: dict[Future[Batch], _Given] = {}
    deadline: float | None = None
    complete = False
    try:
        while True:
            if deadline is None and cancelled():
                deadline = monotonic() + GRACE_SECONDS
            if deadline is None:
                _take_back(queue, running, pool.check())
                _fill(pool, queue, running, datasets, on_start)
            if _at_rest(running, queue, deadline):
                break
            for future in _some_done(running):
                given = running.pop(future, None)
                if given is None:  # taken back together with another of its slot
                    continue
                try:
                    batch = finished(future, _KEPT)
                except Lost:
                    queue.take_back(given.cells)
                    _take_back(queue, running, pool.check(now=True))
                    continue
                except WorkerError:
                    if cancelled():  # Ctrl-C may have ended a worker that was just starting
                        return
                    raise
                queue.learn(batch)
                yield batch
        complete = not running
    finally:
        pool.close(kill=not complete)


class _Given(NamedTuple):
    """Cells that a slot was given."""

    slot: int
    cells: list[Cell]


def _at_rest(
    running: Mapping[Future[Batch], _Given], queue: _Queue, deadline: float | None
) -> bool:
    """Whether there is nothing to wait for any more."""
    if deadline is not None:
        return not running or monotonic() > deadline
    return not running and queue.empty


def _some_done(running: Mapping[Future[Batch], _Given]) -> set[Future[Batch]]:
    if not running:  # a cluster without workers, which may come back
        sleep(_POLL)
        return set()
    return wait(running, _POLL, FIRST_COMPLETED).done


def _take_back(queue: _Queue, running: dict[Future[Batch], _Given], lost: Sequence[int]) -> None:
    """What slots without a worker were given waits in the queue again."""
    for slot in lost:
        queue.leave(slot)
    for future in [future for future, given in running.items() if given.slot in lost]:
        future.cancel()
        queue.take_back(running.pop(future).cells)


def _fill(
    pool: Pool,
    queue: _Queue,
    running: dict[Future[Batch], _Given],
    datasets: Mapping[str, Dataset],
    on_start: Started,
) -> None:
    for slot in range(pool.slots):
        held = sum(given.slot == slot for given in running.values())
        while pool.there(slot) and held < _AHEAD and (cells := queue.take(slot)):
            data = datasets[cells[0].fingerprint]
            on_start(cells)
            running[pool.submit(slot, data, cells)] = _Given(slot, cells)
            held += 1


class _Queue:
    """Hands out batches: a dataset stays with a slot for a part, the costly ones start first.

    A slot that runs out helps with another slot's dataset if what is left of it takes longer than
    counting it anew.
    """

    def __init__(self, parts: Sequence[Sequence[Cell]], widths: Mapping[str, int], slots: int):
        self._left: dict[_Pile, deque[Cell]] = {}
        self._part: dict[Cell, int] = {}
        for part, cells in enumerate(parts):
            for cell in cells:
                self._part[cell] = part
                self._left.setdefault((part, cell.fingerprint), deque()).append(cell)
        # Cost grows about with the square of the number of variables.
        self._rank = {pile: widths[pile[1]] ** 2 * len(q) for pile, q in self._left.items()}
        self._at: list[_Pile | None] = [None] * slots
        self._holds: list[list[str]] = [[] for _ in range(slots)]  # datasets, the last one last
        self._first: dict[tuple[str, str], float] = {}  # dataset, algorithm -> first run's seconds
        self._pace: dict[tuple[str, str], float] = {}  # a running mean of the later ones
        self._lost: Counter[Cell] = Counter()

    @property
    def empty(self) -> bool:
        """Whether every cell has been handed out."""
        return not any(self._left.values())

    def leave(self, slot: int) -> None:
        """The slot's dataset is anybody's: its worker has gone."""
        self._at[slot] = None

    def take_back(self, cells: Sequence[Cell]) -> None:
        """Cells whose worker has gone come next; WorkerError where they took several along."""
        self._lost.update(cells)
        if any(self._lost[cell] >= MOST_LOST for cell in cells):
            names = ", ".join(sorted({cell.algorithm for cell in cells}))
            raise WorkerError(
                f"{MOST_LOST} workers have ended over the same runs ({names} on "
                f"{cells[0].dataset}), for want of memory perhaps; {_KEPT}."
            )
        pile = self._part[cells[0]], cells[0].fingerprint
        self._left[pile].extendleft(reversed(cells))

    def take(self, slot: int) -> list[Cell]:
        """The next batch of a slot; empty when nothing is left worth helping with."""
        here = self._at[slot]
        if here is None or not self._left[here]:
            here = self._at[slot] = self._choose(slot)
        if here is None:
            return []
        held = self._holds[slot]
        held[:] = [*(name for name in held if name != here[1]), here[1]][-MET_MOST:]
        waiting, seconds = self._left[here], 0.0
        batch: list[Cell] = []
        while waiting and len(batch) < _MOST:
            pace = self._pace.get((here[1], waiting[0].algorithm), BATCH_SECONDS)
            if batch and seconds + pace > BATCH_SECONDS:
                break
            batch.append(waiting.popleft())
            seconds += pace
        return batch

    def _choose(self, slot: int) -> _Pile | None:
        """What comes next: of the first part, then what the slot has counted, then the costly."""
        waiting = [pile for pile, queue in self._left.items() if queue]
        free = [pile for pile in waiting if pile not in self._at]
        if free:
            known = self._holds[slot]
            return min(free, key=lambda p: (p[0], p[1] not in known, -self._rank[p]))
        worth = {p: self._seconds_left(p) - self._counting(p[1]) for p in waiting}
        best = max(worth, key=worth.__getitem__, default=None)
        return best if best is not None and worth[best] > 0 else None

    def _seconds_left(self, pile: _Pile) -> float:
        return sum(self._pace.get((pile[1], c.algorithm), 0.0) for c in self._left[pile])

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
            sent[:] = [*sent, name][-MET_MOST:]
        with _without_interrupts():  # a first batch starts the worker
            future: Future[Batch] = self._executors[slot].submit(
                _run_here, name, data if fresh else None, list(cells)
            )
        return future

    def there(self, slot: int) -> bool:
        """A process starts with its first batch."""
        return True

    def check(self, *, now: bool = False) -> list[int]:
        """A process that ends breaks its executor, which says so itself."""
        return []

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
        while len(_met) >= MET_MOST:
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
    """One slot for each worker of a running cluster; its workers need this package.

    A worker that ends leaves its slot to one that comes: a nanny starts another at once.
    """

    def __init__(self, address: str, *, timeout: float = 5.0):
        self._client, workers = connect(address, timeout)
        self._address, self.slots = address, len(workers)
        self._workers: list[str | None] = list(workers)
        self._executors = [self._executor(worker) for worker in workers]
        self._sent: dict[str, Any] = {}
        self._look_at, self._last_seen = 0.0, monotonic()

    def _executor(self, worker: str) -> Any:
        return self._client.get_executor(workers=[worker], pure=False)

    def submit(self, slot: int, data: Dataset, cells: Sequence[Cell]) -> Future[Batch]:
        """The dataset is sent to every worker once."""
        try:
            if data.identity not in self._sent:
                self._sent[data.identity] = self._client.scatter(data, broadcast=True, hash=False)
            sent = self._sent[data.identity]
            future: Future[Batch] = self._executors[slot].submit(_run_on_cluster, sent, list(cells))
        except Exception as error:  # whatever a broken connection raises
            present(self._client, self._address, _KEPT)
            raise WorkerError(f"A worker could not be given its runs; {_KEPT}.") from error
        return future

    def there(self, slot: int) -> bool:
        """Whether the slot's worker was there at the last look."""
        return self._workers[slot] is not None

    def check(self, *, now: bool = False) -> list[int]:
        """Batches that belong to a worker that is gone would wait for its return."""
        if not now and monotonic() < self._look_at:
            return []
        self._look_at = monotonic() + _WATCH
        here = present(self._client, self._address, _KEPT)
        lost = [slot for slot, w in enumerate(self._workers) if w is not None and w not in here]
        for slot in lost:
            self._workers[slot] = None
        if lost:
            self._sent.clear()  # its copies may have gone with it
        self._let_in(w for w in here if w not in self._workers)
        if here:
            self._last_seen = monotonic()
        elif monotonic() - self._last_seen > PATIENCE:
            raise WorkerError(f"The last worker of the cluster has ended; {_KEPT}.")
        return lost

    def _let_in(self, newcomers: Iterator[str]) -> None:
        """Workers without a slot take those that have none."""
        for slot, worker in enumerate(self._workers):
            newcomer = next(newcomers, None) if worker is None else None
            if newcomer is not None:
                self._workers[slot] = newcomer
                self._executors[slot] = self._executor(newcomer)

    def close(self, *, kill: bool) -> None:
        """Leave the cluster running."""
        for executor in self._executors:
            executor.shutdown(wait=False)
        self._client.close()  # calls off what has not begun, and forgets the datasets


def _run_on_cluster(data: Dataset, cells: list[Cell]) -> Batch:
    # A worker with several threads shares the dataset's tables among them.
    with _one_at_a_time:
        return _run_batch(data, cells)
