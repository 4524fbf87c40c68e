"""Run every trial of a grid once, in this process, in worker processes or on a Dask cluster.

``sweep`` runs a study as an iterator of results; ``estimate`` returns its time. Workers are loky
processes, which start without the program's main module (so a script needs no guard), or Dask
workers. A worker caches its datasets, with all tables and statistics counted so far.
"""

from __future__ import annotations

import math
import os
import signal
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain, count, takewhile
from threading import Lock, Thread, current_thread, main_thread
from time import monotonic, sleep
from typing import Any

from engine.cluster import WorkerError, connect, present
from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.monitor import Monitor, OnProgress, Stop, renamed, runs_done
from engine.studies.detectability import Shape
from engine.studies.store import ResultStore, opened_store
from engine.studies.trial import (
    Datasets,
    Grid,
    Names,
    Said,
    Seeds,
    Study,
    Trial,
    TrialResult,
    run_trial,
    study_of,
)
from engine.version import __version__

StoreLike = ResultStore | str | os.PathLike[str] | None
Batch = list[TrialResult]

EXECUTORS = ("serial", "processes")
CONNECT_SECONDS = 5.0
PATIENCE = 30.0  # seconds to wait for a worker if there is none
IDLE = 300  # seconds after which processes without work end
BATCH_SECONDS = 0.2  # work per batch for a worker
MOST_LOST = 3  # how often workers may be lost in one study
_MET_MOST = 8  # datasets cached per worker; their tables share one memory bound
_WATCH = 0.5
_POLL = 0.1  # seconds between two checks for a stop
_KEPT = "finished runs are kept, and the same command continues from there"
# Errors of loky and distributed for a lost worker, by name, which avoids both imports.
_GONE = ("TerminatedWorkerError", "BrokenProcessPool", "KilledWorker", "CancelledError")


@dataclass(frozen=True)
class Progress:
    """Progress of a study: trials done, in total, found in the store, and seconds so far.

    ``left`` estimates the remaining seconds (None before the first run). It is by dataset,
    algorithm and setting, because a run on Alarm takes a hundred times as long as one on Asia.
    """

    done: int
    total: int
    reused: int
    seconds: float
    left: float | None

    @property
    def phrase(self) -> str:
        """Progress in words."""
        reused = f", {self.reused:,} from the store" if self.reused else ""
        return runs_done(self.done, self.total, self.left) + reused


@renamed(cancelled="stop")
def sweep(
    datasets: Datasets,
    algorithms: Names,
    parameters: Grid = None,
    seeds: Seeds = 5,
    *,
    knowledge: Said = None,
    store: StoreLike = None,
    executor: str = "serial",
    workers: int = 2,
    stop: Stop | None = None,
    on_progress: OnProgress | None = None,
) -> Iterator[TrialResult]:
    """Run every trial of datasets x algorithms x parameters x seeds.

    The request is checked at once; trials run when the iterator is consumed. The first seed of
    every dataset, algorithm and setting comes first, so that the time of the others can be
    estimated.

    Args:
        datasets: A name, a dataset, or several.
        algorithms: A key, or several.
        parameters: A value or a list of values per name, or a list of these grids.
        seeds: The number of seeds, or the seeds.
        knowledge: Background knowledge for every dataset: Knowledge, or the name of a set derived
            from each true graph: "two tiers", "four tiers", "complete order".
        store: A path or a ResultStore. Its results come first and are not run again; new results
            are stored before they are yielded.
        executor: "serial", "processes", or the address of a Dask scheduler such as
            "tcp://host:8786". All give the same results, in different orders.
        workers: Number of worker processes.
        stop: A ``threading.Event``, or a function that returns True to stop. Complete runs are
            yielded and stored.
        on_progress: Called after each result with the completed share and a phrase.

    Returns:
        An iterator with one result per trial.

    Raises:
        InputError: For invalid values, before the first run.

    Examples:
        >>> from engine import sweep
        >>> results = list(sweep("cancer", "priv_pc", {"epsilon": [0.1, 10.0]}, seeds=2))
        >>> len(results), results[0].values["epsilon"], results[0].proven.epsilon
        (4, 0.1, 0.1)
    """
    study = study_of(datasets, algorithms, parameters, seeds, knowledge)
    if executor not in EXECUTORS and "://" not in executor:
        raise InputError(
            f"executor must be {', '.join(EXECUTORS)} or a scheduler's address such as "
            f"tcp://host:8786; {executor!r} is not."
        )
    if workers < 1:
        raise InputError(f"workers must be at least 1; {workers} is not.")
    return _Sweep(study, executor, workers, Monitor(on_progress, stop)).results(store)


