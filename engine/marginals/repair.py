"""Deleted links that come back: no plausible DAG on the links that are left explains the pair.

PC deletes a link when one test finds independence, and a test that sees little can be wrong. A DAG
also says which sets separate a pair that is not adjacent: the parents of the one that is no
ancestor of the other (the local Markov property). Where in nearly all of the probability of the
DAGs on the skeleton the pair depends clearly under each of these sets, the deletion contradicts
all that is known, and the link is restored. All of it follows from released numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from engine.graphs.cpdag import Adjacency, SeparatingSets
from engine.graphs.orientation import Pair, reachable
from engine.graphs.weighed_colliders import Orientation
from engine.marginals.citest import NoisyTests

# Set on random networks (research/marginal_pc.md, "Links that come back").
WEAK = -2.5  # log Bayes factor above which the test that deleted a link may be wrong
CLEAR = 20.0  # log Bayes factor of a dependence that a DAG does not explain
SHARE = 0.9  # of the DAGs' probability
MOST_PARENTS = 4  # larger sets see little, and are not asked
ENOUGH = 30.0  # of a log Bayes factor when pairs are ranked


class Plain(NamedTuple):
    """A DAG's ancestors [i, j] (i leads to j), each column's parents, and its probability."""

    ways: Adjacency
    parents: list[tuple[int, ...]]
    share: float

    @classmethod
    def of(cls, dag: Adjacency, share: float) -> Plain:
        """Make one of a (d, d) DAG and its probability."""
        parents = [tuple(np.flatnonzero(column).tolist()) for column in dag.T]
        return cls(reachable(dag), parents, share)

    def separators(self, x: int, y: int) -> list[tuple[int, ...]]:
        """Return the sets that separate two columns that are not adjacent in the DAG."""
        sets = [self.parents[v] for v, u in ((x, y), (y, x)) if not self.ways[v, u]]
        return [s for s in sets if len(s) <= MOST_PARENTS]


def doubted(tests: NoisyTests, separating: SeparatingSets) -> dict[Pair, float]:
    """Return the pairs i < j whose deletion is in doubt, and the least log Bayes factor of each."""
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
    """Return the (d, d) skeleton with the links that come back, and these links i < j.

    ``separating`` has the sets that deleted each pair; ``directed`` weighs the DAGs on a skeleton.
    Links come back in rounds, and the DAGs are weighed again after each.
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
    """Decides which of the doubted pairs come back, given the DAGs on a skeleton."""

    def __init__(self, tests: NoisyTests, pairs: dict[Pair, float]):
        self.pairs, self._tests = pairs, tests
        self._leaky = tests.again(leaks=True) if pairs else tests

    def links(self, weighed: Orientation) -> list[Pair]:
        """Return pairs to restore at once: no two share a column or are neighbours."""
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
        """Return the mean log Bayes factor, or 0 if enough of the DAGs explain the pair."""
        total, explained = 0.0, 0.0
        for dag in dags:
            value = self._left(*pair, dag.separators(*pair))
            total += min(value, ENOUGH) * dag.share
            explained += dag.share * (value <= CLEAR)
            if explained > 1 - SHARE:
                return 0.0
        return total

    def _left(self, x: int, y: int, sets: list[tuple[int, ...]]) -> float:
        """Return the least log Bayes factor; where it is clear, leaks are allowed for."""
        least = min((self._tests.test(x, y, s).bayes for s in sets), default=0.0)
        if least <= CLEAR:
            return least
        return min(least, *(self._leaky.test(x, y, s).leak_bayes for s in sets))
