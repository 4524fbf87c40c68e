"""A line for work, and an end for work that nobody looks at."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Hashable

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import engine
from engine import InputError, load_dataset
from pages.pairs import state as pairs
from pages.report.repeats import Repeats
from pages.shell import job as work
from pages.shell import nothing, runs
from pages.shell.dialog import OPEN
from pages.shell.job import Job, Line, Watched, look_again
from pages.shell.navigation import FOLDER
from pages.shell.settings import Settings, filled

FORM = {"ridge": 0.001, "width": 0.3, "score_width": 0.2}


def test_visitors_take_turns() -> None:
    """Whoever asks for many things waits behind those who have none."""
    line, asked = Line(1), ["a1", "a2", "a3", "b1", "c1", "b2"]
    for job in asked:
        line.join(job, whose=job[0])
    order = []
    while line.working():
        order += [job for job in asked if job not in order and not line.place(job)]
        line.leave(order[-1])
    assert order == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_a_long_job_lets_others_go_first_after_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    line = Line(1)
    line.join("long", whose="a")
    assert line.give_way("long", lambda: True)  # nobody waits
    line.join("short", whose="b")
    assert line.give_way("long", lambda: True)  # its share is not over
    assert line.place("short") == 1
    monkeypatch.setattr(work, "SHARE", 0.0)
    assert not line.give_way("long", lambda: True)  # given up while it waits
    assert (line.place("short"), line.place("long")) == (0, 1)
    line.leave("short")
    assert line.turn("long", lambda: False)


def test_the_line_lets_so_many_work_and_the_next_in_turn() -> None:
    line, jobs = Line(2), ["a", "b", "c", "d"]
    for job in jobs:
        line.join(job)
    assert [line.place(job) for job in jobs] == [0, 0, 1, 2]
    assert line.turn("a", lambda: False)
    assert not line.turn("d", lambda: True)
    line.leave("a")
    assert [line.place(job) for job in jobs[1:]] == [0, 0, 1]
    line.leave("d")
    assert line.turn("c", lambda: False)


class Long(Job):
    """Work until it is stopped, in a line of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.queue = Line(1)
        self.fails: Exception | None = None

    def work(self) -> None:
        if self.fails:
            raise self.fails
        while not self.stopped():
            time.sleep(0.005)


@pytest.mark.parametrize(("comes_back", "ends"), [(False, True), (True, False)])
def test_work_ends_once_its_browser_has_been_away_for_the_grace(
    monkeypatch: pytest.MonkeyPatch, comes_back: bool, ends: bool
) -> None:
    monkeypatch.setattr(work, "LOOK", 0.02)
    monkeypatch.setattr(work, "GRACE", 0.1)
    looks = iter(range(1000))
    monkeypatch.setattr(work, "here", lambda: lambda: comes_back and next(looks) % 3 == 0)
    job = Long()
    job.start()
    assert job.wait(0.6) == ends
    job.cancel(5)
    assert not job.running


def test_work_goes_on_while_one_of_its_sessions_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    job = Long()
    monkeypatch.setattr(work, "here", lambda: lambda: False)
    job.join()
    assert not job.present()
    monkeypatch.setattr(work, "here", lambda: lambda: True)
    job.join()
    assert job.present()


def test_who_looks_at_something_else_stops_what_nobody_else_looks_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = Long()
    monkeypatch.setattr(work, "here", lambda: lambda: True)
    for name in ("a", "b", "b"):  # who comes back is counted once
        monkeypatch.setattr(work, "session", lambda name=name: name)
        job.join()
    job.leave()
    assert job.present()
    assert not job.stopped()
    monkeypatch.setattr(work, "session", lambda: "a")
    job.leave()
    assert job.stopped()
    ended = Long()
    ended.join()
    ended._done.set()
    ended.leave()
    assert not ended.stopped()


@pytest.mark.parametrize(
    ("error", "said"),
    [(InputError("No."), "No."), (ZeroDivisionError(), "The work broke off: ZeroDivisionError.")],
)
def test_what_goes_wrong_in_the_thread_is_one_sentence(error: Exception, said: str) -> None:
    job = Long()
    job.fails = error
    job.start()
    assert job.wait(5)
    assert job.problem == said
    assert job.queue.place(job) == 0