@dataclass
class _Sweep:
    """A study, its executor, and its monitor."""

    study: Study
    executor: str
    workers: int
    monitor: Monitor

    def results(self, store: StoreLike) -> Iterator[TrialResult]:
        """Yield the stored results, then new ones as they are made."""
        start, total, left = monotonic(), len(self.study.trials), TimeLeft(self.study.trials)
        alone = self.executor == "serial" or (self.executor, self.workers) == ("processes", 1)
        with opened_store(store) as kept:
            found, missing = _kept(kept, self.study)
            done, waiting = count(1), deque(missing)
            new = self.serial(waiting) if alone else self.parallel(waiting, left)
            for batch in chain([found], new):
                if kept is not None and batch is not found:
                    kept.put(batch)
                for result in batch:
                    left.note(result, fresh=batch is not found)
                now = monotonic() - start
                to_come = left.seconds(now)
                for result in batch:
                    told = Progress(next(done), total, len(found), now, to_come)
                    self.monitor.tell(told.done / total, told.phrase)
                    yield result

    def serial(self, trials: Iterable[Trial]) -> Iterator[Batch]:
        """Run trials one after another in this process; drop a trial that is cancelled midway."""
        for trial in takewhile(lambda _: not self.monitor.stopped(), trials):
            result = run_trial(self.study.datasets[trial.fingerprint], trial, self.monitor.stop)
            if result.status == "cancelled":
                return
            yield [result]

    def parallel(self, waiting: deque[Trial], left: TimeLeft) -> Iterator[Batch]:
        """Run trials on workers; yields batches in the order in which they finish.

        If a worker is lost, its trials are submitted again.
        """
        with closing(_Pool(self.executor, self.workers)) as pool:
            while (waiting or pool.running) and not self.monitor.stopped():
                with _undisturbed():
                    while waiting and len(pool.running) < pool.places():
                        pool.submit(_batch(waiting, left))
                    came = self.came(pool, waiting)
                if came:
                    yield came

    def came(self, pool: _Pool, waiting: deque[Trial]) -> Batch:
        """Return a batch that arrives within ``_POLL``, or none."""
        future = next(iter(wait(pool.running, _POLL, FIRST_COMPLETED).done), None)
        if future is None:
            return []
        try:
            results = future.result()
        except InputError:
            del pool.running[future]  # if it was the last one, the workers stay
            raise
        except Exception as error:
            pool.lost += 1
            gone = type(error).__name__ in _GONE
            if not gone or pool.lost > MOST_LOST:
                reason = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
                why = "Workers ended repeatedly, perhaps because of a lack of memory"
                raise WorkerError(
                    f"{why if gone else f'A worker failed ({reason})'}; {_KEPT}."
                ) from error
            waiting.extendleft(chain(*pool.running.values()))
            pool.running.clear()  # a broken pool loses all batches
            return []
        batch = pool.running.pop(future)
        if results is None:
            pool.submit(batch, self.study.datasets[batch[0].fingerprint])
        return results or []


def _kept(store: ResultStore | None, study: Study) -> tuple[Batch, list[Trial]]:
    """Split a study into stored results and remaining trials, in order.

    The first seed of every dataset comes first, so that the time of the others can be estimated.
    """
    got = {trial: None if store is None else store.get(trial) for trial in study.trials}
    missing = [trial for trial, result in got.items() if result is None]
    missing.sort(key=lambda trial: trial.seed != study.trials[0].seed)
    return [result for result in got.values() if result is not None], missing


