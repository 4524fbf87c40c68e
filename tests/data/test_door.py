"""What once was read wrongly, by each of the three ways in: page, command line and Python."""

import warnings
from collections import Counter
from contextlib import nullcontext
from functools import partial
from threading import Event
from traceback import format_exception
from typing import Any, NamedTuple

import pandas as pd
import pytest

from engine import Budget, Column, InputError, Person, Schema, load_schema, read_table
from engine.__main__ import main
from engine.data import sources
from engine.monitor import QUIET, Cancelled, Monitor
from engine.request import Request
from pages import worker
from pages.table import cards
from tests.boundary.fuzz import rows_of
from tests.data.test_intake import SECRET, VISITS, visits, workbook


def levels(*words, **more):
    return {"type": "ordered", "levels": words, **more}


WORDS = levels("no", "yes")
GAPS = levels("no", "yes", "missing", other="missing")


class Case(NamedTuple):
    """Cells (or a CSV file), what the schema says of them, and what is to be read.

    ``counts`` by level; None where the table is refused. ``strange`` says of cells that match no
    level how many there are and what they count as.
    """

    cells: list[Any] | bytes
    facts: dict[str, Any]
    counts: dict[str, int] | None
    strange: tuple[tuple[int, str], ...] = ()


CASES = {
    "gaps have a level": Case(
        ["no", None, "yes", None], GAPS, {"no": 1, "yes": 1, "missing": 2}, ((2, "missing"),)
    ),
    "gaps of which nobody said what they are": Case(["no", None, "yes", "yes"], WORDS, None),
    "a word of which nobody said what it is": Case(["no", "maybe", "yes", "yes"], WORDS, None),
    "gaps that count as an answer": Case(
        ["no", None, "yes", None],
        levels("no", "yes", other="no"),
        {"no": 3, "yes": 1},
        ((2, "no"),),
    ),
    "times with a zone count in UTC": Case(
        list(pd.date_range("2020-12-31 12:00", periods=3, freq="4h", tz="America/New_York")),
        {"type": "numeric", "cuts": (2021,), "part": "year"},
        {"< 2021": 2, ">= 2021": 1},
    ),
    "a mark at the start of a record": Case(
        b'a,b\nno,no\n\xef\xbb\xbfyes,yes\nno, "yes"\n', WORDS, {"no": 2, "yes": 1}
    ),
    "an id that is 13 and 13.0, and none": Case(
        [13, "13.0", " 13", 14, None, None],
        levels("no", "yes", take="last"),
        {"no": 1, "yes": 1},
        ((2, "nobody: left out"),),
    ),
}


def given(case):
    """The frame if there is one, the CSV file, and the schema."""
    if isinstance(case.cells, bytes):
        frame, raw = None, case.cells
    elif "take" in case.facts:  # the cells are ids; a is no but for the id 14
        ids = [None if cell is None else str(cell) for cell in case.cells]
        a = ["yes" if one == "14" else "no" for one in ids]
        frame = pd.DataFrame({"a": a, "b": "no", "id": ids, "day": range(len(ids))})
    else:
        b = ["no", "yes", *["no"] * (len(case.cells) - 2)]
        frame = pd.DataFrame({"a": case.cells, "b": b})
    if frame is not None:
        raw = frame.to_csv(index=False).encode()
    person = Person(id="id", order="day") if "take" in case.facts else None
    second = Column(name="b", **(case.facts if person else WORDS))
    rows = None if frame is None or person else len(frame)
    return frame, raw, Schema((Column(name="a", **case.facts), second), rows, person)


def by_command(path, schema, capsys, monkeypatch):
    """What `engine run` reads; InputError with what it says. It asks where much is an answer."""
    got = []

    def keep(request, data, **_):
        got.append(data)
        raise InputError("The command line has its table.")

    monkeypatch.setattr(Request, "run", keep)
    asked = ["run", "--algorithm", "pc", "--csv", str(path), "--schema", str(schema)]
    assert main(asked) == 2
    said = capsys.readouterr().err
    asks = "--accept-unforeseen" in said
    if asks:
        assert main([*asked, "--accept-unforeseen"]) == 2
    if not got:
        raise InputError(said)
    assert asks == any(one.asks for one in got[0].unforeseen_cells)
    assert ("Cells that match no level" in said) == bool(got[0].unforeseen_cells)
    return got[0]


