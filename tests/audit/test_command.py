"""Cases of an audit, their results in files, and the command."""

import json
import math
from dataclasses import replace

import pytest

from engine import ALGORITHMS, InputError
from engine.__main__ import main
from engine.audit.cases import (
    KEEPS_THE_PAIR,
    REPLAYED,
    Case,
    CaseResult,
    Power,
    audit,
    cases,
    power_of,
    read_results,
    replays,
    write_results,
)
from engine.audit.measure import Measured
from engine.audit.neighbours import all_alike, strata
from engine.audit.replay import Finding
from engine.monitor import Monitor
from tests.audit.reference_mechanisms import FAULTS, MECHANISMS

COUNT = MECHANISMS["by_laplace"]
FINE = Measured(0.5, 1e-6, 1.0, 100, 75, (3, 1))
HIGH = replace(FINE, epsilon=1.5)
BAD, GOOD = Finding({"a": 2.0}, ("x",)), Finding({"a": 1.0})
STRONG, WEAK = Power(1.0, ((2, 1.5),), True), Power(1.0, ((2, 0.1), (8, 0.2)), False)
LINE = CaseResult("a", "strict", "p", FINE, GOOD, ((25, 0.1), (100, 0.5)), WEAK)


def test_a_case_has_one_verdict():
    for kind, measured, replayed, power, verdict in (
        ("published", FINE, None, None, "not refuted by these runs"),
        ("published", HIGH, None, None, "claim refuted"),
        ("strict", FINE, GOOD, STRONG, "not refuted"),
        ("strict", FINE, GOOD, WEAK, "not refuted, without power"),
        ("strict", FINE, GOOD, None, "not refuted"),
        ("strict", HIGH, GOOD, STRONG, "REFUTED"),
        ("strict", FINE, BAD, STRONG, "REFUTED"),
        ("strict", HIGH, None, None, "REFUTED"),
    ):
        result = CaseResult("a", kind, "p", measured, replayed, ((25, 0.1),), power)
        assert result.verdict == result.as_dict()["verdict"] == verdict


def test_a_result_as_json():
    assert LINE.as_dict() == {
        "key": "a/strict/p",
        "algorithm": "a",
        "kind": "strict",
        "neighbours": "p",
        "claimed": {"epsilon": 1.0, "delta": 1e-6},
        "measured": {"epsilon": 0.5, "runs": 100, "counted": 75},
        "hits": [3, 1],
        "growth": [[25, 0.1], [100, 0.5]],
        "replay": {"pairs": 1, "change_over_sensitivity": {"a": 1.0}, "faults": []},
        "power": {"replay": False, "tried": [[2, 0.1], [8, 0.2]]},
        "verdict": "not refuted, without power",
    }


def test_a_file_of_results_that_was_changed_is_refused(tmp_path, capsys):
    path = tmp_path / "results.json"
    bare = CaseResult("a", "published", "p", replace(FINE, claimed=math.inf))
    write_results(str(path), [LINE, bare])
    assert read_results(str(path)) == {"a/strict/p": LINE, "a/published/p": bare}
    for place, value in (
        (("algorithm",), None),
        (("key",), "another"),
        (("hits",), [1]),
        (("measured", "runs"), math.inf),
        (("growth",), [[math.inf, 0.1]]),
        (("replay", "change_over_sensitivity"), [1.0]),
        (("replay", "faults"), [3]),
        (("claimed",), "a"),
    ):
        content = LINE.as_dict()
        (content if len(place) == 1 else content[place[0]])[place[-1]] = value
        path.write_text(json.dumps([content]))
        assert main(["audit", "--algorithm", "gauss_pc", "--out", str(path)]) == 2
        assert "not a file of an audit" in capsys.readouterr().err
    path.write_text("[" * 200_000)
    with pytest.raises(InputError, match="not a file of an audit"):
        read_results(str(path))


def test_everything_that_makes_a_promise_is_audited():
    """Published searches with a threshold on scores keep the pair that leaks; else no settings."""
    every = cases()
    keys = [one.key for one in every]
    assert len(set(keys)) == len(keys)
    private = {key for key, one in ALGORITHMS.items() if one.private and not one.chooses}
    assert {one.algorithm.key for one in every if one.kind == "strict"} == private
    assert [one.key for one in cases("curate_pc")] == [k for k in keys if "curate_pc/" in k]
    assert "curate_pc/published/strata" in keys
    extra = {}
    for one in every:
        asked = dict(one.values)
        assert (asked.pop("epsilon"), asked.pop("guarantee")) == (1.0, one.kind)
        if asked:
            extra[one.kind, one.algorithm.key] = asked
    alone = {("published", key): {"threshold": 0.5} for key in ("priv_pc", "svt_pc", "gauss_pc")}
    assert extra == {**alone, ("published", "curate_pc"): KEEPS_THE_PAIR}


