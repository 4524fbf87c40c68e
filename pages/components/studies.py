"""Studies behind the Sweep page: what is asked for, a worker that runs it, the files it keeps.

The worker uses nothing of Streamlit's, so that a study goes on while other pages are open. Studies
on bundled networks are kept in files, one a study; those on a person's own data stay in memory.
"""

from __future__ import annotations

import re
import secrets
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from engine import Dataset, InputError
from engine.params import Spec
from engine.registry import ALGORITHMS, algorithm
from engine.studies import (
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
from pages.components.state import Source, bundled, data_for, fits

FOLDER = "studies"  # in the directory the app was started in
MOST_CELLS = 50_000
_NAME = re.compile(r"[\w][\w .+-]{0,59}", re.ASCII)
_KEPT_JOBS = 8  # finished studies that stay in memory
_PROCESS_SECONDS = 30.0  # from here on a second process pays


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What a study asks for. ``params`` are set for every algorithm that declares them."""

    sources: tuple[Source, ...]
    algorithms: tuple[str, ...]
    epsilons: tuple[float, ...]
    seeds: int
    params: tuple[tuple[str, Any], ...] = ()

    @property
    def own(self) -> bool:
        """Whether a person's own data are among the datasets."""
        return any(s.own for s in self.sources)

    def parameters(self) -> dict[str, Any]:
        """The grid, without what none of the algorithms declares."""
        grid: dict[str, Any] = {"epsilon": list(self.epsilons), **dict(self.params)}
        known = declared(self.algorithms)
        return {name: value for name, value in grid.items() if name in known}

    def as_json(self) -> dict[str, Any]:
        """What a file keeps of it."""
        return {
            "sources": [[s.name, s.n, s.seed] for s in self.sources],
            "algorithms": list(self.algorithms),
            "epsilons": list(self.epsilons),
            "seeds": self.seeds,
            "params": dict(self.params),
        }

    @classmethod
    def from_json(cls, spec: Mapping[str, Any]) -> Wanted:
        """Read it back; raises InputError for anything else."""
        try:
            return cls(
                sources=tuple(Source(str(a), int(n), int(s)) for a, n, s in spec["sources"]),
                algorithms=tuple(map(str, spec["algorithms"])),
                epsilons=tuple(map(float, spec["epsilons"])),
                seeds=int(spec["seeds"]),
                params=tuple(dict(spec["params"]).items()),
            )
        except (KeyError, TypeError, ValueError):
            raise InputError("The file does not say what the study asked for.") from None


def declared(keys: Iterable[str]) -> dict[str, Spec]:
    """Every parameter of the algorithms by name, the first declaration of each."""
    specs: dict[str, Spec] = {}
    for key in keys:
        for spec in algorithm(key).params.specs():
            specs.setdefault(spec.name, spec)
    return specs


def check(wanted: Wanted) -> None:
    """Raise InputError in one sentence for what the engine would say in general terms only."""
    if not wanted.sources:
        raise InputError("Choose at least one dataset.")
    if not wanted.algorithms:
        raise InputError("Choose at least one algorithm.")
    if wanted.seeds < 1:
        raise InputError("Choose at least one seed.")
    guarantee = dict(wanted.params).get("guarantee")
    for key in wanted.algorithms:
        for spec in algorithm(key).params.specs():
            if spec.name == "guarantee" and guarantee and not fits(spec, guarantee):
                raise InputError(
                    f"{ALGORITHMS[key].title} has no {guarantee} form: choose the other guarantee "
                    "or leave it out."
                )
    per_dataset = wanted.seeds * len(wanted.algorithms) * max(1, len(wanted.epsilons))
    if len(wanted.sources) * per_dataset > MOST_CELLS:
        raise InputError(f"A study here has at most {MOST_CELLS:,} runs; ask for fewer.")


def epsilon_range(low: float, high: float, count: int) -> tuple[float, ...]:
    """``count`` values from low to high, equally far apart on a log axis, in three digits."""
    if not 0 < low <= high:
        raise InputError("The range of ε must start above 0 and end no lower than it starts.")
    if count < 1:
        raise InputError("Ask for at least one ε.")
    points = np.geomspace(low, high, count) if count > 1 else [low]
    return tuple(dict.fromkeys(float(f"{p:.3g}") for p in points))


def epsilon_list(typed: str) -> tuple[float, ...]:
    """Numbers with commas between them."""
    try:
        values = tuple(sorted({float(part) for part in typed.replace(";", ",").split(",")}))
    except ValueError:
        raise InputError(f"Write ε as numbers with commas; {typed!r} is not.") from None
    return values


# Files ----------------------------------------------------------------------------------


def folder() -> Path:
    """Where studies are kept."""
    return Path.cwd() / FOLDER


def saved() -> list[str]:
    """The names of the files there are."""
    return sorted(p.stem for p in folder().glob("*.db"))


def path_of(name: str) -> Path:
    """The study's file; raises InputError for a name that no file should have."""
    if not _NAME.fullmatch(name):
        raise InputError(
            "A study's name has at most 60 letters, digits, spaces, dots, + and -; it starts with "
            "a letter or digit."
        )
    return folder() / f"{name}.db"


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


# Jobs -----------------------------------------------------------------------------------


@dataclass(eq=False)
class Job:
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
    costs: list[tuple[float, float]] | None = None  # what own data have cost in this session
    own_print: str = ""  # whose cells add to it
    _seeds: tuple[int, ...] = ()
    _memory: ResultStore | None = None
    _cancel: threading.Event = field(default_factory=threading.Event)

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
        if self.wanted.own and not self._seeds:
            # A seed that can be guessed takes the noise away: own data get secret ones.
            self._seeds = tuple(secrets.randbelow(2**62) for _ in range(self.wanted.seeds))
            self._memory = ResultStore(":memory:")
        seeds = self._seeds or self.wanted.seeds
        study = plan(datasets, self.wanted.algorithms, self.wanted.parameters(), seeds)
        self.total = len(study.cells)
        if self.path is not None:
            keep_spec(self.path, self.name, self.wanted)
        self._cancel.clear()
        self.results, self.error, self.note, self.progress = [], "", "", None
        self.state = "running"
        worker = threading.Thread(
            target=self._work, args=(list(datasets), seeds, executor), daemon=True, name="study"
        )
        worker.start()

    def _work(self, datasets: list[Dataset], seeds: Any, executor: str) -> None:
        assert self.wanted is not None
        state = "failed"
        try:
            for result in sweep(
                datasets,
                self.wanted.algorithms,
                self.wanted.parameters(),
                seeds,
                store=self.path if self.path is not None else self._memory,
                executor=executor,
                cancelled=self._cancel.is_set,
                on_progress=self._noted,
            ):
                self.results.append(result)
                self._charge(result)
            state = "finished" if self.done >= self.total else "cancelled"
        except InputError as error:
            self.error = str(error)
        except Exception as error:  # the thread has no one else to tell
            self.error = f"The study stopped: {type(error).__name__}. What is finished is kept."
        self.state = state

    def _noted(self, progress: Progress) -> None:
        self.progress = progress

    def _charge(self, result: CellResult) -> None:
        """Add a run on own data to what they have cost, once."""
        fresh = self.progress is not None and self.progress.done > self.progress.reused
        if self.costs is not None and fresh and result.fingerprint == self.own_print:
            self.costs.append((result.spent_epsilon, result.spent_delta))


def keep_spec(path: Path, name: str, wanted: Wanted) -> None:
    """Write what the study asks for into its file; a file of another study is refused."""
    path.parent.mkdir(exist_ok=True)
    with ResultStore(path) as store:
        known = store.studies().get(name)
        if known is not None and known != wanted.as_json():
            raise InputError(
                f"A study named {name!r} asks for something else; give another name or open it."
            )
        store.save_study(name, wanted.as_json())


def opened(name: str) -> Job:
    """A study from its file, or the worker that is on it; raises InputError in one sentence."""
    path = path_of(name)
    job = jobs().get(str(path))
    if job is not None and job.running:
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
    job = Job(name, wanted, path, len(study.cells), kept)
    if current == job.total:
        job.state = "finished"
    elif current < len(kept):
        job.note = "Some runs are of another version of this program; Resume runs them anew."
    return job


def _foreign(name: str, path: Path, results: list[CellResult]) -> Job:
    """A file that the command line wrote: its newest version's results."""
    versions = {r.version for r in results}
    newest = engine_version() if engine_version() in versions else max(versions, default="")
    kept = [r for r in results if r.version == newest]
    note = "Made outside this page: it can be read here, and continued on the command line."
    return Job(name, None, path, len(kept), kept, "finished", note=note)


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
def jobs() -> dict[str, Job]:
    """File -> the study that a worker of this server is on or was on last."""
    return {}


def launch(job: Job, *, seconds: float = 0.0) -> None:
    """Start or resume a job and remember it; raises InputError in one sentence."""
    assert job.wanted is not None
    other = jobs().get(str(job.path)) if job.path is not None else None
    if other is not None and other is not job and other.running:
        raise InputError("This study is running already; open it to watch.")
    datasets = datasets_of(job.wanted)
    if job.wanted.own:
        own = next(d for d, s in zip(datasets, job.wanted.sources, strict=True) if s.own)
        costs = st.session_state.setdefault("own_costs", {})
        job.costs, job.own_print = costs.setdefault(own.fingerprint, []), own.fingerprint
    job.start(datasets, executor="processes" if seconds > _PROCESS_SECONDS else "serial")
    if job.path is not None:
        jobs()[str(job.path)] = job
        idle = [key for key, j in jobs().items() if not j.running and j is not job]
        for key in idle[: max(0, len(idle) - _KEPT_JOBS)]:
            jobs().pop(key, None)


def estimated(wanted: Wanted) -> Estimate:
    """Runs and seconds from a short probe, remembered for this session."""
    known = st.session_state.setdefault("sweep_estimates", {})
    if wanted not in known:
        known[wanted] = estimate(
            datasets_of(wanted),
            wanted.algorithms,
            wanted.parameters(),
            wanted.seeds,
            patience=0.8,
        )
    return known[wanted]


EXAMPLE = Wanted(
    sources=(Source(),),
    algorithms=("pc", "priv_pc", "svt_pc", "em_pc"),
    epsilons=(0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
    seeds=5,
    params=(("guarantee", "strict"),),
)


@st.cache_resource(show_spinner=False)
def _example_results() -> list[CellResult]:
    source = EXAMPLE.sources[0]
    data = bundled(source.name, source.n, source.seed)
    return list(sweep(data, EXAMPLE.algorithms, EXAMPLE.parameters(), EXAMPLE.seeds))


def example() -> Job:
    """A small finished study, so that the page is never empty."""
    results = list(_example_results())
    return Job("Example", EXAMPLE, None, len(results), results, "finished")
