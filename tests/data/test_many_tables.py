"""Tables as people have them, and as they should not: what each one gives."""

import gzip
import io
import sqlite3
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

from engine import read_table
from engine.data.dataset import Dataset
from engine.data.levels import MAX_LEVELS
from engine.errors import DataError, InputError

AB = (("no", "yes"), ("1", "2"))  # the levels of the plain table
PLAIN = "a,b\nyes,1\nno,2\nyes,2\n"
MARKED = "a,b\nyes,1\n,2\nyes,2\nno,NA\n"


def text(content: str, encoding: str = "utf-8") -> bytes:
    return content.encode(encoding)


# Content, options -> levels of the columns a and b.
GOOD: dict[str, tuple[bytes, dict, tuple]] = {
    "comma": (text(PLAIN), {}, AB),
    "semicolon": (text(PLAIN.replace(",", ";")), {}, AB),
    "tab": (text(PLAIN.replace(",", "\t")), {}, AB),
    "pipe": (text(PLAIN.replace(",", "|")), {}, AB),
    "Windows line ends": (text(PLAIN.replace("\n", "\r\n")), {}, AB),
    "old Mac line ends": (text(PLAIN.replace("\n", "\r")), {}, AB),
    "byte order mark": (text(PLAIN, "utf-8-sig"), {}, AB),
    "UTF-16, said": (text(PLAIN, "utf-16"), {"encoding": "utf-16"}, AB),
    "Latin-1, said": (
        text(PLAIN.replace("yes", "sí"), "latin-1"),
        {"encoding": "latin-1"},
        (("no", "sí"), ("1", "2")),
    ),
    "gzip": (gzip.compress(text(PLAIN)), {}, AB),
    "gzip of UTF-16": (gzip.compress(text(PLAIN, "utf-16")), {"encoding": "utf-16"}, AB),
    "pandas index": (b",a,b\n0,yes,1\n1,no,2\n2,yes,2\n", {}, AB),
    "R row names": (b'"","a","b"\n"x","yes",1\n"y","no",2\n"z","yes",2\n', {}, AB),
    "separator after every line": (b"a,b,\nyes,1,\nno,2,\nyes,2,\n", {}, AB),
    "separator after rows alone": (b"a,b\nyes,1,\nno,2,\nyes,2,\n", {}, AB),
    "comments above": (b"# made by hand\n# in spring\na,b\nyes,1\nno,2\n", {}, AB),
    "comments between": (b"a,b\nyes,1\n# half\nno,2\n", {}, AB),
    "sep= line": (text("sep=;\n" + PLAIN.replace(",", ";")), {}, AB),
    "blank lines": (b"\n\na,b\n\nyes,1\n\nno,2\n", {}, AB),
    "quoted separators": (
        b'a,b\n"yes, sir",1\nno,2\n',
        {},
        (("no", "yes, sir"), ("1", "2")),
    ),
    "quoted line ends": (b'a,b\n"yes\nsir",1\nno,2\n', {}, (("no", "yes\nsir"), ("1", "2"))),
    "blank before a quote": (b'a, b\n "y, s", 1\nno, 2\n', {}, (("no", "y, s"), ("1", "2"))),
    "decimal comma": (b"a;b\n1,5;x\n-2,25;y\n10;x\n", {}, (("-2,25", "1,5", "10"), ("x", "y"))),
    "thousands": (
        b'a,b\n"1,000,000",x\n"9,500",y\n12,x\n',
        {},
        (("12", "9,500", "1,000,000"), ("x", "y")),
    ),
    "thousands with points": (
        b"a;b\n1.000,5;x\n900,5;y\n",
        {},
        (("900,5", "1.000,5"), ("x", "y")),
    ),
    "thousands with blanks, said": (
        b"a,b\n1 000,x\n900,y\n",
        {"thousands": " "},
        (("900", "1 000"), ("x", "y")),
    ),
    "UTF-16 by its mark": (text(PLAIN, "utf-16"), {}, AB),
    "UTF-16 by its mark, packed": (gzip.compress(text(PLAIN, "utf-16")), {}, AB),
    "a comma beside semicolons": (
        b"a;b\n1,000;x\n0,900;y\n",
        {},
        (("0,900", "1,000"), ("x", "y")),
    ),
    "dates in two time zones": (
        b"a,b\n2024-02-10T23:30:00Z,1\n2024-02-11T00:00:00+02:00,2\n",
        {},
        (("2024-02-11T00:00:00+02:00", "2024-02-10T23:30:00Z"), ("1", "2")),
    ),
    "comma said to be decimal": (
        b"a;b\n1,000;x\n0,900;y\n",
        {"decimal": ","},
        (("0,900", "1,000"), ("x", "y")),
    ),
    "missing as a level": (
        text(MARKED),
        {"missing": "level"},
        (("no", "yes", "missing"), ("1", "2", "missing")),
    ),
    "missing rows dropped": (text(MARKED + "no,1\n"), {"missing": "drop"}, AB),
    "missing is a level's name": (
        b"a,b\nmissing,1\n,2\nx,1\n",
        {"missing": "level"},
        (("missing", "x", "missing (2)"), ("1", "2")),
    ),
    "booleans": (b"a,b\nTrue,1\nFalse,2\n", {}, (("False", "True"), ("1", "2"))),
    "few dates": (
        b"a,b\n2024-10-02,1\n2024-02-10,2\n",
        {},
        (("2024-02-10", "2024-10-02"), ("1", "2")),
    ),
}


