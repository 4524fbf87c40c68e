"""A study: every trial of a grid once, in this process, in worker processes or on a Dask cluster.

``sweep`` runs it as an iterator of results; ``estimate`` returns its time. Workers are loky's
processes, which start without the program's main module (a script needs no guard), or a Dask
cluster's. A worker keeps the datasets it has met, with every table and score counted so far.
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
PATIENCE = 30.0  # seconds for a worker to come back where there is none
IDLE = 300  # seconds after which processes without work end
BATCH_SECONDS = 0.2  # of work that a worker is given at once
MOST_LOST = 3  # times that workers may end in one study
_MET_MOST = 8  # datasets that a worker keeps; their tables have one bound of memory together
_WATCH = 0.5
_POLL = 0.1  # between two looks for a stop
_KEPT = "finished runs are kept, and the same command continues from there"
# The errors of loky and distributed for a lost worker, by name: neither need be imported.
_GONE = ("TerminatedWorkerError", "BrokenProcessPool", "KilledWorker", "CancelledError")


@dataclass(frozen=True)
class Progress:
    """How far a study is: trials done of how many, those found in the store, seconds so far.

    ``left`` estimates the seconds to come, None before the first run: by dataset, algorithm and
    setting, since an Alarm run takes a hundred times an Asia run.
    """

    done: int
    total: int
    reused: int
    seconds: float
    left: float | None

    @property
    def phrase(self) -> str:
        """The progress in words."""
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

    The request is checked at once; trials run as the iterator is consumed. The first seed
    of every dataset, algorithm and setting comes first: from then on it is known how long the
    others take.

    Args:
        datasets: A name, a dataset, or several.
        algorithms: A key, or several.
        parameters: By name: a value, or a list of values to go through; or a list of such grids.
        seeds: How many, or which.
        knowledge: Background knowledge about every dataset: Knowledge, or the name of a set
            that is true of each one's true graph: "two tiers", "four tiers", "complete order".
        store: A path or a ResultStore. Results in it come first and are not run again; new ones are
            in it before they are yielded.
        executor: "serial", "processes", or the address of a Dask scheduler such as
            "tcp://host:8786". All give the same results, each in another order.
        workers: Number of worker processes.
        stop: A ``threading.Event``, or a function that says whether to stop. Runs
            that are complete by then are yielded and kept.
        on_progress: Called after each result, with the share that is done and a phrase.

    Returns:
        An iterator of results, one a trial.

    Raises:
        InputError: For values that do not fit, before the first run.

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
    """A study, the place of its runs, and its monitor."""

    study: Study
    executor: str
    workers: int
    monitor: Monitor

    def results(self, store: StoreLike) -> Iterator[TrialResult]:
        """Yield the results: those in the store, then the others as they are made."""
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
        """Run trials one after the other here; one that is cancelled midway is dropped."""
        for trial in takewhile(lambda _: not self.monitor.stopped(), trials):
            result = run_trial(self.study.datasets[trial.fingerprint], trial, self.monitor.stop)
            if result.status == "cancelled":
                return
            yield [result]

    def parallel(self, waiting: deque[Trial], left: TimeLeft) -> Iterator[Batch]:
        """Run trials on workers; batches come in the order they finish in.

        Where a worker has gone with its trials, those are given out again.
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
        """One batch that has come in within ``_POLL``, or none."""
        future = next(iter(wait(pool.running, _POLL, FIRST_COMPLETED).done), None)
        if future is None:
            return []
        try:
            results = future.result()
        except InputError:
            del pool.running[future]  # where it was the last, the workers stay
            raise
        except Exception as error:
            pool.lost += 1
            gone = type(error).__name__ in _GONE
            if not gone or pool.lost > MOST_LOST:
                reason = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
                why = "Workers ended again and again, for want of memory perhaps"
                raise WorkerError(
                    f"{why if gone else f'A worker failed ({reason})'}; {_KEPT}."
                ) from error
            waiting.extendleft(chain(*pool.running.values()))
            pool.running.clear()  # a broken pool ends them all
            return []
        batch = pool.running.pop(future)
        if results is None:
            pool.submit(batch, self.study.datasets[batch[0].fingerprint])
        return results or []


