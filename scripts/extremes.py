"""Strict runs with every declared parameter at its extremes: ``python -m scripts.extremes [N]``.

Random schemas, rows and parameters over all private algorithms; each run must end without an
exception (bad combinations are refused in one sentence) and never pass its cap, by a sum that is
independent of the ledger. ``tests/privacy/test_extremes.py`` runs a few hundred.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from typing import Any

import numpy as np

from engine import ALGORITHMS, Dataset, InputError, run
from engine.params import Spec
from engine.privacy.events import UndefendedEvent
from engine.statistics.oracle import ORACLE
from tests.privacy.readd import total_of

KEYS = [k for k, a in ALGORITHMS.items() if not a.chooses and "strict" in a.guarantees]
MOST_WORK = {"gradients": 60, "rounds": 200, "blocks": 101, "max_order": 3, "tests": 10**6}


def dataset(rng: np.random.Generator, columns: int | None) -> Dataset:
    """Return a few columns with a few levels each, some constant, as a user's declared data."""
    d = columns or int(rng.integers(2, 6))
    n = int(rng.choice([2, 3, 10, 50, 200]))
    if columns:
        values = rng.normal(size=(max(n, 10), d)) * 10.0 ** rng.integers(-3, 4)
        return Dataset.from_values(values, [(-50.0, 50.0)] * d)
    sizes = rng.integers(2, 5, d)
    codes = np.stack([rng.integers(0, rng.integers(1, s + 1), n) for s in sizes], axis=1)
    return Dataset.from_codes(codes, levels=[[str(k) for k in range(s)] for s in sizes])


def extreme(rng: np.random.Generator, spec: Spec) -> Any:
    """Return the lowest, the highest, a named or the default value of a declaration."""
    if spec.kind == "bool":
        return bool(rng.integers(2))
    if spec.kind == "choice":
        return str(rng.choice([c for c in spec.choices if c != ORACLE.key]))
    high = MOST_WORK.get(spec.name, spec.high)
    low = spec.low if spec.low is not None else spec.default
    if spec.open_low and low is not None and not isinstance(low, str):
        low = math.nextafter(low, math.inf) if rng.random() < 0.2 else low + 1e-9
    options = [spec.default, low, high, *spec.words]
    found = options[int(rng.integers(len(options)))]
    if found is None or isinstance(found, str):
        return found if found is not None else spec.default
    return int(found) if spec.kind == "int" else float(found)


def one(rng: np.random.Generator, key: str) -> str:
    """Run once, and return how the run ended. Raises AssertionError if the cap was passed."""
    chosen = ALGORITHMS[key]
    specs = [s for s in chosen.params.specs() if s.name != "guarantee"]
    some = [s for s in specs if rng.random() < 0.5]
    values = {s.name: extreme(rng, s) for s in some} | {"guarantee": "strict"}
    data = dataset(rng, chosen.columns)
    try:
        result = run(key, data, trace=False, **values)
    except InputError as error:
        return "refused" if "\n" not in str(error) else "refused in many lines"
    except Exception as error:
        raise AssertionError(f"{type(error).__name__} with {values}: {error}") from error
    cap = result.ledger.cap
    assert cap is not None
    assert not any(isinstance(c.event, UndefendedEvent) for c in result.ledger), (key, values)
    assert result.proven.epsilon <= cap.epsilon, (key, values)
    assert result.proven.delta <= cap.delta, (key, values)
    assert not result.ledger or result.ledger.used <= result.ledger.most, (key, values)
    if values.get("epsilon", 1.0) > 1e5:
        return result.status  # dp-accounting's conversion says inf there
    total = total_of(result.ledger)
    # The root finder of total_of is good to 2e-12.
    assert total.epsilon <= cap.epsilon * (1 + 1e-9) + 2e-12, (key, values, total)
    assert total.delta <= cap.delta * (1 + 1e-9), (key, values, total)
    return result.status


def main(runs: int, seed: int = 0, seconds: float = math.inf) -> int:
    """Print how the runs ended; 0 if none passed its cap or crashed."""
    rng, ended, failed = np.random.default_rng(seed), Counter[tuple[str, str]](), 0
    start = time.monotonic()
    for count in range(runs):
        if time.monotonic() - start > seconds:
            break
        key = KEYS[count % len(KEYS)]
        try:
            ended[key, one(rng, key)] += 1
        except Exception as error:  # a finding
            failed += 1
            print(f"{key}: {type(error).__name__}: {error}")
    for (key, how), times in sorted(ended.items()):
        print(f"{key:16} {how:18} {times}")
    print(f"{sum(ended.values())} runs, {failed} failures, {time.monotonic() - start:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:4])) if len(sys.argv) > 1 else main(100_000))
