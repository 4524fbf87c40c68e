"""Studies: read from a file, or under way; one goes on while other pages are open.

Studies on a person's own data stay in memory, as do those of a visitor whom the server does not
know.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st
from joblib import cpu_count

from engine import Dataset, InputError
from engine.privacy.accounting import Guarantee
from engine.release.places import private_folder
from engine.studies import (
    Cell,
    CellResult,
    Estimate,
    Progress,
    ResultStore,
    Study,
    engine_version,
    estimate,
    study_of,
    sweep,
)
from pages import mode
from pages.shell import words as text
from pages.shell.data import Meter, bundled, costs_of, data_for, in_force, own_data, promised
from pages.shell.job import Job, Slot, left, shared
from pages.shell.session import Place
from pages.sweep.state import EXAMPLE, Wanted

_APART_SECONDS = 5.0  # from here on a process of its own pays: no page waits for its work
_PROCESS_SECONDS = 30.0  # from here on a second process pays


_ESTIMATES: Place[dict[Any, Estimate]] = Place("sweep_estimates", dict)  # of own data


class StudyJob(Job):
    """A study: what it asks for and what is finished; once it is begun, the work on it.

    ``wanted`` is None for a file that another program wrote: it can be looked at only.
    """

    reports = True  # what an earlier start has finished

    def __init__(
        self,
        name: str,
        wanted: Wanted | None,
        path: Path | None = None,
        total: int = 0,
        results: Sequence[CellResult] = (),
        *,
        finished: bool = False,
        note: str = "",
    ) -> None:
        super().__init__()
        self.name, self.wanted, self.path, self.total = name, wanted, path, total
        self.what = text.plain(name)
        self.results, self.finished, self.note = list(results), finished, note
        self.memory: ResultStore | None = None  # of a study without a file
        self._file: tuple[int, int] | None = None  # what the path led to when it was begun
        self._begun = False
        self._progress: Progress | None = None
        self._costs: Meter | None = None  # what own data have cost in this session
        self._begun_cells: dict[Hashable, object] = {}  # cell -> what is on the meter for it
        self.own: Dataset | None = None  # whose cells add to it

    @property
    def running(self) -> bool:
        """Whether it was begun and its end has not come yet."""
        return self._begun and super().running

    @property
    def ended(self) -> bool:
        """Whether it was begun and its end has come."""
        return self._begun and not super().running

    @property
    def done(self) -> int:
        """Runs finished."""
        return len(self.results)

    @property
    def resumable(self) -> bool:
        """Whether there is something left to run."""
        return self.wanted is not None and not self.running and not self.finished

    def prepare(self, datasets: Sequence[Dataset], cost: Estimate) -> None:
        """Get ready to run what is missing. Raises InputError before anything runs."""
        assert self.wanted is not None
        for data, source in zip(datasets, self.wanted.sources, strict=True):
            if source.own:
                self._costs, self.own = costs_of(data), data
        if self.path is None:
            self.memory = self.memory or ResultStore(":memory:")
        w = self.wanted
        study = study_of(datasets, w.algorithms, w.parameters(), w.seeds)
        self.total = len(study.cells)
        if self.path is not None:
            keep_spec(self.path, self.name, self.wanted)
            self._file = _which(self.path)
        self._datasets, self._expected = list(datasets), cost.seconds_each
        self._executor = "processes" if cost.seconds > _APART_SECONDS else "serial"
        self._workers = min(cpu_count(), 2) if cost.seconds > _PROCESS_SECONDS else 1
        self._begun = True

    def work(self) -> None:
        """Run what is missing."""
        assert self.wanted is not None
        for result in sweep(
            self._datasets,
            self.wanted.algorithms,
            self.wanted.parameters(),
            self.wanted.seeds,
            store=self.path if self.path is not None else self.memory,
            executor=self._executor,
            workers=self._workers,
            cancelled=self.stopped,
            on_progress=self._noted,
            on_start=self._on_meter,
            expected=self._expected,
        ):
            self.results.append(result)
            self._settle(result)
            self._check_file()
            self.give_way()
        self.finished = self.done >= self.total

    def _check_file(self) -> None:
        """Whoever takes the file away ends the study: what it finds would be kept nowhere."""
        if self.path is not None and _which(self.path) != self._file:
            raise InputError(
                "The study's file was deleted or replaced while it ran, so the study was stopped; "
                "what it had found is on this page alone. Save it below, or start it anew."
            )

    def broken(self, error: Exception) -> str:
        """The thread has no one else to tell."""
        return f"The study stopped: {type(error).__name__}. What is finished is kept."

    def so_far(self) -> list[str]:
        """Runs so far, and the time that is left."""
        said, p = f"{self.done:,} of {text.count(self.total, 'run')}", self._progress
        if p is None or p.left is None or p.done - p.reused < 3:  # starting up tells nothing yet
            return [said]
        return [said, left(p.left)]

    def _noted(self, progress: Progress) -> None:
        self._progress, self.share = progress, progress.done / max(1, progress.total)

    def _on_meter(self, cells: Sequence[Cell]) -> None:
        """Put runs on own data on their meter before a worker has them.

        Each is a line of its own: a study that is started anew draws new noise for the same cells.
        """
        for cell in cells:
            if self._costs is not None and self.own is not None and cell.own:
                line = self._begun_cells[cell.key] = object()
                self._costs.begin(line, promised(cell.algorithm, cell.values, self.own))

    def _settle(self, result: CellResult) -> None:
        """What a run on own data did cost; what was kept is on the meter since it was run."""
        line = self._begun_cells.pop(result.cell.key, None)
        if self._costs is not None and line is not None:
            self._costs.settle(line, Guarantee(result.spent_epsilon, result.spent_delta))


SLOT: Slot[StudyJob] = Slot("sweep_job")


def _which(path: Path) -> tuple[int, int] | None:
    """Which file a path leads to now, whatever it is called."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def opened(name: str) -> StudyJob:
    """A study from its file, or the worker that is on it; raises InputError in one sentence."""
    path = path_of(name)
    job = jobs().get(path)
    if job is not None and job.running:
        job.join()
        return job
    if not path.exists():
        raise InputError(f"There is no study named {name!r} any more.")
    with ResultStore(path) as store:
        specs, results = store.studies(), list(store.results())
    return study_from(name, path, specs, results)


