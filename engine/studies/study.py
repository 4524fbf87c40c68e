"""A study: every trial of a grid once, in this process, in worker processes or on a Dask cluster.

``sweep`` runs it as an iterator of results; ``estimate`` says what it would take. Workers are
joblib's: loky's, which start without the program's main module (a script needs no guard), or a Dask
cluster's. A worker keeps the datasets it has met, with every table and score counted so far.
"""

from __future__ import annotations

import math
import os
import signal
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any

import numpy as np

from engine.cluster import WorkerError, connect, present
from engine.data.dataset import Dataset
from engine.data.imagined import independent
from engine.errors import InputError
from engine.studies.null import MARGINS
from engine.studies.store import ResultStore, held
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
Cancelled = Callable[[], bool]
Started = Callable[[Sequence[Trial]], None]

EXECUTORS = ("serial", "processes")
CONNECT_SECONDS = 5.0
PATIENCE = 30.0  # seconds for a worker to come back where there is none
BATCH_SECONDS = 0.2  # of work that a worker is given at once
MOST_LOST = 3  # times that workers may end in one study
_MET_MOST = 2  # datasets a worker keeps: each may hold hundreds of megabytes of tables
_WATCH = 0.5
_PILOT = 0.1  # share of the runs of a dataset and algorithm that come first
_MANY = 40  # runs of a dataset from which on its tables may be counted twice
_FIRST = "first"  # stands for the parameters of a run that counted its dataset's tables
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

    @staticmethod
    def steady(done: int, total: int, start: float) -> Progress:
        """Where all take as long as those since ``start``, of ``time.monotonic``."""
        seconds = monotonic() - start
        return Progress(done, total, 0, seconds, seconds / done * max(total - done, 0))


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
        parameters: By name: a value, or a list of values to go through; or a list of such grids.
        seeds: How many, or which.
        knowledge: What is known of the causes, of every dataset: Knowledge, or the name of a set
            that is true of each one's true graph: "two tiers", "four tiers", "complete order".
        store: A path or a ResultStore. Results in it come first and are not run again; new ones are
            in it before they are yielded.
        executor: "serial", "processes", or the address of a Dask scheduler such as
            "tcp://host:8786". All give the same results, each in another order.
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
    if executor not in EXECUTORS and "://" not in executor:
        raise InputError(
            f"executor must be {', '.join(EXECUTORS)} or a scheduler's address such as "
            f"tcp://host:8786; {executor!r} is not."
        )
    if workers < 1:
        raise InputError(f"workers must be at least 1; {workers} is not.")
    return _results(study, store, executor, workers, cancelled, on_progress, on_start)


def _results(
    study: Study,
    store: StoreLike,
    executor: str,
    workers: int,
    cancelled: Cancelled,
    on_progress: Callable[[Progress], None] | None,
    on_start: Started,
) -> Iterator[TrialResult]:
    """The results of a study: those in the store, then the others as they are made."""
    start, done, left = monotonic(), 0, TimeLeft(study.trials)
    alone = executor == "serial" or (executor, workers) == ("processes", 1)
    with held(store) as kept:
        found = [r for t in study.trials if (r := kept.get(t))] if kept else []
        there = {result.trial for result in found}
        holds = len(study.datasets) if alone else _MET_MOST
        missing = pilots_first([t for t in study.trials if t not in there], holds)
        new = (
            _serial(study, missing, cancelled, on_start)
            if alone
            else _parallel(executor, workers, study, missing, left, cancelled, on_start)
        )
        for fresh, batches in ((False, [found]), (True, new)):
            for batch in batches:
                if fresh and kept is not None:
                    kept.put(batch)
                for result in batch:
                    left.note(result, fresh=fresh)
                    done, now = done + 1, monotonic() - start
                    rest = left.seconds(now) if fresh else None
                    reused = len(found) if fresh else done
                    if on_progress is not None:
                        on_progress(Progress(done, len(study.trials), reused, now, rest))
                    yield result


