"""Studies that run: a worker of its own for each, which goes on while other pages are open.

The worker uses nothing of Streamlit's. Studies on a person's own data stay in memory.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from engine import Dataset, InputError
from engine.privacy.accounting import Guarantee
from engine.studies import (
    Cell,
    CellResult,
    Estimate,
    Plan,
    Progress,
    ResultStore,
    engine_version,
    estimate,
    plan,
    sweep,
)
from pages.shell.data import Meter, bundled, costs_of, data_for, promised
from pages.shell.lifetime import STUDIES, Present, end_when_left, here
from pages.sweep.files import keep_spec, path_of
from pages.sweep.state import EXAMPLE, Wanted

_KEPT_JOBS = 8  # finished studies that stay in memory
_PROCESS_SECONDS = 30.0  # from here on a second process pays


@dataclass(eq=False)
class StudyJob:
    """A study: what it asks for, what is finished, and the worker if one is running.

    ``state`` is "saved" (read from a file), "running", "cancelled", "finished" or "failed".
    ``wanted`` is None for a file that another program wrote: it can be looked at only.
    """

    name: str
    wanted: Wanted | None
    path: Path | None = None
    total: int = 0
    results: list[CellResult] = field(default_factory=list)
    state: str = "saved"
    progress: Progress | None = None
    error: str = ""
    note: str = ""
    costs: Meter | None = None  # what own data have cost in this session
    own: Dataset | None = None  # whose cells add to it
    expected: Mapping[tuple[str, str], float] = field(default_factory=dict)  # seconds of a run
    present: Present = lambda: True
    _memory: ResultStore | None = None
    _cancel: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)

    @property
    def running(self) -> bool:
        """Whether a worker is on it."""
        return self.state == "running"

    @property
    def done(self) -> int:
        """Runs finished."""
        return len(self.results)

    @property
    def resumable(self) -> bool:
        """Whether there is something left to run."""
        return self.wanted is not None and not self.running and self.state != "finished"

    def cancel(self) -> None:
        """Ask the worker to stop; finished runs are kept."""
        self._cancel.set()

    def start(self, datasets: Sequence[Dataset], *, executor: str = "serial") -> None:
        """Run what is missing in a thread of its own. Raises InputError before anything runs."""
        assert self.wanted is not None
        if self.wanted.own and self._memory is None:
            self._memory = ResultStore(":memory:")
        seeds = self.wanted.seeds
        study = plan(datasets, self.wanted.algorithms, self.wanted.parameters(), seeds)
        self.total = len(study.cells)
        if self.path is not None:
            keep_spec(self.path, self.name, self.wanted)
        self._cancel.clear()
        self._ended.clear()
        self.results, self.error, self.note, self.progress = [], "", "", None
        self.state = "running"
        worker = threading.Thread(
            target=self._work, args=(list(datasets), seeds, executor), daemon=True, name="study"
        )
        STUDIES.join(self)
        worker.start()
        end_when_left(lambda: self.present(), self._ended.wait, self.cancel)

    @property
    def place(self) -> int:
        """Its place in line, 0 once it runs."""
        return STUDIES.place(self)

    def _work(self, datasets: list[Dataset], seeds: Any, executor: str) -> None:
        assert self.wanted is not None
        state = "failed"
        try:
            STUDIES.turn(self, self._cancel.is_set)
            for result in sweep(
                datasets,
                self.wanted.algorithms,
                self.wanted.parameters(),
                seeds,
                store=self.path if self.path is not None else self._memory,
                executor=executor,
                cancelled=self._cancel.is_set,
                on_progress=self._noted,
                on_start=self._begun,
                expected=self.expected,
            ):
                self.results.append(result)
                self._settle(result)
            state = "finished" if self.done >= self.total else "cancelled"
        except InputError as error:
            self.error = str(error)
        except Exception as error:  # the thread has no one else to tell
            self.error = f"The study stopped: {type(error).__name__}. What is finished is kept."
        finally:
            STUDIES.leave(self)
        self.state = state
        self._ended.set()

    def _noted(self, progress: Progress) -> None:
        self.progress = progress

    def _begun(self, cells: Sequence[Cell]) -> None:
        """Put runs on own data on their meter before a worker has them."""
        if self.costs is None or self.own is None:
            return
        for cell in cells:
            if cell.own:
                self.costs.begin(cell.key, promised(cell.algorithm, cell.values, self.own))

    def _settle(self, result: CellResult) -> None:
        """What a run on own data did cost; one that was kept already costs the same again."""
        if self.costs is not None and result.cell.own:
            cost = Guarantee(result.spent_epsilon, result.spent_delta)
            self.costs.settle(result.cell.key, cost)


def opened(name: str) -> StudyJob:
    """A study from its file, or the worker that is on it; raises InputError in one sentence."""
    path = path_of(name)
    job = jobs().get(str(path))
    if job is not None and job.running:
        before, look = job.present, here()
        job.present = lambda: before() or look()
        return job
    if not path.exists():
        raise InputError(f"There is no study named {name!r} any more.")
    with ResultStore(path) as store:
        specs, results = store.studies(), list(store.results())
    spec = specs.get(name) or next(iter(specs.values()), None)
    if spec is None:
        return _foreign(name, path, results)
    wanted = Wanted.from_json(spec)
    study = plan(datasets_of(wanted), wanted.algorithms, wanted.parameters(), wanted.seeds)
    kept, current = _matching(study, results)
    job = StudyJob(name, wanted, path, len(study.cells), kept)
    if current == job.total:
        job.state = "finished"
    elif current < len(kept):
        job.note = "Some runs are of another version of this program; Resume runs them anew."
    return job


def _foreign(name: str, path: Path, results: list[CellResult]) -> StudyJob:
    """A file that the command line wrote: its newest version's results."""
    versions = {r.version for r in results}
    newest = engine_version() if engine_version() in versions else max(versions, default="")
    kept = [r for r in results if r.version == newest]
    note = "Made outside this page: it can be read here, and continued on the command line."
    return StudyJob(name, None, path, len(kept), kept, "finished", note=note)


