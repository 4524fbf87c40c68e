"""One release of Asia, the budgets that paid for it, and a person's files at the command line."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from engine.__main__ import main
from engine.release import signature
from engine.release.budget import VARIABLE, Budgets
from engine.release.file import Release
from tests.release.samples import Ran, Typed, asia_schema, make, own_asia


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
def typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Typed:
    """A command line in a folder with a person's files: status, output and errors of a line."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, "data/b.db")
    monkeypatch.setenv(signature.VARIABLE, "data/key.pem")
    own_asia().to_frame().to_csv("a.csv", index=False)
    Path("s.json").write_text(json.dumps(asia_schema().to_json()))

    def ran(line: str) -> Ran:
        return Ran(main(shlex.split(line)), *capsys.readouterr())

    assert ran("budget new ward --epsilon 3").status == 0
    return ran
