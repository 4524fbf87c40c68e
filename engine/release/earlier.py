"""Earlier rules for releases, from versions whose graphs could have cycles.

With these rules, files from those versions remain consistent. They differ in the decisions by
background knowledge, and therefore in the released tables, and in directions with contradictory
evidence. A file does not name its rules, so a check that fails by the current rules is repeated
with these.
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
    """Background knowledge by the earlier rules, which never test forbidden pairs."""

    @property
    def on_links(self) -> EarlierKnown:
        """The part used for links; with "directions only", fixed pairs were untested."""
        if self.knowledge.use != ORIENTS:
            return self
        free = EarlierKnown(Knowledge(), self.names)
        free.apart, free.linked = self.apart, self.linked
        return free

    @cached_property
    def telling(self) -> Adjacency:
        """Forbidden pairs that are tested; with these rules there are none."""
        return np.zeros_like(self.apart)

    def fixed_arrows(self, skeleton: Adjacency) -> Adjacency:
        """Return the arrows fixed by background knowledge, except those on a cycle."""
        arrows: Adjacency = skeleton & ~self.barred & self.barred.T
        ways = reachable(arrows)
        return np.asarray(arrows & ~(ways & ways.T))

    def orienter(self, skeleton: Adjacency) -> Orienter:
        """Return the rule that directed the edges."""
        return EarlierOrienter(skeleton, self)


class EarlierOrienter(Orienter):
    """Orientation by the earlier rules, which could close cycles."""

    def __init__(self, skeleton: Adjacency, known: EarlierKnown):
        super().__init__(skeleton)
        self._known, self.graph = known, known.turned(skeleton)

    def draw(self, wanted: Adjacency) -> bool:
        """Direct the undirected edges with one wanted arrowhead; return False if there are none."""
        arrows = wanted & ~wanted.T & self.graph & self.graph.T
        self.graph[arrows.T] = False
        return bool(arrows.any())

    def draw_surest(self, arrows: NDArray[np.float64], threshold: float) -> None:
        """Direct edges one by one, the most probable first, unless this closes a cycle."""
        wanted = self.graph & self.graph.T & (arrows > threshold) & (arrows > arrows.T)
        for i, j in sorted(np.argwhere(wanted).tolist(), key=lambda e: -arrows[e[0], e[1]]):
            if not reachable(self.graph & ~self.graph.T | self._known.earlier)[j, i]:
                self.graph[j, i] = False

    @property
    def result(self) -> Oriented:
        """The graph, with undirected edges for barred arrows and for paths to an earlier tier."""
        arrows = self.graph & ~self.graph.T & ~self._known.barred
        if not self._known.in_time(arrows):
            back = (reachable(arrows) | np.eye(len(arrows), dtype=bool)).T
            arrows &= ~product(product(back, self._known.earlier.T), back)
        return Oriented(self.graph | (self.graph & ~arrows).T, frozenset())


def earlier_known(knowledge: Knowledge | None, names: Sequence[str]) -> Known:
    """Return the background knowledge about these columns, which may be empty."""
    return EarlierKnown(knowledge or Knowledge(), names)
