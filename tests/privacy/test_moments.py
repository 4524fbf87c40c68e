"""Marginal PC's releases are charged as requested, and as noisy as its tests assume.

Every released entry, less the exact one, over the standard deviation that the moments give: 400
runs with separate seeds. The variance of such a number is 1 within 5 standard errors (a right one
fails at fresh seeds with probability 6e-7); a fifth more noise lies outside.
"""

import math
from functools import cache

import numpy as np
import pytest

from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.marginals.contrasts import gram, helmert, tensor
from engine.marginals.moments import (
    ONE_WAY,
    ORDER_WEIGHT,
    Moments,
    one_way_weight,
    refine_pairs,
    release_orders,
    release_pairs,
    release_tables,
    release_triples,
)
from engine.marginals.sensitivity import all_pairs_change, tables_change
from engine.privacy import mechanisms
from engine.privacy.accounting import Guarantee
from engine.privacy.events import GaussianEvent
from engine.privacy.ledger import Ledger
from engine.privacy.sources import Hardened
from engine.randomness import Randomness
from engine.tables.store import store_of

RUNS = 400
CARDS = (2, 3, 2, 4)
RHO = 50.0  # so little noise that no margin comes near the end of its range
PAIRS = [(0, 1), (0, 2), (1, 3)]
TRIPLES = [(0, 1, 2), (1, 2, 3)]
EVERY_TRIPLE = [(0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)]
ALL = [(0, 1, 2, 3)]


@cache
def store():
    """400 rows of 2, 3, 2 and 4 levels, none of them rare."""
    rng = np.random.default_rng(3)
    x = rng.integers(4, size=400)
    columns = [(x + rng.integers(3, size=400)) % r for r in (2, 3, 2)]
    return store_of(Dataset.from_codes(np.column_stack([*columns, x])))


def released(seed, then=lambda s, m: None):
    session = RunContext(Randomness(seed), Ledger())
    found = release_pairs(session, store(), RHO)
    then(session, found)
    return found


def refined(session, moments):
    refine_pairs(session, store(), moments, PAIRS, 3 * RHO)


def with_triples(session, moments):
    assert release_triples(session, store(), moments, TRIPLES, RHO)


def with_tables(session, moments):
    """Two whole tables, one of them with a triple that is known already."""
    with_triples(session, moments)
    assert release_tables(session, store(), moments, [(0, 1, 2), (0, 1, 2, 3)], RHO)
    assert not release_tables(session, store(), moments, [(0, 1, 2, 3)], RHO)


def with_orders(session, moments):
    release_orders(session, store(), moments, RHO)


def twice(session, moments):
    with_triples(session, moments)
    release_triples(session, store(), moments, TRIPLES[:1], 3 * RHO)


def exact(variables):
    return tensor(store().rows, variables) / 400


def spread(tables, many):
    """Mean square of all entries' errors in units of what the moments state."""
    errors = [
        ((found.tensor_of(*t) - exact(t)) / math.sqrt(found.variance(*t))).ravel()
        for found in many
        for t in tables
    ]
    return float(np.mean(np.concatenate(errors) ** 2))


SINGLES = [(0,), (1,), (2,), (3,)]
EVERY_PAIR = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
RELEASES = {
    "all pairs": (lambda s, m: None, [SINGLES, EVERY_PAIR]),
    "some pairs again": (refined, [SINGLES, PAIRS, [(0, 3), (1, 2), (2, 3)]]),
    "triples": (with_triples, [TRIPLES]),
    "all orders": (with_orders, [SINGLES, EVERY_PAIR, EVERY_TRIPLE, ALL]),
    "whole tables": (with_tables, [TRIPLES, EVERY_TRIPLE, ALL]),
    "a triple again": (twice, [TRIPLES[:1], TRIPLES[1:]]),
}


@pytest.mark.parametrize("name", RELEASES)
def test_noise_is_what_the_moments_state(name):
    then, groups = RELEASES[name]
    many = [released(seed, then) for seed in range(RUNS)]
    for tables in groups:
        entries = RUNS * sum(exact(t).size for t in tables)
        assert spread(tables, many) == pytest.approx(1, abs=5 * math.sqrt(2 / entries))
        assert 5 * math.sqrt(2 / entries) < 0.26


