"""Sensitivity of the contrast tensors that Marginal PC releases together.

The bounds against the tensors themselves (products of Helmert contrasts of two whole records), not
against the formula they come from: all pairs of records where there are few, hill climbing over
pairs of records where there are many.
"""

import math
from collections.abc import Sequence
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.marginals import sensitivity
from engine.marginals.contrasts import helmert
from engine.marginals.moments import ONE_WAY
from engine.marginals.sensitivity import changes, largest_sum, tables_change
from engine.monitor import Cancelled

Tables = Sequence[tuple[int, ...]]
Records = NDArray[np.int64]


class Moved:
    """Squared l2 change of weighted tensors between records, from their contrasts."""

    def __init__(self, tables, cards, weights):
        most = max(cards)
        # <h(a), h(b)> of every variable; the last one is a filler that never changes anything
        self.inner = np.ones((len(cards) + 1, most, most))
        for i, r in enumerate(cards):
            self.inner[i, :r, :r] = helmert(r) @ helmert(r).T
        self.tables = np.array([(*t, *(len(cards),) * (3 - len(t))) for t in tables])
        self.cards, self.weights = cards, np.asarray(weights)

    def between(self, a, b):
        """(pairs,): |T(a) - T(b)|^2 of the pairs of records in the rows of a and b."""
        fill = np.zeros((len(a), 1), np.int64)
        a, b = (np.hstack([rows, fill])[:, self.tables] for rows in (a, b))

        def dot(u, v):
            return self.inner[self.tables, u, v].prod(axis=2)

        return (dot(a, a) + dot(b, b) - 2 * dot(a, b)) @ self.weights

    def largest(self):
        """Over all pairs of records."""
        records = np.array(list(product(*map(range, self.cards))))
        return max(
            float(self.between(np.broadcast_to(one, records.shape), records).max())
            for one in records
        )

    def climbed(self, starts, sweeps=6):
        """The best of some ascents, each changing one variable of both records at a time."""
        rng, best = np.random.default_rng(0), 0.0
        for _ in range(starts):
            a, b = (np.array([rng.integers(r) for r in self.cards]) for _ in range(2))
            for _ in range(sweeps):
                for i in rng.permutation(len(self.cards)):
                    both = np.array(list(product(range(self.cards[i]), repeat=2)))
                    rows = [np.tile(record, (len(both), 1)) for record in (a, b)]
                    rows[0][:, i], rows[1][:, i] = both.T
                    found = self.between(*rows)
                    a[i], b[i] = both[found.argmax()]
            best = max(best, float(found.max()))
        return best


def chosen(d, chance, rng):
    """Random pairs, and the variables they need."""
    pairs = [p for p in combinations(range(d), 2) if rng.random() < chance]
    return [(i,) for i in sorted({i for p in pairs for i in p})] + pairs


def weighted(tables):
    """What a later release gives them: 1 a pair, ONE_WAY sqrt(pairs of the variable) alone."""
    uses = [sum(t[0] in other for other in tables) - 1 for t in tables]
    return [
        ONE_WAY * math.sqrt(k) if len(t) == 1 else 1.0 for t, k in zip(tables, uses, strict=True)
    ]


def parts_of(tables, cards, weights):
    """Each tensor's weighted change, as a function of which of its variables differ."""
    return [(t, w * changes([cards[i] for i in t])) for t, w in zip(tables, weights, strict=True)]


@st.composite
def releases(draw):
    """Up to six variables of up to four levels, and any weighted tensors of one to three."""
    cards = draw(st.lists(st.integers(2, 4), min_size=3, max_size=6).filter(lambda c: small(c)))
    every = [t for k in (1, 2, 3) for t in combinations(range(len(cards)), k)]
    tables = draw(st.lists(st.sampled_from(every), min_size=1, max_size=14, unique=True))
    weight = st.floats(0.05, 3.0)
    return tables, cards, draw(st.lists(weight, min_size=len(tables), max_size=len(tables)))


def small(cards):
    return math.prod(cards) <= 300


@settings(max_examples=40, deadline=None)
@given(releases())
def test_exact_over_all_pairs_of_records(release):
    """Neither below the largest change (a bound) nor above it (exact)."""
    tables, cards, weights = release
    largest = Moved(tables, cards, weights).largest()
    found = tables_change(tables, cards, weights)
    assert largest * (1 - 1e-13) <= found <= largest * (1 + 1e-9)


@settings(max_examples=40, deadline=None)
@given(releases(), st.integers(3, 4))
def test_taken_in_pieces_it_is_a_bound(release, widest):
    """What wide choices get: at least the largest change, at most the sum of the tensors' own."""
    tables, cards, weights = release
    parts = parts_of(tables, cards, weights)
    found, exact = largest_sum(parts, widest)
    largest = tables_change(tables, cards, weights)
    own = sum(
        w * changes([cards[i] for i in t]).max() for t, w in zip(tables, weights, strict=True)
    )
    assert largest * (1 - 1e-9) <= found <= own * (1 + 1e-9)
    assert found <= largest * (1 + 1e-9) or not exact


