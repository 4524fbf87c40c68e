"""Rank statistics against their definitions, record by record, small strata among them."""

import math

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from engine.statistics import kendall_z, spearman_z
from engine.statistics.base import critical_z, p_sensitivity
from engine.statistics.registry import BOUNDED, STATISTICS

Z_OF = {"kendall": kendall_z, "spearman": spearman_z}


def records(stratum):
    """Each record's level of x and of y."""
    x, y = np.indices(stratum.shape)
    return np.repeat(x.ravel(), stratum.ravel()), np.repeat(y.ravel(), stratum.ravel())


def kendall_part(x, y):
    """(w tau, w): tau by every pair of records, w the inverse of its variance without ties."""
    n = len(x)
    both = np.sign(np.subtract.outer(x, x)) * np.sign(np.subtract.outer(y, y))
    tau = both.sum() / (n * (n - 1))
    weight = 9 * n * (n - 1) / (2 * (2 * n + 5))
    return weight * tau, weight


def spearman_part(x, y):
    """((n - 1) rho, n - 1): rho of midranks, over the variance of n ranks without ties."""
    n = len(x)
    a, b = (rankdata(v) - (n + 1) / 2 for v in (x, y))
    return (n - 1) * float(a @ b) / (n * (n * n - 1) / 12), n - 1


PART = {"kendall": kendall_part, "spearman": spearman_part}


def z_by_definition(table, statistic, variant):
    """Published: skips strata of at most two rows or with a constant column. Strict: skips none."""
    numerator = weights = 0.0
    for stratum in table:
        x, y = records(stratum)
        constant = len(set(x)) < 2 or len(set(y)) < 2
        if len(x) < 2 or (variant == "published" and (len(x) <= 2 or constant)):
            continue
        part, weight = PART[statistic](x, y)
        numerator, weights = numerator + part, weights + weight
    if variant == "strict":
        n = int(table.sum())
        weights = 9 * n * (n - 1) / (2 * (2 * n + 5)) if statistic == "kendall" else n - 1
        return numerator / math.sqrt(weights) if n > 1 else 0.0
    return numerator / math.sqrt(weights) if weights else math.nan


@pytest.mark.parametrize("variant", ["published", "strict"])
@pytest.mark.parametrize("statistic", BOUNDED)
def test_z_is_the_definitions(statistic, variant):
    """Up to three strata of no to seven records; what is skipped is among them."""
    rng, untestable = np.random.default_rng(5), 0
    for _ in range(600):
        shape = (rng.integers(1, 4), rng.integers(2, 4), rng.integers(2, 5))
        table = np.zeros(shape, np.int64)
        for stratum in table:
            cells = rng.integers(stratum.size, size=rng.integers(8))
            np.add.at(stratum.reshape(-1), cells, 1)
        wanted = z_by_definition(table, statistic, variant)
        assert Z_OF[statistic](table, variant) == pytest.approx(wanted, abs=1e-12, nan_ok=True)
        untestable += math.isnan(wanted)
    assert (untestable > 20) == (variant == "published")


def test_critical_z_is_where_p_meets_the_threshold():
    for threshold in (1e-6, 0.05, 0.1, 0.4999):
        assert norm.sf(critical_z(threshold)) == pytest.approx(threshold, rel=1e-9)
    assert critical_z(0.5) == critical_z(0.7) == 0
    assert critical_z(0.0) == math.inf
    assert critical_z(0.4999) > 0


def test_p_moves_by_at_most_its_sensitivity():
    for z in (0.01, 0.6, 3.0):
        assert p_sensitivity(z) == pytest.approx(norm.cdf(z) - 0.5, rel=1e-12)


def test_the_papers_own_sensitivities():
    """Kendall's whatever the strata; Spearman's by their number, where rows are left over."""
    kendall, spearman = (STATISTICS[key].published_sensitivity for key in ("kendall", "spearman"))
    assert kendall(400, None) == kendall(400, 7) == 0.3
    assert spearman(900, None) == 1.0
    assert spearman(100, 36) == 31 * 0.75
    assert spearman(900, 899) == 31 * math.sqrt(899)
    assert spearman(900, 900) == spearman(900, 901) == 1.0


@pytest.mark.parametrize("key", BOUNDED)
def test_what_the_rank_statistics_state(key):
    """Thresholds, the range 3 sqrt(n) / 2, and without a set 6 / sqrt(n), 3 of binary ones."""
    found = STATISTICS[key]
    assert (found.threshold, found.largest_p, found.bounded) == (0.1, 0.5, True)
    assert found.largest(400) == 30
    assert found.sensitivity(400, 2, 2, conditional=False) == 0.15
    for levels in ((2, 3), (3, 2), (3, 3)):
        assert found.sensitivity(400, *levels, conditional=False) == 0.3
    score = found.score(np.array([[[0, 9], [3, 1]]]))
    assert score.statistic < -1
    assert found.chi_square(score) == score.statistic**2
    assert score.p == pytest.approx(norm.sf(-score.statistic))
