"""The Gram matrix released once: sensitivity, charge, noise scale, limit and utility."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Dataset, load_dataset, run
from engine.algorithms import gram_notears
from engine.algorithms.gram_notears import GramParameters
from engine.context import RunContext
from engine.privacy.events import AnalyticGaussianEvent
from engine.privacy.ledger import BudgetExhausted
from engine.randomness import Randomness
from engine.score.encodings import encoding_of
from engine.score.gram import Packing, best_constant, covariance, second_moments


def session_of(params, data, seed=0):
    rng = np.random.default_rng(seed)
    return RunContext(Randomness(rng), gram_notears.ledger(data, params), names=data.names)


def packed(rows, packing):
    with_one = np.hstack([np.ones((len(rows), 1)), rows])
    return packing.pack(with_one.T @ with_one / len(rows))


@given(st.integers(1, 6), st.floats(0.3, 3.0), st.integers(0, 10_000), st.booleans(), st.booleans())
def test_influence_of_one_row_never_exceeds_the_bound(d, constant, seed, corners, fixed):
    """Random, and adversarial (corners of the box), replacements of one row."""
    rng = np.random.default_rng(seed)
    n = 4
    rows = rng.uniform(-1, 1, (n, d))
    other = rows.copy()
    other[0] = rng.uniform(-1, 1, d)
    if corners or fixed:
        rows, other = np.where(rows < 0, -1.0, 1.0), np.where(other < 0, -1.0, 1.0)
    packing = Packing(d, n, constant, math.sqrt(d), np.full(d, fixed))
    moved = np.linalg.norm(packed(rows, packing) - packed(other, packing))
    assert moved <= packing.sensitivity * (1 + 1e-12)


def test_bound_is_nearly_attained():
    """(c, x) and (c, x') at right angles: a'b = c^2 + x.x' = 0 with c^2 = 2, d = 6."""
    x, y = np.ones((1, 6)), np.array([[1, 1, -1, -1, -1, -1]], dtype=float)
    packing = Packing(6, 1, math.sqrt(2), math.sqrt(6), np.zeros(6, dtype=bool))
    moved = np.linalg.norm(packed(x, packing) - packed(y, packing))
    assert moved == pytest.approx(packing.sensitivity, rel=1e-12)


def test_numeric_rows_far_outside_the_bounds_have_bounded_influence():
    data = load_dataset("sem:er:5:6:gaussian", n=30, seed=0)
    params = GramParameters()
    radius = params.ball(data)
    encoding = encoding_of(data)
    packing = Packing(5, 30, best_constant(5), radius, encoding.fixed_square)
    before = packing.pack(second_moments(data, encoding, radius))
    for size in (0.0, 1.0, 1e9):
        values = data.values.copy()
        values[0] = size * np.array([1, -1, 1, 1, -1])
        other = Dataset.from_values(values, data.bounds)
        after = packing.pack(second_moments(other, encoding, radius))
        assert np.linalg.norm(after - before) <= packing.sensitivity


@pytest.mark.parametrize("encoding", ["ordinal", "ridit", "frequency"])
@pytest.mark.parametrize(("epsilon", "delta"), [(1e-4, 1e-12), (1.0, 1e-6), (1e4, 1e-2)])
def test_charge_is_the_whole_cap_and_no_more(epsilon, delta, encoding):
    """And the frequencies that two of the encodings read are paid for."""
    data = load_dataset("sachs", n=500)
    params = GramParameters(epsilon=epsilon, delta=delta, encoding=encoding)
    session = session_of(params, data)
    gram_notears.release(data, params, session)
    paid = list(session.ledger)
    before = [] if encoding == "ordinal" else ["one-way tables"]
    assert [c.label for c in paid] == [*before, "Gram matrix"]
    assert sum(c.event.epsilon for c in paid) == pytest.approx(epsilon)
    assert (1 - 1e-3) * delta <= sum(c.event.delta for c in paid) <= delta
    assert session.ledger.proven == params.total
    with pytest.raises(BudgetExhausted):
        session.ledger.charge(AnalyticGaussianEvent(1.0, 1e9, 1e-3 * epsilon))


@pytest.mark.parametrize(
    ("name", "more"), [("asia", {}), ("sachs", {}), ("sem:er:8:10:gaussian", {"radius": 1.0})]
)
def test_huge_epsilon_is_notears(name, more):
    """The noise, the caution and the projection vanish together."""
    data = load_dataset(name, n=20_000)
    sooner = {"tolerance": 1e-3}  # for both: where they stop says nothing of what they solve
    params = GramParameters(epsilon=1e7, **sooner, **more)
    released = gram_notears.release(data, params, session_of(params, data))
    encoding = encoding_of(data)
    exact = covariance(second_moments(data, encoding), encoding)
    scale = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    assert np.abs((released.covariance - exact) / scale).max() < 1e-5
    assert (released.noise / scale).max() < 1e-5
    parent = run("notears", data, trace=False, **sooner)
    limit = gram_notears.NoisyGram(exact, *3 * [np.zeros_like(exact)])
    solution, learned = gram_notears.fit(limit, data, params, session_of(params, data))
    assert (solution.weights == parent.diagnostics.weights).all()
    assert (learned.oriented.matrix == parent.matrix).all()
    # The problem is not convex: rounding can lead the solver elsewhere, but not far.
    found = run("gram_notears", data, epsilon=1e7, trace=False, **sooner, **more)
    assert len(found.skeleton ^ parent.skeleton) <= 2


def test_a_threshold_that_is_a_number_is_all_there_is():
    """On columns that depend on nothing, where 'auto' joins next to none."""
    codes = np.random.default_rng(0).integers(0, 2, (300, 6))
    data = Dataset.from_codes(codes, public=True)  # so that the noise is the seed's
    given = {"epsilon": 1.0, "caution": 0.0, "penalty": 0.0}
    for seed in range(2):
        asked = run("gram_notears", data, seed=seed, threshold=0.01, **given)
        assert len(asked.skeleton) > 3
        assert len(run("gram_notears", data, seed=seed, **given).skeleton) <= 1