@pytest.mark.parametrize(
    ("make", "tables", "weights"),
    [
        (
            lambda s: release_pairs(s, store(), 0.2),
            [*SINGLES, *EVERY_PAIR],
            [one_way_weight(CARDS)] * 4 + [1.0] * 6,
        ),
        (
            lambda s: refine_pairs(s, store(), released(0), PAIRS, 0.2),
            [*SINGLES, *PAIRS],
            [*(ONE_WAY * math.sqrt(k) for k in (2, 2, 1, 1)), 1.0, 1.0, 1.0],
        ),
        (lambda s: refine_pairs(s, store(), released(0), [], 0.2), SINGLES, [ONE_WAY] * 4),
        (lambda s: release_triples(s, store(), released(0), TRIPLES, 0.2), TRIPLES, [1.0] * 2),
        (
            lambda s: release_tables(s, store(), released(0), ALL, 0.2),
            [*EVERY_TRIPLE, *ALL],
            [1.0] * 5,
        ),
        (
            lambda s: release_tables(s, store(), released(0, with_triples), ALL, 0.2),
            [(0, 1, 3), (0, 2, 3), *ALL],
            [1.0] * 3,
        ),
        (
            lambda s: release_orders(s, store(), released(0), 0.2),
            [*EVERY_TRIPLE, *ALL],
            [1.0] * 4 + [ORDER_WEIGHT],
        ),
    ],
    ids=["all pairs", "pairs again", "margins alone", "triples", "whole", "the rest", "all orders"],
)
def test_a_release_costs_the_rho_that_was_asked(make, tables, weights, monkeypatch):
    """And what adding up may lose is stated to the mechanism."""
    session, real = RunContext(Randomness(1), Ledger()), mechanisms.gaussian

    def noted(*given, sigma, rounding, **options):
        assert 0 < rounding < 1e-6 * sigma
        return real(*given, sigma=sigma, rounding=rounding, **options)

    monkeypatch.setattr("engine.marginals.moments.gaussian", noted)
    make(session)
    (charge,) = session.ledger
    assert isinstance(charge.event, GaussianEvent)
    assert charge.rho == pytest.approx(0.2, rel=1e-12)
    assert charge.event.sensitivity**2 == pytest.approx(tables_change(tables, CARDS, weights))


def test_triples_that_would_be_too_noisy_cost_nothing():
    moments, session = released(0), RunContext(Randomness(1), Ledger())
    noise = math.sqrt(tables_change(TRIPLES, CARDS) / (2 * 0.2)) / 400
    assert not release_triples(session, store(), moments, TRIPLES, 0.2, most=noise)
    assert len(session.ledger) == 0
    assert not moments.higher
    above = noise * (1 + 1e-9)
    assert release_triples(session, store(), moments, TRIPLES, 0.2, most=above)
    assert moments.released() == [*SINGLES, *EVERY_PAIR, *TRIPLES]


def test_what_no_file_could_hold_is_not_asked_for(monkeypatch):
    """A release would break off at it, and its charge would stay; pairs can still follow."""
    first, more = 7 + 17, 2 + 6 + 3 + 6 + 6  # of store(); of EVERY_TRIPLE and ALL
    monkeypatch.setattr("engine.marginals.moments.MOST_ENTRIES", 2 * first + more - 1)
    session, moments = RunContext(Randomness(1), Ledger()), released(0)
    assert not release_tables(session, store(), moments, ALL, 0.2)
    assert len(session.ledger) == 0
    monkeypatch.setattr("engine.marginals.moments.MOST_ENTRIES", 2 * first + 2 + 6 - 1)
    assert not release_triples(session, store(), moments, TRIPLES, 0.2)
    monkeypatch.setattr("engine.marginals.moments.MOST_ENTRIES", 2 * first + 2 + 6)
    assert release_triples(session, store(), moments, TRIPLES, 0.2)
    assert not release_triples(session, store(), moments, TRIPLES, 0.2)
    assert len(session.ledger) == 1


