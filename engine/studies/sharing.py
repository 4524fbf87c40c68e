"""A study as a file that one hands on: read from bytes, joined with another, as a plain table."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.data.spreadsheets import table_csv
from engine.errors import InputError, cut, show
from engine.registry import ALGORITHMS
from engine.studies.cells import CellResult
from engine.studies.store import ResultStore

if TYPE_CHECKING:
    import pandas as pd

MOST_RUNS = 50_000  # of a file that somebody hands in
TABLES = ("parquet", "csv")


@dataclass(frozen=True)
class Handed:
    """What a file holds: its runs, and what each study that it names asked for."""

    name: str
    results: tuple[CellResult, ...]
    studies: Mapping[str, Mapping[str, Any]]


def read_study(content: bytes, name: str) -> Handed:
    """The runs of a study's file that comes from elsewhere.

    It is read in memory, and nothing in it is trusted: only the two tables that a study has are
    admitted, every row is checked, and a damaged one is refused.

    Args:
        content: The file.
        name: What it is called, for sentences.

    Raises:
        InputError: In one sentence for what is no study, is damaged, comes from a newer version,
            is too large, or holds runs on a person's own data.
    """
    with ResultStore.of_bytes(content, name) as store:
        if len(store) > MOST_RUNS:
            raise InputError(f"{name} holds more than {MOST_RUNS:,} runs; it was not opened.")
        results, studies = tuple(store.results()), store.studies()
        if store.damaged:
            raise InputError(f"{name} has a damaged row ({store.damaged[0]}); it was not opened.")
    if any(r.cell.own for r in results):
        raise InputError(f"{name} holds runs on a person's own data; it was not opened.")
    _check_settings(name, results)
    return Handed(name, results, studies)


def _check_settings(name: str, results: Iterable[CellResult]) -> None:
    """Raise InputError for what this version could not have been asked."""
    for key, params in dict.fromkeys((r.algorithm, r.params) for r in results):
        if key not in ALGORITHMS:
            raise InputError(f"{name} holds runs of {show(key)}, which this version does not have.")
        try:
            ALGORITHMS[key].params.build(json.loads(params))
        except InputError as error:
            raise InputError(
                f"{name} has a setting that does not fit this version: {error}"
            ) from error


def study_file(
    results: Iterable[CellResult], studies: Mapping[str, Mapping[str, Any]] | None = None
) -> bytes:
    """The file of these runs, in SQLite's format, with what studies asked for by name."""
    with ResultStore(":memory:") as store:
        store.put(results)
        for name, spec in (studies or {}).items():
            store.save_study(name, spec)
        return store.to_bytes()


def joined(*sides: tuple[str, Sequence[CellResult]]) -> list[CellResult]:
    """The runs of several studies as those of one.

    Args:
        sides: Each study's name, for sentences, and its runs.

    Returns:
        Every run once, in the order given.

    Raises:
        InputError: Where they were computed by different versions of the engine, and where two
            hold different results of one run.
    """
    found: dict[tuple[Any, ...], CellResult] = {}
    first: tuple[str, str] | None = None
    for name, results in sides:
        for result in results:
            first = first or (name, result.version)
            if result.version != first[1]:
                raise InputError(
                    f"{first[0]} was computed by engine {cut(first[1])}, {name} by "
                    f"{cut(result.version)}: "
                    "runs of different code do not stand in one study. Run one of them anew."
                )
            known = found.setdefault(result.cell.key, result)
            if known is not result and not _same(known, result):
                raise InputError(
                    f"{name} has another result of {result.algorithm} on {cut(result.dataset)}, "
                    f"seed {result.seed}, than the study before it: one of the two was changed."
                )
    return list(found.values())


def _same(one: CellResult, other: CellResult) -> bool:
    """Whether two results differ in nothing but their clock and the name of their data."""
    parts = [r.as_dict() | {"seconds": None, "dataset": None} for r in (one, other)]
    return bool(parts[0] == parts[1])


def runs_table(table: pd.DataFrame, kind: str) -> bytes:
    """The tidy table (:func:`engine.studies.analysis.frame`) as a Parquet or CSV file.

    A parameter that is a number in some runs and a word in others is text in Parquet.
    """
    if kind not in TABLES:
        raise InputError(f"A table of runs is a .parquet or .csv file; {kind!r} is neither.")
    if kind == "csv":
        return table_csv(table).encode()
    out = io.BytesIO()
    plain(table).to_parquet(out, index=False)
    return out.getvalue()


def plain(table: pd.DataFrame) -> pd.DataFrame:
    """The table with one type a column: numbers where all are, else text."""
    import pandas as pd  # here: importing the engine does not load it

    def column(values: pd.Series[Any]) -> pd.Series[Any]:
        if values.dtype != object:
            return values
        there = values.dropna()
        if all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in there):
            return pd.to_numeric(values)
        return values.map(lambda v: v if v is None or v is pd.NA or v != v else str(v))

    return table.apply(column)
