"""One row a person: a table of visits or purchases in which neighbours are persons.

Every cell is coded by its column's own rule, then a person's rows become one by the rule that the
schema states for the column. What comes of a person is a function of that person's rows alone, and
of them as a set: neither their order in the file nor how the file is parted matters, so a tie in
the order counts as its lowest level, as does one between the most frequent. Rows without an id
belong to nobody and are left out. The ids stay in DuckDB's memory (and its private folder beyond
that) while persons are brought together, and are in nothing that is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import pyarrow as pa

from engine.data import doors
from engine.data.column import ADDED, LEVEL, REFUSED, Column, without_number
from engine.data.distinct import Folded, Folding
from engine.data.levels import look_up
from engine.data.numerals import Numbers, moment
from engine.data.schema import Schema, find_columns
from engine.data.tally import MISSING, Batches, words_of
from engine.errors import InputError

MEMORY = "1GB"  # what DuckDB may hold; the rest is spilled
# Sums are of whole millionths: exact, whatever the order of a person's rows.
GRAIN = 1_000_000
MOST = 9 * 10**18  # millionths: beyond nine million million a row's number counts as that
Watch = Callable[[int, int | None, str], None]


def gathered(
    batches: Batches,
    schema: Schema,
    numbers: Numbers,
    watch: Watch = lambda done, total, unit: None,
) -> Folded:
    """The persons of a table, equal ones folded; ``watch`` is told of rows."""
    rows = 0
    with Gathering(schema) as gathering:
        for part in person_rows(batches, schema, numbers):
            gathering.add(part)
            rows += part.num_rows
            watch(rows, None, "rows")
        return gathering.finish()


# Rows of persons ------------------------------------------------------------------------


def person_rows(batches: Batches, schema: Schema, numbers: Numbers) -> Iterator[pa.Table]:
    """Batch by batch each row's person, place in the order, and codes or numbers."""
    assert schema.person is not None
    [whose] = find_columns([schema.person.id], batches.names, batches.label)
    order = None
    if schema.person.order is not None:
        [order] = find_columns([schema.person.order], batches.names, batches.label)
    read = [column for column in schema.columns if column.take != "count"]
    places = find_columns([column.name for column in read], batches.names, batches.label)
    for arrays in batches.arrays:

        def cells(place: int, arrays: list[pa.Array] = arrays) -> tuple[list[str], np.ndarray]:
            words, index = words_of(arrays[place], batches.names[place], batches.spaced)
            return [w.strip() for w in words], index.to_numpy(zero_copy_only=False)

        ids, index = cells(whose)
        known = np.array([word not in MISSING for word in ids], bool)[index]
        found: dict[str, Any] = {"id": pa.array(ids, pa.string()).take(pa.array(index))}
        found["place"] = (
            _places(*cells(order), numbers) if order is not None else np.zeros(len(index))
        )
        for column, place in zip(read, places, strict=True):
            found[_key(schema, column)] = _values(column, *cells(place), numbers)
        yield pa.table(found).filter(pa.array(known))


def _key(schema: Schema, column: Column) -> str:
    """What a column is called on the way: names are a person's, and hold anything."""
    return f"c{schema.columns.index(column)}"


def _places(words: list[str], index: np.ndarray, numbers: Numbers) -> np.ndarray:
    """Each row's place in a person's order: its number or date, before all others without one."""
    pattern = numbers.pattern()

    def place(word: str) -> float:
        found = numbers.value(word) if pattern.fullmatch(word) else moment(word)
        return -np.inf if found is None else found

    return np.asarray(np.array([place(word) for word in words], float)[index])


def _values(
    column: Column, words: list[str], index: np.ndarray, numbers: Numbers
) -> np.ndarray | pa.Array:
    """The rows' codes, or of a column that is added up their whole millionths (null: no number)."""
    if column.take not in ADDED:
        codes = look_up(column.codes(words, numbers), index)
        if (codes == REFUSED).any():
            raise without_number(column.name)
        return codes
    values = column.free(words, numbers)
    gaps = np.isnan(values)
    if gaps[index].any() and column.other is None:
        raise without_number(column.name)
    grains = _grains(np.where(gaps, 0.0, values))
    return pa.array(grains[index], pa.int64(), mask=gaps[index])


