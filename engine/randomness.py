"""The one generator of a run, behind named random streams.

An algorithm is given no generator: privacy noise comes from :mod:`engine.privacy.mechanisms`, which
charge the ledger first, and every other use of chance has its own stream. Its numbers depend
only on public facts (the number of rows), never on the rows' values.
"""

from __future__ import annotations

import secrets
import sys
from collections import Counter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

# Stream name -> the only module that may get its generator.
KEYS = {"noise": "engine.privacy.mechanisms", "sample": "engine.tables.store"}
ILLUSTRATED = "engine.teaching."  # its modules may show what noise does

T = TypeVar("T")


class Randomness:
    """Random numbers of one run; ``used`` counts how often each stream was used.

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
        """Return the generator to the stream's own module; another one gets PermissionError."""
        # The calling frame names the caller: an algorithm could copy any token that a caller had
        # to show. This holds against a slip, not against ill will, which Python cannot keep out.
        if sys._getframe(1).f_globals.get("__name__") != KEYS[door]:
            raise PermissionError(f"Only {KEYS[door]} may use the random stream {door!r}.")
        self.used[door] += 1
        return self._behind(door)

    def _behind(self, door: str) -> np.random.Generator:
        """Return the stream's generator; an audit returns one that it watches."""
        return self._generator

    def coin(self) -> bool:
        """Toss a fair coin: CURATE's answer between its margins."""
        self.used["coin"] += 1
        return bool(self._generator.random() < 0.5)

    def uniform(self, n: int) -> NDArray[np.float64]:
        """Draw n numbers between 0 and 1, for rows of a synthetic table."""
        self.used["uniform"] += 1
        return self._generator.random(n)

    def permutation(self, n: int) -> NDArray[np.int64]:
        """Draw a random order of n rows, which deals them into blocks."""
        self.used["permutation"] += 1
        return self._generator.permutation(n)

    def released(self, charged: object, exact: object, answer: T, noisy: object = None) -> T:
        """Return the answer that a mechanism drew for a charge and its exact input.

        ``noisy`` is the noisy value that the answer follows from, if it is not a number itself. An
        audit looks at all of them, and may replace the answer.
        """
        return answer


def illustration(seed: int) -> np.random.Generator:
    """Return a generator that shows chance, to ``engine.teaching``; else raise PermissionError.

    Nothing that is drawn from it is a release: its figures and lessons compute with exact scores.
    """
    if not str(sys._getframe(1).f_globals.get("__name__")).startswith(ILLUSTRATED):
        raise PermissionError("Only engine.teaching draws illustrations; noise is a mechanism's.")
    return np.random.default_rng(seed)


def secret_seed() -> int:
    """Draw a secret seed: noise that can be drawn again hides nothing about private data."""
    return secrets.randbits(256)
