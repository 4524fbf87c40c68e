"""How far one record moves a score: never above the bound, and at it where it is called tight."""

import itertools
import math

import numpy as np
import pytest

from engine import InputError
from engine.pairs import dependence
from engine.pairs.decision import IQR_SIGNS, Reach, training_distance
from engine.pairs.regression import Ridge, features, residual_bound

FAR = 0.01  # a kernel so narrow that whole numbers have orthogonal features
KERNEL = ("hsic", "root_hsic")


def change(name, a, b, new):
    """What replacing record 0 changes, over the strict bound."""
    other_a, other_b = a.copy(), b.copy()
    other_a[0], other_b[0] = new
    moved = abs(dependence.score(name, a, b, FAR) - dependence.score(name, other_a, other_b, FAR))
    return moved / dependence.record_sensitivity(name, len(a))


@pytest.mark.parametrize("name", ["spearman", "kendall", *KERNEL])
def test_every_neighbour_of_every_small_sample(name):
    """All samples of 4 records with 3 values a column, ties included, and all replacements."""
    places = list(itertools.product(range(3), repeat=2))
    known = {
        rows: dependence.score(name, *np.array(rows, dtype=float).T, FAR)
        for rows in itertools.combinations_with_replacement(places, 4)
    }
    worst = 0.0
    for rest in itertools.combinations_with_replacement(places, 3):
        found = [known[tuple(sorted((*rest, new)))] for new in places]
        worst = max(worst, max(found) - min(found))
    assert 0.3 < worst / dependence.record_sensitivity(name, 4) <= 1 + 1e-9


@pytest.mark.parametrize("name", ["spearman", "kendall"])
def test_rank_bounds_are_tight(name):
    """The highest record of a rising cloud becomes the lowest in the other column."""
    a = np.append(1000.0, np.arange(400))
    assert 0.98 < change(name, a, a.copy(), (1000.0, -1.0)) <= 1 + 1e-9


def spread(kernel):
    """The variance of <phi_j, phi_0 - mean> over the other records j; ``kernel`` is (m, m)."""
    return float(np.var(kernel[0, 1:] - kernel[1:, 1:].mean(axis=0)))


def test_the_lemma_of_the_bound_of_hsic():
    """At most 27/64, which three of four others in one cluster reach: the bound is twice four.

    What is left, |u|^2 |v|^2 / m^2, is at most 4 / m^2: u is 2 long where all others are apart.
    """
    reached = length = 0.0
    for m in (2, 3, 4, 5, 6):
        for rows in itertools.product(range(3), repeat=m):
            kernel = np.equal.outer(rows, rows).astype(float)
            reached = max(reached, spread(kernel))
            length = max(length, 1 - 2 * kernel[0, 1:].mean() + kernel[1:, 1:].mean())
    assert reached == pytest.approx(27 / 64, rel=1e-12)
    for m in (2, 10, 500):
        bound = 2 / m * 2 * reached + length**2 / m**2
        assert dependence.record_sensitivity("hsic", m) == pytest.approx(bound, rel=1e-12)
    rng = np.random.default_rng(6)
    for _ in range(300):  # features at all angles that are not obtuse, few with many records each
        features = np.abs(rng.standard_t(1, (rng.integers(3, 9), 4)))[rng.integers(0, 3, 20)]
        features /= np.linalg.norm(features, axis=1)[:, None]
        assert spread(features @ features.T) <= 27 / 64 + 1e-12


# What the paper's bounds leave out --------------------------------------------------------------


