"""The purse of a run: every coin is a line of its ledger, every removed edge is the run's."""

from itertools import combinations, pairwise

import pytest

from engine import InputError, load_dataset, run
from engine.teaching.money import COINS, purse, purses

ASIA = load_dataset("asia", n=20_000)


@pytest.mark.parametrize("key", ["priv_pc", "curate_pc", "marginal_pc"])
@pytest.mark.parametrize("epsilon", [0.05, 1.0])
def test_a_purse_is_the_runs_own(key, epsilon):
    result = run(key, ASIA, seed=3, epsilon=epsilon, guarantee="strict")
    shown = purses(ASIA, key, [epsilon], seed=3)[0]
    assert shown == purse(result)
    assert len(shown.pairs) == len(shown.decisions) == len(shown.coins)
    # A question that the purse cannot pay any more is counted, and has no answer.
    assert 0 <= sum(result.ci_tests_by_order) - len(shown.pairs) <= (not shown.ended)
    assert shown.paid == pytest.approx(COINS * result.ledger.used / result.ledger.most)
    assert shown.paid <= COINS
    assert list(shown.coins) == sorted(shown.coins)
    every = list(combinations(result.names, 2))
    asked = zip(shown.pairs, shown.decisions, strict=True)
    gone = {frozenset(every[p]) for p, letter in asked if letter == "i"}
    assert gone == {frozenset(pair) for pair in every} - result.skeleton
    assert shown.ended == (not result.untested)


def test_who_pays_when():
    each = {k: purses(ASIA, k, [1.0])[0] for k in ("priv_pc", "curate_pc", "marginal_pc")}
    once = each["marginal_pc"]
    assert sum(coins for _, coins in once.before) == pytest.approx(once.coins[0])
    assert len(set(once.coins)) == 1  # every later answer is free
    assert each["priv_pc"].before == each["curate_pc"].before == ()
    # A round is paid when its sieve opens, and again when it examines; all between is free.
    letters = each["priv_pc"].decisions
    examined = [k > 0 and letters[k - 1] == "p" for k in range(len(letters))]
    paid = [b > a for a, b in pairwise([0.0, *each["priv_pc"].coins])]
    assert paid == [k == 0 or examined[k] or examined[k - 1] for k in range(len(letters))]


def test_without_a_cap_there_are_no_coins():
    with pytest.raises(InputError, match="only a strict run"):
        purse(run("priv_pc", ASIA, guarantee="published"))
