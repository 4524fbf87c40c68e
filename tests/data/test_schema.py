"""Declared schemas: 30 hostile files, one sentence each; what a good one does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine import InputError, read_csv
from engine.__main__ import main
from engine.data.schema import FORMAT, Column, Schema, load_schema, parse_schema


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
