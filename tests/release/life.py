"""Random events in the life of budgets: processes stop and die anywhere, files are restored.

Hypothesis chooses the events. Each process is a thread that stops before each of its transactions,
so that one at a time goes on and the order is known. Three rules must hold at any time. A charge
has one release. A release holds only the tables of its budget. No budget releases more than its
total, unless the whole folder was restored, which loses the past.
"""

from __future__ import annotations

import resource
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, ClassVar
from unittest import mock

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from engine import Budget, Dataset, InputError
from engine.privacy import sources
from engine.release import budget as books
from engine.release.budget import Budgets
from engine.release.file import digest, loads
from engine.release.make import BudgetedRelease
from engine.release.places import save
from tests.release.samples import schema_of

MEMORY = Path("/dev/shm")  # where a file is on the disk at once
SCHEMA = schema_of(2, 2)
CODES = np.arange(40).reshape(20, 2) // np.array([1, 3]) % 2
TOTAL = {"ward": 1.0, "other": 0.8}
NAMES = ("ward", "other", "Ward.")  # the third looks like the first: their total is one


EPSILONS = st.sampled_from([0.4, 0.8])
STOPS = st.sampled_from([1, 2, 3, 4, 5, 6, 7, 99, 99])  # a release has seven
ROOMS = st.sampled_from([None, None, None, 0, 9000])  # bytes of a file, where the disk is full


class Killed(BaseException):
    """The process ends here."""


class Process(threading.Thread):
    """A release, which goes on from one stop to the next when it is told to."""

    def __init__(self, name: str, work: Callable[[], BudgetedRelease]):
        super().__init__(daemon=True)
        self.budget, self.work = name, work
        self.result: BudgetedRelease | None = None
        self.error: BaseException | None = None
        self.dies = ""  # "now", or "before" or "after" it writes a file
        self._go, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        self.start()
        self._stopped.acquire()

    def run(self) -> None:
        """Work to the end, with stops."""
        try:
            self.stop()
            self.result = self.work()
        except BaseException as error:  # looked at where it has ended
            self.error = error
        finally:
            self._stopped.release()

    def stop(self) -> None:
        """Wait until it is told to go on."""
        self._stopped.release()
        self._go.acquire()
        if self.dies == "now":
            raise Killed

    def go_on(self) -> bool:
        """Let it go on to its next stop; whether there is one."""
        self._go.release()
        self._stopped.acquire()
        return self.result is None and self.error is None


def current() -> Process | None:
    """The process that goes on, if one does."""
    found = threading.current_thread()
    return found if isinstance(found, Process) else None


