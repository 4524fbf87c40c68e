"""Long work of a page: its place in line, its progress, its stop, and what ends it."""

import os
import pickle
import signal
import time
from dataclasses import fields, replace

import pytest
from streamlit.testing.v1 import AppTest

from engine import Dataset, Knowledge, load_dataset
from engine.studies.trial import knowing
from pages.shell import task as work
from pages.shell.task import Line, Task
from pages.worker import Undrawn
from tests.ui.works import breaks, deaf, doubled, listens, pid, refuses, shares


@pytest.fixture
def processes(monkeypatch):
    monkeypatch.setattr("pages.worker._in_use", True)


@pytest.fixture
def state(monkeypatch):
    monkeypatch.setattr(work.st, "session_state", {})
    monkeypatch.setattr(work, "AT_ONCE", 0.0)
    yield
    work._shared.clear()


def begun(fn, *args, **options):
    task = Task("it", (fn, args), **options)
    task.join()
    task.begin()
    return task


def until(holds, seconds=20.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.parametrize("here", [True, False])
def test_a_task_reports_and_keeps_what_it_has_when_it_is_stopped(processes, here):
    task = begun(listens, line=work.HERE if here else work.STUDIES)
    until(lambda: task.parts)
    assert (task.share, task.phrase) == (0.5, "half")
    assert (task.parts == [os.getpid()]) == here
    since = time.monotonic()
    task.stop(5)
    assert time.monotonic() - since < work.PATIENCE
    assert (task.result, task.problem, task.complete) == ("stopped", "", False)
    after = begun(listens, 0.0, line=task.line)  # a stop is for one task alone
    assert after.wait(20)
    assert after.result == "whole"
    assert after.complete


def test_many_parts_keep_no_progress_back(processes):
    task = begun(shares)
    assert task.wait(20)
    assert len(task.parts) == 12
    assert int(task.phrase) > 3


def ended(fn, *args):
    task = begun(fn, *args)
    assert task.wait(20)
    return task


def test_an_error_is_a_message_and_the_process_goes_on(processes, monkeypatch):
    before = ended(pid).result
    assert ended(refuses).problem == "No."
    assert ended(breaks).problem == "The work failed inside the program (ZeroDivisionError)."
    assert ended(doubled, b"x" * 3_000_000).result == b"x" * 6_000_000  # through the pipe
    assert ended(pid).result == before
    monkeypatch.setattr("pages.worker.SPARE", 0)  # from here on none is kept
    assert ended(pid).result == before
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)


def test_what_does_not_hear_a_stop_is_killed_and_nothing_else(processes):
    other, task = begun(listens), begun(deaf)
    until(lambda: task.parts and other.parts)
    since = time.monotonic()
    task.stop(5)
    assert time.monotonic() - since < work.PATIENCE + 0.5
    assert task.problem == "Stopped."
    with pytest.raises(ProcessLookupError):
        os.kill(task.parts[0], 0)
    assert not other.done
    os.kill(other.parts[0], signal.SIGKILL)
    assert other.wait(2)
    assert other.problem == work.ENDED


def test_first_come_first_served():
    line = Line(1)
    tasks = [begun(listens, line=line) for _ in range(4)]
    until(lambda: tasks[0].parts)
    assert [task.place for task in tasks] == [0, 1, 2, 3]
    assert "place 2 in line" in tasks[2].words()
    tasks[1].stop(5)
    assert tasks[1].problem == "Stopped before its turn."
    assert [task.place for task in tasks[2:]] == [1, 2]
    tasks[0].stop(5)
    until(lambda: tasks[2].parts)
    assert tasks[3].place == 1
    for task in tasks[2:]:
        task.stop(5)
    assert line.tasks == []


def heard(monitor, data):
    return listens(monitor)


def test_work_on_large_data_waits_for_memory_in_whatever_line(monkeypatch):
    """Of all visitors together; without anything at work even more is begun."""
    monkeypatch.setattr(work, "MEMORY", 1_000_000_000)
    large = Undrawn.of("sem:er:20:20:gaussian", 500_000, 0), Undrawn.of("asia", 9_000_000, 0)
    lines = Line(4), Line(4)
    tasks = [begun(heard, data, line=line) for data in large for line in lines]
    until(lambda: sum(not task.place for task in tasks) == 2)
    assert sorted(task.place for task in tasks) == [0, 0, 1, 1]
    assert sum(task.taken for task in work._working) <= work.MEMORY
    monkeypatch.setattr(work, "MEMORY", 1)
    next(task for task in tasks if not task.place).stop(5)
    assert sum(bool(task.place) for task in tasks) == 2
    for task in tasks:
        task.stop(5)
    assert not work._working
    last = begun(heard, large[0], line=lines[0])
    until(lambda: last.parts)
    last.stop(5)


