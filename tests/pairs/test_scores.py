"""Scores and regression against plain formulas, and what they cost."""

import time
import tracemalloc

import numpy as np
import pytest
from scipy.stats import spearmanr

from engine.pairs.dependence import hsic, kendall, log_iqr, spearman
from engine.pairs.regression import Ridge, feature_count, features


def kernel(a, width):
    return np.exp(-((a[:, None] - a) ** 2) / (2 * width**2))


@pytest.mark.parametrize("decimals", [0, 1, 6])
def test_rank_scores_with_and_without_ties(decimals):
    rng = np.random.default_rng(0)
    a = rng.normal(size=200).round(decimals)
    b = (a + rng.normal(size=200)).round(decimals)
    upper = np.triu_indices(200, 1)
    signs = (np.sign(a[:, None] - a) * np.sign(b[:, None] - b))[upper]
    assert kendall(a, b) == pytest.approx(abs(signs.sum()) / len(signs), abs=1e-12)
    if decimals == 6:  # without ties the midrank form is the paper's
        assert spearman(a, b) == pytest.approx(abs(spearmanr(a, b).statistic), abs=1e-12)


def test_hsic_is_the_trace():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 150))
    centre = np.eye(150) - 1 / 150
    trace = np.trace(kernel(a, 0.3) @ centre @ kernel(b, 0.7) @ centre)
    assert hsic(a, b, 0.3, 0.7) == pytest.approx(trace / 149**2, rel=1e-10)
    assert hsic(a, np.ones(150), 0.3, 0.7) == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
def test_hsic_of_8000_rows_needs_neither_time_nor_memory():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(2, 8000))
    hsic(a[:10], b[:10], 0.3, 0.3)  # compiled
    tracemalloc.start()
    start = time.process_time()
    hsic(a, b, 0.3, 0.3)
    seconds = time.process_time() - start
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seconds < 2
    assert peak < 5e6  # 64 million entries of one matrix would take 512 MB


def test_iqr():
    assert log_iqr(np.arange(101.0)) == pytest.approx(np.log(50))
    assert log_iqr(np.ones(20)) < -600


@pytest.mark.parametrize("width", [0.1, 0.3, 2.0])
def test_features_are_the_kernel(width):
    x = np.linspace(-1, 1, 60)
    phi = features(x, width)
    assert phi.shape == (60, feature_count(width))
    assert np.abs(phi @ phi.T - kernel(x, width)).max() < 1e-13
    assert (phi**2).sum(axis=1).max() <= 1 + 1e-14


@pytest.mark.parametrize("ridge", [1e-5, 1e-2, 1.0])
def test_ridge_is_kernel_ridge(ridge):
    """Equation 5: (K + n lambda / 2)^-1 y, from one factorisation for every lambda."""
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, 120)
    y = np.clip(np.sin(3 * x) + 0.1 * rng.normal(size=120), -1, 1)
    fit = Ridge.fit(x, y, 0.3)
    solver = np.linalg.inv(kernel(x, 0.3) + 120 * ridge / 2 * np.eye(120))
    smooth = kernel(x, 0.3) @ solver
    assert fit.predict(x, ridge) == pytest.approx(np.clip(smooth @ y, -1, 1), abs=1e-8)
    error = np.mean((y - smooth @ y) ** 2) / (1 - np.trace(smooth) / 120) ** 2
    assert fit.cross_validation(ridge) == pytest.approx(error, rel=1e-6)


def test_weights_count_rows():
    x, y, times = np.array([-0.5, 0.2, 0.9]), np.array([0.1, -0.4, 0.6]), np.array([1.0, 3.0, 2.0])
    whole = Ridge.fit(np.repeat(x, [1, 3, 2]), np.repeat(y, [1, 3, 2]), 0.5)
    assert Ridge.fit(x, y, 0.5, times).predict(x, 0.01) == pytest.approx(whole.predict(x, 0.01))
