"""An effect over plausible graphs: the hull, the probabilities, the sentence, and every refusal."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from engine import InputError, load_dataset
from engine.effects.adjustment import adjustment_set
from engine.effects.effect import MOST_SURE, effect_of
from engine.effects.estimate import Interval, estimate
from engine.effects.outcome import counted, event_label, level_of
from engine.effects.plausible import Plausible
from engine.effects.words import ASSUMPTION, CUT, FOLDED, KNOWLEDGE, of_hundred, too_wide
from engine.graphs.cpdag import matrix_of
from engine.graphs.orientation import reachable
from engine.marginals.contrasts import helmert
from tests.effects.models import event, exact, from_table, noisy

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
        "of 100. The difference is 30 of 100 (95 % interval: 29 to 31). The probability that smoke "
        "acts on bronc is 95 %."
    )
    assert found.notes == ("Adjusted for nothing.", ASSUMPTION)
    assert repr(found) == str(found) == f"{found.sentence} Adjusted for nothing. {ASSUMPTION}"
    assert found.risk("no").value == pytest.approx(0.3, abs=0.01)
    low = replace(found, answers=(replace(found.answers[0], means=found.answers[0].means - 0.4),))
    assert ("no, for 0 of 100" in low.sentence, low.notes[1:]) == (True, (CUT, ASSUMPTION))
    assert low.risks["no"].value == 0
    assert asked("smoke", "dysp").adjusted == (("tub",),)
    assert "linear projection" in str(asked("bronc", "dysp"))


def test_json_has_the_attributes_shape():
    for found in (asked("smoke", "bronc"), asked("asia", "xray", sd=0.02)):
        said = json.loads(json.dumps(found.to_json()))
        for name in ("cause", "outcome", "reference", "acts", "reverse", "refusal", "sentence"):
            assert said[name] == getattr(found, name)
        assert (said["cause_level"], said["outcome_level"]) == (found.level, found.event)
        if found.refusal is None:
            assert said["difference"] == vars(found.difference)
            assert said["estimates"] == list(found.estimates)
            assert said["risks"]["no"] == vars((found.risks or {})["no"])
        else:
            assert said["difference"] is said["estimates"] is said["risks"] is None
            assert found.difference is found.risks is None


def test_levels_can_be_named():
    found = asked("smoke", "bronc", cause_level="no", reference="yes", outcome_level="no")
    assert found.difference.value == pytest.approx(0.3, abs=0.02)
    assert asked("smoke", "bronc", cause_level=" NO").reference == "yes"
    assert level_of(("0", "1.5", "true"), "x", 1.50) == level_of(("1", "0"), "x", False) == 1
    wrong = ({"cause_level": "maybe"}, {"outcome_level": "maybe"}, {"reference": "yes"},
             {"adjustment": "some"}, {"outcome_level": ["yes", "no"]},
             {"outcome_level": []})  # fmt: skip
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
    asked_of = event(moments, x, y, 0, 0, 1)
    ends = [estimate(moments, asked_of, some).difference for some in wanted]
    assert found.difference.low == min(end.low for end in ends)
    assert found.difference.high == max(end.high for end in ends)
    values = [end.value for end in ends]
    assert found.difference.value == pytest.approx((min(values) + max(values)) / 2)
    assert found.estimates == (min(values), max(values))
    assert ("1 other set" in str(found)) == (KNOWLEDGE in found.notes) == (sets == 2)


def test_probabilities_are_the_weights_of_graphs():
    """bronc ← smoke in .7 of the weight; no path either way in .1."""
    cut = TRUTH.copy()
    cut[ASIA.names.index("smoke"), ASIA.names.index("bronc")] = False
    weighed = ((TRUTH, 0.7), (turned(("smoke", "bronc")), 0.2), (cut, 0.1))
    found = asked("smoke", "bronc", *weighed)
    assert (found.acts, found.reverse) == (pytest.approx(0.7), pytest.approx(0.2))
    assert found.sentence.startswith(
        "bronc is among the causes of smoke with a probability of 20 %; then setting smoke does "
        "not change bronc. If it is not: if smoke were yes for everyone,"
    )
    assert found.sentence.endswith("The probability that smoke acts on bronc is 70 %.")
    back = asked("bronc", "smoke", *weighed)
    assert (back.acts, back.reverse) == (pytest.approx(0.2), pytest.approx(0.7))
    assert back.refusal is None


@pytest.mark.parametrize("reverse", [0.94, 0.999])
def test_a_probable_cause_has_the_effect_if_it_is_none(reverse):
    """No direction is reported as surer than columns that may be missing allow."""
    weighed = (TRUTH, reverse), (turned(("smoke", "bronc")), 1 - reverse)
    found = asked("bronc", "smoke", *weighed)
    assert (found.reverse, found.refusal) == (pytest.approx(min(reverse, MOST_SURE)), None)
    assert f"with a probability of {100 * found.reverse:.0f} %; then setting" in found.sentence
    assert "If it is not: if bronc were yes for everyone, smoke would be yes" in found.sentence
    always = asked("bronc", "smoke", (TRUTH, 1.0))
    assert str(always.refusal).startswith("In every plausible graph smoke is among the causes of")


def test_no_path_is_said_and_has_no_probability():
    found = asked("smoke", "tub", (TRUTH * False, 1.0))
    assert found.acts is None
    assert found.sentence.endswith("No path from smoke to tub was found.")


def test_an_interval_that_says_nothing_is_refused_with_the_probability():
    """And Fieller's, which is the whole line where the cause may be constant, is one."""
    for pair, sd, said in ((("asia", "xray"), 0.02, "The noise is larger than the count of asia"),
                           (("bronc", "asia"), 0.3, "The noise is larger than the count of bronc"),
                           (("tub", "xray"), 0.0047, "too wide to say anything")):  # fmt: skip
        found = asked(*pair, sd=sd)
        assert said in str(found.refusal)
        assert found.notes == (KNOWLEDGE, ASSUMPTION)


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [(0.13, 5.5, "open"), (1.08, 1.6, "open"), (-0.2, 0.9, "anywhere from −20 to 90 of 100")],
)
def test_an_interval_is_not_narrow_because_it_is_cut(low, high, said):
    """No difference is beyond 1: what noise leaves from .13 to 5.5 is no interval from .13 to 1."""
    found = asked("smoke", "lung")
    answer = replace(found.answers[0], difference=Interval(0.3, low, high))
    cut = replace(found, answers=(answer,))
    assert cut.difference == Interval(0.3, min(low, 1.0), min(high, 1.0))
    assert too_wide("smoke", "lung", answer.difference, answer.asked) == (
        f"The effect of smoke on lung is {said}: the interval is too "
        "wide to say anything about this effect."
    )


