"""Work in processes of its own: the same results, stops that are heard, and an end for the deaf."""

from __future__ import annotations

import gc
import gzip
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import Dataset, InputError, load_dataset, run
from engine.audit.cases import cases
from engine.data.schema import Schema
from engine.errors import MissingValues
from engine.registry import algorithm
from engine.release.checking import check
from engine.release.vault import Vault
from engine.serialise import result_dict
from engine.studies.cells import CellResult
from engine.studies.forecast import Question, plan
from engine.studies.price import price_steps
from engine.studies.repeat import Repetition, repeated
from engine.studies.scene import Frame, States, empty_scene, fill
from engine.studies.sweep import sweep
from engine.studies.tuning import Least, Tuned
from engine.teaching.pairwise import picture
from pages.host import apart, uploads
from pages.host.apart import Workers
from pages.host.person import Person
from pages.host.uploads import Reading, Upload
from pages.pairs import state as pairs
from pages.release.state import ReleaseJob
from tests.release.samples import asia_schema, own_asia

Cancelled = Callable[[], bool]
ROOT = Path(__file__).resolve().parents[2]


def never() -> bool:
    return False


def spills(*, cancelled: Cancelled) -> str:
    """As DuckDB does with persons that its memory does not hold, until it is ended."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "rows").write_bytes(b"mine")
        while not cancelled():
            time.sleep(0.01)
        time.sleep(60)
    return folder


def pid(*, cancelled: Cancelled) -> int:
    return os.getpid()


def waits(*, cancelled: Cancelled, told: Callable[[str], object]) -> str:
    told("here")
    while not cancelled():
        time.sleep(0.01)
    return "stopped"


def deaf(*, cancelled: Cancelled) -> None:
    time.sleep(60)


def dies(*, cancelled: Cancelled) -> None:
    os._exit(3)


def dies_of(*, data: Dataset, cancelled: Cancelled) -> None:
    os._exit(3)


def aborts(*, cancelled: Cancelled) -> None:
    """As Arrow does in some places where there is no memory left, and in others not."""
    os.abort()


def core(*, cancelled: Cancelled) -> tuple[int, int]:
    return resource.getrlimit(resource.RLIMIT_CORE)


def refuses(*, cancelled: Cancelled) -> None:
    raise InputError("No.")


def turned(
    fixed: np.ndarray, free: np.ndarray, file: Upload, *, cancelled: Cancelled
) -> tuple[np.ndarray, np.ndarray, str]:
    """Arrays that arrived, one changed in place, and what a file's bytes arrived as."""
    assert not fixed.flags.writeable
    free += 1
    return fixed, free, type(file.raw).__name__


def greedy(size: int, *, cancelled: Cancelled) -> int:
    return int(np.ones(size, np.uint8).sum())


class Huge:
    """An answer that there is memory for, and none to send it."""

    def __reduce__(self) -> str:
        raise MemoryError


def huge(*, cancelled: Cancelled) -> Huge:
    return Huge()


SEEN: list[str] = []


def seen_later(file: Upload, mark: Path, *, cancelled: Cancelled) -> None:
    """Look which files this process still has once this has been answered, and set the mark."""

    def look() -> None:
        SEEN.extend(found.name for found in gc.get_objects() if isinstance(found, Upload))
        SEEN.append("looked")
        mark.touch()

    threading.Timer(0.3, look).start()


def seen(*, cancelled: Cancelled) -> list[str]:
    return SEEN


@pytest.fixture(scope="module")
def workers() -> Iterator[Workers]:
    made = apart.begin(1)
    yield made
    apart._WORKERS = None
    for worker in made._idle:
        worker.end()


def searched(workers: Workers, data: object, seed: int | None) -> tuple[object, list[int]]:
    steps: list[int] = []
    result = apart.call(
        apart.searched,
        *("priv_pc", seed, {"epsilon": 1.0}),
        data=data,
        stopped=never,
        notes={"noted": lambda order, count: steps.append(count)},
    )
    return result, steps


