"""The store: round trip, sharing, and files that are not ours."""

from __future__ import annotations

import math
import multiprocessing
import sqlite3
from contextlib import closing
from dataclasses import replace
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from engine import InputError, load_dataset, sweep
from engine.studies import CellResult, ResultStore, study_of

GRID = {"epsilon": [0.5, 5.0], "delta": 1e-3, "guarantee": "published"}


@pytest.fixture(scope="module")
def results() -> list[CellResult]:
    return list(sweep(load_dataset("cancer", n=2000), ["priv_pc", "pc", "curate_pc"], GRID, 3))


def test_round_trip_is_exact(tmp_path: Path, results: list[CellResult]) -> None:
    with ResultStore(tmp_path / "s.db") as store:
        store.put(results)
        assert [store.get(r.cell) for r in results] == results
        assert sorted(r.fixed() for r in store.results()) == sorted(r.fixed() for r in results)
    infinite = next(r for r in results if r.algorithm == "pc")
    assert infinite.spent_epsilon == math.inf
    assert infinite.claimed_epsilon is None


def _of_version_1(path: Path) -> None:
    """Take away what files of version 1 do not have."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE cells DROP COLUMN metrics_tested")
        connection.execute("ALTER TABLE cells DROP COLUMN untested")
        connection.execute("PRAGMA user_version = 1")
        connection.commit()


def test_a_file_of_version_1_is_read_and_goes_on(tmp_path: Path, results: list[CellResult]) -> None:
    """A complete run left nothing untested; of one that ended early it is not known."""
    path, early = tmp_path / "s.db", [r for r in results if r.status != "complete"]
    assert 0 < len(early) < len(results)
    with ResultStore(path) as store:
        store.put(results[:-1])
    _of_version_1(path)
    with ResultStore(path) as store:
        store.put(results[-1:])
        kept = [store.get(r.cell) for r in results]
        assert not store.damaged
    unknown = [replace(r, metrics_tested=None, untested=None) for r in results[:-1]]
    expected = [u if r.status != "complete" else r for r, u in zip(results, unknown, strict=False)]
    assert kept == [*expected, results[-1]]
    with ResultStore(path) as store:  # once more, now of this version
        assert [store.get(r.cell) for r in results] == kept


def test_scores_that_were_never_written_are_damage(
    tmp_path: Path, results: list[CellResult]
) -> None:
    for k, (column, value) in enumerate(
        [("metrics_tested", '{"shd": 1}'), ("metrics_tested", "7"), ("untested", "[[1, 2]]")]
    ):
        path = tmp_path / f"{k}.db"
        with ResultStore(path) as store:
            store.put(results[:1])
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(f"UPDATE cells SET {column} = ?", (value,))
            connection.commit()
        with ResultStore(path) as store, pytest.raises(InputError, match="damaged row"):
            store.get(results[0].cell)


def test_a_cell_is_kept_once_and_the_first_stays(tmp_path: Path, results: list[CellResult]) -> None:
    with ResultStore(tmp_path / "s.db") as store:
        store.put(results[:1])
        store.put([replace(results[0], seconds=99.0)])
        assert len(store) == 1
        kept = store.get(results[0].cell)
        assert kept is not None
        assert kept.seconds == results[0].seconds
        assert results[0].cpu > 0
        assert math.isnan(kept.cpu)  # of use to a study that goes on alone


def test_another_version_of_the_engine_is_another_cell(
    tmp_path: Path, results: list[CellResult]
) -> None:
    with ResultStore(tmp_path / "s.db") as store:
        store.put([replace(results[0], version="0.0.1+old")])
        assert store.get(results[0].cell) is None
        assert len(list(store.results(version="0.0.1+old"))) == 1


def test_a_study_is_remembered_by_name(tmp_path: Path) -> None:
    with ResultStore(tmp_path / "s.db") as store:
        store.save_study("mine", {"datasets": ["asia"], "seeds": 5})
    with ResultStore(tmp_path / "s.db") as store:
        assert store.studies() == {"mine": {"datasets": ["asia"], "seeds": 5}}


def _text(path: Path) -> None:
    path.write_text("to,from\na,b\n")


def _foreign(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE cells (fingerprint TEXT)")
    connection.close()


def _torn(path: Path) -> None:
    _whole(path)
    path.write_bytes(path.read_bytes()[:-5000])


def _garbled(path: Path) -> None:
    _whole(path)
    content = bytearray(path.read_bytes())
    content[4096:8192] = b"\x5a" * 4096
    path.write_bytes(bytes(content))


def _newer(path: Path) -> None:
    _whole(path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def _whole(path: Path) -> None:
    with ResultStore(path) as store:
        cell = study_of("cancer", "pc", seeds=1).cells[0]
        for k in range(40):
            store.put([_result(replace(cell, seed=k))])


def _result(cell: object) -> CellResult:
    fields = {name: getattr(cell, name) for name in ("fingerprint", "dataset", "algorithm")}
    more = {name: getattr(cell, name) for name in ("params", "seed", "version")}
    empty = dict.fromkeys(("skeleton_f1", "directed_f1", "precision", "recall", "shd"))
    claims = dict.fromkeys(("claimed_epsilon", "claimed_delta"))
    return CellResult(
        **fields,
        **more,
        **empty,
        **claims,
        status="complete",
        seconds=0.1,
        ci_tests=3,
        ci_tests_by_order=(3,),
        spent_epsilon=math.inf,
        spent_delta=0.0,
        cpdag=(("a", "b"),) * 30,
        metrics_tested=None,
        untested=(),
    )


@pytest.mark.parametrize("make", [_text, _foreign, _torn, _garbled, _newer])
def test_a_file_that_cannot_be_used_is_named_and_left_as_it_was(make, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "file.db"
    make(path)
    before = path.read_bytes()
    with pytest.raises(InputError) as caught:
        ResultStore(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["file.db"]


def test_places_that_cannot_hold_a_store(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing" / "s.db"):
        with pytest.raises(InputError):
            ResultStore(path)


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    path.touch()
    with ResultStore(path) as store:
        assert len(store) == 0


def _write(path: Path, first: int, count: int, ready: Barrier) -> None:
    ready.wait(60)
    cell = study_of("cancer", "pc", seeds=1).cells[0]
    with ResultStore(path) as store:
        for k in range(first, first + count):
            store.put([_result(replace(cell, seed=k))])


def test_two_processes_writing_one_file_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(2)
    # This process and another overlap in half of their cells, and both create the file.
    other = context.Process(target=_write, args=(path, 100, 200, ready))
    other.start()
    _write(path, 0, 200, ready)
    other.join(60)
    assert other.exitcode == 0
    with ResultStore(path) as store:
        assert sorted(r.seed for r in store.results()) == list(range(300))


DAMAGE = {
    "bad JSON": ("cpdag", "[[1"),
    "a null": ("ci_tests_by_order", None),
    "another type": ("spent_epsilon", "much"),
    "a pair of three": ("cpdag", '[["a", "b", "c"]]'),
    "a number for a name": ("cpdag", '[["a", 1]]'),
    "no status": ("status", None),
}


@pytest.mark.parametrize("case", DAMAGE)
def test_a_damaged_row_is_named_left_and_computed_again_on_request(
    case: str, tmp_path: Path
) -> None:
    column, value = DAMAGE[case]
    path = tmp_path / "s.db"
    assert len(list(sweep("cancer", "pc", seeds=3, store=path))) == 3
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(f"UPDATE cells SET {column} = ? WHERE seed = 1", (value,))
    with ResultStore(path) as store:
        assert [r.seed for r in store.results()] == [0, 2]
        assert store.damaged == ["pc on cancer, seed 1"]
    with pytest.raises(InputError, match=r"damaged row \(pc on cancer, seed 1\).*--repair"):
        list(sweep("cancer", "pc", seeds=3, store=path))
    with closing(sqlite3.connect(path)) as raw:
        (left,) = raw.execute(f"SELECT {column} FROM cells WHERE seed = 1").fetchone()
    assert left == value
    assert len(list(sweep("cancer", "pc", seeds=3, store=path, repair=True))) == 3
    with ResultStore(path) as store:
        assert [r.seed for r in store.results()] == [0, 1, 2]
        assert not store.damaged


def test_a_damaged_study_is_named(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with ResultStore(path) as store:
        store.save_study("sound", {"a": 1})
        store.save_study("torn", {"a": 2})
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE studies SET spec = '[1' WHERE name = 'torn'")
    with ResultStore(path) as store:
        assert store.studies() == {"sound": {"a": 1}}
        assert store.damaged == ["the study 'torn'"]