def test_a_level_without_records_is_named():
    p = np.zeros((3, 2))
    p[:2] = [[0.3, 0.2], [0.1, 0.4]]
    moments, levels = from_table(p, n=5_000), (("never", "seldom", "often"), ("no", "yes"))
    moments.noise_one[:] = moments.noise_two[:] = 1e-9
    dags = Plausible((np.array([[0, 1], [0, 0]], dtype=bool),), np.ones(1))
    found = effect_of(moments, ("smokes", "ill"), levels, dags, "smokes", "ill")
    assert "The noise is larger than the count of smokes = often." in found.sentence
    assert "seldom" not in found.refusal
    said = {"unknown no yes": "yes no", "1 2 3": "3 1", "1 0 missing": "1 0", "a b missing": "b a"}
    for levels, two in said.items():
        found = effect_of(moments, "ab", (levels.split(), "10"), dags, "a", "b")
        assert [found.level, found.reference, found.event] == [*two.split(), "1"]


def test_many_cells_and_no_covariance_are_refused():
    moments, at = exact(ASIA), ASIA.names.index
    moments.two[at("smoke"), at("lung")] = moments.two[at("lung"), at("smoke")] = 5.0
    dags = Plausible((TRUTH,), np.ones(1))
    found = effect_of(moments, ASIA.names, ASIA.levels, dags, "lung", "bronc", adjustment="parents")
    assert str(found.refusal).startswith("The noise hides how lung, smoke vary together")
    wide = load_dataset("child", n=1000)
    full = np.zeros((20, 20), dtype=bool)
    full[:18, 18] = True
    some = exact(wide), wide.names, wide.levels, Plausible((full,), np.ones(1))
    found = effect_of(*some, wide.names[18], wide.names[19], adjustment="parents")
    assert "makes more groups than can be counted." in str(found.refusal)


@pytest.mark.parametrize(
    ("p", "said"),
    [(0.5, "50"), (0.0995, "10"), (0.0123, "1.2"), (0.02, "2"), (-0.0001, "0"), (-0.181, "−18")],
)
def test_shares_of_a_hundred(p, said):
    assert of_hundred(p) == said
    assert math.isfinite(p)


AGES = ("< 30", "[30, 50)", "[50, 70)", ">= 70", "missing")


