"""Adjusted effects: answers by hand, the rows' own least squares, and what noise does to them."""

import math
from itertools import combinations

import numpy as np
import pytest

from engine import load_dataset
from engine.data.networks import load_network
from engine.effects.estimate import LEVELS, PROJECTION, _fieller, estimate
from engine.effects.truth import interventional, joint
from engine.marginals.moments import Moments
from tests.effects.models import event, exact, from_table

# Z (1/4 yes) makes X likelier (.8 for .2) and Y too: P(y=1 | x, z) by hand.
CONFOUNDED = np.array([[0.1, 0.5], [0.3, 0.9]])  # [x, z]


def confounded():
    """The joint table of X, Y, Z."""
    z, x_given_z = np.array([0.75, 0.25]), np.array([[0.8, 0.2], [0.2, 0.8]])  # [z, x]
    p = np.zeros((2, 2, 2))
    for k in range(2):
        for i in range(2):
            p[i, :, k] = z[k] * x_given_z[k, i] * np.array([1 - CONFOUNDED[i, k], CONFOUNDED[i, k]])
    return p


def test_a_confounded_effect_by_hand():
    """P(y | do(x)): .75 * .1 + .25 * .5 = .2 and .75 * .3 + .25 * .9 = .45.

    Seen alone, x = 0 holds z in 1 of 13 and x = 1 in 4 of 7: .1308 and .6429.
    """
    whole = from_table(confounded())
    asked = event(whole, 0, 1, 1)
    found = estimate(whole, asked, (2,))
    assert found.method == LEVELS
    assert found.means == pytest.approx([0.2, 0.45], abs=1e-12)
    assert found.difference.value == pytest.approx(0.25, abs=1e-12)
    alone = estimate(whole, asked)
    assert alone.method == LEVELS
    assert alone.means == pytest.approx([0.1 * 12 / 13 + 0.5 / 13, 0.9 * 4 / 7 + 0.3 * 3 / 7])
    # Without the triple it is a straight line: z's effect is taken to be the same for both x.
    pairs = from_table(confounded())
    pairs.higher.clear()
    line = estimate(pairs, asked, (2,))
    assert line.method == PROJECTION
    # Weights by hand: P(z) Var(x | z) is .75 * .16 and .25 * .16, so the slope is .75 .2 + .25 .4.
    assert line.difference.value == pytest.approx(0.25, abs=1e-12)


def test_two_adjusted_columns_whose_whole_table_is_known_are_used_level_by_level():
    """Sum over both of P(z) P(y | x, z), from the rows' frequencies, whatever effects do."""
    data = load_dataset("survey", n=20_000)
    x, y, zs = (data.names.index("E"), data.names.index("T"), [data.names.index(v) for v in "AS"])
    columns = sorted((x, y, *zs))
    moments = exact(data, wide=[k for size in (3, 4) for k in combinations(columns, size)])
    found = estimate(moments, event(moments, x, y, 1), zs)
    assert found.method == LEVELS
    codes, total = data.codes, np.zeros(2)
    for z in {tuple(row) for row in codes[:, zs].tolist()}:
        here = (codes[:, zs] == z).all(axis=1)
        for level in range(2):
            total[level] += here.mean() * (codes[here & (codes[:, x] == level), y] == 1).mean()
    assert found.means == pytest.approx(total, abs=1e-9)


