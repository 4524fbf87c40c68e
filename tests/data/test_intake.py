"""A table means the same whichever way it comes in, and what a plain pandas line says."""

import gzip
import io
import json
import sqlite3
import zipfile
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from random import Random

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

from engine import Dataset, InputError, Schema, load_schema, read_table
from engine.data import sources
from engine.data.column import MAX_LEVELS, Column, Dialect, Person
from engine.data.reading import read
from engine.monitor import QUIET
from pages.worker import Upload, columns
from tests.boundary.fuzz import rows_of
from tests.boundary.writers import Excel, meaning
from tests.boundary.writers import workbook as write_workbook

N = 240
pytestmark = pytest.mark.filterwarnings("ignore:.*See data.unforeseen:UserWarning")


def titanic():
    """Ids, texts, a constant, truth values, floats for levels, gaps, unicode."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "PassengerId": np.arange(1, N + 1),
            "Name": [f'Braund, Mr. "O" {k} é' for k in range(N)],
            "Survived": rng.choice([0.0, 1.0], N),
            "Pclass": rng.choice([1, 2, 3], N),
            "Sex": rng.choice(["male", "female"], N),
            "Age": np.where(rng.random(N) < 0.2, np.nan, rng.uniform(0, 80, N).round(1)),
            "Embarked": rng.choice(["S", "C", "Q", None], N, p=[0.6, 0.2, 0.15, 0.05]),
            "Alone": rng.choice([True, False], N),
            "Ship": "Titanic",
            " Home town ": rng.choice(["Çanakkale", "Łódź", "None"], N),
            "Cabin": rng.choice(["known", None], N),
        }
    )


def nhefs():
    """Whole numbers as floats because of gaps, a date, yes in three spellings."""
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "seqn": rng.permutation(np.arange(233, 233 + N)),
            "exam": pd.Timestamp("1971-03-01") + pd.to_timedelta(rng.integers(0, 1500, N), "D"),
            "qsmk": rng.choice([0.0, 1.0, np.nan], N, p=[0.5, 0.4, 0.1]),
            "asthma": rng.choice(["Yes", "yes ", "YES", "no"], N),
            "wt82_71": rng.normal(2, 8, N).round(3),
            "education": rng.choice([1, 2, 3, 4, 5], N),
        }
    )


def panel():
    """Eight waves of thirty persons, ids as floats."""
    rng = np.random.default_rng(2)
    return pd.DataFrame(
        {
            "person_id": np.repeat(np.arange(1.0, N / 8 + 1), 8),
            "wave": np.tile(np.arange(8), N // 8),
            "union": rng.choice(["no", "yes"], N),
            "wage": rng.uniform(1, 40, N).round(2),
            "region": rng.choice(["north", "South", None], N),
        }
    )


# What is not stated as it is found.
STATED = {
    "titanic": {"Age": {"cuts": [18, 40]}, "Embarked": ["C", "Q", "S"]},
    "nhefs": {
        "asthma": ["no", "yes"],
        "wt82_71": {"cuts": [0, 5]},
        "exam": {"part": "year", "cuts": [1972, 1974]},
    },
    "panel": {"wage": {"cuts": [10, 20]}, "region": ["north", "south"], "wave": {"cuts": [4]}},
}
MADE = (titanic, nhefs, panel)
FRAMES = {make.__name__: make for make in MADE}


def stated(name, draft):
    return draft.declare(*set(draft.names) - set(STATED[name]), **STATED[name])


def workbook(frame, path):
    """An Excel file of the frame: numbers as numbers, all else as text."""
    cells = [["" if pd.isna(v) else str(v) for v in row] for row in frame.astype(object).values]
    return Excel().save(path, [tuple(frame.columns), *map(tuple, cells)], Random(0))


def ways_in(frame, folder):
    """The same table in every form."""
    csv, table = frame.to_csv(index=False), pa.Table.from_pandas(frame, preserve_index=False)
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_csv(folder / "t.csv.gz", index=False)
    frame.to_csv(folder / "t.tsv", index=False, sep="\t")
    frame.to_parquet(folder / "t.parquet", index=False)
    feather.write_feather(table, folder / "t.arrow", compression="uncompressed")
    for kind in ("csv", "parquet"):
        (folder / f"parts {kind} [1]*").mkdir()
        for k in range(3):
            write = getattr(frame.iloc[k::3], f"to_{kind}")
            write(folder / f"parts {kind} [1]*" / f"{k}.{kind}", index=False)
    with duckdb.connect(str(folder / "t.duckdb")) as database:
        database.register("frame", table)
        database.execute("CREATE TABLE t AS SELECT * FROM frame")
    with sqlite3.connect(folder / "t.sqlite") as lite:
        frame.to_sql("t", lite, index=False)
    named = ("t.csv", "t.tsv", "t.csv.gz", "t.parquet", "t.arrow", "t.duckdb", "t.sqlite")
    found = {name: folder / name for name in named}
    found |= {p.name: p for p in folder.glob("parts*")}
    return found | {
        "excel": workbook(frame, folder / "t.xlsx"),
        "excel's bytes": (folder / "t.xlsx").read_bytes(),
        "parquet's bytes": (folder / "t.parquet").read_bytes(),
        "bytes": csv.encode(),
        "an open file": io.StringIO(csv),
        "utf-16": ("\ufeff" + csv).encode("utf-16-le"),
        "with a mark": f"\ufeff{csv}".encode(),
        "Windows' lines": csv.replace("\n", "\r\n").encode(),
        "frame": frame,
        "objects": frame.astype(object),
        "arrow": table,
        "another index and order": frame.sample(frac=1, random_state=3),
    }


def by_pandas(frame, schema):
    """How often each row of codes occurs, each cell by itself in plain Python."""
    columns = []
    for column in schema.columns:
        cells = frame[column.name]
        if column.part is not None:
            cells = getattr(pd.to_datetime(cells).dt, column.part)
        words = [None if pd.isna(cell) else str(cell) for cell in cells]
        columns.append([meaning(column, word) for word in words])
    return Counter(zip(*columns, strict=True))


# One of each reader: the others differ in what is around the cells, whatever these are. SQLite has
# no truth values.
DRAFTED = ("t.csv", "t.parquet", "t.arrow", "t.duckdb", "excel", "objects")


@pytest.mark.parametrize("name", FRAMES)
def test_code_for_code_the_same_by_every_way_in(name, tmp_path):
    frame = FRAMES[name]()
    draft = Schema.draft(frame)
    schema = replace(stated(name, draft), rows=N)
    want = read_table(frame, schema)
    assert rows_of(want) == by_pandas(frame.rename(columns=str.strip), schema)
    assert (want.declared, want.n, want.weights is not None) == (True, N, True)
    ways = ways_in(frame, tmp_path)
    for way in ways if name == "titanic" else DRAFTED:
        if way in DRAFTED:
            assert Schema.draft(ways[way]) == draft, way
        data = read_table(ways[way], schema)
        assert data.codes.tobytes() == want.codes.tobytes(), way
        assert (data.weights == want.weights).all(), way
        pd.testing.assert_frame_equal(data.unforeseen, want.unforeseen)
    with pytest.raises(InputError, match="blank rows at its end"):
        read_table(ways["excel"], replace(schema, rows=None))


def test_names_that_differ_in_case_alone_are_two(tmp_path):
    frame, place = panel().rename(columns={"union": "Wage"}), tmp_path / "t.parquet"
    frame.to_parquet(place, index=False)
    assert Schema.draft(place) == Schema.draft(frame)
    frame.rename(columns={"Wage": "Wage_2"}).to_parquet(tmp_path / "p", partition_cols=["Wage_2"])
    assert "Wage_2" in Schema.draft(tmp_path / "p").names


def test_a_cell_of_many_lines_is_read_wherever_it_lies():
    line, cell = b"no,%b\n" % (b"x" * 496), b'yes,"%b"\n' % (b"no,y\n" * 400_000)
    made = Column(name="b", type="unordered", levels=("y", "rest"), other="rest")
    schema = Schema((Column(name="a", type="ordered", levels=("no", "yes")), made))
    for before in (100, 30_000):  # the second crosses a border at 16 MB
        data = read(b"a,b\n" + line * before + cell + line, schema)
        assert rows_of(data) == {(0, 1): before + 1, (1, 1): 1}
    with pytest.raises(InputError, match="Line 2 of data begins a record that is longer than 4 MB"):
        read(b"a,b\n" + cell[:-2] + cell[5:-2] + cell[5:], schema)


X, BY_TYPE = ["x", "y"], ("1", "2", "2.5", "9007199254740993", "rest")
AB = {"a": [1, 2], "b": X}
PARTS = {
    "whole numbers, then others": ((AB, {"a": [2.5, 1.0], "b": X}), ["1x", "1y", "2.5x", "2y"]),
    "numbers, then words": ((AB, {"a": ["2.5", "q"], "b": X}), ["1x", "2.5x", "2y", "resty"]),
    "nothing, then words": (({"a": [None] * 2, "b": X}, {"a": ["1", "2"], "b": X}),
                            ["1x", "2y", "restx", "resty"]),
    "beyond 2^53": (({"a": [2**53 + 1, 2], "b": X}, {"a": [0.5, 2.0], "b": X}),
                    ["2y", "2y", "9007199254740993x", "restx"]),
    "names in another case": (({**AB, "A": [2, 2]}, {"A": [1, 1], "a": [2, 2], "b": X}),
                              ["1x", "2x", "2y", "2y"]),
    "a column of some": ((AB, {**AB, "z": X}), "Only some files of t have a column 'z'"),
    "a name twice": ((pa.table([[1, 2], X, X], ["a", "b", "a"]),), "are called 'a'"),
}  # fmt: skip


@pytest.mark.parametrize("case", PARTS)
def test_each_file_of_a_folder_is_read_by_its_own_types(case, tmp_path):
    made, want = PARTS[case]
    columns = (Column(name=n, type="ordered", levels=own, other="rest")
               for n, own in (("a", BY_TYPE), ("b", ("x", "y", "rest"))))  # fmt: skip
    schema = Schema((*columns,), dialect=Dialect(decimal="."))
    for order in (made, made[::-1]):
        (folder := tmp_path / f"c0=2/a={len(list(tmp_path.iterdir()))}/t").mkdir(parents=True)
        for k, one in enumerate(order):
            table = one if isinstance(one, pa.Table) else pa.table(one)
            parquet.write_table(table, folder / f"{k}.parquet")
        if isinstance(want, str):
            with pytest.raises(InputError, match=want):
                read(folder, schema)
            continue
        frame = read(folder, schema).to_frame().astype(str)
        assert sorted(frame["a"] + frame["b"]) == want
        frame.to_csv(folder.parent / "t.csv", index=False)  # in folders that look like columns
        assert rows_of(read(folder.parent / "t.csv", schema)) == rows_of(read(folder, schema))


def test_a_draft_says_why_it_leaves_columns_out_and_what_they_may_be(tmp_path):
    draft = Schema.draft(titanic())
    out = dict(draft.left_out)
    found, _ = columns(
        QUIET, Upload("t.csv", titanic().to_csv(index=False).encode())
    )  # the page's cards
    assert draft.left_out == tuple((one.name, why) for one in found if (why := one.left_out))
    assert out.keys() == {"PassengerId", "Name", "Ship"}
    assert "all different" in out["PassengerId"]
    assert "one value only" in out["Ship"]
    assert "None" in draft.levels[draft.names.index("Home town")]  # a real level
    assert draft.columns[draft.names.index("Embarked")].levels == ("C", "Q", "S", "missing")
    assert draft.columns[-1].levels == ("known", "missing")  # the gaps are its other level
    kept = draft.declare(Embarked=["S", "Q", "C"])
    assert kept.levels[kept.names.index("Embarked")] == ("S", "Q", "C", "missing")
    assert "whose year or month" in dict(Schema.draft(nhefs()).left_out)["exam"]
    person = dict(Schema.draft(panel()).left_out)["person_id"]
    assert "about 8 rows" in person
    assert "by_person" in person
    texts = pd.DataFrame(
        {"a": [0, 1] * 60, "b": list("xy") * 60, "said": [f"t {min(k, 70)}" for k in range(120)]}
    )
    out = dict(Schema.draft(texts.assign(nothing=None, **{"q" * 201: texts["b"]})).left_out)
    assert ("free text" in out["said"], out["nothing"]) == (True, "it is empty")
    assert "200 characters" in out["q" * 201]
    assert "said: left out, " in str(Schema.draft(texts))
    sizes = pd.Categorical(list("SML") * 40, ["S", "M", "L", "XL"])
    clothes = texts.assign(size=sizes, b=sizes.as_ordered())
    table = pa.Table.from_pandas(clothes)
    feather.write_feather(table, tmp_path / "t.arrow", compression="uncompressed")
    for source in (clothes, table, tmp_path / "t.arrow"):
        draft = Schema.draft(source)
        assert draft.levels[1:] == (("S", "M", "L", "XL"), ("S", "M", "L"))
        assert [column.type for column in draft.columns] == ["ordered", "ordered", "unordered"]


WORDS = Column(name="a", type="ordered", levels=("no", "yes", "rest"), other="rest")
MIXED = Column(name="a", type="ordered", levels=("x", "X", "1", "01"), other="x")
TRUTH = Column(name="a", type="ordered", levels=("0", "1"), other="0")
AGES = Column(name="a", type="numeric", cuts=(30.0, 50.0), other="level")
CODES = Column(name="a", type="numeric", cuts=(10.0,), other="level", missing=(30, "X", "none"))
GROUPS = Column(
    name="a",
    type="unordered",
    groups={"y": ["yes", "1"], "n": {"no": 2, "X": 1}},
    levels=("no", "X", "yes", "1", "rest"),
    other="rest",
)
CELLS = (
    *("no", "No", " no ", "\u00a0yes", "YES", "yes\t", "x", "X", "1", "1.0", "01", "1e0", "+1"),
    *("True", "false", "0.0", "-0", "30", "29.999", "[30, 50)", ">= 50", "missing", "", "NA"),
    *("nan", "None", "?", "inf", "1e400", "1,5", "1_0", "\u0661", "0x10", "\ufeff1", "'=x", '"'),
)


@pytest.mark.parametrize("column", [WORDS, MIXED, TRUTH, AGES, CODES, GROUPS])
def test_what_a_cell_means(column):
    other = Column(name="b", type="ordered", levels=tuple(f"{k}" for k in range(len(CELLS))))
    frame = pd.DataFrame({"a": CELLS, "b": range(len(CELLS))})
    for source in (frame, frame.to_csv(index=False).encode()):
        data = read(source, Schema((other, column)))
        found = data.codes[np.argsort(data.codes[:, 0]), 1].tolist()
        assert found == [meaning(column, cell) for cell in CELLS]


def test_numbers_are_written_as_the_schema_says(tmp_path):
    columns = (
        Column(name="a", type="numeric", cuts=(1.0, 1000.0), other="level"),
        Column(name="b", type="ordered", levels=("1,5", "2"), other="2"),
    )
    raw = b"a;b\n1,5;1,50\n1234,5;2\n0,5;1,5\n1.5;x\n"
    frame = pd.DataFrame({"a": [1.5, 1234.5, 0.5, "1.5"], "b": [1.5, 2, 1.5, "x"]}, dtype=object)
    book = workbook(frame[:3], tmp_path / "t.xlsx")  # numbers have no sign of text
    single, exact = frame[:3].astype("float32"), frame[:3].map(lambda v: Decimal(str(v)))
    for source, n in ((raw, 4), (frame, 4), (book, 3), (single, 3), (exact, 3)):
        data = read(source, Schema(columns, n, dialect=Dialect(decimal=",")))
        assert rows_of(data) == Counter([(1, 0), (2, 1), (0, 0), (3, 1)][:n])
    drafted = read_table(b"a;b\n1,5;x\n2,25;y\n3,0;x\n")  # by its own draft
    assert (drafted.levels[0], drafted.n) == (("1,5", "2,25", "3"), 3)


def test_facts_of_the_whole_table_hold_for_each_column(tmp_path):
    """A format of dates, also for the order of a person's rows; codes for missing."""
    rows = [
        ("p", "09/12/2021", -9, "a"),
        ("p", "10/11/2021", 3, "b"),
        ("q", "2019-02-01", "ref", "n.k."),
    ]
    frame = pd.DataFrame(rows * 2, columns=["who", "day", "dose", "kind"], dtype=object)
    columns = (
        Column(name="day", type="numeric", cuts=(2020.0,), part="year", take="last"),
        Column(name="dose", type="numeric", cuts=(2.0,), other="level", take="sum"),
        Column(name="kind", type="ordered", levels=("a", "b", "n.k."), missing=(), take="last"),
    )
    schema = Schema(columns, person=Person(id="who", order="day"), missing=(-9, "REF", "n.k."))
    schema = replace(schema, dialect=Dialect(date="%d/%m/%Y"))
    assert load_schema(json.dumps(schema.to_json()).encode()) == schema
    assert schema.to_json()["version"] == 2
    frame.to_csv(tmp_path / "t.csv", index=False)
    for source in (frame, tmp_path / "t.csv"):
        assert rows_of(read_table(source, schema)) == Counter([(1, 1, 0), (0, 2, 2)])