def test_a_search_apart_is_the_search_here(workers: Workers) -> None:
    data = load_dataset("child", n=2000)
    assert apart.heavy(data)
    assert not apart.heavy(load_dataset("asia", n=2000))
    found, steps = searched(workers, data, 3)
    alone = run("priv_pc", data, epsilon=1.0, seed=3)
    there, here = (result_dict(r) | {"seconds": 0} for r in (found, alone))
    assert there == here
    assert steps == sorted(steps) != []
    before = workers._idle[0]
    assert before.pack(data) == (data.identity, None)  # it is there already
    again, _ = searched(workers, data, 3)
    assert result_dict(again) | {"seconds": 0} == here
    assert workers._idle == [before]


def test_own_data_are_kept_by_no_process(workers: Workers) -> None:
    own = replace(load_dataset("cancer", n=500), public=False)
    assert apart.heavy(own)
    found, _ = searched(workers, own, None)
    assert found.fingerprint == own.identity
    assert found.seed is None
    assert own.identity not in workers._idle[0].has


def test_a_stop_is_heard_and_the_process_goes_on(workers: Workers) -> None:
    before = workers.call(pid, stopped=never)
    said: list[str] = []
    assert workers.call(waits, stopped=lambda: bool(said), notes={"told": said.append}) == "stopped"
    assert said == ["here"]
    with pytest.raises(InputError, match=r"^No\.$"):
        workers.call(refuses, stopped=never)
    assert workers.call(pid, stopped=never) == before


@pytest.mark.parametrize(("function", "words"), [(deaf, "did not listen"), (dies, "to an end")])
def test_a_process_that_is_lost_is_one_sentence_and_replaced(
    workers: Workers,
    monkeypatch: pytest.MonkeyPatch,
    function: Callable[..., None],
    words: str,
) -> None:
    monkeypatch.setattr(apart, "PATIENCE", 0.3)
    before, lost = workers.call(pid, stopped=never), workers.killed
    start = time.monotonic()
    with pytest.raises(InputError, match=words):
        workers.call(function, stopped=lambda: function is deaf)
    assert time.monotonic() - start < 20
    assert workers.killed == lost + 1
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)
    assert workers.call(pid, stopped=never) != before


def test_an_idle_process_gives_its_memory_back(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = workers.call(pid, stopped=never)
    monkeypatch.setattr(apart, "IDLE", -1.0)
    workers._end_idle()
    assert workers._idle == []
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)


def test_plans_and_audits_travel(workers: Workers) -> None:
    notes: list[object] = []
    question = Question(("a", "b", "c"), (("0", "1"),) * 3, 500, 1.0)
    (found,) = apart.call(
        plan,
        *(question, (1.0,), ["priv_pc"]),
        draws=2,
        empty=2,
        stopped=never,
        notes={"on_progress": notes.append},
    )
    assert found.algorithm == "priv_pc"
    assert notes
    watched: list[object] = []
    (case,) = (s for s in cases() if s.key == "priv_pc/strict/one cell")
    line = apart.call(apart.audited, case.key, 20, stopped=never, notes={"watch": watched.append})
    assert line.key == case.key
    assert watched


def test_repetitions_and_their_price_travel(workers: Workers) -> None:
    data = load_dataset("cancer", n=2_000)
    params = {"epsilon": 1.0}
    here = list(repeated("priv_pc", data, params, range(4)))
    there: list[Repetition] = []
    notes = {"made": there.append}
    asked = apart.repetitions, "priv_pc", params, range(4)
    assert apart.call(*asked, data=data, stopped=never, notes=notes) is None
    assert [o.seed for o in there] == [0, 1, 2, 3]
    assert all((a.matrix == b.matrix).all() for a, b in zip(here, there, strict=True))
    built = algorithm("priv_pc").params.build(params)
    steps = apart.call(apart.priced, "priv_pc", built, data=data, stopped=never)
    assert steps == price_steps(data, "priv_pc", built)


def test_a_scene_that_is_filled_apart_is_the_scene_here(workers: Workers) -> None:
    made = [empty_scene(load_dataset("cancer", n=2_000), ["priv_pc"], [1.0], 2) for _ in range(2)]
    fill(made[0])

    def framed(frame: Frame, states: States) -> None:
        made[1].states[frame.algorithm][frame.at, frame.draw] = states

    steps = apart.call(apart.filled, made[1], stopped=never, notes={"framed": framed})
    assert (made[0].states["priv_pc"] == made[1].states["priv_pc"]).all()
    assert steps == made[0].steps


