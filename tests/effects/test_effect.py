"""An effect over plausible graphs: the hull, the probabilities, the sentence, and every refusal."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from engine import InputError, load_dataset
from engine.effects.adjustment import adjustment_set
from engine.effects.effect import ASSUMPTION, CUT, KNOWLEDGE, _unless_wide, effect_of, level_of
from engine.effects.estimate import Interval, estimate
from engine.effects.plausible import Plausible
from engine.effects.words import of_hundred
from engine.graphs.cpdag import matrix_of
from engine.graphs.known import reachable
from tests.effects.models import exact, from_table, noisy

ASIA = load_dataset("asia", n=50_000)
TRUTH = matrix_of(ASIA.truth, ASIA.names)


def turned(*arcs):
    """Asia's DAG with some links reversed."""
    dag, at = TRUTH.copy(), ASIA.names.index
    for a, b in arcs:
        dag[at(a), at(b)], dag[at(b), at(a)] = False, True
    return dag


def asked(cause, effect, *weighed, sd = 0.0005,
          **more):  # fmt: skip
    """An effect in Asia, from tensors with a little noise, over the truth or weighed DAGs."""
    some = weighed or ((TRUTH, 1.0),)
    dags = Plausible(tuple(d for d, _ in some), np.array([w for _, w in some]))
    moments = noisy(ASIA, sd, np.random.default_rng(1))
    return effect_of(moments, ASIA.names, ASIA.levels, dags, cause, effect, **more)


def test_a_sentence_of_an_effect_that_is_known():
    found = asked("smoke", "bronc")
    assert found.sentence == (
        "If smoke were yes for everyone, bronc would be yes for 59 of 100; if it were no, for 29 "
        "of 100. The difference is 30 of 100; the noise and the sample leave 29 to 31. smoke acts "
        "on bronc with a probability of > 99.9 %."
    )
    assert found.notes == ("Adjusted for nothing.", ASSUMPTION)
    assert repr(found) == str(found) == f"{found.sentence} Adjusted for nothing. {ASSUMPTION}"
    assert found.risk("no").value == pytest.approx(0.3, abs=0.01)
    low = replace(found, answers=(replace(found.answers[0], risks=found.answers[0].risks - 0.4),))
    assert ("no, for 0 of 100" in low.sentence, low.notes[1:]) == (True, (CUT, ASSUMPTION))
    assert low.risks["no"].value == 0
    assert asked("smoke", "dysp").adjusted == (("tub",),)
    assert "linear projection" in str(asked("bronc", "dysp"))


def test_json_has_the_attributes_shape():
    for found in (asked("smoke", "bronc"), asked("asia", "xray", sd=0.02)):
        said = json.loads(json.dumps(found.to_json()))
        for name in ("cause", "level", "base", "event", "acts", "reverse", "refusal", "sentence"):
            assert said[name] == getattr(found, name)
        if found.refusal is None:
            assert said["difference"] == vars(found.difference)
            assert said["values"] == list(found.values or ())
            assert said["risks"]["no"] == vars((found.risks or {})["no"])
        else:
            assert said["difference"] is said["values"] is said["risks"] is None
            assert found.difference is found.values is found.risks is None


def test_levels_can_be_named():
    found = asked("smoke", "bronc", level="no", base="yes", event="no").difference
    assert found.value == pytest.approx(0.3, abs=0.02)
    assert asked("smoke", "bronc", level=" NO").base == "yes"
    assert level_of(("0", "1.5", "true"), "x", 1.50) == level_of(("1", "0"), "x", False) == 1
    wrong = ({"level": "maybe"}, {"event": "maybe"}, {"base": "yes"}, {"sets": "some"})
    for pair, more in (*((("smoke", "bronc"), one) for one in wrong),
                       (("smok", "lung"), {}), (("smoke", "smoke"), {})):  # fmt: skip
        with pytest.raises(InputError):
            asked(*pair, **more)


@pytest.mark.parametrize(("second", "sets"), [(0.04, 1), (0.3, 2)])
def test_the_interval_is_the_hull_over_graphs_of_weight(second, sets):
    """bronc's way to dysp is open where it causes smoke; a graph of less than .05 is left out."""
    other = turned(("smoke", "bronc"))
    found = asked("smoke", "dysp", (TRUTH, 1 - second), (other, second))
    moments, (x, y) = noisy(ASIA, 0.0005, np.random.default_rng(1)), map(
        ASIA.names.index, ("smoke", "dysp"))  # fmt: skip
    assert found.reverse == 0
    wanted = [adjustment_set(dag, reachable(dag), x, y) for dag in (TRUTH, other)[:sets]]
    assert [answer.adjusted for answer in found.answers] == wanted
    one = [answer for answer in (estimate(moments, x, y, some) for some in wanted) if answer]
    ends = [each.difference(0, 1, 0) for each in one]
    assert found.difference.low == min(end.low for end in ends)
    assert found.difference.high == max(end.high for end in ends)
    assert ("range is over the 2 sets" in str(found)) == (KNOWLEDGE in found.notes) == (sets == 2)