def test_a_slot_holds_one_job_and_stops_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work.st, "session_state", {})
    slot: work.Slot[Long] = work.Slot("mine")
    assert slot.job() is slot.going() is None
    first = slot.begin(Long())
    assert slot.going() is first
    second = slot.begin(Long())
    assert first.stopped()
    assert slot.job() is second
    second.cancel(5)
    assert slot.going() is None
    assert slot.job() is second  # what it found is still there
    slot.forget()
    assert slot.job() is None


def test_a_shared_job_is_joined_and_of_the_ended_ones_the_last_are_kept() -> None:
    store: OrderedDict[Hashable, Long] = OrderedDict()

    def begun(key: str, most: int = 0) -> Long:
        return work.shared(store, key, lambda job: job.running, Long, most)

    first = begun("a")
    assert begun("a") is first
    first.cancel(5)
    again = begun("a")
    assert again is not first
    again.cancel(5)
    begun("b", 1).cancel(5)
    assert list(store) == ["a", "b"]
    begun("c").cancel(5)
    assert list(store) == ["c"]


def test_every_long_work_is_a_job_of_its_own_line() -> None:
    """Streams through one class: a line, an end with the browser, errors in words."""
    assert nothing.Nothing in Watched.__subclasses__()
    names = {kind.__name__ for base in (Job, Watched) for kind in base.__subclasses__()}
    assert {"RunJob", "Batch", "Repeats", "Nothing"} <= names
    threads = {
        path.name
        for path in FOLDER.rglob("*.py")
        if "threading.Thread(" in path.read_text(encoding="utf-8")
    }
    assert threads == {"job.py", "apart.py"}  # the second: how a process hears of a stop


def test_a_batch_waits_in_line_and_ends_when_its_browser_has_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(work, "LOOK", 0.02)
    monkeypatch.setattr(work, "GRACE", 0.1)
    monkeypatch.setattr(work, "here", lambda: lambda: False)
    batch = pairs.Batch(pairs.batch_pairs(), pairs.setting_of(FORM), "all pairs")
    work.STUDIES.join(before := object())
    try:
        batch.start()
        assert batch.words() == "Waiting for a turn: **all pairs** · place 1 in line"
        assert batch.wait(5)
        assert not batch.done
    finally:
        work.STUDIES.leave(before)


def test_repetitions_that_fail_are_not_begun_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("pages.report.repeats.apart.call", fails)
    data = load_dataset("cancer", n=1000)
    job = Repeats(
        runs.Shown(Settings(params=filled("priv_pc", {})), data, engine.run("priv_pc", data))
    )
    job.start()
    assert job.wait(20)
    assert "ZeroDivisionError" in job.problem
    assert job.lasts()


def test_a_waiting_run_has_a_place_and_starts_when_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(runs.RunJob, "queue", Line(1))
    data, go = load_dataset("cancer", n=1000), threading.Event()
    real = runs.run

    def held(*args: object, **options: object) -> object:
        go.wait(20)
        return real(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(runs, "run", held)
    first, second = (runs.RunJob(None, "pc", data, 0, {}) for _ in range(2))
    first.start()
    second.start()
    time.sleep(0.05)
    assert (first.place, second.place) == (0, 1)
    go.set()
    assert first.wait(20)
    assert second.wait(20)
    assert second.result is not None


class _Ended(Job):
    def work(self) -> None:
        """Nothing."""


@pytest.mark.parametrize(("open_", "anew"), [(True, 0), (False, 1)])
def test_an_ended_job_draws_the_page_anew_unless_a_dialog_is_open(
    open_: bool, anew: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(st, "session_state", {})
    monkeypatch.setattr(st, "fragment", lambda **_: lambda draw: draw)
    again: list[int] = []
    monkeypatch.setattr(st, "rerun", lambda: again.append(1))
    OPEN.put(open_)
    ended = _Ended()
    ended.start()
    assert ended.wait(10.0)
    drawn: list[Job] = []
    look_again(lambda: ended, drawn.append)
    assert len(again) == anew
    assert drawn == [ended]


def test_a_dialog_is_known_to_be_open_until_the_page_is_drawn_anew() -> None:
    app = AppTest.from_string(_DIALOG).run()
    assert app.session_state["dialog"] is False
    app.button[0].click().run()
    assert app.session_state["dialog"] is True
    assert [t.value for t in app.markdown] == ["within"]


_DIALOG = """
import streamlit as st
from pages.shell.dialog import OPEN, dialog

OPEN.put(False)
if st.button("Open"):
    dialog("Title")(lambda: st.markdown("within"))()
"""