def _batch(waiting: deque[Trial], left: TimeLeft) -> list[Trial]:
    """Take the next trials of one dataset, for ``BATCH_SECONDS`` of work."""
    batch, seconds = [waiting.popleft()], 0.0
    while waiting and (each := left.each(batch[-1])):
        seconds += each
        if seconds > BATCH_SECONDS or waiting[0].fingerprint != batch[0].fingerprint:
            break
        batch.append(waiting.popleft())
    return batch


class _Pool:
    """Workers for the duration of a study: loky processes or Dask workers.

    ``running`` holds the submitted batches; those that remain at the end are cancelled. ``lost``
    counts lost workers.
    """

    def __init__(self, executor: str, workers: int):
        self.running: dict[Future[Batch | None], list[Trial]] = {}
        self.lost = 0
        self._address, self._workers, self._seen = executor, workers, monotonic()
        self._client: Any = None
        if executor != "processes":
            self._client, _ = connect(executor, CONNECT_SECONDS)
            self._cluster, self._look_at = self._client.get_executor(pure=False), 0.0

    def close(self) -> None:
        if self._client is not None:
            self._client.close()  # cancels batches that have not started; the cluster keeps running
        elif self.running:
            with _undisturbed():
                # Batches that loky's thread has not taken by then would fail.
                end = monotonic() + 20 * _POLL
                while monotonic() < end and not all(f.running() or f.done() for f in self.running):
                    sleep(_POLL / 10)
                self._loky().shutdown(kill_workers=True)

    def _loky(self) -> Any:
        """Return the processes, new ones if they broke; the next study can reuse them."""
        from joblib.externals.loky import get_reusable_executor

        # One thread each, so that results do not depend on the number of cores.
        return get_reusable_executor(
            self._workers,
            timeout=IDLE,
            initializer=_begin,
            initargs=(os.getpid(),),
            env={f"{one}_NUM_THREADS": "1" for one in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA")},
        )

    def submit(self, batch: list[Trial], data: Dataset | None = None) -> None:
        """Submit a batch, including its dataset if a worker lacks it."""
        pool = self._loky() if self._client is None else self._cluster
        self.running[pool.submit(_run_batch, batch, data)] = batch

    def places(self) -> int:
        """Return the allowed number of submitted batches, two per worker.

        Raises WorkerError if the scheduler is lost or no worker returns.
        """
        now = monotonic()
        if self._client is not None and now > self._look_at:
            self._workers = len(present(self._client, self._address, _KEPT))
            self._look_at = now + _WATCH
            self._seen = now if self._workers else self._seen
        if now > self._seen + PATIENCE and self._client is not None:
            raise WorkerError(f"The last worker of the cluster has ended; {_KEPT}.")
        return 2 * self._workers


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Delay stop signals to the end, because one could otherwise leave a lock of the pool taken.

    Processes started inside ignore Ctrl-C, which is sent to the parent's whole group.
    """
    heard: list[int] = []
    ours = (signal.SIGINT, signal.SIGTERM) if current_thread() is main_thread() else ()
    before = {number: signal.signal(number, lambda n, _: heard.append(n)) for number in ours}
    blocks = hasattr(signal, "pthread_sigmask")  # not on Windows
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if blocks else None
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if mask is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for one in heard:
            signal.raise_signal(one)


# In a worker ------------------------------------------------------------------------------

_met: dict[str, Dataset] = {}  # identity -> dataset, most recently used last
_one_at_a_time = Lock()  # threads of a Dask worker share the tables


def _begin(parent: int) -> None:
    """Prepare a new worker: ignore Ctrl-C, and end when the parent has ended."""

    def watch() -> None:
        """End this process when its parent is killed and another process adopts it."""
        while os.getppid() == parent:
            sleep(_WATCH)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=watch, daemon=True).start()


def _run_batch(trials: list[Trial], data: Dataset | None) -> Batch | None:
    """Run trials of one dataset and reuse the counts that this worker keeps from it.

    Returns None if this worker lacks the dataset, because sending it takes as long as some runs.
    """
    if trials[0].version != __version__:
        raise InputError(
            f"A worker runs engine {__version__}, the study {trials[0].version}; "
            "install the same version for both."
        )
    with _one_at_a_time:
        met = _met.pop(trials[0].fingerprint, data)
        if met is None:
            return None
        _met[met.identity] = met
        if len(_met) > _MET_MOST:
            del _met[next(iter(_met))]
        return [run_trial(met, trial) for trial in trials]


# Time left --------------------------------------------------------------------------------


class TimeLeft:
    """Estimate the seconds of the remaining runs from those so far.

    The estimate is the mean per setting. Without a run, it is that of its dataset and algorithm, of
    its dataset, or of all runs. The first run on a dataset counts its tables, so it is excluded.
    """

    def __init__(self, trials: Iterable[Trial]):
        self._waiting = Counter(map(_kind, trials))
        self._took: dict[tuple[str, ...], tuple[float, int]] = {}  # seconds and runs
        self._met: set[str] = set()
        self.worked, self._since = 0.0, math.nan

    def note(self, result: TrialResult, *, fresh: bool) -> None:
        """Record a run; a stored one took no time now, but shows the time of its kind."""
        kind = _kind(result)
        self._waiting[kind] -= 1
        if math.isnan(result.seconds):  # private rows: their run time would be an output
            return
        counts = fresh and kind[0] not in self._met
        self._met.add(kind[0])
        for level in range(1 if counts else len(kind) + 1):
            seconds, runs = self._took.get(kind[:level], (0.0, 0))
            self._took[kind[:level]] = seconds + result.seconds, runs + 1
        self.worked += result.seconds * fresh

    def _mean(self, kind: tuple[str, ...], least: int) -> float | None:
        """Return mean seconds at the finest level with a run, up to ``least``, or None."""
        for level in range(len(kind), least - 1, -1):
            if took := self._took.get(kind[:level]):
                return took[0] / took[1]
        return None

    def each(self, trial: Trial) -> float | None:
        """Return the seconds of a trial's kind; None before a run with counted tables."""
        return self._mean(_kind(trial), 2)

    def seconds(self, elapsed: float) -> float | None:
        """Return the remaining seconds at ``elapsed`` after the start; None before a usable run.

        The pace is measured from the start of the first run, because workers start before it.
        """
        if self.worked and math.isnan(self._since):
            self._since = elapsed - self.worked
        known = self.worked and any(self._took)  # by more than the first run on a dataset
        return self.work() * (elapsed - self._since) / self.worked if known else None

    def work(self) -> float:
        """Return the seconds of all remaining runs on one core; 0 before the first run."""
        return sum(n * (self._mean(kind, 0) or 0.0) for kind, n in self._waiting.items() if n)


def _kind(trial: Trial) -> tuple[str, ...]:
    return trial.fingerprint, trial.algorithm, trial.params


# Before the start ---------------------------------------------------------------------------


def estimate(
    datasets: Datasets,
    algorithms: Names,
    parameters: Grid = None,
    seeds: Seeds = 5,
    *,
    store: StoreLike = None,
    workers: int = 1,
    patience: float = 2.0,
) -> Progress:
    """Estimate a study's time on ``workers`` cores from a probe of ``patience`` seconds.

    The probe makes runs in the order of the study for this time, and stops the last one.
    It does not repeat stored results. For private rows, random rows of their shape are used, which
    may take longer, because the run time would be an output without a charge.

    Returns:
        The study's progress before its first run. ``left`` are the seconds for the other runs, a
        lower bound if the probe did not reach every kind of run.
    """
    study = study_of(datasets, algorithms, parameters, seeds)
    with opened_store(store) as kept:
        found, missing = _kept(kept, study)
    left = TimeLeft(study.trials)
    stands = {k: d if d.public else Shape.of(d).independent(0) for k, d in study.datasets.items()}
    for result in found:
        left.note(result, fresh=False)
    end = monotonic() + patience
    for trial in missing:
        if monotonic() < end:
            result = run_trial(stands[trial.fingerprint], trial, lambda: monotonic() > end)
            left.note(result, fresh=True)
    seconds = (left.worked + left.work()) / workers
    return Progress(len(found), len(study.trials), len(found), 0.0, seconds)
