"""Whoever reads every page of two files that differ in one record learns what was paid for alone.

Both people ask the same; the second's mechanisms give the first's answers. Then every text, table,
chart and form must be the same, to the byte of what is sent to the browser.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from engine import read_csv, runner
from engine.audit.instrumented import Instrumented
from engine.data.schema import Column, Schema
from engine.privacy.sources import Hardened, Replay
from engine.randomness import Randomness
from engine.release import make as making
from engine.release.budget import VARIABLE, Budgets

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "sachs_5000.csv"
HEAD, *ROWS = SAMPLE.read_text().splitlines()[:401]
PLACE = 200
# A record of nothing that the schema foresees, and one of the last levels.
STRANGE = ",".join(['"odd, cell"', "", "NA", "=1+1", *["HIGH"] * (len(HEAD.split(",")) - 4)])
USUAL = ",".join(["HIGH"] * len(HEAD.split(",")))
# What differs from one opening of a page to the next.
MASKS = (
    (r"\b\d+(\.\d+)?(e-?\d+)? ?(ms|s|seconds?|minutes?)\b", "SECONDS"),
    (r"[0-9a-f]{32,64}", "NAME"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "CLOCK"),
    (r"\$\$\w+-[^\"' ]*", "ID"),
    (r"(page_script_hash|form_id|id|fragment_id|active_script_hash): \"[^\"]*\"", r"\1"),
    (r"st-key-[\w-]+", "KEY"),
)
PAGES = ("table", "study", "run", "report", "learn")
Pages = dict[str, str]


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is counted beside the pages is there when they are read: only its moment differs."""
    monkeypatch.setattr("pages.shell.task.AT_ONCE", 120.0)


def file_with(record: str) -> bytes:
    """The file with one record replaced."""
    return "\n".join([HEAD, *ROWS[:PLACE], record, *ROWS[PLACE + 1 :]]).encode()


def stated() -> bytes:
    """The columns with their three levels; all else counts as the first."""
    levels = ("LOW", "AVG", "HIGH")
    columns = (Column(name=n, type="ordered", levels=levels, other="LOW") for n in HEAD.split(","))
    return json.dumps(Schema(tuple(columns)).to_json()).encode()


class Doors:
    """The noise of one person's runs, each kept; or, with ``scripts``, another person's answers."""

    def __init__(self, scripts: list[Any] | None = None):
        self.made: list[Instrumented] = []
        self._scripts = scripts

    def __call__(self, seed: int | None) -> Randomness:
        """Doors of their own for a run on own data, whose noise is secret."""
        if seed is not None:
            return Randomness(seed)
        script = None if self._scripts is None else self._scripts[len(self.made)]
        self.made.append(Instrumented(0, script))
        return self.made[-1]


def uploaded(open_app: Callable[..., AppTest], raw: bytes, schema: bytes | None, **q: str) -> Any:
    """The Data page with the file and its schema."""
    app = open_app("table", **q)
    app.selectbox(key="data-network").set_value("own").run()
    app.file_uploader(key="data-file").set_value(("mine.csv", raw, "text/csv")).run()
    if schema is not None:
        app.file_uploader(key="data-schema").set_value(("s.json", schema, "text/json")).run()
    assert not app.exception
    return app


def words(node: Any) -> Iterator[str]:
    """Every element below a node, in order."""
    for child in getattr(node, "children", {}).values():
        proto = getattr(child, "proto", None)
        if proto is not None:
            yield f"[{child.type}] {str(proto).strip()}"
        yield from words(child)


def seen(app: AppTest) -> str:
    """All that the page sends to the browser, without what differs from one opening to the next."""
    assert not app.exception
    text = "\n".join(words(app._tree))
    for pattern, name in MASKS:
        text = re.sub(pattern, name, text)
    return text


def walk(open_app: Callable[..., AppTest], raw: bytes, algorithm: str) -> Pages:
    """Every page after a run on the file; what is folded away too."""
    app = uploaded(open_app, raw, stated(), algorithm=algorithm)
    found = {}
    for page in PAGES:
        app._page_hash = calc_hash(page)
        app.query_params.clear()  # as a browser does on the way to another page
        app.run()
        if page == "run":
            app.button(key="run").click().run()
        found[page] = seen(app)
    return found


@pytest.mark.parametrize("algorithm", ["marginal_pc", "priv_pc"])
@pytest.mark.parametrize("record", [STRANGE, USUAL], ids=["strange", "usual"])
def test_pages_tell_of_no_record(
    algorithm: str,
    record: str,
    open_app: Callable[..., AppTest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = Doors()
    monkeypatch.setattr(runner, "Randomness", first)
    one = walk(open_app, file_with(ROWS[PLACE]), algorithm)
    second = Doors([doors.answers for doors in first.made])
    monkeypatch.setattr(runner, "Randomness", second)
    other = walk(open_app, file_with(record), algorithm)
    assert len(first.made) == len(second.made) == 1
    assert len(first.made[0].answers) == len(second.made[0].answers) > 0
    assert "Your own data" in one["report"]
    for page in PAGES:
        assert one[page] == other[page], page


def test_data_page_tells_of_no_record_where_nothing_is_declared(
    open_app: Callable[..., AppTest],
) -> None:
    """A level that only one record has would be on it, in a list or as a number."""
    files = [file_with(record) for record in (ROWS[PLACE], USUAL.replace("HIGH", "QUUX", 1))]
    assert read_csv(files[0]).levels != read_csv(files[1]).levels
    one, other = (seen(uploaded(open_app, raw, None)) for raw in files)
    assert one == other


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Budgets]:
    """Budgets in a folder of their own for each person."""

    def open_(name: str) -> Budgets:
        path = tmp_path / name / "b.db"
        path.parent.mkdir()
        monkeypatch.setenv(VARIABLE, str(path))
        found = Budgets(path)
        found.new("ward", 2, 1e-3)
        return found

    return open_


def released(open_app: Callable[..., AppTest], raw: bytes) -> AppTest:
    app = uploaded(open_app, raw, stated())
    app.query_params["step"] = "release"
    app.run()
    app.checkbox(key="release-sure").set_value(True).run()
    app.button(key="release-go").click().run()
    assert any("Released under" in s.value for s in app.success)
    return app


def test_release_page_tells_of_no_record(
    open_app: Callable[..., AppTest],
    book: Callable[[str], Budgets],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pages.shell.task.AT_ONCE", 60.0)  # it depends on public facts alone
    # What matches no level is shown to the table's owner, exact: all else is compared.
    monkeypatch.setattr("pages.table.pay.unforeseen", lambda data, *, key: None)
    drawn = Hardened()
    monkeypatch.setattr(making, "Resumable", lambda path: drawn)
    book("one")
    one = released(open_app, file_with(ROWS[PLACE]))
    again: Any = Replay(drawn.given_out)
    again.given_out = list(drawn.given_out)
    monkeypatch.setattr(making, "Resumable", lambda path: again)
    book("other")
    other = released(open_app, file_with(STRANGE))
    assert seen(one) == seen(other)