# Cells that match no level ---------------------------------------------------------------------


def test_what_matches_no_level_is_a_warning_without_a_cell_and_a_frame_with_some():
    frame = pd.DataFrame({"sex": ["f", "m", "d", None] * 25, "age": ["3", "70", "?", "n.k."] * 25})
    columns = (
        Column(name="sex", type="ordered", levels=("f", "m"), other="m"),
        Column(name="age", type="numeric", cuts=(18.0,), other="level"),
    )
    with pytest.warns(UserWarning, match=r"'sex': 25 of 100 cells \(25 %\) are no level and"):
        data = read_table(frame, Schema(columns))
    assert data.unforeseen.values.tolist() == [
        ["sex", 25, 0.25, "d", "m"],
        ["sex", 25, 0.25, "(empty)", "m"],
        ["age", 25, 0.25, "n.k.", "missing"],
        ["age", 25, 0.25, "(empty)", "missing"],
    ]
    assert [u.asks for u in data.unforeseen_cells] == [True, True, True, False]
    assert "n.k." not in f"{data!r}{data}{data.unforeseen_cells}{data.notes}"


# One row a person ------------------------------------------------------------------------------

YES = {"type": "ordered", "levels": ("no", "yes"), "other": "no"}
STAGES = {"type": "ordered", "levels": ("I", "II", "missing"), "other": "missing"}
VISITS = Schema(
    (
        Column(name="smoker", **YES, take="any"),
        Column(name="stage", **STAGES, take="last"),
        Column(name="ward", **STAGES, take="first"),
        Column(name="worst", **STAGES, take="any"),
        Column(name="grade", type="ordered", levels=("1", "2", "3"), take="most"),
        Column(name="dose", type="numeric", cuts=(0.3, 10), other="level", take="sum"),
        Column(name="visits", type="numeric", cuts=(2, 4), take="count"),
    ),
    person=Person(id="patient", order="day"),
)


