"""Hardened noise without a seed, for shared files, and its replay.

numpy's generator can be seeded, and its normal numbers lie on a grid of doubles that can reveal the
exact value (Mironov 2012). A release uses OpenDP's noise instead. Values are rounded to a grid with
a power of two as its step. A discrete Gaussian (Canonne, Kamath and Steinke 2020), drawn in exact
arithmetic from the operating system's random bytes, is then added in whole steps. Rounding adds to
the influence of one record, so sensitivity and noise are increased by the same factor, and the
charge does not change. The discrete Gaussian replaces a continuous one rounded to the grid.
:data:`DISTANCE` bounds their distance and the addition to delta.

Only Gaussian releases are covered; every other mechanism raises an error.
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
MOST_ENTRIES = 2**20  # in all releases of one run together
# Total variation distance between the discrete and the rounded continuous noise of all entries.
# With s = sigma in steps, the density at a step and its mean over the step have a relative
# difference of (z^2 - 1) / (24 s^2), on average less than 1 / (24 s^2) <= 2^-56.5.
DISTANCE = MOST_ENTRIES * 2.0**-56
MOST_STEPS = 2**52  # a whole number of steps that a double represents exactly


class NotCovered(InputError):
    """A mechanism without a hardened sampler."""


@dataclass(frozen=True, eq=False)
class Released:
    """One Gaussian release: whole ``steps`` of ``2^grid``, each with noise ``sigma``.

    ``sensitivity`` is the charged l2 sensitivity, in the unit of the values, as is ``sigma``.
    """

    sensitivity: float
    sigma: float
    grid: int
    steps: tuple[int, ...]

    @property
    def values(self) -> NDArray[np.float64]:
        """The released numbers; a double represents each of them exactly."""
        found: NDArray[np.float64] = np.ldexp(np.array(self.steps, dtype=float), self.grid)
        return found


class NoiseSource(Randomness, ABC):
    """A source that adds its noise itself and provides no generator."""

    def __init__(self) -> None:
        self.used: Counter[str] = Counter()

    def generator(self, door: str) -> Any:
        """Refuse, because numbers drawn from a generator are not hardened."""
        raise NotCovered(
            "A release covers only Gaussian noise, and this algorithm draws other noise; "
            "use marginal_pc."
        )

    def coin(self) -> bool:
        """Refuse, like every other stream."""
        raise NotCovered("A release cannot draw coin flips; use marginal_pc.")

    def uniform(self, n: int) -> NDArray[np.float64]:
        """Refuse, like every other stream."""
        raise NotCovered("A release draws only Gaussian noise; use marginal_pc.")

    def permutation(self, n: int) -> NDArray[np.int64]:
        """Refuse, like every other stream."""
        raise NotCovered("A release cannot divide rows into blocks; use marginal_pc.")

    def widening(self, sensitivity: float, sigma: float, size: int, rounding: float) -> float:
        """Return the factor on sensitivity and sigma that covers both roundings of ``size`` values.

        The entries of two neighbours differ by at most twice ``rounding`` in floating point and one
        step of the grid more; over all entries this is multiplied by sqrt(size).
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
        """Add discrete Gaussian noise to the values; sensitivity and sigma cover rounding."""


def grid_of(sigma: float) -> int:
    """Return the exponent of the grid for noise sigma, a public fact."""
    return math.frexp(sigma)[1] - 1 - STEPS


class Hardened(NoiseSource):
    """Fresh noise from the operating system; ``given_out`` has the releases in order."""

    def __init__(self) -> None:
        super().__init__()
        self.given_out: list[Released] = []

    def gaussian(
        self, exact: NDArray[np.float64], sensitivity: float, sigma: float
    ) -> NDArray[np.float64]:
        """Round to the grid and add OpenDP's discrete Gaussian in whole steps."""
        self.used["noise"] += 1
        if sum(len(r.steps) for r in self.given_out) + exact.size > MOST_ENTRIES:
            raise InputError(f"A release holds at most {MOST_ENTRIES:,} numbers; drop columns.")
        grid = grid_of(sigma)
        steps = np.rint(np.ldexp(exact.ravel(), -grid))
        # Clamping applies to both neighbours and moves them no further apart.
        whole = np.clip(steps, -MOST_STEPS, MOST_STEPS).astype(np.int64)
        noisy = _discrete_gaussian(whole.tolist(), math.ldexp(sigma, -grid))
        found = Released(sensitivity, sigma, grid, tuple(noisy))
        self.given_out.append(found)
        return found.values.reshape(exact.shape)


def _discrete_gaussian(whole: list[int], scale: float) -> list[int]:
    """Add discrete Gaussian noise of the given scale to whole numbers, by OpenDP."""
    from opendp import domains, measurements, metrics, mod  # its prelude imports scikit-learn

    mod.enable_features("contrib")
    space = domains.vector_domain(domains.atom_domain(T="i64")), metrics.l2_distance(T="f64")
    measure: Any = measurements.make_gaussian(*space, scale=scale)
    return [int(v) for v in measure(whole)]


class Replay(NoiseSource):
    """Repeats earlier released values and draws nothing.

    An algorithm that depends only on its releases finds the same graph again on any rows. Raises
    InputError for a value that was not released.
    """

    def __init__(self, releases: Sequence[Released]):
        super().__init__()
        self._left = list(releases)

    @property
    def left(self) -> int:
        """The number of releases not yet requested."""
        return len(self._left)

    def gaussian(
        self, exact: NDArray[np.float64], sensitivity: float, sigma: float
    ) -> NDArray[np.float64]:
        """Return the next release if it is the requested one."""
        if not self._left:
            raise InputError("The file lacks a measurement that its algorithm makes.")
        found = self._left.pop(0)
        stated, asked = (found.sensitivity, found.sigma), (sensitivity, sigma)
        # The sensitivity covers rounding, which grows with the rows: one more row changes it by a
        # factor of 1e-11.
        same = math.isclose(stated[0], asked[0], rel_tol=1e-12)
        same = same and math.isclose(stated[1], asked[1], rel_tol=1e-9)
        if not same or found.grid != grid_of(sigma) or len(found.steps) != exact.size:
            raise InputError(
                f"A measurement of the file has sensitivity {stated[0]:.13g} and noise "
                f"{stated[1]:.13g}; its algorithm makes one of {asked[0]:.13g} and {asked[1]:.13g}."
            )
        return found.values.reshape(exact.shape)
