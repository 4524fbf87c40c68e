"""The steps from the truth to a private run: the loss from the test and from the noise."""

import pytest

from engine import ALGORITHMS, Dataset, load_dataset, run
from engine.studies import price
from engine.studies.price import loss_steps

ASIA = load_dataset("asia", n=20_000)


def steps(key, **values):
    found = loss_steps(ASIA, key, ALGORITHMS[key].params.build(values))
    return [(s.kind, s.statistic, s.counts.found) for s in found]


STRICT = [("best", "g2", 8), ("paper", "kendall", 7), ("bounded", "kendall", 5)]


@pytest.mark.parametrize(
    ("key", "values", "wanted"),
    [
        *((key, {"epsilon": e}, STRICT)
          for key in ("priv_pc", "svt_pc", "em_pc", "gauss_pc") for e in (0.1, 10.0)),
        # A published one has no bounded form; EM-PC's test is G2.
        ("priv_pc", {"guarantee": "published"}, STRICT[:2]),
        ("em_pc", {"guarantee": "published"}, STRICT[:1]),
        ("pc", {}, STRICT[:2]),
        ("pc", {"variant": "strict"}, STRICT),
        ("marginal_pc", {"epsilon": 0.1}, [("best", "g2", 8), ("tables", "g2", 8)]),
        ("pc", {"statistic": "oracle"}, []),
    ],
)  # fmt: skip
def test_steps_before_any_noise(key, values, wanted):
    assert steps(key, **values) == wanted


def test_blocks_and_descents_are_steps():
    assert [s[0] for s in steps("priv_pc", statistic="g2")] == ["best", "blocks"]
    assert [s[0] for s in steps("gauss_pc", statistic="chi2")] == ["best", "blocks"]
    assert [s[0] for s in steps("gram_notears")] == ["solver", "descent"]
    assert [s[0] for s in steps("notears")] == ["solver"]


@pytest.mark.parametrize("key", ["priv_pc", "curate_pc", "marginal_pc", "gram_notears"])
def test_the_last_step_is_the_run_without_its_noise(key):
    params = ALGORITHMS[key].params.build({"max_order": 2} if key != "gram_notears" else {})
    last = loss_steps(ASIA, key, params)[-1].counts
    values = {**params.as_dict(), "epsilon": price.NO_NOISE}
    assert run(key, ASIA, seed=3, trace=False, **values).counts == last


def test_the_runs_threshold_and_orders_are_the_steps():
    assert steps("priv_pc", max_order=0) != STRICT
    assert steps("priv_pc", threshold=0.0)[1][2] != 7


def test_nothing_is_read_without_noise_for_it():
    own = Dataset.from_codes(ASIA.codes, ASIA.names, ASIA.levels, truth=ASIA.truth)
    params = ALGORITHMS["priv_pc"].params()
    assert loss_steps(own, "priv_pc", params) == ()
    assert loss_steps(load_dataset("win95pts", n=200), "priv_pc", params) == ()


def test_a_step_without_end_is_left_out(monkeypatch):
    params = ALGORITHMS["priv_pc"].params.build({"max_order": 3})
    data = load_dataset("cancer", n=777)
    best = loss_steps(data, "pc", ALGORITHMS["pc"].params.build({"statistic": "g2"}))
    monkeypatch.setattr(price, "SECONDS", -1.0)
    assert loss_steps(data, "priv_pc", params) == ()
    assert loss_steps(data, "priv_pc", ALGORITHMS["priv_pc"].params()) == best != ()


def test_a_step_is_computed_once(monkeypatch):
    params = ALGORITHMS["priv_pc"].params.build({"max_order": 1})
    first = loss_steps(ASIA, "priv_pc", params)
    monkeypatch.setattr(price, "run", None)  # whoever calls it now fails
    cheaper = ALGORITHMS["priv_pc"].params.build({"max_order": 1, "epsilon": 0.01})
    assert loss_steps(ASIA, "priv_pc", cheaper) == first