def visits(n=400, persons=60):
    """Visits with gaps, ties in the day, and some that say of nobody whose they are."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "patient": [k if k else None for k in rng.integers(0, persons, n)],
            "day": rng.choice(["2024-03-01", "2024-03-02 08:00", "2024-03-02T07:00:00Z", None], n),
            "smoker": rng.choice(["no", "yes"], n, p=[0.8, 0.2]),
            **{name: rng.choice(["I", "II", None], n) for name in ("stage", "ward", "worst")},
            "grade": rng.choice(["1", "2", "3"], n),
            "dose": rng.choice(["0.1", "0.2", "5", None], n),
        }
    )


def persons_by_hand(frame):
    """How often each person's row occurs, by the words of the rules."""
    days = {"2024-03-01": 1.0, "2024-03-02T07:00:00Z": 2.0, "2024-03-02 08:00": 3.0}
    stages = {"I": 0, "II": 1}
    found = Counter()
    for _, rows in frame.dropna(subset=["patient"]).groupby("patient"):
        at = [days.get(day, -1.0) for day in rows["day"]]
        grades = Counter(rows["grade"])
        doses = [float(dose) for dose in rows["dose"] if isinstance(dose, str)]
        held = [stages[w] for w in rows["worst"] if w in stages]

        def of_day(name, day, rows=rows, at=at):
            cells = zip(rows[name], at, strict=True)
            return min(stages.get(cell, 2) for cell, when in cells if when == day)

        total = round(sum(doses), 6)
        found[
            int("yes" in set(rows["smoker"])),
            of_day("stage", max(at)),
            of_day("ward", min(at)),
            max(held, default=2),
            int(min(g for g in grades if grades[g] == max(grades.values()))) - 1,
            3 if not doses else int(total >= 0.3) + int(total >= 10),
            int(len(rows) >= 2) + int(len(rows) >= 4),
        ] += 1
    return found


