"""Declared schemas: hostile files, one sentence each; what a good one does."""

import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine import Budget, InputError, Knowledge, read_table, run
from engine.data.column import Column
from engine.data.schema import FORMAT, Schema, load_schema, parse_schema
from engine.question import Question
from engine.release.synthetic import synthetic_csv
from tests.boundary.fuzz import rows_of


def schema(*columns, **top):
    return {"format": FORMAT, "version": 1, "columns": list(columns)} | top


A = {"name": "a", "type": "ordered", "levels": ["no", "yes"]}
N = {"name": "b", "type": "numeric"}
B = {**N, "bounds": [0, 10], "bins": 4}
T = {**A, "take": "any"}


HOSTILE = {
    "nothing": None,
    "a list": [],
    "no format": {"columns": []},
    "another version": schema(A, B, version=3),
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
    "no bounds": schema(A, N),
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
    "cuts that fall": schema(A, {**N, "cuts": [3, 1]}),
    "too many cuts": schema(A, {**N, "cuts": list(range(64))}),
    "cuts outside of bounds": schema(A, {**B, "cuts": [10**6]}),
    "cuts of levels": schema(B, {**A, "cuts": [1]}),
    "stated as text": schema(B, {**A, "stated": "no"}),
    "a level that is missing": schema(B, {**A, "missing": ["Yes"]}),
    "codes that are no list": schema(A, B, missing="no"),
    "codes that are none": schema(B, {**A, "missing": [["x"]]}),
    "a date of any format": schema(A, B, dialect={"date": "%j"}),
    "groups that are a list": schema(B, {**A, "groups": [["no", "yes"]]}),
    "groups that share a level": schema(B, {**A, "groups": {"x": ["no"], "y": ["no", "yes"]}}),
    "a group of what is no level": schema(B, {**A, "groups": {"x": ["no", "maybe"]}}),
    "a group of lists": schema(B, {**A, "groups": {"x": [["no"], ["yes"]]}}),
    "a group that is a number": schema(B, {**A, "groups": {"x": 5}}),
    "a group of nothing": schema(B, {**A, "groups": {"x": None}}),
    "one group": schema(B, {**A, "groups": {"x": ["no", "yes"]}}),
    "a group called as a level": schema(B, {**A, "groups": {"yes": ["no"]}}),
    "a share below 0": schema(B, {**A, "groups": {"x": {"no": -1}}}),
    "groups of numbers": schema(A, {**B, "groups": {"x": ["1"]}}),
    "a value that is text": schema(B, {**A, "values": {"no": "0"}}),
    "a value of no level": schema(B, {**A, "values": {"maybe": 0}}),
    "a person that is text": schema(A, B, person="patient"),
    "bounds above any float": schema(A, {**B, "bounds": [0, 10**400]}),
    "cuts that are one float": schema(A, {**N, "cuts": [2**53, 2**53 + 1]}),
    "an other above any float": schema(A, {**B, "other": 10**400}),
    "a name that no file can hold": schema(A, {**B, "name": "\ud800"}),
    "a level that no file can hold": schema(B, {**A, "levels": ["no", "\udfff"]}),
    "an id that no file can hold": schema(T, {**T, "name": "c"}, person={"id": "\ud800"}),
    "a part of a date that is none": schema(A, {**B, "part": "week"}),
    "a dialect that is text": schema(A, B, dialect=","),
    "a decimal sign that is none": schema(A, B, dialect={"decimal": ";"}),
    "an unknown field of a dialect": schema(A, B, dialect={"sign": ","}),
    "no person for a rule": schema(T, B),
    "no rule for a person": schema(T, B, person={"id": "p"}),
    "the first without an order": schema({**B, "take": "first"}, T, person={"id": "p"}),
    "a sum of words": schema({**A, "take": "sum"}, {**B, "take": "any"}, person={"id": "p"}),
    "the id a column": schema(T, {**B, "take": "any"}, person={"id": "a"}),
    "no rows": schema(A, B, rows=0),
    "rows that are text": schema(A, B, rows="many"),
    "too many columns": schema(*({**A, "name": f"c{k}"} for k in range(1001))),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_schema_is_one_sentence(name):
    with pytest.raises(InputError) as caught:
        load_schema(json.dumps(HOSTILE[name]).encode())
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"\xff\xff", b"[" * 100_000, b'{"format": 1, "format": 2}', b" " * 6_000_000],
)
def test_what_is_no_json_is_one_sentence(raw):
    with pytest.raises(InputError):
        load_schema(raw)


def test_it_is_written_and_read_back():
    content = schema(A, {**B, "other": 5}, {**A, "name": "c", "type": "unordered", "other": "yes"})
    found = parse_schema(content)
    assert found.to_json() == content
    assert parse_schema({**content, "rows": 7}).to_json() == {**content, "rows": 7}
    assert found.levels[1] == ("< 2.5", "[2.5, 5)", "[5, 7.5)", ">= 7.5")


