"""What no private algorithm can find: ``python -m benchmarks.edge_bound``.

Take an edge y -> x out of a network by giving x one distribution for all levels of y, stratum by
stratum of its other parents: the one that needs the fewest records changed, k in all. A mu-Gaussian
DP mechanism is k mu-Gaussian DP between the two tables (Dong, Roth and Su 2022, Theorem 2.14). Who
claims the edge with probability a where it is not finds it with probability at most

    power(a) = Phi( Phi^-1(a) + k mu ).

With a the same for every pair, the expected skeleton F1 is about
2 sum power / (sum power + a (pairs - edges) + edges); the table has its maximum over a. The
sampling of the rows is left out: it can only make things worse.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from engine import load_dataset
from engine.data.dataset import Dataset
from engine.privacy.accounting import mu_budget

DELTA = 1e-6


def records_apart(data: Dataset, child: str, parent: str) -> float:
    """How many records differ between the table and one without the edge, in expectation."""
    assert data.truth is not None
    names = list(data.names)
    rest = [names.index(p) for p in data.truth.predecessors(child) if p != parent]
    x, y = names.index(child), names.index(parent)
    key = np.zeros(data.n, np.int64)
    for column in rest:
        key = np.unique(key * data.cardinalities[column] + data.codes[:, column],
                        return_inverse=True)[1]  # fmt: skip
    shape = (int(key.max()) + 1, data.cardinalities[y], data.cardinalities[x])
    table = np.zeros(shape)
    np.add.at(table, (key, data.codes[:, y], data.codes[:, x]), 1.0)
    rows = table.sum(axis=2, keepdims=True)
    shares = table / np.maximum(rows, 1.0)
    overall = table.sum(axis=1, keepdims=True) / np.maximum(rows.sum(axis=1, keepdims=True), 1.0)
    # What x could follow instead, for all levels of y alike: one level's own rows, or all rows'.
    common = np.concatenate([shares, overall], axis=1)
    apart = [np.abs(rows * (shares - common[:, [k]])).sum(axis=(1, 2)) for k in range(shape[1] + 1)]
    return float(np.min(apart, axis=0).sum() / 2)


def best_f1(apart: NDArray[np.float64], pairs: int, mu: float) -> float:
    """The largest F1 over the rate of false claims."""
    edges = len(apart)
    rates = np.logspace(-9, 0, 400)[:-1]
    power = norm.cdf(norm.ppf(rates)[:, None] + mu * apart[None, :]).sum(axis=1)
    return float(np.max(2 * power / (power + rates * (pairs - edges) + edges)))


def main() -> None:
    """Print the bound for each network and epsilon, and the edges that set it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default="cancer,earthquake,survey,asia,sachs,child")
    parser.add_argument("--epsilons", default="1,0.1")
    options = parser.parse_args()
    epsilons = [float(e) for e in options.epsilons.split(",")]
    print(
        " | ".join(["dataset", *(f"F1, eps {e:g}" for e in epsilons), "records of weakest edges"])
    )
    for name in options.datasets.split(","):
        data = load_dataset(name)
        assert data.truth is not None
        edges = list(data.truth.edges)
        apart = np.array([records_apart(data, child, parent) for parent, child in edges])
        pairs = data.d * (data.d - 1) // 2
        bounds = [best_f1(apart, pairs, mu_budget(e, DELTA)) for e in epsilons]
        weakest = [f"{edges[i][0]} -> {edges[i][1]} {apart[i]:.0f}" for i in np.argsort(apart)[:3]]
        print(" | ".join([name, *(f"{b:.3f}" for b in bounds), ", ".join(weakest)]), flush=True)


if __name__ == "__main__":
    main()
