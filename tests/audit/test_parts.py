"""Replays and surveys part by part: answers written by hand, toys, and one verdict a case."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine import ALGORITHMS, InputError
from engine.algorithm import Algorithm, Outcome
from engine.audit import survey as surveys
from engine.audit.lines import read_lines, write_lines
from engine.audit.measure import Measured
from engine.audit.neighbours import all_alike, strata
from engine.audit.replay import (
    NOTHING,
    Finding,
    Transcript,
    differences,
    moved,
    replay,
    sees_half_the_noise,
    transcript,
)
from engine.audit.survey import (
    FAULT,
    KEEPS_THE_PAIR,
    MECHANISM,
    REPLAYED,
    Power,
    Subject,
    Surveyed,
    audit,
    power_of,
    replays,
    subjects,
    survey,
)
from engine.audit.toys import FAULTS, MECHANISMS, SOUND
from engine.audit.watching import Answer
from engine.context import RunContext, Step
from engine.data.dataset import Dataset
from engine.privacy.events import (
    AnalyticGaussianEvent,
    Event,
    ExponentialEvent,
    GaussianEvent,
    LaplaceEvent,
    ProposeTestReleaseEvent,
    SmoothEvent,
    StableEvent,
    SubsampledEvent,
)
from engine.privacy.ledger import Ledger
from engine.privacy.mechanisms import AboveThreshold, laplace

TOY = MECHANISMS["by_laplace"]


def answer(event: Event, *exact: float) -> Answer:
    return Answer(event, np.array(exact), 0.0, np.array(exact), ())


def change(event: Event, here: list[float], there: list[float]) -> float:
    return moved(answer(event, *here), answer(event, *there))


# How far an answer's input moved -----------------------------------------------------------


def test_gaussian_inputs_move_by_their_length_and_others_entry_by_entry() -> None:
    for event in (GaussianEvent(2.0, 1.0), AnalyticGaussianEvent(2.0, 9.0, 1.0)):
        assert change(event, [1.0, 5.0, 2.0], [4.0, 1.0, 2.0]) == 2.5
    for other in (LaplaceEvent(2.0, 1.0), ExponentialEvent(2.0, 2.0, 1.0)):
        assert change(other, [1.0, 5.0, 2.0], [4.0, 1.0, 2.0]) == 2.0
        assert change(SubsampledEvent(other, 0.5), [1.0], [2.0]) == 0.5
    assert change(LaplaceEvent(2.0, 1.0), [3.0], [3.0]) == 0
    assert change(LaplaceEvent(0.0, 1.0), [3.0], [3.0]) == 0
    assert change(LaplaceEvent(0.0, 1.0), [3.0], [3.5]) == math.inf
    assert change(LaplaceEvent(1.0, 1.0), [math.inf], [math.inf]) == 0  # and not NaN
    assert change(SmoothEvent(1.0, 0.1), [3.0], [3.5]) == math.inf  # it states no sensitivity


def test_a_value_that_is_far_from_its_ends_may_move_by_its_length() -> None:
    """Distances in records move by 1; nearer than two, the value is delta's business."""
    event = ProposeTestReleaseEvent(1.0, 0.01, 2, length=0.5)
    assert change(event, [5.0, 3.0, 7.0], [4.0, 3.0, 7.4]) == 1.0
    assert change(event, [5.0, 3.0, 7.0], [5.0, 3.5, 7.75]) == 1.5
    assert change(event, [2.0, 0.0, 7.0], [1.5, 0.0, 9.0]) == 4.0
    assert change(event, [1.5, 0.0, 7.0], [2.0, 0.0, 9.0]) == 4.0
    assert change(event, [1.5, 0.0, 7.0], [1.0, 0.25, 9.0]) == 0.5
    stable = StableEvent(1.0, 1e-3)
    assert change(stable, [3.0, 7.0], [2.0, 7.0]) == 1.0
    assert change(stable, [1.0, 7.0], [0.0, 8.0]) == math.inf
    assert change(stable, [0.75, 7.0], [0.25, 8.0]) == 0.5
    assert change(replace(event, length=0.0), [5.0, 3.0, 7.0], [5.0, 3.0, 7.1]) == math.inf


# What replays add up to --------------------------------------------------------------------