def test_each_rule_of_a_person_is_what_its_word_says(tmp_path):
    frame = visits()
    data = read_table(frame, VISITS)
    assert rows_of(data) == persons_by_hand(frame)
    assert data.n == frame["patient"].nunique()
    nobody = data.unforeseen_cells[-1]
    assert (nobody.column, nobody.cells) == ("patient", int(frame["patient"].isna().sum()))
    assert nobody.to == "nobody: left out"
    frame.to_csv(tmp_path / "v.csv", index=False)  # 13 is 13.0 there
    for source in (tmp_path / "v.csv", frame.sample(frac=1, random_state=1), frame.astype(object)):
        again = read_table(source, VISITS)
        assert again.codes.tobytes() == data.codes.tobytes()
        assert (again.weights == data.weights).all()
    counts = (Column(name=n, type="numeric", cuts=(2, 4), take="count") for n in "ab")
    assert (np.diff(read_table(frame, Schema((*counts,), person=VISITS.person)).codes) == 0).all()


def test_a_table_of_persons_is_read_back_by_its_schema(tmp_path):
    """Every level by every rule, also where no rows can sum or count to it."""
    columns = (
        *VISITS.columns,
        Column(name="fine", type="numeric", cuts=(1e-9, 1e14), other=2, take="sum"),
        Column(name="day", type="numeric", cuts=(3, 5), other="level", take="first"),
        Column(name="calls", type="numeric", bounds=(0, 1), bins=4, take="count"),
    )
    schema = Schema(columns, person=VISITS.person)
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, c.size, 300) for c in columns])
    frame = Dataset.from_codes(codes, schema.names, schema.levels).to_frame(schema)
    ways = ways_in(frame.astype(str), tmp_path)
    for source in (frame, *map(ways.get, DRAFTED)):
        data = read_table(source, schema)
        assert (rows_of(data), data.unforeseen_cells) == (Counter(map(tuple, codes.tolist())), ())
    with pytest.raises(InputError, match="no column 'patient'"):
        read_table(frame.drop(columns="patient"), schema)