@contextmanager
def full(room: int) -> Iterator[None]:
    """No file can be larger than this."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class Life(RuleBasedStateMachine):
    """One folder of budgets, the processes that work on it, and what was given out."""

    counts: ClassVar[Counter[str]] = Counter()  # what was done in all sequences

    def __init__(self) -> None:
        super().__init__()
        memory = MEMORY if MEMORY.is_dir() else None
        self.folder = Path(tempfile.mkdtemp(dir=memory))
        self.book = Budgets(self.folder / "b.db")
        self.processes: list[Process] = []
        self.files: list[bytes] = []
        self.folders: list[tuple[Path, dict[str, tuple[str, str, float]]]] = []
        self.given: dict[str, tuple[str, str, float]] = {}  # charge -> budget, digest, epsilon
        self.drawn_for: dict[tuple[int, ...], str] = {}
        self.patches = ExitStack()

    @initialize(locks=st.booleans(), seed=st.integers(0, 2**16))
    def begin(self, locks: bool, seed: int) -> None:
        """Without the locks, too: the file of budgets alone is enough."""
        transaction, sampler, rng = Budgets._transaction, sources._discrete_gaussian, Random(seed)

        @contextmanager
        def stopping(book: Budgets, **options: Any) -> Iterator[Any]:
            mine = current()
            if mine:
                mine.stop()
            with transaction(book, **options) as connection:
                yield connection

        def writing(text: str, path: Path) -> None:
            dies = getattr(current(), "dies", "")
            if dies == "before":
                raise Killed
            save(text, path)
            if dies == "after":
                raise Killed

        def drawing(whole: list[int], scale: float) -> list[int]:
            found, mine = sampler(whole, scale), current()
            if mine:
                self.drawn_for[tuple(found)] = mine.budget
            return found

        for place, name, instead in (
            (Budgets, "_transaction", stopping),
            (books, "save", writing),
            (books, "to_html", lambda release: "a page"),
            (books.secrets, "token_hex", lambda size: f"{rng.getrandbits(8 * size):0{2 * size}x}"),
            (sources, "_discrete_gaussian", drawing),
        ):
            self.patches.enter_context(mock.patch.object(place, name, instead))
        if not locks:
            open_ = mock.patch.object(Budgets, "working", return_value=nullcontext())
            self.patches.enter_context(open_)
        for name in TOTAL:
            self.declare(name)
        self.counts["sequences"] += 1

    # What a person does ---------------------------------------------------------------------------

    def declare(self, name: str) -> None:
        with suppress(InputError):
            self.book.new(name, TOTAL[owner(name)], 1e-4)

    @precondition(lambda self: len(self.processes) < 3)
    @rule(name=st.sampled_from(NAMES), epsilon=EPSILONS, resume=st.booleans(), stops=STOPS)
    def begins(self, name: str, epsilon: float, resume: bool, stops: int) -> None:
        """A release, or its end, up to one of its stops."""
        asked = {"resume": True} if resume else {"epsilon": epsilon, "delta": 1e-6}
        data = Dataset.from_codes(CODES, SCHEMA.names, SCHEMA.levels)
        own = replace(data, schema=SCHEMA)
        path = self.book.path
        work = lambda: Budget(name, path=path).release(own, **asked)  # noqa: E731
        self.processes.append(Process(name, work))
        self.counts["processes that resume" if resume else "processes that release"] += 1
        self.goes_on(len(self.processes) - 1, stops, None)

    @precondition(lambda self: len(self.processes) < 3)
    @rule(name=st.sampled_from(NAMES), epsilon=EPSILONS, resume=st.booleans())
    def releases(self, name: str, epsilon: float, resume: bool) -> None:
        """From the beginning to the end."""
        self.begins(name, epsilon, resume, 99)

    @precondition(lambda self: not self.processes)
    @rule(name=st.sampled_from(NAMES), stops=STOPS, order=st.lists(st.integers(0, 2), min_size=9))
    def races(self, name: str, stops: int, order: list[int]) -> None:
        """Two resume the release that another has begun, and the three go on by turns."""
        for resume, far in ((False, stops), (True, 3), (True, 3)):
            self.begins(name, 0.4, resume, far)
        for which in order:
            if self.processes:
                self.goes_on(which, 1, None)

    @rule(name=st.sampled_from(NAMES))
    def recount(self, name: str) -> None:
        with suppress(InputError):
            self.book.recount(name)
            self.counts["recounts"] += 1

    # What becomes of a process --------------------------------------------------------------------

    @precondition(lambda self: self.processes)
    @rule(which=st.integers(0, 2), stops=STOPS, room=ROOMS)
    def goes_on(self, which: int, stops: int, room: int | None) -> None:
        """On to one of its next stops, or to its end; maybe the disk is full."""
        mine = self.processes[which % len(self.processes)]
        with nullcontext() if room is None else full(room):
            goes = all(mine.go_on() for _ in range(stops))
        if not goes:
            self.ended(mine)

    @precondition(lambda self: self.processes)
    @rule(which=st.integers(0, 2), when=st.sampled_from(["now", "before", "after"]))
    def is_killed(self, which: int, when: str) -> None:
        """At once, or where it writes the release's files, within a transaction."""
        mine = self.processes[which % len(self.processes)]
        mine.dies = when
        while mine.go_on():
            pass
        self.ended(mine)

    def ended(self, mine: Process) -> None:
        self.processes.remove(mine)
        if mine.result is None:
            assert isinstance(mine.error, (InputError, Killed)), mine.error
            self.counts["killed" if isinstance(mine.error, Killed) else "refused"] += 1
            assert "\n" not in str(mine.error)
            return
        found, kept = mine.result.release, str(mine.result.kept)
        assert found.name == mine.budget
        assert {self.drawn_for[one.steps] for one in found.releases} == {found.name}
        facts = found.name, digest(found), found.total.epsilon
        assert self.given.setdefault(kept.partition("-")[0], facts) == facts, "two releases"
        self.counts["releases given out"] += 1
        self.sums()

    # What becomes of the files --------------------------------------------------------------------

    @rule(which=st.integers(0, 5))
    def copies_or_puts_back_the_file(self, which: int) -> None:
        if which < len(self.files):
            self.book.path.write_bytes(self.files[which])
            self.counts["older files put back"] += 1
        elif self.book.path.exists():
            self.files.append(self.book.path.read_bytes())

    @precondition(lambda self: len(self.files) > 1)
    @rule(name=st.sampled_from(NAMES))
    def loses_the_file(self, name: str) -> None:
        """And somebody declares the budgets anew, one of them by this name."""
        self.book.path.unlink(missing_ok=True)
        for one in (name, *TOTAL):
            self.declare(one)
        self.counts["files deleted"] += 1

    @rule(which=st.integers(0, 3))
    def copies_or_puts_back_the_folder(self, which: int) -> None:
        """With an older folder the past is forgotten."""
        if which < len(self.folders):
            copy, given = self.folders[which]
            self.given = dict(given)
            shutil.rmtree(self.folder)
            shutil.copytree(copy, self.folder)
            self.counts["older folders put back"] += 1
        else:
            copy = Path(tempfile.mkdtemp(dir=self.folder.parent)) / "copy"
            shutil.copytree(self.folder, copy)
            self.folders.append((copy, dict(self.given)))

    # What must hold -------------------------------------------------------------------------------

    def sums(self) -> None:
        """What was given out of a budget, and what is kept of it, is at most its total."""
        kept = {
            path.stem.partition("-")[0]: (made.name, digest(made), made.total.epsilon)
            for path in self.book.folder.glob("*-*.json")
            for made in [loads(path.read_bytes())]
        }
        for found in (self.given, kept):
            for whose, total in TOTAL.items():
                spent = sum(e for name, _, e in found.values() if owner(name) == whose)
                assert spent <= total + 1e-9, f"{whose} gave out {spent} of {total}"

    def teardown(self) -> None:
        for mine in list(self.processes):
            mine.dies = "now"
            self.goes_on(self.processes.index(mine), 99, None)
        for name in NAMES:
            self.releases(name, 0.4, resume=True)
        self.patches.close()
        for place in (self.folder, *(copy.parent for copy, _ in self.folders)):
            shutil.rmtree(place)


def owner(name: str) -> str:
    """The budget whose total a name shares."""
    return name.lower().strip(".")
