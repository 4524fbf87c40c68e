"""How close a learned graph is to the true one: edge classes, their counts, scores.

The true graph enters as its CPDAG, which is all that observational data can tell.

One rule says what is counted (:func:`classify`, :func:`count`): a pair is found (with its mark as
the truth has it, with a direction that such data cannot identify, without its arrow, or reversed),
a false positive, missed, or not tested to the end, which is none of these.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from engine.graphs.cpdag import Adjacency
from engine.graphs.links import LinkClass

# What a table or chart says of a result: a causal graph is its arrows, so the skeleton's score
# never stands alone. Fields of Scores and their names; the first two are shares, SHD is a count.
SCORES = {"skeleton_f1": "skeleton F1", "directed_f1": "directed F1", "shd": "SHD"}


@dataclass(frozen=True)
class Scores:
    """Skeleton precision, recall and F1; F1 of edges with their marks; SHD between CPDAGs.

    ``directed_f1`` counts an edge as right only if its mark (direction, or undirected) is that of
    the true CPDAG. ``shd`` is the number of pairs in different states. With no true edges and none
    found every ratio is 1.
    """

    skeleton_f1: float
    directed_f1: float
    precision: float
    recall: float
    shd: int


@dataclass(frozen=True)
class Counts:
    """What became of every pair that the truth or the result joins, each counted once.

    ``found`` true links, whatever their mark; of them ``reversed`` carry another arrow than the
    truth's, ``lines`` none where the truth has one, and ``claimed`` a right arrow that the truth's
    CPDAG leaves open. ``untested`` pairs were not tested to the end; ``untested_true`` of them are
    true links. Always found + missed + untested_true = true.
    """

    true: int
    found: int
    reversed: int
    lines: int
    claimed: int
    invented: int
    missed: int
    untested: int
    untested_true: int

    @property
    def learned(self) -> int:
        """Links that were tested to the end and stayed."""
        return self.found + self.invented

    @property
    def right(self) -> int:
        """Links found with the arrow, or the plain line, of the truth's CPDAG."""
        return self.found - self.reversed - self.lines - self.claimed

    @property
    def scores(self) -> Scores:
        """Scores of the links tested to the end alone: what was not tested was not found."""
        right = self.right
        return Scores(
            skeleton_f1=_ratio(2 * self.found, self.learned + self.true),
            directed_f1=_ratio(2 * right, self.learned + self.true),
            precision=_ratio(self.found, self.learned),
            recall=_ratio(self.found, self.true),
            shd=self.learned - right + self.missed + self.untested_true,
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
    """(i, j), i < j -> class, for every pair adjacent in either CPDAG matrix.

    With the causal graph's own matrix ``dag`` an arrow that it has, and that its CPDAG leaves open,
    is UNIDENTIFIED: right, but no method can know it from such data. ``untested`` pairs that are
    adjacent in ``learned`` are UNTESTED, whatever the truth says of them.
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
            kind = LinkClass.FOUND
        elif all(mine):
            kind = LinkClass.LINE
        else:
            lucky = all(real) and dag is not None and mine == (dag[i, j], dag[j, i])
            kind = LinkClass.UNIDENTIFIED if lucky else LinkClass.REVERSED
        classes[int(i), int(j)] = kind
    return classes


def count(classes: Mapping[tuple[int, int], LinkClass], truth: Adjacency) -> Counts:
    """The pairs of :func:`classify` counted; ``truth`` (d, d) as it was given there."""
    of = Counter(classes.values())
    marked = [LinkClass.FOUND, LinkClass.REVERSED, LinkClass.LINE, LinkClass.UNIDENTIFIED]
    true, found = int(np.triu(truth | truth.T, 1).sum()), sum(of[kind] for kind in marked)
    return Counts(
        true=true,
        found=found,
        reversed=of[LinkClass.REVERSED],
        lines=of[LinkClass.LINE],
        claimed=of[LinkClass.UNIDENTIFIED],
        invented=of[LinkClass.FALSE_POSITIVE],
        missed=of[LinkClass.MISSED],
        untested=of[LinkClass.UNTESTED],
        untested_true=true - found - of[LinkClass.MISSED],
    )


def compare(learned: Adjacency, truth: Adjacency) -> Scores:
    """Scores of one CPDAG matrix against another; both (d, d) boolean, same order of nodes."""
    return count(classify(learned, truth), truth).scores
