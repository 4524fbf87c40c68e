"""No cell of a file of ours is computed by a spreadsheet, and every text is read back."""

import csv
import io
import zipfile
from collections import Counter

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Dataset, read_table, run
from engine.data.column import PLAIN, Dialect
from engine.data.reading import read_edges
from engine.data.schema import Column, Schema
from engine.data.spreadsheets import safe, table_csv, unsafe
from engine.errors import DataError
from engine.graphs.cpdag import matrix_of
from engine.graphs.formats import tetrad
from engine.request import Request, Source
from pages.report.bundle import bundle

NAMES = ("=cmd|'/C calc'!A0", "@sum", "+x", "plain")


@given(st.text(alphabet="=+-@\t\r\n'a1 ", max_size=6))
def test_every_text_comes_back_so_no_two_become_one(cell):
    assert unsafe(safe(cell)) == cell


def test_formulas_get_an_apostrophe_and_nothing_else_does():
    for cell in ("=1", "@x", "+x", "-x", "-1-1", "+1+1", "\t=1", "\r=1", "'x"):
        assert safe(cell) == "'" + cell
    for cell in ("", "a", "-1", "+2.5", "-1e-5", "-", "+", "->", "--", "a=b", "1-2"):
        assert safe(cell) == cell


def own():
    codes = np.random.default_rng(0).integers(0, 2, (500, 4))
    codes[:, 1] = codes[:, 0]
    return Dataset.from_codes(codes, NAMES, [("=a", "é")] * 4)


def cells_of(text):
    return list(csv.reader(io.StringIO(text)))


def test_a_bundle_and_tables_hold_no_formula():
    data, asked = own(), Request(Source("own"), "pc", seed=None)
    with zipfile.ZipFile(io.BytesIO(bundle(asked, data, run("pc", data), {}))) as files:
        edges = files.read("edges.csv")
    found = cells_of(edges.decode())[1:]
    assert found
    assert {unsafe(cell) for a, b, *_ in found for cell in (a, b)} <= set(NAMES)
    for cell in [c for a, b, *_ in found for c in (a, b)]:
        assert cell[0] not in "=+@-"
    table = cells_of(table_csv(pd.DataFrame({"=x": ["=1", "ok"], "n": [-1.5, 2.0]})))
    assert table == [["'=x", "n"], ["'=1", "-1.5"], ["ok", "2.0"]]


@pytest.mark.parametrize("dialect", [PLAIN, Dialect(delimiter=";", encoding="latin-1")])
def test_a_table_of_ours_is_read_back_by_its_schema(dialect, tmp_path):
    data = own()
    schema = Schema(
        tuple(Column(name=n, type="unordered", levels=("=a", "é")) for n in NAMES), dialect=dialect
    )
    place = tmp_path / "t.csv"
    place.write_text(table_csv(data.to_frame(), dialect))
    assert "=a" not in {cell for row in cells_of(place.read_text()) for cell in row}
    again = read_table(place, schema=schema)
    assert again.names == NAMES
    assert Counter(map(tuple, again.row_codes())) == Counter(map(tuple, data.row_codes()))


def test_true_edges_of_ours_are_read_back(tmp_path):
    place = tmp_path / "e.csv"
    place.write_text(table_csv(pd.DataFrame({"from": NAMES[:2], "to": NAMES[2:]})))
    expected = {(NAMES[0], NAMES[2]), (NAMES[1], NAMES[3])}
    assert set(read_edges(place, NAMES).edges) == expected


def test_our_text_for_tetrad_is_read_back_as_a_true_graph():
    names = ("a b", "a_b", "x;y", "1. c")
    matrix = matrix_of(nx.DiGraph([("a b", "a_b"), ("a_b", "x;y"), ("1. c", "x;y")]), names)
    text = tetrad(names, matrix)
    for raw in (text, "\n" + text + "\nGraph Attributes:\nScore: -3.5\n"):
        assert (matrix_of(read_edges(raw.encode(), names), names) == matrix).all()
    matrix[1, 0] = True
    with pytest.raises(DataError, match=r"Line 5 of the edge list is not a directed edge a --> b"):
        read_edges(tetrad(names, matrix).encode(), names)
    with pytest.raises(DataError, match="names 'zz', which is not a column"):
        read_edges(b"Graph Nodes:\na_b;zz\n\nGraph Edges:\n1. a_b --> zz\n", names)
