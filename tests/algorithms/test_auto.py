"""The automatic choice: by public facts alone, stated, then nothing but the chosen one's run."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from engine import Dataset, Knowledge, load_dataset, run
from engine.algorithms import auto
from engine.algorithms.auto import AutoParameters, choice_for, choose
from engine.cli.run import summary
from engine.marginals.sensitivity import hidden
from engine.privacy.accounting import Guarantee, analytic_gaussian_sigma
from engine.serialise import result_dict

TOTAL = Guarantee(1.0, 1e-6)
NUMBERS = "sem:er:6:6:gaussian"


def told(result):
    """All of a run but its clock, its name, its settings and what was chosen."""
    plain = result_dict(result)
    plain["diagnostics"]["chosen"] = ""
    for name in ("algorithm", "params", "seconds"):
        del plain[name]
    return json.dumps(plain)


@pytest.mark.parametrize(
    ("name", "n", "key"),
    [
        ("cancer", 2_000, "marginal_pc"),
        ("cancer", 100_000, "marginal_pc"),
        (NUMBERS, 1_000, "marginal_pc"),
        (NUMBERS, 20_000, "gram_notears"),
    ],
)
def test_it_is_the_chosen_algorithms_run(name, n, key):
    data = load_dataset(name, n=n)
    known = Knowledge(forbidden=frozenset({(data.names[0], data.names[1])}))
    values = {"epsilon": 0.9, "delta": 1e-5, "seed": 3, "knowledge": known}
    found, alone = run("auto", data, **values), run(key, data, **values)
    assert told(found) == told(alone)
    assert found.proven == Guarantee(0.9, 1e-5)
    assert alone.diagnostics.chosen == ""


def test_the_noise_is_that_of_a_release_of_all_pairs():
    """Eight binary columns: squared sensitivity 16; a correlation is twice the contrast over n."""
    sigma = 4 * analytic_gaussian_sigma(TOTAL.epsilon, TOTAL.delta)
    assert hidden((2,) * 8, 5_000, TOTAL) == pytest.approx(2 * sigma / 5_000)
    assert hidden((2,), 5_000, TOTAL) == 0.0


def test_numbers_are_read_where_little_is_hidden():
    n = math.ceil(hidden((5,) * 10, 1, TOTAL) / auto.MOST_HIDDEN)
    assert choose((5,) * 10, n, TOTAL, numeric=True)[0].key == "gram_notears"
    assert choose((5,) * 10, n - 1, TOTAL, numeric=True)[0].key == "marginal_pc"
    assert choose((5,) * 10, n, TOTAL, numeric=False)[0].key == "marginal_pc"


def test_no_row_has_a_say():
    """Tables of one shape: what is in them changes neither the choice nor the ledger's cap."""
    data = load_dataset(NUMBERS, n=3_000)
    assert data.values is not None
    low = np.array([b[0] for b in data.bounds])
    flat = np.tile(low, (data.n, 1))
    other = Dataset.from_values(flat, data.bounds, data.names, public=True)
    other = replace(other, levels=data.levels)
    for epsilon in (0.3, 0.6, 1.0, 3.0):
        params = AutoParameters(epsilon=epsilon)
        assert choice_for(data, params) == choice_for(other, params)
        assert auto.ledger(data, params).limit == auto.ledger(other, params).limit


def test_what_was_chosen_is_stated():
    result = run("auto", load_dataset("cancer", n=2_000))
    said = result.diagnostics.chosen
    assert said.startswith("Chosen: Marginal PC, because ")
    assert f"  {said}" in summary(result).splitlines()
    assert result_dict(result)["diagnostics"]["chosen"] == said
