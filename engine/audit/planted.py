"""A fault planted in any algorithm: its mechanisms draw less noise than they charge.

An attack that finds nothing says something only if it would have found a fault that is there. With
a share 1/k of the noise, mechanisms leak about k times the epsilon that they charge and claim.
"""

from __future__ import annotations

from typing import Any

from engine.randomness import Randomness


class Fainter:
    """A generator's noise at a share of every scale that it is asked for."""

    def __init__(self, generator: Any, share: float):
        self._generator, self._share = generator, share

    def laplace(self, loc: float, scale: float, size: Any = None) -> Any:
        """Laplace noise, too little."""
        return self._generator.laplace(loc, self._share * scale, size)

    def normal(self, loc: float, scale: float, size: Any = None) -> Any:
        """Gaussian noise, too little."""
        return self._generator.normal(loc, self._share * scale, size)

    def gumbel(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:
        """Gumbel noise, too little."""
        return self._share * self._generator.gumbel(size=size)


class FaintDoors(Randomness):
    """Doors whose noise is too small by ``share``; at a share of 1 they are as all others."""

    def __init__(self, seed: int, share: float):
        super().__init__(seed)
        self._share = share

    def _behind(self, door: str) -> Any:
        found = super()._behind(door)
        return Fainter(found, self._share) if door == "noise" and self._share != 1 else found