def _grains(values: np.ndarray) -> np.ndarray:
    bounded = np.clip(values, -MOST / GRAIN, MOST / GRAIN)
    return np.asarray(np.rint(bounded * GRAIN).astype(np.int64))


# Bringing them together -----------------------------------------------------------------


class Gathering:
    """Rows of persons on their way into one row each, in DuckDB."""

    def __init__(self, schema: Schema):
        self._schema, self._open = schema, ExitStack()

    def __enter__(self) -> Gathering:
        """Open a database in memory."""
        failed = "the persons of the table cannot be brought together"
        self._database = self._open.enter_context(
            doors.connected(None, lambda reason: InputError(f"{failed}: {reason}."))
        )
        self._database.execute(f"SET memory_limit = '{MEMORY}'")
        kinds = ["id VARCHAR", "place DOUBLE"]
        for column in self._schema.columns:
            if column.take != "count":
                kind = "BIGINT" if column.take in ADDED else "UTINYINT"
                kinds.append(f"{_key(self._schema, column)} {kind}")
        self._database.execute(f"CREATE TABLE visits ({', '.join(kinds)})")
        return self

    def __exit__(self, *error: Any) -> None:
        """Forget all of it."""
        self._open.__exit__(*error)

    def add(self, rows: pa.Table) -> None:
        """Take in rows, of any persons."""
        self._database.register("part", rows)
        self._database.execute("INSERT INTO visits SELECT * FROM part")
        self._database.unregister("part")

    def finish(self) -> Folded:
        """One row a person, equal ones folded."""
        schema = self._schema
        single = [f"{_single(c, _key(schema, c))} AS {_key(schema, c)}" for c in schema.columns]
        persons = f"SELECT {', '.join(['id', *single])} FROM visits GROUP BY id"
        joined = "persons"
        for column in schema.columns:
            if column.take == "most":
                key = _key(schema, column)
                joined += f" JOIN ({_most(key)}) USING (id)"
        keys = ", ".join(
            f"m{k}" if column.take == "most" else f"c{k}" for k, column in enumerate(schema.columns)
        )
        asked = f"WITH persons AS ({persons}) SELECT {keys}, count(*) FROM {joined} GROUP BY ALL"
        return self._folded(self._database.sql(asked).to_arrow_reader(doors.BATCH))

    def _folded(self, batches: Any) -> Folded:
        folding = Folding(tuple(map(len, self._schema.levels)))
        for batch in batches:
            *codes, weights = (array.to_numpy(zero_copy_only=False) for array in batch.columns)
            narrow = [column.astype(np.uint8) for column in codes]
            folding.add(Folded(np.stack(narrow, axis=1), weights.astype(np.int64)))
        return folding.finish()


def _single(column: Column, key: str) -> str:
    """The SQL that makes one code of a person's rows."""
    if column.take in ("first", "last"):
        # Of rows at one place the lowest level: the answer must not depend on the file's order.
        first = column.take == "first"
        pair = f"{{'place': place, 'code': {key if first else f'255 - {key}'}}}"
        return f"min({pair}).code" if first else f"255 - max({pair}).code"
    if column.take == "any":
        return _any(column, key)
    if column.take == "most":
        return "0::UTINYINT"  # its own query: see _most
    amount = f"sum({key})" if column.take == "sum" else f"count(*) * {GRAIN}"
    above = _above(amount, column.points())
    if column.take == "sum" and column.other == LEVEL:
        return f"CASE WHEN count({key}) = 0 THEN {len(column.points()) + 1} ELSE {above} END"
    return above


def _any(column: Column, key: str) -> str:
    """The highest level of any row; a level of gaps only where there is nothing else."""
    if column.type == "numeric" and column.other == LEVEL:
        gap = len(column.points()) + 1
        return f"coalesce(max({key}) FILTER ({key} < {gap}), {gap})"
    return f"max({key})"


def _most(key: str) -> str:
    """The SQL for each person's most frequent code, the lowest of several."""
    each = f"SELECT id, {key} AS code, count(*) AS often FROM visits GROUP BY id, {key}"
    best = "255 - max({'often': often, 'code': 255 - code}).code"
    return f"SELECT id, {best} AS {key.replace('c', 'm')} FROM ({each}) GROUP BY id"


def _above(amount: str, points: Sequence[float]) -> str:
    grains = _grains(np.array(points))
    return " + ".join(f"({amount} >= {int(grain)})::UTINYINT" for grain in grains)
