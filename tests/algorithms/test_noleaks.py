"""NOLEAKS: what the published clip does not bound, what the strict one does."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine import load_dataset, run
from engine.algorithms import noleaks
from engine.algorithms.noleaks import NoleaksParameters
from engine.context import RunContext
from engine.privacy.accounting import Guarantee, analytic_gaussian_sigma, rho_budget
from engine.privacy.ledger import Ledger
from engine.randomness import Randomness
from engine.score.descent import (
    GradientPlan,
    claimed_sensitivity,
    defended_sensitivity,
    proportional,
    published_gradient,
    strict_records,
)
from engine.score.encodings import encoding_of
from engine.score.optimiser import least_squares
from engine.score.records import ClippedGradient, Records, _norms, norm_limit, records


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


def test_folded_rows_give_the_gradient_of_all_rows():
    data = load_dataset("asia", n=3_000)
    folded = records(data, encoding_of(data))
    assert len(folded.rows) < 100
    every = Records(2.0 * data.codes - 1, np.ones(3_000), 3_000)
    w = weights_of(8, 0, 0.5)
    np.testing.assert_allclose(
        ClippedGradient(folded, 1.5)(w), ClippedGradient(every, 1.5)(w), atol=1e-12
    )


def test_published_clip_worst_case_is_its_whole_range():
    """One row of a tiny dataset moves every entry from one clip to the other."""
    d, clip = 2, 2.0
    w = np.zeros((d, d))

    def clipped(rows):
        out = np.clip(least_squares(w, rows.T @ rows / len(rows))[1], -clip, clip)
        np.fill_diagonal(out, 0)
        return out

    rows = np.vstack([[[100.0, 100.0]], np.zeros((9, 2))])
    other = rows.copy()
    other[0, 1] = -100
    moved = np.linalg.norm(clipped(rows) - clipped(other))
    assert moved == pytest.approx(defended_sensitivity(clip, d))
    assert moved == pytest.approx(10 * claimed_sensitivity(clip, d, 10))


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 3.0, 100.0])
def test_cap_is_never_exceeded_and_nearly_used(epsilon):
    data = load_dataset("cancer", n=2_000)
    for encoding in ("ordinal", "ridit"):
        result = run("noleaks", data, epsilon=epsilon, delta=1e-5, gradients=30, encoding=encoding)
        assert result.status == "complete"
        assert len(result.ledger) == 31
        used = sum(charge.rho for charge in result.ledger)
        assert used == pytest.approx(rho_budget(epsilon, 1e-5), rel=1e-6)
        assert used <= rho_budget(epsilon, 1e-5) * (1 + 1e-9)
        assert result.spent == Guarantee(epsilon, 1e-5)
        assert result.claimed is None


def test_strict_noise_scale():
    """Each gradient's noise is Delta / sqrt(2 rho_k): checked on what was drawn."""
    plan = GradientPlan(Guarantee(1.0, 1e-6), proportional([1, 2, 3]))
    assert sum(plan.shares) == pytest.approx(1)
    sigmas = plan.sigmas(0.3)
    rho = [0.3**2 / (2 * s**2) for s in sigmas]
    assert sum(rho) == pytest.approx(0.95 * rho_budget(1.0, 1e-6))
    assert rho[1] / rho[0] == pytest.approx(4)

    data = load_dataset("asia", n=1_000)
    session = RunContext(Randomness(0), Ledger(), names=data.names)
    drawn = [
        published_gradient(np.zeros((8, 8)), np.eye(8), 2.0, 0.7, session, k) for k in range(300)
    ]
    off = ~np.eye(8, dtype=bool)
    assert np.std([g[off] for g in drawn]) == pytest.approx(0.7, rel=0.03)
    assert all((np.diag(g) == 0).all() for g in drawn)


def test_published_calibration_and_totals():
    data = load_dataset("asia", n=5_000)
    result = run("noleaks", data, guarantee="published", epsilon=0.01, delta=1e-4)
    gradients = [c for c in result.ledger if c.label == "gradient"]
    stated = claimed_sensitivity(2.0, 8, 5_000)
    assert stated == pytest.approx(math.sqrt(56) * 4 / 5_000)
    assert gradients[0].event.sigma == pytest.approx(analytic_gaussian_sigma(0.01, 1e-4, stated))
    # what is charged is the whole range of the clip, n times the claim
    assert gradients[0].event.sensitivity == pytest.approx(5_000 * stated)
    assert result.claimed.epsilon == pytest.approx(0.01 * len(gradients))
    assert result.claimed.delta == pytest.approx(1e-4 * len(gradients))
    assert result.spent.epsilon == math.inf
    assert "first 1,000 rows" in result.ledger[0].event.describe()


def test_without_noise_strict_comes_near_its_parent():
    data = load_dataset("asia", n=50_000)
    free = run("noleaks", data, epsilon=1e7, gradients=1_500, clip=100.0, trace=False)
    parent = run("notears", data, rule="weight", trace=False)
    assert free.metrics.skeleton_f1 >= parent.metrics.skeleton_f1 - 0.08


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