def _kept(store: ResultStore | None, study: Study) -> tuple[Batch, list[Trial]]:
    """Split a study: results that a store holds, and trials that remain, in their order.

    The first seed of every dataset comes first: from then on it is known how long others take.
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
    """Workers for the length of a study: loky's processes, or a Dask cluster's.

    ``running`` are the batches that are out; what still is at the end is called off. ``lost`` is
    how often workers ended.
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
            self._client.close()  # calls off batches that have not begun; the cluster runs on
        elif self.running:
            with _undisturbed():
                # Loky's thread fails on batches that it has not taken up by then.
                end = monotonic() + 20 * _POLL
                while monotonic() < end and not all(f.running() or f.done() for f in self.running):
                    sleep(_POLL / 10)
                self._loky().shutdown(kill_workers=True)

    def _loky(self) -> Any:
        """Return the processes, new ones where they broke; they stay a while for the next study."""
        from joblib.externals.loky import get_reusable_executor

        # One thread each: the results must not depend on how many cores there are.
        return get_reusable_executor(
            self._workers,
            timeout=IDLE,
            initializer=_begin,
            initargs=(os.getpid(),),
            env={f"{one}_NUM_THREADS": "1" for one in ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMBA")},
        )

    def submit(self, batch: list[Trial], data: Dataset | None = None) -> None:
        """Give out a batch, with its dataset where a worker had not met it."""
        pool = self._loky() if self._client is None else self._cluster
        self.running[pool.submit(_run_batch, batch, data)] = batch

    def places(self) -> int:
        """Return the number of batches that may be out, two per worker.

        Raises WorkerError where the scheduler has gone, or no worker comes back.
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
    """Stop signals are raised again at the end: inside, one could leave a lock of the pool taken.

    Processes started in here never hear Ctrl-C, which reaches the parent's whole group.
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

_met: dict[str, Dataset] = {}  # identity -> the dataset, that used last at the end
_one_at_a_time = Lock()  # a Dask worker with several threads shares the tables among them


def _begin(parent: int) -> None:
    """In a new worker: leave Ctrl-C to the parent, and end when it has ended."""

    def watch() -> None:
        """End this process when its parent is killed, which leaves it to another process."""
        while os.getppid() == parent:
            sleep(_WATCH)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=watch, daemon=True).start()


def _run_batch(trials: list[Trial], data: Dataset | None) -> Batch | None:
    """Run trials of one dataset and reuse the counts that this worker keeps from it.

    None where this worker has not met it: to send a dataset takes as long as some runs on it.
    """
    if trials[0].version != __version__:
        raise InputError(
            f"A worker runs engine {__version__}, the study {trials[0].version}; "
            "give both the same code."
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
    """The seconds that the runs to come will take, from those so far.

    Each setting's mean; where none was seen that of its dataset and algorithm, of its dataset, of
    all. A dataset's first run counts its tables and is no measure of the others.
    """

    def __init__(self, trials: Iterable[Trial]):
        self._waiting = Counter(map(_kind, trials))
        self._took: dict[tuple[str, ...], tuple[float, int]] = {}  # seconds and runs
        self._met: set[str] = set()
        self.worked, self._since = 0.0, math.nan

    def note(self, result: TrialResult, *, fresh: bool) -> None:
        """Note a run; one from the store took no time, but says how long its kind takes."""
        kind = _kind(result)
        self._waiting[kind] -= 1
        if math.isnan(result.seconds):  # private rows: their clock is an output
            return
        counts = fresh and kind[0] not in self._met
        self._met.add(kind[0])
        for level in range(1 if counts else len(kind) + 1):
            seconds, runs = self._took.get(kind[:level], (0.0, 0))
            self._took[kind[:level]] = seconds + result.seconds, runs + 1
        self.worked += result.seconds * fresh

    def _mean(self, kind: tuple[str, ...], least: int) -> float | None:
        """Mean seconds at the finest level with a run, ``least`` the coarsest; None for none."""
        for level in range(len(kind), least - 1, -1):
            if took := self._took.get(kind[:level]):
                return took[0] / took[1]
        return None

    def each(self, trial: Trial) -> float | None:
        """Seconds that a trial's kind takes; None before one with counted tables was seen."""
        return self._mean(_kind(trial), 2)

    def seconds(self, elapsed: float) -> float | None:
        """Seconds to come, ``elapsed`` after the study's start; None before a run that measures.

        Their pace is that since the start of the first run: before it, workers begin.
        """
        if self.worked and math.isnan(self._since):
            self._since = elapsed - self.worked
        known = self.worked and any(self._took)  # by more than a dataset's first run
        return self.work() * (elapsed - self._since) / self.worked if known else None

    def work(self) -> float:
        """Seconds of all runs to come on one core; 0 before the first run."""
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
    """Estimate a study's time on ``workers`` cores, from a probe of at most ``patience`` seconds.

    Runs of the study in the order in which it would make them, until that time is over (the last
    one is stopped); results in the store are not run again. Private rows are not touched, as time
    spent on them would be an output that is not paid for: random ones of their shape stand in, and
    may take longer.

    Returns:
        The study's progress before its first run: ``left`` are the seconds for the other runs,
        at least where the probe did not meet every kind of run.
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
