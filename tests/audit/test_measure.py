"""The black-box bound: valid for what is private, above the claim for what is not."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import beta

from engine import ALGORITHMS
from engine.__main__ import main
from engine.audit.measure import bound_of, limits, trial
from engine.audit.neighbours import all_alike, strata
from engine.audit.survey import (
    FAULT,
    KEEPS_THE_PAIR,
    MECHANISM,
    Power,
    Subject,
    audit,
    subjects,
)
from engine.audit.toys import FAULTS, MECHANISMS


def test_limits_are_clopper_pearson() -> None:
    for hits, runs in ((0, 10), (3, 10), (10, 10), (700, 1500)):
        low, high = limits(hits, runs, 0.005)
        assert low == pytest.approx(beta.ppf(0.005, hits, runs - hits + 1) if hits else 0.0)
        wanted = beta.ppf(0.995, hits + 1, runs - hits) if hits < runs else 1.0
        assert high == pytest.approx(wanted)


def test_nothing_is_measured_where_nothing_differs() -> None:
    assert bound_of(50, 50, 100, 0.0, 0.005) == 0
    # 100 of 100 against 0 of 100: the limits are level^(1/100) and 1 - level^(1/100)
    low = 0.005**0.01
    assert bound_of(100, 0, 100, 1e-6, 0.005) == pytest.approx(math.log((low - 1e-6) / (1 - low)))


@pytest.mark.parametrize("key", MECHANISMS)
def test_no_mechanism_is_measured_above_its_claim(key: str) -> None:
    """On inputs that move by all that was paid for. Each fails with probability below 1 %."""
    growing = trial(MECHANISMS[key], all_alike(), {"epsilon": 2.0})
    growing.extend(400)
    found = growing.measured()
    assert found.claimed == 2.0
    assert not found.refuted
    if key in {"by_laplace", "by_exponential"}:  # as sharp as so few runs allow
        assert found.epsilon > 0.7


@pytest.mark.parametrize("key", FAULTS)
def test_every_planted_fault_is_caught_by_audit_or_replay(key: str) -> None:
    subject = next(s for s in subjects() if s.kind == FAULT and s.algorithm.key == key)
    assert audit(subject, 60).verdict == "found"


@pytest.mark.parametrize("key", ["data_normaliser", "shared_seed"])
def test_gross_faults_show_in_runs_alone(key: str) -> None:
    growing = trial(FAULTS[key], all_alike(), {})
    growing.extend(700)
    assert growing.measured().refuted


def test_published_curate_is_refuted_on_the_documented_strata() -> None:
    """Claimed 1.00; the bound grows with the runs (docs/explanation/privacy.md: 1,500 a side)."""
    values = {"guarantee": "published", "epsilon": 1.0, **KEEPS_THE_PAIR}
    growing = trial(ALGORITHMS["curate_pc"], strata(), values)
    growing.extend(100)
    found = growing.measured()
    assert found.claimed == pytest.approx(1.0)
    assert found.epsilon > 1.5


def test_strict_curate_is_not() -> None:
    growing = trial(ALGORITHMS["curate_pc"], strata(), {"epsilon": 1.0})
    growing.extend(50)
    assert not growing.measured().refuted


def test_a_stop_keeps_as_many_runs_on_either_side() -> None:
    growing, asked = trial(MECHANISMS["by_laplace"], all_alike(), {}), []
    growing.extend(50, cancelled=lambda: bool(asked.append(1)) or len(asked) > 7)
    assert [len(side) for side in growing.sides] == [7, 7]


def test_no_two_runs_share_noise() -> None:
    growing = trial(MECHANISMS["by_laplace"], all_alike(), {})
    growing.extend(200)
    values = [
        v for side in growing.sides for one in side for k, v in one.items() if k[0] == "value"
    ]
    assert len(set(values)) == 400
    assert len({round(v % 1, 9) for v in values}) == 400


# Power ------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", MECHANISMS)
def test_half_of_the_noise_is_found_by_replays(key: str) -> None:
    line = audit(Subject(MECHANISM, MECHANISMS[key], all_alike()), 8)
    assert line.verdict == "not refuted"
    assert line.power is not None
    assert line.power.replay
    assert line.power.twice


def test_half_of_the_noise_is_found_by_enough_runs() -> None:
    growing = trial(MECHANISMS["by_laplace"], all_alike(), {}, share=0.5)
    growing.extend(1_500)
    assert growing.measured().refuted


def test_what_the_attack_would_not_see_is_said() -> None:
    blind = Power(1.0, ((2, 0.0), (8, 1.7)), replay=False)
    assert (blind.twice, blind.runs) == (False, 8)
    line = audit(Subject(MECHANISM, MECHANISMS["by_laplace"], all_alike()), 8)
    assert replace(line, power=blind).verdict == "not refuted, without power"
    assert "8 × ε" in blind.words
    assert Power(1.0, ((2, 1.2),), replay=False).twice


# Command line -------------------------------------------------------------------------


def test_the_command_prints_and_resumes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "audit.json")
    argv = ["audit", "--algorithm", "gram_notears", "--runs", "8", "--json", "--out", out]
    assert main(argv) == 0
    first = json.loads(capsys.readouterr().out)
    assert {line["kind"] for line in first} == {"strict"}
    assert all(line["claimed"]["epsilon"] == 1.0 for line in first)
    assert all(line["replay"]["faults"] == [] for line in first)
    assert all(line["measured"]["epsilon"] <= 1.0 for line in first)
    stamp = Path(out).stat().st_mtime_ns
    assert main(argv) == 0
    assert json.loads(capsys.readouterr().out) == first
    assert Path(out).stat().st_mtime_ns >= stamp


@pytest.mark.parametrize(
    "argv",
    [
        ["audit", "--algorithm", "pc"],
        ["audit", "--runs", "1"],
        ["audit", "--algorithm", "nothing"],
    ],
)
def test_bad_input_is_one_sentence(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    error = capsys.readouterr().err.strip()
    assert error.endswith((".", "?"))
    assert "\n" not in error


def test_a_file_that_is_no_audit_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "x.json"
    bad.write_text('[{"key": 1}]')
    assert main(["audit", "--algorithm", "gauss_pc", "--out", str(bad)]) == 2
    assert "no file of an audit" in capsys.readouterr().err
    assert math.isfinite(bad.stat().st_size)