def test_findings_add_up_to_the_largest_of_each() -> None:
    one = Finding({"a": 0.5, "b": 0.75}, ("x", "y"), 2)
    two = Finding({"b": 0.25, "c": 1.0}, ("y", "z"), 3)
    both = one + two
    assert dict(both.ratios) == {"a": 0.5, "b": 0.75, "c": 1.0}
    assert both.faults == ("x", "y", "z")
    assert both.pairs == 5
    assert (both.largest, NOTHING.largest) == (1.0, 0.0)
    assert (NOTHING + one).pairs == 2
    assert not both.passed
    assert Finding({"a": 1 + 1e-10}).passed
    assert not Finding({"a": 1 + 1e-8}).passed
    assert not Finding({}, ("x",)).passed
    assert (Finding().pairs, NOTHING.passed) == (1, True)


def run_of(
    *labels: str, steps: tuple[Step, ...] = (), edges: int = 0, left: str = ""
) -> Transcript:
    ledger = Ledger()
    for label in labels:
        ledger.charge(LaplaceEvent(1.0, 1.0), label=label)
    matrix = np.zeros((3, 3), dtype=bool)
    matrix.ravel()[:edges] = True
    return Transcript(Outcome(cpdag=matrix), steps, ledger, (), left)


def test_each_difference_is_one_sentence() -> None:
    session = RunContext(None, Ledger(), ("x", "y"))  # type: ignore[arg-type]
    session.emit("test", "independent", reason="why")
    same = run_of("a", "b")
    assert differences(same, run_of("a", "b")) == []
    assert differences(same, run_of("a")) == ["the charges differ"]
    assert differences(same, run_of("a", "c")) == ["the charges differ"]
    assert differences(same, run_of("a", "b", steps=tuple(session.steps))) == ["the trace differs"]
    assert differences(same, run_of("a", "b", edges=1)) == ["the result differs"]
    assert len(differences(same, run_of("a", steps=tuple(session.steps), edges=2))) == 3
    assert differences(same, run_of("a", left="it stops")) == ["control flow: it stops"]


def test_a_result_is_compared_to_the_last_digit() -> None:
    """Of arrays that print in short, too: a thousand entries, one of which is a hair larger."""
    here, there = np.full(2_000, 0.1), np.full(2_000, 0.1)
    there[1_000] = math.nextafter(0.1, 1)
    sides = [replace(run_of("a"), outcome=side) for side in (here, there)]  # type: ignore[arg-type]
    assert differences(*sides) == ["the result differs"]


def toy(work: Callable[[Dataset, RunContext], object]) -> Algorithm:
    """An algorithm that does this and learns nothing."""

    def run(data: Dataset, params: Any, session: RunContext) -> Outcome:
        work(data, session)
        session.close()
        return Outcome(cpdag=np.zeros((data.d, data.d), dtype=bool))

    return replace(TOY, run=run)


def looked_at(work: Callable[[Dataset, RunContext], object]) -> Finding:
    params = TOY.params.build({"epsilon": 9.0})
    return replay(toy(work), all_alike(), params, 0)


def count(data: Dataset, session: RunContext, sensitivity: float = 1.0) -> float:
    exact = float(np.count_nonzero(data.codes[:, 0]))
    return laplace(session, exact, sensitivity=sensitivity, scale=sensitivity, label="count")


def test_a_replay_tells_what_is_wrong_and_nothing_else() -> None:
    right = looked_at(lambda data, session: count(data, session))
    assert (dict(right.ratios), right.faults, right.pairs) == ({"count": 1.0}, (), 1)
    short = looked_at(lambda data, session: count(data, session, 0.5))
    assert dict(short.ratios) == {"count": 2.0}
    assert short.faults == ("count: its input moves by 2 times the sensitivity that was charged",)

    def wasted(data: Dataset, session: RunContext) -> None:
        count(data, session, 2.0)
        for _ in range(2):  # neither comes to its first question
            AboveThreshold(
                session, threshold=0.0, sensitivity=0.1, threshold_scale=1.0, query_scale=1.0
            )

    assert looked_at(wasted).faults == ("noise was drawn that no answer used",)

    def one_more(data: Dataset, session: RunContext) -> None:
        for _ in range(1 + int(data.codes[0, 0])):
            count(data, session, 4.0)

    assert looked_at(one_more).faults == (
        "control flow: it goes on after answer 1, where the other run ends",
    )

    def one_less(data: Dataset, session: RunContext) -> None:
        for _ in range(2 - int(data.codes[0, 0])):
            count(data, session, 4.0)

    assert looked_at(one_less).faults == ("control flow: it ends after answer 1 of 2",)


