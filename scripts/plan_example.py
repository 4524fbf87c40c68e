"""The finished plan that the Plan page opens on: ``python -m scripts.plan_example``.

For Asia's schema with 3,000 rows: every strict algorithm at five ε, and what each invents on
columns that depend on nothing.
"""

from __future__ import annotations

import json
from pathlib import Path

from engine.data.networks import load_network
from engine.studies.forecast import DENSITY, Forecast, Question, donors_for, plan

KEPT = Path(__file__).resolve().parent.parent / "sample_data" / "plan.json"
SCHEMA, ROWS, EPSILONS, DRAWS = "asia", 3_000, (0.1, 0.3, 1.0, 3.0, 10.0), 19


def as_kept(forecast: Forecast) -> dict[str, object]:
    """A forecast, and its counts on nothing one by one."""
    counts = [] if forecast.nothing is None else list(forecast.nothing.counts)
    return {**forecast.as_dict(), "nothing": counts}


def main() -> None:
    """Simulate, and write the file."""
    network = load_network(SCHEMA)
    asked = Question(network.names, network.states, ROWS, donors=donors_for(SCHEMA))
    forecasts = [as_kept(f) for f in plan(asked, EPSILONS, draws=DRAWS)]
    content = {"schema": SCHEMA, "rows": ROWS, "density": DENSITY, "forecasts": forecasts}
    KEPT.write_text(json.dumps(content) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
