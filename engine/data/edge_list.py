"""True graphs as edge lists: one edge a line."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import ExitStack

import networkx as nx

from engine.data.column import DELIMITERS
from engine.data.dataset import refuse_cycle
from engine.data.sources import Source, located
from engine.data.spreadsheets import unsafe
from engine.errors import DataError, did_you_mean, show

EDGE_HEADERS = frozenset({("from", "to"), ("source", "target"), ("parent", "child")})


def read_edges(source: Source, names: Sequence[str]) -> nx.DiGraph:
    """Read an edge list, one `from,to` or `from -> to` a line, as a graph over `names`.

    Raises DataError where a line is malformed, a name is not a column, or edges form a
    loop or a cycle.
    """
    with ExitStack() as stack:
        label, path = located(stack, source)
        try:
            text = path.read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError):
            raise DataError(f"{label} cannot be read as UTF-8 text; check the file.") from None
    numbered = enumerate(text.splitlines(), 1)
    lines = [(k, _cells(line, names)) for k, line in numbered if line.strip()]
    if lines and tuple(map(str.casefold, lines[0][1])) in EDGE_HEADERS:
        lines = lines[not set(lines[0][1]) <= set(names) :]
    graph = nx.DiGraph()
    graph.add_nodes_from(names)
    for number, cells in lines:
        where = f"Line {number} of {label}"
        if len(cells) != 2 or not all(cells):
            raise DataError(f"{where} is not an edge; write it as from,to or from -> to.")
        for cell in set(cells) - set(names):
            hint = did_you_mean(cell, names)
            raise DataError(f"{where} names {show(cell)}, which is not a column.{hint}")
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
