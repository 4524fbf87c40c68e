"""When Marginal PC releases triples, and when a test uses them."""

import math
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from engine import run
from engine.algorithms import marginal_pc
from engine.algorithms.marginal_pc import VISIBLE
from engine.context import RunContext
from engine.data.dataset import Dataset
from engine.marginals.citest import NoisyTests
from engine.marginals.moments import release_pairs, release_triples
from engine.marginals.sensitivity import tables_change
from engine.privacy.accounting import Guarantee
from engine.privacy.ledger import Ledger
from engine.randomness import Randomness
from engine.tables.store import store_of

S, T, X, Y, Z = range(5)
TRIPLES = [(S, T, X), (S, T, Y), (S, T, Z)]


@cache
def data(n=20_000):
    """x and y follow the product of s and t, z their sum; given s and t all are independent."""
    rng = np.random.default_rng(7)
    s, t = (rng.random((2, n)) < 0.5).astype(int)
    product = 0.1 + 0.7 * (s & t)
    x, y = (rng.random((2, n)) < product).astype(int)
    z = (rng.random(n) < 0.2 + 0.3 * s + 0.3 * t).astype(int)
    return Dataset.from_codes(np.column_stack([s, t, x, y, z]))


def moments(epsilon, triples, seed=3):
    """All pairs for half of the budget, and the triples for the other half."""
    ledger = Ledger(Guarantee(epsilon, 1e-6), method="gdp")
    session = RunContext(randomness=Randomness(seed), ledger=ledger)
    store = store_of(data())
    found = release_pairs(session, store, ledger.limit / 2)
    if triples:
        release_triples(session, store, found, triples, ledger.limit / 2)
    return found


def test_a_leak_through_a_product_needs_the_triples():
    """x and y share nothing but s times t: pairs alone leave them dependent, triples do not."""
    assert NoisyTests(moments(20.0, [])).test(X, Y, (S, T)).bayes > 100
    assert NoisyTests(moments(20.0, TRIPLES)).test(X, Y, (S, T)).bayes < 0


def test_the_allowance_asks_for_such_triples():
    """As much as s and t explain additively may leak; where the triples are known nothing may."""
    without, known = (NoisyTests(moments(20.0, some)).test(X, Y, (S, T)) for some in ([], TRIPLES))
    assert without.leak_bayes < 0 < without.bayes
    assert known.leak_bayes == known.bayes


def test_tests_that_no_triple_enters_are_kept():
    """After the triples all tests are what new ones would say, and some were not asked again."""
    found = moments(20.0, TRIPLES)
    triples = dict(found.higher)
    found.higher.clear()
    before = NoisyTests(found)
    asked = [(x, y, given) for x, y in combinations(range(5), 2) for k in (0, 1, 2)
             for given in combinations(sorted({*range(5)} - {x, y}), k)]  # fmt: skip
    for q in asked:
        before.test(*q)
    found.higher.update(triples)
    after, anew = before.with_higher(), NoisyTests(found)
    assert 0 < len(after._known) < len(before._known)
    said = [[tests.test(*q)[:4] for q in asked] for tests in (before, after, anew)]
    assert said[1] == said[2] != said[0]


def test_only_products_that_clear_their_noise_are_used():
    """s times t matters to x and y, and not to z: 3 deviations, one number, 1 in 370 by chance."""
    found = [NoisyTests(moments(1.0, TRIPLES, seed)) for seed in range(100)]
    assert all(tests._carries(v, (S, T)) for tests in found for v in (X, Y))
    assert sum(tests._carries(Z, (S, T)) for tests in found) <= 3


def test_a_product_that_one_side_does_not_need_is_left_out():
    """x and z given s and t: z is a sum, so the test is the one without the triples' noise."""
    with_triples, pairs = NoisyTests(moments(20.0, TRIPLES)), NoisyTests(moments(20.0, []))
    assert with_triples.test(X, Z, (S, T))[:4] == pytest.approx(pairs.test(X, Z, (S, T))[:4])


@pytest.mark.parametrize(("epsilon", "last"), [(0.02, "pairs again"), (5.0, "triples")])
def test_triples_are_bought_where_their_noise_leaves_something_to_see(epsilon, last, monkeypatch):
    """Both runs want triples; one of them could not see products with its budget."""
    asked = []

    def spy(session, store, found, triples, rho, most):
        change = tables_change(triples, found.cardinalities)
        asked.append(math.sqrt(change / (2 * rho)) / found.n)
        return release_triples(session, store, found, triples, rho, most)

    monkeypatch.setattr(marginal_pc, "release_triples", spy)
    monkeypatch.setattr(marginal_pc, "MOST_CELLS", 0)  # few columns, of which not all is released
    result = run("marginal_pc", data(), epsilon=epsilon, delta=1e-6, seed=1, trace=False)
    assert [c.label for c in result.ledger if c.order is not None][2] == last
    assert [noise < VISIBLE for noise in asked] == [last == "triples"]
