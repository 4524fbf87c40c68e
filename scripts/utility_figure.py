"""Draw docs/pictures/marginal_pc.svg: F1 of Marginal PC against epsilon and n, and the floor.

``PYTHONPATH=. python scripts/utility_figure.py [--draws 3]``. Plain SVG, nothing to install.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from engine import load_dataset, run
from engine.marginals.contrasts import all_pairs_change
from engine.privacy.accounting import mu_budget

OUT = Path(__file__).resolve().parent.parent / "docs" / "pictures" / "marginal_pc.svg"
DELTA = 1e-6
SIZES = (5_000, 20_000, 100_000)
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
COLOURS = ("#9ecae1", "#4292c6", "#084594")
DASHES = ('stroke-dasharray="2 3"', 'stroke-dasharray="7 4"', "")
WIDTH, HEIGHT, LEFT, TOP = 260, 200, 50, 40


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


def panel(x0: int, title: str, curves: list[list[float]], low: float) -> list[str]:
    """One plot of curves over log epsilon; the vertical axis is log where ``low`` > 0."""

    def at(epsilon: float, value: float) -> tuple[float, float]:
        share = math.log(epsilon / EPSILONS[0]) / math.log(EPSILONS[-1] / EPSILONS[0])
        height = math.log(max(value, low) / low) / math.log(1 / low) if low else value
        return x0 + share * WIDTH, TOP + HEIGHT * (1 - height)

    out = [
        f'<text x="{x0}" y="{TOP - 14}" font-weight="bold">{title}</text>',
        f'<rect x="{x0}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>',
    ]
    for value in (0.001, 0.01, 0.1, 1.0) if low else (0.0, 0.25, 0.5, 0.75, 1.0):
        _, y = at(EPSILONS[0], value)
        out.append(f'<text x="{x0 - 6}" y="{y + 4:.0f}" text-anchor="end">{value:g}</text>')
        out.append(f'<path d="M{x0} {y:.1f}h{WIDTH}" stroke="#eee"/>')
    for epsilon in EPSILONS:
        x, _ = at(epsilon, 1.0)
        label = f'<text x="{x:.0f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{epsilon:g}</text>'
        out.append(label)
    for colour, dash, values in zip(COLOURS, DASHES, curves, strict=True):
        pairs = zip(EPSILONS, values, strict=True)
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(e, v) for e, v in pairs))
        line = f'fill="none" stroke="{colour}" stroke-width="2" {dash}'
        out.append(f'<polyline points="{points}" {line}/>')
    return out


def main() -> None:
    """Measure and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3)
    draws = parser.parse_args().draws
    body: list[str] = []
    x0 = LEFT
    for name in ("sachs", "alarm"):
        curves = [curve(name, n, draws) for n in SIZES]
        print(name, *zip(SIZES, curves, strict=True), sep="\n  ")
        body += panel(x0, f"{name.title()}: skeleton F1", curves, 0.0)
        x0 += WIDTH + 70
    floors = [[floor(37, n, e) for e in EPSILONS] for n in SIZES]
    body += panel(x0, "Smallest visible correlation, d = 37", floors, 0.001)
    for k, n in enumerate(SIZES):
        x, y = LEFT + 110 * k, TOP + HEIGHT + 42
        line = f'stroke="{COLOURS[k]}" stroke-width="2" {DASHES[k]}'
        body.append(f'<path d="M{x} {y - 4}h20" {line}/>')
        body.append(f'<text x="{x + 26}" y="{y}">n = {n:,}</text>')
    body.append(f'<text x="{LEFT + 350}" y="{TOP + HEIGHT + 42}">horizontal: total ε</text>')
    size = f'width="{x0 + WIDTH + 20}" height="{TOP + HEIGHT + 60}"'
    style = 'font-family="sans-serif" font-size="12" style="background:#fff"'
    OUT.parent.mkdir(parents=True, exist_ok=True)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )
    OUT.write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
