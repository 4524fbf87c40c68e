"""Draw research/pictures/marginal_pc.svg: both F1 of Marginal PC against epsilon and n, the floor.

``python -m scripts.utility_figure [--draws 20]``.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from engine import load_dataset, run
from engine.graphs.metrics import SCORES
from engine.marginals.sensitivity import all_pairs_change
from engine.privacy.accounting import mu_budget
from engine.studies.figures import Panel, Series, chart

OUT = Path(__file__).resolve().parent.parent / "research" / "pictures" / "marginal_pc.svg"
DELTA = 1e-6
SIZES = (5_000, 20_000, 100_000)
SHOWN = ("skeleton_f1", "directed_f1")
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)


def floor(d: int, n: int, epsilon: float) -> float:
    """Return the smallest correlation of two balanced binary variables that is 3 deviations above
    noise.

    One release of all pairs of d binary variables with the whole budget: the contrast is n times
    half the correlation, with noise sigma and sampling deviation sqrt(n) / 2.
    """
    variance = all_pairs_change((2,) * d, 0.0) / mu_budget(epsilon, DELTA) ** 2
    return min(1.0, 3 * math.sqrt(4 * variance / n**2 + 1 / n))


def curves(name: str, n: int, draws: int) -> dict[str, list[float]]:
    """Return mean skeleton and directed F1 at each epsilon."""
    data = load_dataset(name, n=n, seed=0)
    out: dict[str, list[float]] = {score: [] for score in SHOWN}
    for epsilon in EPSILONS:
        runs = [
            run("marginal_pc", data, epsilon=epsilon, seed=s, trace=False) for s in range(draws)
        ]
        for score, means in out.items():
            means.append(sum(getattr(r.metrics_all, score) for r in runs if r.metrics_all) / draws)
    return out


def lines(values: list[list[float]]) -> list[Series]:
    """Return one curve over epsilon for each size."""
    return [
        Series(f"n = {n:,}", EPSILONS, of_size, style=k)
        for k, (n, of_size) in enumerate(zip(SIZES, values, strict=True))
    ]


def main() -> None:
    """Measure and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    draws = parser.parse_args().draws
    panels = []
    for name in ("sachs", "alarm"):
        found = [curves(name, n, draws) for n in SIZES]
        print(name, *zip(SIZES, found, strict=True), sep="\n  ", flush=True)
        for score in SHOWN:
            title = f"{name.title()}: {SCORES[score]}"
            values = [one[score] for one in found]
            panels.append(Panel(title, lines(values), "total ε", y_range=(0, 1.02)))
    floors = [[floor(37, n, e) for e in EPSILONS] for n in SIZES]
    title = "Smallest visible correlation, d = 37"
    panels.insert(len(SHOWN), Panel(title, lines(floors), "total ε", y_log=True))  # fills a row
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(chart(panels, "Marginal PC", columns=3), encoding="utf-8")


if __name__ == "__main__":
    main()