def test_a_text_id_without_a_file_of_a_schema():
    frame = panel().assign(person_id=[f"p{k:.0f}" for k in panel()["person_id"]])
    schema = stated("panel", Schema.draft(frame)).keep("union", "wage")
    data = read_table(frame, schema.by_person("person_id", "wave", union="last", wage="last"))
    last = frame[frame["wave"] == 7]
    want = Counter(
        zip((last["union"] == "yes") * 1, np.digitize(last["wage"], [10, 20]), strict=True)
    )
    assert rows_of(data) == want


# What is refused ---------------------------------------------------------------------------------

TWO = Schema((Column(name="a", **YES), Column(name="b", **YES)))
SECRET = "s3cret"
REFUSED = {
    "too few cells": (b"a,b\nno,no\ns3cret\n", "Line 3 of data does not have as many cells"),
    "too many cells": (b"a,b\nno,s3cret,no\n", "Line 2 of data does not have as many cells"),
    "an open quote": (b'a,b\nno,no\n"s3cret,no\n', "Line 3 of data has a quotation mark"),
    "one after others": (
        b'a,b\nx"y," ""q"","\n" no", "s3cret,""\nno,no\n',
        "Line 3 of data has a quotation",
    ),
    "text after a quote": (b'a,b\n"s3cret"x,no\n', "Line 2 of data has a quotation mark"),
    "no UTF-8": (b"a,b\nno,no\ns3cret\xff\xfe,no\n", "Line 3 of data is not text"),
    "a carriage return": (b"a,b\nno,no\ns3cret\r,no\n", "Line 3 of data has mixed line endings"),
    "a stray return": (b"a,b\r\nno,no\r\ns3\rcret,no\r\n", "Line 3 of data has mixed line endings"),
    "an endless line": (b"a,b\nno,no\n" + b"s3cret" * 500_000 + b",no\n", "Line 3 of data is long"),
    "a line break": (b'\xef\xbb\xbf"a\na",b\nno,no\n', "The first name of data has a line break"),
    "a name twice": (b"a,a\nno,no\n", "are called 'a'"),
    "one column": (b"a\nno\nyes\n", "1 column with a name in its first line; give 2 to 1,000"),
    "nothing": (b"", "0 columns"),
    "a bomb": (gzip.compress(b"a,b\n") + gzip.compress(b"0" * 10**7), "Line 2 of data is longer"),
    "no rows": (b"a,b\n", "no rows"),
    "another column": (b"a,c\nno,no\nno,no\n", "no column 'b'"),
    "no text": (b"\xff\x01,b\nno,no\n", "not utf-8 text with a header line"),
    "old lines": (b"a,b\rno,s3cret\rno,no\r", "lines of data end with carriage returns only"),
    "blanks between": (b"a b\nno s3cret\n", "separated by commas instead of blanks"),
    "no workbook": (b"PK\x03\x04 s3cret", "cannot be read as a workbook"),
    "no parquet": (b"PAR1 s3cret", "cannot be read as parquet"),
    "no arrow": (b"ARROW1 s3cret", "cannot be read as arrow"),
    "half a gzip": (gzip.compress(b"a,b\n" + b"no,s3cret\n" * 9999)[:60], "data is damaged"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_malformed_file_is_refused_without_a_cell(case, capfd):
    raw, sentence = REFUSED[case]
    with pytest.raises(InputError) as caught:
        read_table(raw, TWO)
    said = str(caught.value)
    assert sentence in said
    assert SECRET not in said
    assert "\n" not in said
    assert caught.value.__context__ is None or caught.value.__suppress_context__
    assert capfd.readouterr() == ("", "")


def test_sources_that_are_none_are_one_sentence(tmp_path):
    for name, headers in (("empty", ()), ("odd", ("a,b", "a,c"))):
        (tmp_path / name).mkdir()
        for header in headers:
            (tmp_path / name / f"{header}.csv").write_text(f"{header}\nno,no\n")
    for source, sentence in (
        (None, "not nothing"),
        (tmp_path / "empty", "holds no CSV and no Parquet"),
        (tmp_path / "odd", "do not have the same header"),
    ):
        with pytest.raises(InputError, match=sentence):
            read_table(source, TWO)
    with pytest.raises(InputError, match="A query needs"):
        read_table(b"a,b\nno,no\n", TWO, query="SELECT 1")


def test_files_that_say_what_they_are_are_read_so(tmp_path):
    """Excel's line, UTF-16 without its mark, half floats, what is not computed yet."""
    frame = pd.DataFrame({"a": [0.5, 1.5, 0.5], "b": ["no", "yes", "no"]})
    columns = (Column(name="a", type="numeric", cuts=(1.0,)), Column(name="b", **YES))
    schema, text = Schema(columns), "a;b\n0.5;no\n1.5;yes\n.5;no\n"

    class Lazy:
        def collect(self):
            return pa.Table.from_pandas(frame)

    half = frame.astype({"a": "float16"})
    half_table = pa.table({"a": pa.array(frame["a"].astype("float16")), "b": frame["b"]})
    parquet.write_table(half_table, tmp_path / "t.parquet")
    excel = f"sep=;\n{text}"
    for source in (
        *(excel.encode(), excel.replace("\n", "\r\n").encode(), f"\ufeff{excel}".encode()),
        *(text.encode("utf-16-le"), text.encode("utf-16-be"), excel.encode("utf-16-le")),
        *(half, half_table, tmp_path / "t.parquet", Lazy()),
    ):
        assert rows_of(read_table(source, schema)) == {(0, 0): 2, (1, 1): 1}
    frame.loc[[0, 1, 2] * 9].to_csv(tmp_path / "t.csv")  # with pandas' index
    assert "column 1: left out, it has no name" in str(Schema.draft(tmp_path / "t.csv"))


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_join_that_repeats_rows_is_refused_unless_somebody_says_what_a_record_is(kind, tmp_path):
    place = tmp_path / f"t.{kind}"
    with (sqlite3 if kind == "sqlite" else duckdb).connect(str(place)) as database:
        database.execute("CREATE TABLE p (id INT, a TEXT)")
        database.execute("CREATE TABLE v (id INT, b TEXT)")
        database.execute("INSERT INTO p VALUES (1, 'no'), (2, 'yes')")
        database.execute("INSERT INTO v VALUES (1, 'no'), (1, 'yes'), (2, 'no')")
        database.execute("CREATE VIEW j AS SELECT * FROM p")
    database.close()
    again = "SELECT p.a, w.b FROM p JOIN v ON p.id = v.id JOIN v w ON p.id = w.id"
    with pytest.raises(InputError, match=r"more rows \(5\) than any table of t.* a join repeats"):
        read_table(place, TWO, query=again)
    assert read_table(place, replace(TWO, rows=5), query=again).n == 5
    assert read_table(place, TWO, query="SELECT a, b FROM p JOIN v ON p.id = v.id").n == 3
    person = TWO.by_person("id", a="most", b="any")
    assert read_table(place, person, query="SELECT p.id, a, w.b FROM p, v, v w").n == 2


WRITES = ("DELETE FROM t", "DROP TABLE t", "ATTACH 'x.db' AS x", "VACUUM INTO 'y.db'", "nonsense")
DUCKS = (*WRITES, "COPY t TO 'y.csv'", "SELECT * FROM read_csv('/etc/hosts')", "SET threads = 1")


@pytest.mark.parametrize(
    ("kind", "query"), [*(("sqlite", q) for q in WRITES), *(("duckdb", q) for q in DUCKS)]
)
def test_a_query_only_reads_and_quotes_nothing(kind, query, tmp_path):
    place = tmp_path / f"t.{kind}"
    database = (sqlite3 if kind == "sqlite" else duckdb).connect(str(place))
    if kind == "sqlite":
        database.execute("PRAGMA journal_mode = wal")
    database.execute("CREATE TABLE t (a TEXT, b TEXT)")
    database.execute("INSERT INTO t VALUES ('no', 's3cret'), ('no', 's3cret'), ('no', 'yes')")
    database.commit()
    database.close()
    before = place.read_bytes()
    with pytest.raises(InputError) as caught:
        read_table(place, TWO, query=query)
    assert SECRET not in str(caught.value)
    assert place.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1
    if query == "nonsense":
        assert read_table(place, TWO, query="SELECT a, b FROM t WHERE a = 'no'; ").n == 3
        with pytest.raises(InputError, match="query"):  # it quotes no value that cannot be taken
            read_table(place, TWO, query="SELECT a, CAST(b AS INTEGER) / 0 % json(b) AS b FROM t")


def test_a_workbook_that_unpacks_to_gigabytes_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_MOST_UNPACKED", 1 << 20)
    cells = '<row r="{0}"><c r="{1}{0}"><v>1</v></c></row>'.format
    far = cells(1, "A") + cells(1_048_576, "XFD")
    bombs = [write_workbook(tmp_path / "far.xlsx", far), tmp_path / "zeros.xlsx"]
    with zipfile.ZipFile(bombs[1], "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/worksheets/sheet1.xml", bytes(1 << 21))
    for bomb in bombs:
        with pytest.raises(InputError, match="too large a workbook"):
            read_table(bomb, TWO)


def test_the_most_levels_and_cells_of_none_in_every_place_of_a_key():
    """Ten columns, so two keys; in row j column j has a word of no level, column j + 1 a gap.

    The first and the last column of a key have the most levels.
    """
    sizes = np.where(np.isin(range(10), [0, 8, 9]), MAX_LEVELS, 10)
    levels = [tuple(f"v{i}" for i in range(size)) for size in sizes]
    cells = np.array([[own[-1] for own in levels]] * 10, dtype=object)
    for j in range(10):
        cells[j, j], cells[j, (j + 1) % 10] = "strange", ""
    frame = pd.DataFrame(cells, columns=[f"c{j}" for j in range(10)])
    made = [Column(name=n, type="ordered", levels=own, other=own[j])
            for j, (n, own) in enumerate(zip(frame, levels, strict=True))]  # fmt: skip
    data = read_table(frame, Schema(tuple(made)))
    expected = np.where(np.isin(cells, ["strange", ""]), np.arange(10), sizes - 1)
    assert sorted(map(tuple, data.codes)) == sorted(map(tuple, expected))
    assert data.unforeseen["cells"].tolist() == [1] * 20
