"""Rooms in which a class bets together: in the server's memory, for an hour, without a name."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from engine.errors import InputError
from engine.teaching.neighbours import NeighbourTest, moves

HOUR = 3600.0  # seconds that a room lasts
MOST_ROOMS = 50
MOST_VOTES = 200  # in a room
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"  # no I and no O: they are read as digits


@dataclass
class Room:
    """One output at a time, and what the class bets on it: A (0) or B (1).

    ``votes`` holds one vote a browser, under a number that nothing else knows. ``rounds`` are the
    finished ones: (right votes, votes).
    """

    code: str
    pair: NeighbourTest
    born: float
    which: int = 0
    value: float = 0.0
    shown: bool = False
    number: int = 0
    votes: dict[str, int] = field(default_factory=dict)
    rounds: list[tuple[int, int]] = field(default_factory=list)

    @cached_property
    def tables(self) -> tuple[list[list[int]], ...]:
        """Counts of A and B by the levels of the two columns."""
        pair = self.pair.pair
        return tuple(moves(d, self.pair.q).table[0].tolist() for d in (pair.data, pair.other))

    def deal(self) -> None:
        """Toss the coin and draw the next output: a release like any other."""
        self.which = secrets.randbelow(2)
        self.value = self.pair.drawn(self.which, secrets.randbelow(2**63))
        self.votes, self.shown, self.number = {}, False, self.number + 1

    def vote(self, voter: str, guess: int) -> None:
        """Take a vote, or change it; not once the answer is shown, nor where the room is full."""
        if not self.shown and (voter in self.votes or len(self.votes) < MOST_VOTES):
            self.votes[voter] = guess

    def show(self) -> None:
        """The answer: this round is over."""
        if not self.shown:
            self.shown = True
            right = sum(guess == self.which for guess in self.votes.values())
            self.rounds.append((right, len(self.votes)))

    def counts(self) -> tuple[int, int]:
        """Votes for A and for B."""
        votes = list(self.votes.values())
        return votes.count(0), votes.count(1)

    def score(self) -> tuple[int, int]:
        """(right votes, votes) of all finished rounds."""
        return sum(r for r, _ in self.rounds), sum(n for _, n in self.rounds)


class Rooms:
    """All rooms of a server; those older than an hour are gone."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock, self._rooms, self._lock = clock, dict[str, Room](), threading.Lock()

    def open(self, pair: NeighbourTest) -> Room:
        """A new room with its first output; InputError where there are too many."""
        with self._lock:
            self._sweep()
            if len(self._rooms) >= MOST_ROOMS:
                raise InputError(f"{MOST_ROOMS} rooms are open; one is free again within the hour.")
            code = self._fresh()
            room = self._rooms[code] = Room(code, pair, self._clock())
        room.deal()
        return room

    def find(self, code: str) -> Room | None:
        """The room of this code, if it is still there."""
        with self._lock:
            self._sweep()
            return self._rooms.get(code.strip().upper())

    def close(self, code: str) -> None:
        """Forget a room."""
        with self._lock:
            self._rooms.pop(code, None)

    def _sweep(self) -> None:
        now = self._clock()
        for code in [c for c, room in self._rooms.items() if now - room.born >= HOUR]:
            del self._rooms[code]

    def _fresh(self) -> str:
        while True:
            code = "".join(secrets.choice(_LETTERS) for _ in range(4))
            if code not in self._rooms:
                return code