def _serial(
    study: Study, trials: Sequence[Trial], cancelled: Cancelled, on_start: Started
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


class _Stopped(Exception):
    """The study was cancelled."""


def _parallel(
    executor: str,
    workers: int,
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

    def tasks() -> Iterator[Any]:
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

    with _Pool(executor, workers) as pool:
        for lost in range(MOST_LOST + 1):
            try:
                for batch in pool.run(tasks(), cancelled):
                    for result in batch:
                        del missing[result.trial]
                    yield batch
                return
            except _Stopped:
                return
            except InputError:
                raise
            except Exception as error:
                pool.wait()
                gone = type(error).__name__ in _GONE
                if not gone or lost == MOST_LOST:
                    reason = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
                    why = "Workers ended again and again, for want of memory perhaps"
                    first = why if gone else f"A worker failed ({reason})"
                    raise WorkerError(f"{first}; {_KEPT}.") from error


class _Pool:
    """Workers for the length of a study: loky's processes, or a Dask cluster's."""

    def __init__(self, executor: str, workers: int):
        self._client: Any = None
        self._address, self._look_at = executor, 0.0
        # One thread each: the results must not depend on how many cores there are. Without a limit
        # on arrays joblib writes large ones, private ones too, to a file in /dev/shm.
        self._how: dict[str, Any] = {
            **{"backend": "loky", "n_jobs": workers, "max_nbytes": None},
            **{"inner_max_num_threads": 1, "initializer": _begin, "initargs": (os.getpid(),)},
        }
        if executor != "processes":
            self._client, _ = connect(executor, CONNECT_SECONDS)
            self._how = {"backend": "dask", "client": self._client}

    def __enter__(self) -> _Pool:
        return self

    def __exit__(self, *_: object) -> None:
        if self._client is not None:
            self._client.close()  # calls off what has not begun; the cluster runs on

    def wait(self) -> None:
        """WorkerError where the scheduler has gone, or no worker comes back: joblib runs here."""
        sleep(_WATCH)  # a scheduler that ends takes its workers along first
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
                    if self._client and monotonic() > self._look_at:
                        self._look_at = monotonic() + _WATCH
                        present(self._client, self._address, _KEPT)
                return bool(super()._wait_retrieval())

        # Made in here: outside of the configuration it would silently run one by one.
        with parallel_config(**self._how), _without_interrupts():
            results = Stoppable(return_as="generator_unordered", batch_size=1)(tasks)
        with closing(results):
            yield from results


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

    def watch() -> None:
        """A killed parent leaves its children to another process."""
        while os.getppid() == parent:
            sleep(_WATCH)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=watch, daemon=True).start()


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


def pilots_first(trials: Sequence[Trial], holds: int) -> list[Trial]:
    """The trials, a tenth of each dataset's and algorithm's before the others.

    The tenth is spread over the settings of the first seeds. ``holds`` is how many datasets a
    worker keeps tables of: where there are more, those of few trials have no such tenth, as their
    tables would be counted again.
    """
    sizes = Counter(trial.fingerprint for trial in trials)
    groups: dict[tuple[str, str], list[Trial]] = defaultdict(list)
    for trial in trials:
        groups[trial.fingerprint, trial.algorithm].append(trial)
    first: set[Trial] = set()
    for (fingerprint, _), group in groups.items():
        if len(sizes) <= holds or sizes[fingerprint] >= _MANY:
            count = min(len(group), max(2, math.ceil(_PILOT * len(group))))
            settings = len({trial.params for trial in group})
            end = min(len(group), settings * math.ceil(count / settings)) - 1
            first.update(group[round(at)] for at in np.linspace(0, end, count))
    return sorted(trials, key=lambda trial: trial not in first)


class TimeLeft:
    """The seconds that the runs to come will take, from those so far.

    By dataset, algorithm and setting: each setting's mean, where none was seen its group's, and
    for a group of which nothing was seen the slowest's. A dataset's first run counts its tables and
    is no measure of the others.
    """

    def __init__(self, trials: Iterable[Trial]):
        self._waiting = Counter((t.fingerprint, t.algorithm, t.params) for t in trials)
        # (dataset, algorithm) -> parameters -> seconds and runs
        self._took: dict[tuple[str, str], dict[str, tuple[float, int]]] = defaultdict(dict)
        self.worked = 0.0
        self._marks = deque([(0.0, 0.0)])  # (seconds elapsed, seconds of work done)

    def note(self, result: TrialResult, *, fresh: bool) -> None:
        """A run is there; one from the store took no time, but says how long its kind takes."""
        self._waiting[result.fingerprint, result.algorithm, result.params] -= 1
        if math.isnan(result.seconds):  # private rows: their clock is an output
            return
        took = self._took[result.fingerprint, result.algorithm]
        name = _FIRST if fresh and _FIRST not in took else result.params
        total, count = took.get(name, (0.0, 0))
        took[name] = total + result.seconds, count + 1
        self.worked += result.seconds * fresh

    def _mean(self, fingerprint: str, key: str, params: str = "") -> float | None:
        """Seconds of a setting, else of the mean setting; None where none was seen but a first."""
        took = self._took.get((fingerprint, key), {})
        if params in took:
            return took[params][0] / took[params][1]
        means = [total / count for name, (total, count) in took.items() if name != _FIRST]
        return sum(means) / len(means) if means else None

    def each(self, trial: Trial) -> float | None:
        """Seconds that a trial's kind takes; None before one with counted tables was seen."""
        return self._mean(trial.fingerprint, trial.algorithm, trial.params)

    def seconds(self, elapsed: float) -> float | None:
        """Seconds to come, where ``elapsed`` went by for the runs so far; None before the first."""
        if elapsed - self._marks[-1][0] >= _WATCH / 2:
            self._marks.append((elapsed, self.worked))
        while len(self._marks) > 1 and elapsed - self._marks[1][0] >= max(10.0, 0.3 * elapsed):
            self._marks.popleft()  # the machine may have been emptier then
        since, done = self._marks[0]
        pace = (elapsed - since) / (self.worked - done) if self.worked > done else 1.0
        work = self.work()
        return None if work is None else work * pace

    def work(self) -> float | None:
        """Seconds of all runs to come on one core; None before the first run."""
        whole = {g: self._mean(*g) or took[_FIRST][0] for g, took in self._took.items()}
        if not whole:
            return None
        slowest, work = max(whole.values()), 0.0
        for (fingerprint, key, params), count in self._waiting.items():
            mean = self._mean(fingerprint, key, params)
            work += count * (mean or whole.get((fingerprint, key), slowest))
        return work


# Before the start ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Estimate:
    """What a study would take: its trials, those already kept, and seconds for the others.

    ``at_least`` says that the probe ended before it had met every run: it may take longer.
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
    parameters: Grid = None,
    seeds: Seeds = 5,
    *,
    store: StoreLike = None,
    workers: int = 1,
    patience: float = 2.0,
) -> Estimate:
    """Seconds a study would take on ``workers`` cores, from a probe of at most ``patience`` s.

    Runs of the study in the order in which it would make them, until that time is over (the last
    one is stopped); what the store holds is not run again. Private rows are not touched, as time
    spent on them would be an output that is not paid for: random ones of their shape stand in, and
    may take longer.
    """
    study = study_of(datasets, algorithms, parameters, seeds)
    with held(store) as kept:
        found = [r for t in study.trials if (r := kept.get(t))] if kept else []
    there = {result.trial for result in found}
    known = {(result.fingerprint, result.algorithm) for result in found if not result.own}
    missing = [trial for trial in study.trials if trial not in there]
    left, stands = TimeLeft(study.trials), {k: _public(d) for k, d in study.datasets.items()}
    for result in found:
        left.note(result, fresh=False)
    end, cut = monotonic() + patience, False
    for trial in pilots_first(missing, len(stands)):
        if (trial.fingerprint, trial.algorithm) not in known and not cut:
            result = run_trial(stands[trial.fingerprint], trial, lambda: monotonic() > end)
            left.note(result, fresh=True)
            cut = monotonic() > end
    seconds = (left.worked + (left.work() or 0.0)) / workers
    return Estimate(len(study.trials), len(found), seconds, cut)


def _public(data: Dataset) -> Dataset:
    """The data; for private ones public rows of the same shape with independent columns."""
    if data.public:
        return data
    codes = independent(data.cardinalities, data.n, MARGINS, np.random.default_rng(0))
    return Dataset.from_codes(
        codes, data.names, data.levels, name=data.name, truth=data.truth, public=True
    )
