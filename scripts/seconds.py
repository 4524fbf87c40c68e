"""Seconds that runs take: ``python -m scripts.seconds --write`` writes sample_data/seconds.json.

Processor seconds of a run at the defaults on 100,000 rows whose tables another run has counted, for
every bundled network, algorithm and guarantee; null for more than ``MOST``. Pages start runs
automatically if they take less than a second.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from engine import ALGORITHMS, InputError, load_dataset, run
from engine.data.dataset import Dataset
from engine.data.networks import NETWORKS, SAMPLE_DATA
from engine.registry import GRAPHS

FILE = SAMPLE_DATA / "seconds.json"
MOST = 10.0


def seconds(data: Dataset, key: str, guarantee: str) -> float | None:
    """Return the processor seconds of a second run; None for more than ``MOST``."""
    asked: Any = {"guarantee": guarantee} if guarantee else {}
    took = 0.0
    for seed in range(2):
        begun = time.process_time()
        end = begun + 3 * MOST
        result = run(key, data, seed=seed, stop=lambda end=end: time.process_time() > end, **asked)
        took = time.process_time() - begun
        if result.status == "cancelled":
            return None
    return round(took, 2) if took <= MOST else None


def measured() -> dict[str, dict[str, float | None]]:
    """Return network -> "algorithm guarantee" -> seconds."""
    found: dict[str, dict[str, float | None]] = {}
    for name in NETWORKS:
        data, found[name] = load_dataset(name), {}
        for key in GRAPHS:
            specs = ALGORITHMS[key].params.specs()
            for guarantee in next((s.choices for s in specs if s.name == "guarantee"), ("",)):
                try:
                    took = seconds(data, key, guarantee)
                except InputError:
                    took = None
                found[name][f"{key} {guarantee}".strip()] = took
                print(name, key, guarantee, took, flush=True)
    return found


def main() -> None:
    """Measure; with --write store it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    text = json.dumps(measured(), indent=1) + "\n"
    if write:
        Path(FILE).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