@pytest.mark.parametrize("case", GOOD)
def test_a_real_file_is_read(case: str) -> None:
    content, options, levels = GOOD[case]
    data = read_table(io.BytesIO(content), **options)
    assert data.names == ("a", "b")
    assert data.levels == levels
    again = read_table(content, **options)
    assert again.fingerprint == data.fingerprint


BROKEN: dict[str, tuple[bytes, dict, str]] = {
    "Latin-1, not said": (text("a,b\né,1\nx,2\n", "latin-1"), {}, "not UTF-8.*say its encoding"),
    "UTF-8 said to be UTF-16": (text(PLAIN + " "), {"encoding": "utf-16"}, "not UTF-16"),
    "unknown encoding": (text(PLAIN), {"encoding": "klingon"}, "encoding must be one of"),
    "missing": (text(MARKED), {}, "Missing values in columns 'a' \\(1\\), 'b' \\(1\\)"),
    "nothing left": (b"a,b\n,1\n2,\n", {"missing": "drop"}, "has no rows of data"),
    "ambiguous comma": (b"a\tb\n1,000\tx\n2,500\ty\n", {}, "numbers whose comma may be"),
    "an infinite number": (b"a,b\n1,x\n2.5,y\ninf,x\n", {}, "'a' holds an infinite number"),
    "no header": (b"5.1,3.5\n4.9,3.0\n4.7,3.2\n", {}, "numbers alone; put a line"),
    "broken gzip": (gzip.compress(text(PLAIN))[:-9], {}, "broken gzip"),
    "comments alone": (b"# a\n# b\n", {}, "no header line"),
    "name missing in the middle": (b"a,,b\n1,2,3\n2,3,1\n", {}, "Column 2 .* has no name"),
    "unnamed column of values": (b",a,b\n1,x,1\n1,y,2\n2,y,2\n", {}, "Column 1 .* has no name"),
    "values after the last separator": (b"a,b,\n1,2,\n2,1,3\n", {}, "Column 3 .* has no name"),
    "longer row far below": (
        text("a,b\n" + "1,x\n2,y\n" * 60_000 + "1,2,3\n"),
        {},
        "line 120002 has 3",
    ),
    "a stray word in numbers": (
        text("a,b\n" + "".join(f"{i},{i % 2}\n" for i in range(110_000)) + "x,1\n"),
        {},
        "all numbers but for 'x'|not all numbers",
    ),
    "a query on text": (text(PLAIN), {"query": "SELECT 1"}, "needs a SQLite or DuckDB"),
    "an unknown option": (text(PLAIN), {"missing": "guess"}, "missing must be"),
    "HTML": (b"<!DOCTYPE html>\n<html><body>Not found</body></html>\n", {}, "one column"),
    "JSON": (b'[{"a": 1, "b": 2}, {"a": 2, "b": 1}]', {}, "no rows of data|quotes|one column"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_hostile_file_gets_one_sentence(case: str) -> None:
    content, options, expected = BROKEN[case]
    with pytest.raises(InputError, match=expected) as caught:
        read_table(content, **options)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


# Other forms ------------------------------------------------------------------------

FRAME = pd.DataFrame(
    {"a": ["yes", "no", "yes", "no"], "b": [1, 2, 2, 1], "c": [True, False, True, True]}
)
LEVELS = (("no", "yes"), ("1", "2"), ("false", "true"))


def forms(folder: Path) -> dict[str, object]:
    """One table in every typed form."""
    table = pa.Table.from_pandas(FRAME)
    parquet.write_table(table, folder / "t.parquet")
    feather.write_feather(table, str(folder / "t.arrow"), compression="uncompressed")
    (folder / "parts").mkdir()
    for i in range(2):
        parquet.write_table(table.slice(2 * i, 2), folder / "parts" / f"{i}.parquet")
    with duckdb.connect(str(folder / "t.duckdb")) as connection:
        connection.register("frame", FRAME)
        connection.execute("CREATE TABLE t AS SELECT * FROM frame")
    words = FRAME.assign(c=FRAME.c.map({True: "true", False: "false"}))
    with sqlite3.connect(folder / "t.db") as lite:
        words.to_sql("t", lite, index=False)
    lite.close()
    names = ("t.parquet", "t.arrow", "parts", "t.duckdb", "t.db")
    return {"pandas": FRAME, "arrow": table} | {name: folder / name for name in names}


def test_typed_forms_read_alike(tmp_path: Path) -> None:
    found = {form: read_table(source) for form, source in forms(tmp_path).items()}
    assert {data.levels for data in found.values()} == {LEVELS}
    assert len({data.fingerprint for data in found.values()}) == 1


def test_queries_choose_columns_and_rows(tmp_path: Path) -> None:
    sources = forms(tmp_path)
    for form in ("t.duckdb", "t.db"):
        data = read_table(sources[form], query="SELECT b, c FROM t WHERE a = 'yes' OR b = 2")
        assert data.names == ("b", "c")
        assert data.n == 3
        for bad in ("SELECT z FROM t", "DROP TABLE t", "COPY t TO 'x.csv'"):
            with pytest.raises(InputError, match=r"(does not answer the query|no table).*\.$"):
                read_table(sources[form], query=bad)
        assert read_table(sources[form]).n == 4  # still there


def test_a_workbook_is_read(tmp_path: Path) -> None:
    from xml.sax.saxutils import escape
    from zipfile import ZipFile

    cells = [["a", "b"], ["yes", 1], ["no", 2], ["yes", 2]]
    rows = "".join(
        "<row>"
        + "".join(
            f"<c><v>{cell}</v></c>"
            if isinstance(cell, int)
            else f'<c t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
            for cell in row
        )
        + "</row>"
        for row in cells
    )
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    path = tmp_path / "book.xlsx"
    with ZipFile(path, "w") as book:
        book.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="xml" '
            'ContentType="application/xml"/></Types>',
        )
        book.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
            f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        book.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
            '<sheet name="First" sheetId="1" r:id="r1"/></sheets></workbook>',
        )
        book.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
            f'Type="{office}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        )
        book.writestr(
            "xl/worksheets/sheet1.xml",
            f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>',
        )
    data = read_table(path)
    assert (data.names, data.levels) == (("a", "b"), AB)
    assert read_table(path, sheet="First").fingerprint == data.fingerprint
    with pytest.raises(InputError, match="no sheet 'Second'; it has First"):
        read_table(path, sheet="Second")


