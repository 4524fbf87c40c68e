"""What is known of a study's datasets, and what that alone makes of the links it finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import networkx as nx

from engine.data.dataset import Dataset
from engine.data.schema import Column, Schema
from engine.errors import InputError, show
from engine.graphs.cpdag import matrix_of
from engine.graphs.known import READY, known_of, ready_sets
from engine.graphs.metrics import compare
from engine.knowledge import Knowledge
from engine.result import reference_of

if TYPE_CHECKING:
    from engine.studies.cells import CellResult

ALONE = "known_alone"  # the column's name
Said = Knowledge | str | None  # or the name of a ready set, "two tiers"


def knowing(data: Dataset, said: Said) -> Dataset:
    """The same rows under a schema that states what is known, so that every run on them is told.

    Args:
        data: Public data, or data under a declared schema.
        said: Knowledge, or the name of a set that is true of the data's true graph: "two tiers",
            "four tiers", "complete order". None: the data as they are.

    Raises:
        InputError: Where there is no true graph to cut tiers from, for other names, and for private
            data without a declared schema.

    Examples:
        >>> from engine import load_dataset, run
        >>> asia = knowing(load_dataset("asia", n=20_000), "complete order")
        >>> result = run("marginal_pc", asia, epsilon=1)
        >>> result.metrics.directed_f1 == result.knowledge_alone.directed_f1
        True
    """
    known = facts_of(data, said)
    return data if known is None else replace(data, schema=replace(_schema(data), knowledge=known))


def facts_of(data: Dataset, said: Said) -> Knowledge | None:
    """What is said to be known of these columns; InputError as for :func:`knowing`."""
    known = _ready(data, said) if isinstance(said, str) else said
    if known is not None:
        known.check_names(data.names)
    return known


def _schema(data: Dataset) -> Schema:
    if data.schema is not None:
        return data.schema
    if not data.public:
        raise InputError("What is known is stated beside the columns: declare a schema first.")
    named = zip(data.names, data.levels, strict=True)
    return Schema(tuple(Column(name=name, type="ordered", levels=some) for name, some in named))


def _ready(data: Dataset, name: str) -> Knowledge:
    if (word := ready_name(name)) is None:
        raise InputError(f"What is known is one of {', '.join(READY)}, not {show(name)}.")
    if data.truth is None:
        raise InputError(f"There is no true graph of {data.name} to cut {word} from.")
    return ready_sets(data.truth)[word]


def ready_name(word: str) -> str | None:
    """The ready set that a word names, "two-tiers" or "two tiers"; None for another word."""
    name = word.replace("-", " ")
    return name if name in READY else None


def knowledge_alone(result: CellResult, data: Dataset) -> float | None:
    """Directed F1 of the links a run tested to the end, with the arrows alone that are known.

    None without a true graph or knowledge. What the run's own has beyond it the data said.
    """
    knowledge = None if data.schema is None else data.schema.knowledge
    known = known_of(knowledge, data.names)
    if known is None or data.truth is None:
        return None
    found = matrix_of(nx.DiGraph(result.found), data.names)
    told = reference_of(result.algorithm, data.truth, data.names, knowledge)
    return compare(known.turned(found | found.T), told).directed_f1


def beside(datasets: Sequence[Dataset]) -> Callable[[CellResult], Mapping[str, object]]:
    """A column for :func:`engine.studies.analysis.frame`, where anything is known of a dataset."""
    by_print = {data.identity: data for data in datasets}

    def column(result: CellResult) -> Mapping[str, object]:
        data = by_print.get(result.fingerprint)
        value = None if data is None else knowledge_alone(result, data)
        return {} if value is None else {ALONE: value}

    return column