def test_axes_come_in_the_order_asked_for():
    found = released(0, with_triples)
    for asked in ((2, 0, 1), (1, 2, 0), (0, 1, 2)):
        assert found.tensor_of(*asked).shape == tuple(exact((v,)).size for v in asked)
        assert found.tensor_of(*asked) == pytest.approx(exact(asked), abs=0.05)
        assert found.has(*asked)
        assert found.variance(*asked) == found.variance(0, 1, 2)
    assert not found.has(0, 1, 3)
    assert found.block(3, 1).tolist() == found.block(1, 3).T.tolist()


def test_a_margin_is_a_distribution_and_its_block_follows():
    """However noisy: at least 0, summing to 1; the diagonal block is H^T diag(p) H."""
    session = RunContext(Randomness(5), Ledger())
    found = release_pairs(session, store(), 1e-5)
    for i, r in enumerate(found.cardinalities):
        p = found.margin(i)
        assert p.min() >= 0
        assert p.sum() == pytest.approx(1)
        assert found.block(i, i) == pytest.approx(helmert(r).T @ np.diag(p) @ helmert(r))
    one, two = gram(store().rows)
    clear = released(0)
    assert clear.one == pytest.approx(one / 400, abs=0.05)
    assert clear.two == pytest.approx(two / 400, abs=0.05)


def test_the_weight_of_margins_balances_their_noise_with_the_pairs():
    """w = sqrt(a / (2 b)): (1 + 1 / (2 w)) (a + b w) is smallest there; never below a tenth."""
    a = all_pairs_change(CARDS, 0.0)
    b = all_pairs_change(CARDS, 1.0) - a
    w = one_way_weight(CARDS)
    assert w == pytest.approx(math.sqrt(a / (2 * b)))
    loss = [(1 + 1 / (2 * v)) * (a + b * v) for v in (w / 1.1, w, w * 1.1)]
    assert loss[1] == min(loss)
    assert one_way_weight((2,)) == 0.1


def test_no_more_numbers_are_drawn_than_are_charged():
    """All margins and the blocks above the diagonal, which the margins give; then what is named."""
    source = Hardened()
    session = RunContext(source, Ledger(Guarantee(100.0, 1e-3), method="gdp"))
    moments = release_pairs(session, store(), 0.5)
    refine_pairs(session, store(), moments, PAIRS, 0.3)
    release_triples(session, store(), moments, TRIPLES, 0.2)
    singles = 1 + 2 + 1 + 3
    named = [2, 1, 2 * 3]  # the entries of PAIRS
    assert [len(one.steps) for one in source.given_out] == [
        singles + 2 + 1 + 3 + 2 + 6 + 3,
        singles + sum(named),
        2 + 6,
    ]
    assert [(c.label, c.order) for c in session.ledger] == [
        ("all pairs", 0),
        ("pairs again", 0),
        ("triples", 1),
    ]


def known(margin, variance):
    """One variable of this distribution, as its contrasts give it."""
    levels = len(margin)
    one = helmert(levels).T @ np.array(margin)
    square = np.zeros((levels - 1, levels - 1))
    return Moments(100, (levels,), one, square, np.full(1, variance), np.zeros((1, 1)))


def test_a_margin_is_read_from_its_contrasts():
    found = known([0.5, 0.3, 0.2], 0.01)
    assert found.margin(0) == pytest.approx([0.5, 0.3, 0.2])
    assert found.means() == pytest.approx(found.one)
    below = known([0.8, 0.4, -0.2], 0.01)
    assert below.margin(0) == pytest.approx([2 / 3, 1 / 3, 0])
    assert below.means() == pytest.approx(helmert(3).T @ [2 / 3, 1 / 3, 0])


@pytest.mark.parametrize(
    ("old", "new", "kept", "together"),
    [
        (0.5, 0.5, 0.5, 0.25),  # alike: the mean, of half the variance
        (0.75, 0.25, 0.25, 0.1875),
        (0.0, 0.3, 1.0, 0.0),  # what is exact stays
        (0.3, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 0.0),  # of two exact ones the later
    ],
)
def test_releases_are_weighed_by_the_inverse_of_their_variance(old, new, kept, together):
    found = known([0.5, 0.3, 0.2], old)
    before, value = found.one.copy(), np.array([0.02, -0.01])
    found.add((0,), value, new)
    assert found.one == pytest.approx(kept * before + (1 - kept) * value)
    assert found.variance(0) == pytest.approx(together)
    assert found.heard[-1].variance == new
