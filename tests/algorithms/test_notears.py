"""NOTEARS: h(W), gradients, pruning, and recovery of simulated models."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from engine import load_dataset, run
from engine.graphs.cpdag import matrix_of
from engine.graphs.orientation import mpdag_of_dag
from engine.score.acyclicity import acyclicity, is_acyclic, prune
from engine.score.encodings import encoding_of, level_counts, midpoints
from engine.score.gram import covariance, second_moments
from engine.score.learned import learned_by_correlation
from engine.score.optimiser import least_squares, penalised


def random_weights(d, seed, share=0.6):
    rng = np.random.default_rng(seed)
    w = rng.normal(0, 0.7, (d, d)) * (rng.random((d, d)) < share)
    np.fill_diagonal(w, 0)
    return w


def test_h_of_a_two_cycle_in_closed_form():
    """exp of [[0, a], [b, 0]] has trace 2 cosh(sqrt(a b))."""
    w = np.array([[0, 0.8], [1.1, 0]])
    assert acyclicity(w)[0] == pytest.approx(2 * np.cosh(0.8 * 1.1) - 2, rel=1e-12)


@given(st.integers(2, 7), st.integers(0, 10_000))
def test_h_is_0_exactly_for_acyclic_graphs(d, seed):
    w = random_weights(d, seed)
    h = acyclicity(w)[0]
    assert acyclicity(np.triu(w))[0] == pytest.approx(0, abs=1e-9)
    assert h >= -1e-9
    if not is_acyclic(w != 0):
        assert h > 1e-12


def test_h_does_not_overflow():
    h, slope = acyclicity(np.full((4, 4), 1e6))
    assert np.isfinite(h)
    assert np.isfinite(slope).all()


@pytest.mark.parametrize("matrix_penalty", [False, True])
def test_inner_problem_gradient_against_finite_differences(matrix_penalty):
    rng = np.random.default_rng(0)
    moments, parts = np.cov(rng.normal(size=(5, 40))), rng.uniform(0.1, 0.5, 50)
    l1 = rng.uniform(0, 1, (5, 5)) if matrix_penalty else 0.1

    def inner(at):
        return penalised(at, lambda w: least_squares(w, moments), l1, 3.0, 0.7, 5)

    numeric = approx_fprime(parts, lambda at: inner(at)[0], 1e-7)
    np.testing.assert_allclose(inner(parts)[1], numeric, rtol=1e-4, atol=1e-4)


@given(st.integers(2, 8), st.integers(0, 10_000), st.floats(0.01, 2.0))
def test_pruning_ends_all_cycles_with_the_least_threshold(d, seed, level):
    w = random_weights(d, seed, share=0.9)
    dag, factor = prune(w, level)
    assert is_acyclic(dag)
    assert factor >= 1
    kept = np.abs(w) >= level
    if is_acyclic(kept):
        assert (dag == kept).all()
    else:
        assert (dag == (np.abs(w) > factor * level * (1 + 1e-12))).all() or factor > 1
        # the edge at the raised threshold closes a cycle
        with_last = np.abs(w) >= factor * level * (1 - 1e-12)
        assert not is_acyclic(with_last)


def test_pruning_by_no_threshold_keeps_the_order_of_large_weights():
    w = np.array([[0.0, 90.0, 0.0], [50.0, 0.0, 70.0], [0.0, 0.0, 0.0]])
    dag, _ = prune(w, 0.0)
    assert dag.tolist() == [[False, True, False], [False, False, True], [False, False, False]]


def test_partial_correlation_rule_drops_what_other_parents_explain():
    """x -> y -> z and a spurious x -> z: its partial correlation given y is 0."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    y = x + rng.normal(size=20_000)
    z = y + rng.normal(size=20_000)
    w = np.array([[0, 1, 0.3], [0, 0, 1], [0, 0, 0]], dtype=float)
    found = learned_by_correlation(w, np.cov([x, y, z]), 0.08)
    assert found.dag.tolist() == [[False, True, False], [False, False, True], [False] * 3]


# Zheng et al. 2018, section 5 (ER2, Gaussian, n = 1000), shows its SHD as plots only: its bound
# is half the number of nodes, with room for few seeds.
@pytest.mark.parametrize(
    ("name", "f1", "shd"),
    [
        ("er:10:20:gaussian", 0.85, 5),
        *((f"sf:10:10:{k}", 0.8, 10) for k in ("exponential", "gumbel")),
    ],
)
def test_recovers_simulated_models(name, f1, shd):
    """Without the last dual steps: they take two thirds of the time and move no edge."""
    scores = [score(f"sem:{name}", k) for k in range(3)]
    assert np.mean([s[0] for s in scores]) >= f1
    assert np.mean([s[1] for s in scores]) <= shd


def score(name, seed):
    """Directed F1 and SHD of the learned DAG itself, as NOTEARS' paper counts them."""
    data = load_dataset(name, n=1_000, seed=seed)
    result = run("notears", data, trace=False, tolerance=1e-3)
    truth, found = matrix_of(data.truth, data.names), prune(result.diagnostics.weights, 0.3)[0]
    turned = (found & truth.T).sum()
    shd = ((found | found.T) != (truth | truth.T)).sum() // 2 + turned
    assert (mpdag_of_dag(found) == result.matrix).all()
    return 2 * (found & truth).sum() / (found.sum() + truth.sum()), int(shd)


def test_diagnostics_trace_and_guarantee():
    data = load_dataset("asia", n=20_000)
    result = run("notears", data)
    assert result.metrics_all.skeleton_f1 >= 0.8
    assert result.proven.epsilon == np.inf
    assert result.diagnostics.weights.shape == (8, 8)
    assert result.diagnostics.h[-1] <= 1e-5
    assert len(result.diagnostics.objective) == sum(s.kind == "solve" for s in result.steps)
    assert result.diagnostics.oracle.f1 >= 0
    own = load_dataset("cancer", n=200)
    object.__setattr__(own, "truth", None)
    assert run("notears", own).diagnostics.oracle is None


def test_gram_matrix_equals_the_plain_one_and_published_midpoints():
    data = load_dataset("sachs", n=70_000)  # more than one block
    kinds = [c / data.n for c in level_counts(data)]
    for kind in ("ordinal", "ridit", "frequency"):
        encoding = encoding_of(data, kind, kinds)
        x = np.stack([s[c] for s, c in zip(encoding.scores, data.codes.T, strict=True)], axis=1)
        assert np.abs(x).max() <= 1
        found = covariance(second_moments(data, encoding), encoding)
        np.testing.assert_allclose(found, np.cov(x.T, bias=True), atol=1e-12)
    # frequencies .5, .2, .3 in falling order: intervals (0, .5), (.5, .8), (.8, 1)
    exact = midpoints(np.array([0.2, 0.5, 0.3]), by_frequency=True)
    np.testing.assert_allclose((exact + 1) / 2, [0.9, 0.25, 0.65])
    in_order = midpoints(np.array([0.2, 0.5, 0.3]), by_frequency=False)
    np.testing.assert_allclose((in_order + 1) / 2, [0.1, 0.45, 0.85])
