"""A plan that cannot work is named before it runs, from public facts alone."""

import math

import pytest

from engine import InputError, load_dataset, run
from engine.__main__ import main
from engine.registry import ALGORITHMS, algorithm
from engine.studies.detectability import HIDDEN, Shape, _rowless, unworkable

STRICT = {"guarantee": "strict", "epsilon": 1.0}


def noise(key, sizes, rows, **values):
    chosen = algorithm(key)
    return chosen.noise(_rowless(Shape(sizes, rows)), chosen.params.build({**STRICT, **values}))


def test_the_stated_noise_is_what_a_run_draws():
    """On binary columns, which all have the least sensitivity."""
    data = load_dataset("asia", n=3_000)
    shape = data.cardinalities, data.n
    drawn = {key: run(key, data, seed=0, trace=False, **STRICT) for key in ("gauss_pc", "priv_pc")}
    first = drawn["gauss_pc"].ledger[0].event
    assert noise("gauss_pc", *shape) == pytest.approx(first.sigma)
    examined = next(c.event for c in drawn["priv_pc"].ledger if c.label == "examine")
    assert noise("priv_pc", *shape) == pytest.approx(math.sqrt(2) * examined.scale)
    svt = run("svt_pc", data, seed=0, trace=False, **STRICT).ledger[0].event
    both = math.hypot(svt.threshold_scale, svt.query_scale)
    unit = 3 / math.sqrt(data.n)
    assert noise("svt_pc", *shape) == pytest.approx(math.sqrt(2) * both * unit)


def test_curates_is_that_of_its_first_plan():
    data = load_dataset("asia", n=3_000)
    found = run("curate_pc", data, seed=0, trace=False, **STRICT).diagnostics
    allocation = found.allocation
    each = allocation.planned[0][1].epsilon
    expected = math.sqrt(2) * 3 / math.sqrt(data.n) / each
    assert noise("curate_pc", data.cardinalities, data.n) == pytest.approx(expected)


@pytest.mark.parametrize("key", ["curate_pc", "gauss_pc"])
def test_a_sample_hides_more_by_its_smaller_score_and_larger_steps(key):
    """On the scale of all rows: the noise relative to the sample's largest score."""
    data, rows = load_dataset("asia", n=3_000), 750
    found = run(key, data, seed=0, trace=False, subsample=rows, max_order=0, **STRICT)
    event = found.ledger[0].event
    deviation = getattr(event, "sigma", None) or math.sqrt(2) * event.scale
    stated = noise(key, data.cardinalities, data.n, subsample=rows, max_order=0)
    largest = [algorithm(key).params.build(STRICT).test.largest(n) for n in (rows, data.n)]
    assert stated / largest[1] == pytest.approx(deviation / largest[0])


def said(key, sizes, rows, **values):
    return unworkable([key], [Shape(sizes, rows)], {**STRICT, **values})


def test_it_is_said_where_three_deviations_hide_half_of_the_scale():
    sizes = (2,) * 20
    rows = {
        n: 3 * noise("svt_pc", sizes, n) / (1.5 * math.sqrt(n)) for n in range(3_000, 30_000, 500)
    }
    for n, share in rows.items():
        assert bool(said("svt_pc", sizes, n)) == (share > HIDDEN)
    assert min(rows.values()) < HIDDEN < max(rows.values())
    (sentence,) = said("curate_pc", (2,) * 500, 100_000)
    assert sentence.startswith("CURATE cannot work here. The tests that 500 columns")
    assert "100,000 rows keep below 474" in sentence


def test_others_say_nothing():
    sizes, rows = (2,) * 40, 1_000
    assert said("svt_pc", sizes, rows)
    assert not said("svt_pc", sizes, rows, guarantee="published")
    assert not said("svt_pc", sizes, rows, score="p")
    assert not said("svt_pc", sizes, rows, statistic="g2")
    assert not said("svt_pc", sizes, rows, statistic="oracle")
    assert not said("svt_pc", (2,), rows)
    assert not said("svt_pc", sizes, 1)
    silent = [key for key, a in ALGORITHMS.items() if a.noise is None]
    assert {"pc", "marginal_pc", "gram_notears", "em_pc"} <= set(silent)
    assert not unworkable(silent, [Shape(sizes, rows)], {})
    with pytest.raises(InputError):
        unworkable(["svt_pc"], [Shape(sizes, rows)], {"epsilon": -1.0})


def test_a_study_is_told_the_largest_epsilon_of_each():
    shapes = [Shape((2,) * 40, 1_000), Shape((2,) * 5, 1_000_000)]
    keys = ["svt_pc", "gauss_pc", "pc"]
    lines = unworkable(
        keys, shapes, {"epsilon": [0.1, 1.0], "guarantee": "strict", "tests": "auto"}
    )
    assert len(lines) == 2
    assert all("share ε = 1," in line for line in lines)
    assert lines[0].startswith("SVT-PC")


@pytest.mark.parametrize("word", ["run", "sweep"])
def test_the_command_line_says_it_first(capsys, word):
    argv = [word, "--dataset", "asia", "--n", "300", "--algorithm", "svt_pc", "--epsilon", "0.1"]
    where = ["--seeds", "1", "--workers", "1"] if word == "sweep" else []
    assert main([*argv, *where, "--guarantee", "strict", "--json"]) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("SVT-PC cannot work here")
    assert printed.out.startswith(("{", "["))
