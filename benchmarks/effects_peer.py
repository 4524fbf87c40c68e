"""Adjusted effects by DoWhy on the same rows: ``PYTHON -m benchmarks.effects_peer``.

DoWhy needs a separate environment (``pip install dowhy``); the engine is not imported there.
``--rows FILE`` writes the rows, our numbers and the sets first, in the project's environment;
``--ask FILE`` lets DoWhy answer and says how far apart both are.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

# Network, cause, effect: binary columns, so that DoWhy's linear regression reads 0 and 1.
QUESTIONS = (
    ("cancer", "Smoker", "Cancer"),
    ("cancer", "Pollution", "Dyspnoea"),
    ("asia", "smoke", "dysp"),
    ("asia", "lung", "xray"),
    ("asia", "bronc", "dysp"),
    ("asia", "either", "dysp"),
)


def write(path: Path, n: int) -> None:
    """Rows as 0 and 1, the true graph, and our estimates on them without noise, as JSON."""
    import numpy as np

    from engine import load_dataset
    from engine.effects.adjustment import PARENTS
    from engine.effects.effect import effect_of
    from engine.effects.plausible import Plausible
    from engine.graphs.cpdag import matrix_of
    from engine.marginals.contrasts import gram
    from engine.marginals.moments import Moments
    from engine.tables.store import store_of

    asked = []
    for name, cause, effect in QUESTIONS:
        data = load_dataset(name, n=n)
        assert data.truth is not None
        rows, none = store_of(data).rows, np.zeros((data.d, data.d))
        one, two = gram(rows)
        tensors = one / data.n, two / data.n
        free = Moments(data.n, rows.cardinalities, *tensors, none[0], none)
        dags = Plausible((matrix_of(data.truth, data.names),), np.ones(1))
        mine, theirs = (data.levels[data.names.index(name)] for name in (cause, effect))
        found = effect_of(
            free, data.names, data.levels, dags, cause, effect,
            adjustment=PARENTS, cause_level=mine[1], reference=mine[0], outcome_level=theirs[1],
        )  # fmt: skip
        assert found.difference is not None  # the true graph is certain
        asked.append({
            "network": name, "cause": cause, "effect": effect, "names": list(data.names),
            "rows": data.codes.tolist(), "edges": sorted(map(list, data.truth.edges)),
            "adjusted": [data.names[z] for z in found.answers[0].adjusted],
            "ours": found.difference.value,
        })  # fmt: skip
    path.write_text(json.dumps(asked), encoding="utf-8")


def ask(path: Path) -> None:
    """Run DoWhy's linear regression on the same rows, and print the largest difference."""
    import networkx as nx
    import pandas as pd
    from dowhy import CausalModel

    worst = 0.0
    for one in json.loads(path.read_text(encoding="utf-8")):
        x, y, zs = one["cause"], one["effect"], one["adjusted"]
        rows = pd.DataFrame(one["rows"], columns=one["names"], dtype=float)
        # With the whole graph DoWhy lets what causes y alone change the effect (interactions).
        arrows = [(x, y), *((z, end) for z in zs for end in (x, y))]
        model = CausalModel(rows, x, y, graph=nx.DiGraph(arrows))
        estimand = model.identify_effect(proceed_when_unidentifiable=True)
        found = float(model.estimate_effect(estimand, "backdoor.linear_regression").value)
        apart = abs(found - one["ours"])
        worst = max(worst, apart)
        print(f"{one['network']}: {x} on {y} given "
              f"{estimand.get_backdoor_variables()}: DoWhy {found:.9f}, ours {one['ours']:.9f}, "
              f"apart {apart:.1e}")  # fmt: skip
    print(f"largest difference {worst:.1e}")


def main() -> None:
    """Write rows, or ask DoWhy about them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, help="write rows and our estimates")
    parser.add_argument("--ask", type=Path, help="let DoWhy answer from the written tables")
    parser.add_argument("--n", type=int, default=20_000)
    options = parser.parse_args()
    if options.rows is not None:
        write(options.rows, options.n)
    if options.ask is not None:
        ask(options.ask)


if __name__ == "__main__":
    main()
