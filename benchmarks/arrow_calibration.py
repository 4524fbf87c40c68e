"""Are an arrow's probabilities frequencies? ``python -m benchmarks.arrow_calibration``.

Marginal PC on random networks (benchmarks.random_networks, seeds that nothing was tuned on): of
the arrows it draws with a probability in a range, the share that the true CPDAG has. An arrow
between columns that the truth does not join counts as wrong in "all", and is left out of "joined".
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from benchmarks.random_networks import random_dataset
from engine import run
from engine.graphs.metrics import truth_cpdag
from engine.marginals.diagnostics import MarginalDiagnostics

RANGES = (0.4, 0.5, 0.7, 0.9, 0.99, 1.0)
SIZES = (5, 8, 12, 20)  # nodes, with 1.2 edges each
FIRST = 7000  # seed; those from 5000 on set engine.algorithms.marginal_pc.TRUST
Claim = tuple[int, float, bool, bool]  # network, probability, joined in truth, arrow in truth


def claims(count: int, epsilon: float, n: int, first: int) -> Iterator[Claim]:
    """Every arrow drawn on ``count`` networks from seed ``first`` on."""
    for k in range(count):
        d = SIZES[k % len(SIZES)]
        data = random_dataset(d, round(1.2 * d), first + k, n)
        result = run("marginal_pc", data, epsilon=epsilon, delta=1e-6, seed=k, trace=False)
        found = result.diagnostics
        assert isinstance(found, MarginalDiagnostics)
        assert data.truth is not None
        true = truth_cpdag(data.truth, data.names)
        for (i, j), p in found.arrow_confidence.items():
            if result.matrix[i, j] and not result.matrix[j, i]:
                right = bool(true[i, j] and not true[j, i])
                yield k, p, bool(true[i, j] or true[j, i]), right


def main() -> None:
    """Print the shares, with standard errors over the networks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=60)
    parser.add_argument("--epsilons", default="0.1,1,10")
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=FIRST, help="seed of the first network")
    options = parser.parse_args()
    print("eps | probability | mean | arrows | right of all | right of joined")
    print("--- | --- | --- | --- | --- | ---")
    for epsilon in map(float, options.epsilons.split(",")):
        found = np.array(list(claims(options.networks, epsilon, options.n, options.first)), float)
        for low, high in zip((0.0, *RANGES[:-1]), RANGES, strict=True):
            some = found[(found[:, 1] > low) & (found[:, 1] <= high)]
            if len(some):
                cells = (_share(some), _share(some[some[:, 2] == 1]))
                mean = f"{some[:, 1].mean():.2f}"
                row = (f"{epsilon:g}", f"{low:g} to {high:g}", mean, f"{len(some)}", *cells)
                print(" | ".join(row), flush=True)


def _share(claims: np.ndarray) -> str:
    """Share of right arrows and its standard error: networks are drawn, not arrows."""
    if not len(claims):
        return "-"
    share = claims[:, 3].mean()
    off = [(claims[claims[:, 0] == k, 3] - share).sum() for k in np.unique(claims[:, 0])]
    return f"{share:.2f} ± {np.sqrt(np.sum(np.square(off))) / len(claims):.2f}"


if __name__ == "__main__":
    main()