def test_a_chain_by_hand():
    """Smoking acts on the x-ray through the tumour alone: adjusted for it nothing is left."""
    p = np.zeros((2, 2, 2))  # smoke, xray, tumour
    for i, tumour in enumerate((0.1, 0.3)):
        for k, share in enumerate((1 - tumour, tumour)):
            positive = (0.2, 0.9)[k]
            p[i, :, k] = 0.5 * share * np.array([1 - positive, positive])
    moments = from_table(p)
    asked = event(moments, 0, 1, 1)
    whole, blocked = estimate(moments, asked), estimate(moments, asked, (2,))
    # .1 * .9 + .9 * .2 = .27 and .3 * .9 + .7 * .2 = .41.
    assert whole.means == pytest.approx([0.27, 0.41], abs=1e-12)
    assert blocked.difference.value == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "x", "y", "adjusted"),
    [
        ("asia", "smoke", "dysp", ("lung", "asia")),
        ("survey", "E", "T", ("A", "S")),
        ("survey", "A", "T", ("S", "R")),
        ("child", "Disease", "Sick", ("Age", "BirthAsphyxia")),
    ],
)
def test_without_noise_it_is_the_rows_own_least_squares(name, x, y, adjusted):
    """To 1e-9, at every level: dummies of x and of each adjusted column, on the rows."""
    data = load_dataset(name, n=20_000)
    at = data.names.index
    codes, r_x, r_y = data.codes, len(data.levels[at(x)]), len(data.levels[at(y)])
    columns = [np.ones(data.n)]
    for column in (x, *adjusted):
        columns += [codes[:, at(column)] == k for k in range(1, len(data.levels[at(column)]))]
    design = np.column_stack(columns).astype(float)
    moments = exact(data)
    zs = [at(z) for z in adjusted]
    for k in range(r_y):
        hit = (codes[:, at(y)] == k).astype(float)
        slopes = np.linalg.lstsq(design, hit, rcond=None)[0]
        for level in range(1, r_x):
            found = estimate(moments, event(moments, at(x), at(y), k, level), zs)
            assert found.difference.value == pytest.approx(slopes[level], abs=1e-9)
            risk = found.means[level] - found.means[0]
            assert risk == pytest.approx(slopes[level], abs=1e-9)
            # Averaged over the rows as they are.
            moved = design.copy()
            moved[:, 1:r_x] = 0.0
            moved[:, level] = 1.0
            assert found.means[level] == pytest.approx((moved @ slopes).mean(), abs=1e-9)


def test_sampling_variance_is_the_rows_robust_one():
    """White's variance, from cells that fit the pairs alone: within 5 % on Asia."""
    data = load_dataset("asia", n=20_000)
    x, y, z = (data.names.index(v) for v in ("smoke", "dysp", "bronc"))
    moments = exact(data)
    found = estimate(moments, event(moments, x, y, 0), (z,))
    codes = data.codes
    design = np.column_stack([np.ones(data.n), codes[:, x], codes[:, z]]).astype(float)
    hit = (codes[:, y] == 0).astype(float)
    inverse = np.linalg.inv(design.T @ design)
    left = hit - design @ (inverse @ (design.T @ hit))
    robust = inverse @ (design.T @ (design * left[:, None] ** 2)) @ inverse
    stated = (found.difference.width / 2 / 1.959964) ** 2
    assert stated == pytest.approx(robust[1, 1], rel=0.05)
    homoscedastic = float(left @ left) / data.n * inverse[1, 1]
    assert found.sampling[0, 0] > 0
    assert abs(stated - robust[1, 1]) < abs(homoscedastic - robust[1, 1])


def by_differences(m, asked, zs):
    """Covariance by noise of the means: every released entry moved a little each way."""

    def risks(variables, entry, h):
        one, two = m.one.copy(), m.two.copy()
        higher = {k: t.copy() for k, t in m.higher.items()}
        at = [m.at[v][k] for v, k in zip(variables, entry, strict=True)]
        if len(variables) == 1:
            one[at[0]] += h
        elif len(variables) == 2:
            two[at[0], at[1]] += h
            two[at[1], at[0]] += h
        else:
            higher[variables][entry] += h
        moved = Moments(m.n, m.cardinalities, one, two, m.noise_one, m.noise_two, higher,
                        m.noise_higher)  # fmt: skip
        return estimate(moved, asked, zs).means

    total = np.zeros((m.cardinalities[asked.cause],) * 2)
    for variables in m.released():
        for entry in np.ndindex(*(m.cardinalities[v] - 1 for v in variables)):
            slope = (risks(variables, entry, 1e-6) - risks(variables, entry, -1e-6)) / 2e-6
            total += m.variance(*variables) * np.outer(slope, slope)
    return total


