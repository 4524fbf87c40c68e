"""Hardened noise: its grid, its scale, what it adds to a sensitivity; and its replay."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from engine import InputError
from engine.context import RunContext
from engine.privacy import sources
from engine.privacy.accounting import Guarantee
from engine.privacy.events import GaussianEvent
from engine.privacy.ledger import Ledger
from engine.privacy.mechanisms import exponential, gaussian, laplace
from engine.privacy.sources import Hardened, NotCovered, Released, Replay, grid_of


@pytest.mark.parametrize("sigma", [1e-9, 0.5, 1.0, 1.9999, 2.0, 3e7])
def test_the_grid_has_2_to_the_26_steps_a_sigma(sigma):
    assert 2**26 <= sigma / math.ldexp(1.0, grid_of(sigma)) < 2**27
    assert sources.DISTANCE == 2.0**-36
    assert sources.MOST_STEPS == 2**52


def test_widening_covers_both_roundings():
    source = Hardened()
    step = math.ldexp(1.0, grid_of(6.0))
    for size, rounding in ((1, 0.0), (9, 0.0), (9, 0.01)):
        wanted = 1 + math.sqrt(size) * (2 * rounding + step) / 0.5
        assert source.widening(0.5, 3.0, size, rounding) == pytest.approx(wanted, rel=1e-15)
    assert source.widening(1.0, 2.0**-20, 4, 0.125 - 2.0**-46) == 1.5
    with pytest.raises(InputError, match="Rounding would take more"):
        source.widening(1.0, 2.0**-20, 4, 0.126)
    for sensitivity, sigma in ((0.0, 1.0), (-1.0, 1.0), (1.0, 0.0), (1.0, math.inf), (1.0, -2.0)):
        with pytest.raises(InputError, match="no finite noise"):
            source.widening(sensitivity, sigma, 1, 0.0)


def test_what_is_released_is_rounded_clamped_and_kept(monkeypatch):
    """Without noise: whole steps of the grid, nothing beyond 2^52 of them."""
    scales = []

    def unchanged(whole, scale):
        scales.append(scale)
        return whole

    monkeypatch.setattr(sources, "_discrete_gaussian", unchanged)
    source, grid = Hardened(), grid_of(1.5)
    step = math.ldexp(1.0, grid)
    exact = np.array([[0.0, 2.4 * step], [-2.6 * step, 1e30]])
    found = source.gaussian(exact, 0.25, 1.5)
    assert found.tolist() == [[0.0, 2 * step], [-3 * step, 2**52 * step]]
    assert scales == [1.5 / step]
    (kept,) = source.given_out
    assert (kept.sensitivity, kept.sigma, kept.grid) == (0.25, 1.5, grid)
    assert kept.steps == (0, 2, -3, 2**52)
    assert source.gaussian(np.array([-1e30]), 0.25, 1.5)[0] == -(2**52) * step
    assert source.used == {"noise": 2}
    assert source.given_out[0].values.tolist() == [0.0, 2 * step, -3 * step, 2**52 * step]
    monkeypatch.setattr(sources, "MOST_ENTRIES", 8)
    source.gaussian(np.zeros(3), 0.25, 1.5)
    with pytest.raises(InputError, match="at most 8 numbers"):
        source.gaussian(np.zeros(1), 0.25, 1.5)


def test_a_replay_gives_out_what_is_asked_for_and_nothing_else():
    one = Released(1.0, 3.0, grid_of(3.0), (4, -5))
    other = Released(2.0, 5.0, grid_of(5.0), (7,))
    source = Replay([one, other])
    assert source.left == 2
    given = source.gaussian(np.array([[1.0], [2.0]]), 1.0 + 1e-13, 3.0 + 1e-9)
    assert given.tolist() == np.ldexp([[4.0], [-5.0]], one.grid).tolist()
    assert source.left == 1
    assert source.gaussian(np.zeros(1), 2.0, 5.0).tolist() == [math.ldexp(7.0, other.grid)]
    with pytest.raises(InputError, match="lacks a measurement"):
        source.gaussian(np.zeros(1), 2.0, 5.0)
    for size, sensitivity, sigma in ((1, 1.0, 3.0), (2, 1 + 3e-12, 3.0), (2, 1.0, 3 + 1e-8)):
        with pytest.raises(InputError, match="has sensitivity 1 and noise 3; its algorithm"):
            Replay([one]).gaussian(np.zeros(size), sensitivity, sigma)
    with pytest.raises(InputError, match="its algorithm makes one of"):
        Replay([replace(one, grid=one.grid + 1)]).gaussian(np.zeros(2), 1.0, 3.0)


def session_of(source, epsilon=1e6):
    return RunContext(source, Ledger(Guarantee(epsilon, 1e-6), method="gdp"))


@pytest.mark.fresh
def test_the_noise_has_its_scale():
    """Chi-square: 30 % off fails far out in the tail."""
    sigma, exact = 3.7, np.linspace(-50, 50, 4000)
    noisy = gaussian(session_of(Hardened()), exact, sensitivity=1.0, sigma=sigma)
    total = float(np.sum((noisy - exact) ** 2)) / sigma**2
    low, high = stats.chi2.ppf([1e-6, 1 - 1e-6], 4000)
    assert low < total < high
    assert not low < total * 1.3**2 < high
    assert not low < total * 0.7**2 < high


def test_the_charge_is_unchanged_by_the_grid():
    session = session_of(Hardened())
    gaussian(session, np.zeros(100), sensitivity=1.0, sigma=2.0, rounding=1e-6)
    (charge,) = session.ledger
    assert isinstance(charge.event, GaussianEvent)
    assert charge.event.sensitivity > 1 + 10 * 2e-6
    assert charge.rho == pytest.approx((1 / 2.0) ** 2 / 2, rel=1e-12)


def test_other_mechanisms_refuse():
    for source in (Hardened(), Replay(())):
        session = RunContext(source, Ledger())
        with pytest.raises(NotCovered):
            laplace(session, 0.0, sensitivity=1.0, scale=1.0)
        with pytest.raises(NotCovered):
            exponential(session, [0.0, 1.0], epsilon=1.0)
        for door in (source.coin, lambda s=source: s.permutation(3), lambda s=source: s.uniform(3)):
            with pytest.raises(NotCovered):
                door()
