"""NOLEAKS: what the strict clip bounds, and its gradients."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine import load_dataset
from engine.algorithms import noleaks
from engine.algorithms.noleaks import NoleaksParameters
from engine.context import RunContext
from engine.randomness import Randomness
from engine.score.descent import GradientPlan, proportional, strict_records
from engine.score.optimiser import least_squares
from engine.score.records import ClippedGradient, Records, _norms, norm_limit


def weights_of(d, seed, size=1.0):
    w = np.random.default_rng(seed).normal(0, size, (d, d))
    np.fill_diagonal(w, 0)
    return w


@given(st.integers(2, 7), st.integers(0, 10_000), st.floats(0.05, 3.0), st.floats(0.1, 50.0))
@example(2, 299, 0.0625, 1.0)  # a huge row lost digits to its own unclipped gradient once
def test_strict_influence_never_exceeds_the_bound(d, seed, radius, size):
    """Adversarial neighbours: one row replaced by a huge one of either sign, or by 0."""
    rng = np.random.default_rng(seed)
    rows, w = rng.normal(0, 1, (5, d)), weights_of(d, seed)
    ones = np.ones(5)
    before = ClippedGradient(Records(rows, ones, 5), radius)(w)
    for new in (np.zeros(d), size * rng.normal(size=d), -size * rows[0], 1e6 * rows[1]):
        other = rows.copy()
        other[0] = new
        moved = np.linalg.norm(ClippedGradient(Records(other, ones, 5), radius)(w) - before)
        assert moved <= 2 * radius / 5 * (1 + 1e-9)


def test_strict_bound_is_attained():
    rows = np.array([[10.0, 10.0], [0.3, -0.1]])
    opposite = rows.copy()
    opposite[0] = [10.0, -10.0]
    w = np.zeros((2, 2))
    one, other = (Records(some, np.ones(2), 2) for some in (rows, opposite))
    moved = ClippedGradient(one, 1.0)(w) - ClippedGradient(other, 1.0)(w)
    assert np.linalg.norm(moved) == pytest.approx(2 * 1.0 / 2)


@pytest.mark.parametrize("d", [4, 8, 21])
def test_row_norms_and_unclipped_gradient(d):
    rows, w = np.random.default_rng(0).normal(size=(30, d)), weights_of(d, 1, 0.2)
    free = Records(rows, np.ones(30), 30)
    slope = least_squares(w, free.covariance())[1]
    np.fill_diagonal(slope, 0)
    np.testing.assert_allclose(ClippedGradient(free, 1e9)(w), slope, atol=1e-12)
    one_by_one, norms = np.zeros((d, d)), []
    for x in rows:
        g = -np.outer(x, x - x @ w)
        np.fill_diagonal(g, 0)
        norms.append(np.linalg.norm(g))
        one_by_one += g * min(1, 0.7 / norms[-1]) / 30
    np.testing.assert_allclose(_norms(rows, rows - rows @ w), norms, rtol=1e-12)
    np.testing.assert_allclose(ClippedGradient(free, 0.7)(w), one_by_one, atol=1e-12)


def test_numeric_data_keep_relative_variances():
    data = load_dataset("sem:er:4:4:gaussian", n=2_000)
    params = NoleaksParameters(epsilon=1e6)
    session = RunContext(Randomness(0), noleaks.ledger(data, params), names=data.names)
    plan = GradientPlan(params.total, proportional([1.0] * params.gradients))
    rows = strict_records(data, "ordinal", plan, session)
    ratio = rows.covariance() / np.cov(data.values.T, bias=True)
    assert ratio.max() / ratio.min() == pytest.approx(1, abs=0.1)
    assert norm_limit(0.5, 4) == pytest.approx(0.5 * math.sqrt(12))


def test_a_gradient_looks_again_at_every_row_that_matters():
    """Along a path of w, what is remembered changes nothing: also right after a leap."""
    rng = np.random.default_rng(5)
    some = Records(rng.normal(size=(400, 6)), rng.integers(1, 5, 400).astype(float), 1000)
    path = np.cumsum(rng.normal(scale=0.01, size=(60, 6, 6)), axis=0)
    path[40:] += rng.normal(size=(6, 6))
    limit = float(np.quantile(_norms(some.rows, some.rows - some.rows @ path[0]), 0.97))
    gradient, full = ClippedGradient(some, limit), 0
    for w in path:
        before = gradient._at
        x, r = some.rows, some.rows - some.rows @ w
        shrunk = some.weights * np.minimum(1.0, limit / np.maximum(_norms(x, r), limit))
        expected = -x.T @ (r * shrunk[:, None]) / some.n
        np.fill_diagonal(expected, 0.0)
        np.testing.assert_allclose(gradient(w), expected, atol=1e-12)
        full += gradient._at is not before
    assert 2 <= full < 30  # it does remember, and it does look again after the leap
