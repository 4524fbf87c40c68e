"""The store: round trip, sharing, files from elsewhere, and files that are not ours."""

import json
import math
import multiprocessing
import sqlite3
from contextlib import closing
from dataclasses import replace
from operator import attrgetter

import pytest

from engine import InputError, load_dataset, read_table, sweep
from engine.__main__ import main
from engine.studies.store import ResultStore, read_study, study_file

BY_KEY = attrgetter("key")
GRID = {"epsilon": [0.5, 5.0], "delta": 1e-3, "guarantee": "published"}


@pytest.fixture(scope="module")
def results():
    return list(sweep(load_dataset("cancer", n=2000), ["priv_pc", "pc", "curate_pc"], GRID, 3))


def test_round_trip_is_exact(tmp_path, results):
    with ResultStore(tmp_path / "s.db") as store:
        store.put(results)
        assert [store.get(r) for r in results] == results
        assert sorted(r.fixed() for r in store.results()) == sorted(r.fixed() for r in results)
        assert len(store) == len(results)
    infinite = next(r for r in results if r.algorithm == "pc")
    assert infinite.proven.epsilon == math.inf
    assert infinite.claimed is None
    handed = read_study(study_file(results), "s.db")
    assert sorted(handed, key=BY_KEY) == sorted(results, key=BY_KEY)


def test_a_trial_is_kept_once_and_the_first_stays(tmp_path, results):
    with ResultStore(tmp_path / "s.db") as store:
        store.put(results[:1])
        store.put([replace(results[0], seconds=99.0)])
        kept = store.get(results[0])
        assert kept.seconds == results[0].seconds
        # It is found under another name of the same data, and not with another seed or version.
        other = store.get(replace(results[0], dataset="mine"))
        assert other.dataset == "mine"
        for change in ({"seed": 77}, {"version": "0"}, {"algorithm": "svt_pc"}):
            assert store.get(replace(results[0], **change)) is None


def test_a_trial_is_found_where_its_request_is_the_same_and_in_files_of_before(tmp_path, results):
    one = next(r for r in results if r.algorithm == "priv_pc")
    same = replace(one, params=json.dumps({**one.values, "blocks": 7}))  # strict runs have blocks
    loud = replace(one, params=json.dumps({**one.values, "epsilon": 2.0}))
    with ResultStore(tmp_path / "s.db") as store:
        store.put([one])
        assert store.get(same) == same
        assert store.get(loud) is None
        with store._connection as raw:
            raw.execute("UPDATE trials SET key = ?", [one.earlier_key])
        assert store.get(one) == one
        assert list(store.results()) == [one]


def _write(path, seed, barrier):
    barrier.wait()
    list(sweep(load_dataset("cancer", n=2000), "priv_pc", GRID, range(seed, seed + 10), store=path))


def test_two_processes_write_one_file(tmp_path):
    """They open a file that is not there at once, and half of what they compute is the same."""
    context, path = multiprocessing.get_context("fork"), tmp_path / "s.db"
    barrier = context.Barrier(2)
    writers = [context.Process(target=_write, args=(path, seed, barrier)) for seed in (0, 5)]
    for one in writers:
        one.start()
    for one in writers:
        one.join(120)
        assert one.exitcode == 0
    with ResultStore(path) as store:
        assert len(store) == 15 * 2


def _sql(*statements):
    def change(path):
        with closing(sqlite3.connect(path)) as raw, raw:
            for statement in statements:
                raw.execute(statement)

    return change


def _torn(path):
    content = bytearray(path.read_bytes())
    content[-5000:] = b"\xff" * 5000
    path.write_bytes(content)


def _row(**values):
    def change(path):
        with closing(sqlite3.connect(path)) as raw, raw:
            (text,) = raw.execute("SELECT row FROM trials").fetchone()
            raw.execute("UPDATE trials SET row = ?", (json.dumps({**json.loads(text), **values}),))

    return change