def test_ordered_categories_are_declared_levels() -> None:
    data = Dataset.from_codes([[0, 1], [1, 0]], ["a", "b"], [["low", "high"], ["0", "1", "2"]])
    again = read_table(data.to_frame())
    assert again.fingerprint == data.fingerprint
    assert not any("without noise" in note for note in again.notes)


def test_many_numbers_are_cut_as_few_would_be() -> None:
    values = np.random.default_rng(0).normal(size=150_000).round(9)
    data = read_table(pd.DataFrame({"x": values, "idle": np.arange(150_000) % 2}))
    codes = np.searchsorted(np.quantile(values, [0.2, 0.4, 0.6, 0.8]), values, side="right")
    assert (data.codes[:, 0] == codes).all()
    text_form = b"x,idle\n" + b"".join(b"%r,%d\n" % (float(v), i % 2) for i, v in enumerate(values))
    assert (read_table(text_form).codes == data.codes).all()


def test_dates_are_cut_like_numbers() -> None:
    days = pd.date_range("2020-01-01", periods=100).date
    data = read_table(pd.DataFrame({"day": days, "idle": np.arange(100) % 2}), bins=4)
    assert np.bincount(data.codes[:, 0]).tolist() == [25] * 4
    assert data.levels[0][0] == "< 2020-01-25"


def test_values_of_a_category_that_never_occur_are_no_levels() -> None:
    frame = pd.DataFrame({"a": pd.Categorical(["x", "y"], categories=["u", "x", "y"]), "b": [1, 2]})
    assert read_table(frame).levels[0] == ("x", "y")


def test_dropping_says_what_it_costs() -> None:
    notes = read_table(text(MARKED + "no,1\n"), missing="drop").notes
    assert any("2 of 5 rows" in note and "whether a row was complete" in note for note in notes)


def test_lists_are_refused() -> None:
    with pytest.raises(DataError, match="'a' holds values of the type list"):
        read_table(pa.table({"a": [[1], [2]], "b": [1, 2]}))


def test_levels_stay_within_the_limit() -> None:
    content = text("a,b\n" + "".join(f"w{i},{i % 2}\n" for i in range(MAX_LEVELS)) + ",1\n")
    assert read_table(content, missing="drop").cardinalities[0] == MAX_LEVELS
    assert read_table(content, missing="level").cardinalities[0] == MAX_LEVELS + 1
