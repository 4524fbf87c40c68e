"""Neighbours that hurt: documented extremes cell by cell, random ones, and the climb."""

from collections import Counter

import numpy as np
import pytest

from engine import InputError, load_dataset
from engine.audit.neighbours import (
    KINDS,
    all_alike,
    extremes,
    from_dataset,
    many,
    neighbours,
    one_cell,
    strata,
    turned_vote,
)


def cells(pair):
    """How many rows hold each record."""
    return Counter(map(tuple, pair.data.codes.tolist()))


def replaced(pair):
    """The one record that differs, on both sides."""
    differing = np.flatnonzero((pair.data.codes != pair.other.codes).any(axis=1))
    assert differing.tolist() == [pair.row]
    assert pair.data.names == pair.other.names
    assert pair.data.levels == pair.other.levels
    return pair.data.codes[pair.row].tolist(), pair.other.codes[pair.row].tolist()


def test_the_documented_extremes_cell_by_cell():
    alike = [1] * 5 + [0] * 3
    for pair, rows, old, other, levels in (
        (strata(6, 50), {(0, 0, 0): 3, (1, 1, 0): 3, (0, 0, 1): 40, (0, 1, 1): 10},
         [1, 1, 0], [1, 0, 1], (2, 2, 2)),
        (all_alike(), {(0,) * 8: 40}, [0] * 8, alike, (2,) * 8),
        (all_alike(10, 2, 1), {(0, 0): 10}, [0, 0], [1, 0], (2, 2)),
        (one_cell(6), {(1, 0, 0): 1, (0, 0, 0): 2, (0, 0, 1): 3}, [1, 0, 0], [1, 1, 0], (2, 2, 2)),
        (turned_vote(9), {(0, 0): 3, (1, 1): 2, (2, 1): 2, (3, 1): 2}, [0, 0], [0, 3], (4, 4)),
        (neighbours("wide", np.zeros((3, 16), int), 1, [1] * 16, [2] * 16), {(0,) * 16: 3},
         [0] * 16, [1] * 16, (2,) * 16),
    ):  # fmt: skip
        assert (cells(pair), pair.data.cardinalities) == (rows, levels)
        assert replaced(pair) == (old, other)
    assert pair.data.names[:3] + pair.data.names[13:] == ("x", "y", "z", "h", "c14", "c15")
    usual = cells(strata())
    assert usual == {(0, 0, 0): 20, (1, 1, 0): 20, (0, 0, 1): 39_968, (0, 1, 1): 9_992}
    assert sum(cells(strata(7, 50)).values()) == 57
    assert (one_cell().data.n, turned_vote().data.n) == (2_000, 25)
    assert [pair.name for pair in extremes()] == ["strata", "all alike", "one cell"]
    assert [pair.name for pair in extremes(2)] == ["turned vote", "40 alike", "10 alike"]
    assert {pair.data.d for pair in extremes(2)} == {2}


def test_a_person_of_a_dataset_is_replaced_or_refused():
    data = load_dataset("cancer", n=30)
    top, bottom = [size - 1 for size in data.cardinalities], [0] * data.d
    for row in (0, 29):
        for record in (bottom, top):
            other = from_dataset(data, row, record).other
            assert other.codes[row].tolist() == record
            assert (np.delete(other.codes, row, 0) == np.delete(data.codes, row, 0)).all()
            assert set(other.truth.edges) == set(load_dataset("cancer", n=2).truth.edges)
            assert other.public
    for row in (-1, 30):
        with pytest.raises(InputError, match=f"no row {row}: the rows are 0 to 29"):
            from_dataset(data, row, bottom)
    changed = [(k, code) for k, size in enumerate(data.cardinalities) for code in (-1, size)]
    outside = [[code if k == at else 0 for k in range(data.d)] for at, code in changed]
    for record in (*outside, bottom[1:], [*bottom, 0]):
        with pytest.raises(InputError, match="code of a level for every column"):
            from_dataset(data, 0, record)


def test_random_pairs_differ_in_one_record_of_one_schema():
    """Each kind keeps what its name says, at every draw."""
    for k, pair in enumerate(many(5, 60)):
        kind, codes = KINDS[k % len(KINDS)], pair.data.codes
        assert set((codes != pair.other.codes).any(axis=1).nonzero()[0]) <= {pair.row}
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
            assert (abs(pair.other.values[pair.row]) == 3).all()
            assert set(pair.data.bounds) == {(-3.0, 3.0)}
    (wide,) = many(0, 1, ["any"], columns=7, least=200)
    assert (wide.data.n, wide.data.d) == (200, 7)
    assert next(many(0, 1, ["tiny"], rows=33)).data.n == 33
    assert len({tuple(p.data.codes.ravel()) for p in many(1, 12, ["any"])}) == 12
    corner = single = 0  # others are the opposite corner, a random one, or have one column changed
    for pair in many(3, 80, ["any"]):
        old, new = pair.data.codes[pair.row], pair.other.codes[pair.row]
        opposite = np.where(old == 0, np.array(pair.data.cardinalities) - 1, 0)
        corner += (new == opposite).all()
        single += (new != old).sum() == 1
    assert corner >= 20
    assert single >= 15
