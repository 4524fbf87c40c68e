"""Files and frames as people have them, and what each gives: python -m scripts.tables [--write].

``--write`` puts the table into docs/reference/tables.md. A test compares it with what is read.
"""

from __future__ import annotations

import gzip
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet

from engine import Dataset, InputError, Schema, read_codebook, read_csv, read_table
from engine.data.schema import Column, Person

DOC = Path(__file__).resolve().parent.parent / "docs" / "reference" / "tables.md"
START, END = "<!-- python -m scripts.tables --write -->\n", "<!-- end -->\n"
N = 60
CHANCE = np.random.default_rng(11)
STAGE = CHANCE.choice(["I", "II", "III"], N)
SMOKES = CHANCE.choice(["no", "yes"], N)
AGE = CHANCE.integers(20, 90, N)
FRAME = pd.DataFrame({"age": AGE, "stage": STAGE, "smokes": SMOKES})
GAPS = FRAME.assign(age=FRAME["age"].where(AGE % 7 > 0), stage=FRAME["stage"].where(AGE % 5 > 0))
VISITS = pd.DataFrame(
    {
        "patient": CHANCE.integers(0, 20, N),
        "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(CHANCE.integers(0, 90, N), "D"),
        "dose": CHANCE.integers(0, 9, N),
        "smokes": SMOKES,
    }
)
TWO: dict[str, Any] = {"type": "ordered", "levels": ("no", "yes")}
STAGES: dict[str, Any] = {"type": "ordered", "levels": ("I", "II", "III")}
CUT = Schema(
    (
        Column(name="age", type="numeric", cuts=(40, 55, 70), other="level"),
        Column(name="stage", **STAGES),
        Column(name="smokes", **TWO),
    )
)
BINS = Schema((Column(name="age", type="numeric", bounds=(0, 100), bins=4), *CUT.columns[1:]))
REFUSING = Schema((Column(name="age", type="numeric", cuts=(40, 55, 70)), *CUT.columns[1:]))
PERSONS = Schema(
    (
        Column(name="dose", type="numeric", cuts=(5, 15), take="sum"),
        Column(name="smokes", **TWO, take="any"),
        Column(name="visits", type="numeric", cuts=(2, 4), take="count"),
    ),
    person=Person(id="patient", order="day"),
)
BOOK = b"name,levels,cuts,other\nage,,40|55|70,level\nstage,I|II|III,,\nsmokes,no|yes,,\n"
LONG = b"column,value\nstage,I\nstage,II\nstage,III\nsmokes,no\nsmokes,yes\n"

Case = tuple[str, Callable[[Path], Any], dict[str, Any]]


def text(frame: pd.DataFrame = FRAME, **how: Any) -> bytes:
    """A frame as the bytes of a CSV file."""
    return str(frame.to_csv(index=False, **how)).encode()


def _kept(folder: Path, name: str, write: Callable[[Path], Any]) -> Path:
    path = folder / name
    write(path)
    return path


def _parts(folder: Path, frame: pd.DataFrame) -> Path:
    (folder / "parts").mkdir(exist_ok=True)
    for k in range(2):
        parquet.write_table(_arrow(frame.iloc[k::2]), folder / "parts" / f"{k}.parquet")
    return folder / "parts"


def _arrow(frame: pd.DataFrame) -> pa.Table:
    return pa.Table.from_pandas(frame, preserve_index=False)


def _sqlite(path: Path, frame: pd.DataFrame) -> None:
    with sqlite3.connect(path) as database:
        frame.astype(str).to_sql("t", database, index=False)
    database.close()


def _duckdb(path: Path, frame: pd.DataFrame) -> None:
    with duckdb.connect(str(path)) as database:
        database.register("f", frame)
        database.execute("CREATE TABLE t AS SELECT * FROM f")