def test_a_transcript_keeps_what_was_asked_and_answered() -> None:
    params = SOUND.params.build({"epsilon": 2.0})
    run = transcript(SOUND, all_alike().data, params, 3)
    assert run.answers[0].event == run.ledger[0].event
    assert len(run.answers) == len(run.steps)
    assert (run.left, run.spare_draws) == ("", 0)
    assert run.outcome is not None
    again = transcript(SOUND, all_alike().data, params, 3, script=run.answers)
    assert differences(run, again) == []
    other = transcript(SOUND, all_alike().data, params, 4)
    assert float(other.answers[0].given) != float(run.answers[0].given)
    for key, one in MECHANISMS.items():
        built = one.params.build({"epsilon": 1.0})
        assert sees_half_the_noise(one, all_alike(), built, 0), key
    assert not sees_half_the_noise(toy(lambda data, session: None), all_alike(), params, 0)


# A line of an audit ------------------------------------------------------------------------

FINE = Measured(0.5, 1e-6, 1.0, 100, 75, (3, 1))
HIGH = replace(FINE, epsilon=1.5)
BAD, GOOD = Finding({"a": 2.0}, ("x",)), Finding({"a": 1.0})
STRONG, WEAK = Power(1.0, ((2, 1.5),), True), Power(1.0, ((2, 0.1), (8, 0.2)), False)


@pytest.mark.parametrize(
    ("kind", "measured", "replayed", "power", "verdict"),
    [
        (FAULT, FINE, GOOD, None, "NOT FOUND"),
        (FAULT, HIGH, GOOD, None, "found"),
        (FAULT, FINE, BAD, None, "found"),
        ("published", FINE, None, None, "not refuted by these runs"),
        ("published", HIGH, None, None, "claim refuted"),
        ("strict", FINE, GOOD, STRONG, "not refuted"),
        ("strict", FINE, GOOD, WEAK, "not refuted, without power"),
        ("strict", FINE, GOOD, None, "not refuted"),
        ("strict", HIGH, GOOD, STRONG, "REFUTED"),
        ("strict", FINE, BAD, STRONG, "REFUTED"),
        ("strict", HIGH, None, None, "REFUTED"),
        (MECHANISM, FINE, BAD, WEAK, "REFUTED"),
    ],
)
def test_a_line_has_one_verdict(
    kind: str, measured: Measured, replayed: Finding | None, power: Power | None, verdict: str
) -> None:
    line = Surveyed("k", "a", kind, "p", measured, replayed, ((25, 0.1),), power)
    assert line.verdict == line.as_dict()["verdict"] == verdict


def test_power_is_of_twice_the_epsilon_by_either_way() -> None:
    assert (STRONG.runs, WEAK.runs) == (2, None)
    assert (STRONG.twice, WEAK.twice) == (True, False)
    assert Power(1.0, ((2, 1.0), (8, 1.1)), False).runs == 8  # a bound at the claim shows nothing
    assert not Power(1.0, ((2, 1.0), (8, 1.1)), False).twice
    assert Power(1.0, ((2, 1.1),), False).twice
    assert Power(1.0, ((2, 0.0),), True).twice
    assert STRONG.words == "replay: 2 × ε; runs: 2 × ε"
    assert WEAK.words == "replay: none; runs: none"


