"""The order of a table's columns decides nothing, or only what the parameters declare.

Noise is zero and every other random stream is the same, so that two orders of the columns meet the
same answers.
"""

from functools import cache

import numpy as np
import pytest

from engine import ALGORITHMS, Dataset, load_dataset, run
from engine.context import RunContext
from engine.privacy.budget import STRICT
from engine.privacy.ledger import Ledger
from tests.contract.conftest import short
from tests.contract.test_randomness import Deaf

# The one that chooses makes the chosen one's run (tests/algorithms/test_auto.py).
KEYS = [key for key, a in ALGORITHMS.items() if a.columns is None and not a.chooses]
EPSILON = 1e4  # so that no budget runs out
ORDERS = 6


def built(key, **values):
    chosen = ALGORITHMS[key]
    given = {"epsilon": EPSILON} if chosen.private else {}
    if STRICT in chosen.guarantees:
        given["guarantee"] = STRICT
    if "max_order" in {spec.name for spec in chosen.params.specs()}:
        given["max_order"] = 2
    return chosen.params.build({**given, **short(key, EPSILON), **values})


FREE = [(key, {}) for key in KEYS if not built(key).by_order]
BOUND = [key for key in KEYS if built(key).by_order]


@cache
def sachs():
    return load_dataset("sachs", n=3000, seed=4)


def moved(data, order):
    return Dataset.from_codes(
        data.codes[:, order],
        [data.names[j] for j in order],
        [data.levels[j] for j in order],
        public=True,
    )


def found(key, params, order, data):
    """The graph of the columns in this order, told in the columns' own."""
    chosen, data = ALGORITHMS[key], moved(data, order)
    ledger = Ledger() if chosen.ledger is None else chosen.ledger(data, params)
    outcome = chosen.run(data, params, RunContext(Deaf(), ledger, data.names, trace=False))
    assert outcome.status == "complete"
    back = np.argsort(order)
    return outcome.matrix[np.ix_(back, back)]


def graphs(key, params, others=ORDERS, data=None):
    """The graphs of the columns as they stand, and in other orders."""
    rng, data = np.random.default_rng(0), data or sachs()
    orders = [list(range(data.d)), *(rng.permutation(data.d).tolist() for _ in range(others))]
    return {found(key, params, order, data).tobytes() for order in orders}


@pytest.mark.parametrize(
    ("key", "values"), [*FREE, *((key, {"stable": True}) for key in BOUND)], ids=str
)
def test_the_order_of_the_columns_decides_nothing(key, values):
    params = built(key, **values)
    assert not params.by_order
    assert len(graphs(key, params, others=1)) == 1


@pytest.mark.parametrize("key", BOUND)
def test_who_says_that_the_order_counts_is_right(key):
    assert len(graphs(key, built(key))) > 1


@pytest.mark.parametrize(("name", "others"), [("asia", 6), ("child", 2), ("insurance", 1)])
def test_other_networks_give_marginal_pc_one_graph_too(name, others):
    """With a budget that leaves tests in doubt, and links that come back.

    Another order of d columns leaves a column in its place with probability 1 / d.
    """
    params = built("marginal_pc", epsilon=3.0, max_order="auto")
    assert len(graphs("marginal_pc", params, others, load_dataset(name, n=3000, seed=4))) == 1


def test_marginal_pc_and_gram_notears_are_free_of_the_order():
    assert {"marginal_pc", "gram_notears"} <= {key for key, _ in FREE}


def test_the_run_tells_which_links_hang_on_the_order():
    """Half of the links that it names, at least, turn where the columns do stand in other orders.

    It knows the answers that were given alone; other orders ask other questions, too.
    """
    data = load_dataset("child", n=5000, seed=4)
    plain = run("pc", data, max_order=4, trace=False)
    assert plain.order_dependent_edges
    assert f"{len(plain.order_dependent_edges)} of {len(plain.skeleton)} edges" in plain.order_words
    rng, turned = np.random.default_rng(1), np.zeros_like(plain.matrix)
    for _ in range(5):
        order = rng.permutation(data.d).tolist()
        other = run("pc", moved(data, order), max_order=4, trace=False).matrix
        back = np.argsort(order)
        turned |= other[np.ix_(back, back)] != plain.matrix
    real = {(i, j) for i, j in plain.order_dependent_edges if turned[i, j] or turned[j, i]}
    assert 2 * len(real) >= len(plain.order_dependent_edges)
    stable = run("pc", data, max_order=4, stable=True, trace=False)
    assert stable.order_dependent_edges == frozenset()
    assert stable.order_words == ""
