"""A large table is read beside the page: how far it is, a stop, and the same words at the end."""

import json
import threading

import pytest

from engine import Schema
from pages import worker
from pages.shell import own, task
from pages.shell.task import ENDED
from tests.ui.steps import give, told, visit

ROWS = b"sex,smokes\n" + b"f,yes\nm,no\nf,no\nm,yes\n" * 5
DRAFT = Schema.draft(ROWS)
SCHEMA = json.dumps(DRAFT.declare("smokes", sex=["f", "m", "x"]).to_json()).encode()
GAPS, BAD = ROWS + b",yes\n", ROWS + b"f\n"


@pytest.fixture(autouse=True)
def all_large(monkeypatch):
    monkeypatch.setattr(worker, "LARGE", 0)


class Gate:
    """In the place of the reading: begins once it is opened, and hears a stop."""

    def __init__(self):
        self.opened = threading.Event()

    def read(self, monitor, function, *asked):
        while not self.opened.wait(0.01):
            if monitor.stopped():
                raise EOFError  # as the end of a process
        return function(monitor, *asked)

    def start(self, name, title, *call, **options):
        return task.start(name, title, self.read, *call, **options)


@pytest.fixture
def gate(monkeypatch):
    """The page does not wait for a reading, which waits for the gate."""
    found = Gate()
    monkeypatch.setattr(task, "SHORT", 0.0)
    monkeypatch.setattr(own, "start", found.start)
    yield found
    found.opened.set()


@pytest.fixture
def app(open_app):
    app = open_app("my-data")
    app.selectbox(key="data-network").set_value("own").run()
    return app


def test_a_large_table_ends_as_a_small_one(open_app, monkeypatch):
    """Its rows, its gaps, its refusal and its schema; each as if it were read at once."""
    seen = []
    for bound in (10**6, 0):
        monkeypatch.setattr(worker, "LARGE", bound)
        app, said = open_app("my-data"), []
        app.selectbox(key="data-network").set_value("own").run()
        for content in (ROWS, GAPS, BAD, ROWS):
            give(app, "data-file", content)
            said.append(told(app))
        give(app, "data-schema", b"{}", "s.json")
        assert "This is not a file of schema" in told(app)  # which of the files is at fault
        give(app, "data-schema", SCHEMA, "s.json")
        said.append(told(app))
        data, file = app.session_state["own_data"], app.session_state["own_file"]
        assert (data.n, data.declared, file.schema.rows) == (20, True, 20)
        seen.append(said)
    assert seen[0] == seen[1]
    assert "20 rows, 2 columns" in seen[1][0]
    assert "21 rows, 2 columns" in seen[1][1]
    assert "mine.csv" in seen[1][2]


def test_a_reading_says_how_far_it_is_and_can_be_stopped(app, gate):
    give(app, "data-file", ROWS)
    assert "mine.csv is being read." in told(app)
    assert "Running **the reading of mine.csv** · 0 MB · 0 s" in told(app)
    assert app.session_state["own_data"] is None
    app.button(key="readingdata-stop").click().run()
    app.run()
    assert not app.exception
    assert "Stopped before the table was read; upload it again to read it." in told(app)
    assert "is being read" not in told(app)
    assert app.session_state["own_data"] is None


def test_a_table_dropped_at_the_door_has_one_place_and_one_bar(open_app, gate):
    app = open_app("my-data")
    give(app, "drop-file", ROWS)
    for _ in range(2):  # as it begins, and at a later look
        keys = [str(e.key) for e in (*app.file_uploader, *app.button)]
        found = [key for key in keys if key.endswith(("-file", "-stop"))]
        assert found == ["data-file", "readingdata-stop"]
        app.run()


def finished(app, job):
    assert job.wait(20)
    app.run()
    assert not app.exception


def test_what_was_read_waits_on_whatever_page_one_is(app, gate):
    give(app, "data-file", ROWS)
    job = app.session_state["task-reading"]
    visit(app, "run")
    app.selectbox(key="run-network").set_value("sachs").run()
    gate.opened.set()
    finished(app, job)
    assert app.session_state["own_data"].n == 20
    assert app.session_state["state"].chosen["data"] == "sachs"  # what was chosen since
    assert "task-reading" not in app.session_state  # which holds the file's bytes


def test_another_file_takes_the_place_of_one_that_is_being_read(app, gate, monkeypatch):
    give(app, "data-file", ROWS)
    first = app.session_state["task-reading"]
    monkeypatch.setattr(worker, "LARGE", 10**6)
    monkeypatch.setattr(own, "start", task.start)
    give(app, "data-file", ROWS + ROWS.partition(b"\n")[2], "other.csv")
    assert first.stopping
    assert app.session_state["own_data"].n == 40
    gate.opened.set()
    finished(app, first)
    assert app.session_state["own_data"].n == 40
    assert app.session_state["own_data"].name == "other"


def test_a_reading_whose_process_is_lost_is_one_sentence(app, monkeypatch):
    def lost(*_, **__):
        raise EOFError

    monkeypatch.setattr(worker, "table", lost)
    give(app, "data-file", ROWS)
    assert [e.value for e in app.error] == [ENDED]


def test_two_columns_are_read_beside_the_page_and_can_be_stopped(open_app, gate):
    app = open_app("cause-or-effect")
    app.radio(key="pairs-source").set_value("Your own CSV").run()
    app.text_input(key="pairs-bounds").set_value("0, 40, 0, 400").run()
    rows = "a,b\n" + "\n".join(f"{i % 41},{(i % 41 - 20) ** 2}" for i in range(60))
    give(app, "pairs-csv", rows)
    assert "the reading of mine.csv is still running" in told(app)
    app.button(key="pairs-table-stop").click().run()
    app.run()
    assert "Stopped before the table was read; upload it again to read it." in told(app)
    give(app, "pairs-csv", rows, "again.csv")
    job = app.session_state["task-pairs-table"]
    gate.opened.set()
    finished(app, job)
    assert "Nothing has been released from these data yet" in told(app)