def files() -> Iterator[Case]:
    """Files: text in its dialects, and tables that come with types."""
    euro = FRAME.assign(age=FRAME["age"] + 0.5)
    semicolons = text(euro, sep=";", decimal=",")
    yield "CSV", lambda _: text(), {}
    yield "TSV", lambda _: text(sep="\t"), {}
    yield "semicolons and decimal commas", lambda _: semicolons, {}
    yield "the same, columns stated", lambda _: semicolons, {"schema": CUT}
    yield "1,000 beside semicolons", lambda _: b"a;b\n1,000;x\n2,500;y\n3,000;x\n", {}
    yield "1,000 beside tabs", lambda _: b"a\tb\n1,000\tx\n2,500\ty\n", {}
    yield "pipes", lambda _: text(sep="|"), {}
    yield "gzip", lambda _: gzip.compress(text()), {}
    yield "UTF-8 with its mark", lambda _: b"\xef\xbb\xbf" + text(), {}
    yield "UTF-16 with its mark", lambda _: text().decode().encode("utf-16"), {}
    yield "UTF-16 without a mark", lambda _: text().decode().encode("utf-16-le"), {}
    yield "Latin-1, not said", lambda _: "a,b\né,1\nx,2\n".encode("latin-1"), {}
    yield "Latin-1, said", lambda _: "a,b\né,1\nx,2\n".encode("latin-1"), {"encoding": "latin-1"}
    yield "comments above", lambda _: b"# by hand\n" + text(), {}
    yield "a row index without a name", lambda _: str(FRAME.to_csv()).encode(), {}
    yield "no header", lambda _: b"1.5,2\n2.5,3\n3.5,4\n", {}
    yield "a line too long", lambda _: text() + b"1,I,no,more\n", {}
    yield "a column twice", lambda _: b"a,a\n1,2\n2,1\n", {}
    yield "one column", lambda _: b"a\n1\n2\n", {}
    yield "an empty file", lambda _: b"", {}
    yield "a workbook's bytes as CSV", lambda _: b"PK\x03\x04\x00\x00\xff\xfe", {}
    yield "Parquet", lambda f: _kept(f, "a.parquet", FRAME.to_parquet), {}
    yield "a folder of Parquet files", lambda f: _parts(f, FRAME), {}
    yield "Arrow", lambda f: _kept(f, "a.arrow", lambda p: feather.write_feather(FRAME, p)), {}
    yield "SQLite", lambda f: _kept(f, "a.sqlite", lambda p: _sqlite(p, FRAME)), {}
    yield "DuckDB", lambda f: _kept(f, "a.duckdb", lambda p: _duckdb(p, FRAME)), {}
    yield (
        "a query on DuckDB",
        lambda f: _kept(f, "b.duckdb", lambda p: _duckdb(p, FRAME)),
        {"query": "SELECT age, smokes FROM t WHERE age > 40"},
    )
    yield "no file", lambda f: f / "nowhere.csv", {}


def frames() -> Iterator[Case]:
    """Frames, and columns of types that need a word."""

    def one(cells: Any) -> Callable[[Path], Any]:
        return lambda _: pd.DataFrame({"a": cells, "b": SMOKES[: len(cells)]})

    months = pd.date_range("2024-01-01", periods=N, freq="ME")
    lo_hi = ["lo", "hi"] * 30
    yield "a pandas frame", lambda _: FRAME, {}
    yield "an Arrow table", lambda _: _arrow(FRAME), {}
    yield "booleans", one([True, False] * 30), {}
    yield "categories lo, hi", one(pd.Categorical(lo_hi, categories=["lo", "hi"])), {}
    yield "ordered categories", one(pd.Categorical(lo_hi, ["lo", "mid", "hi"], ordered=True)), {}
    yield "dates", one(months), {}
    yield "dates with a time zone", one(months.tz_localize("Europe/Berlin")), {}
    yield "ISO times in two zones", one(["2024-01-01T00:30+02:00", "2024-01-01T00:00Z"] * 30), {}
    yield "periods", one(pd.period_range("2024", periods=N, freq="D").astype(object)), {}
    yield "mixed objects", one([1, "x", 2.5, (1, 2)] * 15), {}
    yield "infinite numbers", one([1.0, 2.5, np.inf] * 20), {}
    yield "complex numbers", one([1j, 2] * 30), {}
    yield "lists", one([[1], [2]] * 30), {}
    yield "one value only", one(["x"] * N), {}
    yield (
        "200 different words",
        lambda _: pd.DataFrame({"a": [f"w{k}" for k in range(200)], "b": 1}),
        {},
    )
    yield "a column twice, in pandas", lambda _: pd.DataFrame([[1, 2]] * 4, columns=["a", "a"]), {}
    yield "a series", lambda _: FRAME["age"], {}


