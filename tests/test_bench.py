"""``make bench``'s rows of peers. Rscript has a stand-in: R is not needed here."""

import os

import numpy as np
import pytest

from benchmarks import bnlearn, pgmpy, speed
from engine import load_dataset
from engine.graphs.cpdag import matrix_of

# It checks what it is given as R would, and answers with the truth but for one edge.
STAND_IN = """#!/bin/sh
test "$1" = --vanilla || exit 3
grep -q pc.stable "$2" || exit 4
test $# -eq 2 && exit 0
test "$4" = 0.01 || exit 5
test "$(head -n 1 "$3")" = "V0,V1,V2,V3,V4" || exit 6
test "$(wc -l < "$3")" -eq 100001 || exit 7
printf 'seconds 0.25 \\n1 3 \\n3 1 \\n2 3 \\n3 2 \\n3 4 \\n4 3 \\n'
"""

PGMPY = """
class PC:
    def __init__(self, rows):
        assert rows.shape == (100_000, 5) and rows.dtypes.iloc[0] == "category"
        self.rows = rows

    def estimate(self, variant, ci_test, return_type, significance_level, **others):
        assert (variant, ci_test, return_type) == ("stable", "g_sq", "skeleton")
        assert significance_level == 0.01 and others["n_jobs"] == 1
        return self, {}

    def edges(self):
        return [("v2", "v0")]
"""


@pytest.fixture
def earthquake():
    return load_dataset("earthquake")


def test_bnlearn_is_a_column_where_it_is_installed(earthquake, tmp_path, monkeypatch, capsys):
    path = tmp_path / "Rscript"
    path.write_text(STAND_IN)
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    seconds, skeleton = bnlearn.bnlearn_run(earthquake, 0.01) or (0.0, np.empty(0))
    assert seconds == 0.25
    true = matrix_of(earthquake.truth, earthquake.names)
    missed = np.argwhere(np.triu((true | true.T) ^ skeleton))
    assert len(missed) == 1
    assert np.array_equal(skeleton, skeleton.T)
    seconds_of = iter((1.0, 3.0, 2.0, 5.0, 5.0, 5.0))
    peer = lambda data, test="gsq": (next(seconds_of), true | true.T)  # noqa: E731
    monkeypatch.setattr(speed, "peer_run", peer)
    speed.full_pc(3, ["earthquake"])
    printed = capsys.readouterr().out.splitlines()
    assert [text.split(",")[0] for text in printed if "Full PC" in text] == [
        "Full PC with G2",
        "Full PC with chi2",
    ]
    lines = [text.split(" | ") for text in printed if text.startswith("| earthquake")]
    (learned,) = [cells for cells in lines[:2] if cells[4] == "causal-learn"]
    assert learned[5] == "2.0 (1.0–3.0)"  # the median of causal-learn's, and their range
    (r,) = [cells for cells in lines if cells[4] == "bnlearn"]
    (climbed,) = [cells for cells in lines if cells[4] == "hill climbing, columns shuffled"]
    assert climbed[6] == "0.889"  # one false edge
    # ours and its F1, then seconds, F1, ratio, agreement of each peer
    assert (learned[6], r[5], r[6]) == ("1.000", "0.250 (0.250–0.250)", "0.857")
    assert float(learned[7]) == pytest.approx(8 * float(r[7]), abs=8)
    assert float(learned[1]) < float(learned[2].split()[0])  # the floor is below ours


def test_pgmpy_is_called_with_its_own_packages(earthquake, tmp_path, monkeypatch, capsys):
    """A stand-in that checks what it is given as pgmpy is, and answers with one edge."""
    package = tmp_path / "pgmpy"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "estimators.py").write_text(PGMPY)
    monkeypatch.setenv(pgmpy.PLACE, str(tmp_path))
    assert pgmpy.installed()
    _, skeleton = pgmpy.pgmpy_run(earthquake, 0.01, "g_sq") or (0.0, np.empty(0))
    assert np.argwhere(skeleton).tolist() == [[0, 2], [2, 0]]
    assert pgmpy.pgmpy_run(earthquake, 0.5, "g_sq") is None  # it fails: another alpha
    monkeypatch.delenv(pgmpy.PLACE)
    assert not pgmpy.installed()
