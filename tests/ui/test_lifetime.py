"""A line for work, and an end for work that nobody looks at."""

from __future__ import annotations

import threading
import time

import pytest

from engine import load_dataset
from pages.shell import lifetime, worker
from pages.shell.lifetime import Line


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


@pytest.mark.parametrize(("comes_back", "ends"), [(False, True), (True, False)])
def test_work_ends_once_its_browser_has_been_away_for_the_grace(
    monkeypatch: pytest.MonkeyPatch, comes_back: bool, ends: bool
) -> None:
    monkeypatch.setattr(lifetime, "LOOK", 0.02)
    monkeypatch.setattr(lifetime, "GRACE", 0.1)
    cancelled, done, looks = threading.Event(), threading.Event(), iter(range(1000))

    def present() -> bool:
        return comes_back and next(looks) % 3 == 0

    lifetime.end_when_left(present, done.wait, cancelled.set)
    assert cancelled.wait(0.6) == ends
    done.set()


def test_a_waiting_run_has_a_place_and_starts_when_there_is_room(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(worker.RunJob, "queue", Line(1))
    data, go = load_dataset("cancer", n=1000), threading.Event()
    real = worker.run

    def held(*args: object, **options: object) -> object:
        go.wait(20)
        return real(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(worker, "run", held)
    first, second = (worker.RunJob(None, "pc", data, 0, {}) for _ in range(2))
    first.start()
    second.start()
    time.sleep(0.05)
    assert (first.place, second.place) == (0, 1)
    go.set()
    assert first.wait(20)
    assert second.wait(20)
    assert second.result is not None
