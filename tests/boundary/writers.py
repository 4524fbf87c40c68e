"""Tables of records in the forms that people have them in: bytes that a reader is given.

A record is a tuple of cells, one a column of :data:`COLUMNS`. Every form writes any record well:
with quotes where its dialect wants them, as cells of the types that its columns have.
"""

from __future__ import annotations

import gzip
import random
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from string import ascii_uppercase
from typing import Any
from xml.sax.saxutils import escape
from zipfile import ZipFile

import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet

from engine.data.cell import GAPS
from engine.data.column import Column, Dialect, Person
from engine.data.schema import Schema
from engine.data.sources import BLANKS

Record = tuple[Any, ...]
NAMES = ("smoker", "stage", "age", "dose", "grade")
COLUMNS = (
    Column(name="smoker", type="unordered", levels=("no", "yes", "rest"), other="rest"),
    Column(
        name="stage", type="ordered", groups={"early": ["I", "II"], "III": ["III"]}, other="early"
    ),
    Column(name="age", type="numeric", bounds=(0, 100), bins=4, other="level", missing=(99, "?!")),
    Column(name="dose", type="numeric", bounds=(0, 10), bins=3, other=5),
    Column(name="grade", type="ordered", levels=("1", "2", "3"), other="2"),
)
WORDS = ("no", "yes"), ("I", "II", "III")

# Cells that no schema foresees, and that readers stumble over.
ODD = (
    *("", " ", "\t", '"', '""', '"x', 'x"y', '"x"', ",", ";", "|", "a,b", "\n", "\r", "\r\n"),
    *("a\rb", "\r\t", "\0", "a\0b", "#", "# no", "sep=;", "NA", "nan", "null", "?", "None", "inf"),
    *("1,5", "1,234,567", "1.000,5", "1 000", "1'000", "1e400", "-1e400", "+1", "1.", ".5", "0x10"),
    *(
        "1e5",
        "-0",
        "007",
        "9007199254740993",
        "١",
        "True",
        "2024-01-01",
        "=1+1",
        "é",
        "😀",
        "99.0",
        "?!",
        "EARLY",
        "ii",
    ),
    *("\ufeff", "\u2028", "\x1c", "\x0b", "\u00a0yes", " yes", "yes ", " no", "no ", "\tno"),
    *(" II ", "YES", "no\0", "x" * 140_000),
)


def records(chance: random.Random, n: int, odd: float) -> list[Record]:
    """Ordinary records of text cells, a share of whose cells is odd."""
    found = []
    for _ in range(n):
        numbers = str(chance.randrange(101)), f"{chance.random() * 9:g}", chance.choice("123")
        plain = (*map(chance.choice, WORDS), *numbers)
        found.append(tuple(chance.choice(ODD) if chance.random() < odd else c for c in plain))
    return found


def strange(chance: random.Random) -> Record:
    """A record that is mostly odd, now and then all blank, or the same odd cell throughout."""
    kind = chance.random()
    if kind < 0.3:
        return (chance.choice(("", " ", "\r", chance.choice(ODD))),) * len(NAMES)
    return records(chance, 1, 0.2 if kind < 0.6 else 0.8)[0]


