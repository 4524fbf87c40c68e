"""Neighbours that hurt: documented extremes cell by cell, random ones, and the climb."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from engine import InputError, load_dataset
from engine.audit.neighbours import (
    KINDS,
    Neighbours,
    all_alike,
    from_dataset,
    known,
    many,
    neighbours,
    one_cell,
    strata,
    turned_vote,
)


def cells(pair: Neighbours) -> Counter[tuple[int, ...]]:
    """How many rows hold each record."""
    return Counter(map(tuple, pair.data.codes.tolist()))


def replaced(pair: Neighbours) -> tuple[list[int], list[int]]:
    """The one record that differs, on both sides."""
    differing = np.flatnonzero((pair.data.codes != pair.other.codes).any(axis=1))
    assert differing.tolist() == [pair.row]
    assert pair.data.names == pair.other.names
    assert pair.data.levels == pair.other.levels
    return pair.data.codes[pair.row].tolist(), pair.other.codes[pair.row].tolist()


def test_in_the_strata_one_record_joins_a_constant_column() -> None:
    pair = strata(6, 50)
    assert cells(pair) == {(0, 0, 0): 3, (1, 1, 0): 3, (0, 0, 1): 40, (0, 1, 1): 10}
    assert replaced(pair) == ([1, 1, 0], [1, 0, 1])
    assert pair.data.cardinalities == (2, 2, 2)
    usual = cells(strata())
    assert (usual[0, 0, 0], usual[1, 1, 0]) == (20, 20)
    assert (usual[0, 0, 1], usual[0, 1, 1]) == (39_968, 9_992)
    assert sum(cells(strata(7, 50)).values()) == 57


def test_the_other_documented_extremes() -> None:
    assert cells(all_alike()) == {(0,) * 8: 40}
    assert replaced(all_alike()) == ([0] * 8, [1] * 5 + [0] * 3)
    assert all_alike().data.cardinalities == (2,) * 8
    assert replaced(all_alike(10, 2, 1)) == ([0, 0], [1, 0])
    assert (all_alike().name, all_alike(10, 2, 1).name) == ("all alike", "10 alike")
    assert cells(one_cell(6)) == {(1, 0, 0): 1, (0, 0, 0): 2, (0, 0, 1): 3}
    assert replaced(one_cell(6)) == ([1, 0, 0], [1, 1, 0])
    assert one_cell().data.n == 2_000
    step = {(0, 0): 3, (1, 1): 2, (2, 1): 2, (3, 1): 2}
    assert cells(turned_vote(9)) == step
    assert replaced(turned_vote(9)) == ([0, 0], [0, 3])
    assert turned_vote().data.n == 25
    assert [pair.name for pair in known()] == ["strata", "all alike", "one cell"]
    assert [pair.name for pair in known(2)] == ["turned vote", "40 alike", "10 alike"]
    assert {pair.data.d for pair in known(2)} == {2}


def test_wide_tables_have_names_for_all_columns() -> None:
    pair = neighbours("wide", np.zeros((3, 16), int), 1, [1] * 16, [2] * 16)
    assert pair.data.names[:3] == ("x", "y", "z")
    assert pair.data.names[13:] == ("h", "c14", "c15")
    assert replaced(pair) == ([0] * 16, [1] * 16)


def test_the_first_and_the_last_person_and_level_can_be_replaced() -> None:
    data = load_dataset("cancer", n=30)
    top = [size - 1 for size in data.cardinalities]
    for row in (0, 29):
        for record in ([0] * data.d, top):
            other = from_dataset(data, row, record).other
            assert other.codes[row].tolist() == record
            assert (np.delete(other.codes, row, 0) == np.delete(data.codes, row, 0)).all()
            assert other.truth is not None
            assert set(other.truth.edges) == set(load_dataset("cancer", n=2).truth.edges)
            assert other.public


@pytest.mark.parametrize("row", [-1, 30])
def test_a_person_who_is_not_there_is_refused(row: int) -> None:
    data = load_dataset("cancer", n=30)
    with pytest.raises(InputError, match=f"no row {row}: the rows are 0 to 29"):
        from_dataset(data, row, [0] * data.d)


def test_a_record_that_the_schema_does_not_hold_is_refused() -> None:
    data = load_dataset("cancer", n=30)
    for column, size in enumerate(data.cardinalities):
        for code in (-1, size):
            record = [0] * data.d
            record[column] = code
            with pytest.raises(InputError, match="code of a level for every column"):
                from_dataset(data, 0, record)
    for width in (data.d - 1, data.d + 1):
        with pytest.raises(InputError, match="code of a level for every column"):
            from_dataset(data, 0, [0] * width)


def test_random_pairs_differ_in_one_record_of_one_schema() -> None:
    """Each kind keeps what its name says, at every draw."""
    for k, pair in enumerate(many(5, 60)):
        kind, codes = KINDS[k % len(KINDS)], pair.data.codes
        assert (pair.data.codes != pair.other.codes).any(axis=1).sum() <= 1
        assert ((pair.data.codes != pair.other.codes).any(axis=1).nonzero()[0] == pair.row).all()
        assert pair.data.cardinalities == pair.other.cardinalities
        assert 2 <= pair.data.d <= 5
        assert (6 <= pair.data.n < 12) if kind == "tiny" else (20 <= pair.data.n < 90)
        if kind == "strata":
            assert 3 <= pair.data.d <= 4
            assert 2 <= (codes[:, -1] == 0).sum() < 9
            assert (codes[codes[:, -1] == 1, 0] == 0).all()
            assert codes[pair.row, -1] == 0
        elif kind == "constant":
            assert any(len(set(column)) == 1 for column in codes.T)
        elif kind == "deterministic":
            least = np.minimum(codes[:, 0], pair.data.cardinalities[-1] - 1)
            assert (codes[:, -1] == least).all()
        elif kind == "numeric":
            assert pair.other.values is not None
            assert (abs(pair.other.values[pair.row]) == 3).all()
            assert set(pair.data.bounds) == {(-3.0, 3.0)}
    (wide,) = many(0, 1, ["any"], columns=7, least=200)
    assert (wide.data.n, wide.data.d) == (200, 7)
    assert next(many(0, 1, ["tiny"], rows=33)).data.n == 33
    assert len({tuple(p.data.codes.ravel()) for p in many(1, 12, ["any"])}) == 12


def test_records_are_replaced_by_all_three_kinds_of_others() -> None:
    """By the opposite corner, by a random one, and by one of which one column changed."""
    corner = single = 0
    for pair in many(3, 80, ["any"]):
        if not (pair.data.codes != pair.other.codes).any():
            continue
        old, new = replaced(pair)
        sizes = pair.data.cardinalities
        opposite = [s - 1 if v == 0 else 0 for v, s in zip(old, sizes, strict=True)]
        corner += new == opposite
        single += sum(a != b for a, b in zip(old, new, strict=True)) == 1
    assert corner >= 20
    assert single >= 15
