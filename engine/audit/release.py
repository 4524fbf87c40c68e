"""Replay of a finished release: its answers are forced on neighbours with its settings.

A release contains its request, its schema, its number of rows and its answers. For any records, an
algorithm that depends only on its answers makes the same decisions. The replay therefore forces its
answers on pairs of tables that differ in one record. Charges and results must be the same, and no
mechanism's exact input may move by more than the sensitivity in the file. This attacks the tables
chosen by this release (also its triples), without its data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from engine.algorithm import Algorithm
from engine.audit.instrumented import Answer, T, run_with
from engine.audit.replay import NOTHING, Finding, Transcript, compare
from engine.data.dataset import Dataset
from engine.graphs.known import KnownBy
from engine.monitor import QUIET, Monitor
from engine.params import Parameters
from engine.privacy.events import Event
from engine.privacy.sources import Released, Replay

PROPOSALS = 30  # per climb
Record = NDArray[np.int64]


class RecordedReplay(Replay):
    """Returns the release's answers, and records each with its charge and exact input."""

    def __init__(self, releases: Sequence[Released]):
        super().__init__(releases)
        self.answers: list[Answer] = []

    def released(self, charged: object, exact: object, answer: T, noisy: object = None) -> T:
        """Record the answer and return it."""
        seen = np.array(exact, dtype=float)
        self.answers.append(Answer(cast(Event, charged), seen, answer, seen, ()))
        return answer


def attack(
    algorithm: Algorithm,
    params: Parameters,
    releases: Sequence[Released],
    schema: Dataset,
    known_by: KnownBy,
    *,
    proposals: int = PROPOSALS,
    seed: int = 0,
    monitor: Monitor = QUIET,
) -> Finding:
    """For each answer, search for the two records that move its exact input furthest.

    ``schema`` is any table with the release's columns, levels and number of rows; ``known_by`` has
    the rules for background knowledge that the release used. The finding has its ratios by the
    number of the answer and the label of the charge.
    """
    rng = np.random.default_rng(seed)
    levels = np.array(schema.cardinalities)
    rest = rng.integers(levels, size=(3, len(levels)))

    def tried(one: Record, other: Record) -> Finding:
        here, there = (
            _transcript(algorithm, params, releases, _table(schema, rest, record), known_by)
            for record in (one, other)
        )
        return compare(here, there, numbered=True)

    found, first = NOTHING, np.zeros(len(levels), dtype=np.int64)
    every = len(releases) * (proposals + 1)
    for at in range(len(releases)):
        if monitor.stopped():
            return found
        a, b = first.copy(), levels - 1
        best = tried(a, b)
        found += best
        for _ in range(proposals):
            if monitor.stopped() or best.faults:
                return found
            one, other = _proposal(rng, a, b, levels)
            new = tried(one, other)
            found += new
            monitor.tell(found.pairs / every, f"{found.pairs:,} of {every:,} pairs")
            if _ratio(new, at) >= _ratio(best, at):
                a, b, best = one, other, new
    return found


def _ratio(finding: Finding, at: int) -> float:
    return list(finding.ratios.values())[at] if at < len(finding.ratios) else 0.0


def _proposal(
    rng: np.random.Generator, a: Record, b: Record, levels: Record
) -> tuple[Record, Record]:
    """Return both records with one column changed in either, or made the same in both."""
    one, other = a.copy(), b.copy()
    column = int(rng.integers(len(levels)))
    if rng.integers(2):
        other[column] = one[column]
    else:
        (one, other)[int(rng.integers(2))][column] = rng.integers(levels[column])
    return one, other


def _table(schema: Dataset, rest: Record, record: Record) -> Dataset:
    """Make a table of the schema's size: one row is the record, most are the first of ``rest``."""
    codes = np.concatenate([rest, record[None, :]]).astype(np.uint8)
    weights = np.array([schema.n - len(rest), *[1] * len(rest)])
    return replace(schema, codes=codes, weights=weights)


def _transcript(
    algorithm: Algorithm,
    params: Parameters,
    releases: Sequence[Released],
    data: Dataset,
    known_by: KnownBy,
) -> Transcript:
    source = RecordedReplay(releases)
    outcome, session = run_with(source, algorithm, data, params, False, known_by)
    return Transcript(outcome, (), session.ledger, tuple(source.answers))
