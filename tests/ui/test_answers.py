"""Answers on public data outlive a session and its server; those on own data are on no disk."""

import pickle
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from pages.shell import answers, runs, task
from pages.study import work
from tests.ui.steps import address, own_table, press, told
from tests.ui.test_data import SURVEY


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty place for answers."""
    path = tmp_path / "private" / "answers"
    monkeypatch.setenv(answers.VARIABLE, str(path))
    task._shared.clear()
    return path


def keep(key, answer):
    answers.put(key, answers.packed(answer))


def test_the_least_recently_used_makes_room(folder, monkeypatch):
    one = len(zlib.compress(pickle.dumps(b"a" * 50), 1))
    monkeypatch.setattr(answers, "MOST", 3 * one)
    for k in range(3):
        keep(k, b"a" * 50)
    assert answers.get(0) == b"a" * 50  # used now
    keep(3, b"b" * 50)
    assert [answers.has(k) for k in range(4)] == [True, False, True, True]
    monkeypatch.setattr(answers, "LARGEST", one)
    keep(4, range(10_000).__reduce__() * 50)
    assert not answers.has(4)
    assert (folder.stat().st_mode & 0o777) == 0o700


def test_other_code_finds_nothing_of_before(folder, monkeypatch):
    keep("key", 1)
    assert answers.get("key") == 1
    monkeypatch.setattr(answers, "code", lambda: "another version")
    assert (answers.get("key"), answers.has("key")) == (None, False)


@pytest.mark.parametrize("damage", [b"no answer at all", b"", b"x\x9c"])
def test_a_damaged_file_is_no_answer_and_no_error(folder, damage):
    keep("key", list(range(3_000)))
    [file] = folder.iterdir()
    file.write_bytes(damage or file.read_bytes()[:50])
    assert answers.get("key") is None
    assert not answers.has("key")
    keep("key", 2)
    assert answers.get("key") == 2


def test_a_folder_that_others_read_is_not_used(folder):
    folder.mkdir(mode=0o755, parents=True)
    keep("key", 1)
    assert answers.get("key") is None
    assert not [*folder.iterdir()]


def test_an_answer_is_packed_while_nobody_else_has_it(folder, monkeypatch):
    """Who reads a result computes more into it, also while it is pickled."""
    done = []
    monkeypatch.setattr(answers, "packed", lambda _: done.append(one.done) or b"")
    monkeypatch.setattr(task, "AT_ONCE", 0.0)
    go = threading.Event()
    one = task.shared("packed", "a task", lambda monitor: go.wait(10), keep=True)
    go.set()
    assert one.wait(10)
    assert done == [False]


def test_who_reads_while_others_write_finds_a_whole_answer(folder):
    answer = list(range(20_000))
    keep("key", answer)
    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(keep, "key", answer) for _ in range(60)]
        while not all(one.done() for one in writers):
            assert answers.get("key") == answer
        assert not any(one.exception() for one in writers)


def test_a_study_opens_at_once_the_second_time(open_app, folder, monkeypatch):
    """After a reload, in another session, on another server, and for another target."""
    monkeypatch.setattr(work, "EPSILONS", (0.1, 10.0))
    query = {"data": "cancer", "n": "1000", "algorithm": "marginal_pc", "study.seeds": "5"}
    app = press(open_app("choose-epsilon", **query), "study-find")
    sentence = told(app, "header")
    assert "reached" in sentence
    written()
    task._shared.clear()
    monkeypatch.setattr(work, "sweep", None)  # nothing is run again
    again = open_app("choose-epsilon", **address(app))
    assert told(again, "header") == sentence
    again.slider(key="study-target").set_value(0.3).run()
    assert "Skeleton F1 0.3" in told(again, "header")


def test_a_reload_in_the_middle_of_a_study_goes_on_with_it(open_app, monkeypatch):
    go, sweep = threading.Event(), work.sweep
    monkeypatch.setattr(work, "EPSILONS", (0.1,))
    monkeypatch.setattr(work, "sweep", lambda *a, **k: go.wait(60) and sweep(*a, **k))
    monkeypatch.setattr(task, "SHORT", 0.05)
    monkeypatch.setattr(task, "AT_ONCE", 0.0)
    query = {"data": "cancer", "n": "1000", "algorithm": "priv_pc", "study.seeds": "5"}
    app = press(open_app("choose-epsilon", **query), "study-find")
    again = open_app("choose-epsilon", **address(app))
    for one in (app, again):
        assert "study-stop" in {b.key for b in one.button}
    go.set()
    assert again.session_state["task-study"].wait(60)
    again.run()
    assert "Priv-PC on cancer, 1,000 rows" in told(again, "header")


def test_a_link_to_a_long_run_shows_what_is_known(open_app, folder, monkeypatch):
    app = press(open_app("run", data="cancer", n="2000", epsilon="3"), "run")
    written()
    task._shared.clear()
    monkeypatch.setattr(runs, "QUICK", 0.0)
    monkeypatch.setattr("engine.request.run", None)
    again = open_app("run", **address(app))
    assert "Guaranteed ε = 3" in told(again, "html")
    other = open_app("run", **{**address(app), "seed": "1"})
    assert "Nothing has been run on this dataset" in told(other, "info")


def test_own_data_are_on_no_disk(open_app, folder):
    app = open_app("run", data="cancer", n="2000")
    public = written()
    own_table(app, SURVEY, page="run")
    press(app, "run")
    assert [*app.session_state["shown"]] == [False, True]
    assert {*folder.iterdir()} == {*map(answers._file, public)}


def written():
    """Wait until what is known is on the disk, where it comes once it is shown; their keys."""
    public, end = {one.key for one in task._shared.values() if one.keep}, time.monotonic() + 60
    while not all(map(answers.has, public)) and time.monotonic() < end:
        time.sleep(0.05)
    return public
