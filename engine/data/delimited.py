"""Delimited text as people have it: the dialect found in its head, the rows streamed by Arrow.

Arrow's reader cuts the rows and encodes the cells of each column, and knows no mercy; where it
stumbles, Python's ``csv`` reads the file again, slowly, and either makes sense of it (blanks before
quotes) or says in which line it is broken.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from engine.data.levels import repeated
from engine.data.source import SEPARATORS, Stream, decoded, not_utf8, one_line_end, separator
from engine.data.tally import Batches, NotPlain
from engine.errors import DataError, show

MAX_COLUMNS = 1_000
T = TypeVar("T")
_HEAD = 1 << 20
_BLOCK = 4 << 20
_SAMPLED = 20  # rows that show whether lines end in a separator
_BATCH = 50_000
END = "# the end of the table"  # a line below the last: whoever does not see it is within quotes


@dataclass(frozen=True)
class Head:
    """What the first lines say: the separator, the columns, where the rows begin.

    ``names`` has "" for a first column without a name (a row index) and for the nothing after a
    separator that ends every line, ``added`` where the header has none there: it makes the fast way
    possible, and what counts as a row is decided without it. ``lines`` are before the first row of
    data; ``notes`` what was passed over.
    """

    separator: str
    names: list[str]
    lines: int
    notes: tuple[str, ...] = ()
    added: bool = False


def delimited(found: Stream, read: Callable[[Batches], T]) -> T:
    """Read the rows in the fast way, and in the careful way where that one stumbles.

    Which way it is must make no difference, for one odd record sends all of them the other way.
    """
    try:
        return _either_way(found, read)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise DataError(f"{found.label} is a broken gzip file; pack it again.") from None
    except UnicodeError:
        raise DataError(not_utf8(found)) from None


def _either_way(found: Stream, read: Callable[[Batches], T]) -> T:
    head = _head(found)

    def batches(arrays: Iterator[list[pa.Array]], spaced: bool) -> Batches:
        return Batches(
            found.label,
            head.names,
            arrays,
            spaced=spaced,
            notes=head.notes,
            separator=head.separator,
        )

    try:
        return read(batches(_fast(found, head), spaced=True))
    except (NotPlain, pa.ArrowInvalid):
        return read(batches(_careful(found, head), spaced=False))


# The head ---------------------------------------------------------------------------


def _head(found: Stream) -> Head:
    with one_line_end(found) as file:
        text = decoded(file.read(_HEAD), found, whole=False)
    if not text.strip():
        raise DataError(f"{found.label} is empty; give a file with a header line and rows.")
    said, passed, body = _preamble(text)
    commented = any(line.startswith("#") for line in text[: len(text) - len(body)].splitlines())
    if not body.strip():
        raise DataError(f"{found.label} has no header line below its comments; give one.")
    cut_by = said or separator(body)
    reader = csv.reader(io.StringIO(body, newline=""), delimiter=cut_by, skipinitialspace=True)
    try:
        rows = (row for row in reader if not _blank(row))
        header = [cell.strip() for cell in next(rows, [])]
        lines = passed + reader.line_num
        sample = list(_forgiving(islice(rows, _SAMPLED)))
    except csv.Error as error:
        line = passed + reader.line_num
        raise DataError(f"{found.label}, line {line}: {error}; check its quotes.") from None
    if any("\0" in cell for cell in header):
        raise DataError(f"{found.label} is not a text file; save the table as CSV in UTF-8.")
    _check_header(header, found.label)
    added = _trailing(header, sample)
    notes = ("Lines of comment above the table were passed over.",) if commented else ()
    return Head(cut_by, [*header, ""] if added else header, lines, notes, added)


def _forgiving(rows: Iterator[list[str]]) -> Iterator[list[str]]:
    """Rows but for comments, up to the first broken one: a head may end within quotes."""
    while True:
        try:
            row = next(rows)
        except (csv.Error, StopIteration):
            return
        if len(row) > 1 or not row[0].startswith("#"):
            yield row


def _preamble(text: str) -> tuple[str | None, int, str]:
    """The separator that a line ``sep=;`` says, the lines before the header, and what follows."""
    said, passed = None, 0
    lines = io.StringIO(text, newline="").readlines() if "\n" in text else text.splitlines(True)
    for line in lines:
        word = line.strip()
        if word.lower().startswith("sep=") and line.strip("\r\n ")[4:5] in SEPARATORS:
            said = line.strip("\r\n ")[4]
        elif word and not word.startswith("#"):
            break
        passed += 1
    # Blank lines right above the header are the header reader's: it passes over them as well.
    return said, passed, "".join(lines[passed:])


def _trailing(header: list[str], sample: list[list[str]]) -> bool:
    """Whether every line ends in a separator and the header does not."""
    longer = [len(row) == len(header) + 1 and not row[-1].strip() for row in sample]
    return bool(header[-1]) and bool(sample) and all(longer)


def _check_header(names: list[str], label: str) -> None:
    named = names[:-1] if len(names) > 2 and not names[-1] else names
    if len(named) < 2:
        raise DataError(f"{label} has one column; give at least two, cut by comma, ;, | or tab.")
    if len(named) > MAX_COLUMNS:
        raise DataError(f"{label} has {len(named):,} columns; keep at most {MAX_COLUMNS:,}.")
    rest = named[1:] if len(named) > 2 else named
    if "" in rest:
        where = names.index("", len(named) - len(rest)) + 1
        raise DataError(f"Column {where} of {label} has no name; name it or delete the column.")
    if len(set(named)) < len(named):
        twice = show(repeated(named))
        raise DataError(f"Two columns of {label} are called {twice}; rename or delete one.")
    start = len(named) - len(rest)
    counted = [str(i) for i in range(start, len(named))]  # how pandas numbers unnamed columns
    counted_from_0 = [str(i) for i in range(len(rest))]
    if all(map(_numeric, rest)) and rest not in (counted, counted_from_0):
        raise DataError(
            f"The first line of {label} holds numbers alone; put a line with the columns' names "
            "above it."
        )


def _numeric(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _blank(row: list[str]) -> bool:
    return len(row) < 2 and not "".join(row).strip()


# The rows ---------------------------------------------------------------------------


def _fast(found: Stream, head: Head) -> Iterator[list[pa.Array]]:
    """Record batches of dictionary-encoded text, as Arrow reads them."""
    columns = [f"c{i}" for i in range(len(head.names))]
    ended = False

    def judge(row: Any) -> str:
        """Skip what is surely no record; whatever else is odd is left to the careful reader."""
        nonlocal ended
        ended = ended or row.text == END
        strange = row.text.startswith("#") and abs(row.actual_columns - len(columns)) > 1
        strange = strange and '"' not in row.text  # which may hold the lines that follow
        return "skip" if strange or row.text == END or not row.text.strip(" ") else "error"

    with one_line_end(found, END) as file:
        for _ in range(head.lines):
            file.readline()
        with arrow_csv.open_csv(
            pa.PythonFile(file, mode="r"),
            read_options=arrow_csv.ReadOptions(
                column_names=columns, block_size=_BLOCK, use_threads=False
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=head.separator, newlines_in_values=True, invalid_row_handler=judge
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types={c: pa.dictionary(pa.int32(), pa.string()) for c in columns},
                strings_can_be_null=False,
            ),
        ) as batches:
            for batch in batches:
                if batch.num_rows:
                    _check_plain(batch.columns, head)
                    yield batch.columns
    if not ended:
        raise NotPlain  # the last line is within quotes


def _check_plain(columns: list[pa.Array], head: Head) -> None:
    """Leave to the careful reader what makes other rows of the lines, in whatever column it is.

    That is a quotation mark after blanks, and a row of more cells than the header.
    """
    if head.added and any(map(str.strip, columns[-1].dictionary.to_pylist())):
        raise NotPlain
    for column in columns:
        quoted = pc.match_substring_regex(column.dictionary, '^ +"')
        if pc.any(quoted, min_count=0).as_py():
            raise NotPlain


def _careful(found: Stream, head: Head) -> Iterator[list[pa.Array]]:
    """The rows as Python's csv reads them; DataError names the line that is broken."""
    with one_line_end(found, END) as file:
        lines = io.TextIOWrapper(file, encoding="utf-8", newline="")
        # Not strict: what follows a closing quote belongs to the cell, as Arrow has it.
        reader = csv.reader(lines, delimiter=head.separator, skipinitialspace=True)
        try:
            for _ in range(head.lines):
                next(lines, None)
            rows = _rows(reader, head, found.label)
            while batch := list(islice(rows, _BATCH)):
                columns = zip(*batch, strict=True)
                yield [_encoded([cell.strip() for cell in cells]) for cells in columns]
        except csv.Error as error:
            where = f"{found.label}, line {head.lines + reader.line_num}"
            raise DataError(f"{where}: {error}; check its quotes.") from None


def _encoded(cells: list[str]) -> pa.DictionaryArray:
    return pa.array(cells, pa.string()).dictionary_encode()


def _rows(reader: Any, head: Head, label: str) -> Iterator[list[str]]:
    """Rows that are neither blank nor comments, each judged by itself.

    A separator that ends the line makes no cell, and is not missed where the others have it.
    """
    width, row = len(head.names) - head.added, []
    for row in reader:
        if len(row) == width + 1 and not row[-1].strip():
            row = row[:-1]
        elif len(row) == width - 1 and not head.names[width - 1]:
            row = [*row, ""]
        if len(row) == width:
            yield [*row, ""] if head.added else row
        elif not _blank(row) and not row[0].startswith("#"):
            raise DataError(
                f"The header of {label} has {width} cells but line {head.lines + reader.line_num} "
                f"has {len(row)}; make every line the same length."
                if END not in row[-1]
                else f"The quotes of {label} do not end; check its quotes."
            )
    if row != [END]:
        raise DataError(f"The quotes of {label} do not end; check its quotes.")