# What is wrong with a file, what the refusal says, and whether the user's own file is refused at
# once (True), when the row is read (False), or only a file from elsewhere (None).
HOSTILE = {
    "foreign": (lambda p: p.write_bytes(b"hello" * 99) and None, "not a file of study", True),
    "another database": (_sql("PRAGMA application_id = 7"), "not a file of study", True),
    "another version": (_sql("PRAGMA user_version = 3"), "another version", True),
    "torn pages": (_torn, "damaged|row", True),
    "a view": (_sql("CREATE VIEW v AS SELECT 1"), "more than study results", True),
    "a trigger": (
        _sql("CREATE TRIGGER t AFTER INSERT ON trials BEGIN SELECT 1; END"),
        "more than study results",
        True,
    ),
    "an index": (_sql("CREATE INDEX i ON trials (upper(row))"), "more than study results", True),
    "a column that computes": (
        _sql("ALTER TABLE trials ADD COLUMN c AS (upper(row))"),
        "more than study results",
        True,
    ),
    "no JSON": (_sql("UPDATE trials SET row = '[1'"), "damaged row", False),
    "deep JSON": (_sql(f"UPDATE trials SET row = '{'[' * 9999}'"), "damaged row", False),
    "another seed": (_row(seed=5), "damaged row", False),
    "a word for a number": (_row(seconds="many"), "damaged row", False),
    "a number for a word": (_row(status=3), "damaged row", False),
    "a name that is none": (_row(cpdag=[[1, 2]]), "damaged row", False),
    "a number too large": (_row(ci_tests_by_order=[10**400]), "damaged row", False),
    "scores that are none": (_row(metrics_tested={"f": 1}), "damaged row", False),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_is_refused_and_left_as_it_is(case, tmp_path):
    path = tmp_path / "s.db"
    change, says, at_once = HOSTILE[case]
    list(sweep("cancer", "pc", seeds=1, store=path))
    change(path)
    before = path.read_bytes()
    with pytest.raises(InputError, match=says) as caught:
        read_study(before, "handed.db")
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match=says):
        list(sweep("cancer", "pc", seeds=1, store=path))
    if at_once:
        assert path.read_bytes() == before


def test_what_no_version_could_have_asked_is_refused(results):
    one = results[0]
    strange = {
        "nosuch": replace(one, algorithm="nosuch"),
        "does not fit": replace(one, params='{"epsilon": -1}'),
    }
    for says, result in strange.items():
        with pytest.raises(InputError, match=says):
            read_study(study_file([result]), "handed.db")


def test_a_file_with_private_runs_is_refused(tmp_path):
    (tmp_path / "mine.csv").write_text("a,b\n" + "0,1\n1,0\n1,1\n" * 30)
    mine = list(sweep(read_table(tmp_path / "mine.csv"), "pc", seeds=1))
    with pytest.raises(InputError, match="private data"):
        read_study(study_file(mine), "handed.db")


@pytest.mark.parametrize("path", ["/nowhere/s.db", "/proc/s.db", ".", "a\0b"])
def test_a_path_that_cannot_be_used(path):
    with pytest.raises(InputError) as caught:
        ResultStore(path)
    assert "\n" not in str(caught.value)


def test_studies_are_merged_where_they_fit_together(tmp_path, results, capsys):
    sides = {"a": results[:5], "b": results[3:], "c": [replace(results[0], status="cancelled")]}
    for name, some in sides.items():
        (tmp_path / name).write_bytes(study_file(some))
    merge = ["merge", str(tmp_path / "a")]
    assert main([*merge, str(tmp_path / "b"), "--out", str(tmp_path / "both")]) == 0
    with ResultStore(tmp_path / "both") as store:
        assert sorted(store.results(), key=BY_KEY) == sorted(results, key=BY_KEY)
    assert main([*merge, str(tmp_path / "c"), "--out", str(tmp_path / "no")]) == 2
    assert "different results of the same run" in capsys.readouterr().err
    assert not (tmp_path / "no").exists()