@dataclass(frozen=True)
class Text:
    """Delimited text in one of its dialects."""

    separator: str = ","
    end: str = "\n"
    encoding: str = "utf-8"
    mark: bool = False
    packed: bool = False
    quoted: bool = False
    spaced: bool = False
    last: bool = True
    numbers: dict[str, str] = field(default_factory=dict)
    sparse = False

    @classmethod
    def some(cls, chance: random.Random) -> Text:
        """One dialect of many."""
        return cls(
            chance.choice(",;\t|"),
            chance.choice(("\n", "\r\n")),
            chance.choice(("utf-8", "utf-8", "utf-16", "latin-1")),
            mark=chance.random() < 0.2,
            packed=chance.random() < 0.1,
            quoted=chance.random() < 0.2,
            spaced=chance.random() < 0.1,
            last=chance.random() < 0.8,
            numbers=chance.choice(({}, {"decimal": ","})),
        )

    def dialect(self) -> Dialect:
        """What the schema says of it."""
        return Dialect(encoding=self.encoding, **self.numbers)

    def fits(self, record: Record) -> bool:
        """Whether the encoding has all of its characters, and its lines end as lines do."""
        known = self.encoding != "latin-1" or all(ord(c) < 256 for cell in record for c in cell)
        wrong = "\r" if self.end == "\n" else "\r(?!\n)"
        return known and not any(re.search(wrong, cell) for cell in record)

    def write(self, table: Sequence[Record], folder: Path, chance: random.Random) -> Any:
        """The bytes."""
        lines = [self.separator.join(map(self._cell, record)) for record in (NAMES, *table)]
        text = self.end.join(lines) + self.end * self.last
        raw = ("\ufeff" * (self.mark and self.encoding == "utf-8") + text).encode(self.encoding)
        return gzip.compress(raw, 1) if self.packed else raw

    def _cell(self, cell: str) -> str:
        wanted = any(sign in cell for sign in (self.separator, '"', "\n", "\r"))
        if not (self.quoted or wanted or cell != cell.strip(" ")):
            return cell
        return " " * self.spaced + '"{}"'.format(cell.replace('"', '""'))

    def codes(self, record: Record) -> list[int]:
        """What the schema makes of the record's cells, each by itself."""
        cells = zip(COLUMNS, record, strict=True)
        return [meaning(column, cell, **self.numbers) for column, cell in cells]


def number(word: str, decimal: str = ".") -> float | None:
    """The number that a cell's text is; None for none."""
    if word.lower() in ("true", "false"):
        return float(word.lower() == "true")
    if decimal == ",":
        word = "" if "." in word else word.replace(",", ".")
    plain = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", word, re.ASCII)
    return float(word) if plain and abs(float(word)) < float("inf") else None


def meaning(column: Column, cell: str | None, **numbers: str) -> int:
    """A cell's code by the words of the rule, in plain Python and not in SQL."""
    word = (cell or "").strip(BLANKS)
    value, codes = number(word, **numbers), column.missing or ()
    if word.lower() in map(str, codes) or (value is not None and value in codes):
        word, value = "", None
    if column.type != "numeric":
        groups = {w: name for name, group in column.groups for w, _ in group}
        words = [*column.levels, *(name for name, _ in column.groups)]
        places = [(column.labels.index(groups.get(w, w)), w) for w in dict.fromkeys(words)]
        same = [i for i, w in places if w == word]
        same += [i for i, w in places if value is not None and number(w) == value]
        alike = [i for i, w in places if w.lower() == word.lower() != ""]
        same += alike if len(alike) == 1 and word.lower() not in GAPS else []
    elif value is not None:
        same = [sum(value >= point for point in column.points())]
    else:
        same = [i for i, w in enumerate(column.labels) if w == word]
    assert same or column.other_code is not None
    return same[0] if same else int(column.other_code or 0)


def _new(folder: Path, ending: str) -> Path:
    return folder / f"{len(list(folder.iterdir()))}{ending}"


class Typed:
    """What tables with types have in common: nothing is said of them."""

    sparse = False

    def dialect(self) -> Dialect:
        """Nothing is said."""
        return Dialect()

    def fits(self, record: Record) -> bool:
        """Any record fits."""
        return True

    def codes(self, record: Record) -> list[int] | None:
        """Not told by another way of reading."""
        return None


# Workbooks ----------------------------------------------------------------------------

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_ILLEGAL = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def workbook(path: Path, rows: str) -> Path:
    """A workbook with one sheet of these ``<row>`` elements."""
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="xml" '
        'ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="First" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData>'
        "</worksheet>",
    }
    with ZipFile(path, "w") as book:
        for name, content in parts.items():
            book.writestr(name, content)
    return path


