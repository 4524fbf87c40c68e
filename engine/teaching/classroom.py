"""Three questions for a class: facts from a stored scene, and the range explained by chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from engine.errors import InputError
from engine.studies.scenes import BACK, FORTH, LINE, States, states_in
from engine.teaching.neighbours import NeighbourTest

LOW = 0.1  # the ε at which pupils name the lost links
PICKS = 3  # number of links that each voter chooses
PER_TEST, ONCE = "curate_pc", "marginal_pc"  # methods in the first and in the third question
LUCKY = 0.9  # share of guessing classes inside the range explained by chance
FOUND = (LINE, FORTH, BACK)


@dataclass(frozen=True, eq=False)
class Lesson:
    """Facts for the three questions: a stored scene, and two tables that differ in one row."""

    scene: Mapping[str, Any]
    pair: NeighbourTest

    @cached_property
    def states(self) -> dict[str, States]:
        """The frames of the scene by method, (epsilons, draws, pairs)."""
        return states_in(self.scene)

    @cached_property
    def true(self) -> np.ndarray[Any, Any]:
        """True for each pair that is a true edge, (pairs,)."""
        return np.array(self.scene["truth"]) > 0

    @cached_property
    def links(self) -> list[tuple[int, int]]:
        """The true edges as (cause, effect), in the order of the scene's pairs."""
        arrows = {(i, j) for i, j in self.scene["arrows"]}
        pairs = list(combinations(range(len(self.scene["names"])), 2))
        return [
            pairs[p] if pairs[p] in arrows else pairs[p][::-1] for p in np.flatnonzero(self.true)
        ]

    @cached_property
    def limits(self) -> list[float]:
        """The limits of ``PER_TEST``."""
        return self.limits_of(PER_TEST)

    def limits_of(self, method: str) -> list[float]:
        """Return the smallest ε from which on half of the draws have each true edge, or inf."""
        held = np.isin(self.states[method][:, :, self.true], FOUND).mean(axis=1) >= 0.5
        return [
            next((e for e, on in zip(self.scene["epsilons"], above, strict=True) if on), math.inf)
            for above in np.flip(np.logical_and.accumulate(np.flip(held, 0)), 0).T
        ]

    @property
    def lost(self) -> list[int]:
        """Edges lost at ``LOW``, in the order in which a falling ε loses them."""
        order = sorted(range(len(self.links)), key=lambda k: -self.limits[k])
        return [k for k in order if self.limits[k] > LOW]

    def found(self, at: int) -> tuple[float, float]:
        """Return the mean numbers of found edges and false positives of ``ONCE`` at an epsilon."""
        seen = np.isin(self.states[ONCE][at], FOUND)
        found, false = (seen[:, kind].sum(axis=1).mean() for kind in (self.true, ~self.true))
        return float(found), float(false)


def luck(chances: Sequence[float]) -> tuple[int, int]:
    """Return the fewest and most right answers that chance explains in nine of ten classes.

    ``chances`` holds the probability of a right answer per question. At most 5 % lie outside the
    range on either side.
    """
    if not all(0 <= chance <= 1 for chance in chances):
        raise InputError("A chance lies between 0 and 1.")
    shares = np.ones(1)
    for chance in chances:
        shares = np.convolve(shares, [1 - chance, chance])
    below, tail = np.cumsum(shares), (1 - LUCKY) / 2
    return int(np.argmax(below > tail)), int(np.argmax(below >= 1 - tail - 1e-12))
