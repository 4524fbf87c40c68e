"""Hardened noise without a seed, for files that are shared; and its replay.

numpy's generator can be seeded, and its normal numbers sit on a grid of doubles that can give the
exact value away (Mironov 2012). A release takes its noise from OpenDP instead: values are rounded
to a grid of a power of two, and a discrete Gaussian (Canonne, Kamath and Steinke 2020), drawn in
exact arithmetic from the operating system's random bytes, is added in whole steps of the grid.
Rounding is part of one record's influence, so it widens sensitivity and noise alike, and the
charge does not change. The discrete Gaussian stands for a continuous one that was rounded
to the grid: :data:`DISTANCE` bounds how far they are apart, and what that adds to delta.

Gaussian releases are covered; every other mechanism refuses.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import InputError
from engine.randomness import Randomness

STEPS = 26  # sigma is 2^26 to 2^27 steps of the grid
MOST_ENTRIES = 2**20  # in all releases of one run
# Total variation between all entries' discrete and rounded continuous noise. With s = sigma in
# steps, the density at a step and its mean over the step differ by (z^2 - 1) / (24 s^2) of it, on
# average by less than 1 / (24 s^2) <= 2^-56.5.
DISTANCE = MOST_ENTRIES * 2.0**-56
MOST_STEPS = 2**52  # a whole number of steps that a double still holds exactly


class NotCovered(InputError):
    """A mechanism that has no hardened sampler here."""


@dataclass(frozen=True, eq=False)
class Released:
    """One Gaussian release: whole ``steps`` of ``2^grid``, each with noise ``sigma``.

    ``sensitivity`` is the l2 one that was charged, in the values' own unit as ``sigma`` is.
    """

    sensitivity: float
    sigma: float
    grid: int
    steps: tuple[int, ...]

    @property
    def values(self) -> NDArray[np.float64]:
        """The released numbers; every one of them is a double, exactly."""
        found: NDArray[np.float64] = np.ldexp(np.array(self.steps, dtype=float), self.grid)
        return found


class NoiseSource(Randomness, ABC):
    """A source that adds its noise itself, and has no generator to hand out."""

    def __init__(self) -> None:
        self.used: Counter[str] = Counter()

    def generator(self, door: str) -> Any:
        """Refuse: numbers drawn from a generator are not hardened."""
        raise NotCovered(
            "A release covers Gaussian noise alone, and this algorithm draws something else; "
            "use marginal_pc."
        )

    def coin(self) -> bool:
        """Refuse, as every other stream."""
        raise NotCovered("A release draws no coins; use marginal_pc.")

    def uniform(self, n: int) -> NDArray[np.float64]:
        """Refuse, as every other stream."""
        raise NotCovered("A release draws Gaussian noise alone; use marginal_pc.")

    def permutation(self, n: int) -> NDArray[np.int64]:
        """Refuse, as every other stream."""
        raise NotCovered("A release deals no rows into blocks; use marginal_pc.")

    def widening(self, sensitivity: float, sigma: float, size: int, rounding: float) -> float:
        """Return the factor on sensitivity and sigma that covers both roundings of ``size`` values.

        Two neighbours' entries move apart by at most twice ``rounding`` in floating point and one
        step of the grid; over all entries that is sqrt(size) as much.
        """
        if sensitivity <= 0 or not 0 < sigma < math.inf:
            raise InputError("This release has no finite noise; choose another epsilon or delta.")
        step = math.ldexp(1.0, grid_of(2 * sigma))
        factor = 1 + math.sqrt(size) * (2 * rounding + step) / sensitivity
        if factor > 1.5:
            raise InputError(
                "Rounding would take more of this budget than the data: choose a larger epsilon "
                "or fewer columns."
            )
        return factor

    @abstractmethod
    def gaussian(
        self, exact: NDArray[np.float64], sensitivity: float, sigma: float
    ) -> NDArray[np.float64]:
        """Add discrete Gaussian noise to the values; sensitivity and sigma as widened."""


def grid_of(sigma: float) -> int:
    """Return the exponent of the grid for noise sigma, a public fact."""
    return math.frexp(sigma)[1] - 1 - STEPS


class Hardened(NoiseSource):
    """Fresh noise from the operating system; ``given_out`` holds the releases in order."""

    def __init__(self) -> None:
        super().__init__()
        self.given_out: list[Released] = []

    def gaussian(
        self, exact: NDArray[np.float64], sensitivity: float, sigma: float
    ) -> NDArray[np.float64]:
        """Round to the grid, and add OpenDP's discrete Gaussian in whole steps."""
        self.used["noise"] += 1
        if sum(len(r.steps) for r in self.given_out) + exact.size > MOST_ENTRIES:
            raise InputError(f"A release holds at most {MOST_ENTRIES:,} numbers; drop columns.")
        grid = grid_of(sigma)
        steps = np.rint(np.ldexp(exact.ravel(), -grid))
        # Clamping is a rule that both neighbours follow, and moves them no further apart.
        whole = np.clip(steps, -MOST_STEPS, MOST_STEPS).astype(np.int64)
        noisy = _discrete_gaussian(whole.tolist(), math.ldexp(sigma, -grid))
        found = Released(sensitivity, sigma, grid, tuple(noisy))
        self.given_out.append(found)
        return found.values.reshape(exact.shape)


def _discrete_gaussian(whole: list[int], scale: float) -> list[int]:
    """Add discrete Gaussian noise of the given scale to whole numbers, by OpenDP."""
    from opendp import domains, measurements, metrics, mod  # its prelude loads scikit-learn

    mod.enable_features("contrib")
    space = domains.vector_domain(domains.atom_domain(T="i64")), metrics.l2_distance(T="f64")
    measure: Any = measurements.make_gaussian(*space, scale=scale)
    return [int(v) for v in measure(whole)]


class Replay(NoiseSource):
    """Repeats the values that were released before, and draws nothing.

    An algorithm that follows from its releases alone finds the same graph again on any
    rows. InputError where it asks for a value that was not released.
    """

    def __init__(self, releases: Sequence[Released]):
        super().__init__()
        self._left = list(releases)

    @property
    def left(self) -> int:
        """The number of releases that have not been asked for yet."""
        return len(self._left)

    def gaussian(
        self, exact: NDArray[np.float64], sensitivity: float, sigma: float
    ) -> NDArray[np.float64]:
        """Return the next release, if it is the one asked for."""
        if not self._left:
            raise InputError("The file lacks a release that its algorithm makes.")
        found = self._left.pop(0)
        stated, asked = (found.sensitivity, found.sigma), (sensitivity, sigma)
        # The sensitivity covers rounding, which grows with the rows: one row more is 1e-11 of it.
        same = math.isclose(stated[0], asked[0], rel_tol=1e-12)
        same = same and math.isclose(stated[1], asked[1], rel_tol=1e-9)
        if not same or found.grid != grid_of(sigma) or len(found.steps) != exact.size:
            raise InputError(
                f"A release of the file has sensitivity {stated[0]:.13g} and noise "
                f"{stated[1]:.13g}; its algorithm makes one of {asked[0]:.13g} and {asked[1]:.13g}."
            )
        return found.values.reshape(exact.shape)
