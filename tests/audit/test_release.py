"""A release's own answers, forced upon neighbours: its triples too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.__main__ import main
from engine.audit.release import attack
from engine.audit.replay import Finding
from engine.cli import audit as audit_cli
from engine.marginals import moments
from engine.privacy import sources
from engine.release.attacked import attack_release
from engine.release.budget import Budgets
from engine.release.file import Release, canonical
from engine.release.make import make
from engine.release.settings import covered, empty
from tests.release.samples import asia_schema, own_asia


@pytest.fixture
def released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Release]:
    """Makes one with triples. Its noise is of a fixed sequence: an attack asks nothing of it."""
    rng = np.random.default_rng(1)

    def drawn(whole: list[int], scale: float) -> list[int]:
        normal = rng.standard_normal(len(whole)) * scale
        return [value + round(z) for value, z in zip(whole, normal.tolist(), strict=True)]

    def making() -> Release:
        book = Budgets(tmp_path / "b.db")
        book.new("asia", 3, 1e-5)
        request = own_asia(), asia_schema(), "marginal_pc", {"epsilon": 3.0}
        found = make(*request, name="asia", budgets=book)
        assert found.labels[:3] == ("all pairs", "pairs again", "triples")
        assert found.labels[3] == "whole tables"
        return found

    monkeypatch.setattr(sources, "_discrete_gaussian", drawn)
    return making


def attacked(release: Release, proposals: int = 12) -> Finding:
    chosen = covered(release.algorithm)
    params = chosen.params.build(release.params)
    schema = empty(release.schema, release.rows)
    return attack(chosen, params, release.releases, schema, proposals=proposals)


def test_a_release_with_triples_is_not_refuted_and_nearly_reached(
    released: Callable[[], Release],
) -> None:
    release = released()
    found = attacked(release)
    assert found.passed
    assert list(found.ratios) == [f"{k}. {label}" for k, label in enumerate(release.labels, 1)]
    assert min(found.ratios.values()) > 0.6  # so half a sensitivity would have been found


@pytest.mark.parametrize("tensors", [2, 3])
def test_half_a_sensitivity_is_found(
    tensors: int, released: Callable[[], Release], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted where later pairs, or where triples, are charged."""
    real = moments.tables_change

    def quarter(tables: Sequence[Any], *args: Any, **options: Any) -> float:
        found = real(tables, *args, **options)
        return found / 4 if max(map(len, tables)) == tensors else found

    monkeypatch.setattr(moments, "tables_change", quarter)
    found = attacked(released(), proposals=6)
    assert not found.passed
    assert found.largest > 1.2


def test_the_command(
    released: Callable[[], Release],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(audit_cli, "attack_release", partial(attack_release, proposals=4))
    place = tmp_path / "r.json"
    release = released()
    place.write_text(canonical(release))
    assert main(["audit", "--release", str(place)]) == 0
    said = capsys.readouterr().out
    assert f"Not refuted by {5 * len(release.labels)} pairs" in said
    assert "3. triples" in said
    place.write_text("{}")
    assert main(["audit", "--release", str(place)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
