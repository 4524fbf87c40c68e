"""Compare a learned graph with the true one: edge classes, their counts, scores.

The true graph is represented by its CPDAG, because observational data cannot show more.

One rule is used everywhere (:func:`classify`, :func:`count`): a pair is found (correct, reversed,
undirected, or with a direction that observational data cannot identify), a false positive, missed,
or not fully tested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from engine.graphs.cpdag import Adjacency
from engine.graphs.links import LinkClass
from engine.renamed import Renamed

# Scores of a result in tables and charts. A causal graph consists of its directed edges, so the
# skeleton's score is never shown without the directed score. The keys are fields of Scores; the
# first two scores are shares, SHD is a count.
SCORES = {"skeleton_f1": "skeleton F1", "directed_f1": "directed F1", "shd": "SHD"}


@dataclass(frozen=True)
class Scores:
    """Skeleton precision, recall and F1; F1 of edges with their marks; SHD between CPDAGs.

    ``directed_f1`` counts an edge as correct only if its mark (direction, or undirected) is the
    same in the true CPDAG. ``shd`` is the number of pairs in different states. ``precision`` is
    None if no edge was learned. If there are no true edges and none are found, every other ratio is
    1.
    """

    skeleton_f1: float
    directed_f1: float
    precision: float | None
    recall: float
    shd: int


@dataclass(frozen=True)
class Counts:
    """Confusion counts over pairs that are adjacent in the ground truth or in the learned graph.

    ``true`` counts the true edges, and ``found`` those found with any mark. Found edges are
    ``correct`` with the mark of the true CPDAG, ``reversed`` with the opposite direction,
    ``undirected`` if only the truth has a direction, and ``not_identifiable`` with the true
    direction if the CPDAG has none. ``untested`` counts the pairs that were not fully tested.
    """

    true: int
    found: int
    correct: int
    reversed: int
    undirected: int
    not_identifiable: int
    false_positives: int
    missed: int
    untested: int

    lines = Renamed("undirected")
    claimed = Renamed("not_identifiable")
    invented = Renamed("false_positives")
    right = Renamed("correct")
    untested_true = Renamed("true_untested")

    @property
    def learned(self) -> int:
        """The number of edges that were fully tested and kept."""
        return self.found + self.false_positives

    @property
    def true_untested(self) -> int:
        """The number of true edges among the pairs that were not fully tested."""
        return self.true - self.found - self.missed

    @property
    def scores(self) -> Scores:
        """Return the scores of the fully tested edges; other pairs count as not found."""
        return Scores(
            skeleton_f1=_ratio(2 * self.found, self.learned + self.true),
            directed_f1=_ratio(2 * self.correct, self.learned + self.true),
            precision=self.found / self.learned if self.learned else None,
            recall=_ratio(self.found, self.true),
            shd=self.learned - self.correct + self.true - self.found,
        )


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def classify(
    learned: Adjacency,
    truth: Adjacency,
    *,
    dag: Adjacency | None = None,
    untested: Collection[tuple[int, int]] = (),
) -> dict[tuple[int, int], LinkClass]:
    """Return (i, j), i < j -> class, for every pair adjacent in either CPDAG matrix.

    With the causal graph's matrix ``dag``, a direction that this graph has but its CPDAG does not
    is NOT_IDENTIFIABLE: it is correct, but no method can know it from such data. ``untested`` pairs
    that are adjacent in ``learned`` are UNTESTED, even if they are true edges.
    """
    classes: dict[tuple[int, int], LinkClass] = {}
    either = learned | learned.T | truth | truth.T
    for i, j in zip(*np.nonzero(np.triu(either, 1)), strict=True):
        mine, real = (learned[i, j], learned[j, i]), (truth[i, j], truth[j, i])
        if any(mine) and (int(i), int(j)) in untested:
            kind = LinkClass.UNTESTED
        elif not any(real):
            kind = LinkClass.FALSE_POSITIVE
        elif not any(mine):
            kind = LinkClass.MISSED
        elif mine == real:
            kind = LinkClass.CORRECT
        elif all(mine):
            kind = LinkClass.UNDIRECTED
        else:
            lucky = all(real) and dag is not None and mine == (dag[i, j], dag[j, i])
            kind = LinkClass.NOT_IDENTIFIABLE if lucky else LinkClass.REVERSED
        classes[int(i), int(j)] = kind
    return classes


def count(classes: Mapping[tuple[int, int], LinkClass], truth: Adjacency) -> Counts:
    """Count the pairs of :func:`classify`; ``truth`` (d, d) is the same matrix as there."""
    of = Counter(classes.values())
    split = ("correct", "reversed", "undirected", "not_identifiable")  # of those found
    return Counts(
        true=int(np.triu(truth | truth.T, 1).sum()),
        found=sum(of[LinkClass(kind)] for kind in split),
        **{kind: of[LinkClass(kind)] for kind in split},
        false_positives=of[LinkClass.FALSE_POSITIVE],
        missed=of[LinkClass.MISSED],
        untested=of[LinkClass.UNTESTED],
    )


def compare(learned: Adjacency, truth: Adjacency) -> Scores:
    """Score one CPDAG matrix against another; both are (d, d) boolean with the same node order."""
    return count(classify(learned, truth), truth).scores
