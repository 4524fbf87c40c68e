"""The Sieve page without a browser."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from engine import load_dataset
from engine.teaching import sieving
from engine.theory import best_subsample
from pages.sieve import scores


@pytest.fixture(scope="module")
def sieve_page(open_app: Callable[..., AppTest]) -> AppTest:
    """One session, in which one choice follows another."""
    return opened(open_app)


def opened(open_app: Callable[..., AppTest]) -> AppTest:
    return open_app("sieve", data="cancer", n="2000")


def test_it_opens_with_charts_and_tables(open_app: Callable[..., AppTest]) -> None:
    sieve_page = opened(open_app)
    assert len(sieve_page.get("plotly_chart")) == 4
    spec = sieve_page.get("plotly_chart")[0].proto.spec
    assert "T \\u2212 t = 0.08" in spec or "T − t = 0.08" in spec
    last = sieve_page.get("plotly_chart")[3].proto.spec
    assert f"Best m: {best_subsample(1.0, 2000):,}" in last
    scores = next(d.value for d in sieve_page.dataframe if "Score" in d.value)
    assert scores.iloc[:, 1:].to_numpy().sum() == sieving.query_count(5)


def test_the_best_m_stands_in_its_place(open_app: Callable[..., AppTest]) -> None:
    """Pushed to the right a dial gives more rows; every place says the same number of them."""
    app = open_app("sieve", data="cancer", n="100000")
    best = best_subsample(1.0, 100_000)
    given = json.loads(app.get("bidi_component")[-1].proto.json)
    rows = [sample["m"] for sample in given["samples"]]
    assert rows == sorted(rows)
    assert rows[given["at"][2]] == best
    table = next(d.value for d in app.dataframe if "m" in d.value)
    assert best in list(table["m"])
    app.toggle(key="sieve-best").set_value(False).run()
    app.slider(key="sieve-share").set_value(0.3).run()
    given = json.loads(app.get("bidi_component")[-1].proto.json)
    assert given["samples"][given["at"][2]]["m"] == 30_000


@pytest.mark.parametrize("scale", ["p", "z"])
def test_the_names_of_two_lines_stand_on_their_far_sides(scale: str) -> None:
    """Close by each other they would be read as one."""
    sieve = sieving.Sieve("kendall", "strict", scale, 0.1, 0.02, 1.0, 100)
    edges = scores._edges(scale)
    counts = {"Queries": np.zeros(len(edges) - 1)}
    figure = scores._histogram(counts, edges, sieve, 2.0, 1.0)
    first, second = sorted(figure.layout.annotations, key=lambda name: name.x)
    assert (first.xanchor, second.xanchor) == ("right", "left")
    assert first.xshift < 0 < second.xshift
    assert first.y == second.y


@pytest.mark.parametrize("scale", ["p", "z"])
@pytest.mark.parametrize("guarantee", ["published", "strict"])
def test_every_score_and_sensitivity(sieve_page: AppTest, scale: str, guarantee: str) -> None:
    sieve_page.radio(key="sieve-scale").set_value(scale)
    sieve_page.radio(key="sieve-guarantee").set_value(guarantee)
    sieve_page.toggle(key="sieve-best").set_value(False).run()
    assert not sieve_page.exception
    sieve_page.slider(key="sieve-share").set_value(1.0)
    sieve_page.slider(key="sieve-tweak").set_value(0.0).run()
    assert not sieve_page.exception
    assert sieve_page.radio(key="sieve-scale").value == scale
    assert sieve_page.slider(key="sieve-tweak").value == 0.0
    assert len(sieve_page.get("plotly_chart")) == 4


def test_noise_density_is_a_density() -> None:
    x = np.linspace(-60, 60, 400_001)
    y = sieving.noise_density(x, 2.0, 1.0)
    step = x[1] - x[0]
    assert math.isclose(y.sum() * step, 1, rel_tol=1e-6)
    assert math.isclose(math.sqrt((x * x * y).sum() * step), sieving.deviation(2, 1), rel_tol=1e-6)


def test_observed_rates_meet_the_closed_form() -> None:
    n, m, epsilon, unit = 100_000, 20_000, 1.0, 0.004
    lost, _ = sieving.observed(0.03, 0.02, epsilon, n, m, (unit, unit))
    a, b = sieving.noise_scales(epsilon, n, m, unit)
    x = 0.05
    tail = (a * a * math.exp(-x / a) - b * b * math.exp(-x / b)) / (2 * (a * a - b * b))
    assert lost == pytest.approx(tail, abs=3 / math.sqrt(sieving.DRAWS))


def test_scores_are_split_by_d_separation() -> None:
    data = load_dataset("cancer", n=5000, seed=0)
    values, truth = sieving.exact_scores(data, "kendall", "published", "p")
    assert len(values) == len(truth) == sieving.query_count(5)
    assert set(truth) == {0.0, 1.0}
    assert np.median(values[truth == 1]) > np.median(values[truth == 0])


@pytest.mark.parametrize("scale", ["p", "z"])
def test_what_is_dragged_has_the_engines_numbers(
    open_app: Callable[..., AppTest], scale: str
) -> None:
    query = {"sieve.scale": scale, "sieve.threshold": "0.15", "sieve.tweak": "0.03"}
    app = open_app("sieve", data="cancer", n="2000", **query)
    given = json.loads(app.get("bidi_component")[-1].proto.json)
    data = load_dataset("cancer", n=2000, seed=0)
    at = given["thresholds"][given["at"][0]], given["tweaks"][given["at"][1]]
    assert at == (0.15, 0.03)
    assert given["samples"][given["at"][2]]["m"] == best_subsample(1.0, 2000)
    values, truth = sieving.exact_scores(data, "kendall", "published", scale)
    shown = [math.nan if v is None else v for v in given["scores"]]
    assert np.allclose(shown, values, atol=1e-6, equal_nan=True)
    assert given["truth"] == truth.tolist()
    for t, w, m in ((0, 0, 1), (9, 4, 0), (29, 12, 20)):
        sample = given["samples"][m]
        threshold, tweak = given["thresholds"][t], given["tweaks"][w]
        sieve = sieving.Sieve("kendall", "published", scale, threshold, tweak, 1.0, sample["m"])
        level, lowered = sieve.levels()
        assert given["levels"][t][w] == [level, min(lowered, 16.0)]
        assert (sample["a"], sample["b"]) == sieve.noise(data)
        assert sample["sd"] == sieve.noise_level(data)
