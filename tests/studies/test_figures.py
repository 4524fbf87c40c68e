"""Figures for a paper, and two studies compared run by run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from engine import InputError, load_dataset, sweep
from engine.__main__ import main
from engine.studies.figures import COLUMNS, figure, map_cells
from engine.studies.store import ResultStore
from engine.studies.summary import bands, frame, paired

EPSILONS = [0.1, 1.0, 10.0]


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("study") / "s.db"
    list(sweep("cancer", ["priv_pc", "svt_pc", "pc"], {"epsilon": EPSILONS}, seeds=3, store=path))
    return path


@pytest.fixture(scope="module")
def table(study: Path) -> pd.DataFrame:
    with ResultStore(study) as store:
        return frame(store.results())


def test_a_pdf_of_a_column_with_its_caption_and_numbers(study: Path, table: pd.DataFrame) -> None:
    out = study.with_name("f.pdf")
    argv = ["figure", str(study), "--y", "skeleton_f1", "--n", "100000", "--out", str(out)]
    assert main(argv) == 0
    content = out.read_bytes()
    width = float(re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", content)[1])  # type: ignore[index]
    assert content.startswith(b"%PDF")
    assert width == pytest.approx(COLUMNS[1] * 72, abs=0.5)
    assert b"/FontFile2" in content  # embedded, as outlines of the letters that are used
    numbers = pd.read_csv(out.with_suffix(".csv"))
    wanted = bands(table, "skeleton_f1")
    np.testing.assert_allclose(numbers["median"], wanted["median"].astype(float))
    said = out.with_suffix(".txt").read_text()
    for words in ("cancer (n = 100,000)", "Guarantee: strict", "δ = 1e-06", "3 seeds", "10th"):
        assert words in said, words


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_the_same_study_gives_the_same_bytes(kind: str, table: pd.DataFrame) -> None:
    one, two = (figure(table, kind=kind, columns=2).content for _ in range(2))
    assert one == two


def test_what_there_is_not_is_a_sentence(table: pd.DataFrame) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"y": "f1"}, "y must be one of"), ({"kind": "gif"}, "pdf, svg, png"),
        ({"columns": 3}, "1 or 2"),
    ]  # fmt: skip
    for change, says in wrong:
        with pytest.raises(InputError, match=says):
            figure(table, **change)
    with pytest.raises(InputError, match="of one algorithm"):
        map_cells(table, ("epsilon", "tweak"), "shd")
    with pytest.raises(InputError, match="--by"):
        paired(table, table, by=["dataset", "epsilon"])
    with pytest.raises(InputError, match="no run in common"):
        paired(table, table.assign(seed=table["seed"] + 99))


def test_pairs_are_the_same_data_and_seed(table: pd.DataFrame) -> None:
    private = table[table["algorithm"] == "priv_pc"]
    other = table[table["algorithm"] == "svt_pc"].sample(frac=1, random_state=0)
    found = paired(private, other, "shd", by=["dataset", "epsilon"])
    assert list(found["pairs"]) == [3, 3, 3]
    by_hand = private.merge(other, on=["dataset", "epsilon", "seed"])
    at = by_hand[by_hand["epsilon"] == 1.0]
    gap = (at["shd_x"] - at["shd_y"]).to_numpy(float)
    (row,) = found[found["epsilon"] == 1.0].to_dict("records")
    assert row["difference"] == pytest.approx(gap.mean())
    assert row["wins"] + row["losses"] + row["ties"] == 3
    assert row["wins"] == (gap > 0).sum()
    assert found[["low", "high"]].isna().all(axis=None)  # of three pairs no interval is said


def test_an_interval_holds_the_difference_as_often_as_it_says() -> None:
    """Of 400 draws of eight pairs; each draw has its ε."""
    rng, n = np.random.default_rng(0), 400
    base = {"dataset": "a", "algorithm": "b", "fingerprint": "0"}
    base |= {"epsilon": np.repeat(np.arange(1.0, n + 1), 8), "seed": np.tile(np.arange(8), n)}
    common, ours, theirs = (rng.normal(size=(n, 8)) for _ in range(3))
    found = paired(
        pd.DataFrame(base | {"skeleton_f1": (common + 0.3 + ours / 4).ravel()}),
        pd.DataFrame(base | {"skeleton_f1": (common + theirs / 4).ravel()}),
    )
    assert list(found["pairs"]) == [8] * n
    held = int(((found["low"] <= 0.3) & (found["high"] >= 0.3)).sum())
    assert stats.binomtest(held, n, 0.95).pvalue > 1e-3
    five = pd.DataFrame(base).head(5).assign(seed=range(5), epsilon=1.0)
    scores = (five.assign(skeleton_f1=f1) for f1 in ([1, 1, 1, 0, 1], 0))
    assert paired(*scores)["high"].tolist() == [1.0]  # no two scores are further apart


def test_the_command_compares_two_algorithms_of_a_study(
    study: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["compare-studies", str(study), "--algorithms", "priv_pc,svt_pc", "--json"]
    assert main(argv) == 0
    assert {row["epsilon"] for row in json.loads(capsys.readouterr().out)} == set(EPSILONS)
    assert main(["compare-studies", str(study)]) == 2
    assert main(["compare-studies", str(study), str(study)]) == 0
    assert "95 % interval" in capsys.readouterr().out


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("map") / "m.db"
    grid = {"tweak": [0.0, 0.05, 0.1], "subsample": [200, 1000], "epsilon": 1.0}
    list(sweep(load_dataset("cancer", n=1000), "priv_pc", grid, seeds=3, store=path))
    return path


def test_a_map_over_two_parameters_is_the_means_of_its_cells(laid_out: Path) -> None:
    out = laid_out.with_name("map.pdf")
    argv = ["figure", str(laid_out), "--map", "tweak,subsample", "--n", "1000", "--out", str(out)]
    assert main(argv) == 0
    assert b"/FontFile2" in out.read_bytes()
    with ResultStore(laid_out) as store:
        runs = frame(store.results()).astype({"tested_skeleton_f1": float})
    numbers = pd.read_csv(out.with_suffix(".csv"))
    assert len(numbers) == 6
    for row in numbers.to_dict("records"):
        cell = runs[(runs["tweak"] == row["tweak"]) & (runs["subsample"] == row["subsample"])]
        assert row["mean"] == pytest.approx(cell["tested_skeleton_f1"].mean())
        assert row["runs"] == 3
    best = numbers.loc[numbers["mean"].idxmax()]
    said = out.with_suffix(".txt").read_text()
    for words in (f"{best['mean']:.2f} ±", "cancer (n = 1,000)", "ε = 1", "3 seeds", "strict"):
        assert words in said, words
    assert f"m = {best['subsample']:g}" in said


def test_a_map_that_is_none_is_a_sentence(
    laid_out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = {"tweak": "two parameters", "tweak,tweak": "here vary", "tweak,steps": "of its param"}
    for over, says in wrong.items():
        argv = ["figure", str(laid_out), "--map", over, "--out", str(laid_out.with_name("x.pdf"))]
        assert main(argv) == 2
        assert says in capsys.readouterr().err
