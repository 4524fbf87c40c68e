"""Downloads: a run as JSON, its trace, edges and ledger as CSV."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from engine import Dataset, RunResult, __version__
from engine.graphs import unordered


def run_record(data: Dataset, result: RunResult, settings: dict[str, str]) -> dict[str, Any]:
    """The run as plain values under the engine's names; without the seed of own data."""
    metrics = None if result.metrics is None else vars(result.metrics)
    arcs = sorted(result.cpdag.edges)
    return {
        "version": __version__,
        "dataset": {"name": data.name, "n": data.n, "fingerprint": data.fingerprint},
        "settings": settings,
        "algorithm": result.algorithm,
        "params": result.params.as_dict(),
        "seed": result.seed if data.public else None,
        "status": result.status,
        "skeleton": [list(pair) for pair in unordered(result.skeleton)],
        "cpdag": [list(arc) for arc in arcs],
        "metrics": metrics,
        "ci_tests": result.ci_tests,
        "ci_tests_by_order": list(result.ci_tests_by_order),
        "spent": vars(result.spent),
        "claimed": None if result.claimed is None else vars(result.claimed),
        "ledger": [
            {"label": c.label, "order": c.order, "epsilon": c.epsilon, "rho": c.rho,
             "event": c.event.describe()}
            for c in result.ledger
        ],
        "steps": [_step(step) for step in result.steps],
        "seconds": result.seconds,
    }


def _step(step: Any) -> dict[str, Any]:
    record = {k: v for k, v in vars(step).items() if k not in ("charges", "internal")}
    if step.internal is not None:
        record["simulation_only"] = dict(step.internal)
    return record


def as_json(record: Any) -> str:
    """JSON in which infinity is the string "inf"."""
    return json.dumps(_plain(record), ensure_ascii=False, indent=1)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def as_csv(table: pd.DataFrame) -> str:
    """A table as CSV text."""
    return table.to_csv(index=False)


def download(title: str, make: Callable[[], str], name: str, *, key: str) -> None:
    """A button whose file is made only when it is pressed."""
    kind = "application/json" if name.endswith(".json") else "text/csv"
    st.download_button(
        title, make, name, kind, key=key, on_click="ignore", icon=":material/download:"
    )
