"""``engine tune`` on the command line: its file, its figure."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest

from engine import load_dataset
from engine.__main__ import main
from engine.cli.tune import _range, as_dict, told
from engine.studies.store import ResultStore
from engine.studies.tuning import Search, least_epsilon

ASK = ["tune", "--dataset", "cancer", "--n", "500", "--over", "tweak"]


@pytest.fixture
def left_open(monkeypatch: pytest.MonkeyPatch) -> set[Path]:
    """The stores that were opened and not closed."""
    found: set[Path] = set()
    begin, end = ResultStore.__init__, ResultStore.close

    def open_(self: ResultStore, path: Path) -> None:
        begin(self, path)
        found.add(self.path)

    def close(self: ResultStore) -> None:
        end(self)
        found.discard(self.path)

    monkeypatch.setattr(ResultStore, "__init__", open_)
    monkeypatch.setattr(ResultStore, "close", close)
    return found


@pytest.mark.parametrize(("runs", "status"), [("20", 0), ("1", 2)])
def test_the_file_is_closed_however_it_ends(
    runs: str, status: int, tmp_path: Path, left_open: set[Path]
) -> None:
    out = tmp_path / "runs.db"
    assert main([*ASK, "--epsilon", "1", "--runs", runs, "--out", str(out)]) == status
    assert out.exists()
    assert not left_open


def test_the_tuned_score_beside_the_defaults_as_a_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "tuned.pdf"
    assert main([*ASK, "--target", "0.3", "--runs", "20", "--figure", str(out)]) == 0
    assert out.read_bytes().startswith(b"%PDF")
    numbers = pd.read_csv(out.with_suffix(".csv"))
    assert set(numbers["setting"]) == {"tuned", "default"}
    assert (numbers["low"] <= numbers["mean"]).all()
    said = out.with_suffix(".txt").read_text()
    for words in ("Priv-PC", "cancer (n = 500)", "strict", "δ = 1e-06", "20 seeds"):
        assert words in said, words
    # What is drawn is what is told.
    told = capsys.readouterr().out
    for row in numbers[numbers["setting"] == "tuned"].to_dict("records"):
        assert f"ε = {row['epsilon']:<7g} {row['mean']:.3f}" in told


def test_a_search_that_was_stopped_claims_no_range() -> None:
    """Nor does it show the search it was in: its report was never run."""
    data, tried, stops = load_dataset("cancer", n=500), list[float](), [False]

    def search(epsilon: float) -> Search:
        def note(done: int, planned: int) -> None:
            stops[0] = len(tried) > 1 and done > 10

        tried.append(epsilon)
        fixed = {"epsilon": epsilon}
        return Search(
            "priv_pc", data, fixed, ["tweak"], runs=20, cancelled=lambda: stops[0], on_progress=note
        )

    found = least_epsilon(0.3, search, cancelled=lambda: stops[0])
    assert stops[0]
    assert not found.whole
    assert (found.may, found.will) == (None, None)
    assert list(found.found) == tried[:1]
    assert all(not math.isnan(one.fresh.mean) for one in found.found.values())
    assert _range(found) == "stopped before it was known."


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--figure", "f.pdf", "--epsilon", "1"], "give both"),
        (["--target", "0.5", "--epsilon", "1"], "not both"),
    ],
)
def test_what_does_not_fit_is_a_sentence(
    argv: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*ASK, *argv]) == 2
    assert says in capsys.readouterr().err


def test_a_search_that_was_stopped_tells_no_number_that_nobody_has() -> None:
    """Neither in the terminal nor in JSON, which knows no NaN."""
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > 60

    data = [load_dataset("cancer", n=500)]
    found = Search("priv_pc", data, {"epsilon": 1.0}, ["tweak"], runs=60, cancelled=stop).tune()
    assert found.chosen.runs
    assert not found.fresh.runs
    assert "nan" not in " ".join(told(found, "Skeleton F1")).lower()
    written = json.loads(json.dumps(as_dict(found), allow_nan=False))
    assert (written["fresh"]["mean"], written["gap"]) == (None, None)
    assert written["chosen"]["mean"] == found.chosen.mean