def by_page(path, schema):
    """What the page reads of two uploads."""
    table, stated = (worker.Upload(p.name, p.read_bytes()) for p in (path, schema))
    return worker.table(QUIET, table, None, stated)[0]


def by_python(source, schema):
    """What a notebook reads; it warns of what matches no level."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        data = read_table(source, schema)
    assert bool(caught) == bool(data.unforeseen_cells)
    return data


@pytest.mark.parametrize("name", CASES)
def test_a_table_means_the_same_on_the_page_the_command_line_and_in_python(
    name, tmp_path, capsys, monkeypatch
):
    case = CASES[name]
    frame, raw, schema = given(case)
    schema.save(tmp_path / "s.json")
    (tmp_path / "t.csv").write_bytes(raw)
    ways = {}
    if frame is not None:
        workbook(frame, tmp_path / "t.xlsx")
        frame.to_parquet(tmp_path / "t.parquet")
        ways["python, frame"] = partial(by_python, frame, schema)
    for path in tmp_path.glob("t.*"):
        stated = tmp_path / "s.json"
        ways[f"page, {path.suffix}"] = partial(by_page, path, stated)
        ways[f"command, {path.suffix}"] = partial(by_command, path, stated, capsys, monkeypatch)
        ways[f"python, {path.suffix}"] = partial(by_python, path, schema)
    for way, read in ways.items():
        if case.counts is None:
            with pytest.raises(InputError, match="declare in the schema how they count"):
                read()
            continue
        data = read()
        found = Counter(data.to_frame()["a"].astype(str))
        assert found == case.counts, way
        strange = tuple((one.cells, one.to) for one in data.unforeseen_cells)
        assert strange == case.strange, way


def test_the_synthetic_table_of_persons_is_read_by_its_schema(tmp_path, capsys, monkeypatch):
    paid = Budget("ward", epsilon=3, path=tmp_path / "b.db").release(visits(), VISITS, epsilon=1)
    paid.save(tmp_path / "r.json")
    table, stated = tmp_path / "t.csv", tmp_path / "s.json"
    VISITS.save(stated)
    assert main(["synthetic", str(tmp_path / "r.json"), "--out", str(table)]) == 0
    assert "replace one person with all of their rows" in (tmp_path / "r.html").read_text("utf-8")
    made = paid.synthetic(visits()["patient"].nunique())
    for data in (
        by_page(table, stated),
        by_command(table, stated, capsys, monkeypatch),
        by_python(table, VISITS),
        by_python(made.to_frame(VISITS), VISITS),
    ):
        assert rows_of(data) == rows_of(made)


SURVEY = pd.DataFrame(
    {
        "person_id": [f"p{k // 8}" for k in range(240)],
        "smokes": ["no", "yes", None] * 80,
        "help": ["None", "some", "a|lot", "None"] * 60,
    }
)


def test_a_draft_hints_at_the_person_keeps_missing_and_takes_none_for_a_word(tmp_path, capsys):
    SURVEY.to_csv(tmp_path / "t.csv", index=False)
    assert main(["schema", "draft", str(tmp_path / "t.csv")]) == 0
    said = capsys.readouterr()
    (tmp_path / "s.json").write_text(said.out)
    found, _ = worker.columns(QUIET, worker.Upload("t.csv", (tmp_path / "t.csv").read_bytes()))
    why = {one.name: str(one.why_out) for one in found}
    drafts = (Schema.draft(SURVEY), load_schema(tmp_path / "s.json"))
    for hint in (said.err, why["person_id"], dict(drafts[0].left_out)["person_id"]):
        assert "an id, each with about 8 rows" in hint
    for draft in drafts:
        schema = draft.declare(smokes=["no", "yes"], help=["None", "some", "a|lot"])
        assert schema.levels == (("no", "yes", "missing"), ("None", "some", "a|lot"))
        for source in (SURVEY, tmp_path / "t.csv"):
            data = by_python(source, schema)
            assert Counter(data.to_frame()["help"])["None"] == 120
            assert [(one.column, one.cells) for one in data.unforeseen_cells] == [("smokes", 80)]


BROKEN = {
    "half a character": pd.DataFrame(
        {"a": [f"{SECRET}\ud800", "no"], "b": ["no", "yes"]}, dtype=object
    ),
    "half a character, which pyarrow refuses": pd.DataFrame(
        {"a": pd.array([f"{SECRET}\ud800", "no"], dtype="string[python]"), "b": ["no", "yes"]}
    ),
    "mixed types": pd.DataFrame({"a": [SECRET, 7], "b": [b"\xff" + SECRET.encode(), "no"]}),
    "a damaged parquet": b"PAR1" + SECRET.encode() + b"PAR1",
    "a damaged arrow": b"ARROW1\0\0" + SECRET.encode() * 9,
    "no text": f"a,b\nno,{SECRET}".encode() + b"\xff\xfe\nno,no\n",
}


@pytest.mark.parametrize("case", BROKEN)
def test_no_reader_writes_a_byte_of_a_record_into_a_log(case, tmp_path, capfd, caplog):
    schema = Schema((Column(name="a", **WORDS), Column(name="b", **WORDS)))
    source = BROKEN[case]
    with pytest.raises(InputError) as caught:
        read_table(source, schema)
    said = "".join(format_exception(caught.value))
    if isinstance(source, bytes):
        (tmp_path / "t").write_bytes(source)
        schema.save(tmp_path / "s.json")
        run = ["run", "--algorithm", "pc", "--csv", str(tmp_path / "t")]
        assert main([*run, "--schema", str(tmp_path / "s.json")]) == 2
        with pytest.raises(InputError) as caught:
            by_page(tmp_path / "t", tmp_path / "s.json")
        said += "".join(format_exception(caught.value))
    logged = f"{said}{capfd.readouterr()}{caplog.text}"
    assert SECRET not in logged
    assert "ud800" not in logged


def test_no_control_changes_what_is_stated_by_what_was_found():
    """The page's cards: once a column is stated, another record's gap changes no schema."""
    schemas = []
    for gap in (False, True):
        helped = list(SURVEY["help"])
        helped[0] = None if gap else helped[0]
        frame = SURVEY.assign(help=helped)
        found, dialect = worker.columns(
            QUIET, worker.Upload("t.csv", frame.to_csv(index=False).encode())
        )
        made = cards.drafts(found)
        for name, levels_ in (("smokes", "no | yes | missing"), ("help", "None | some | a|lot")):
            made[name].update(levels=levels_, other=cards.REFUSE, declared=True)
        schemas.append(cards.schema_of(made, dialect))
    assert schemas[0] == schemas[1]
    assert schemas[0].levels[-1] == ("None", "some", "a|lot")


def test_a_reading_says_how_far_it_is_and_can_be_stopped(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sources, "LOOK", 0.001)
    raw, told, stop = b"a,b\n" + b"yes,1\nno,2\n" * 200_000, [], Event()
    assert read_table(raw, on_progress=lambda *one: told.append(one)).n == 400_000
    assert all(0 <= share <= 1 and "reading data: " in phrase for share, phrase in told)
    assert told
    stop.set()
    for read in (read_table, Schema.draft):
        with pytest.raises(Cancelled):
            read(raw, stop=stop)
    (tmp_path / "t.csv").write_bytes(raw)
    monkeypatch.setattr("engine.cli.schema.watched", partial(nullcontext, Monitor(stop=stop)))
    assert main(["schema", "draft", str(tmp_path / "t.csv")]) == 130
    assert capsys.readouterr() == ("", "Stopped before the table was read.\n")