@pytest.mark.parametrize(
    ("name", "x", "y", "adjusted", "triple"),
    [
        ("asia", "smoke", "dysp", [], False),
        ("asia", "smoke", "dysp", ["bronc", "lung"], False),
        ("asia", "smoke", "dysp", ["bronc"], True),
        ("survey", "A", "T", ["S", "R"], False),
        ("survey", "A", "T", ["E"], True),
        ("survey", "E", "T", ["S", "R"], True),
    ],
)
def test_every_entrys_noise_is_carried(name, x, y, adjusted, triple):
    """Noise of another size on each tensor; the interval of a difference is that of its parts."""
    data = load_dataset(name, n=20_000)
    at, *zs = (data.names.index(v) for v in (x, *adjusted))
    to = data.names.index(y)
    whole = tuple(sorted((at, to, *zs)))
    orders = [k for size in range(3, len(whole) + 1) for k in combinations(whole, size)]
    m = exact(data, 0.001, orders if triple else [])
    rng = np.random.default_rng(0)
    m.noise_one[:] *= rng.uniform(0.5, 2, m.d)
    m.noise_two[:] = np.triu(rng.uniform(0.5, 2, (m.d, m.d)), 1) * 1e-6
    m.noise_two += m.noise_two.T
    for k in range(m.cardinalities[to]):
        asked = event(m, at, to, k)
        found = estimate(m, asked, zs)
        assert (found.method == LEVELS) == (triple or not zs)
        expected = by_differences(m, asked, zs)
        assert found.noise == pytest.approx(expected, rel=1e-4, abs=1e-12)
        both = expected + found.sampling
        half = 1.959964 * math.sqrt(both[0, 0] + both[1, 1] - 2 * both[0, 1])
        # Fieller's interval is the same where its denominator is sure.
        assert found.difference.width / 2 == pytest.approx(half, rel=0.02)
        risk, alone = found.mean(0), 1.959964 * math.sqrt(both[0, 0])
        assert risk.high == pytest.approx(min(1.0, risk.value + alone), rel=1e-4)
        assert risk.low == pytest.approx(max(0.0, risk.value - alone), rel=1e-4)


def test_fieller_is_open_where_the_denominator_may_be_zero():
    assert _fieller(1.0, 1.0, 0.01, 0.0, 1.0)[1:] == (-math.inf, math.inf)
    value, low, high = _fieller(1.0, 2.0, 0.01, 0.0, 0.0)
    assert value == 0.5
    assert (low, high) == pytest.approx((0.5 - 1.959964 * 0.05, 0.5 + 1.959964 * 0.05))
    # Textbook: N = 5 +- 1, D = 10 +- 1, of covariance 1/2; z^2 = 3.841459.
    _, low, high = _fieller(5.0, 10.0, 1.0, 0.5, 1.0)
    for end in (low, high):
        assert (5 - 10 * end) ** 2 == pytest.approx(3.841459 * (1 - end + end**2), rel=1e-6)


def test_a_rare_cell_is_not_divided_by():
    """One level of z next to never goes with one of x: the projection answers instead."""
    p = confounded()
    p[0, :, 1] *= 1e-5
    moments = from_table(p / p.sum())
    found = estimate(moments, event(moments, 0, 1, 1), (2,))
    assert found.method == PROJECTION


def test_what_is_no_covariance_has_no_answer():
    moments = from_table(confounded())
    moments.two[0, 2] = moments.two[2, 0] = 2.0
    moments.higher.clear()
    assert estimate(moments, event(moments, 0, 1, 1), (2,)) is None


def test_the_truth_of_a_network_by_hand():
    """Cancer: P(Dyspnoea | do(Smoker)) and what setting an effect does to its cause: nothing."""
    found = interventional("cancer", "Smoker", "Dyspnoea")
    cancer = 0.9 * np.array([0.03, 0.001]) + 0.1 * np.array([0.05, 0.02])
    assert found[:, 0] == pytest.approx(cancer * 0.65 + (1 - cancer) * 0.3, abs=1e-12)
    assert interventional("cancer", "Dyspnoea", "Smoker")[:, 0] == pytest.approx([0.3, 0.3])
    network = load_network("asia")
    whole = joint(network, (0, 2, 7))
    assert whole.sum() == pytest.approx(1.0)
    assert whole.sum(axis=(1, 2)) == pytest.approx([0.01, 0.99])
