"""Compiled loops where nothing may be written: they find a passing place, filled beforehand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from numba.core.caching import _CacheLocator

import engine
from engine import compiled
from engine.statistics import kendall


def test_a_place_that_can_be_written_to_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(compiled.PLACE, raising=False)
    assert not compiled.settle()
    assert compiled.PLACE not in os.environ
    assert not engine.PASSING


def test_nowhere_to_write_gives_a_passing_place_with_what_was_compiled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kendall.kendall_z([[3, 1], [1, 4]])  # compiled, and kept beside its module
    monkeypatch.delenv(compiled.PLACE, raising=False)
    monkeypatch.setattr(compiled, "_takes_files", lambda folder: False)
    monkeypatch.setattr(compiled.tempfile, "mkdtemp", lambda prefix: str(tmp_path))
    assert compiled.settle()
    assert os.environ.pop(compiled.PLACE) == str(tmp_path)
    # Where numba will look: the name is its own.
    folder = tmp_path / _CacheLocator.get_suitable_cache_subpath(kendall.__file__)
    assert any(path.name.startswith("kendall.") for path in folder.glob("*.nbi"))


def test_a_folder_that_somebody_gave_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(compiled.PLACE, "somewhere")
    monkeypatch.setattr(compiled, "_takes_files", lambda folder: False)
    assert not compiled.settle()


def test_a_folder_is_tried_and_not_guessed(tmp_path: Path) -> None:
    assert compiled._takes_files(tmp_path / "new")
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert not compiled._takes_files(blocked / "below")