def test_columns_it_does_not_name_are_not_read():
    found = parse_schema(schema(B, A))
    data = read_table(b"id,a,b\n17,yes,3\n18,no,9\n", schema=found)
    assert data.names == ("b", "a")
    assert data.codes.tolist() == [[1, 1], [3, 0]]
    assert data.declared


def test_the_stated_number_of_rows_is_checked():
    good = Schema((Column(**{**A, "levels": ("no", "yes")}), Column(**{**B, "bounds": (0, 10)})))
    with pytest.raises(InputError, match="2 rows"):
        read_table(b"a,b\nyes,1\nno,2\n", schema=Schema(good.columns, rows=3))


# Cut points -----------------------------------------------------------------------------


def test_whole_numbers_too_long_for_an_integer_are_numbers():
    long = {**B, "bounds": [0, 10**30], "bins": 2, "other": -(10**40)}
    cut = {"name": "c", "type": "numeric", "cuts": [10**25, 10**26], "other": 7}
    stated = load_schema(json.dumps(schema(long, cut)).encode())
    data = read_table(b"b,c\n1e29,1e25\n9e29,1e26\n,7\n", schema=stated)
    assert data.codes.tolist() == [[0, 0], [0, 1], [1, 2]]


def test_it_is_written_anew_where_that_is_said(tmp_path):
    found = parse_schema(schema(A, {**B, "part": "year"}, dialect={"decimal": ","}))
    found.save(tmp_path / "s.json")
    with pytest.raises(InputError, match="overwrite=True"):
        found.save(tmp_path / "s.json")
    found.save(tmp_path / "s.json", overwrite=True)
    assert load_schema(tmp_path / "s.json") == found


def test_many_levels_are_grouped_by_the_schema_or_refused_before_the_charge(tmp_path):
    rng = np.random.default_rng(0)
    place = rng.integers(0, 20, 4000)
    ill = rng.random(4000) < np.where(place % 3 == 0, 0.7, 0.2)
    frame = pd.DataFrame({"place": [f"p{k:02d}" for k in place], "ill": np.where(ill, "yes", "no")})
    found = Schema.draft(frame).declare("place", "ill")
    ward = Budget("ward", epsilon=3, delta=1e-5, path=tmp_path / "b.db")
    for ask in (
        lambda: ward.release(frame, found),
        lambda: run("marginal_pc", read_table(frame, found)),
    ):
        with pytest.raises(InputError, match="'place' has 20 levels, and at most 12 can"):
            ask()
    assert ward.left.epsilon == 3
    third = {f"p{k:02d}": k + 1 for k in range(0, 20, 3)}
    others = [f"p{k:02d}" for k in range(20) if k % 3]
    schema = found.declare(place={"groups": {"third": third, "others": others}})
    assert load_schema(json.dumps(schema.to_json()).encode()) == schema
    assert schema.levels[0] == ("third", "others")
    paid = ward.release(frame, schema, epsilon=1)
    assert len(paid.edges) == 1
    made = paid.synthetic(2000)
    table = pd.read_csv(io.StringIO(synthetic_csv(paid.release, 2000)))
    shares = table["place"].value_counts()
    assert {*shares.index} <= {*third, *others}
    assert shares["p18"] > 5 * shares["p00"]
    for again in (table, made.to_frame(schema)):
        assert rows_of(read_table(again, schema)) == rows_of(made)


def test_a_level_has_a_public_number():
    words = Column(name="a", type="ordered", levels=("no", "some"), values={"some": 2.5})
    aged = Column(name="b", type="numeric", cuts=(30,), bounds=(0, 100), other="level")
    schema = Schema((words, aged))
    assert [column.numbers for column in schema.columns] == [(None, 2.5), (15, 65, None)]
    assert parse_schema(schema.to_json()) == schema
    assert schema.to_json()["version"] == 2
    assert Schema((words, replace(aged, values={"missing": 50}))).columns[1].numbers == (15, 65, 50)


def test_a_question_and_its_schema_have_one_background_knowledge():
    """The same knowledge may stand in both, or in one of them."""
    one, other = Knowledge(tiers=[["a"], ["b"]]), Knowledge(required=[("a", "b")])
    for declared, asked, kept in ((one, one, one), (None, one, one), (one, None, one)):
        made = replace(parse_schema(schema(A, B)), knowledge=declared)
        assert made.asked(Question(cause="a", outcome="b", known=asked)).knowledge == kept
    with pytest.raises(InputError, match="Two different statements of background knowledge"):
        made.asked(Question(cause="a", outcome="b", known=other))
