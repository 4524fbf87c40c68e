"""A query as a private search sees it, and the range of its proven sensitivity."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import norm

from engine import load_dataset
from engine.algorithms.priv_pc import PrivPCParameters, SieveAndExamine, plan
from engine.context import RunContext
from engine.privacy.accounting import Guarantee
from engine.privacy.ledger import BudgetExhausted, Ledger
from engine.randomness import Randomness
from engine.search.noisy_score import Median, NoisyScore, Votes, least_unit
from engine.search.skeleton import Graph, Query
from engine.statistics import kendall_z
from engine.statistics.likelihood import G2
from engine.tables.store import store_of

ASIA = load_dataset("asia", n=2_000, seed=0)
SETS = [(), (2,), (2, 3), (2, 3, 4)]


def published(statistic, perturbed):
    params = PrivPCParameters(statistic=statistic, guarantee="published")
    return NoisyScore(ASIA, params, perturbed)


@pytest.mark.parametrize("n", [None, 500])
@pytest.mark.parametrize("perturbed", ["p", "z"])
@pytest.mark.parametrize("statistic", ["kendall", "spearman"])
def test_the_ratio_of_one_query_covers_every_other_of_its_pair(statistic, perturbed, n):
    """A sparse vector is charged at its first query, and asks others: with other sets too."""
    score = published(statistic, perturbed)
    reach = 0.5 if perturbed == "p" else math.sqrt(9 * (n or ASIA.n) / 4)
    for first, later in itertools.product(SETS, SETS):
        ratio = score.defended_ratio(Query(0, 1, first), n)
        unit = score.noise_sensitivity(Query(0, 1, later), n)
        assert ratio * unit >= reach * (1 - 1e-12)
    smallest = score.noise_sensitivity(Query(0, 1, ()), n)
    assert score.defended_ratio(Query(0, 1, (2, 3)), n) == pytest.approx(reach / smallest)


def test_spearmans_published_noise_is_its_theorems():
    """Preprint, theorems 8 and 9: 30 / sqrt(n), and 31 sqrt(k / (n - k)) with k strata."""
    score = published("spearman", "z")
    assert score.noise_sensitivity(Query(0, 1, ())) == 30 / math.sqrt(2_000)
    assert score.noise_sensitivity(Query(0, 1, (2, 3))) == 31 * math.sqrt(4 / 1_996)
    assert score.noise_sensitivity(Query(0, 1, (2,)), 500) == pytest.approx(
        31 * math.sqrt(2 / 1_998) * 2
    )


def test_strict_noise_on_a_sample_is_that_of_its_rows():
    """A z on 500 of 2,000 rows moves twice as far; a p by what its z does there."""
    q, c = Query(0, 1, (2,)), 6.0  # binary columns
    of_z, of_p = (NoisyScore(ASIA, PrivPCParameters(), perturbed) for perturbed in "zp")
    assert of_z.noise_sensitivity(q, 500) == pytest.approx(2 * c / math.sqrt(2_000))
    for n in (500, 2_000):
        assert of_p.noise_sensitivity(q, n) == pytest.approx(norm.cdf(c / math.sqrt(n)) - 0.5)


def test_a_strict_release_is_charged_what_its_noise_covers():
    for perturbed in ("p", "z"):
        score = NoisyScore(ASIA, PrivPCParameters(), perturbed)
        for given in SETS:
            event = score.event(Query(0, 1, given), 0.3)
            assert event.epsilon == pytest.approx(0.3, rel=1e-12)
            assert score.defended_ratio(Query(0, 1, given)) == 1


# Room for what an answer leads to -------------------------------------------------------


def session(cap):
    return RunContext(Randomness(0), Ledger(Guarantee(cap, 1e-6)), ASIA.names)


@pytest.mark.parametrize(("room", "opens"), [(0.99, False), (1.01, True)])
def test_priv_pc_opens_no_sieve_that_it_could_not_examine(room, opens):
    """Half of a round for the sieve and half for the examine after it."""
    params = PrivPCParameters(subsample="off")
    paying = session(plan(ASIA, params)[1] * room)
    rule = SieveAndExamine(ASIA, params, paying)
    rule.begin_order(0, Graph(ASIA.d))
    if opens:
        rule.independent(Query(0, 1, ()))
        assert next(c.label for c in paying.ledger) == "sieve"
    else:
        with pytest.raises(BudgetExhausted):
            rule.independent(Query(0, 1, ()))
        assert len(paying.ledger) == 0


def test_what_a_pair_without_a_set_cannot_tell_counts_as_dependent():
    """A table that tests nothing gives p = 0, or the least -|z| that there is."""
    codes = np.array([[0, 0, 0], [1, 1, 1]])
    data = type(ASIA).from_codes(codes)
    params = PrivPCParameters(guarantee="published")
    q = Query(0, 1, (2,))
    assert NoisyScore(data, params, "p").of(q) == 0
    assert NoisyScore(data, params, "z").of(q) == -math.sqrt(9 * 2 / 4)


@pytest.mark.parametrize(("perturbed", "name"), [("p", "noisy p-value"), ("z", "noisy |z|")])
def test_a_query_is_seen_by_its_own_statistic_on_the_rows_that_were_drawn(perturbed, name):
    """All rows and a sample of 300; a released value is named and compared as what it is."""
    score, paying = NoisyScore(ASIA, PrivPCParameters(), perturbed), session(50.0)
    sample = score.sample(300, Randomness(3))
    assert sample.n == 300
    for q in (Query(0, 1, ()), Query(3, 7, (2,))):
        for rows in (None, sample):
            table = (store_of(ASIA) if rows is None else rows).table(*q)
            assert table.sum() == (2_000 if rows is None else 300)
            z = abs(kendall_z(table, "strict"))
            expected = norm.sf(z) if perturbed == "p" else -z
            assert score.of(q, rows) == pytest.approx(expected)
        noisy, exact = score.release(paying, q, 20.0, label="test")
        found = score.conclude(paying, "test", q, noisy, exact)
        assert found == (noisy > score.cutoff())
        shown = -noisy if perturbed == "z" else noisy
        assert paying.steps[-1].reason.startswith(f"the {name} {shown:.4g} is ")
    bound = 0.1 if perturbed == "p" else norm.ppf(0.1)
    assert score.cutoff() == pytest.approx(bound)
    if perturbed == "z":
        assert least_unit(ASIA, PrivPCParameters()) == pytest.approx(3 / math.sqrt(2_000))


def test_votes_and_medians_are_of_the_blocks_that_were_dealt():
    params = PrivPCParameters(statistic="g2", blocks=3)
    votes, q = Votes(ASIA, params, Randomness(0)), Query(0, 1, ())
    dealt = votes.sample(600, Randomness(5))
    assert dealt.n == 600
    by_block = dealt.p_values(*q, G2)
    assert votes.p_values(q, dealt).tolist() == by_block.tolist() != votes.p_values(q).tolist()
    assert votes.of(q, dealt) == (by_block > 0.1).sum()
    decided = set()  # independent by the majority, and by more than a fifth, of five blocks
    params = PrivPCParameters(statistic="g2", blocks=5)
    votes = Votes(ASIA, params, Randomness(0))
    for x, y in itertools.combinations(range(ASIA.d), 2):
        share = (votes.p_values(Query(x, y, ())) > 0.1).mean()
        for tweak, asked in ((0.0, 0.5), (0.3, 0.2)):
            score, cutoff, _ = votes.gap(Query(x, y, ()), None, tweak, 1.0)
            assert (score > cutoff) == (share > asked)
        decided.add(round(share, 1))
    assert len(decided) >= 4
    median = Median(ASIA, PrivPCParameters(statistic="g2", blocks=3, guarantee="published"),
                    Randomness(0))  # fmt: skip
    assert median.of(q, dealt) == sorted(by_block)[1]