@pytest.mark.parametrize("name", ["asia", "sem:sf:5:8:gumbel"])
@pytest.mark.parametrize("known", [None, Knowledge(forbidden=(("X0", "X1"),))])
def test_data_that_are_not_drawn_are_the_same_data(name, known):
    if known and name == "asia":
        known = Knowledge(forbidden=(("smoke", "lung"),))
    data = pickle.loads(pickle.dumps(Undrawn.of(name, 2_000, 7, known)))
    right = knowing(load_dataset(name, n=2_000, seed=7), known)
    for field in fields(Dataset):
        if field.name not in ("codes", "values", "truth"):
            assert getattr(data, field.name) == getattr(right, field.name), field.name
    assert (data.n, data.d, repr(data)) == (right.n, right.d, repr(right))
    assert list(data.truth.edges) == list(right.truth.edges)
    assert len(pickle.dumps(data)) < 500
    assert not {"codes", "values", "_rows"} & set(vars(data))  # nothing has been drawn
    assert data.fingerprint == right.fingerprint
    copy = pickle.loads(pickle.dumps(replace(data, name="another")))
    assert (copy.name, copy.fingerprint) == ("another", right.fingerprint)


@pytest.mark.parametrize("place", [0, 1])
def test_a_closed_tab_ends_its_task_after_the_grace(monkeypatch, place):
    """At work and in line."""
    line, there = Line(1), [True]
    first = [begun(listens, line=line)] * place
    monkeypatch.setattr(work, "_session", lambda: ("a", lambda: there[0]))
    task = begun(listens, line=line, grace=0.3)
    for here, ends in ((True, 0.4), (False, 0.1), (True, 0.4)):  # it came back in time
        there[0] = here
        assert not task.wait(ends)
    there[0] = False
    assert task.wait(1)
    for one in first:
        one.stop(5)


def test_a_place_holds_one_task_and_stops_the_one_before(state):
    first = work.start("mine", "it", listens, wait=0.0)
    other = work.start("other", "it", listens, wait=0.0)
    second = work.start("mine", "it", listens, wait=0.0)
    assert first.wait(5)
    assert work.find("mine") is second
    assert not other.done
    work.drop("mine")
    assert second.wait(5)
    assert work.find("mine") is None
    other.stop(5)


def test_sessions_that_ask_for_the_same_share_one_task(state, monkeypatch):
    def as_session(name):
        monkeypatch.setattr(work, "_session", lambda: (name, lambda: True))
        monkeypatch.setattr(work.st, "session_state", {})

    as_session("a")
    one = work.start("mine", "it", listens, 0.3, key="k", wait=0.0)
    as_session("b")
    assert work.start("mine", "it", listens, 0.3, key="k", wait=0.0) is one
    work.drop("mine")
    assert not one.stopping  # the other session still needs it
    assert one.wait(5)
    assert one.complete
    assert work.shared("k", "it", listens, 0.3) is one
    failed = work.shared("no", "it", refuses)
    assert failed.wait(5)
    assert work.shared("no", "it", refuses) is not failed


def test_work_that_nobody_asks_for_any_more_ends(state, monkeypatch):
    monkeypatch.setattr(work, "UNSEEN", 0.3)
    task = work.shared("k", "it", listens)
    for _ in range(4):
        time.sleep(0.1)
        assert work.shared("k", "it", listens) is task
    again = lambda look: lambda: [(time.sleep(0.05), look()) for _ in range(9)]  # noqa: E731
    monkeypatch.setattr(work.st, "fragment", lambda run_every: again)
    work.redraw_until_done(lambda: [task], lambda: None)  # nor does a redrawn part
    assert not task.done
    assert task.wait(2)
    assert not task.complete


def test_the_server_keeps_so_many_results(state, monkeypatch):
    monkeypatch.setattr(work, "_KEPT", 2)
    for key in range(5):
        assert work.shared(key, "it", pid).wait(5)
    assert list(work._shared)[-2:] == [3, 4]
    assert len(work._shared) <= 3


def page():
    """A button, and the task that it starts."""
    import streamlit as st

    from pages.shell import task as work
    from tests.ui import works

    if st.button("Go", key="go"):
        work.start("t", "it", getattr(works, st.session_state.get("work", "listens")), wait=0.0)
    done = work.watch("t")
    if done is not None:
        work.show_problem(done)
        st.write(f"came: {done.result}")


def test_a_page_shows_the_bar_the_button_and_then_the_result():
    app = AppTest.from_function(page).run()
    app.button(key="go").click().run()
    assert "Running **it**" in app.markdown[0].value
    app.button(key="t-stop").click().run()
    app.run()
    assert app.markdown[-1].value == "came: stopped"
    assert not app.exception


@pytest.mark.parametrize(("name", "said"), [("deaf", "Stopped."), ("refuses", "No.")])
def test_a_stop_that_needs_a_kill_is_no_error(processes, name, said):
    app = AppTest.from_function(page)
    app.session_state["work"] = name
    app.run().button(key="go").click().run()
    task = app.session_state["task-t"]
    if name == "deaf":
        until(lambda: task.parts)
        app.button(key="t-stop").click().run()
    assert task.wait(20)
    shown = app.run().warning if name == "deaf" else app.run().error
    assert [one.value for one in shown] == [said]
    assert len(app.warning) + len(app.error) == 1


def test_work_that_ends_while_the_page_is_drawn_takes_no_press_away():
    """What follows on the page sees the button that was pressed."""

    def page():
        import streamlit as st

        from pages.shell.task import redraw_until_done

        class Ending:
            looks = 0

            @property
            def done(self):
                self.looks += 1
                return self.looks > 1

        pressed = st.button("go")
        ending = Ending()
        redraw_until_done(lambda: [ending] if pressed else [], lambda: None)
        if pressed:
            st.write("begun")

    app = AppTest.from_function(page).run()
    app.button[0].click().run()
    assert [m.value for m in app.markdown] == ["begun"]
