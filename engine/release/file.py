"""The file that is handed out: what it holds, written and read."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from engine.algorithm import Outcome
from engine.data.schema import Schema, parse_schema
from engine.errors import InputError
from engine.marginals.diagnostics import MarginalDiagnostics
from engine.privacy.accounting import Guarantee
from engine.privacy.sources import MOST_ENTRIES, Released

FORMAT, VERSION = "dp-causal-explorer/release", 1
NEIGHBOURS = "replace one record; the number of rows and the schema are public"
MOST_BYTES = 200_000_000
MOST_CELLS = 1_000_000_000
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Release:
    """One release: what was asked, what it promises, and all that was given out.

    ``total`` is the promise; ``params`` are the algorithm's own, whose delta is a little smaller
    (see :func:`engine.release.make.allowance`). ``releases`` are the noisy numbers, from which
    ``cpdag`` (an undirected edge in both directions) and ``confidence`` follow.
    """

    name: str
    algorithm: str
    params: Mapping[str, Any]
    rows: int
    schema: Schema
    total: Guarantee
    releases: tuple[Released, ...]
    labels: tuple[str, ...]
    tables: tuple[tuple[str, ...], ...]
    cpdag: Pairs
    confidence: tuple[tuple[str, str, float], ...]
    versions: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return self.schema.names


def findings(outcome: Outcome, names: tuple[str, ...]) -> dict[str, Any]:
    """The graph, the edges' confidence and the tables that were released, by names."""
    matrix, found = outcome.cpdag, outcome.diagnostics
    assert isinstance(found, MarginalDiagnostics)
    cells = combinations(range(len(names)), 2)
    joined = [(i, j) for i, j in cells if matrix[i, j] or matrix[j, i]]
    both = [(a, b) for i, j in joined for a, b in ((i, j), (j, i)) if matrix[a, b]]
    return {
        "cpdag": tuple(sorted((names[a], names[b]) for a, b in both)),
        "confidence": tuple(
            (names[i], names[j], float(found.edge_confidence[i, j])) for i, j in joined
        ),
        "tables": tuple(tuple(names[i] for i in table) for table in found.released_tables),
    }


def to_json(release: Release) -> dict[str, Any]:
    """The file's content: nothing in it but public facts and what was paid for."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": release.name,
        "guarantee": {
            "epsilon": release.total.epsilon,
            "delta": release.total.delta,
            "neighbours": NEIGHBOURS,
            "noise": "discrete Gaussian on a grid (OpenDP), from the operating system's random "
            "bytes; no seed",
        },
        "algorithm": release.algorithm,
        "params": dict(release.params),
        "rows": release.rows,
        "schema": release.schema.to_json(),
        "cpdag": [list(pair) for pair in release.cpdag],
        "edge_confidence": [list(edge) for edge in release.confidence],
        "tables": [list(table) for table in release.tables],
        "releases": [
            {
                "label": label,
                "sensitivity": one.sensitivity,
                "sigma": one.sigma,
                "grid": one.grid,
                "steps": list(one.steps),
            }
            for label, one in zip(release.labels, release.releases, strict=True)
        ],
        "versions": dict(release.versions),
    }


_FIELDS = {
    "name": str,
    "algorithm": str,
    "params": dict,
    "guarantee": dict,
    "cpdag": list,
    "edge_confidence": list,
    "tables": list,
    "releases": list,
    "versions": dict,
}


def parse(content: Any) -> Release:
    """A release from its JSON value; InputError in one sentence for anything else."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError(f'This is no release: its JSON needs "format": "{FORMAT}".')
    if content.get("version") != VERSION:
        raise InputError(f"This program reads version {VERSION} of a release file.")
    for field, kind in _FIELDS.items():
        if not isinstance(content.get(field), kind):
            raise InputError(f'The release has no usable "{field}"; ask for the file again.')
    schema, rows = parse_schema(content.get("schema")), content.get("rows")
    if not isinstance(rows, int) or rows < 2 or rows * len(schema.columns) > MOST_CELLS:
        raise InputError('The release has no usable "rows"; ask for the file again.')
    try:
        releases = tuple(map(_parse_released, content["releases"]))
        return Release(
            name=content["name"],
            algorithm=content["algorithm"],
            params=content["params"],
            rows=rows,
            schema=schema,
            total=Guarantee(*(_number(content["guarantee"][k]) for k in ("epsilon", "delta"))),
            releases=releases,
            labels=tuple(str(one["label"]) for one in content["releases"]),
            tables=tuple(tuple(map(str, table)) for table in content["tables"]),
            cpdag=tuple((str(a), str(b)) for a, b in content["cpdag"]),
            confidence=tuple(
                (str(a), str(b), _number(c)) for a, b, c in content["edge_confidence"]
            ),
            versions={str(k): str(v) for k, v in content["versions"].items()},
        )
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError("A part of the release is not as this program writes it.") from None


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(value)
    return float(value)


def _parse_released(content: Mapping[str, Any]) -> Released:
    steps, grid = content["steps"], content["grid"]
    if not isinstance(grid, int) or not -1000 < grid < 1000 or len(steps) > MOST_ENTRIES:
        raise ValueError(grid)
    if not all(type(step) is int and abs(step) < 2**53 for step in steps):
        raise ValueError("steps")
    return Released(_number(content["sensitivity"]), _number(content["sigma"]), grid, tuple(steps))


def load(path: str | os.PathLike[str]) -> Release:
    """Read a release's file; InputError in one sentence where it is none."""
    try:
        with Path(path).open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except (OSError, ValueError):
        raise InputError(f"There is no release to read at {str(path)!r}; check it.") from None
    return loads(raw)


def loads(raw: bytes) -> Release:
    """A release from the bytes of its file."""
    if len(raw) > MOST_BYTES:
        raise InputError("This file is too large for a release.")
    try:
        content = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise InputError("The release is not JSON in UTF-8; ask for the file again.") from None
    return parse(content)


def save(text: str, path: Path) -> None:
    """Write a file whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def check_place(path: Path) -> None:
    """Raise InputError where a file could not be written, before anything is paid for."""
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{str(path)!r} is no place for a file; name one in a folder there is.")
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"The folder of {str(path)!r} cannot be written to; name another.")
