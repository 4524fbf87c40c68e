"""Randomness that records every answer of a run and can return another run's answers instead.

It records the drawn noise, each mechanism's exact input, and the charge for the answer. The answer
is computed again from these, so that a single run shows noise that differs from the charged noise.
A fault can be injected into any algorithm: its mechanisms then draw only a share of the noise that
they charge for, and leak correspondingly more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from engine.algorithm import Algorithm, Outcome
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.graphs.known import KnownBy, known_of
from engine.params import Parameters
from engine.privacy import events
from engine.privacy.events import Event
from engine.privacy.ledger import Ledger
from engine.randomness import Randomness
from engine.runner import one_thread

T = TypeVar("T")
Array = NDArray[np.float64]

# For sums of floats in another order: far below any noise, far above rounding errors.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Draw:
    """Drawn noise: its kind "laplace", "normal" or "gumbel", its scale and the values."""

    kind: str
    scale: float
    value: Array

    def matches(self, kind: str, scale: float | None) -> bool:
        """Return True if the noise has this kind and scale; None matches any scale."""
        same = scale is None or abs(self.scale - scale) <= ROUNDING * abs(scale)
        return self.kind == kind and same


@dataclass(frozen=True, eq=False)
class Answer:
    """One answer of a mechanism: its charge, exact input, noise and released value.

    ``noisy`` is the input plus noise, which is the answer itself if it is a number.
    """

    event: Event
    exact: Array
    given: Any
    noisy: Array
    draws: tuple[Draw, ...]


@dataclass
class InstrumentedGenerator:
    """A noise generator that draws a ``share`` of every scale and records its output."""

    generator: Any
    share: float = 1.0
    draws: list[Draw] = field(default_factory=list)

    def __getattr__(self, kind: str) -> Callable[..., Any]:
        """Return the generator's ``laplace``, ``normal`` or ``gumbel`` at a share of the scale."""
        return partial(self._draw, kind)

    def _draw(self, kind: str, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:
        scale = float(self.share * scale)
        value = getattr(self.generator, kind)(loc, scale, size)
        self.draws.append(Draw(kind, scale, np.array(value, dtype=float)))
        return value


class Diverged(Exception):
    """A replay requested another answer than the run that gave the forced answers."""


class Instrumented(Randomness):
    """Randomness that records every answer; with ``script`` it returns those answers in turn.

    Two runs with one seed and one script draw the same rows and coins as long as they make the same
    decisions, because randomness other than noise depends only on public facts. ``share`` below 1
    injects a fault: mechanisms draw only this share of the charged noise. With ``by_row=False``
    samples are drawn table by table, which is faster, but neighbours no longer share their rows.
    """

    def __init__(
        self,
        seed: int,
        script: Sequence[Answer] | None = None,
        share: float = 1.0,
        by_row: bool = True,
    ):
        super().__init__(seed)
        self.by_row, self._script = by_row, script
        self._noise = InstrumentedGenerator(super()._behind("noise"), share)
        self.answers: list[Answer] = []

    def _behind(self, door: str) -> Any:
        return self._noise if door == "noise" else super()._behind(door)

    def released(self, charged: object, exact: object, answer: T, noisy: object = None) -> T:
        """Record the answer, or return the script's; Diverged if the script has another one."""
        event, seen = cast(Event, charged), np.array(exact, dtype=float)
        draws = tuple(self._noise.draws)
        self._noise.draws.clear()
        given: Any = answer if self._script is None else self._next(event, seen).given
        kept = given.copy() if isinstance(given, np.ndarray) else given
        read_off = np.array(answer if noisy is None else noisy, dtype=float)
        self.answers.append(Answer(event, seen, kept, read_off, draws))
        return cast(T, given.copy() if isinstance(given, np.ndarray) else given)

    def _next(self, event: Event, exact: Array) -> Answer:
        assert self._script is not None
        at = len(self.answers)
        if at >= len(self._script):
            raise Diverged(f"it continues after answer {at}, but the other run ends")
        wanted = self._script[at]
        if wanted.event != event or wanted.exact.shape != exact.shape:
            raise Diverged(
                f"answer {at + 1} is charged as {event.describe()}, in the other run as "
                f"{wanted.event.describe()}"
            )
        return wanted

    @property
    def unused_draws(self) -> int:
        """The number of draws not used by an answer; a sparse vector's threshold may be one."""
        return len(self._noise.draws)


def run_with(
    source: Randomness,
    algorithm: Algorithm,
    data: Dataset,
    params: Parameters,
    trace: bool = True,
    known_by: KnownBy = known_of,
) -> tuple[Outcome, RunContext]:
    """Run once with this source of noise, or raise Diverged if it leaves the script of a replay."""
    ledger = algorithm.ledger(data, params) if algorithm.ledger else Ledger()
    known = known_by(getattr(data.schema, "knowledge", None), data.names)
    asked = getattr(data.schema, "questions", ())
    session = RunContext(source, ledger, data.names, trace=trace, known=known, questions=asked)
    with one_thread():
        return algorithm.run(data, params, session), session


# Is the noise the one that was charged? -----------------------------------------------


def without_sampling(event: Event) -> Event:
    """Return the event without the sampling around it."""
    return event.inner if isinstance(event, events.SubsampledEvent) else event


def noise_faults(answers: Sequence[Answer], ledger: Ledger) -> list[str]:
    """List the faults in the answers of a run that was not forced, one sentence each."""
    faults: list[str] = []
    charged = {id(charge.event): charge.label for charge in ledger}
    thresholds: dict[int, float] = {}  # of sparse vectors, by the charge that started each round
    answered: set[int] = set()
    for number, one in enumerate(answers, 1):
        event, charge, draws = without_sampling(one.event), id(one.event), one.draws
        where = f"answer {number} ({charged.get(charge, 'no label')})"
        many = isinstance(event, events.AboveThresholdEvent)
        if charge not in charged or (charge in answered and not many):
            faults.append(f"{where} was given without a separate charge")
        if isinstance(event, events.AboveThresholdEvent) and charge not in answered:
            if draws and draws[0].matches("laplace", event.threshold_scale):
                thresholds[charge], draws = float(draws[0].value), draws[1:]
            else:
                faults.append(f"{where} has a threshold without the noise that was charged")
        answered.add(charge)
        if not _follows(one, event, draws, thresholds.get(charge, np.nan)):
            faults.append(f"{where} is not its input with the noise that was charged")
    return faults + repeated_noise([d for one in answers for d in one.draws])


def _follows(one: Answer, event: Event, draws: Sequence[Draw], threshold: float) -> bool:
    """Return True if the answer follows from the input and noise of the charged kind and scale."""
    wanted, read_off = _charged(event, one)
    if len(draws) != len(wanted) or not all(
        draw.matches(*noise) for draw, noise in zip(draws, wanted, strict=True)
    ):
        return False
    level = one.exact
    if isinstance(event, events.ExponentialEvent):
        level = event.stated_epsilon * level / (2 * event.stated_sensitivity)
    elif isinstance(event, events.AboveThresholdEvent):
        level = level - threshold
    added = np.concatenate([np.ravel(draw.value) for draw in draws])
    added = np.pad(added, (0, max(0, level.size - added.size))).reshape(np.shape(level))
    close = np.allclose(one.noisy, level + added, rtol=ROUNDING, atol=ROUNDING * draws[-1].scale)
    return bool(close and np.array_equal(one.given, read_off))


def _charged(event: Event, one: Answer) -> tuple[Sequence[tuple[str, float | None]], Any]:
    """Return the noise that a charge pays for, and the released value of the noisy input.

    This code does not use the mechanisms, so that it does not repeat their faults. An event without
    a line here pays for no noise and is therefore a fault.
    """
    noisy = one.noisy
    match event:
        case events.LaplaceEvent():
            return [("laplace", event.scale)], noisy
        case events.GaussianEvent() | events.AnalyticGaussianEvent():
            return [("normal", event.sigma)], noisy
        case events.SmoothEvent():  # the scale depends on the data, so no charge states it
            return [("laplace", None)], noisy
        case events.AboveThresholdEvent():
            return [("laplace", event.query_scale)], bool(noisy >= 0)
        case events.ExponentialEvent():
            return [("gumbel", 1.0)], int(np.argmax(noisy))
        case events.StableEvent():
            passed = noisy[0] > event.threshold
            return [("laplace", 1 / event.stated_epsilon)], one.exact[1] if passed else None
        case events.ProposeTestReleaseEvent():
            noise = [("laplace", length / event.step) for length in (1.0, event.length)]
            return noise, noisy[-1] if noisy[:-1].max() > event.threshold else None
    return [], None


def repeated_noise(draws: Sequence[Draw]) -> list[str]:
    """Report noise that was drawn twice: the difference of two such answers has no noise."""
    seen: set[tuple[str, float]] = set()
    for draw in draws:
        if draw.scale == 0:
            continue
        # In units of its scale, because shared noise may be scaled; twelve digits, because of
        # rounding.
        for value in np.atleast_1d(draw.value / draw.scale).ravel():
            key = (draw.kind, float(f"{value:.12g}"))
            if key in seen:
                return ["the same noise was used twice"]
            seen.add(key)
    return []
