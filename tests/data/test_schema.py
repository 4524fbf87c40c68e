"""Declared schemas: hostile files, one sentence each; what a good one does."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from engine import InputError, fold_table, read_csv, read_table
from engine.__main__ import main
from engine.data.schema import FORMAT, Column, Schema, column_of, load_schema, parse_schema
from engine.data.templates import TEMPLATES


def schema(*columns: Any, **top: Any) -> Any:
    return {"format": FORMAT, "version": 1, "columns": list(columns)} | top


A: dict[str, Any] = {"name": "a", "type": "ordered", "levels": ["no", "yes"]}
B: dict[str, Any] = {"name": "b", "type": "numeric", "bounds": [0, 10], "bins": 4}


HOSTILE = {
    "nothing": None,
    "a list": [],
    "no format": {"columns": []},
    "another version": schema(A, B, version=2),
    "an unknown field": schema(A, B, seed=1),
    "no columns": {"format": FORMAT, "version": 1},
    "one column": schema(A),
    "a column that is text": schema(A, "b"),
    "a column twice": schema(A, A),
    "no name": schema(A, {"type": "ordered", "levels": ["x", "y"]}),
    "a blank name": schema(A, {**B, "name": " "}),
    "a name that is a number": schema(A, {**B, "name": 3}),
    "an endless name": schema(A, {**B, "name": "b" * 1000}),
    "no type": schema(A, {"name": "b"}),
    "an unknown type": schema(A, {**B, "type": "complex"}),
    "a type that is a list": schema(A, {**B, "type": ["numeric"]}),
    "an unknown field of a column": schema(A, {**B, "seed": 1}),
    "no levels": schema(B, {"name": "a", "type": "ordered"}),
    "one level": schema(B, {**A, "levels": ["no"]}),
    "a level twice": schema(B, {**A, "levels": ["no", "no"]}),
    "levels that are numbers": schema(B, {**A, "levels": [0, 1]}),
    "levels that are text": schema(B, {**A, "levels": "no yes"}),
    "too many levels": schema(B, {**A, "levels": [str(k) for k in range(65)]}),
    "bounds of levels": schema(B, {**A, "bounds": [0, 1]}),
    "an other that is no level": schema(B, {**A, "other": "maybe"}),
    "an other that is a list": schema(B, {**A, "other": ["no"]}),
    "no bounds": schema(A, {"name": "b", "type": "numeric"}),
    "bounds the wrong way round": schema(A, {**B, "bounds": [10, 0]}),
    "three bounds": schema(A, {**B, "bounds": [0, 1, 2]}),
    "bounds that are text": schema(A, {**B, "bounds": ["0", "1"]}),
    "endless bounds": schema(A, {**B, "bounds": [0, 1e305]}),
    "bounds too close": schema(A, {**B, "bounds": [1, 1.0000000000000002], "bins": 40}),
    "one bin": schema(A, {**B, "bins": 1}),
    "bins in parts": schema(A, {**B, "bins": 2.5}),
    "true bins": schema(A, {**B, "bins": True}),
    "an other that is text": schema(A, {**B, "other": "zero"}),
    "an other that is infinite": schema(A, {**B, "other": 1e999}),
    "levels of numbers": schema(A, {**B, "levels": ["x", "y"]}),
    "cuts that fall": schema(A, {"name": "b", "type": "numeric", "cuts": [3, 1]}),
    "cuts that are text": schema(A, {"name": "b", "type": "numeric", "cuts": ["1"]}),
    "endless cuts": schema(A, {"name": "b", "type": "numeric", "cuts": [1e999]}),
    "too many cuts": schema(A, {"name": "b", "type": "numeric", "cuts": list(range(64))}),
    "cuts and bounds": schema(A, {**B, "cuts": [1]}),
    "cuts of levels": schema(B, {**A, "cuts": [1]}),
    "stated as text": schema(B, {**A, "stated": "no"}),
    "a person that is text": schema(A, B, person="patient"),
    "bounds above any float": schema(A, {**B, "bounds": [0, 10**400]}),
    "cuts above any float": schema(A, {"name": "b", "type": "numeric", "cuts": [10**400]}),
    "cuts that are one float": schema(
        A, {"name": "b", "type": "numeric", "cuts": [2**53, 2**53 + 1]}
    ),
    "an other above any float": schema(A, {**B, "other": 10**400}),
    "a name that no file can hold": schema(A, {**B, "name": "\ud800"}),
    "a level that no file can hold": schema(B, {**A, "levels": ["no", "\udfff"]}),
    "an id that no file can hold": schema(
        {**A, "take": "any"}, {**A, "name": "c", "take": "any"}, person={"id": "\ud800"}
    ),
    "no rows": schema(A, B, rows=0),
    "rows that are text": schema(A, B, rows="many"),
    "too many columns": schema(*({**A, "name": f"c{k}"} for k in range(1001))),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_schema_is_one_sentence(name: str) -> None:
    with pytest.raises(InputError) as caught:
        load_schema(json.dumps(HOSTILE[name]).encode())
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"\xff\xff", b"[" * 100_000, b'{"format": 1, "format": 2}', b" " * 6_000_000],
)
def test_what_is_no_json_is_one_sentence(raw: bytes) -> None:
    with pytest.raises(InputError):
        load_schema(raw)


def test_it_is_written_and_read_back() -> None:
    content = schema(A, {**B, "other": 5}, {**A, "name": "c", "type": "unordered", "other": "yes"})
    found = parse_schema(content)
    assert found.to_json() == content
    assert parse_schema({**content, "rows": 7}).to_json() == {**content, "rows": 7}
    assert found.levels[1] == ("< 2.5", "[2.5, 5)", "[5, 7.5)", ">= 7.5")


def test_columns_it_does_not_name_are_not_read() -> None:
    found = parse_schema(schema(B, A))
    data = read_csv(b"id,a,b\n17,yes,3\n18,no,9\n", schema=found)
    assert data.names == ("b", "a")
    assert data.codes.tolist() == [[1, 1], [3, 0]]
    assert data.declared


def test_what_is_public_is_checked() -> None:
    good = Schema((Column(**{**A, "levels": ("no", "yes")}), Column(**{**B, "bounds": (0, 10)})))
    with pytest.raises(InputError, match="'b'"):
        read_csv(b"a,c\nyes,1\nno,2\n", schema=good)
    with pytest.raises(InputError, match="2 rows"):
        read_csv(b"a,b\nyes,1\nno,2\n", schema=Schema(good.columns, rows=3))


def test_the_flag(capsys: Any, tmp_path: Any) -> None:
    assert main(["run", "--dataset", "asia", "--schema", "x.json"]) == 2
    assert main(["run", "--csv", "x.csv", "--schema", str(tmp_path / "no.json")]) == 2
    assert "schema" in capsys.readouterr().err


# Cut points -----------------------------------------------------------------------------


def test_cuts_are_the_same_by_every_door(tmp_path: Path) -> None:
    """A long tail cut where it differs: read, folded by DuckDB, and from files of a folder."""
    values = np.array([0, 0.5, 1, 2.9999999, 3, 6, 1e9, -1e9, np.nan, np.inf, -np.inf, 5.5])
    frame = pd.DataFrame({"visits": values, "b": ["x", "y"] * 6})
    facts = {"name": "visits", "type": "numeric", "cuts": [1, 3, 6], "other": "level"}
    words = {"name": "b", "type": "ordered", "levels": ["x", "y"]}
    found = parse_schema(schema(facts, words))
    assert found.levels[0] == ("< 1", "[1, 3)", "[3, 6)", ">= 6", "missing")
    want = [0, 0, 1, 1, 2, 3, 3, 0, 4, 4, 4, 2]
    assert read_table(frame, schema=found).codes[:, 0].tolist() == want
    frame.to_parquet(tmp_path / "one.parquet")
    frame.to_csv(tmp_path / "one.csv", index=False)
    (tmp_path / "parts").mkdir()
    for k in range(2):
        frame.iloc[k::2].to_parquet(tmp_path / "parts" / f"{k}.parquet")
    with duckdb.connect(str(tmp_path / "one.duckdb")) as database:
        database.register("frame", frame)
        database.execute("CREATE TABLE t AS SELECT * FROM frame")
    rows = Counter(zip(want, [0, 1] * 6, strict=True))
    for name in ("one.parquet", "one.csv", "parts", "one.duckdb"):
        folded = fold_table(tmp_path / name, schema=found)
        assert Counter(map(tuple, folded.row_codes().tolist())) == rows, name


def test_whole_numbers_too_long_for_an_integer_are_numbers() -> None:
    long = {**B, "bounds": [0, 10**30], "bins": 2, "other": -(10**40)}
    cut = {"name": "c", "type": "numeric", "cuts": [10**25, 10**26], "other": 7}
    stated = load_schema(json.dumps(schema(long, cut)).encode())
    data = read_csv(b"b,c\n1e29,1e25\n9e29,1e26\n,7\n", schema=stated)
    assert data.codes.tolist() == [[0, 1], [1, 2], [0, 0]]


def test_templates_are_columns() -> None:
    for name in TEMPLATES:
        assert column_of("a", name).size > 2
    assert column_of("age", "age in tens").labels[:2] == ("< 10", "[10, 20)")