# Audits -----------------------------------------------------------------------------------


def test_an_audit_reports_on_the_way_and_stops_when_cancelled():
    case, seen = Case("strict", COUNT, all_alike(), {"epsilon": 1.0}), []
    result = audit(case, 60, on_look=lambda found: seen.append((found.runs, found.epsilon)))
    assert [runs for runs, _ in seen] == [25, 50, 60]
    assert result.growth == tuple(seen)
    assert result.measured.epsilon == seen[-1][1]
    assert result.key == case.key == "by_laplace/strict/all alike"
    asked = []
    stopped = audit(case, 60, stop=lambda: bool(asked.append(1)) or len(asked) > 1)
    assert stopped.measured.runs < 60
    assert (stopped.replayed, stopped.power) == (None, None)
    published = audit(replace(case, kind="published"), 4)
    assert (published.replayed, published.power) == (None, None)


def test_every_fault_is_found_and_half_of_the_noise_of_every_mechanism():
    for mechanism in MECHANISMS.values():
        result = audit(Case("strict", mechanism, all_alike(), {"epsilon": 1.0}), 8)
        assert result.verdict == "not refuted"
        assert result.power.replay
        assert getattr(result.replayed, "pairs", 0) == 3 + REPLAYED
    for faulty in FAULTS.values():
        assert audit(Case("strict", faulty, all_alike(), {}), 8).verdict == "REFUTED"


def test_random_pairs_have_the_width_and_the_rows_that_an_algorithm_takes():
    seen = []

    def recorded(data, *rest):
        seen.append((data.n >= 200, data.d))
        return COUNT.run(data, *rest)

    replays(Case("strict", replace(COUNT, columns=3, min_rows=200, run=recorded), strata(), {}))
    assert seen[6:] == [(True, 3)] * 2 * REPLAYED


def test_power_is_tried_up_to_the_first_fault_that_shows():
    case = Case("strict", COUNT, all_alike(), {"epsilon": 1.0})
    for claimed, tried in ((0.01, (2,)), (50.0, (2, 8))):
        found = power_of(case, replace(FINE, claimed=claimed), GOOD)
        assert (tuple(k for k, _ in found.tried), found.replay) == (tried, True)
        assert (found.runs, found.twice) == (2 if claimed < 1 else None, True)
    assert power_of(case, FINE, GOOD, Monitor(stop=lambda: True)).tried == ((2, 0.0),)
    assert not power_of(case, FINE, Finding({"a": 0.5})).replay  # half a charge would not show
    assert power_of(case, FINE, Finding({"a": 0.51})).replay
    late = Power(1.0, ((2, 1.0), (8, 1.1)), False)  # a bound at the claim shows nothing
    assert (late.runs, late.twice, late.words) == (8, False, "replay: none; runs: 8 × ε")
    assert STRONG.words == "replay: 2 × ε; runs: 2 × ε"
    assert not WEAK.twice


# Command line -------------------------------------------------------------------------


def test_the_command_prints_and_resumes(tmp_path, capsys, monkeypatch):
    out = tmp_path / "audit.json"
    monkeypatch.setattr("engine.audit.cases.REPLAYED", 2)
    argv = ["audit", "--algorithm", "svt_pc", "--runs", "8", "--json", "--out", str(out)]
    assert main(argv) == 0
    first = json.loads(capsys.readouterr().out)
    assert json.loads(out.read_text()) == first
    assert {line["kind"] for line in first} == {"strict", "published"}
    assert all(line["verdict"].startswith("not refuted") for line in first)
    monkeypatch.setattr("engine.cli.audit.audit", lambda *_, **__: pytest.fail("run again"))
    assert main(argv) == 0
    assert json.loads(capsys.readouterr().out) == first


def test_bad_input_is_one_line(capsys):
    for more in (["--algorithm", "pc"], ["--runs", "1"], ["--algorithm", "none"]):
        assert main(["audit", *more]) == 2
        error = capsys.readouterr().err.strip()
        assert error.endswith((".", "?"))
        assert "\n" not in error
