"""Doors that see every answer of a run leave, and can force the answers of another run upon it.

What is watched: the noise as it was drawn, each mechanism's exact input, and the charge that the
answer stands under. From these the answer is worked out again, so that noise which is not the one
that was charged shows in a single run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from engine.audit.planted import Fainter
from engine.privacy.events import (
    AboveThresholdEvent,
    AnalyticGaussianEvent,
    Event,
    ExponentialEvent,
    GaussianEvent,
    LaplaceEvent,
    ProposeTestReleaseEvent,
    SmoothEvent,
    StableEvent,
    SubsampledEvent,
)
from engine.privacy.ledger import Ledger
from engine.randomness import Randomness

T = TypeVar("T")
Array = NDArray[np.float64]

# Sums of floats in another order: far below any noise, far above what rounding does.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Draw:
    """Noise that was drawn: "laplace", "normal" or "gumbel" with its scale, and the values."""

    kind: str
    scale: float
    value: Array

    def matches(self, kind: str, scale: float) -> bool:
        """Whether it is noise of this kind and scale."""
        return self.kind == kind and abs(self.scale - scale) <= ROUNDING * abs(scale)


@dataclass(frozen=True, eq=False)
class Answer:
    """One answer of a mechanism: its charge, its exact input, what it drew and what it gave out.

    ``noisy`` is the input with the noise on it: the answer itself where that is a number.
    """

    event: Event
    exact: Array
    given: Any
    noisy: Array
    draws: tuple[Draw, ...]


@dataclass
class WatchedGenerator:
    """The generator behind the noise door, which keeps what it gives."""

    generator: Any
    draws: list[Draw] = field(default_factory=list)

    def laplace(self, loc: float, scale: float, size: Any = None) -> Any:
        """Laplace noise."""
        return self._keep("laplace", scale, self.generator.laplace(loc, scale, size))

    def normal(self, loc: float, scale: float, size: Any = None) -> Any:
        """Gaussian noise."""
        return self._keep("normal", scale, self.generator.normal(loc, scale, size))

    def gumbel(self, size: Any = None) -> Any:
        """Standard Gumbel noise."""
        return self._keep("gumbel", 1.0, self.generator.gumbel(size=size))

    def _keep(self, kind: str, scale: float, value: T) -> T:
        self.draws.append(Draw(kind, float(scale), np.array(value, dtype=float)))
        return value


class Diverged(Exception):
    """The neighbour's run asked something else than the run whose answers are forced upon it."""


class WatchingDoors(Randomness):
    """Doors that keep every answer; with ``script`` they give out its answers, one by one.

    Two runs with one seed and one script draw the same rows and the same coins as long as they
    take the same course, because chance that is no noise depends on public facts alone. ``share``
    below 1 plants a fault: mechanisms ask for so much of the noise that they charge.
    """

    by_row = True

    def __init__(
        self,
        seed: int,
        ledger: Ledger,
        script: Sequence[Answer] | None = None,
        share: float = 1.0,
    ):
        super().__init__(seed)
        self._ledger, self._script, self._share = ledger, script, share
        self._watched = WatchedGenerator(super()._behind("noise"))
        self.answers: list[Answer] = []

    def _behind(self, door: str) -> Any:
        if door != "noise":
            return super()._behind(door)
        return self._watched if self._share == 1 else Fainter(self._watched, self._share)

    def released(self, charged: object, exact: object, answer: T, noisy: object = None) -> T:
        """Keep the answer, or the script's in its place; Diverged where the script has another."""
        event, seen = cast(Event, charged), np.array(exact, dtype=float)
        draws = tuple(self._watched.draws)
        self._watched.draws.clear()
        given: Any = answer
        if self._script is not None:
            given = self._next(event, seen).given
        kept = given.copy() if isinstance(given, np.ndarray) else given
        read_off = np.array(answer if noisy is None else noisy, dtype=float)
        self.answers.append(Answer(event, seen, kept, read_off, draws))
        return cast(T, given.copy() if isinstance(given, np.ndarray) else given)

    def _next(self, event: Event, exact: Array) -> Answer:
        assert self._script is not None
        at = len(self.answers)
        if at >= len(self._script):
            raise Diverged(f"it goes on after answer {at}, where the other run ends")
        wanted = self._script[at]
        if wanted.event != event or wanted.exact.shape != exact.shape:
            raise Diverged(
                f"answer {at + 1} is charged as {event.describe()}, in the other run as "
                f"{wanted.event.describe()}"
            )
        return wanted

    @property
    def unused_draws(self) -> int:
        """How many draws no answer has used; a sparse vector's last threshold may be one."""
        return len(self._watched.draws)


