"""False positives under independence."""

import math

import numpy as np
import pytest

from engine import ALGORITHMS, InputError, load_dataset
from engine.data.imagined import independent
from engine.studies.detectability import Invented, Shape
from engine.studies.repeat import invented
from tests.contract.conftest import short


def test_columns_have_their_margins_and_depend_on_nothing():
    """50,000 rows: shares within .01 (four standard deviations), correlations within .02."""
    rng = np.random.default_rng(0)
    codes = independent((2, 3, 1, 4), 50_000, (0.5, 0.3), rng)
    off = (codes > 0).mean(axis=0)
    assert off == pytest.approx([0.5, 0.3, 0.0, 0.3], abs=0.01)
    assert np.bincount(codes[:, 3]) / 50_000 == pytest.approx([0.7, 0.1, 0.1, 0.1], abs=0.01)
    assert np.abs(np.corrcoef(codes[:, [0, 1, 3]].T) - np.eye(3)).max() < 0.02


def test_a_shape_is_public_and_its_tables_have_it():
    data = load_dataset("sachs", n=700)
    shape = Shape.of(data)
    made = shape.independent(3)
    assert (made.n, made.cardinalities) == (700, data.cardinalities)
    assert made.truth.number_of_edges() == 0
    assert (made.codes == shape.independent(3).codes).all()
    assert (made.codes != shape.independent(4).codes).any()
    other = load_dataset("sachs", n=700, seed=8)
    assert Shape.of(other) == shape  # the rows are not looked at
    numeric = load_dataset("sem:er:4:3:gaussian", n=300)
    made = Shape.of(numeric).independent(0)
    assert made.bounds == numeric.bounds
    assert made.values.shape == (300, 4)


@pytest.mark.parametrize("key", list(ALGORITHMS))
def test_every_algorithm_has_a_forecast(key):
    """A number from 0 to all pairs, the same each time."""
    algorithm = ALGORITHMS[key]
    columns = algorithm.columns
    bounds = None if columns is None else ((-1.0, 1.0),) * columns
    shape = Shape((2,) * (columns or 4), 500, bounds)
    for guarantee in algorithm.guarantees or (None,):
        values = short(key, 1.0)
        values |= {"epsilon": 1.0} if algorithm.private else {}
        values |= {"guarantee": guarantee} if guarantee else {}
        first, second = (invented(key, shape, values, draws=2) for _ in range(2))
        assert first == second
        assert 0 <= first.mean <= math.comb(len(shape.cardinalities), 2)
        assert first.error >= 0


def test_a_published_rule_has_false_positives_that_ours_has_not():
    """Priv-PC on eight columns of 3,000 rows: some five links, ours below one."""
    shape = Shape((2,) * 8, 3_000)
    published, ours = (
        invented(key, shape, {"epsilon": 0.1}, draws=10) for key in ("priv_pc", "marginal_pc")
    )
    assert published.mean > 1 + 3 * published.error
    assert ours.mean < 1


def test_a_stop_keeps_what_there_is():
    shape, asked = Shape((2,) * 4, 200), []

    def stop():
        asked.append(True)
        return len(asked) > 1

    assert invented("pc", shape, {}, stop=lambda: True) is None
    some = invented("priv_pc", shape, {"epsilon": 1.0}, draws=5, stop=stop)
    assert some is None or len(some.counts) < 5


@pytest.mark.parametrize(
    ("counts", "said"),
    [((0,) * 21 + (1,), "no false"), ((0, 1, 1), "about 0.7 false"), ((5, 6, 6), "about 6 false")],
)
def test_a_count_has_one_way_to_be_said(counts, said):
    found = Invented(counts)
    assert f"this setting gives {said} positive" in found.sentence
    assert (found.about == "0") == (said == "no false")


def test_the_error_of_a_mean_is_the_deviation_over_the_root_of_the_draws():
    assert Invented((0, 2, 4)).error == pytest.approx(2 / math.sqrt(3))
    assert Invented((3,)).error == math.inf


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match="two columns"):
        invented("anm", Shape((2,) * 4, 100), {})
    with pytest.raises(InputError, match="epsilon"):
        invented("marginal_pc", Shape((2,) * 4, 100), {"epsilon": -1})
