"""Replays part by part: answers written by hand, and algorithms with one fault each."""

import math
from dataclasses import replace

import numpy as np
import pytest

from engine.algorithm import Outcome
from engine.audit.instrumented import Answer, Draw, noise_faults
from engine.audit.neighbours import all_alike
from engine.audit.replay import NOTHING, Finding, Transcript, differences, moved, replay, transcript
from engine.context import RunContext
from engine.privacy import events
from engine.privacy.ledger import Ledger
from engine.privacy.mechanisms import AboveThreshold, laplace
from tests.audit.reference_mechanisms import MECHANISMS, SOUND

COUNT = MECHANISMS["by_laplace"]


def answer(event, *exact):
    return Answer(event, np.array(exact), 0.0, np.array(exact), ())


# How far an answer's input moved -----------------------------------------------------------


FAR = events.ProposeTestReleaseEvent(1.0, 0.01, 2, length=0.5)
STABLE = events.StableEvent(1.0, 1e-3)


@pytest.mark.parametrize(
    ("event", "here", "there", "expected"),
    [
        # Gaussian inputs move by their length, and others entry by entry.
        (events.GaussianEvent(2.0, 1.0), [1.0, 5.0, 2.0], [4.0, 1.0, 2.0], 2.5),
        (events.AnalyticGaussianEvent(2.0, 9.0, 1.0), [1.0, 5.0, 2.0], [4.0, 1.0, 2.0], 2.5),
        (events.LaplaceEvent(2.0, 1.0), [1.0, 5.0, 2.0], [4.0, 1.0, 2.0], 2.0),
        (events.ExponentialEvent(2.0, 2.0, 1.0), [1.0, 5.0, 2.0], [4.0, 1.0, 2.0], 2.0),
        (events.SubsampledEvent(events.LaplaceEvent(2.0, 1.0), 0.5), [1.0], [2.0], 0.5),
        (events.LaplaceEvent(2.0, 1.0), [3.0], [3.0], 0),
        (events.LaplaceEvent(0.0, 1.0), [3.0], [3.0], 0),
        (events.LaplaceEvent(0.0, 1.0), [3.0], [3.5], math.inf),
        (events.LaplaceEvent(1.0, 1.0), [math.inf], [math.inf], 0),  # and not NaN
        (events.SmoothEvent(1.0, 0.1), [3.0], [3.5], math.inf),  # it states no sensitivity
        # Distances in records move by 1, and a value by its length; nearer than two records to an
        # end, the value is delta's business.
        (FAR, [5.0, 3.0, 7.0], [4.0, 3.0, 7.4], 1.0),
        (FAR, [5.0, 3.0, 7.0], [5.0, 3.5, 7.75], 1.5),
        (FAR, [2.0, 0.0, 7.0], [1.5, 0.0, 9.0], 4.0),
        (FAR, [1.5, 0.0, 7.0], [2.0, 0.0, 9.0], 4.0),
        (FAR, [1.5, 0.0, 7.0], [1.0, 0.25, 9.0], 0.5),
        (replace(FAR, length=0.0), [5.0, 3.0, 7.0], [5.0, 3.0, 7.1], math.inf),
        (STABLE, [3.0, 7.0], [2.0, 7.0], 1.0),
        (STABLE, [1.0, 7.0], [0.0, 8.0], math.inf),
        (STABLE, [0.75, 7.0], [0.25, 8.0], 0.5),
    ],
    ids=str,
)
def test_how_far_an_input_moved(event, here, there, expected):
    assert moved(answer(event, *here), answer(event, *there)) == expected


# What replays add up to --------------------------------------------------------------------


def test_findings_add_up_to_the_largest_of_each():
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


def run_of(*labels, steps=(), edges=0, left=""):
    ledger = Ledger()
    for label in labels:
        ledger.charge(events.LaplaceEvent(1.0, 1.0), label=label)
    matrix = np.zeros((3, 3), dtype=bool)
    matrix.ravel()[:edges] = True
    return Transcript(Outcome(matrix=matrix), steps, ledger, (), left)


def test_each_difference_is_one_sentence():
    session = RunContext(None, Ledger(), ("x", "y"))
    session.emit("test", "independent", code="why")
    same, steps = run_of("a", "b"), tuple(session.steps)
    for other, said in (
        (run_of("a", "b"), []),
        (run_of("a"), ["the charges differ"]),
        (run_of("a", "c"), ["the charges differ"]),
        (run_of("a", "b", steps=steps), ["the trace differs"]),
        (run_of("a", "b", edges=1), ["the result differs"]),
        (run_of("a", left="it stops"), ["control flow: it stops"]),
    ):
        assert differences(same, other) == said
    assert len(differences(same, run_of("a", steps=steps, edges=2))) == 3
    # To the last digit, also of arrays that print in short.
    here, there = np.full(2_000, 0.1), np.full(2_000, 0.1)
    there[1_000] = math.nextafter(0.1, 1)
    sides = [replace(same, outcome=side) for side in (here, there)]
    assert differences(*sides) == ["the result differs"]


def counting(work):
    """An algorithm that does this and learns nothing."""

    def run(data, params, session):
        work(data, session)
        session.close()
        return Outcome(matrix=np.zeros((data.d, data.d), dtype=bool))

    return replace(COUNT, run=run)


def looked_at(work):
    params = COUNT.params.build({"epsilon": 9.0})
    return replay(counting(work), all_alike(), params, 0)


def count(data, session, sensitivity=1.0):
    exact = float(np.count_nonzero(data.codes[:, 0]))
    return laplace(session, exact, sensitivity=sensitivity, scale=sensitivity, label="count")


def test_a_replay_tells_what_is_wrong_and_nothing_else():
    right = looked_at(lambda data, session: count(data, session))
    assert (dict(right.ratios), right.faults, right.pairs) == ({"count": 1.0}, (), 1)
    short = looked_at(lambda data, session: count(data, session, 0.5))
    assert dict(short.ratios) == {"count": 2.0}
    assert short.faults == ("count: its input moves by 2 times the sensitivity that was charged",)

    def wasted(data, session):
        count(data, session, 2.0)
        for _ in range(2):  # neither comes to its first question
            AboveThreshold(
                session, threshold=0.0, sensitivity=0.1, threshold_scale=1.0, query_scale=1.0
            )

    assert looked_at(wasted).faults == ("noise was drawn that no answer used",)

    def depends(first, sign):
        def work(data, session):
            for _ in range(first + sign * int(data.codes[0, 0])):
                count(data, session, 4.0)

        return looked_at(work)

    goes_on = "control flow: it continues after answer 1, but the other run ends"
    assert depends(1, 1).faults == (goes_on,)
    assert depends(2, -1).faults == ("control flow: it ends after answer 1 of 2",)


def test_a_transcript_keeps_what_was_asked_and_answered():
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


def test_two_answers_under_one_charge_are_a_fault():
    """The second has the noise that was charged, and no separate charge."""
    ledger, event = Ledger(), events.LaplaceEvent(1.0, 2.0)
    ledger.charge(event, label="count")
    noisy = [
        Answer(
            event, np.array(3.0), 3.0 + z, np.array(3.0 + z), (Draw("laplace", 2.0, np.array(z)),)
        )
        for z in (0.5, 0.75)
    ]
    assert noise_faults(noisy[:1], ledger) == []
    assert noise_faults(noisy, ledger) == ["answer 2 (count) was given without a separate charge"]
    repeated = [noisy[0], Answer(event, np.array(3.0), 3.5, np.array(3.5), noisy[0].draws)]
    assert "the same noise was used twice" in noise_faults(repeated, ledger)
