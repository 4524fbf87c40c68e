"""Toy rules that try to overspend through the real loop, mechanisms and ledger."""

from collections.abc import Callable

import numpy as np
import pytest

from engine.context import RunContext
from engine.privacy.accounting import Guarantee
from engine.privacy.events import UndefendedEvent
from engine.privacy.ledger import BudgetExhausted, Ledger
from engine.privacy.mechanisms import laplace
from engine.randomness import Randomness
from engine.search.skeleton import Graph, Query, TestByTest, search
from tests.privacy.mechanisms_table import every_release
from tests.privacy.readd import total_of

Move = Callable[[RunContext, Query, float], float]
RELEASES = list(every_release().values())


def greedy(s, q, last):
    """All that is left, each time."""
    return laplace(s, 0.0, sensitivity=max(s.ledger.left, 1e-3), scale=1.0)


def gambler(s, q, last):
    """Doubles its stake after a large answer: what it spends depends on the data."""
    return laplace(s, 0.0, sensitivity=0.02 * 2 ** min(10, abs(last)), scale=1.0)


def mixer(s, q, last):
    """Every mechanism in turn, on samples too; where one is refused, the next."""
    for k in s.randomness._generator.permutation(len(RELEASES)):
        try:
            return RELEASES[k](s, last, 0.05)
        except BudgetExhausted:
            continue
    raise BudgetExhausted("nothing fits any more")


def stubborn(s, q, last):
    """Catches the refusal and asks again, smaller, down to nothing."""
    size = 0.5
    while size > 1e-9:
        try:
            return laplace(s, 0.0, sensitivity=size, scale=1.0)
        except BudgetExhausted:
            size /= 2
    raise BudgetExhausted("nothing is left")


def cheat(s, q, last):
    """Asks for no noise at all, or a charge that cannot be told."""
    for sensitivity, scale in ((1.0, 0.0), (np.nan, 1.0), (-1.0, 1.0), (np.inf, 1.0)):
        try:
            laplace(s, 0.0, sensitivity=sensitivity, scale=scale)
        except BudgetExhausted:
            continue
        raise AssertionError("a release without a cost was let through")
    with pytest.raises(BudgetExhausted):
        s.ledger.charge(UndefendedEvent("raw"))
    return laplace(s, 0.0, sensitivity=0.3, scale=1.0)


class Adversary(TestByTest):
    """Decides by its move's answer and never stops of itself."""

    def __init__(self, session, move):
        super().__init__()
        self._session, self._move, self._last = session, move, 0.0

    def independent(self, q):
        self._last = self._move(self._session, q, self._last)
        return self._last > 3


def methods():
    return [
        ("basic", {}),
        ("zcdp", {}),
        ("rdp", {"renyi_order": 8.0}),
        ("basic", {"rate": 0.2}),
        ("zcdp", {"rate": 0.2}),
        ("rdp", {"renyi_order": 8.0, "rate": 0.2}),
    ]


@pytest.mark.parametrize("move", [greedy, gambler, mixer, stubborn, cheat])
@pytest.mark.parametrize(("method", "options"), methods())
def test_no_rule_overspends(move, method, options):
    """Thirty seeds (six of the slowest) over three budgets, whatever is refused on the way."""
    largest, refused = 0.0, 0
    for seed in range(6 if move is stubborn else 30):
        cap = Guarantee((0.5, 2.0, 8.0)[seed % 3], 1e-6)
        session = RunContext(
            randomness=Randomness(seed),
            ledger=Ledger(cap, method=method, **options),
            names=tuple("abcdefgh"),
        )
        graph, rule = Graph(8), Adversary(session, move)
        for _ in range(3):  # it may even try again after a refusal
            try:
                search(graph, rule, 5)
            except BudgetExhausted:
                refused += 1
        total = total_of(session.ledger)
        assert total.epsilon <= cap.epsilon * (1 + 1e-6)
        assert total.delta <= cap.delta
        largest = max(largest, total.epsilon / cap.epsilon)
    assert largest > 0.8  # the attempts are real
    # These two ask for ever less outside basic composition, and may never be refused.
    assert refused > 0 or move in (greedy, stubborn)
