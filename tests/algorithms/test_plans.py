"""What is fixed before a search from public facts alone: its largest order and a round's share."""

import math

import pytest

from engine import ALGORITHMS, load_dataset
from engine.algorithms import priv_pc, svt_pc
from engine.privacy.accounting import rho_budget


@pytest.mark.parametrize(
    ("name", "n", "order"),
    [
        ("asia", 40, 0),
        ("asia", 127, 1),
        ("asia", 128, 2),
        ("asia", 100_000, 6),
        ("sachs", 10**5, 9),
    ],
)
def test_the_papers_largest_order(name, n, order):
    """clip(floor(log2 n) - 5, 0, d - 2)."""
    assert ALGORITHMS["pc"].params().order_limit(load_dataset(name, n=n)) == order


@pytest.mark.parametrize(("module", "each", "steps"), [(priv_pc, 1.5, 2), (svt_pc, 1.0, 1)])
@pytest.mark.parametrize("name", ["cancer", "sachs"])
def test_the_planned_rounds_cost_the_total(module, each, steps, name):
    """Under zCDP a pure step of epsilon costs epsilon^2 / 2; a round of Priv-PC is two of half.

    Few rounds get more under basic composition.
    """
    data = load_dataset(name, n=500)
    params = module.ALGORITHM.params(epsilon=1.0, delta=1e-6)
    method, epsilon = module.plan(data, params)
    rounds = -(-each * data.d * (data.d - 1) // 2) + 1  # a half round is one
    by_zcdp = steps * math.sqrt(2 * rho_budget(1.0, 1e-6) / (rounds * steps))
    assert epsilon == pytest.approx(max(by_zcdp, 1 / rounds))
    assert method == ("zcdp" if by_zcdp > 1 / rounds else "basic")
    published = module.ALGORITHM.params(guarantee="published", epsilon=0.7)
    assert module.plan(data, published) == ("basic", 0.7)
    assert math.isinf(module.ledger(data, published).most)
