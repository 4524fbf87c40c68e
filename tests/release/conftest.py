"""One release of Asia, the budgets that paid for it, and a person's files at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.release import signature
from engine.release.budget import VARIABLE, Budgets
from engine.release.file import Release
from tests.release.samples import asia_schema, make, own_asia


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Budgets:
    found = Budgets(tmp_path_factory.mktemp("budget") / "b.db")
    found.new("asia", 1000, 1e-2)
    return found


@pytest.fixture(scope="session")
def asia(book: Budgets) -> Release:
    """Asia at epsilon = 1."""
    return make(book, delta=1e-6)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A person's files, and what is typed to release them."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "data" / "b.db"))
    monkeypatch.setenv(signature.VARIABLE, str(tmp_path / "data" / "key.pem"))
    csv, schema = tmp_path / "a.csv", tmp_path / "s.json"
    own_asia().to_frame().to_csv(csv, index=False)
    schema.write_text(json.dumps(asia_schema().to_json()))
    assert main(["budget", "new", "ward", "--epsilon", "3"]) == 0
    return f"release --csv {csv} --schema {schema} --budget ward --epsilon 1 --out".split()