def test_the_median_heuristic_breaks_theorem_3():
    """Eq. 1's theta(a): a width read from the data lets one record move HSIC far beyond the bound.

    Half of all distances are tiny, half are large, and one record decides where the median lies.
    """
    m = 401
    within = 1e-5 * np.sqrt(np.arange(m))

    def clusters(low):
        return within + (np.arange(m) >= low)

    def median(values):
        distances = np.abs(values[:, None] - values)[np.triu_indices(len(values), 1)]
        return float(np.median(distances))

    samples = [clusters(low) for low in range(180, 200)]
    for one, other in itertools.pairwise(samples):
        assert np.sum(one != other) == 1
    by_median = [dependence.hsic(x, x, median(x), median(x)) for x in samples]
    jumps = [abs(p - q) for p, q in itertools.pairwise(by_median)]
    assert max(jumps) > 1.2 * dependence.record_sensitivity("hsic", m, "published")
    fixed = [dependence.hsic(x, x, 0.3, 0.3) for x in samples]
    assert max(abs(p - q) for p, q in itertools.pairwise(fixed)) <= dependence.record_sensitivity(
        "hsic", m
    )


def test_stable_ranks_do_not_protect_the_test_half():
    """One test record moves the distance to instability from thousands to 0."""
    residuals = np.linspace(-1, 1, 50)
    near = np.append(residuals[1] + 1e-12, residuals[1:])
    shift = residual_bound(10_000_000, 1.0, "published")
    assert training_distance(residuals, shift) > 10_000
    assert training_distance(near, shift) == 0


def test_the_training_distance_moves_by_one_a_record():
    rng = np.random.default_rng(1)
    for _ in range(200):
        residuals, shift = rng.normal(size=30), 10 ** rng.uniform(-5, -1)
        moved = residuals + shift * rng.choice([-1, 1], 30)
        near = training_distance(residuals, shift), training_distance(moved, shift)
        assert abs(near[0] - near[1]) <= 1


# A training record ------------------------------------------------------------------------------


@pytest.mark.parametrize("ridge", [1e-3, 1e-2, 0.1, 1.0])
def test_residual_bounds_hold(ridge):
    """Climbing over training sets and replacements; before the cut to [-1, 1] too."""
    rng, at = np.random.default_rng(2), np.linspace(-1, 1, 41)
    assert residual_bound(100, ridge) <= 0.86 * residual_bound(100, ridge, "published")
    worst = 0.0
    for n in (3, 12, 60):
        x, y = rng.uniform(-1, 1, n), np.sign(rng.normal(size=n))
        new, best = (0.9, 1.0), 0.0
        for _ in range(120):
            trial_x, trial_y, trial_new = x.copy(), y.copy(), new
            i = rng.integers(n)
            if rng.random() < 0.7:
                trial_x[i], trial_y[i] = rng.uniform(-1, 1), rng.choice([-1.0, 1.0])
            else:
                trial_new = (rng.uniform(-1, 1), rng.choice([-1.0, 1.0]))
            found = moved(trial_x, trial_y, trial_new, ridge, at)
            if found >= best:
                x, y, new, best = trial_x, trial_y, trial_new, found
        worst = max(worst, best)
    assert 0.1 < worst <= 1 + 1e-9


def moved(x, y, new, ridge, at):
    other_x, other_y = np.append(new[0], x[1:]), np.append(new[1], y[1:])
    old = features(at, 0.4) @ Ridge.fit(x, y, 0.4).coefficients(ridge)
    replaced = features(at, 0.4) @ Ridge.fit(other_x, other_y, 0.4).coefficients(ridge)
    return float(np.abs(old - replaced).max()) / residual_bound(len(x), ridge)


@pytest.mark.parametrize("name", KERNEL)
def test_shifted_residuals_stay_below(name):
    """All residuals moved by at most ``shift``, in the direction that a climb finds worst."""
    rng, worst = np.random.default_rng(3), 0.0
    for shift in (0.01, 0.1, 1.0):
        m, width = 40, 0.2
        a, b = rng.choice([0.0, 5.0], m), rng.choice([0.0, 0.2, 0.4], m)
        signs, best = rng.choice([-1.0, 1.0], m), 0.0
        for _ in range(300):
            trial_signs, trial_b = signs.copy(), b.copy()
            i = rng.integers(m)
            trial_signs[i] *= -1
            trial_b[rng.integers(m)] = rng.uniform(-0.5, 0.5)
            found = abs(
                dependence.score(name, a, trial_b, width)
                - dependence.score(name, a, trial_b + shift * trial_signs, width)
            )
            if found >= best:
                signs, b, best = trial_signs, trial_b, found
        bound = dependence.training_sensitivity(name, m, shift, width, "strict")
        assert bound <= dependence.training_sensitivity(name, m, shift, width, "published")
        worst = max(worst, best / bound)
    assert 0.2 < worst <= 1 + 1e-9