# Is the noise the one that was charged? -----------------------------------------------


def bare(event: Event) -> Event:
    """The event without the sampling around it."""
    return event.inner if isinstance(event, SubsampledEvent) else event


def noise_faults(answers: Sequence[Answer], ledger: Ledger) -> list[str]:
    """What is wrong with the answers of a run that was not forced, one sentence each."""
    faults: list[str] = []
    charged = {id(charge.event): charge.label for charge in ledger}
    answered: set[int] = set()
    thresholds: dict[int, float] = {}
    for number, one in enumerate(answers, 1):
        event = bare(one.event)
        where = f"answer {number} ({charged.get(id(one.event), 'no label')})"
        many = isinstance(event, AboveThresholdEvent)
        if id(one.event) not in charged or (id(one.event) in answered and not many):
            faults.append(f"{where} was given without a charge of its own")
        draws = one.draws
        if isinstance(event, AboveThresholdEvent) and id(one.event) not in answered:
            if draws and draws[0].matches("laplace", event.threshold_scale):
                thresholds[id(one.event)] = float(draws[0].value)
                draws = draws[1:]
            else:
                faults.append(f"{where} has a threshold without the noise that was charged")
        answered.add(id(one.event))
        if not _follows(one, event, draws, thresholds.get(id(one.event), np.nan)):
            faults.append(f"{where} is not its input with the noise that was charged")
    return faults + repeated_noise([d for one in answers for d in one.draws])


def _follows(one: Answer, event: Event, draws: Sequence[Draw], threshold: float) -> bool:
    """Whether the answer is what the mechanism makes of its input and the charged noise.

    Each mechanism is written here a second time, from its charge alone: an audit that asked the
    mechanism itself what its answer should be would repeat its faults. A new kind of event is not
    followed, and so is a fault, until its line is here.
    """
    if isinstance(event, ProposeTestReleaseEvent):
        return _follows_its_tests(one, event, draws)
    if len(draws) != 1:
        return False
    draw, noisy = draws[0], one.noisy
    if isinstance(event, StableEvent):
        right = draw.matches("laplace", 1 / event.stated_epsilon)
        said = one.exact[1] if noisy[0] > event.threshold else None
        return right and one.given == said and _close(noisy[0], one.exact[0] + draw.value, draw)
    if isinstance(event, AboveThresholdEvent):
        right = draw.matches("laplace", event.query_scale) and one.given == bool(noisy >= 0)
        return right and _close(noisy, one.exact + draw.value - threshold, draw)
    if isinstance(event, ExponentialEvent):
        weighed = event.stated_epsilon * one.exact / (2 * event.stated_sensitivity) + draw.value
        right = draw.matches("gumbel", 1.0) and one.given == int(np.argmax(noisy))
        return right and _close(noisy, weighed, draw)
    right = _close(one.given, one.exact + draw.value, draw)
    if isinstance(event, LaplaceEvent):
        return right and draw.matches("laplace", event.scale)
    if isinstance(event, GaussianEvent | AnalyticGaussianEvent):
        return right and draw.matches("normal", event.sigma)
    # The scale of noise on a smooth sensitivity follows the data, so that no charge states it.
    return right and isinstance(event, SmoothEvent) and draw.kind == "laplace"


def _follows_its_tests(one: Answer, event: ProposeTestReleaseEvent, draws: Sequence[Draw]) -> bool:
    """The same of a proposal: its noisy distances, then the noisy value if one of them passes."""
    if len(draws) != 2:
        return False
    tests, value = draws
    right = tests.matches("laplace", 1 / event.step)
    right = right and value.matches("laplace", event.length / event.step)
    said = float(one.noisy[-1]) if one.noisy[:-1].max() > event.threshold else None
    added = np.append(tests.value, value.value)
    return right and one.given == said and _close(one.noisy, one.exact + added, value)


def _close(given: Any, wanted: Array, draw: Draw) -> bool:
    return bool(np.allclose(given, wanted, rtol=ROUNDING, atol=ROUNDING * draw.scale))


def repeated_noise(draws: Sequence[Draw]) -> list[str]:
    """A fault if noise that should be fresh was drawn before: their difference has none."""
    seen: set[tuple[str, float]] = set()
    for draw in draws:
        if draw.scale == 0:
            continue
        # In units of its scale, since shared noise may be stretched; twelve digits, for rounding.
        for value in np.atleast_1d(draw.value / draw.scale).ravel():
            key = (draw.kind, float(f"{value:.12g}"))
            if key in seen:
                return ["the same noise was used twice"]
            seen.add(key)
    return []
