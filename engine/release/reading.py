"""A release read from its file: strictly, and with every size bounded before it is used.

The file is canonical JSON: what is read is written again, and must give the same bytes. So there
is no field that is not known, none twice, no other layout and no other spelling of a number.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.data.schema import Schema, parse_schema
from engine.errors import InputError, show
from engine.knowledge import parse_knowledge
from engine.marginals.levels import MOST_LEVELS
from engine.privacy.accounting import Guarantee
from engine.privacy.sources import MOST_ENTRIES, Released
from engine.release.budget import MOST_DELTA, MOST_EPSILON
from engine.release.file import (
    DERIVED,
    FORMAT,
    VERSION,
    Release,
    Signature,
    canonical,
    to_json,
)
from engine.release.pooling import MOST_PARTS
from engine.release.settings import MOST_ROWS

MOST_BYTES = 30_000_000
MOST_DEPTH = 10  # of lists and objects in each other; a combined file has 8
MOST_VALUES = 8 * MOST_ENTRIES  # commas in the file: the numbers, and the tables' names
MOST_RELEASES = 8
MOST_DIGITS = 20  # of a whole number; 2^53 has 16
MOST_TEXT = 200
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*+"?', re.DOTALL)  # one that does not end is no slower
_VERSION = re.compile(r"[0-9A-Za-z.+!_-]{1,40}")


def load(path: str | os.PathLike[str]) -> Release:
    """Read a release's file.

    Args:
        path: The JSON file.

    Raises:
        InputError: In one sentence where it is none.

    Examples:
        >>> import tempfile
        >>> from dataclasses import replace
        >>> from pathlib import Path
        >>> from engine import load_dataset
        >>> from engine.data.schema import Column, Schema
        >>> from engine.release.budget import Budgets
        >>> from engine.release.make import make
        >>> rows = load_dataset("cancer", n=1_000)
        >>> named = zip(rows.names, rows.levels, strict=True)
        >>> schema = Schema(tuple(Column(name=n, type="ordered", levels=some) for n, some in named))
        >>> budgets = Budgets(Path(tempfile.mkdtemp()) / "budgets.db")
        >>> budget = budgets.new("ward", epsilon=3, delta=1e-5)
        >>> data, asked = replace(rows, schema=schema), {"epsilon": 1}
        >>> release = make(data, schema, "marginal_pc", asked, name="ward", budgets=budgets)
        >>> from engine.release.file import canonical
        >>> place = Path(tempfile.mkdtemp()) / "release.json"
        >>> written = place.write_text(canonical(release), encoding="utf-8")
        >>> load(place).confidence == release.confidence
        True
    """
    return loads(read_bytes(path, MOST_BYTES))


def read_bytes(path: str | os.PathLike[str], most: int) -> bytes:
    """At most so many bytes of a file, and one more to tell; InputError where there is none."""
    try:
        with Path(path).open("rb") as file:
            return file.read(most + 1)
    except (OSError, ValueError):
        raise InputError(f"There is no file to read at {show(str(path))}; check it.") from None


def loads(raw: bytes) -> Release:
    """A release from the bytes of its file; InputError where they are not exactly one's."""
    if len(raw) > MOST_BYTES or raw.count(b",") > MOST_VALUES:
        raise InputError("This file is too large for a release.")
    if depth(raw) > MOST_DEPTH:
        raise InputError("This file is nested deeper than any release.")
    try:
        content = json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=_without_repeats,
            parse_int=_whole,
            parse_constant=_whole,  # NaN and infinities are no numbers of JSON
        )
    except InputError:
        raise
    except (ValueError, RecursionError):
        raise InputError("The release is not JSON in UTF-8; ask for the file again.") from None
    release = parse(content)
    try:
        same = canonical(release).encode() == raw
    except ValueError:  # 1e999 is read as infinite
        same = False
    if not same:
        raise InputError(_difference(content, to_json(release)))
    return release


def depth(raw: bytes) -> int:
    """How deep the lists and objects of a JSON text are nested, without reading it."""
    bare = np.frombuffer(_STRING.sub(b"", raw), np.uint8)
    opened = np.isin(bare, list(b"[{")).astype(np.int8) - np.isin(bare, list(b"]}"))
    return int(np.cumsum(opened, dtype=np.int32).max(initial=0))


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InputError("The release states one field twice; ask for the file again.")
    return found


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise InputError(f"The release holds a number of {len(text)} digits; no release does.")
    return int(text)


