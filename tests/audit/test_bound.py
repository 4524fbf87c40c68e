"""The bound from many runs: of outputs written by hand, and of reference mechanisms and faults."""

import math

import numpy as np
import pytest
from scipy.stats import beta, binom

from engine import ALGORITHMS
from engine.audit import measure
from engine.audit.cases import KEEPS_THE_PAIR
from engine.audit.neighbours import all_alike, strata
from engine.monitor import Monitor
from engine.privacy.accounting import Guarantee
from tests.audit.reference_mechanisms import FAULTS, MECHANISMS


def recorded(a, b, claim):
    """A trial that has all its runs: no algorithm is asked."""
    nothing = None
    return measure.Trial(nothing, nothing, nothing, sides=(a, b), claim=claim)


def side(happens, runs=800):
    """Runs of which ``happens`` in 100 let out a decision, evenly in both parts of the runs."""
    return [{("decision", k): 1.0 for k in (0,) if (i // 4) % 100 < happens} for i in range(runs)]


def exact_bound(more, less, runs, delta):
    """Clopper-Pearson at 99 % for both limits together, by scipy's own quantiles."""
    low = beta.ppf(0.005, more, runs - more + 1)
    high = beta.ppf(0.995, less + 1, runs - less)
    return math.log((low - delta) / high)


def run_of(chosen, pair, runs, values=None, **options):
    made = measure.Trial(chosen, chosen.params.build(values or {}), pair, **options)
    made.extend(runs)
    return made


def test_the_bound_is_one_of_99_percent():
    """60 and 10 in 100: 600 of the 800 runs a side count, and the others choose the event."""
    claim, sides, hits = Guarantee(1.0, 1e-3), [side(60), side(10)], (360, 60)
    for a, b, seen in ((*sides, hits), (*sides[::-1], hits[::-1])):
        found = recorded(a, b, claim).measured()
        assert (found.runs, found.counted, found.claimed, found.hits) == (800, 600, 1.0, seen)
        assert found.epsilon == pytest.approx(exact_bound(360, 60, 600, 1e-3), rel=1e-12)
        assert found.refuted
        fewer = recorded(a[:400], b[:400], claim).measured()
        assert fewer.counted == 300
        assert fewer.epsilon < found.epsilon
    assert recorded([], [], Guarantee(1.0, 0.0)).measured() == measure.Measured(
        0, 0, 1.0, 0, 0, (0, 0)
    )
    # The runs that choose the event are not counted, and those that count do not choose.
    for k in (0, 1):
        runs = [{("edge", 0): 1.0} if (i % 4 > 0) == k else {} for i in range(400)]
        found = recorded(runs, [{} for _ in runs], Guarantee(1.0, 0.0)).measured()
        assert (found.hits, found.epsilon) == ((0, 0), 0)
    assert not measure.Measured(1.0, 0.0, 1.0, 10, 8, (1, 2)).refuted  # a bound at the claim
    assert measure.Measured(math.nextafter(1.0, 2), 0.0, 1.0, 10, 8, (1, 2)).refuted


def test_the_chance_of_a_bound_above_the_truth_is_below_one_percent():
    """Every pair of counts of 60 runs, by its probability: at no true epsilon more than 1 %."""
    runs, level = 60, (1 - measure.CONFIDENCE) / 2
    bounds = np.array(
        [
            [measure.bound_of(i, j, runs, 0.0, level) for j in range(runs + 1)]
            for i in range(runs + 1)
        ]
    )
    worst = 0.0
    for p in (0.2, 0.5, 0.8, 0.95):
        for q in (0.02, 0.1, 0.19):
            mass = np.outer(binom.pmf(range(61), runs, p), binom.pmf(range(61), runs, q))
            worst = max(worst, float(mass[bounds > math.log(p / q)].sum()))
    assert 1e-4 < worst <= 0.01


def test_limits_are_clopper_pearson_and_delta_is_the_likelier_sides():
    for hits in (0, 1, 3, 49, 50):
        low, high = measure.limits(hits, 50, 0.005)
        assert low == pytest.approx(beta.ppf(0.005, hits, 51 - hits) if hits else 0.0)
        assert high == pytest.approx(beta.ppf(0.995, hits + 1, 50 - hits) if hits < 50 else 1.0)
    assert measure.bound_of(90, 10, 100, 0.1, 0.005) == pytest.approx(exact_bound(90, 10, 100, 0.1))
    assert (
        measure.bound_of(90, 10, 100, 0.99, 0.005) == measure.bound_of(50, 50, 100, 0.0, 0.005) == 0
    )


def test_directions_are_the_outputs_that_move_and_their_discriminant():
    """Two outputs move by 1 and 3 of their standard deviations (of .01), a third not at all."""
    rows = measure.matrix([[{("x",): 2.0}, {}], [{("y",): -3.0, ("x",): 1.0}]])
    assert [side.tolist() for side in rows] == [[[2.0, 0.0], [0.0, 0.0]], [[1.0, -3.0]]]
    a, b = np.random.default_rng(0).normal(scale=0.01, size=(2, 4_000, 3))
    b += np.array([0.01, 0.03, 0.0])
    a[:, 2] = b[:, 2] = 7.0
    found = measure.directions(a, b)
    assert [d.tolist() for d in found[:2]] == [[0, 1, 0], [1, 0, 0]]
    assert len(found) == 3
    assert found[-1][2] == 0
    assert found[-1][1] / found[-1][0] == pytest.approx(3, rel=0.1)  # equal spreads: as the gaps
    assert len(measure.directions(np.zeros((4, 30)), np.eye(4, 30) + 1)) == measure.BEST_SINGLE + 1
    assert measure.directions(np.ones((4, 2)), np.ones((4, 2))) == []


# Of algorithms ----------------------------------------------------------------------------


@pytest.mark.parametrize("key", MECHANISMS)
def test_no_mechanism_is_measured_above_its_claim(key):
    """On inputs that move by all that was paid for. Each fails with probability below 1 %."""
    found = run_of(MECHANISMS[key], all_alike(), 400, {"epsilon": 2.0}).measured()
    assert found.claimed == 2.0
    assert not found.refuted
    if key in {"by_laplace", "by_exponential"}:  # as sharp as so few runs allow
        assert found.epsilon > 0.7


def test_gross_faults_show_in_runs_alone():
    for key in ("data_normaliser", "shared_seed"):
        assert run_of(FAULTS[key], all_alike(), 700).measured().refuted


def test_published_curate_is_refuted_on_the_documented_strata_and_strict_is_not():
    """Claimed 1.00; the bound grows with the runs (privacy_audit.md: 1,500 a side)."""
    values = {"guarantee": "published", "epsilon": 1.0, **KEEPS_THE_PAIR}
    found = run_of(ALGORITHMS["curate_pc"], strata(), 100, values).measured()
    assert found.claimed == pytest.approx(1.0)
    assert found.epsilon > 1.5
    assert not run_of(ALGORITHMS["curate_pc"], strata(), 50, {"epsilon": 1.0}).measured().refuted


def test_runs_share_no_noise_and_draw_less_only_where_a_fault_is_planted():
    chosen, pair = MECHANISMS["by_laplace"], all_alike()
    plain = run_of(chosen, pair, 200)
    values = [v for side in plain.sides for one in side for k, v in one.items() if k[0] == "value"]
    assert len({round(v % 1, 9) for v in values}) == 400
    assert plain.sides[0][0]["steps",] >= 1
    assert run_of(chosen, pair, 3, share=1.0).sides[0] == plain.sides[0][:3]
    assert run_of(chosen, pair, 3, share=0.5).sides[0] != plain.sides[0][:3]
    assert run_of(chosen, pair, 1_500, share=0.5).measured().refuted
    made, asked = run_of(chosen, pair, 0), []  # a stop keeps as many runs on either side
    made.extend(50, Monitor(stop=lambda: bool(asked.append(1)) or len(asked) > 7))
    assert [len(side) for side in made.sides] == [7, 7]
