"""Diagnostics of a run that releases tables, in addition to its graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.algorithm import OMITTED
from engine.diagnostics import Confidences, Diagnostics
from engine.graphs.cpdag import Adjacency
from engine.graphs.weighed_colliders import SHOWN, DirectionEvidence
from engine.renamed import Renamed

if TYPE_CHECKING:
    from engine.marginals.moments import Moments


@dataclass(frozen=True, kw_only=True)
class MarginalDiagnostics(Diagnostics):
    """``edge_confidence``: columns (i, j), i < j -> how often a link like this is true.

    ``direction_confidence``: columns (i, j) -> how often i -> j is true if the link is, for both
    directions of every edge; 1 minus their sum is the frequency of neither. It is empty if the
    directions were voted. Both are frequencies on random networks
    (:mod:`engine.marginals.confidence`). ``released_tables`` names the columns of each table that
    was released, ``released`` holds them with the variance of their noise, and ``levels`` the names
    of the columns' levels in them. ``evidence`` is the evidence for the directions. ``answers`` are
    the estimates (:class:`engine.effects.estimate.Estimate`) of the run's questions.
    """

    edge_confidence: Mapping[tuple[int, int], float] = field(default_factory=dict)
    direction_confidence: Mapping[tuple[int, int], float] = field(default_factory=dict)
    released_tables: tuple[tuple[int, ...], ...] = ()
    released: Moments | None = field(default=None, repr=False, compare=False, metadata=OMITTED)
    levels: tuple[tuple[str, ...], ...] = field(default=(), repr=False, metadata=OMITTED)
    evidence: DirectionEvidence | None = field(default=None, repr=False, metadata=OMITTED)
    answers: tuple[Any, ...] = field(default=(), repr=False, compare=False, metadata=OMITTED)

    arrow_confidence = Renamed("direction_confidence")

    def confidences(self) -> tuple[Confidences, Confidences]:
        """Return the edge and direction confidences."""
        return self.edge_confidence, self.direction_confidence

    def effects(self) -> MarginalDiagnostics | None:
        """Return the effect estimates; present once the tables are released."""
        return None if self.released is None else self

    def tables(self) -> tuple[tuple[int, ...], ...]:
        """Return the columns of every released table."""
        return self.released_tables

    def low_confidence(self, cpdag: Adjacency) -> frozenset[tuple[int, int]]:
        """Return the graph's arrows with a confidence below the limit for drawing."""
        known = self.direction_confidence.items()
        return frozenset((i, j) for (i, j), p in known if p < SHOWN and cpdag[i, j] > cpdag[j, i])
