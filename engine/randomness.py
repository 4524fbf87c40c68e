"""The one generator of a run, behind named doors.

An algorithm is given no generator: privacy noise comes from :mod:`engine.privacy.mechanisms`, which
charge the ledger first, and every other use of chance has its own door. What a door gives
depends on public facts alone (how many rows there are), never on what the rows hold.
"""

from __future__ import annotations

import secrets
import sys
from collections import Counter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

# Doors that hand out the generator itself, and the one module that each of them opens to.
KEYS = {"noise": "engine.privacy.mechanisms", "sample": "engine.tables.store"}
ILLUSTRATED = "engine.teaching."  # its modules may show what noise does

T = TypeVar("T")


class Randomness:
    """Random numbers of one run; ``used`` counts how often each door was opened.

    ``by_row`` says that samples are drawn row by row, which takes longer and gives neighbours the
    same rows; otherwise table by table, with the same distribution. ``seed`` is a whole number, a
    ``SeedSequence`` or a ``Generator``: all draws follow from it. None takes a seed from the
    operating system that is kept nowhere, as noise on private rows needs.
    """

    by_row = False

    def __init__(self, seed: int | np.random.SeedSequence | np.random.Generator | None):
        if seed is None:
            seed = secret_seed()
        self._generator = (
            np.random.default_rng(seed)
            if isinstance(seed, int | np.integer | np.random.SeedSequence)
            else seed
        )
        self.used: Counter[str] = Counter()

    def generator(self, door: str) -> np.random.Generator:
        """The generator, for the module that the door belongs to; another gets PermissionError."""
        # Who asks is read off the calling frame: whatever a caller could hand over to prove
        # itself, an algorithm could hand over too. This holds against a slip, not against ill
        # will, which Python cannot keep out.
        if sys._getframe(1).f_globals.get("__name__") != KEYS[door]:
            raise PermissionError(f"The door {door!r} opens to {KEYS[door]} alone.")
        self.used[door] += 1
        return self._behind(door)

    def _behind(self, door: str) -> np.random.Generator:
        """What a door opens to; an audit's doors give a generator that is watched."""
        return self._generator

    def coin(self) -> bool:
        """A fair coin: CURATE's answer between its margins."""
        self.used["coin"] += 1
        return bool(self._generator.random() < 0.5)

    def uniform(self, n: int) -> NDArray[np.float64]:
        """n numbers between 0 and 1: rows of a synthetic table, drawn from what was released."""
        self.used["uniform"] += 1
        return self._generator.random(n)

    def permutation(self, n: int) -> NDArray[np.int64]:
        """A random order of n rows, whatever they hold: how they are dealt into blocks."""
        self.used["permutation"] += 1
        return self._generator.permutation(n)

    def released(self, charged: object, exact: object, answer: T, noisy: object = None) -> T:
        """What a mechanism gives out for what it charged and its exact input: the answer it drew.

        ``noisy`` is what the answer was read off where it is not a number itself. Nothing here
        looks at any of them; an audit's doors do, and may put another answer in its place.
        """
        return answer


def illustration(seed: int) -> np.random.Generator:
    """A generator that shows what chance does, for ``engine.teaching``; else PermissionError.

    Nothing that is drawn from it is a release: its figures and lessons compute with exact scores.
    """
    if not str(sys._getframe(1).f_globals.get("__name__")).startswith(ILLUSTRATED):
        raise PermissionError("Only engine.teaching draws illustrations; noise is a mechanism's.")
    return np.random.default_rng(seed)


def secret_seed() -> int:
    """A seed that nobody knows: noise that can be drawn again hides nothing of private data."""
    return secrets.randbits(256)