def test_a_search_for_settings_and_a_map_travel(workers: Workers) -> None:
    data = [load_dataset("cancer", n=1_000)]
    told: list[object] = []
    begun: list[float] = []
    ended: dict[float, Tuned] = {}
    options = {"names": ["threshold"], "runs": 20}
    notes = {
        "begun": lambda epsilon, *_: begun.append(epsilon),
        "ended": ended.__setitem__,
        "noted": lambda *said: told.append(said),
    }
    asked = (data, "priv_pc", 1.0, None, options)
    found = apart.call(apart.tuned, *asked, stopped=lambda: len(told) > 2, notes=notes)
    assert isinstance(found, Tuned)
    assert not begun
    assert told
    asked = (data, "priv_pc", 1.0, 0.2, options)
    least = apart.call(apart.tuned, *asked, stopped=lambda: len(ended) > 1, notes=notes)
    assert isinstance(least, Least)
    assert begun[:2] == list(ended)[:2]
    cells: list[CellResult] = []
    grid = {"epsilon": 1.0, "guarantee": "strict", "threshold": [0.05, 0.1]}
    apart.call(
        apart.laid_out,
        *(data, "priv_pc", grid, 2),
        stopped=never,
        notes={"made": cells.append, "noted": lambda *said: None},
    )
    assert [c.fixed() for c in cells] == [c.fixed() for c in sweep(data, "priv_pc", grid, 2)]


