"""True graphs as edge lists: one edge a line."""

from __future__ import annotations

import csv
from collections.abc import Sequence

import networkx as nx

from engine.data.dataset import refuse_cycle
from engine.data.intake import DELIMITERS, Source, read_bytes
from engine.data.spreadsheets import unsafe
from engine.errors import DataError, did_you_mean, show

MOST_BYTES = 50_000_000
EDGE_HEADERS = frozenset({("from", "to"), ("source", "target"), ("parent", "child")})


def read_edges(source: Source, names: Sequence[str]) -> nx.DiGraph:
    """Read an edge list, one `from,to` or `from -> to` a line, as a graph over `names`.

    Raises DataError where a line is malformed, a name is not a column, or edges form a
    loop or a cycle.
    """
    raw, label = read_bytes(source, MOST_BYTES)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{label} is not UTF-8 text; save it as CSV in UTF-8.") from None
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    lines = [(k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip()]
    if len(lines) > len(names) ** 2:  # before each is looked at
        raise DataError(f"{label} has more lines than the columns have pairs; give an edge once.")
    for number, line in lines:
        cells = _cells(line, names)
        header = number == lines[0][0] and tuple(map(str.casefold, cells)) in EDGE_HEADERS
        if header and not set(cells) <= set(names):
            continue
        where = f"Line {number} of {label}"
        if len(cells) != 2 or not all(cells):
            raise DataError(f"{where} is not an edge; write it as from,to or from -> to.")
        for cell in set(cells) - set(names):
            hint = did_you_mean(cell, names)
            raise DataError(f"{where} names {show(cell)}, which is not a column.{hint}")
        if cells[0] == cells[1]:
            raise DataError(f"{where} is an edge from {show(cells[0])} to itself; delete it.")
        graph.add_edge(*cells)
    if not graph.edges:
        raise DataError(f"{label} has no edges; give one edge a line, or leave the truth out.")
    refuse_cycle(graph, label)
    return graph


def _cells(line: str, names: Sequence[str]) -> list[str]:
    """A line's cells, by the names that the table has where they are such."""
    delimiter = max(DELIMITERS, key=line.count)
    cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    if "->" in line and not set(map(str.strip, cells)) <= set(names):  # a name may hold an arrow
        cells = line.split("->")
    cells = [cell.strip().strip('"') for cell in cells]
    return [cell if cell in names else unsafe(cell) for cell in cells]