def _matching(study: Plan, results: Iterable[CellResult]) -> tuple[list[CellResult], int]:
    """(results of the study's cells, how many are of this version), this version first."""
    cells = {cell.key[:4] for cell in study.cells}
    found: dict[tuple[Any, ...], CellResult] = {}
    now = engine_version()
    for result in results:
        key = result.cell.key[:4]
        if key in cells and (key not in found or result.version == now):
            found[key] = result
    return list(found.values()), sum(r.version == now for r in found.values())


def datasets_of(wanted: Wanted) -> list[Dataset]:
    """The study's datasets; raises InputError if one is not there."""
    return [data_for(source) for source in wanted.sources]


@st.cache_resource(show_spinner=False)
def jobs() -> dict[str, StudyJob]:
    """File -> the study that a worker of this server is on or was on last."""
    return {}


def launch(job: StudyJob, *, seconds: float = 0.0) -> None:
    """Start or resume a job and remember it; raises InputError in one sentence."""
    assert job.wanted is not None
    other = jobs().get(str(job.path)) if job.path is not None else None
    if other is not None and other is not job and other.running:
        raise InputError("This study is running already; open it to watch.")
    datasets = datasets_of(job.wanted)
    if job.wanted.own:
        own = next(d for d, s in zip(datasets, job.wanted.sources, strict=True) if s.own)
        job.costs, job.own = costs_of(own), own
    job.present = here()
    job.expected = estimated(job.wanted).seconds_each
    job.start(datasets, executor="processes" if seconds > _PROCESS_SECONDS else "serial")
    if job.path is not None:
        jobs()[str(job.path)] = job
        idle = [key for key, j in jobs().items() if not j.running and j is not job]
        for key in idle[: max(0, len(idle) - _KEPT_JOBS)]:
            jobs().pop(key, None)


def estimated(wanted: Wanted) -> Estimate:
    """Runs and seconds from a short probe: of own data remembered for this session alone."""
    if not wanted.own:
        return _public_estimate(wanted)
    known: dict[Wanted, Estimate] = st.session_state.setdefault("sweep_estimates", {})
    if wanted not in known:
        known[wanted] = _probed(wanted)
    return known[wanted]


@st.cache_resource(max_entries=64, show_spinner=False)
def _public_estimate(wanted: Wanted) -> Estimate:
    return _probed(wanted)


def _probed(wanted: Wanted) -> Estimate:
    return estimate(
        datasets_of(wanted),
        wanted.algorithms,
        wanted.parameters(),
        wanted.seeds,
        patience=0.8,
    )


@st.cache_resource(show_spinner=False)
def _example_results() -> list[CellResult]:
    source = EXAMPLE.sources[0]
    data = bundled(source.name, source.n, source.seed)
    return list(sweep(data, EXAMPLE.algorithms, EXAMPLE.parameters(), EXAMPLE.seeds))


EXAMPLE_NAME = "Example"


def example() -> StudyJob:
    """A small finished study, so that the page is never empty."""
    results = list(_example_results())
    return StudyJob(EXAMPLE_NAME, EXAMPLE, None, len(results), results, "finished")


# On the page ----------------------------------------------------------------------------


def current() -> StudyJob:
    """The study on screen; at first the example."""
    if "sweep_job" not in st.session_state:
        show(example())
    job: StudyJob = st.session_state["sweep_job"]
    return job


def show(job: StudyJob) -> None:
    """Put a study on screen."""
    st.session_state["sweep_job"] = job


def refuse(words: str) -> None:
    """Leave a sentence for the page."""
    st.session_state["sweep_problem"] = words


def refused() -> str | None:
    """The sentence that was left, once."""
    words: str | None = st.session_state.pop("sweep_problem", None)
    return words


def known_datasets(job: StudyJob) -> list[Dataset]:
    """The study's datasets, if its settings are known and all of them are there."""
    try:
        return datasets_of(job.wanted) if job.wanted is not None else []
    except InputError:
        return []
