"""Draw docs/pictures/marginal_pc.svg: F1 of Marginal PC against epsilon and n, and the floor.

``python -m scripts.utility_figure [--draws 3]``.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from engine import load_dataset, run
from engine.marginals.contrasts import all_pairs_change
from engine.privacy.accounting import mu_budget
from engine.studies.figures import COLOURS, DASHES, Panel, Series, chart

OUT = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "marginal_pc.svg"
DELTA = 1e-6
SIZES = (5_000, 20_000, 100_000)
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)


def floor(d: int, n: int, epsilon: float) -> float:
    """Smallest correlation of two balanced binary variables that stands 3 deviations above noise.

    One release of all pairs of d binary variables with the whole budget: the contrast is n times
    half the correlation, with noise sigma and sampling deviation sqrt(n) / 2.
    """
    variance = all_pairs_change((2,) * d, 0.0) / mu_budget(epsilon, DELTA) ** 2
    return min(1.0, 3 * math.sqrt(4 * variance / n**2 + 1 / n))


def curve(name: str, n: int, draws: int) -> list[float]:
    """Mean skeleton F1 at each epsilon."""
    data = load_dataset(name, n=n, seed=0)
    out = []
    for epsilon in EPSILONS:
        runs = [
            run("marginal_pc", data, epsilon=epsilon, seed=s, trace=False) for s in range(draws)
        ]
        out.append(sum(r.metrics.skeleton_f1 for r in runs if r.metrics) / draws)
    return out


def lines(curves: list[list[float]]) -> list[Series]:
    """One curve over epsilon for each size."""
    return [
        Series(f"n = {n:,}", EPSILONS, values, colour, dash)
        for n, values, colour, dash in zip(SIZES, curves, COLOURS, DASHES, strict=False)
    ]


def main() -> None:
    """Measure and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3)
    draws = parser.parse_args().draws
    panels = []
    for name in ("sachs", "alarm"):
        curves = [curve(name, n, draws) for n in SIZES]
        print(name, *zip(SIZES, curves, strict=True), sep="\n  ")
        title = f"{name.title()}: skeleton F1"
        panels.append(Panel(title, lines(curves), "total ε", y_range=(0, 1.02)))
    floors = [[floor(37, n, e) for e in EPSILONS] for n in SIZES]
    panels.append(
        Panel("Smallest visible correlation, d = 37", lines(floors), "total ε", y_log=True)
    )
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(chart(panels, "Marginal PC", columns=3), encoding="utf-8")


if __name__ == "__main__":
    main()