# The interquartile range -------------------------------------------------------------------------


def test_iqr_reach_against_brute_force():
    """Every choice of replaced values and every place they may go to, for 7 and 9 values."""
    rng = np.random.default_rng(4)
    for m, changes in ((7, 1), (9, 1), (7, 2), (9, 2)):
        values = np.sort(rng.normal(size=m))
        places = [-1e6, 1e6, *((values[1:] + values[:-1]) / 2), *(values + 1e-9)]
        found = []
        for which in itertools.combinations(range(m), changes):
            for where in itertools.product(places, repeat=changes):
                other = values.copy()
                other[list(which)] = where
                found.append(math.exp(dependence.log_iqr(other)))
        low, high = dependence.iqr_reach(values, changes)
        assert low - 1e-6 <= min(found)
        assert max(found) <= high + 1e-6
        if max(found) < 1e5:
            assert max(found) == pytest.approx(high, rel=1e-6)
        assert min(found) <= low + 1e-6


def test_the_iqr_distance_moves_by_one_a_record():
    """Of one IQR and of the difference, under changes of either half."""
    rng = np.random.default_rng(5)
    for _ in range(60):
        columns = tuple(np.sort(rng.normal(size=40)) for _ in range(4))
        shifts = (0.0, float(rng.choice([0.01, 0.05])), 0.0, 0.05)
        if rng.random() < 0.5:
            others = tuple(
                np.sort(np.append(rng.normal() * 3, np.delete(c, rng.integers(40))))
                for c in columns
            )
        else:
            others = tuple(
                np.sort(c + s * rng.uniform(-1, 1, 40))
                for c, s in zip(columns, shifts, strict=True)
            )
        interval = (Reach(columns, IQR_SIGNS, shifts, True).value - 0.6,) * 2
        interval = (interval[0], interval[0] + 1.0)
        first, second = (Reach(c, IQR_SIGNS, shifts, True) for c in (columns, others))
        near = [first.distance(interval), second.distance(interval)]
        assert abs(near[0] - near[1]) <= 1
        far = Reach(columns, IQR_SIGNS, shifts, False).distance(interval)  # by refits alone
        for least, kinds in ((near[0], range(near[0] + 1)), (far, [0])):
            ends = [
                [first._range(k, most - k) for k in kinds if k <= most]
                for most in (least - 1, least)
            ]
            outside = [any(a < interval[0] or b >= interval[1] for a, b in some) for some in ends]
            assert outside == [False, True]
        one = [Reach((c[1],), (1,), (0.05,), True).distance((-0.2, 0.8)) for c in (columns, others)]
        assert abs(one[0] - one[1]) <= 1


def test_known_bounds():
    assert (
        dependence.record_sensitivity("kendall", 50)
        == dependence.record_sensitivity("kendall", 50, "published")
        == 0.08
    )
    assert dependence.record_sensitivity("spearman", 50, "published") == 0.6
    assert dependence.record_sensitivity("spearman", 50) == pytest.approx(6 / 51)
    assert dependence.record_sensitivity("hsic", 50, "published") == pytest.approx(792 / 2401)
    improved = (12 * 50 - 11) / (50 - 1) ** 2  # the paper's appendix
    assert dependence.record_sensitivity("hsic", 50) < 8 / 49 < improved
    assert residual_bound(100, 0.25, "published") == pytest.approx(0.64)
    for name in ("iqr", "variance"):
        with pytest.raises(InputError, match="any amount"):
            dependence.record_sensitivity(name, 50)
