"""How often a plan is right: ``python -m benchmarks.forecast``.

Bundled networks are forecast from their schema and the default density alone, and run: the share of
real F1 inside the 80 % band, one line an algorithm.
"""

from __future__ import annotations

import argparse

from engine import load_dataset, run
from engine.data.networks import load_network
from engine.studies.forecast import DENSITY, Question, plan

NETWORKS = ("asia", "cancer", "earthquake", "survey", "sachs")
ALGORITHMS = ("marginal_pc", "gram_notears", "priv_pc", "gauss_pc")
ROWS, EPSILONS = (3_000, 30_000), (0.3, 1.0, 3.0)


def inside(name: str, rows: int) -> dict[str, list[int]]:
    """Algorithm -> where the real F1 lies at each epsilon: -1 below the band, 0 inside, 1 above."""
    network = load_network(name)
    question = Question(network.names, network.states, rows, DENSITY)
    data = load_dataset(name, n=rows, seed=5)
    found: dict[str, list[int]] = {}
    for forecast in plan(question, EPSILONS, ALGORITHMS):
        result = run(forecast.algorithm, data, seed=6, trace=False, epsilon=forecast.epsilon)
        assert result.metrics_tested is not None
        f1, band = result.metrics_tested.skeleton_f1, forecast.f1
        found.setdefault(forecast.algorithm, []).append((f1 > band.high) - (f1 < band.low))
    return found


def main() -> None:
    """The table, and the sum."""
    argparse.ArgumentParser(description=__doc__.split(":")[0]).parse_args()
    total: dict[str, list[int]] = {key: [] for key in ALGORITHMS}
    for name in NETWORKS:
        for rows in ROWS:
            for key, places in inside(name, rows).items():
                total[key] += places
    total["all"] = [place for places in total.values() for place in places]
    for key, places in total.items():
        hits = places.count(0)
        print(
            f"{key:14} inside {hits} of {len(places)} ({hits / len(places):.0%}), "
            f"below {places.count(-1)}, above {places.count(1)}"
        )


if __name__ == "__main__":
    main()