@pytest.mark.parametrize(
    ("wanted", "codes", "label"),
    [
        (">= 30", (1, 2, 3), ">= 30"),
        ("≥ 50", (2, 3), ">= 50"),
        ("< 50", (0, 1), "< 50"),
        ("[30, 70)", (1, 2), "[30, 70)"),
        ("[30, 50)", (1,), "[30, 50)"),
        (["< 30", ">= 70"], (0, 3), "< 30 or >= 70"),
        (["missing", "< 30"], (0, 4), "< 30 or missing"),
        (None, (3,), ">= 70"),
    ],
)
def test_an_event_is_levels_or_a_range_of_numbers(wanted, codes, label):
    found = counted(AGES, "age", wanted)
    assert (found, event_label(AGES, found)) == (codes, label)


@pytest.mark.parametrize("wanted", [">= 40", "[0, 200)", list(AGES), "< 10", "old"])
def test_an_event_that_cuts_through_a_level_is_refused(wanted):
    with pytest.raises(InputError):
        counted(AGES, "age", wanted)
    assert counted(("0", "1", "2"), "visits", ">= 1") == (1, 2)


def test_a_union_adds_up_and_a_mean_weighs_levels():
    """Three levels by hand: P(y | x) = .2, .3, .5 and .5, .3, .2; the mean of 0, 10, 40."""
    p = np.array([[0.1, 0.15, 0.25], [0.25, 0.15, 0.1]])
    moments, levels = from_table(p), (("no", "yes"), ("low", "mid", "high"))
    dags = Plausible((np.array([[0, 1], [0, 0]], dtype=bool),), np.ones(1))

    def found(**more):
        return effect_of(moments, ("x", "y"), levels, dags, "x", "y", **more)

    union = found(outcome_level=["mid", "high"])
    assert union.event == "mid or high"
    assert union.difference.value == pytest.approx(0.5 - 0.8)
    mean = found(values=(0, 10, 40))
    assert [mean.risk(at).value for at in ("yes", "no")] == pytest.approx([11, 23])
    assert mean.difference.value == pytest.approx(-12)
    assert "the mean of y would be 11; if it were no, 23. The difference is −12 (95 %" in str(mean)
    # In units a thousand times as small the interval is a thousand times as wide.
    fine = found(values=(0, 10_000, 40_000)).difference
    assert fine.width == pytest.approx(1000 * mean.difference.width)


def test_rare_levels_of_an_adjusted_column_are_folded_after_the_noise():
    """A level of a share of .0004 makes the covariance singular; folded, the truth is covered."""
    z = np.array([0.55, 0.4496, 0.0004])
    x_given_z, y_given = np.array([0.3, 0.7, 0.5]), np.array([[0.2, 0.5, 0.3], [0.4, 0.7, 0.9]])
    p = np.zeros((2, 2, 3))
    for i in range(2):
        for k in range(2):
            of_x = x_given_z if i else 1 - x_given_z
            p[i, k] = z * of_x * (y_given[i] if k else 1 - y_given[i])
    moments = from_table(p, n=20_000)
    moments.higher.clear()
    moments.noise_one[:] = moments.noise_two[:] = 0.001**2
    # The noise leaves the level's share below 0.
    moments.one[moments.at[2]] += helmert(3).T @ np.array([0.0004, 0.0004, -0.0008])
    chain = np.zeros((3, 3), dtype=bool)
    chain[2, 0] = chain[2, 1] = chain[0, 1] = True
    levels = (("no", "yes"), ("no", "yes"), ("a", "b", "c"))
    asked = event(moments, 0, 1, 1)
    assert estimate(moments, asked, (2,)) is None
    dags = Plausible((chain,), np.ones(1))
    found = effect_of(replace(moments), ("x", "y", "z"), levels, dags, "x", "y")
    assert found.answers[0].folded
    assert FOLDED in found.notes
    truth = z @ (y_given[1] - y_given[0])
    assert found.difference.low < truth < found.difference.high
    assert found.difference.value == pytest.approx(truth, abs=0.005)


def test_the_parents_answer_where_the_best_set_cannot():
    """z1 and z2 each cause y and are copies of each other; z1 alone causes x."""
    wide = load_dataset("child", n=1000)
    full = np.zeros((20, 20), dtype=bool)
    full[:17, 19] = full[18, 19] = full[0, 18] = True  # the best set is 17 columns, the parent one
    some = exact(wide), wide.names, wide.levels, Plausible((full,), np.ones(1))
    found = effect_of(*some, wide.names[18], wide.names[19])
    assert found.adjusted == ((wide.names[0],),)
    assert found.refusal is None