class Excel(Typed):
    """A workbook: numbers as such, text inline, blanks as nothing, an empty or a styled cell."""

    sparse = True

    def write(self, table: Sequence[Record], folder: Path, chance: random.Random) -> Any:
        """The path of a new workbook."""
        return self.save(_new(folder, ".xlsx"), [NAMES, *table], chance)

    def save(self, path: Path, table: Sequence[Record], chance: random.Random) -> Path:
        """Write a workbook with these rows of texts."""
        rows = [self._row(k, record, chance) for k, record in enumerate(table, 1)]
        return workbook(path, "".join(rows))

    def fits(self, record: Record) -> bool:
        """XML has no control characters."""
        return not any(map(_ILLEGAL.search, record))

    def _row(self, k: int, record: Sequence[str], chance: random.Random) -> str:
        if not any(record) and chance.random() < 0.5:
            return ""
        cells = (self._cell(f"{ascii_uppercase[j]}{k}", v, chance) for j, v in enumerate(record))
        return f'<row r="{k}">{"".join(cells)}</row>'

    def _cell(self, place: str, cell: str, chance: random.Random) -> str:
        if not cell and chance.random() < 0.7:
            return chance.choice(("", f'<c r="{place}"/>'))
        if re.fullmatch(r"\d{1,6}(\.\d{1,6})?", cell):
            return f'<c r="{place}"><v>{cell}</v></c>'
        text = escape(cell, {"\r": "&#13;"})
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'


# Tables with types ----------------------------------------------------------------------


def _number(cell: str, whole: int) -> Any:
    try:
        value = float(cell)
    except ValueError:
        return None
    if whole:
        return int(value) if abs(value) < 2**60 else None
    return value


def typed(record: Record) -> Record:
    """Its cells in columns of text, text, floats and whole numbers."""
    smoker, stage, *rest = record
    age, dose, grade = (_number(c, whole) for c, whole in zip(rest, (0, 1, 0), strict=True))
    return smoker or None, stage, age, dose, grade


def arrow_table(table: Sequence[Record]) -> pa.Table:
    """Columns of fixed types, whatever the cells are."""
    columns = list(zip(*map(typed, table), strict=True))
    kinds = (pa.string(), pa.string(), pa.float64(), pa.int64(), pa.float32())
    arrays = [pa.array(c, kind) for c, kind in zip(columns, kinds, strict=True)]
    arrays[1] = arrays[1].dictionary_encode()
    return pa.table(arrays, list(NAMES))


class Arrow(Typed):
    """A Parquet file of several row groups, an Arrow file, or an Arrow table in memory."""

    def write(self, table: Sequence[Record], folder: Path, chance: random.Random) -> Any:
        """The table, or the path of a new file."""
        found, kind = arrow_table(table), chance.choice((".parquet", ".feather", ""))
        path = _new(folder, kind)
        if kind == ".parquet":
            parquet.write_table(found, path, row_group_size=chance.choice((5, 1000)))
        elif kind == ".feather":
            feather.write_feather(found, path, compression="uncompressed")
        return path if kind else found