def stated() -> Iterator[Case]:
    """Missing values, cut points, drafts, codebooks, persons with many rows."""
    tail = pd.DataFrame({"visits": [0] * 50 + list(range(10)), "smokes": SMOKES})
    cut_tail: dict[str, Any] = {"type": "numeric", "cuts": (1, 3, 6)}
    yield "missing values, nothing said", lambda _: GAPS, {}
    yield "missing values as a level", lambda _: GAPS, {"missing": "level"}
    yield "rows with missing values dropped", lambda _: GAPS, {"missing": "drop"}
    yield "missing values, columns stated", lambda _: GAPS, {"schema": CUT}
    yield "missing numbers the schema refuses", lambda _: GAPS, {"schema": REFUSING}
    yield "cut points", lambda _: FRAME, {"schema": CUT}
    yield "equal bins", lambda _: FRAME, {"schema": BINS}
    yield (
        "a long tail at cut points",
        lambda _: tail,
        {"schema": Schema((Column(name="visits", **cut_tail), Column(name="smokes", **TWO)))},
    )
    yield "a draft, not stated", lambda _: FRAME, {"schema": Schema.draft(FRAME)}
    drafted = Schema.draft(FRAME).state("stage", "smokes", age="age in tens")
    yield "a draft, stated", lambda _: FRAME, {"schema": drafted}
    yield "a codebook, one line a column", lambda _: FRAME, {"schema": read_codebook(BOOK)}
    yield "a codebook, one line a level", lambda _: FRAME, {"schema": read_codebook(LONG)}
    yield (
        "a column the schema names and the file has not",
        lambda _: FRAME[["age", "stage"]],
        {"schema": CUT},
    )
    yield "visits, one row a person (pandas)", lambda _: VISITS, {"schema": PERSONS}
    yield "visits, one row a person (CSV)", lambda _: text(VISITS), {"schema": PERSONS}
    yield "visits in a folder of Parquet files", lambda f: _parts(f, VISITS), {"schema": PERSONS}
    yield (
        "visits without the column of ids",
        lambda _: VISITS.drop(columns="patient"),
        {"schema": PERSONS},
    )


def what(source: Any, options: dict[str, Any]) -> str:
    """What a table gives: its size and whether it is declared, or the sentence of its refusal."""
    try:
        data = (read_csv if isinstance(source, bytes) else read_table)(source, **options)
    except InputError as error:
        return str(error)
    return _size(data, options.get("schema"))


def _size(data: Dataset, schema: Schema | None) -> str:
    levels = " × ".join(map(str, data.cardinalities))
    records = "rows" if schema is None else schema.what
    state = "defended" if data.declared else "not defended"
    return f"{data.n} {records}, {levels} levels, {state}"


def table() -> str:
    """All cases as Markdown."""
    lines = ["| table | gives |", "|---|---|"]
    with tempfile.TemporaryDirectory() as name:
        for cases in (files(), frames(), stated()):
            for title, make, options in cases:
                folder = Path(name) / str(len(lines))
                folder.mkdir()
                said = what(make(folder), options).replace(str(folder), "").replace("|", "\\|")
                lines.append(f"| {title} | {said} |")
    return "\n".join([*lines, ""])


def main(argv: list[str]) -> None:
    """Print the table, or write it into the document."""
    if "--write" not in argv:
        print(table(), end="")
        return
    before, rest = DOC.read_text(encoding="utf-8").split(START)
    DOC.write_text(f"{before}{START}{table()}{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