def study_from(
    name: str,
    path: Path | None,
    specs: Mapping[str, Mapping[str, Any]],
    results: Sequence[CellResult],
) -> StudyJob:
    """The study of these runs by the settings of its name, or else the first there are."""
    spec = specs.get(name) or next(iter(specs.values()), None)
    if spec is None:
        return _foreign(name, path, results)
    wanted = Wanted.from_json(spec)
    study = study_of(datasets_of(wanted), wanted.algorithms, wanted.parameters(), wanted.seeds)
    kept, current = _matching(study, results)
    total = len(study.cells)
    old = "Some runs are of another version of this program; Resume runs them anew."
    note = old if current < len(kept) else ""
    return StudyJob(name, wanted, path, total, kept, finished=current == total, note=note)


def _foreign(name: str, path: Path | None, results: Sequence[CellResult]) -> StudyJob:
    """A file that the command line wrote: its newest version's results."""
    versions = {r.version for r in results}
    newest = engine_version() if engine_version() in versions else max(versions, default="")
    kept = [r for r in results if r.version == newest]
    note = "Made outside this page: it can be read here, and continued on the command line."
    return StudyJob(name, None, path, len(kept), kept, finished=True, note=note)


def _matching(study: Study, results: Iterable[CellResult]) -> tuple[list[CellResult], int]:
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
    return [data_for(source, wanted.known) for source in wanted.sources]


@st.cache_resource(show_spinner=False)
def jobs() -> OrderedDict[Hashable, StudyJob]:
    """File -> the study that a worker of this server is on or was on last."""
    return OrderedDict()


