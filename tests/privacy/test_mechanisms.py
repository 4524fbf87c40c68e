"""Noise: the right scale passes, 30 % more or less fails, and nothing is drawn without a charge.

Error rates: a right mechanism fails a Kolmogorov-Smirnov or chi-square check with probability
1e-6 at a fresh seed (the seeds are fixed); one whose scale is 30 % off passes with less than 1e-3.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from typing import Any

import numpy as np
import pytest

from engine.privacy import events, mechanisms
from engine.privacy.accounting import Guarantee
from engine.privacy.ledger import BudgetExhausted, Ledger
from engine.randomness import Randomness
from engine.session import Session
from tests.privacy.mechanisms_table import (
    COSTS,
    DRAWS_NOTHING,
    MECHANISMS,
    ON_A_SAMPLE,
    every_release,
)


class Mutated:
    """A generator whose every noise scale is multiplied by a factor."""

    def __init__(self, seed: int, factor: float):
        self._rng, self._factor = np.random.default_rng(seed), factor

    def laplace(self, loc: float, scale: float, size: Any = None) -> Any:
        return self._rng.laplace(loc, scale * self._factor, size)

    def normal(self, loc: float, scale: float, size: Any = None) -> Any:
        return self._rng.normal(loc, scale * self._factor, size)

    def gumbel(self, loc: float = 0.0, scale: float = 1.0, size: Any = None) -> Any:
        return self._rng.gumbel(loc, scale * self._factor, size)


def session(factor: float = 1.0, seed: int = 7, ledger: Ledger | None = None) -> Session:
    return Session(randomness=Randomness(Mutated(seed, factor)), ledger=ledger or Ledger())  # type: ignore[arg-type]


def public_names() -> set[str]:
    """Everything public that the mechanisms' module defines."""
    return {
        name
        for name, thing in vars(mechanisms).items()
        if getattr(thing, "__module__", None) == mechanisms.__name__
        and not name.startswith("_")
        and not getattr(thing, "_is_protocol", False)
    }


def test_every_mechanism_is_in_the_table() -> None:
    assert public_names() == set(MECHANISMS) | DRAWS_NOTHING
    for name in DRAWS_NOTHING:  # without a session there is neither noise nor a ledger
        assert "session" not in inspect.signature(getattr(mechanisms, name)).parameters


def test_every_event_has_its_cost_in_the_table() -> None:
    concrete = {
        thing
        for name, thing in vars(events).items()
        if getattr(thing, "__module__", None) == events.__name__
        and not name.startswith("_")
        and dataclasses.is_dataclass(thing)
    }
    assert concrete == {cost.event for cost in COSTS}


@pytest.mark.parametrize("name", MECHANISMS)
def test_right_scale_passes(name: str) -> None:
    assert MECHANISMS[name].fits(session())


@pytest.mark.parametrize("factor", [0.7, 1.3])
@pytest.mark.parametrize("name", MECHANISMS)
def test_wrong_scale_fails(name: str, factor: float) -> None:
    assert not MECHANISMS[name].fits(session(factor))


RELEASES = every_release()


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("method", ["basic", "zcdp"])
def test_refused_before_any_noise_is_drawn(name: str, method: str) -> None:
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    ledger = Ledger(Guarantee(1e-6, 1e-12), method=method)
    with pytest.raises(BudgetExhausted):
        RELEASES[name](Session(randomness=Randomness(rng), ledger=ledger), 0.0, 1.0)
    assert rng.bit_generator.state == before
    assert len(ledger) == 0
    assert ledger.used == 0


@pytest.mark.parametrize("name", RELEASES)
def test_charged_once_with_noise_drawn(name: str) -> None:
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    s = Session(randomness=Randomness(rng), ledger=Ledger())
    RELEASES[name](s, 0.0, 1.0)
    assert len(s.ledger) == 1
    assert rng.bit_generator.state != before
    mechanism = MECHANISMS[name.removesuffix(ON_A_SAMPLE)]
    assert type(s.ledger[0].event) in {cost.event for cost in mechanism.charges}


def test_above_threshold_gives_one_positive_answer() -> None:
    s = session()
    run = mechanisms.AboveThreshold(
        s, threshold=0, sensitivity=1, threshold_scale=1e-9, query_scale=1e-9
    )
    assert not run.above(-1)
    assert not run.above(-1)
    assert run.above(1)
    with pytest.raises(RuntimeError):
        run.above(-1)
    assert len(s.ledger) == 1


@pytest.mark.parametrize("room", [0.99, 1.0])
def test_above_threshold_opens_only_with_room_for_what_its_answer_leads_to(room: float) -> None:
    """A round of 1 and an answer that leads to 0.5: on less than 1.5 not even the round opens."""
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    s = Session(randomness=Randomness(rng), ledger=Ledger(Guarantee(1.5 * room, 1e-6)))

    def opened() -> mechanisms.AboveThreshold:
        return mechanisms.AboveThreshold(
            s,
            threshold=0.0,
            sensitivity=1.0,
            threshold_scale=2.0,
            query_scale=4.0,
            reserve=(events.LaplaceEvent(0.5, 1.0),),
        )

    if room < 1:
        with pytest.raises(BudgetExhausted):
            opened()
        assert len(s.ledger) == 0
        assert rng.bit_generator.state == before
    else:
        assert opened().open
        assert s.ledger.used == 1.0  # what is held ready is not charged yet


def test_above_threshold_is_as_private_as_it_charges() -> None:
    """An audit: two answer patterns on worst-case neighbours, 40,000 runs each.

    Sensitivity 1, scales 2/e and 4/e: epsilon = e = 1. The measured log-ratio may not exceed it
    by more than 5 standard errors (3e-7); half the noise must be caught.
    """

    def log_ratio(shrink: float) -> tuple[float, float]:
        rng = np.random.default_rng(11)
        runs, k = 40_000, 30
        t = rng.laplace(0, 2 * shrink, (2, runs))
        noise = rng.laplace(0, 4 * shrink, (2, runs, k))
        # k queries answered "below", then one "above"; the neighbour raises all but the last by 1
        raised = [np.array([0.0] * (k - 1) + [1.0]), np.array([1.0] * (k - 1) + [0.0])]
        counts = []
        for side in (0, 1):
            above = raised[side] + noise[side] >= t[side][:, None] + 8 * shrink
            counts.append(np.sum(~above[:, :-1].any(axis=1) & above[:, -1]))
        a, b = map(float, counts)
        return math.log(a / b), math.sqrt(1 / a + 1 / b)

    ratio, error = log_ratio(1.0)
    assert ratio < 1 + 5 * error
    ratio, error = log_ratio(0.4)
    assert ratio > 1 + 5 * error
