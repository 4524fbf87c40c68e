"""CURATE: its plan against brute force, its charges and totals, its limit."""

import itertools
import json
import math
from collections import Counter

import numpy as np
import pytest

from engine import ALGORITHMS, Knowledge, load_dataset, run
from engine.graphs.known import known_of
from engine.search.allocation import Objective, Price, allocate, most_tests
from engine.search.skeleton import Graph, Query
from engine.serialise import plain
from engine.theory import kendall_p_bound, lemma1


def objective(orders, rate=20.0, c=1.0):
    rates = (rate,) * orders
    return Objective(rates, rates, c, c)


def test_lemma1_bounds_the_error_of_a_simulated_test():
    rng, t, scale, epsilon = np.random.default_rng(0), 0.05, 0.002, 0.3
    noisy = t + rng.laplace(0, scale / epsilon, 200_000)  # the hardest case: exactly at T
    kept = (noisy < 0.8 * t) | ((noisy <= 1.2 * t) & (rng.random(noisy.size) < 0.5))
    assert kept.mean() <= lemma1(epsilon, t, scale)[0]


def test_the_objective_is_that_of_lemma1():
    epsilon, o = np.array([0.3, 0.1, 0.02]), Objective((5.0,) * 3, (7.0,) * 3, 0.6, 0.9)
    q = [lemma1(e, 1.0, 1.0, beta1=5.0, beta2=7.0, c1=0.6, c2=0.9) for e in epsilon]
    expected = math.prod(a for a, _ in q) + 1 - math.prod(1 - b for _, b in q)
    limit = 0.3**3 + 1 - 0.55**3
    assert o.log_excess(epsilon)[0] == pytest.approx(math.log(expected - limit))


def test_its_noise_is_that_of_the_first_plans_first_two_orders():
    data = load_dataset("asia", n=5_000, seed=0)
    result = run("curate_pc", data, epsilon=30.0, delta=1e-3, guarantee="published", seed=0)
    planned = result.diagnostics.allocation.planned[0]
    assert planned[2].epsilon < planned[1].epsilon < planned[0].epsilon
    unit = 6 / math.sqrt(5_000)  # the published sensitivity of |z|
    expected = math.sqrt(2) * unit / planned[1].epsilon
    assert ALGORITHMS["curate_pc"].noise(data, result.params) == pytest.approx(expected)


@pytest.mark.parametrize("c", [1.0, 0.6])
@pytest.mark.parametrize("budget", [0.5, 5.0, 50.0])
def test_the_plan_is_no_worse_than_a_grid(budget, c):
    tests, price, o = (10.0, 30.0, 30.0), Price("curate", 1e-6), objective(3, 20.0, c)
    best = math.inf
    for shape in itertools.product(np.linspace(0, 1, 21), repeat=2):
        e = np.array([1.0, max(shape), min(shape)])
        a, b = price.coefficients(np.array(tests))
        quadratic, linear = a @ e**2, b @ e
        scale = 2 * budget / (linear + math.sqrt(linear**2 + 4 * quadratic * budget))
        best = min(best, o.log_excess(scale * e)[0])
    assert o.log_excess(np.array(allocate(tests, budget, price, o)))[0] <= best + 1e-9


TIERS = [["a", "b"], ["c", "d"], ["e", "f"]]
KNOWN = {"tiers": TIERS, "required": [("c", "e")], "forbidden": [("a", "e"), ("b", "a")]}


APART = {"forbidden": [("a", "b"), ("b", "a"), ("c", "a")], "roots": ["e", "f"]}


@pytest.mark.parametrize("stated", [{}, KNOWN, APART])
def test_most_tests_bounds_what_a_graph_admits(stated):
    """A pair's sets from either side, once; of them what is known leaves."""
    graph = Graph(6, known=known_of(Knowledge(**stated), "abcdef"))
    if not stated:
        assert [most_tests(graph, k) for k in range(5)] == [15, 60, 90, 60, 15]
    graph.separate(Query(0, 2, ()))
    graph.separate(Query(3, 5, ()))
    for order in range(5):
        expected = 0
        for x, y in itertools.combinations(range(6), 2):
            if y in graph.asked_about(x):
                sides = (graph.candidates(a, b) for a, b in ((x, y), (y, x)))
                expected += len({s for near in sides for s in itertools.combinations(near, order)})
        assert most_tests(graph, order) == expected


def test_published_total_is_the_papers():
    """Added up from the ledger: of each order t tests of epsilon e, and delta' = delta.

    A median's release has a delta of its own, which each test adds.
    """
    data, delta = load_dataset("cancer", n=100_000, seed=0), 4e-6
    result = run("curate_pc", data, statistic="g2", epsilon=20.0, delta=delta,
                 guarantee="published", seed=1)  # fmt: skip
    planned = {line.order: line.epsilon for line in result.diagnostics.allocation.spent}
    asked = Counter(charge.order for charge in result.ledger)
    total = sum(t * planned[k] ** 2 + planned[k] * math.sqrt(2 * t * math.log(1 / delta))
                for k, t in asked.items())  # fmt: skip
    assert result.claimed.epsilon == pytest.approx(total)
    assert result.claimed.epsilon <= 20.0
    assert result.claimed.delta == pytest.approx(len(asked) * delta + len(result.ledger) * delta)
    assert tuple(asked[k] for k in range(len(asked))) == result.ci_tests_by_order
    assert {c.event.epsilon for c in result.ledger} == {planned[k] for k in asked}


def test_the_plans_are_told_and_plain_data():
    data = load_dataset("asia", n=20_000, seed=0)
    for guarantee in ("published", "strict"):
        result = run("curate_pc", data, epsilon=30.0, guarantee=guarantee)
        planned = result.diagnostics.allocation.planned
        spent = result.diagnostics.allocation.spent
        assert [p[0].order for p in planned] == [line.order for line in spent]
        assert [p[0].epsilon for p in planned] == [line.epsilon for line in spent]
        json.dumps(plain(result.diagnostics))
        if guarantee == "strict":
            assert sum(line.cost for line in spent) == pytest.approx(result.ledger.used)


def test_more_rows_in_a_stratum_mean_less_noise():
    """Eq. 16 at n_i = 10: a twelfth of the noise, and tests of orders above 0; not where strict."""
    data = load_dataset("asia", n=100_000, seed=0)
    published = {"guarantee": "published", "epsilon": 1.0, "delta": 1e-12}
    result = run("curate_pc", data, stratum_rows=10, seed=1, **published)
    assert result.ci_tests > 1.5 * result.ci_tests_by_order[0]
    first = result.diagnostics.allocation.spent[0]
    unit = result.ledger[0].event.scale * first.epsilon
    assert unit == pytest.approx(kendall_p_bound(100_000, 10))
    strict = {"epsilon": 1.0, "seed": 1}
    same = [run("curate_pc", data, stratum_rows=rows, **strict) for rows in (2, 10)]
    assert (same[0].matrix == same[1].matrix).all()
    assert list(same[0].ledger) == list(same[1].ledger)
