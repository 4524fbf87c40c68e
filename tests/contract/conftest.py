"""Data that suit an algorithm: by what it declares, so that no test knows one by name."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from engine import ALGORITHMS, Dataset, load_dataset
from engine.algorithms import noleaks


@cache
def sample_for(columns: int | None) -> Dataset:
    """Public data of so many columns, with a truth; Asia where any number will do."""
    name = {None: "asia", 2: "pair:cubic:uniform"}[columns]
    return load_dataset(name, n=2000, seed=3)


def short(key: str, epsilon: float) -> dict[str, Any]:
    """Fewer steps where a run takes many alike: a few gradients, a solver that ends sooner."""
    fewer: dict[str, dict[str, Any]] = {
        "noleaks": {"gradients": 6},
        "curate_notears": {"initial": epsilon / 10},
        "gram_notears": {"tolerance": 1e-2},
        "notears": {"tolerance": 1e-2},
    }
    return fewer.get(key, {})


@pytest.fixture(autouse=True)
def _ends_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradients of NOLEAKS' published loop end where h is small, as the solvers' do."""
    monkeypatch.setattr(noleaks, "H_TOLERANCE", 1e-2)


@pytest.fixture
def sample(request: pytest.FixtureRequest) -> Dataset:
    """Data for the algorithm that the test is about."""
    return sample_for(ALGORITHMS[request.node.callspec.params["key"]].columns)