def test_long_work_leaves_room_for_a_search(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With as many long calls as there may be, a search gets a process and another call waits."""
    monkeypatch.setattr(apart, "LONG", 1)
    monkeypatch.setattr(workers, "most", 2)
    stop, here = threading.Event(), threading.Semaphore(0)

    def long() -> None:
        notes = {"told": lambda _: here.release()}
        workers.call(waits, stopped=stop.is_set, notes=notes, long=True)

    threads = [threading.Thread(target=long) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        assert here.acquire(timeout=60)
        assert workers.call(pid, stopped=never) != os.getpid()
        assert not here.acquire(blocking=False)
    finally:
        stop.set()
        for thread in threads:
            thread.join(60)


def test_arrays_and_files_arrive_as_they_were(workers: Workers) -> None:
    fixed, free = np.arange(6).reshape(2, 3), np.zeros((3, 2), order="F")
    fixed.flags.writeable = False
    file = Upload("a.csv", b"a,b\n" * 50_000)
    there, changed, kind = workers.call(turned, fixed, free, file, stopped=never)
    assert (there == fixed).all()
    assert (changed == 1).all()
    assert changed.flags.f_contiguous
    changed += 1  # whoever got it may write there, too
    assert not free.any()
    assert kind == "bytes"


# A person's files -------------------------------------------------------------------------

ROWS = b"sex,smokes\n" + b"f,yes\nm,no\nf,no\nm,yes\n" * 5
SCHEMA = b"name,levels\nsex,f|m|x\nsmokes,no|yes\n"


def readings() -> list[Reading]:
    """A table by itself, by a codebook, and by a codebook that was read before."""
    options = {"max_levels": 5}
    by_book = Reading(Upload("t.csv", ROWS), None, Upload("book.csv", SCHEMA), {"name": "t"})
    schema = uploads.table(by_book)[1]
    truth = Upload("edges.csv", b"sex,smokes\n")
    return [
        Reading(Upload("t.csv", ROWS), truth, None, options),
        by_book,
        replace(by_book, schema=schema, truth=truth),
    ]


def test_a_table_that_is_read_apart_is_the_table_here(workers: Workers) -> None:
    for asked in readings():
        found, schema = workers.call(uploads.table, asked, stopped=never)
        alone, own = uploads.table(asked)
        assert found.fingerprint == alone.fingerprint
        assert (found.name, found.notes, found.public) == (alone.name, alone.notes, False)
        assert found.schema == alone.schema
        assert schema == own
        assert not found.codes.flags.writeable
    assert isinstance(schema, Schema)
    columns = workers.call(uploads.columns, Upload("t.csv", ROWS), stopped=never)
    assert columns == uploads.columns(Upload("t.csv", ROWS))


def test_nothing_of_a_file_stays_in_a_process_that_waits(workers: Workers, tmp_path: Path) -> None:
    mark = tmp_path / "looked"
    workers.call(seen_later, Upload("t.csv", ROWS), mark, stopped=never)
    until = time.monotonic() + 30  # a call would take the place of the one before
    while not mark.exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert workers.call(seen, stopped=never) == ["looked"]


@pytest.mark.parametrize(
    ("raw", "schema"),
    [(b"a\n1\n2\n", None), (b"a,b\n1,2\n1\n", None), (b"\0\1", None), (ROWS, b"name\nage\n")],
)
def test_a_refusal_is_the_same_sentence_apart(
    workers: Workers, raw: bytes, schema: bytes | None
) -> None:
    book = None if schema is None else Upload("book.csv", schema)
    asked = Reading(Upload("mine.csv", raw), None, book)
    said = []
    for read in (uploads.table, lambda one: workers.call(uploads.table, one, stopped=never)):
        with pytest.raises(InputError) as refused:
            read(asked)
        said.append((type(refused.value), str(refused.value)))
    assert said[0] == said[1]


def test_missing_values_are_told_from_one_process_to_another(workers: Workers) -> None:
    gaps = Reading(Upload("mine.csv", b"a,b\n1,2\n,3\n2,2\n"))
    with pytest.raises(MissingValues) as here:
        uploads.table(gaps)
    with pytest.raises(MissingValues) as there:
        workers.call(uploads.table, gaps, stopped=never)
    assert (there.value.where, str(there.value)) == (here.value.where, str(here.value))
    assert "a" in there.value.where


def test_what_is_large_or_packed_is_read_apart() -> None:
    small = Upload("t.csv", ROWS)
    assert not Reading(small, small, small).large
    packed = Upload("t.csv", gzip.compress(ROWS))  # of which nobody knows how large it is
    assert Reading(packed).large
    assert Reading(small, packed).large
    half = Upload("t.csv", b"x" * (uploads.LARGE // 2 + 1))
    assert not Reading(half).large
    assert Reading(half, None, half).large


def test_a_reading_takes_a_share_of_the_memory(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of 100 kB that unpacks to 100 MB of rows is one sentence, not the machine's end."""
    lost = workers.killed
    monkeypatch.setattr(uploads.bounds, "memory", lambda: 400_000_000)
    assert uploads.beside(greedy, 20_000_000, stopped=never) == 20_000_000
    packed = Upload("bomb.csv", gzip.compress(b"a,b\n" + b"1,2\n3,4\n" * 12_000_000, 1))
    assert len(packed.raw) < 1_000_000
    for asked in ((uploads.table, Reading(packed)), (huge,), (aborts,)):
        with pytest.raises(InputError) as refused:
            uploads.beside(*asked, stopped=never)
        assert str(refused.value) == uploads.TOO_MUCH
    with pytest.raises(apart.Lost, match="came to an end"):  # of which nobody knows why
        uploads.beside(dies, stopped=never)
    own = own_asia(100)
    with pytest.raises(apart.Lost):
        apart.call(dies_of, data=own, stopped=never)
    assert workers.killed == lost  # the metrics tell how nobody's own work ended


def test_what_is_ended_leaves_no_file_behind(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reading that is stopped clears up nothing itself, and may have spilled rows."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    found, until = set[str](), time.monotonic() + 30

    def stopped() -> bool:
        found.update(path.name for path in tmp_path.rglob("*"))
        return "rows" in found or time.monotonic() > until

    with pytest.raises(apart.Lost, match=r"^Stopped: "):
        uploads.beside(spills, stopped=stopped)
    assert "rows" in found
    assert list(tmp_path.iterdir()) == []


CORES = """
import resource, runpy
most = resource.getrlimit(resource.RLIMIT_CORE)[1]
resource.setrlimit(resource.RLIMIT_CORE, (most, most))
runpy.run_path("scripts/serve.py")["host"]()
print(resource.getrlimit(resource.RLIMIT_CORE))
"""


def test_a_small_table_is_read_where_there_is_hardly_any_memory(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a share of 1 MB nothing is read: Arrow waits for threads that never begin."""
    monkeypatch.setattr(uploads.bounds, "memory", lambda: 4_000_000)
    until = time.monotonic() + 20
    found, _ = uploads.beside(
        uploads.table, Reading(Upload("t.csv", ROWS)), stopped=lambda: time.monotonic() > until
    )
    assert found.n == 20


def test_what_dies_leaves_no_memory_on_the_disk(workers: Workers) -> None:
    """A core file of the server, or of a process of it, would hold a person’s rows."""
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    try:
        assert uploads.beside(core, stopped=never) == (0, 0)
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)
    words = [sys.executable, "-c", CORES]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, timeout=120)
    assert done.stdout == "(0, 0)\n", done.stderr


# Releases and pairs -----------------------------------------------------------------------


def released(folder: Path, monkeypatch: pytest.MonkeyPatch, lost: int) -> tuple[Any, list[int]]:
    """A release of epsilon 1 of 3 whose process is lost in its so-many-th piece of work.

    And how many charges there were on the disk before each piece.
    """
    payer, charges = Person(folder), []
    payer.budgets().new("ward", 3, 1e-5)
    real = apart.beside

    def beside(function: Any, *args: Any, cancelled: Cancelled, **options: Any) -> Any:
        charges.append(len(payer.budgets().show("ward").charges))
        if len(charges) == lost:
            function, args, options = dies, (), {}
        return real(function, *args, cancelled=cancelled, **options)

    monkeypatch.setattr(apart, "beside", beside)
    job = ReleaseJob(own_asia(400), asia_schema(400), {"epsilon": 1.0}, "ward", payer)
    job.start()
    assert job.wait(120)
    return job, charges


def test_a_release_apart_is_charged_once_and_before_any_noise(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, charges = released(tmp_path, monkeypatch, 0)
    assert job.problem == ""
    assert apart.call(apart.rederived, job.released, stopped=never) == check(job.released)
    assert charges == [0, 1]  # tried out on empty rows, then charged, then made
    book = Person(tmp_path).budgets()
    (charge,) = book.show("ward").charges
    assert Vault(book).ids(book.show("ward")) == {charge.number: job.kept}


def test_a_batch_of_pairs_is_the_same_apart(workers: Workers) -> None:
    setting = pairs.setting_of({"ridge": 0.001, "width": 0.3, "score_width": 0.2})
    some, made = pairs.batch_pairs()[:2], {}
    notes = {"made": lambda name, found: made.update({name: found.ways})}
    apart.call(apart.pictured, some, setting, stopped=never, notes=notes)
    assert made == {pair.name: picture(pair, setting, 0).ways for pair in some}


def test_a_process_that_reads_ends_with_it_and_with_a_stop(workers: Workers) -> None:
    lost, before = workers.killed, workers.call(pid, stopped=never)
    assert uploads.beside(pid, stopped=never) == before
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)
    assert before not in [worker._process.pid for worker in workers._idle]
    assert workers.killed == lost  # it ended as it should
    start = time.monotonic()
    with pytest.raises(apart.Lost, match=r"^Stopped: "):
        uploads.beside(deaf, stopped=lambda: True)
    assert time.monotonic() - start < 10  # no patience: there is nothing to keep


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        (1, "Nothing was charged."),
        (
            2,
            "The release was not made, and ε = 1, δ = 1e-06 stay charged to budget 'ward', since "
            "noise may have been drawn.",
        ),
    ],
)
def test_a_release_whose_process_is_lost_says_whether_it_is_paid_for(
    workers: Workers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: int, said: str
) -> None:
    job, charges = released(tmp_path, monkeypatch, lost)
    assert job.problem == f"The process that did the work came to an end. {said}"
    kept = "The charge to “ward” stays, since noise may have been drawn."
    broken = said if lost == 1 else kept
    assert job.broken(KeyError()) == f"The work broke off: KeyError. {broken}"
    assert job.released is job.kept is None
    assert charges == [0, 1][:lost]
    book = Person(tmp_path).budgets()
    assert len(book.show("ward").charges) == lost - 1 == job.charged
    assert Vault(book).ids(book.show("ward")) == {}
    Vault(book).check()  # the next release is made