def test_probabilities_are_the_weights_of_graphs():
    """bronc ← smoke in .7 of the weight; no path either way in .1."""
    cut = TRUTH.copy()
    cut[ASIA.names.index("smoke"), ASIA.names.index("bronc")] = False
    weighed = ((TRUTH, 0.7), (turned(("smoke", "bronc")), 0.2), (cut, 0.1))
    found = asked("smoke", "bronc", *weighed)
    assert (found.acts, found.reverse) == (pytest.approx(0.7), pytest.approx(0.2))
    assert found.sentence.startswith(
        "Unless bronc is among the causes of smoke (a probability of 20.0 %; then setting smoke "
        "changes nothing about it): if smoke were yes for everyone,"
    )
    assert found.sentence.endswith("smoke acts on bronc with a probability of 70.0 %.")
    back = asked("bronc", "smoke", *weighed)
    assert (back.acts, back.reverse) == (pytest.approx(0.2), pytest.approx(0.7))
    assert back.refusal is None


@pytest.mark.parametrize(("reverse", "refused"), [(0.94, False), (0.951, True)])
def test_only_what_is_nearly_sure_to_be_a_cause_is_refused(reverse, refused):
    weighed = (TRUTH, reverse), (turned(("smoke", "bronc")), 1 - reverse)
    found = asked("bronc", "smoke", *weighed)
    assert (found.refusal is not None) == refused
    if refused:
        assert found.sentence == (
            "smoke is among the causes of bronc with a probability of 95.1 %: setting bronc then "
            "changes nothing about smoke, and no number is reported."
        )
        assert found.notes == (ASSUMPTION,)


def test_no_path_is_said_and_has_no_probability():
    found = asked("smoke", "tub", (TRUTH * False, 1.0))
    assert found.acts is None
    assert found.sentence.endswith("No path from smoke to tub was seen.")


def test_an_interval_that_says_nothing_is_refused_with_the_probability():
    """And Fieller's, which is the whole line where the cause may be constant, is one."""
    for sd in (0.01, 0.02):
        found = asked("asia", "xray", sd=sd)
        assert "which says nothing." in found.sentence
        assert found.sentence.endswith("asia acts on xray with a probability of > 99.9 %.")
        assert found.notes == (KNOWLEDGE, ASSUMPTION)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [(0.13, 5.5, "open"), (1.08, 1.6, "open"), (-0.2, 0.9, "anywhere from -20 to +90 of 100")],
)
def test_an_interval_is_not_narrow_because_it_is_cut(low, high, said):
    """No difference is beyond 1: what noise leaves from .13 to 5.5 is no interval from .13 to 1."""
    found = asked("smoke", "lung")
    vars(found)["uncut"] = Interval(0.3, low, high)
    assert found.difference == Interval(0.3, min(low, 1.0), min(high, 1.0))
    assert _unless_wide(found).refusal == (
        f"The noise and the sample leave the effect of smoke on lung {said}, which says nothing."
    )


def test_a_level_without_records_is_named():
    p = np.zeros((3, 2))
    p[:2] = [[0.3, 0.2], [0.1, 0.4]]
    moments, levels = from_table(p, n=5_000), (("never", "seldom", "often"), ("no", "yes"))
    moments.noise_one[:] = moments.noise_two[:] = 1e-9
    dags = Plausible((np.array([[0, 1], [0, 0]], dtype=bool),), np.ones(1))
    found = effect_of(moments, ("smokes", "ill"), levels, dags, "smokes", "ill")
    assert "no record has smokes = often." in found.sentence
    assert "seldom" not in found.refusal
    said = {"unknown no yes": "yes no", "1 2 3": "3 1", "1 0 missing": "1 0", "a b missing": "b a"}
    for levels, two in said.items():
        found = effect_of(moments, "ab", (levels.split(), "10"), dags, "a", "b")
        assert [found.level, found.base, found.event] == [*two.split(), "1"]


def test_many_cells_and_no_covariance_are_refused():
    moments, at = exact(ASIA), ASIA.names.index
    moments.two[at("smoke"), at("lung")] = moments.two[at("lung"), at("smoke")] = 5.0
    dags = Plausible((TRUTH,), np.ones(1))
    found = effect_of(moments, ASIA.names, ASIA.levels, dags, "lung", "bronc", sets="parents")
    assert str(found.refusal).startswith("The noise hides how lung, smoke vary together")
    wide = load_dataset("child", n=1000)
    full = np.zeros((20, 20), dtype=bool)
    full[:18, 18] = True
    some = exact(wide), wide.names, wide.levels, Plausible((full,), np.ones(1))
    found = effect_of(*some, wide.names[18], wide.names[19], sets="parents")
    assert "makes more groups than can be counted." in str(found.refusal)


@pytest.mark.parametrize(
    ("p", "said"),
    [(0.5, "50"), (0.0995, "10"), (0.0123, "1.2"), (0.02, "2"), (-0.0001, "0"), (-0.181, "−18")],
)
def test_shares_of_a_hundred(p, said):
    assert of_hundred(p) == said
    assert math.isfinite(p)