def test_a_line_is_told_as_json() -> None:
    line = Surveyed("k", "a", "strict", "p", FINE, GOOD, ((25, 0.1), (100, 0.5)), WEAK)
    assert line.as_dict() == {
        "key": "k",
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
    bare = Surveyed("k", "a", "published", "p", replace(FINE, claimed=math.inf)).as_dict()
    assert bare["claimed"]["epsilon"] == "inf"
    assert (bare["replay"], bare["power"], bare["growth"]) == (None, None, [])


SPOILT: tuple[tuple[tuple[str | int, ...], object], ...] = (
    (("key",), ["k"]),
    (("algorithm",), None),
    (("hits",), [1]),
    (("measured", "runs"), math.inf),
    (("growth",), [[math.inf, 0.1]]),
    (("replay", "change_over_sensitivity"), [1.0]),
    (("replay", "faults"), [3]),
    (("claimed",), "a"),
)


@pytest.mark.parametrize(("way", "value"), SPOILT, ids=str)
def test_a_file_of_lines_that_was_changed_is_one_sentence(
    way: tuple[Any, ...], value: object, tmp_path: Path
) -> None:
    path = tmp_path / "lines.json"
    line = Surveyed("k", "a", "strict", "p", FINE, GOOD, ((25, 0.1), (100, 0.5)), WEAK)
    write_lines(str(path), [line])
    assert read_lines(str(path)) == {"k": line}
    content = line.as_dict()
    place: Any = content
    for step in way[:-1]:
        place = place[step]
    place[way[-1]] = value
    path.write_text(json.dumps([content]))
    with pytest.raises(InputError, match="no file of an audit"):
        read_lines(str(path))


def test_lists_in_lists_are_no_file_of_an_audit(tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text("[" * 200_000)
    with pytest.raises(InputError, match="no file of an audit"):
        read_lines(str(tmp_path / "deep.json"))


# What is audited ---------------------------------------------------------------------------


def test_everything_that_makes_a_promise_is_audited() -> None:
    every = subjects()
    keys = [one.key for one in every]
    assert len(set(keys)) == len(keys)
    private = {key for key, one in ALGORITHMS.items() if one.private and not one.chooses}
    kinds = {one.kind for one in every}
    assert kinds == {MECHANISM, FAULT, "strict", "published"}
    assert {s.algorithm.key for s in every if s.kind == "strict"} == private
    assert {s.algorithm.key for s in every if s.kind == MECHANISM} == set(MECHANISMS)
    assert {s.algorithm.key for s in every if s.kind == FAULT} == set(FAULTS)
    alone = subjects("curate_pc")
    assert {one.algorithm.key for one in alone} == {"curate_pc"}
    assert [one.key for one in alone] == [k for k in keys if k.startswith("curate_pc/")]
    assert "curate_pc/published/strata" in keys
    for one in alone:
        asked = dict(one.values)
        assert asked.pop("epsilon") == 1.0
        assert asked.pop("guarantee") == one.kind
        assert asked == (KEEPS_THE_PAIR if one.kind == "published" else {})
    for silent in ("pc", "notears"):
        with pytest.raises(InputError, match="no claim to audit"):
            subjects(silent)


def test_published_searches_on_scores_are_set_to_keep_the_pair_that_leaks() -> None:
    """Those with a threshold on scores; CURATE's coin besides. Nothing else is set."""
    usual = {"epsilon", "guarantee"}
    extra = {
        s.algorithm.key: {k: v for k, v in s.values.items() if k not in usual}
        for s in subjects()
        if s.kind == "published"
    }
    alone = {key: {"threshold": 0.5} for key in ("priv_pc", "svt_pc", "gauss_pc")}
    found = {key: held for key, held in extra.items() if held}
    assert found == {**alone, "curate_pc": KEEPS_THE_PAIR}
    assert all(set(s.values) <= usual for s in subjects() if s.kind != "published")


# Many runs ---------------------------------------------------------------------------------


def test_an_audit_looks_on_the_way_and_stops_when_told() -> None:
    subject = Subject(MECHANISM, TOY, all_alike(), {"epsilon": 1.0})
    seen: list[int] = []
    line = audit(subject, 60, watch=lambda one, found: seen.append(found.runs))
    assert seen == [25, 50, 60]
    assert [runs for runs, _ in line.growth] == seen
    assert line.growth[-1] == (60, line.measured.epsilon)
    assert (line.key, line.pair) == ("by_laplace/mechanism/all alike", "all alike")
    assert line.replayed is not None
    assert line.replayed.pairs == 3
    assert line.power is not None
    asked: list[int] = []
    stopped = audit(subject, 60, cancelled=lambda: bool(asked.append(1)) or len(asked) > 1)
    assert stopped.measured.runs < 60
    assert stopped.replayed is None
    assert stopped.power is None
    fault = audit(Subject(FAULT, FAULTS["data_normaliser"], all_alike(), {"epsilon": 1.0}), 4)
    assert fault.replayed is not None
    assert fault.power is None
    published = Subject("published", TOY, all_alike(), {"epsilon": 1.0})
    assert audit(published, 4).replayed is None


def test_strict_claims_are_replayed_on_random_pairs_too() -> None:
    chosen = replace(TOY, columns=3, min_rows=200)
    seen = []

    def watched(data: Dataset, params: Any, session: RunContext) -> Outcome:
        seen.append((data.n, data.d))
        return TOY.run(data, params, session)

    found = replays(Subject("strict", replace(chosen, run=watched), strata(), {"epsilon": 1.0}))
    assert found.pairs == 3 + REPLAYED
    assert len(seen) == 2 * found.pairs
    assert all(n >= 200 and d == 3 for n, d in seen[6:])


def test_power_is_tried_up_to_the_first_fault_that_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = Subject(MECHANISM, TOY, all_alike(), {"epsilon": 1.0})
    asked: list[float] = []

    class Faulty:
        def __init__(self, bound: float):
            self.bound = bound

        def extend(self, runs: int, cancelled: Any) -> None:
            assert runs == 100

        def measured(self) -> Measured:
            return replace(FINE, epsilon=self.bound)

    def planted(bounds: dict[float, float]) -> Callable[..., Faulty]:
        def trial(algorithm: Any, pair: Any, values: Any, share: float) -> Faulty:
            asked.append(share)
            return Faulty(bounds[share])

        return trial

    for bounds, shares in (
        ({0.5: 1.0, 0.125: 3.0}, [0.5, 0.125]),
        ({0.5: 1.1}, [0.5]),
        ({0.5: 0.0, 0.125: 0.0}, [0.5, 0.125]),
    ):
        asked.clear()
        monkeypatch.setattr(surveys, "trial", planted(bounds))
        found = power_of(subject, FINE, GOOD)
        assert asked == shares
        assert found.tried == tuple((round(1 / s), bounds[s]) for s in shares)
        assert found.claimed == 1.0
        assert found.replay
    asked.clear()
    monkeypatch.setattr(surveys, "trial", planted({0.5: 0.0, 0.125: 0.0}))
    assert power_of(subject, FINE, GOOD, lambda: True).tried == ((2, 0.0),)
    assert not power_of(subject, FINE, Finding({"a": 0.5})).replay  # half a charge would not show
    assert power_of(subject, FINE, Finding({"a": 0.51})).replay


def test_what_is_done_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """With as many runs; and where its power is not known, that is found out."""
    toys = [Subject(MECHANISM, one, all_alike(), {}) for one in MECHANISMS.values()]
    first, second = toys[:2]
    audited: list[str] = []

    def line(subject: Subject, runs: int, power: Power | None = STRONG) -> Surveyed:
        measured = replace(FINE, runs=runs)
        return Surveyed(
            subject.key, subject.algorithm.key, subject.kind, "p", measured, GOOD, (), power
        )

    def fresh(subject: Subject, runs: int, **_: Any) -> Surveyed:
        audited.append(subject.key)
        return line(subject, runs)

    monkeypatch.setattr(surveys, "audit", fresh)
    monkeypatch.setattr(surveys, "power_of", lambda *_: WEAK)
    done = {first.key: line(first, 50), second.key: line(second, 49)}
    found = list(survey([first, second], 50, done=done))
    assert audited == [second.key]
    assert found[0] is done[first.key]
    (more,) = survey([first], 50, done={first.key: line(first, 51, None)})
    assert more.power is WEAK
    fault = Subject(FAULT, FAULTS["shared_seed"], all_alike())
    kept = line(fault, 50, None)
    assert list(survey([fault], 50, done={fault.key: kept})) == [kept]
    silent = replace(line(first, 50, None), replayed=None)
    assert list(survey([first], 50, done={first.key: silent})) == [silent]
    audited.clear()
    stopped = list(survey([first, second], 50, done=done, cancelled=lambda: True))
    assert (len(stopped), audited) == (1, [])
