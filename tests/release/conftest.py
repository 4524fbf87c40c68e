"""One release of Asia, and the budgets that paid for it."""

from __future__ import annotations

import pytest

from engine.release.budget import Budgets
from engine.release.file import Release
from tests.release.samples import asia_schema, make, own_asia


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Budgets:
    found = Budgets(tmp_path_factory.mktemp("budget") / "b.db")
    found.new("asia", 100, 1e-3)
    return found


@pytest.fixture(scope="session")
def asia(book: Budgets) -> Release:
    """Asia at epsilon = 1."""
    data, values = own_asia(), {"epsilon": 1.0, "delta": 1e-6}
    return make(data, asia_schema(), "marginal_pc", values, name="asia", budgets=book)
