"""A study: every trial of a grid once, in this process, in worker processes or on a Dask cluster.

``sweep`` runs it as an iterator of results; ``estimate`` says what it would take. Workers are
joblib's: loky's, which start without the program's main module (a script needs no guard), or a Dask
cluster's. A worker keeps the datasets it has met, with every table and score counted so far.
"""

from __future__ import annotations

import math
import os
import signal
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any

import numpy as np

from engine.cluster import WorkerError, connect, present
from engine.data.dataset import Dataset
from engine.errors import InputError
from engine.studies.store import ResultStore, held
from engine.studies.trial import (
    Datasets,
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
Group = tuple[str, str]  # a dataset's fingerprint and an algorithm: runs of like length
Batch = list[TrialResult]
Cancelled = Callable[[], bool]
Started = Callable[[Sequence[Trial]], None]

EXECUTORS = ("serial", "processes")
CONNECT_SECONDS = 5.0
PATIENCE = 30.0  # seconds for a worker to come back where there is none
BATCH_SECONDS = 0.2  # of work that a worker is given at once
MOST_LOST = 3  # times that workers may end in one study
_MET_MOST = 2  # datasets a worker keeps: each may hold hundreds of megabytes of tables
_WATCH = 0.5
_PILOT = 0.1  # share of a group's runs that come first
_MANY = 40  # runs of a dataset from which on its tables may be counted twice
_KEPT = "what was finished is kept, and the same command goes on from there"
# What joblib, loky and distributed raise where a worker has gone, by name: none need be imported.
_GONE = {
    *("TerminatedWorkerError", "BrokenProcessPool", "KilledWorker", "CancelledError"),
    *("FutureCancelledError", "FuturesCancelledError", "ShutdownExecutorError"),
}


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


def sweep(
    datasets: Datasets,
    algorithms: Names,
    parameters: Mapping[str, Any] | None = None,
    seeds: Seeds = 5,
    *,
    knowledge: Said = None,
    store: StoreLike = None,
    executor: str = "serial",
    workers: int = 2,
    cancelled: Cancelled = lambda: False,
    on_progress: Callable[[Progress], None] | None = None,
    on_start: Started = lambda trials: None,
) -> Iterator[TrialResult]:
    """Run every trial of datasets x algorithms x parameters x seeds.

    What is asked for is checked at once; trials run as the iterator is consumed. A tenth of them,
    spread over all datasets, algorithms and settings, comes first: from then on it is known how
    long the others take.

    Args:
        datasets: A name, a dataset, or several.
        algorithms: A key, or several.
        parameters: By name: a value, or a list of values to go through.
        seeds: How many, or which.
        knowledge: What is known of the causes, of every dataset: Knowledge, or the name of a set
            that is true of each one's true graph: "two tiers", "four tiers", "complete order".
        store: A path or a ResultStore. Results in it come first and are not run again; new ones are
            in it before they are yielded.
        executor: "serial", "processes", or the address of a Dask scheduler such as
            "tcp://host:8786". Each gives the same results, in an order of its own.
        workers: Of "processes".
        cancelled: Polled; what is finished by then is yielded and kept.
        on_progress: Called after each result.
        on_start: Called with trials before they are given to a worker: from then on their budget
            may be spent, whatever becomes of the worker.

    Returns:
        An iterator of results, one a trial.

    Raises:
        InputError: For what does not fit, before the first run.

    Examples:
        >>> from engine import sweep
        >>> results = list(sweep("cancer", "priv_pc", {"epsilon": [0.1, 10.0]}, seeds=2))
        >>> len(results), results[0].values["epsilon"], results[0].spent_epsilon
        (4, 0.1, 0.1)
    """
    study = study_of(datasets, algorithms, parameters, seeds, knowledge)
    return run_study(study, store, executor, workers, cancelled, on_progress, on_start)


def run_study(
    study: Study,
    store: StoreLike = None,
    executor: str = "serial",
    workers: int = 1,
    cancelled: Cancelled = lambda: False,
    on_progress: Callable[[Progress], None] | None = None,
    on_start: Started = lambda trials: None,
) -> Iterator[TrialResult]:
    """The results of a study's trials; arguments and errors as of :func:`sweep`."""
    if executor not in EXECUTORS and "://" not in executor:
        raise InputError(
            f"executor must be {', '.join(EXECUTORS)} or a scheduler's address such as "
            f"tcp://host:8786; {executor!r} is not."
        )
    if workers < 1:
        raise InputError(f"workers must be at least 1; {workers} is not.")
    pool = None if executor == "serial" or (executor, workers) == ("processes", 1) else _Pool
    make = (lambda: nullcontext(None)) if pool is None else partial(pool, executor, workers)

    def walk() -> Iterator[TrialResult]:
        start, done, reused = monotonic(), 0, 0
        with held(store) as kept, make() as workers_there:
            left = TimeLeft(study.trials)
            found = [] if kept is None else [r for t in study.trials if (r := kept.get(t))]

            def report(result: TrialResult, fresh: bool) -> TrialResult:
                nonlocal done, reused
                done, reused = done + 1, reused + (not fresh)
                left.note(result, fresh=fresh)
                if on_progress is not None:
                    now = monotonic() - start
                    rest = left.seconds(now) if fresh else None
                    on_progress(Progress(done, len(study.trials), reused, now, rest))
                return result

            yield from (report(result, fresh=False) for result in found)
            there = {result.trial for result in found}
            holds = _MET_MOST if workers_there else len(study.datasets)
            early, later = pilot_runs([t for t in study.trials if t not in there], holds)
            given = study, early + later, left, cancelled, on_start
            batches = _parallel(workers_there, *given) if workers_there else _serial(*given)
            for batch in batches:
                if kept is not None:
                    kept.put(batch)
                yield from (report(result, fresh=True) for result in batch)

    return walk()


def _serial(
    study: Study,
    trials: Sequence[Trial],
    left: TimeLeft,
    cancelled: Cancelled,
    on_start: Started,
) -> Iterator[Batch]:
    """Run trials one after the other here; one that is cancelled midway is dropped."""
    for trial in trials:
        if cancelled():
            return
        on_start([trial])
        result = run_trial(study.datasets[trial.fingerprint], trial, cancelled)
        if result.status == "cancelled":
            return
        yield [result]


def _parallel(
    pool: _Pool,
    study: Study,
    trials: Sequence[Trial],
    left: TimeLeft,
    cancelled: Cancelled,
    on_start: Started,
) -> Iterator[Batch]:
    """Run trials on workers; batches come in the order they finish in.

    Where a worker has gone with its trials, what is missing is given out again.
    """
    from joblib import delayed

    missing = dict.fromkeys(trials)

    def batches() -> Iterator[Any]:
        """Trials of one dataset for ``BATCH_SECONDS``; drawn as workers ask for more."""
        waiting = deque(missing)
        while waiting and not cancelled():
            batch, seconds = [waiting.popleft()], 0.0
            while (each := left.each(batch[-1])) and waiting:
                seconds += each
                if seconds > BATCH_SECONDS or waiting[0].fingerprint != batch[0].fingerprint:
                    break
                batch.append(waiting.popleft())
            on_start(batch)
            yield delayed(_run_batch)(study.datasets[batch[0].fingerprint], batch)

    for lost in range(MOST_LOST + 1):
        try:
            for batch in pool.run(batches(), cancelled):
                for result in batch:
                    del missing[result.trial]
                yield batch
            return
        except _Stopped:
            return
        except InputError:
            raise
        except Exception as error:
            sleep(_WATCH)  # a scheduler that ends takes its workers along first
            pool.check()
            if type(error).__name__ not in _GONE or lost == MOST_LOST:
                reason = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
                why = "Workers ended again and again, for want of memory perhaps"
                first = why if type(error).__name__ in _GONE else f"A worker failed ({reason})"
                raise WorkerError(f"{first}; {_KEPT}.") from error


class _Stopped(Exception):
    """The study was cancelled."""


class _Pool:
    """Workers for the length of a study: loky's processes, or a Dask cluster's."""

    def __init__(self, executor: str, workers: int):
        self._client: Any = None
        self._address = executor
        # One thread each: the results must not depend on how many cores there are. Without a limit
        # on arrays joblib writes large ones, private ones too, to a file in /dev/shm.
        self._how: dict[str, Any] = {
            **{"backend": "loky", "n_jobs": workers, "max_nbytes": None},
            **{"inner_max_num_threads": 1, "initializer": _begin, "initargs": (os.getpid(),)},
        }
        if executor != "processes":
            self._client, _ = connect(executor, CONNECT_SECONDS)
            self._how = {"backend": "dask", "client": self._client}
        self._look_at = 0.0

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        if self._client is not None:
            self._client.close()  # calls off what has not begun; the cluster runs on

    def check(self) -> None:
        """WorkerError where the scheduler has gone, or no worker comes back: joblib runs here."""
        end = monotonic() + PATIENCE
        while self._client and not present(self._client, self._address, _KEPT):
            if monotonic() > end:
                raise WorkerError(f"The last worker of the cluster has ended; {_KEPT}.")
            sleep(_WATCH)

    def run(self, tasks: Iterator[Any], cancelled: Cancelled) -> Iterator[Batch]:
        """Results in the order they finish in; raises _Stopped once cancelled."""
        from joblib import Parallel, parallel_config

        class Stoppable(Parallel):
            """Asks, each time it waits for a result, whether to go on waiting."""

            def _wait_retrieval(parallel) -> bool:
                if not parallel._jobs:
                    if cancelled():
                        raise _Stopped
                    self._look()
                return bool(super()._wait_retrieval())

        # Made in here: outside of the configuration it would silently run one by one.
        with parallel_config(**self._how), _without_interrupts():
            many = Stoppable(return_as="generator_unordered", batch_size=1)
            results = many(tasks)
        with closing(results):
            yield from results

    def _look(self) -> None:
        if self._client and monotonic() > self._look_at:
            self._look_at = monotonic() + _WATCH
            present(self._client, self._address, _KEPT)


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


# In a worker ------------------------------------------------------------------------------

_met: dict[str, Dataset] = {}  # identity -> the dataset, oldest first
_one_at_a_time = Lock()  # a Dask worker with several threads shares the tables among them


def _begin(parent: int) -> None:
    """In a new worker: leave Ctrl-C to the parent, and end when it has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    """A killed parent leaves its children to another process, which they notice here."""
    while os.getppid() == parent:
        sleep(_WATCH)
    os._exit(1)


def _run_batch(data: Dataset, trials: list[Trial]) -> Batch:
    """Run trials of one dataset; what was counted of it before is used again."""
    if trials[0].version != __version__:
        raise InputError(
            f"A worker runs engine {__version__}, the study {trials[0].version}; "
            "give both the same code."
        )
    with _one_at_a_time:
        if data.identity not in _met:
            while len(_met) >= _MET_MOST:
                del _met[next(iter(_met))]
            _met[data.identity] = data
        return [run_trial(_met[data.identity], trial) for trial in trials]


# Time left --------------------------------------------------------------------------------


def pilot_runs(trials: Sequence[Trial], holds: int = 9**9) -> tuple[list[Trial], list[Trial]]:
    """(a tenth of each dataset's and algorithm's trials, the others), both in the given order.

    Of a group's first seeds, settings far apart before those between them. ``holds`` is how many
    datasets a worker keeps tables of: where there are more, those of few trials are not begun
    early, as their tables would be counted again.
    """
    sizes = Counter(trial.fingerprint for trial in trials)
    groups: dict[Group, list[Trial]] = {}
    for trial in trials:
        groups.setdefault((trial.fingerprint, trial.algorithm), []).append(trial)
    chosen: set[Trial] = set()
    for (fingerprint, _), group in groups.items():
        if len(sizes) > holds and sizes[fingerprint] < _MANY:
            continue
        settings = list(dict.fromkeys(trial.params for trial in group))
        rank = {settings[at]: place for place, at in enumerate(_far_apart(len(settings)))}
        seeds = {seed: at for at, seed in enumerate(dict.fromkeys(t.seed for t in group))}
        group.sort(key=lambda t: (seeds[t.seed], rank[t.params]))
        chosen.update(group[: max(2, math.ceil(_PILOT * len(group)))])
    return [t for t in trials if t in chosen], [t for t in trials if t not in chosen]


def _far_apart(count: int) -> list[int]:
    """The places of 0 … count - 1: both ends, the middle, then between.

    >>> _far_apart(7)
    [0, 6, 4, 2, 1, 5, 3]
    """
    shares = sorted(range(count), key=lambda at: f"{at:020b}"[::-1])
    return list(dict.fromkeys([0, count - 1, *shares])) if count else []


class TimeLeft:
    """The seconds that the runs to come will take, from those so far.

    By dataset, algorithm and setting: each setting's mean, where none was seen its group's, and
    for a group of which nothing was seen the slowest's. A dataset's first run counts its tables and
    is no measure of the others.
    """

    def __init__(self, trials: Iterable[Trial]):
        self._waiting = Counter((t.fingerprint, t.algorithm, t.params) for t in trials)
        self._first: dict[Group, float] = {}
        self._took: dict[Group, dict[str, list[float]]] = {}
        self._worked = 0.0
        self._marks = deque([(0.0, 0.0)])  # (seconds elapsed, seconds of work done)

    def note(self, result: TrialResult, *, fresh: bool) -> None:
        """A run is there; one from the store took no time, but tells how long its kind takes."""
        self._waiting[result.fingerprint, result.algorithm, result.params] -= 1
        if math.isnan(result.seconds):  # private rows: their clock is an output
            return
        group = result.fingerprint, result.algorithm
        if fresh:
            self._worked += result.seconds
        if fresh and group not in self._first:
            self._first[group] = result.seconds
        else:
            kept = self._took.setdefault(group, {})
            kept.setdefault(result.params, []).append(result.seconds)

    def each(self, trial: Trial) -> float | None:
        """Seconds that a trial's kind takes; None before one was seen whose tables were counted."""
        took = self._took.get((trial.fingerprint, trial.algorithm), {})
        seen = took.get(trial.params)
        if seen is None and took:
            return float(np.mean([np.mean(some) for some in list(took.values())]))
        return None if seen is None else sum(seen) / len(seen)

    def seconds(self, elapsed: float) -> float | None:
        """Seconds to come, where ``elapsed`` went by for the runs so far; None before the first."""
        if elapsed - self._marks[-1][0] >= _WATCH / 2:
            self._marks.append((elapsed, self._worked))
        while len(self._marks) > 1 and elapsed - self._marks[1][0] >= max(10.0, 0.3 * elapsed):
            self._marks.popleft()  # the machine may have been emptier then
        groups = {
            group: {params: float(np.mean(some)) for params, some in took.items()}
            for group, took in self._took.items()
        }
        means = self._first | {g: float(np.mean(list(took.values()))) for g, took in groups.items()}
        if not means:
            return None
        slowest = max(means.values())
        work = sum(
            count * groups.get(group, {}).get(params, means.get(group, slowest))
            for (*g, params), count in self._waiting.items()
            if count > 0 and (group := (g[0], g[1]))
        )
        since, done = self._marks[0]
        pace = (elapsed - since) / (self._worked - done) if self._worked > done else 1.0
        return work * pace


# Before the start ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Estimate:
    """What a study would take: its trials, those already kept, and seconds for the others.

    ``at_least`` says that some run outlasted its probe, so that ``seconds`` is a lower bound.
    """

    trials: int
    kept: int
    seconds: float
    at_least: bool

    @property
    def runs(self) -> int:
        """How many runs are left to do."""
        return self.trials - self.kept


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

    For each dataset and algorithm a few trials spread over the grid are run, or their times are
    taken from the store. A trial that exceeds its share of the patience is stopped. Private rows
    are not touched: random ones of their schema stand in, and may take longer.
    """
    study = study_of(datasets, algorithms, parameters, seeds)
    stands = {k: d if d.public else _uniform(d) for k, d in study.datasets.items()}
    known: dict[Group, list[float]] = {}
    groups: dict[Group, list[Trial]] = {}
    with held(store) as kept:
        for trial in study.trials:
            group, found = (trial.fingerprint, trial.algorithm), kept and kept.get(trial)
            if found:
                known.setdefault(group, []).append(found.seconds)
            else:
                groups.setdefault(group, []).append(trial)
    seconds, at_least = 0.0, False
    for group, trials in groups.items():
        if group in known and not math.isnan(known[group][0]):
            took, cut = float(np.mean(known[group])) * len(trials), False
        else:
            took, cut = _probe(stands[group[0]], trials, patience / len(groups))
        seconds, at_least = seconds + took, at_least or cut
    done = len(study.trials) - sum(map(len, groups.values()))
    return Estimate(len(study.trials), done, seconds / workers, at_least)


def _uniform(data: Dataset) -> Dataset:
    """Public rows of the same shape: column j runs through its levels at a pace of its own.

    Time spent on private rows is an output that nobody has paid for, as is a probe's noise.
    """
    rows = np.arange(data.n, dtype=np.uint64)
    mixed = [
        ((rows * np.uint64(2 * j + 3) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(33)) % size
        for j, size in enumerate(map(np.uint64, data.cardinalities))
    ]
    codes = np.stack(mixed, axis=1).astype(np.int64)
    return Dataset.from_codes(
        codes, data.names, data.levels, name=data.name, truth=data.truth, public=True
    )


def _after(end: float) -> bool:
    return monotonic() > end


def _probe(data: Dataset, trials: list[Trial], patience: float) -> tuple[float, bool]:
    """(seconds for all the trials, whether that is a lower bound)."""
    end = monotonic() + patience
    spread = dict.fromkeys(trials[i * (len(trials) - 1) // 3] for i in (1, 0, 3, 2))
    times: list[float] = []
    cut = False
    for trial in spread:
        # The first run counts the tables: it may spend half of the time on it.
        late = end if times else end - patience / 2
        result = run_trial(data, trial, partial(_after, late))
        times.append(result.seconds)
        cut = result.status == "cancelled" and len(times) == 2
        if cut or monotonic() > end:
            break
    later = times[1:] or times
    return times[0] + sum(later) / len(later) * (len(trials) - 1), cut