class Folder(Typed):
    """Parquet files of a folder, each with its own types and its own order of columns."""

    def write(self, table: Sequence[Record], folder: Path, chance: random.Random) -> Any:
        """The path of a new folder."""
        path = _new(folder, "")
        path.mkdir()
        for k in range(3):
            cells = zip(*table[k * len(table) // 3 : (k + 1) * len(table) // 3], strict=True)
            arrays = [_own(column, chance) for column in cells]
            own = pa.table(arrays, list(NAMES))
            parquet.write_table(own.select(chance.sample(NAMES, len(NAMES))), path / f"{k}.parquet")
        return path

    def codes(self, record: Record) -> list[int]:
        """What the schema makes of the record's cells as text."""
        return Text().codes(record)


def _own(cells: Sequence[str], chance: random.Random) -> pa.Array:
    """An array of a type that holds all of these texts as they are."""
    kinds: list[Any] = [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
    if all(re.fullmatch(r"0|-?[1-9]\d{0,4}", cell) for cell in cells):
        kinds = [*kinds, pa.int32(), pa.int64(), pa.float64(), pa.decimal128(20, 3)]
    elif all(re.fullmatch(r"\d{1,4}\.\d{0,4}[1-9]", cell) for cell in cells):
        kinds = [*kinds, pa.float64()]
    elif not any(cells):
        return pa.nulls(len(cells))
    kind = chance.choice(kinds)
    if pa.types.is_dictionary(kind):
        return pa.array(cells).dictionary_encode()
    read = str if kind in kinds[:2] else Decimal if pa.types.is_decimal(kind) else float
    return pa.array(map(read, cells), pa.float64() if read is float else kind).cast(kind)


def loose(record: Record, chance: random.Random) -> Record:
    """Its cells as whoever fills a table without types has them."""
    return tuple(_loose(cell, chance) for cell in record)


def _loose(cell: str, chance: random.Random) -> Any:
    if not cell:
        return chance.choice((None, ""))
    if re.fullmatch(r"-?\d{1,15}", cell):
        return int(cell)
    if re.fullmatch(r"-?\d{1,6}\.\d{1,6}", cell):
        return float(cell)
    return {"True": True, "nan": float("nan"), "inf": float("inf"), "#": b"\xff"}.get(cell, cell)


class PandasFrame(Typed):
    """A pandas frame, whose types follow from all of its cells."""

    def write(self, table: Sequence[Record], folder: Path, chance: random.Random) -> Any:
        """The frame."""
        return pd.DataFrame([loose(record, chance) for record in table], columns=list(NAMES))


class Sqlite(Typed):
    """A SQLite file, whose cells have types of their own."""

    def write(self, table: Sequence[Record], folder: Path, chance: random.Random) -> Any:
        """The path of a new file."""
        path = _new(folder, ".db")
        with sqlite3.connect(path) as connection:
            connection.execute(f"CREATE TABLE t ({', '.join(NAMES)})")
            cells = [loose(record, chance) for record in table]
            connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", cells)
            # Text that is none in UTF-8.
            connection.execute("UPDATE t SET smoker = CAST(x'79ff' AS TEXT) WHERE smoker = '😀'")
        connection.close()
        return path


def form(chance: random.Random) -> Any:
    """One form of many; text half of the time."""
    if chance.random() < 0.5:
        return Text.some(chance)
    kinds = (Excel, Arrow, Folder, PandasFrame, Sqlite)
    return chance.choice(kinds)()


def schema(form: Any, n: int) -> Schema:
    """The declared schema; of a sparse table with its rows."""
    return Schema(COLUMNS, rows=n if form.sparse else None, dialect=form.dialect())


# Visits of persons ----------------------------------------------------------------------

_TWO = {"type": "ordered", "levels": ("no", "yes"), "other": "no"}
PERSONS = Schema(
    (
        Column(name="smoker", **_TWO, take="any"),
        Column(name="stage", type="ordered", levels=("I", "II", "III"), other="I", take="last"),
        Column(name="grade", type="ordered", levels=("1", "2", "3"), other="2", take="most"),
        Column(name="age", type="numeric", bounds=(0, 100), bins=4, other="level", take="first"),
        Column(
            name="dose", type="numeric", cuts=(1, 10), other="level", take="sum", missing=("x",)
        ),
        Column(name="visits", type="numeric", cuts=(2, 6), take="count"),
    ),
    person=Person(id="who", order="day"),
)
VISIT = ("who", "day", "smoker", "stage", "grade", "age", "dose")


DAYS = (None, "%d/%m/%Y", "%d.%m.%Y")


def dated(day: str, form: str | None) -> str:
    """Return an ISO date as a format writes it; any other text as it is."""
    found = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", day)
    if not found or form is None:
        return day
    return form.replace("%d", found[3]).replace("%m", found[2]).replace("%Y", found[1])


def visits_of(chance: random.Random, count: int, strange: float = 0.0) -> list[Record]:
    """So many visits of one person, a share of whose cells is odd."""

    def visit() -> Record:
        day = f"2024-01-0{chance.randrange(1, 5)}"  # several visits on one day
        numbers = str(chance.randrange(101)), f"{chance.random() * 9:g}"
        plain = (day, *map(chance.choice, WORDS), chance.choice("123"), *numbers)
        odd = [cell for cell in ODD if "\r" not in cell]
        return tuple(chance.choice(odd) if chance.random() < strange else c for c in plain)

    return [visit() for _ in range(count)]


def visits_as_text(table: Sequence[Record], folder: Path) -> Any:
    """The bytes of a CSV file."""
    lines = [",".join(VISIT)]
    lines += [",".join('"{}"'.format(c.replace('"', '""')) for c in row) for row in table]
    return "\n".join(lines).encode()


def visits_as_frame(table: Sequence[Record], folder: Path) -> Any:
    """A frame of text."""
    return pd.DataFrame(table, columns=list(VISIT), dtype=object)


VISITS_AS = (visits_as_text, visits_as_frame)
