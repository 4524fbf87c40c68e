"""A release's own answers, forced upon neighbours: its triples and whole tables too."""

from functools import partial

import numpy as np
import pytest

from engine import Knowledge, load_dataset
from engine.__main__ import main
from engine.audit.replay import NOTHING, Finding
from engine.cli import audit as audit_cli
from engine.data.dataset import Dataset
from engine.marginals import moments
from engine.privacy import sources
from engine.release.budget import Budgets
from engine.release.checking import attack_release, verdict
from engine.release.file import canonical
from tests.release.samples import Schema, asia_schema, make

COLUMNS, ROWS = 7, 5_000  # the fewest columns for which triples are charged
LABELS = ("all pairs", "pairs again", "triples", "whole tables", "pairs again")


def released(folder):
    """One of a fixed noise: an attack asks nothing of it, and which tables are chosen depends."""
    rng = np.random.default_rng(1)

    def drawn(whole, scale):
        normal = rng.standard_normal(len(whole)) * scale
        return [value + round(z) for value, z in zip(whole, normal.tolist(), strict=True)]

    book = Budgets(folder / "b.db")
    book.new("asia", 3, 1e-5)
    data = load_dataset("asia", n=ROWS, seed=1)
    own = Dataset.from_codes(data.codes[:, :COLUMNS], data.names[:COLUMNS], data.levels[:COLUMNS])
    known = Knowledge(tiers=[[name] for name in own.names])  # it decides what is asked, too
    schema = Schema(asia_schema().columns[:COLUMNS], rows=ROWS, knowledge=known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sources, "_discrete_gaussian", drawn)
        found = make(book, own, schema, epsilon=3.0)
    assert found.labels == LABELS
    return found


def test_a_release_with_triples_is_not_refuted_and_nearly_reached(tmp_path, capsys, monkeypatch):
    release = released(tmp_path)
    found = attack_release(release, proposals=1)
    assert found.passed
    assert list(found.ratios) == [f"{k}. {label}" for k, label in enumerate(LABELS, 1)]
    assert min(found.ratios.values()) > 0.6  # so half a sensitivity would have been found
    monkeypatch.setattr(audit_cli, "attack_release", partial(attack_release, proposals=0))
    place = tmp_path / "r.json"
    place.write_text(canonical(release))
    assert main(["audit", "--release", str(place)]) == 0
    said = capsys.readouterr().out
    assert f"Not refuted by {len(LABELS)} pairs" in said
    assert "3. triples" in said
    place.write_text("{}")
    assert main(["audit", "--release", str(place)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("tensors", [2, 3])
def test_half_a_sensitivity_is_found(tensors, tmp_path, monkeypatch):
    """Planted where later pairs, or where triples, are charged: the file states too little."""
    real = moments.tables_change

    def quarter(tables, *args, **options):
        found = real(tables, *args, **options)
        return found / 4 if max(map(len, tables)) == tensors else found

    monkeypatch.setattr(moments, "tables_change", quarter)
    found = attack_release(released(tmp_path), proposals=1)
    assert not found.passed
    assert found.largest > 1.2


def test_a_stopped_or_refuted_attack_says_so():
    assert verdict(NOTHING).startswith("Stopped before the first pair")
    assert verdict(Finding({"1. pairs": 1.5}, ("it moves",), 4)).startswith("REFUTED by 4 pairs")
    found = Finding({"1. pairs": 0.5, "2. pairs again": 0.51}, (), 4)
    half, more, *_ = audit_cli.attack_words(found)
    assert half.endswith("would NOT have been found")
    assert more.endswith("would have been found")
