"""Print the counterexamples of privacy_proofs.md: python -m scripts.counterexamples.

Each one is computed here from the definitions, by the engine's own statistics, and takes seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.stats import laplace, norm

from engine import load_dataset, run
from engine.privacy.accounting import compose, compose_any_pure
from engine.statistics.base import p_sensitivity
from engine.statistics.kendall import KENDALL
from engine.statistics.likelihood import G2
from engine.statistics.spearman import spearman_z
from engine.teaching.neighbours import counterexample
from engine.theory import affordable_iterations

BEFORE, AFTER = (0, 1, 1), (1, 1, 0)  # the one record's cell: stratum, x, y


def kendall() -> None:
    """Show that one record decides whether a stratum of 49,960 rows counts at all."""
    found = counterexample()
    z = {place.cell: place.z for place in found.places}
    code, curate = found.claims.values()
    print(f"  strata of 40 and 49,960 rows: published p {found.p[0]:.2g} -> {found.p[1]:.3f}")
    print(f"  change of p {found.p[1] - found.p[0]:.3f}; Priv-PC's code calibrates to", end=" ")
    print(f"{code:.4f}, CURATE's to {curate:.5f}")
    print(f"  strict |z| {z[BEFORE]:.4f} -> {z[AFTER]:.4f}, within its bound {found.bound:.4f}")


def published_noise() -> None:
    """Print the information of one published release about the record above."""
    n, epsilon = 50_000, 1.0
    scale = 2 * p_sensitivity(6 / math.sqrt(n)) / epsilon  # Priv-PC's examine noise
    gap = 0.452
    print(f"  examine noise has scale {scale:.4f}; p moves by {gap}: a step that is called")
    print(f"  epsilon = {epsilon / 2:g} costs {gap / scale:.1f}")


def spearman() -> None:
    """Compare the published bound c sqrt(k) / sqrt(n - k) for k strata with the change by one
    record."""
    z = []
    for cell in (BEFORE, AFTER):
        table = counterexample().rest
        table[cell] += 1
        z.append(abs(spearman_z(table, "published")))
    print(f"  published z {z[0]:.2f} -> {z[1]:.2f}; 31 sqrt(2) / sqrt(n - 2) =", end=" ")
    print(f"{31 * math.sqrt(2 / (50_000 - 2)):.3f}")


def curate_constant() -> None:
    """Compare CURATE's 0.36267 / sqrt(n) with the change on an unconditional 2 x 2 table."""
    n = 10_000
    table = np.array([[[n - 1, 0], [1, 0]]])  # S = 0
    neighbour = np.array([[[n - 1, 0], [0, 1]]])  # S = n - 1
    p = [KENDALL.score(t, "strict").p for t in (table, neighbour)]
    print(f"  n = {n}: p {p[0]:.5f} -> {p[1]:.5f}, change {abs(p[0] - p[1]):.5f};", end=" ")
    print(f"its code says {0.36267 / math.sqrt(n):.5f}, eq. 16 {0.5129 / math.sqrt(n):.5f}")


def greedy_distance() -> None:
    """Show that EM-PC's utility, the greedy number of records to flip, is not 1-sensitive."""
    for rows in ([[60, 3], [15, 1]], [[60, 2], [15, 2]]):
        table = np.array([rows])
        p = G2.score(table).p
        distance = G2.records_to_flip(table, 0.01, int(table.sum()))
        print(f"  {rows}: G2's p {p:.3f}, greedy distance {distance} at alpha = .01,", end=" ")
        print(f"{G2.records_to_flip(table, 0.05, int(table.sum()))} at .05")


def svt_threshold() -> None:
    """Show that a threshold refreshed with Gaussian noise is not pure DP: its privacy loss
    grows."""
    epsilon = 1.0
    scale, query, k = 2 / epsilon, 4 / epsilon, 100
    t = np.linspace(-60, 200, 400_001)
    for name, density in (
        ("Laplace", laplace(0, scale).pdf(t)),
        ("Gaussian", norm(0, scale).pdf(t)),
    ):
        # ln P(k queries at q all answered below); the neighbour's queries are at q + 1
        def log_p(q: float, density: np.ndarray = density) -> float:
            return math.log(np.sum(density * laplace(0, query).cdf(t - q) ** k))

        losses = [log_p(q) - log_p(q + 1) for q in (0, 5, 10)]
        print(f"  {name} threshold, {k} answers below, queries at T, T + 5, T + 10: loss", end=" ")
        print(", ".join(f"{loss:.2f}" for loss in losses), "(the threshold's share is 0.50)")


def ordered_pairs() -> None:
    """Show that ordered pairs need more than the e_i C(d - 2, i) tests that CURATE plans."""
    data = load_dataset("cancer", n=100_000, seed=0)
    result = run("pc", data)
    print(f"  Cancer, order 0: planned {10}, our loop {result.ci_tests_by_order[0]};", end=" ")
    print(f"asking both (x, y) and (y, x) takes {ordered_tests()}")


def ordered_tests() -> int:
    """Count order-0 tests of the textbook loop over ordered pairs on Cancer."""
    data = load_dataset("cancer", n=100_000, seed=0)
    result = run("pc", data, max_order=0)
    adjacent = {frozenset(p) for p in result.skeleton}
    d, names = data.d, data.names
    gone: set[frozenset[str]] = set()
    count = 0
    for x in range(d):
        for y in range(d):
            pair = frozenset((names[x], names[y]))
            if x == y or pair in gone:
                continue
            count += 1
            if pair not in adjacent:
                gone.add(pair)
    return count


def multiplicative() -> None:
    """Show that the multiplicative schedule falls if epsilon_0 is below 1."""
    initial = 0.1
    count = math.floor(affordable_iterations(1.0, initial, "multiplicative"))
    values = [initial ** (1 + k / count) for k in (0, count // 2, count - 1)]
    print(f"  epsilon_0 = {initial}, {count} iterations:", end=" ")
    print(" -> ".join(f"{v:.4f}" for v in values))


def composition() -> None:
    """Compose 100 steps of 0.1 at delta = 1e-6."""
    steps = [0.1] * 100
    for method in ("basic", "advanced", "curate", "zcdp", "pld"):
        print(f"  {method} {compose(steps, 1e-6, method):.4f}", end=";")
    print(f"  any pure step by PLD {compose_any_pure(steps, 1e-6):.4f}")


def amplification() -> None:
    """Show that total times rate is not amplification."""
    epsilon, rate = 2.0, 0.1
    right = math.log1p(rate * math.expm1(epsilon))
    print(f"  epsilon = {epsilon}, rate = {rate}: times rate {rate * epsilon:.3f},", end=" ")
    print(f"ln(1 + rate (e^epsilon - 1)) = {right:.3f}")


SECTIONS: tuple[tuple[str, Callable[[], None]], ...] = (
    ("Kendall's published p-value", kendall),
    ("Cost in one release", published_noise),
    ("Spearman's published statistic", spearman),
    ("CURATE's sensitivity constant", curate_constant),
    ("EM-PC's greedy distance", greedy_distance),
    ("A Gaussian threshold in the sparse vector technique", svt_threshold),
    ("CURATE's number of tests", ordered_pairs),
    ("CURATE's multiplicative schedule", multiplicative),
    ("Composition", composition),
    ("Sub-sampling", amplification),
)


def main() -> None:
    """Print every section."""
    for title, show in SECTIONS:
        print(title)
        show()


if __name__ == "__main__":
    main()