def launch(study: StudyJob) -> None:
    """Put a study on screen and run what is missing of it; raises InputError in one sentence."""
    assert study.wanted is not None
    job = StudyJob(study.name, study.wanted, study.path)
    job.memory = study.memory
    job.prepare(datasets_of(study.wanted), estimated(study.wanted))
    if job.path is None:
        job.start()
    elif shared(jobs(), job.path, lambda other: other.running, lambda: job) is not job:
        raise InputError("This study is running already; open it to watch.")
    SLOT.show(job)


def estimated(wanted: Wanted) -> Estimate:
    """Runs and seconds from a short probe: of own data remembered for this session alone."""
    if not wanted.own:
        return _public_estimate(wanted)
    known = _ESTIMATES.get()
    own = own_data()
    key = (wanted, own.identity if own is not None else "")
    if key not in known:
        known[key] = _probed(wanted)
    return known[key]


PATIENCE = 0.8  # seconds that runs are tried for, to tell how long a study takes


@st.cache_resource(max_entries=64, show_spinner=False)
def _public_estimate(wanted: Wanted) -> Estimate:
    return _probed(wanted)


def _probed(wanted: Wanted) -> Estimate:
    return estimate(
        datasets_of(wanted),
        wanted.algorithms,
        wanted.parameters(),
        wanted.seeds,
        patience=PATIENCE,
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
    return StudyJob(EXAMPLE_NAME, EXAMPLE, None, len(results), results, finished=True)


# On the page ----------------------------------------------------------------------------


def current() -> StudyJob:
    """The study on screen; at first the example, as after a study on a file that has gone."""
    job = SLOT.job()
    if job is not None and job.own is not None and not in_force(job.own):
        job.cancel()
        job = None
    if job is None:
        job = example()
        SLOT.show(job)
    return job


def known_datasets(job: StudyJob) -> list[Dataset]:
    """The study's datasets, if its settings are known and all of them are there."""
    try:
        return datasets_of(job.wanted) if job.wanted is not None else []
    except InputError:
        return []


# Studies on bundled networks are kept in files, one a study ------------------------------


_NAME = re.compile(r"[\w][\w .+-]{0,59}", re.ASCII)


KEPT_NOWHERE = "It stays in this session: a public server keeps no studies."


def folder() -> Path | None:
    """Where studies are kept; None on a public server."""
    return mode.studies()


def saved() -> list[str]:
    """The names of the files there are."""
    place = folder()
    return [] if place is None else sorted(p.stem for p in place.glob("*.db"))


def path_of(name: str) -> Path:
    """The study's file; raises InputError for a name that no file should have, or for nobody's."""
    if not _NAME.fullmatch(name):
        raise InputError(
            "A study's name has at most 60 letters, digits, spaces, dots, + and -; it starts with "
            "a letter or digit."
        )
    place = folder()
    if place is None:
        raise InputError(f"There is no study named {name!r}: none is kept for this session.")
    return place / f"{name}.db"


def new_name(wanted: Wanted) -> str:
    """A name that says what the study is and that no file has yet."""
    names = [s.name.replace(":", "-") for s in wanted.sources[:2]] + list(wanted.algorithms[:2])
    base = " ".join(names) or "study"
    if len(wanted.sources) > 2 or len(wanted.algorithms) > 2:
        base += " and more"
    taken, number = set(saved()), 1
    while f"{base} {number}" in taken:
        number += 1
    return f"{base} {number}"


def keep_spec(path: Path, name: str, wanted: Wanted) -> None:
    """Write what the study asks for into its file; a file of another study is refused."""
    private_folder(path.parent)
    path.touch(mode=0o600)
    with ResultStore(path) as store:
        known = store.studies().get(name)
        if known is not None and known != wanted.as_json():
            raise InputError(
                f"A study named {name!r} asks for something else; give another name or open it."
            )
        store.save_study(name, wanted.as_json())
