"""Figures for a paper."""

import re
from unittest import mock

import numpy as np
import pandas as pd
import pytest

from engine import InputError, sweep
from engine.__main__ import main
from engine.studies.figures import COLUMNS, Series, _line, figure
from engine.studies.store import ResultStore
from engine.studies.summary import bands, frame

EPSILONS = [0.1, 1.0, 10.0]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "s.db"
    list(sweep("cancer", ["priv_pc", "svt_pc", "pc"], {"epsilon": EPSILONS}, seeds=3, store=path))
    return path


@pytest.fixture(scope="module")
def table(study):
    with ResultStore(study) as store:
        return frame(store.results())


def test_a_pdf_of_a_column_with_its_caption_and_numbers(study, table):
    out = study.with_name("f.pdf")
    argv = ["figure", str(study), "--y", "skeleton_f1", "--n", "100000", "--out", str(out)]
    assert main(argv) == 0
    content = out.read_bytes()
    width = float(re.search(rb"/MediaBox \[ ?0 0 ([\d.]+)", content)[1])
    assert content.startswith(b"%PDF")
    assert width == pytest.approx(COLUMNS[1] * 72, abs=0.5)
    assert b"/FontFile2" in content  # embedded, as outlines of the letters that are used
    numbers = pd.read_csv(out.with_suffix(".csv"))
    wanted = bands(table, "skeleton_f1")
    np.testing.assert_allclose(numbers["median"], wanted["median"].astype(float))
    said = out.with_suffix(".txt").read_text()
    for words in ("cancer (n = 100,000)", "Guarantee: strict", "δ = 10⁻⁶", "3 seeds", "10th"):
        assert words in said, words


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_the_same_study_gives_the_same_bytes(kind, table):
    one, two = (figure(table, kind=kind, columns=2).content for _ in range(2))
    assert one == two


def test_what_there_is_not_is_a_sentence(table):
    wrong = [
        ({"y": "f1"}, "y must be one of"), ({"kind": "gif"}, "pdf, svg, png"),
        ({"columns": 3}, "1 or 2"),
    ]  # fmt: skip
    for change, says in wrong:
        with pytest.raises(InputError, match=says):
            figure(table, **change)


def test_a_band_is_drawn_from_its_low_to_its_high_end():
    """In the order of x; a point that is not finite is left out."""
    axis, nan = mock.Mock(), float("nan")
    _line(axis, Series("a", [3, 1, 2], [5, 6, nan], low=[4, 3, 2], high=[8, 9, 7]))
    drawn = [part.tolist() for part in axis.fill_between.call_args.args]
    assert drawn == [[1, 3], [3, 4], [9, 8]]
    assert [part.tolist() for part in axis.plot.call_args.args] == [[1, 3], [6, 5]]


def test_the_caption_counts_the_runs_that_ended_early(table):
    early = sum(status != "complete" for status in table["status"])
    assert 0 < early < len(table) / 2
    said = figure(table).caption
    assert f"In {early} of {len(table)} runs the budget ended before the last test" in said
