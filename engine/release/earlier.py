"""The rules by which releases were made before graphs had no cycle: such files stay consistent.

They differ from today's in what knowledge decides, so in the tables that were released, and in the
arrows where the evidence contradicts itself. No file names its rules: a check that fails by today's
is repeated by these.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine.graphs.cpdag import Adjacency
from engine.graphs.known import Known
from engine.graphs.orientation import Oriented, Orienter, product, reachable
from engine.knowledge import ORIENTS, Knowledge


class EarlierKnown(Known):
    """Knowledge by the earlier rules: pairs known to be apart are not tested, for either use."""

    @property
    def on_links(self) -> EarlierKnown:
        """Knowledge for directions only kept required links and pairs apart out of the tests."""
        if self.knowledge.use != ORIENTS:
            return self
        free = EarlierKnown(Knowledge(), self.names)
        free.apart, free.linked = self.apart, self.linked
        return free

    @cached_property
    def telling(self) -> Adjacency:
        """No pair that is known to be apart was tested."""
        return np.zeros_like(self.apart)

    def fixed_arrows(self, skeleton: Adjacency) -> Adjacency:
        """Return the arrows that knowledge alone decides, without those on a cycle."""
        arrows: Adjacency = skeleton & ~self.barred & self.barred.T
        ways = reachable(arrows)
        return np.asarray(arrows & ~(ways & ways.T))

    def orienter(self, skeleton: Adjacency) -> Orienter:
        """Return the rule that drew the arrows."""
        return EarlierOrienter(skeleton, self)


class EarlierOrienter(Orienter):
    """Colliders and Meek's rules might close a cycle; in the end barred arrows became lines."""

    def __init__(self, skeleton: Adjacency, known: EarlierKnown):
        super().__init__(skeleton)
        self._known, self.graph = known, known.turned(skeleton)

    def draw(self, wanted: Adjacency) -> bool:
        """Turn the lines that have one wanted arrowhead; False for none."""
        arrows = wanted & ~wanted.T & self.graph & self.graph.T
        self.graph[arrows.T] = False
        return bool(arrows.any())

    def draw_surest(self, arrows: NDArray[np.float64], threshold: float) -> None:
        """Draw one after the other, also those of one probability; none that closes a cycle."""
        wanted = self.graph & self.graph.T & (arrows > threshold) & (arrows > arrows.T)
        for i, j in sorted(np.argwhere(wanted).tolist(), key=lambda e: -arrows[e[0], e[1]]):
            if not reachable(self.graph & ~self.graph.T | self._known.earlier)[j, i]:
                self.graph[j, i] = False

    @property
    def result(self) -> Oriented:
        """Return the graph, with lines for the barred arrows and for paths to an earlier tier."""
        arrows = self.graph & ~self.graph.T & ~self._known.barred
        if not self._known.in_time(arrows):
            back = (reachable(arrows) | np.eye(len(arrows), dtype=bool)).T
            arrows &= ~product(product(back, self._known.earlier.T), back)
        return Oriented(self.graph | (self.graph & ~arrows).T, frozenset())


def earlier_known(knowledge: Knowledge | None, names: Sequence[str]) -> Known:
    """Return the knowledge on these columns, also where nothing is known."""
    return EarlierKnown(knowledge or Knowledge(), names)
