"""Restore removed links if no plausible DAG on the remaining links explains the pair.

PC removes a link when one test finds independence, and a test with little power can be wrong. A DAG
implies which sets separate a pair that is not adjacent: the parents of the node that is not an
ancestor of the other (the local Markov property). If the pair depends clearly given each of these
sets, in DAGs with nearly all of the probability on the skeleton, the removal contradicts the
evidence and the link is restored. The rule reads only released numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from engine.graphs.cpdag import Adjacency, SeparatingSets
from engine.graphs.orientation import Pair, reachable
from engine.graphs.weighed_colliders import Orientation
from engine.marginals.citest import NoisyTests

# Chosen on random networks (research/marginal_pc.md, "Links that come back").
WEAK = -2.5  # log Bayes factor above which the test that removed a link may be wrong
CLEAR = 20.0  # log Bayes factor of a dependence that a DAG does not explain
SHARE = 0.9  # share of the DAGs' probability that is enough
MOST_PARENTS = 4  # larger sets have little power and are not tested
ENOUGH = 30.0  # cap of a log Bayes factor in the ranking of pairs


class Plain(NamedTuple):
    """A DAG's ancestors [i, j] (i leads to j), each column's parents, and its probability."""

    ways: Adjacency
    parents: list[tuple[int, ...]]
    share: float

    @classmethod
    def of(cls, dag: Adjacency, share: float) -> Plain:
        """Make one from a (d, d) DAG and its probability."""
        parents = [tuple(np.flatnonzero(column).tolist()) for column in dag.T]
        return cls(reachable(dag), parents, share)

    def separators(self, x: int, y: int) -> list[tuple[int, ...]]:
        """Return the sets that separate two columns that are not adjacent in the DAG."""
        sets = [self.parents[v] for v, u in ((x, y), (y, x)) if not self.ways[v, u]]
        return [s for s in sets if len(s) <= MOST_PARENTS]


def doubted(tests: NoisyTests, separating: SeparatingSets) -> dict[Pair, float]:
    """Return the pairs i < j whose removal is doubtful, each with its least log Bayes factor."""
    seen, found = tests.seen(), dict[Pair, float]()
    for pair, sets in separating.items():
        x, y = sorted(pair)
        if seen[x, y] and sets and all(sets):
            least = min(tests.test(x, y, tuple(sorted(s))).bayes for s in sets)
            if least > WEAK:
                found[x, y] = least
    return found


def repaired(
    skeleton: Adjacency,
    tests: NoisyTests,
    separating: SeparatingSets,
    directed: Callable[[Adjacency], Orientation],
) -> tuple[Adjacency, set[Pair]]:
    """Return the (d, d) skeleton with the restored links, and these links i < j.

    ``separating`` holds the set that removed each pair; ``directed`` weighs the DAGs on a skeleton.
    Links are restored in rounds, and the DAGs are weighed again after each round.
    """
    skeleton, restored = skeleton.copy(), set[Pair]()
    repair = Repair(tests, doubted(tests, separating))
    while len(restored) < len(repair.pairs):
        again = repair.links(directed(skeleton))
        if not again:
            break
        for x, y in again:
            skeleton[x, y] = skeleton[y, x] = True
        restored |= {*again}
    return skeleton, restored


class Repair:
    """Decides which of the doubtful pairs to restore, given the DAGs on a skeleton."""

    def __init__(self, tests: NoisyTests, pairs: dict[Pair, float]):
        self.pairs, self._tests = pairs, tests
        self._leaky = tests.again(leaks=True) if pairs else tests

    def links(self, weighed: Orientation) -> list[Pair]:
        """Return pairs to restore together; no two share a column or are neighbours."""
        skeleton, total = weighed.cpdag | weighed.cpdag.T, sum(k for _, k in weighed.probable)
        left = [pair for pair in self.pairs if not skeleton[pair]]
        dags = [Plain.of(dag, times / total) for dag, times in weighed.probable if left]
        values = ((self._unexplained(pair, dags), pair) for pair in left)
        scored = [(value + 3 * self.pairs[pair], pair) for value, pair in values if value]
        used, found = np.zeros(len(skeleton), dtype=bool), list[Pair]()
        for _, (x, y) in sorted(scored, reverse=True):
            if not used[[x, y]].any():
                found.append((x, y))
                used |= skeleton[x] | skeleton[y]
                used[[x, y]] = True
        return found

    def _unexplained(self, pair: Pair, dags: list[Plain]) -> float:
        """Return the mean log Bayes factor, or 0 if enough DAGs explain the pair."""
        total, explained = 0.0, 0.0
        for dag in dags:
            value = self._left(*pair, dag.separators(*pair))
            total += min(value, ENOUGH) * dag.share
            explained += dag.share * (value <= CLEAR)
            if explained > 1 - SHARE:
                return 0.0
        return total

    def _left(self, x: int, y: int, sets: list[tuple[int, ...]]) -> float:
        """Return the least log Bayes factor; if it is clear, with the allowance for leaks."""
        least = min((self._tests.test(x, y, s).bayes for s in sets), default=0.0)
        if least <= CLEAR:
            return least
        return min(least, *(self._leaky.test(x, y, s).leak_bayes for s in sets))
