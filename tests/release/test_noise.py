"""Numbers too good to be noisy: found where noise was left out, silent where it was not."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from engine import Dataset, InputError, load_dataset
from engine.marginals.moments import Heard, Moments
from engine.privacy import sources
from engine.privacy.sources import Released
from engine.release import noise
from engine.release.checking import check, moments_of
from tests.release.samples import declared, make, own_asia, schema_of

HONEST = 6


def with_noise(monkeypatch, share):
    """From here on the sampler draws only a share of the noise that is charged and stated."""
    real = sources._discrete_gaussian

    def less(whole, scale):
        return real(whole, share * scale) if share else [int(step) for step in whole]

    monkeypatch.setattr(sources, "_discrete_gaussian", less)


@pytest.mark.parametrize("share", [0.0, 0.1])
def test_missing_noise_is_found(share, book, monkeypatch):
    """No noise, and ten times too little: 20 such releases of Asia stayed below 1e-7."""
    with_noise(monkeypatch, share)
    with pytest.raises(InputError, match="too good to be noisy"):
        check(make(book, delta=1e-6))


def test_half_of_the_noise_is_found_where_much_is_released_twice(book, monkeypatch):
    with_noise(monkeypatch, 0.5)
    child = load_dataset("child", n=5_000, seed=1)
    own = Dataset.from_codes(child.codes, child.names, child.levels)
    found = make(book, own, declared(own), name="child", delta=1e-6)
    assert noise.goodness_of_fit_p(found.releases[0], moments_of(found)[0]) < 1e-12


def test_honest_releases_are_not_doubted(book):
    """By Markov one in a million may be; of these not one comes near."""
    doubts = [check(make(book, own_asia(seed=k), delta=1e-6)) for k in range(HONEST)]
    assert min(doubts) > 1e-3


# The two tests by themselves, on many more noises than releases can be made ------------------


def drawn(rng):
    """Three columns with 2, 3 and 4 levels: all pairs, then one pair and its columns once more."""
    cards, n = (2, 3, 4), 900
    size = sum(r - 1 for r in cards)
    entries = size + 2 + 3 + 6
    sigma = 2.0**26
    first = Released(1.0, sigma, 0, tuple(int(s) for s in np.rint(rng.normal(0, sigma, entries))))
    zero = Moments(n, cards, np.zeros(size), np.zeros((size, size)), np.ones(3), np.ones((3, 3)))
    before = noise.as_it_came(first, zero)
    heard = []
    for names, shape in (((0,), (1,)), ((1,), (2,)), ((0, 1), (1, 2))):
        variance = (sigma / n) ** 2 / 2
        value = rng.normal(0, math.sqrt(variance), shape)
        heard.append(Heard(names, value, variance))
    return before, heard


def test_the_mean_over_noise_is_at_most_one():
    """What the false alarm rate rests on; the mean of 4,000 has a standard error of a few %."""
    rng = np.random.default_rng(5)
    logs = np.array([noise.twice_the_same(*drawn(rng)) for _ in range(4_000)])
    mean = np.exp(logs).mean()
    assert mean < 1 + 3 * np.exp(logs).std() / math.sqrt(len(logs))
    assert logs.max() < -math.log(noise.ALARM)


@pytest.mark.parametrize(("spread", "least"), [(0.31, 0.6), (0.5, 0.97), (1.0, 0.99), (30.0, 0.99)])
def test_a_fraction_counts_for_one_on_average(spread, least):
    """By quadrature: the mean of u^(-1/2) / 2 over noise of any spread and offset."""
    at = (np.arange(6_000) + 0.5) / 6_000 - 0.5
    counts_for = np.exp([noise._excess(np.array([v]), np.ones(1), spread**2) for v in at])
    for offset in (0.0, 0.2, 0.5):
        waves = sum(
            stats.norm.pdf(at + k + offset, 0, spread)
            for k in range(-9 - int(6 * spread), 10 + int(6 * spread))
        )
        assert least <= float(np.mean(waves * counts_for)) <= 1 + 3e-3


def test_what_was_chosen_by_its_noise_is_no_alarm():
    """Pairs are released again because of what was seen before: that must not look too good."""
    rng = np.random.default_rng(9)
    alarms = []
    for _ in range(2_000):
        before, _ = drawn(rng)
        for one in before[:3]:  # columns alone
            one.value[:] = 0  # the noise before is chosen to be what comes, as near as can be
        heard = []
        for names, shape in (((0,), (1,)), ((1,), (2,)), ((2,), (3,))):
            heard.append(Heard(names, rng.normal(0, 1e-3, shape), 1e-6))
        alarms.append(noise.twice_the_same(before, heard))
    assert np.exp(alarms).mean() < 1.2
    assert max(alarms) < -math.log(noise.ALARM)


def test_whole_numbers_alone_find_what_has_no_noise(book, monkeypatch):
    """Of columns of several levels too, whose contrasts have lengths of their own."""
    with_noise(monkeypatch, 0.0)
    schema, codes = schema_of(3, 4, 3), np.random.default_rng(0).integers(0, (3, 4, 3), (900, 3))
    data = Dataset.from_codes(codes, schema.names, schema.levels)
    bare = make(book, data, schema, name="levels", delta=1e-6)
    moments, _ = moments_of(bare)
    assert noise.whole_numbers(moments, noise.as_it_came(bare.releases[0], moments)) > 20


def test_numbers_made_whole_are_found(book):
    """Somebody rounds the first release to whole counts."""
    honest = make(book, delta=1e-6)
    first = honest.releases[0]
    moments, _ = moments_of(honest)
    units = 2.0**-first.grid / 2  # a pair of binary columns: whole numbers of a half
    ones = len(honest.names)
    whole = [*first.steps[:ones], *(round(s / units) * int(units) for s in first.steps[ones:])]
    made = replace(first, steps=tuple(int(step) for step in whole))
    assert noise.goodness_of_fit_p(first, moments) > 1e-3
    assert noise.goodness_of_fit_p(made, moments) < noise.ALARM