@pytest.mark.parametrize("d", [12, 25, 37])
def test_two_records_reach_it_and_climbing_goes_no_further(d):
    """Choices like those of real runs."""
    rng = np.random.default_rng(d)
    cards = rng.choice([2, 2, 3, 4], d).tolist()
    pairs = chosen(d, 3.5 / d, rng)
    triples = [tuple(sorted(rng.choice(d, 3, replace=False).tolist())) for _ in range(d // 3)]
    for tables, weights in (
        (pairs, weighted(pairs)),
        (triples, [1.0] * len(triples)),
        ([*pairs, *triples], [*weighted(pairs), *[0.5] * len(triples)]),
    ):
        bound, moved = tables_change(tables, cards, weights), Moved(tables, cards, weights)
        farthest = worst_records(tables, cards, weights)
        assert moved.between(*farthest)[0] == pytest.approx(bound, rel=1e-9)
        assert moved.climbed(starts=3) <= bound


def worst_records(tables, cards, weights):
    """Two records, one row each, found by asking of each variable whether it has to differ."""
    parts = parts_of(tables, cards, weights)
    most, _ = largest_sum(parts)
    differ = np.zeros((1, len(cards)), np.int64)
    for i in sorted({i for t in tables for i in t}):
        asked = (i,), np.array([-1e3, 0.0])
        differ[0, i] = largest_sum([*parts, asked])[0] >= most - 1e-9
        parts.append(asked if differ[0, i] else ((i,), np.array([0.0, -1e3])))
    return np.zeros_like(differ), differ


@pytest.mark.parametrize(("d", "chance"), [(37, 0.5), (60, 0.15)])
def test_climbing_stays_below_where_it_is_not_exact(d, chance):
    rng = np.random.default_rng(d)
    cards = rng.choice([2, 2, 3, 4], d).tolist()
    tables = chosen(d, chance, rng)
    parts = parts_of(tables, cards, weighted(tables))
    assert not largest_sum(parts)[1]
    bound = tables_change(tables, cards, weighted(tables))
    assert 0.9 * bound < Moved(tables, cards, weighted(tables)).climbed(2, 3) <= bound


@pytest.mark.parametrize(
    ("d", "chance", "share"), [(37, 0.5, 0.6), (37, 0.5, 0.99), (60, 0.15, 0.9), (60, 0.15, 1.01)]
)
def test_another_bound_ends_it_early_and_changes_no_number(d, chance, share):
    """Whatever the other bound is: the least of both, to the last digit, in fewer steps."""
    tables = chosen(d, chance, np.random.default_rng([d, 1]))
    parts = parts_of(tables, [2] * d, weighted(tables))
    whole, exact = largest_sum(parts)
    assert not exact
    steps = []
    found = largest_sum(parts, other=lambda: share * whole, check=lambda: steps.append(1))
    assert found == (min(whole, share * whole), False)
    assert (len(steps) < len(parts) + d) == (share < 1)
    assert tables_change(tables, [2] * d, weighted(tables)) <= whole * (1 + sensitivity.ROUNDING)


def test_the_stop_button_is_asked_before_every_step():
    """And while the functions are made: a run with very many pairs need not be waited for."""
    rng, asked = np.random.default_rng(0), []
    tables = chosen(60, 0.5, rng)
    for stop in (1, len(tables), 2 * len(tables) + 5):

        def check(stop=stop):
            asked.append(stop)
            if asked.count(stop) == stop:
                raise Cancelled

        with pytest.raises(Cancelled):
            tables_change(tables, [2] * 60, weighted(tables), check)


def test_the_order_of_names_does_not_matter():
    """A table of 2, 3 and 4 levels, its variables named in any order, twice in one release."""
    cards = (4, 2, 3)
    expected = Moved([(0, 1, 2), (1, 2)], cards, [2.0, 1.0]).largest()
    found = tables_change([(2, 0, 1), (1, 2, 0), (2, 1)], cards)
    assert found == pytest.approx(expected, rel=1e-9)


def test_what_adding_up_may_lose_is_added():
    """Ten thousand whole numbers have an exact sum; the bound allows for as many roundings."""
    found = tables_change([(0,)] * 10_000, [2])
    assert found == 20_000 * (1 + 10_000 * 2.0**-52)
    assert tables_change([(0,)], [2]) == 2 * (1 + sensitivity.ROUNDING)


@pytest.mark.parametrize("one_way", [0.0, 0.3, 5.0])
@pytest.mark.parametrize("cards", [(2, 2), (2, 5, 3), (7, 2, 2, 2), (2, 3, 4, 5, 6)])
def test_all_pairs_agree_with_the_elimination(cards, one_way):
    singles, pairs = (list(combinations(range(len(cards)), k)) for k in (1, 2))
    weights = [one_way] * len(singles) + [1.0] * len(pairs)
    expected = tables_change([*singles, *pairs], cards, weights)
    assert sensitivity.all_pairs_change(cards, one_way) == pytest.approx(expected, rel=1e-9)
