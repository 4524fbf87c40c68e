"""Noise: of its source's kind and scale, and nothing is drawn without a charge."""

import dataclasses
import inspect
import math

import numpy as np
import pytest

from engine.audit.instrumented import Instrumented, noise_faults
from engine.context import RunContext
from engine.privacy import events, mechanisms
from engine.privacy.accounting import Guarantee
from engine.privacy.ledger import BudgetExhausted, Ledger
from engine.randomness import Randomness
from tests.contract.test_randomness import Deaf
from tests.privacy import mechanisms_table


def public_names():
    """Everything public that the mechanisms' module defines."""
    return {
        name
        for name, thing in vars(mechanisms).items()
        if getattr(thing, "__module__", None) == mechanisms.__name__
        and not name.startswith("_")
        and not getattr(thing, "_is_protocol", False)
    }


def test_every_mechanism_is_in_the_table():
    assert public_names() == set(mechanisms_table.MECHANISMS) | mechanisms_table.DRAWS_NOTHING
    for (
        name
    ) in mechanisms_table.DRAWS_NOTHING:  # without a session there is neither noise nor a ledger
        assert "session" not in inspect.signature(getattr(mechanisms, name)).parameters


def test_every_event_has_its_cost_in_the_table():
    concrete = {
        thing
        for name, thing in vars(events).items()
        if getattr(thing, "__module__", None) == events.__name__
        and not name.startswith("_")
        and dataclasses.is_dataclass(thing)
    }
    assert concrete == {cost.event for cost in mechanisms_table.COSTS}


RELEASES = mechanisms_table.every_release()


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize("method", ["basic", "zcdp"])
def test_refused_before_any_noise_is_drawn(name, method):
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    ledger = Ledger(Guarantee(1e-6, 1e-12), method=method)
    with pytest.raises(BudgetExhausted):
        RELEASES[name](RunContext(randomness=Randomness(rng), ledger=ledger), 0.0, 1.0)
    assert rng.bit_generator.state == before
    assert len(ledger) == 0
    assert ledger.used == 0


@pytest.mark.parametrize("name", RELEASES)
def test_charged_once_with_the_noise_of_its_source(name):
    """Drawn on its scale, and nothing else: the answer is worked out from what was drawn."""
    mechanism = mechanisms_table.MECHANISMS[name.removesuffix(mechanisms_table.ON_A_SAMPLE)]
    for value, size in ((0.0, 1.0), (2.5, 0.4)):
        s = RunContext(Instrumented(7), Ledger())
        RELEASES[name](s, value, size)
        (charge,), (answer,) = s.ledger, s.randomness.answers
        assert type(charge.event) in {cost.event for cost in mechanism.charges}
        drawn = [(d.kind, pytest.approx(d.scale, rel=1e-8)) for d in answer.draws]
        assert drawn == mechanism.noise(size)
        assert noise_faults([answer], s.ledger) == []


def test_above_threshold_gives_one_positive_answer():
    s = RunContext(Randomness(7), Ledger())
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
def test_above_threshold_opens_only_with_room_for_what_its_answer_leads_to(room):
    """A round of 1 and an answer that leads to 0.5: on less than 1.5 not even the round opens."""
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    s = RunContext(randomness=Randomness(rng), ledger=Ledger(Guarantee(1.5 * room, 1e-6)))

    def opened():
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


# Without noise --------------------------------------------------------------------------


def silent():
    """Nothing but zeros is drawn: what is left is what a mechanism computes."""
    return RunContext(randomness=Deaf(), ledger=Ledger())


def test_of_several_distances_one_is_enough_and_the_value_is_the_answer():
    """1 + ln(1 / slack) / epsilon is not enough: it must be exceeded."""
    limit = 1 + math.log(100)
    for distances, stable in (
        ([limit, 0.0], False),
        ([0.0, limit * (1 + 1e-12)], True),
        ([limit + 1, 2.0], True),
        ([2.0], False),
    ):
        s = silent()
        found = mechanisms.propose_test_release(
            s, 7.5, distances, length=3.0, epsilon=1.0, slack=0.01
        )
        assert found == (7.5 if stable else None)
        assert s.ledger[0].epsilon == len(distances) + 1


def test_a_stable_value_is_released_as_it_is():
    limit = math.log(1000) / 2
    for distance, stable in ((limit, False), (limit * (1 + 1e-12), True)):
        found = mechanisms.stable_release(silent(), 7.5, distance, epsilon=2.0, delta=1e-3)
        assert found == (7.5 if stable else None)


def test_an_answer_that_reaches_the_threshold_is_positive():
    for value, positive in ((2.0, True), (2.0 - 1e-12, False)):
        run = mechanisms.AboveThreshold(
            silent(), threshold=2.0, sensitivity=1, threshold_scale=1, query_scale=1
        )
        assert run.above(value) == positive
        assert run.open != positive


def test_the_best_utility_wins_and_is_charged_at_sensitivity_1_unless_said():
    s = silent()
    assert mechanisms.exponential(s, [1.0, 3.0, 2.0], epsilon=0.5) == 1
    assert mechanisms.exponential(s, [4.0, 3.0], epsilon=0.5, sensitivity=2.0) == 0
    assert (
        mechanisms.exponential(s, [0.0, 1.0], epsilon=0.5, sensitivity=2.0, defended_sensitivity=6)
        == 1
    )
    assert [c.event for c in s.ledger] == [
        events.ExponentialEvent(1.0, 1.0, 0.5),
        events.ExponentialEvent(2.0, 2.0, 0.5),
        events.ExponentialEvent(6.0, 2.0, 0.5),
    ]


def test_the_smoothness_is_the_lemmas():
    """Nissim, Raskhodnikova and Smith 2007, Lemma 2.9: beta = epsilon / (2 ln(2 / delta))."""
    assert mechanisms.smooth_beta(3.0, 0.02) == pytest.approx(3 / (2 * math.log(100)), rel=1e-12)


def test_no_rounding_puts_the_least_noise_above_its_delta(monkeypatch):
    """A search for sigma that ends a hair too low: what is charged is below delta all the same."""
    real = mechanisms.analytic_gaussian_sigma
    for short in (1.0, 1 - 1e-8, 1 - 1e-3):
        monkeypatch.setattr(mechanisms, "analytic_gaussian_sigma", lambda *a, s=short: real(*a) * s)
        s = silent()
        _, sigma = mechanisms.analytic_gaussian(
            s, np.zeros(3), sensitivity=2.0, epsilon=1.0, delta=1e-5
        )
        assert s.ledger[0].event.delta <= 1e-5
        assert 1 <= sigma / real(1.0, 1e-5, 2.0) < 1.0022
