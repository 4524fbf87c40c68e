"""Chance that follows from the names of the tests: a test that passes here passes on every machine.

Noise on private rows comes from the operating system, so a test that looks at it would be red once
in so many runs. Here it is drawn from the name of the test, or of the fixture, that asks for it.
``FRESH=1 make test`` leaves everything to chance, and ``@pytest.mark.fresh`` a single test. Other
processes draw their noise themselves, because no setting of a process can remove its noise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

FRESH = bool(os.environ.get("FRESH"))


class Named:
    """A generator for each name, and what is drawn from the one whose turn it is."""

    def __init__(self) -> None:
        self._turn: list[Random | None] = []

    @property
    def _now(self) -> Random | None:
        """The generator whose turn it is; None where chance is left to itself."""
        return self._turn[-1] if self._turn else None

    @contextmanager
    def turn(self, name: str, fresh: bool = False) -> Iterator[None]:
        """Within, chance follows from the name; or is left to itself."""
        self._turn.append(None if fresh else Random(name))
        try:
            yield
        finally:
            self._turn.pop()

    def seed(self, real: Callable[[], int]) -> Callable[[], int]:
        """In place of :func:`engine.randomness.secret_seed`."""

        def named() -> int:
            rng = self._now
            return real() if rng is None else rng.getrandbits(256)

        return named

    def gaussian(
        self, real: Callable[[list[int], float], list[int]]
    ) -> Callable[[list[int], float], list[int]]:
        """In place of OpenDP's sampler: a rounded Gaussian, as fine as a double."""

        def named(whole: list[int], scale: float) -> list[int]:
            rng = self._now
            if rng is None:
                return real(whole, scale)
            return [step + round(rng.gauss(0, scale)) for step in whole]

        return named


NAMED = Named()


def install() -> None:
    """From here on both sources of chance that hold no seed ask whose turn it is."""
    from engine import randomness
    from engine.privacy import sources

    randomness.secret_seed = NAMED.seed(randomness.secret_seed)
    sources._discrete_gaussian = NAMED.gaussian(sources._discrete_gaussian)
