"""Simulated linear structural equation models with a known graph (NOTEARS, section 5).

Graphs are Erdos-Renyi or scale-free, weights are uniform in +-[0.5, 2], and noise is Gaussian,
exponential or Gumbel with variance 1 and mean 0. The model declares the bounds as a multiple of its
standard deviations about 0, a public fact that depends on no row of the sample.
"""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from engine.data.dataset import Dataset
from engine.errors import InputError, show

GRAPHS = ("er", "sf")
MAX_NODES = 200
SPREAD = 4.0  # declared bounds, in standard deviations of the model
LEVELS = 5
_GUMBEL = 6**0.5 / np.pi  # scale for which its variance is 1

Shape = tuple[int, int]
# Noise with mean 0 and variance 1.
NOISES: dict[str, Callable[[np.random.Generator, Shape], NDArray[np.float64]]] = {
    "gaussian": lambda rng, shape: rng.standard_normal(shape),
    "exponential": lambda rng, shape: rng.standard_exponential(shape) - 1.0,
    "gumbel": lambda rng, shape: rng.gumbel(-np.euler_gamma * _GUMBEL, _GUMBEL, shape),
}


def stream(kind: str, seed: int) -> np.random.Generator:
    """Return the generator of a sample; the noise of a run with the same seed is independent."""
    key = int.from_bytes(kind.encode(), "big")
    return np.random.default_rng(np.random.SeedSequence(int(seed), spawn_key=(key,)))


def random_dag(nodes: int, edges: int, graph: str, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return the adjacency [i, j] = i -> j of a random DAG, with exactly ``edges`` edges for "er".

    For "sf" each node, in random order, gets round(edges / nodes) edges to earlier ones chosen in
    proportion to degree (Barabasi and Albert); the older node is the parent.
    """
    out = np.zeros((nodes, nodes), dtype=bool)
    if graph == "er":
        rows, columns = np.triu_indices(nodes, 1)
        chosen = rng.choice(len(rows), min(edges, len(rows)), replace=False)
        out[rows[chosen], columns[chosen]] = True
    else:
        each = max(1, round(edges / nodes))
        for new in range(1, nodes):
            degree = 1.0 + out[:new].sum(axis=1) + out[:, :new].sum(axis=0)
            count = min(each, new)
            out[rng.choice(new, count, replace=False, p=degree / degree.sum()), new] = True
    shuffled = rng.permutation(nodes)
    return out[np.ix_(shuffled, shuffled)]


def random_weights(dag: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw weights uniform in [-2, -0.5] and [0.5, 2] on the edges, 0 elsewhere."""
    size = rng.uniform(0.5, 2.0, dag.shape)
    return np.where(dag, size * rng.choice((-1.0, 1.0), dag.shape), 0.0)


def rows_of(
    weights: NDArray[np.float64], noise: str, n: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw n rows (n, d) of x = x W + noise, parents first."""
    values = NOISES[noise](rng, (n, len(weights)))
    for j in nx.topological_sort(nx.from_numpy_array(weights != 0, create_using=nx.DiGraph)):
        parents = np.flatnonzero(weights[:, j])
        if parents.size:
            values[:, j] += values[:, parents] @ weights[parents, j]
    return values


def model_spread(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the model's standard deviations (d,), for noise with variance 1."""
    mixing = np.linalg.inv(np.eye(len(weights)) - weights)
    return np.asarray(np.sqrt(np.sum(mixing**2, axis=0)))


def simulate_sem(
    graph: str, nodes: int, edges: int, noise: str, n: int = 100_000, seed: int = 0
) -> Dataset:
    """Draw a graph, weights and n rows of public data with true DAG, numeric values and bounds.

    The seed determines all of them, and the weights do not depend on n. Raises InputError for an
    invalid size, graph or noise.
    """
    if graph not in GRAPHS or noise not in NOISES:
        raise InputError(f"A graph is one of {', '.join(GRAPHS)}, its noise {', '.join(NOISES)}.")
    if not 2 <= nodes <= MAX_NODES or not 0 < edges <= nodes * (nodes - 1) // 2:
        raise InputError(
            f"A simulated model has 2 to {MAX_NODES} nodes and at least 1 edge, at most one for "
            f"each pair of nodes, not {nodes} and {edges}."
        )
    structure, sampling = stream("sem", seed).spawn(2)
    weights = random_weights(random_dag(nodes, edges, graph, structure), structure)
    values = rows_of(weights, noise, n, sampling)
    names = [f"X{j}" for j in range(nodes)]
    truth = nx.from_numpy_array(weights != 0, create_using=nx.DiGraph, nodelist=names)
    bounds = [(-SPREAD * float(s), SPREAD * float(s)) for s in model_spread(weights)]
    return Dataset.from_values(
        values,
        bounds,
        names,
        bins=LEVELS,
        name=f"sem:{graph}:{nodes}:{edges}:{noise}",
        truth=truth,
        public=True,
        notes=(
            f"The rows were simulated from a linear model with {truth.number_of_edges()} edges "
            f"and {noise} noise, seed {seed}; bounds are {SPREAD:g} standard deviations of it.",
        ),
    )


def parse_name(name: str) -> tuple[str, int, int, str]:
    """Parse ("er", 10, 20, "gaussian") from "sem:er:10:20:gaussian"; InputError otherwise."""
    parts = name.split(":")
    if len(parts) == 5 and all(part.isdecimal() and len(part) < 10 for part in parts[2:4]):
        return parts[1], int(parts[2]), int(parts[3]), parts[4]
    raise InputError(
        f"{show(name)} does not name a simulated model; write it as sem:er:10:20:gaussian, that "
        f"is graph ({', '.join(GRAPHS)}), nodes, edges, noise ({', '.join(NOISES)})."
    )
