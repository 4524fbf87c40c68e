"""Simulated linear models: graphs, noise, bounds, numeric datasets."""

import pickle

import networkx as nx
import numpy as np
import pytest

from engine import Dataset, load_dataset, run
from engine.data import simulated as sem
from engine.errors import InputError


@pytest.mark.parametrize("graph", sem.GRAPHS)
def test_graphs_are_acyclic_and_shuffled(graph):
    dags = [sem.random_dag(12, 24, graph, np.random.default_rng(seed)) for seed in range(20)]
    for dag in dags:
        assert nx.is_directed_acyclic_graph(nx.from_numpy_array(dag, create_using=nx.DiGraph))
    edges = {"er": 24, "sf": 21}  # node k of the latter sends min(2, k) edges back
    assert {int(dag.sum()) for dag in dags} == {edges[graph]}
    # Labels say nothing of the order: some edges go up, some down.
    assert all(np.triu(dag).any() and np.tril(dag).any() for dag in dags)


def test_scale_free_graphs_have_hubs():
    def largest(graph):
        dags = (sem.random_dag(50, 100, graph, np.random.default_rng(k)) for k in range(10))
        return float(np.mean([(dag.sum(0) + dag.sum(1)).max() for dag in dags]))

    assert largest("sf") > 1.5 * largest("er")


@pytest.mark.parametrize("noise", sem.NOISES)
def test_noise_has_mean_0_and_variance_1(noise):
    drawn = sem.NOISES[noise](np.random.default_rng(0), (200_000, 1))
    assert abs(drawn.mean()) < 0.01
    assert drawn.var() == pytest.approx(1, abs=0.03)


def test_rows_follow_the_model():
    rng = np.random.default_rng(1)
    weights = sem.random_weights(sem.random_dag(6, 9, "er", rng), rng)
    assert ((weights == 0) | ((abs(weights) >= 0.5) & (abs(weights) <= 2))).all()
    values = sem.rows_of(weights, "gumbel", 200_000, rng)
    mixing = np.linalg.inv(np.eye(6) - weights)
    expected = mixing.T @ mixing
    spread = sem.model_spread(weights)
    assert spread == pytest.approx(np.sqrt(np.diag(expected)))
    np.testing.assert_allclose(
        np.cov(values.T) / np.outer(spread, spread), expected / np.outer(spread, spread), atol=0.03
    )


def test_dataset():
    data = load_dataset("sem:er:10:20:gaussian", n=2_000, seed=3)
    assert data.public
    assert data.truth.number_of_edges() == 20
    assert data.values.shape == data.codes.shape == (2_000, 10)
    assert data.cardinalities == (5,) * 10
    for j, (low, high) in enumerate(data.bounds):
        inside = np.clip((data.values[:, j] - low) / (high - low) * 5, 0, 4.999).astype(int)
        assert (inside == data.codes[:, j]).all()
    assert run("pc", data).metrics_all is not None  # constraint-based methods read the codes


def test_seed_fixes_everything_and_n_changes_only_the_rows():
    asked = ((500, 1), (500, 1), (500, 2), (900, 1))
    made = (load_dataset("sem:sf:8:16:gumbel", n=n, seed=seed) for n, seed in asked)
    one, same, other, longer = made
    assert one.fingerprint == same.fingerprint != other.fingerprint
    assert one.bounds == longer.bounds
    assert nx.utils.graphs_equal(one.truth, longer.truth)


BOX = ((0, 1), (0, 1))


def test_fingerprint_covers_values_and_bounds():
    values = np.array([[0.1, 0.2], [0.3, 0.9]])
    one = Dataset.from_values(values, BOX)
    nudged = values * (1 + 1e-9)
    assert one.fingerprint == Dataset.from_values(values, BOX).fingerprint
    assert one.fingerprint != Dataset.from_values(nudged, BOX).fingerprint
    assert one.fingerprint != Dataset.from_values(values, ((0.0, 1.0), (0.0, 1.1))).fingerprint
    assert one.fingerprint != Dataset.from_codes(one.codes, one.names, one.levels).fingerprint


def test_values_stay_read_only_through_a_pickle():
    data = pickle.loads(pickle.dumps(load_dataset("sem:er:4:3:gaussian", n=10)))
    with pytest.raises(ValueError, match="read-only"):
        data.values[0, 0] = 1.0


CELLS = [[0.0, 0.5], [1.0, 0.5]]


@pytest.mark.parametrize(
    ("values", "bounds"),
    [
        *(([[cell, 1.0], [0.0, 1.0]], BOX) for cell in (np.nan, np.inf)),
        *((values, BOX) for values in ([1.0, 2.0], np.empty((0, 2)))),
        *((CELLS, ((0, 1), *second)) for second in ((), ((1, 1),), ((0, np.inf),))),
    ],
)
def test_bad_values_and_bad_bounds(values, bounds):
    with pytest.raises(InputError):
        Dataset.from_values(values, bounds)


TWO = {"codes": [[0, 1], [1, 0]], "names": ("a", "b"), "levels": (("x", "y"),) * 2}
FAULTS = {
    "Names are different": [{"names": ("a", "a")}, {"names": ("a", " ")}, {"names": ("a",)}],
    "no level twice": [{"levels": (("x", "y"), some)} for some in ((), ("x", "x"))],
    "below its number of levels": [{"levels": (("x", "y"), ("x",))}, {"codes": [[0], [1]]}],
    "a value for every cell": [{"values": CELLS[:1], "bounds": BOX}],
    "numeric data have none": [{"values": CELLS, "bounds": BOX, "weights": [1, 1]}],
    "whole numbers of at least 1": [{"weights": [1, 0]}, {"weights": [1]}],
    "exactly the column names": [{"truth": nx.DiGraph([("a", "c")])}],
}


@pytest.mark.parametrize("said", FAULTS)
def test_facts_that_do_not_fit_are_refused_by_name(said):
    for change in FAULTS[said]:
        with pytest.raises(InputError, match=said):
            Dataset(**{**TWO, **change})


SIZES = ("1:1", "10:99", "10:0", "-5:2", "900:9")
OTHERS = ("", "er:10:20", "xx:10:20:gaussian", "er:10:20:cauchy")


@pytest.mark.parametrize("name", [*OTHERS, *(f"er:{size}:gaussian" for size in SIZES)])
def test_bad_names(name):
    with pytest.raises(InputError):
        load_dataset(f"sem:{name}", n=10)
