"""A codebook as people have it, CSV or JSON, read as a schema: all of it stated.

A codebook of one line a column has a column of names and any of type, levels, cuts, bounds (or low
and high), bins, other and take; lists in a cell are parted by ``|`` or ``;``. One of one line a
level has names and values, in order. In JSON it is an object from names to facts, a list of such
facts, or a schema.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from engine.data.schema import FORMAT, Schema, column_of, load_schema
from engine.data.source import SEPARATORS, Source, read_text
from engine.errors import InputError, did_you_mean, show

# What people call the columns of a codebook.
_WORDS: Mapping[str, tuple[str, ...]] = {
    "name": ("name", "column", "variable", "field", "var", "item"),
    "type": ("type", "kind", "scale"),
    "levels": ("levels", "values", "value", "categories", "codes", "code", "options"),
    "cuts": ("cuts", "cut points", "breaks"),
    "bounds": ("bounds", "range"),
    "low": ("low", "lowest", "min", "minimum"),
    "high": ("high", "highest", "max", "maximum"),
    "bins": ("bins",),
    "other": ("other", "missing", "else"),
    "take": ("take", "of a person"),
}
_TYPES = {
    "ordered": ("ordered", "ordinal", "likert"),
    "unordered": ("unordered", "nominal", "categorical", "category", "factor", "binary", "text"),
    "numeric": ("numeric", "number", "numerical", "continuous", "integer", "float", "count"),
}
_APART = re.compile("[|;]")
_ENDS = re.compile(r"\.\.|–|\bto\b|[|;]")


def read_codebook(source: Source) -> Schema:
    """A codebook's schema, every column stated.

    Args:
        source: CSV or JSON: a path, bytes, or an open file.

    Raises:
        InputError: In one sentence for a file that is none.

    Examples:
        >>> book = b"name,levels,cuts\\nage,,40|55|70\\nstage,I|II|III,\\n"
        >>> read_codebook(book).levels
        (('< 40', '[40, 55)', '[55, 70)', '>= 70'), ('I', 'II', 'III'))
    """
    text, label = read_text(source)
    if text.lstrip().startswith(("{", "[")):
        return _from_json(text, label)
    return _from_csv(text, label)


def _from_json(text: str, label: str) -> Schema:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError(f"{label} is no JSON that can be read; write it anew.") from None
    if isinstance(content, Mapping) and content.get("format") == FORMAT:
        return load_schema(text.encode())
    if isinstance(content, Mapping):
        named = [(str(name), facts) for name, facts in content.items()]
    elif all(isinstance(one, Mapping) and "name" in one for one in content):
        named = [(one["name"], {k: v for k, v in one.items() if k != "name"}) for one in content]
    else:
        raise InputError(f'{label} lists columns without names; each needs a "name".')
    return Schema(tuple(column_of(name, facts) for name, facts in named))


def _from_csv(text: str, label: str) -> Schema:
    first = text.lstrip().splitlines()[0]
    # A list in a cell may be parted by a semicolon or a bar: commas and tabs cut the line first.
    cut = next((s for s in (",", "\t", *SEPARATORS) if s in first), ",")
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=cut) if any(row)]
    except csv.Error as error:
        raise InputError(f"{label} is no codebook: {error}; check its quotes.") from None
    head = _head(rows[0] if rows else [], label)
    lines = [_line(head, row) for row in rows[1:]]
    if "name" not in head or not lines:
        raise InputError(
            f"{label} is no codebook: it needs a column called name (or column, variable), and a "
            "line for each."
        )
    names = [line.get("name", "") for line in lines]
    if len(set(names)) < len(names):
        lines = _gathered(lines, label)
    return Schema(tuple(_column(line) for line in lines))


def _head(cells: Sequence[str], label: str) -> list[str | None]:
    """What each column of the codebook says; None for one that says nothing of a schema."""
    found: list[str | None] = []
    for cell in cells:
        word = cell.strip().casefold().lstrip("\ufeff")
        known = next((what for what, names in _WORDS.items() if word in names), None)
        if known in found and known is not None:
            raise InputError(f"{label} says {known} in two columns; keep one of them.")
        found.append(known)
    return found


def _line(head: Sequence[str | None], row: Sequence[str]) -> dict[str, str]:
    cells = zip(head, row, strict=False)
    return {what: cell.strip() for what, cell in cells if what is not None and cell.strip()}


def _gathered(lines: Sequence[dict[str, str]], label: str) -> list[dict[str, str]]:
    """A codebook with one line a level: the levels of each column in their order."""
    found: dict[str, dict[str, str]] = {}
    levels: dict[str, list[str]] = {}
    for line in lines:
        name = line.get("name")
        if name is None:
            raise InputError(f"A line of {label} has no name; name the column it is about.")
        one = found.setdefault(name, {"name": name})
        level = line.pop("levels", None)
        one.update({k: v for k, v in line.items() if k != "name"})
        if level is not None:
            levels.setdefault(name, []).append(level)
    return [one | _joined(levels.get(name, [])) for name, one in found.items()]


def _joined(levels: Sequence[str]) -> dict[str, str]:
    return {"levels": "|".join(levels)} if levels else {}


def _column(line: Mapping[str, str]) -> Any:
    name = line.get("name", "")
    facts: dict[str, Any] = {}
    if "type" in line:
        facts["type"] = _type(line["type"], name)
    if "levels" in line:
        facts["levels"] = _parts(_APART, line["levels"])
    if "cuts" in line:
        facts["cuts"] = [_number(word, name) for word in _parts(_APART, line["cuts"])]
    if "bounds" in line:
        facts["bounds"] = [_number(word, name) for word in _parts(_ENDS, line["bounds"])]
    elif "low" in line and "high" in line and "cuts" not in line:
        facts["bounds"] = [_number(line["low"], name), _number(line["high"], name)]
    if "bins" in line:
        bins = _number(line["bins"], name)
        facts["bins"] = int(bins) if bins.is_integer() else bins
    if "take" in line:
        facts["take"] = line["take"]
    if "other" in line:
        facts["other"] = _other(line["other"], facts)
    return column_of(name, facts)


def _parts(apart: re.Pattern[str], cell: str) -> list[str]:
    """The parts of a cell without the blanks about them."""
    return [part.strip() for part in apart.split(cell)]


def _other(word: str, facts: Mapping[str, Any]) -> str | float:
    if "levels" in facts:
        return word
    try:
        return float(word)
    except ValueError:
        return word


def _type(word: str, name: str) -> str:
    found = next((kind for kind, words in _TYPES.items() if word.casefold() in words), None)
    if found is None:
        known = [one for words in _TYPES.values() for one in words]
        raise InputError(
            f"The type {show(word)} of column {show(name)} is none of {', '.join(_TYPES)}."
            f"{did_you_mean(word, known)}"
        )
    return found


def _number(word: str, name: str) -> float:
    try:
        return float(word.replace(",", "."))
    except ValueError:
        raise InputError(
            f"The codebook says {show(word)} of column {show(name)} where a number is meant; part "
            "several by | or ;."
        ) from None
