"""The random number generator of a run, split into named streams.

An algorithm gets no generator. Its privacy noise comes from :mod:`engine.privacy.mechanisms`, which
charge the ledger first, and every other use of randomness has a separate stream. The numbers from
these streams depend only on public facts (the number of rows), never on the rows' values.
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
ILLUSTRATED = "engine.teaching."  # modules that may illustrate noise

T = TypeVar("T")


class Randomness:
    """The random numbers of one run; ``used`` counts the uses of each stream.

    With ``by_row`` samples are drawn row by row, which takes longer and gives neighbours the same
    rows. Otherwise they are drawn table by table, with the same distribution. ``seed`` is a whole
    number, a ``SeedSequence`` or a ``Generator``, and determines all draws. With None the seed
    comes from the operating system and is not stored, as noise on private rows requires.
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
        """Return the generator to the stream's own module; PermissionError for any other module."""
        # The calling frame identifies the caller, because an algorithm could copy any token. This
        # prevents mistakes, not malice, which Python cannot prevent.
        if sys._getframe(1).f_globals.get("__name__") != KEYS[door]:
            raise PermissionError(f"Only {KEYS[door]} may use the random stream {door!r}.")
        self.used[door] += 1
        return self._behind(door)

    def _behind(self, door: str) -> np.random.Generator:
        """Return the stream's generator; an audit overrides this to record its draws."""
        return self._generator

    def coin(self) -> bool:
        """Toss a fair coin for CURATE's answer between its margins."""
        self.used["coin"] += 1
        return bool(self._generator.random() < 0.5)

    def uniform(self, n: int) -> NDArray[np.float64]:
        """Draw n numbers between 0 and 1, for rows of a synthetic table."""
        self.used["uniform"] += 1
        return self._generator.random(n)

    def permutation(self, n: int) -> NDArray[np.int64]:
        """Draw a random order of n rows, for dividing them into blocks."""
        self.used["permutation"] += 1
        return self._generator.permutation(n)

    def released(self, charged: object, exact: object, answer: T, noisy: object = None) -> T:
        """Return the answer that a mechanism drew for a charge and its exact input.

        ``noisy`` is the noisy value behind an answer that is not itself a number. An audit
        overrides this to record all of them, and may replace the answer.
        """
        return answer


def illustration(seed: int) -> np.random.Generator:
    """Return a generator for illustrations in ``engine.teaching``; PermissionError elsewhere.

    Its draws never enter a release: figures and lessons compute with exact scores.
    """
    if not str(sys._getframe(1).f_globals.get("__name__")).startswith(ILLUSTRATED):
        raise PermissionError("Only engine.teaching draws illustrations; mechanisms draw noise.")
    return np.random.default_rng(seed)


def secret_seed() -> int:
    """Draw a secret seed, because noise that can be drawn again does not protect private data."""
    return secrets.randbits(256)