def parse(content: Any) -> Release:
    """A release from its JSON value; InputError in one sentence for anything else."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f'This is no release: its JSON needs "format": "{FORMAT}".')
    if content.get("version") not in (VERSION, DERIVED):
        raise InputError(f"This program reads versions {VERSION} and {DERIVED} of a release file.")
    schema = parse_schema(content.get("schema"))
    if schema.waiting:
        raise InputError("The schema of the release was not stated by anybody; no release has one.")
    try:
        return _release(content, schema)
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        raise InputError("A part of the release is not as this program writes it.") from None


def _release(content: Mapping[str, Any], schema: Schema) -> Release:
    """ValueError, KeyError or the like for what is no release's."""
    parts = tuple(map(parse, content.get("combined", ())))
    _check_sizes(content, schema, parts)
    stated, applied = content["guarantee"], content.get("knowledge")
    total = Guarantee(_number(stated["epsilon"]), _number(stated["delta"]))
    if not 0 < total.epsilon <= float(MOST_EPSILON) or not 0 <= total.delta <= float(MOST_DELTA):
        raise InputError("The release promises an (ε, δ) that no budget pays.")
    return Release(
        name=content["name"],
        algorithm=content["algorithm"],
        params=content["params"],
        rows=content["rows"],
        schema=schema,
        total=total,
        releases=tuple(map(parse_released, content["releases"])),
        labels=tuple(str(one["label"]) for one in content["releases"]),
        tables=tuple(tuple(map(str, table)) for table in content["tables"]),
        cpdag=tuple((str(a), str(b)) for a, b in content["cpdag"]),
        confidence=tuple((str(a), str(b), _number(c)) for a, b, c in content["edge_confidence"]),
        arrows=tuple(
            (str(a), str(b), _number(there), _number(back))
            for a, b, there, back in content["arrow_confidence"]
        ),
        versions=content["versions"],
        signature=_parse_signature(content.get("signature")),
        applied=None if applied is None else parse_knowledge(applied),
        parts=parts,
    )


def _check_sizes(content: Mapping[str, Any], schema: Schema, parts: Sequence[Release]) -> None:
    """How many numbers the first release has follows from the schema alone."""
    rows, versions = content["rows"], content["versions"]
    if type(rows) is not int or not 2 <= rows <= MOST_ROWS:
        raise InputError('The release has no usable "rows"; ask for the file again.')
    named = (content["name"], content["algorithm"], *content["params"], *versions)
    if max(map(len, named)) > MOST_TEXT or not content["name"].isprintable():
        raise InputError("A name in the release is no name that this program gives.")
    if not all(_VERSION.fullmatch(value) for value in versions.values()):
        raise InputError('The release has no usable "versions"; ask for the file again.')
    sizes = [len(one["steps"]) for one in content["releases"]]
    if len(parts) > MOST_PARTS or any(part.parts for part in parts) or (parts and sizes):
        raise InputError("The file does not combine releases as this program does.")
    if not parts and not (0 < len(sizes) <= MOST_RELEASES and sum(sizes) <= MOST_ENTRIES):
        raise InputError("The file holds more or fewer releases than its algorithm makes.")
    if not parts and sizes[0] != pairs_size(schema):
        raise InputError("The first release of the file is not one of its schema's pairs.")


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(value)
    return float(value)


def pairs_size(schema: Schema) -> int:
    """How many numbers the release of all columns' and all pairs' tables has."""
    sizes = [min(column.size, MOST_LEVELS) - 1 for column in schema.columns]
    return sum(sizes) + (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2


def parse_released(content: Mapping[str, Any]) -> Released:
    """One noisy release from its JSON value; ValueError or KeyError for anything else."""
    steps, grid = content["steps"], content["grid"]
    if type(grid) is not int or not -1000 < grid < 1000:
        raise ValueError(grid)
    if not all(type(step) is int and abs(step) < 2**53 for step in steps):
        raise ValueError("steps")
    sensitivity, sigma = _number(content["sensitivity"]), _number(content["sigma"])
    return Released(sensitivity, sigma, grid, tuple(steps))


def _parse_signature(content: Any) -> Signature | None:
    if content is None:
        return None
    found = Signature(content["public_key"], content["page_sha256"], content["value"])
    if not re.fullmatch("[0-9a-f]{256}", found.public_key + found.page + found.value):
        raise InputError("The release's signature is of a format that this program does not know.")
    return found


def _difference(content: Mapping[str, Any], written: Mapping[str, Any]) -> str:
    """Where a file departs from what this program would have written, in one sentence."""
    fields = [field for field in {**content, **written} if field != "digest"]
    for field in fields:
        one, other = (json.dumps(each.get(field, "missing")) for each in (content, written))
        if one != other:
            return f"{show(field)} of the release is not as this program writes it."
    if content["digest"] != written["digest"]:
        return "The release was changed after it was written: its digest is that of another."
    return "The release is not laid out as this program writes it; ask for the file again."
