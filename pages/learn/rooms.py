"""Rooms in which a class votes, kept in the server's memory for an hour, without names."""

from __future__ import annotations

import csv
import io
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from engine.data.networks import plain_names
from engine.errors import InputError
from engine.percent import number
from engine.teaching.classroom import PICKS, Lesson
from engine.teaching.neighbours import guess_bound

HOUR = 3600.0  # seconds that a room lasts
MOST_ROOMS = 50
MOST_VOTERS = 200  # in a room
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"  # no I and no O: they are read as digits
TABLES = ("A", "B")
Choice = tuple[int, ...]  # the options of a vote


@dataclass
class Question:
    """One question, one vote for each voter, and when its answer was shown (seconds)."""

    number: int
    game: str
    epsilon: float
    which: int = 0
    value: float = 0.0
    votes: dict[str, Choice] = field(default_factory=dict)
    shown: float | None = None

    def counts(self) -> Counter[int]:
        """Votes for each option."""
        return Counter(option for choice in list(self.votes.values()) for option in choice)


@dataclass(frozen=True)
class Game:
    """A kind of question: its title, its options in words, the right ones (None if there are
    none), and the most options of a vote."""

    title: str
    options: Callable[[Lesson], Sequence[str]]
    right: Callable[[Question, Lesson], Collection[int] | None]
    most: int = 1


def titles(lesson: Lesson) -> list[str]:
    """Return the columns in plain words."""
    return plain_names(lesson.scene["dataset"], lesson.scene["names"])


def link_names(lesson: Lesson) -> list[str]:
    """Return each true link in plain words."""
    named = titles(lesson)
    return [f"{named[i]} → {named[j]}" for i, j in lesson.links]


GAMES = {
    "links": Game("Which links survive?", link_names, lambda one, lesson: lesson.lost, PICKS),
    "person": Game("Was this person in?", lambda lesson: TABLES, lambda one, lesson: (one.which,)),
    "price": Game(
        "How much would you pay?",
        lambda lesson: [f"ε = {number(epsilon)}" for epsilon in lesson.scene["epsilons"]],
        lambda one, lesson: None,
    ),
}


class Room:
    """Questions of one class. ``code`` admits phones, and ``key`` admits projectors, which lead the
    class.

    Every call that changes a room names the number of its question, so that a second projector or a
    slow phone cannot change the next question.
    """

    def __init__(self, code: str, lesson: Lesson, clock: Callable[[], float] = time.monotonic):
        self.code, self.key, self.lesson = code, secrets.token_hex(8), lesson
        self.clock, self.born = clock, clock()
        self.voters: set[str] = set()
        self.questions: list[Question] = []
        self._lock = threading.Lock()
        self.ask("links", 0, lesson.pair.epsilon)

    @property
    def now(self) -> Question:
        """The question that the class sees."""
        return self.questions[-1]

    @property
    def options(self) -> Sequence[str]:
        """The options of the question, in words."""
        return GAMES[self.now.game].options(self.lesson)

    @property
    def picks(self) -> int:
        """The number of options in a vote."""
        return min(GAMES[self.now.game].most, len(self.options))

    def ask(self, game: str, after: int, epsilon: float) -> None:
        """Ask the next question after the one with that number; ``epsilon`` is for the question
        about a person."""
        with self._lock:
            if after == len(self.questions):
                asked = Question(after + 1, game, epsilon)
                if game == "person":
                    asked.which = secrets.randbelow(2)
                    pair = self.lesson.pair.at(epsilon)
                    asked.value = pair.drawn(asked.which, secrets.randbelow(2**63))
                self.questions.append(asked)

    def join(self, voter: str) -> bool:
        """Admit a voter, at any time; return False if the room is full."""
        with self._lock:
            if len(self.voters) < MOST_VOTERS:
                self.voters.add(voter)
            return voter in self.voters

    def vote(self, voter: str, number: int, choice: Choice) -> None:
        """Accept or change a vote, unless it is late or not a choice of the question."""
        with self._lock:
            now, chosen = self.now, set(choice) & set(range(len(self.options)))
            fits = len(choice) == len(chosen) == self.picks
            if voter in self.voters and number == now.number and now.shown is None and fits:
                now.votes[voter] = tuple(sorted(choice))

    def show(self, number: int) -> None:
        """Show the answer. No vote is accepted after it."""
        with self._lock:
            if number == self.now.number and self.now.shown is None:
                self.now.shown = self.clock()

    def score(self) -> tuple[int, list[float]]:
        """Return the number of outputs that the majority assigned to the right table, and each
        output's bound. A tie does not count."""
        right, chances = 0, []
        for one in self.questions:
            a, b = one.counts()[0], one.counts()[1]
            if one.game == "person" and one.shown is not None and a != b:
                right += (b > a) == one.which
                chances.append(guess_bound(one.epsilon))
        return right, chances

    def table(self) -> str:
        """Return every option of every question that was shown, with its votes, as CSV; an option
        of a question without a right answer only if it has votes."""
        out = io.StringIO()
        write = csv.writer(out, lineterminator="\n").writerow
        write(("question", "game", "epsilon", "option", "votes", "voters", "right"))
        for one in self.questions:
            game, counts = GAMES[one.game], one.counts()
            right = game.right(one, self.lesson)
            epsilon = one.epsilon if one.game == "person" else ""
            for k, option in enumerate(game.options(self.lesson)):
                if one.shown is not None and (counts[k] or right is not None):
                    said = "" if right is None else "yes" if k in right else "no"
                    row = one.number, game.title, epsilon, option, counts[k], len(one.votes), said
                    write(row)
        return out.getvalue()


class Rooms:
    """All rooms of a server; rooms older than an hour are deleted."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock, self._rooms, self._lock = clock, dict[str, Room](), threading.Lock()

    def open(self, lesson: Lesson) -> Room:
        """Open a room with its first question; InputError if there are too many."""
        with self._lock:
            self._sweep()
            if len(self._rooms) >= MOST_ROOMS:
                raise InputError(f"{MOST_ROOMS} rooms are open; one is free again within an hour.")
            room = Room(self._fresh(), lesson, self._clock)
            self._rooms[room.code] = room
        return room

    def find(self, word: str) -> Room | None:
        """Return the room of this code or key, if it is still there."""
        with self._lock:
            self._sweep()
            led = (room for room in self._rooms.values() if room.key == word)
            return self._rooms.get(word.strip().upper()) or next(led, None)

    def close(self, room: Room) -> None:
        """Forget a room."""
        with self._lock:
            self._rooms.pop(room.code, None)

    def _sweep(self) -> None:
        now = self._clock()
        for code in [c for c, room in self._rooms.items() if now - room.born >= HOUR]:
            del self._rooms[code]

    def _fresh(self) -> str:
        while True:
            code = "".join(secrets.choice(LETTERS) for _ in range(4))
            if code not in self._rooms:
                return code
