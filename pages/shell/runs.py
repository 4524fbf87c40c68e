"""Runs: a draft is frozen when it is run; the result is kept under its settings."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from engine import Dataset, InputError, RunResult, run
from engine.context import Step
from engine.registry import algorithm, slow
from engine.score.learned import ScoreDiagnostics
from pages.host import apart, record
from pages.shell import state
from pages.shell import words as text
from pages.shell.data import costs_of, data_for, in_force, promised
from pages.shell.drafts import drafted
from pages.shell.job import RUNS, Job, Slot, shared
from pages.shell.session import Place
from pages.shell.settings import Settings, filled, word_of


@dataclass(frozen=True, eq=False)
class Shown:
    """A finished run with the settings and data that made it."""

    settings: Settings
    data: Dataset
    result: RunResult


def told(run: Shown) -> Dataset:
    """A run's public rows as a study has them that is told the same; own ones as they are."""
    source, known = run.settings.source, run.settings.known
    if source.own or not known:
        return run.data
    return data_for(source, word_of(known, source.name))


class RunJob(Job):
    """One run: what it computes, how far it is, and what came of it.

    ``settings`` is whatever the page wants to find again. ``keep`` gets the result in the thread.
    ``refused`` hears that the input did not fit.
    """

    queue = RUNS
    reports = True  # what a run on own data has spent is known from its result alone

    def __init__(
        self,
        settings: Any,
        key: str,
        data: Dataset,
        seed: int | None,
        params: Mapping[str, Any],
        keep: Callable[[RunResult], None] = lambda _: None,
        refused: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__()
        self.settings, self.key, self.data = settings, key, data
        self.what = f"{algorithm(key).title} on {text.plain(text.dataset_title(data))}"
        self._seed, self._params, self._keep, self._refused = seed, params, keep, refused
        self.result: RunResult | None = None
        self._order: int | None = None
        self._steps, self._compiling = 0, slow(key)
        self._started = time.monotonic()  # or since its turn came

    def so_far(self) -> list[str]:
        """Order, steps and seconds; before the first step, what is made once on this machine."""
        said = [f"order {self._order}"] if self._order is not None else []
        said += [text.count(self._steps, "step")] if self._steps else []
        if self._compiling and not self._steps:
            said += [f"preparing it, once, about {self._compiling} s"]
        return [*said, f"{time.monotonic() - self._started:.0f} s"]

    def work(self) -> None:
        """Run, and give the result on."""
        self._started = time.monotonic()
        try:
            result = self._apart() if apart.heavy(self.data) else self._here()
        except apart.Lost:  # its process ended, and noise may have been drawn
            raise
        except InputError:
            self._refused()
            raise
        self._keep(result)
        self.result = result
        noted(result, self.data)

    def _here(self) -> RunResult:
        return run(
            self.key,
            self.data,
            seed=self._seed,
            on_step=self._noted,
            cancelled=self.stopped,
            **self._params,
        )

    def _apart(self) -> RunResult:
        result: RunResult = apart.beside(
            apart.searched,
            *(self.key, self._seed, self._params),
            data=self.data,
            cancelled=self.stopped,
            notes={"noted": self._counted},
        )
        return result

    def broken(self, error: Exception) -> str:
        """The thread has no one else to tell."""
        return (
            f"The run failed inside the program ({type(error).__name__}); change the settings "
            "or report it."
        )

    def _counted(self, order: int | None, steps: int) -> None:
        self._order, self._steps = order, steps

    def _noted(self, step: Step) -> None:
        self._order, self._steps = step.order, self._steps + 1
        if self._steps % _YIELD_EVERY == 0:
            time.sleep(0)  # lets the pages draw


def noted(result: RunResult, data: Dataset) -> None:
    """A line in the log: of own data no more than that there was a run."""
    if not data.public:
        record.run(result.algorithm, public=None)
        return
    said = {"data": data.name, "rows": data.n, "seconds": round(result.seconds, 2)}
    record.run(result.algorithm, public=said | {"status": result.status})


JOB: Slot[RunJob] = Slot("job")
SHOWN: Place[Shown | None] = Place("shown")  # the run on screen
REFUSED: Place[tuple[Settings, str] | None] = Place("refused")  # what did not run, and why
STOPPED: Place[Settings | None] = Place("stopped")  # what was stopped before it had a graph
_YIELD_EVERY = 20
_MOST_KEPT = 32
QUICK = 0.3  # seconds: what takes less is run without being asked
_KEPT = threading.Lock()


@st.cache_resource(show_spinner=False)
def _finished() -> OrderedDict[Any, RunResult]:
    """Finished runs on public data, shared by all sessions; the oldest go first."""
    return OrderedDict()


@st.cache_resource(show_spinner=False)
def _paces() -> OrderedDict[tuple[str, str], float]:
    """Seconds a row that the last run of an algorithm on a bundled dataset took."""
    return OrderedDict()


@st.cache_resource(show_spinner=False)
def _going() -> OrderedDict[Hashable, RunJob]:
    """Runs on public data that go on."""
    return OrderedDict()


def _left_behind(job: RunJob) -> bool:
    """Whether it goes on for a browser that has gone."""
    return job.running and not job.stopping and not job.present()


def _keep(store: OrderedDict[Any, Any], key: Any, what: Any) -> None:
    with _KEPT:
        store[key] = what
        while len(store) > _MOST_KEPT:
            store.popitem(last=False)


def _keeper(settings: Settings, key: Hashable) -> Callable[[RunResult], None]:
    """What a job's thread does with a result on public data; of Streamlit it uses nothing."""
    finished, paces = _finished(), _paces()
    such = settings.source.name, settings.algorithm

    def keep(result: RunResult) -> None:
        if result.status != "cancelled":
            _keep(finished, key, result)
            _keep(paces, such, result.seconds / settings.source.n)

    return keep


def quick(now: Settings) -> bool:
    """Whether the settings may be run without being asked for it.

    Where the last such run took less than ``QUICK``, measured; never on own data, where a run is
    spent, and not where these very settings were refused or stopped.
    """
    if now.source.own or stopped(now) or refusal() is not None:
        return False
    pace = _paces().get((now.source.name, now.algorithm))
    return pace is not None and pace * now.source.n < QUICK


def begun(settings: Settings) -> Shown | RunJob:
    """The same run if it is known, else a job that has started; raises InputError in one sentence.

    A run on own data draws secret noise and is on their meter from before it begins.
    """
    data, chosen = data_for(settings.source), settings.params
    asked = settings, settings.algorithm, data, settings.seed, settings.asked
    if settings.seed is None:
        meter, cost = costs_of(data), object()
        meter.begin(cost, promised(settings.algorithm, chosen, data))
        job = RunJob(
            *asked,
            keep=lambda result: meter.settle(cost, result.spent),
            # one that is refused before it draws anything costs nothing
            refused=lambda: meter.forget(cost),
        )
        job.start()
        return job
    key = (
        data.identity,
        data.name,
        settings.algorithm,
        tuple(settings.asked.items()),
        settings.seed,
    )
    if (known := _finished().get(key)) is not None:
        return Shown(settings, data, known)
    # A page that is loaded anew goes on with its own run.
    made = partial(RunJob, *asked, keep=_keeper(settings, key))
    return shared(_going(), key, _left_behind, made)


def _ended(job: RunJob) -> Shown:
    """What came of a job that has ended; raises InputError in one sentence."""
    if job.result is None:
        raise InputError(job.problem)
    return Shown(job.settings, job.data, job.result)


def compute(settings: Settings) -> Shown:
    """Run to the end, or look the same run up; raises InputError in one sentence."""
    found = begun(settings)
    if isinstance(found, Shown):
        return found
    while not found.wait(0.5):
        pass
    return _ended(found)


def freeze(settings: Settings) -> None:
    """Run the settings and show the result; on bad input keep what was there, with the reason.

    A run that takes longer than a moment goes on as :func:`job`, in the place of one before.
    """
    before = job()
    if before is not None and before.settings == settings:
        return
    if before is not None:
        before.cancel()
    JOB.forget()
    REFUSED.put(None)
    STOPPED.put(None)
    try:
        found = begun(settings)
    except InputError as error:
        REFUSED.put((settings, str(error)))
        return
    if isinstance(found, Shown):
        SHOWN.put(found)
        return
    JOB.show(found)
    found.wait(RunJob.patience)
    settle()


def job() -> RunJob | None:
    """The run that is still going on in this session, if any; on a file that has gone it ends."""
    settle()
    going = JOB.job()
    if going is not None and not in_force(going.data):
        going.cancel()
        JOB.forget()
        going = None
    return going


def progress_view() -> None:
    """The session's running job."""
    JOB.watch(key="cancel-run")


def settle() -> None:
    """Show what came of a job that has ended meanwhile."""
    done = JOB.job()
    if done is None or done.running:
        return
    JOB.forget()
    try:
        found = _ended(done)
    except InputError as error:
        REFUSED.put((done.settings, str(error)))
        return
    if found.result.status == "cancelled" and not decided(found.result):
        STOPPED.put(done.settings)
        return
    SHOWN.put(found)


def decided(result: RunResult) -> bool:
    """Whether a stopped run got far enough for its graph to say anything."""
    found = result.diagnostics
    moved = isinstance(found, ScoreDiagnostics) and bool((found.weights != 0).any())
    return result.ci_tests > 0 or moved


def stopped(now: Settings) -> bool:
    """Whether these settings' run was stopped before it had anything to show."""
    return STOPPED.get() == now


def shown() -> Shown:
    """The run on screen; at a session's start the one that the link names, or the default.

    While the link's run goes on, and where it fails, the default is there; as it is where the run
    was on a file that another has replaced.
    """
    settle()
    run = SHOWN.get() or _begin()
    if not in_force(run.data):
        run = compute(_default())
        SHOWN.put(run)
    return run


def _default() -> Settings:
    """Priv-PC on Asia."""
    return Settings(params=filled("priv_pc", {}))


def _begin() -> Shown:
    """Show what the form asks for, as a link or the visit has it; where it fails, the default."""
    freeze(drafted())
    run = SHOWN.get() or compute(_default())
    SHOWN.put(run)
    return run


def follow() -> None:
    """After Back or Forward show the run the address names.

    A run on own data is never made anew for that: it would spend ε.
    """
    now = drafted()
    if state.arrived() and not now.source.own and SHOWN.get():
        freeze(now)


def refusal() -> str | None:
    """Why the settings now in the form could not be run, if they were tried.

    A person's file that cannot be read is none of the settings: of another one its own fault is
    said.
    """
    refused, now = REFUSED.get(), drafted()
    if not refused or refused[0] != now:
        return None
    if now.source.own:
        try:
            data_for(now.source)
        except InputError as error:
            return str(error)
    return refused[1]


def stale(now: Settings) -> bool:
    """Whether the result on screen belongs to other settings than those in the form."""
    run = SHOWN.get()
    return run is not None and now != run.settings


def write_link(settings: Settings) -> None:
    """The address names this run, unless it is the default."""
    state.show({} if settings == _default() else settings.to_query())
