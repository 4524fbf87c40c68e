"""What a setting invents on nothing: said wherever ε is chosen, and the same number everywhere."""

import time

import pytest

from engine import load_dataset, run
from engine.request import Source
from engine.studies.detectability import Invented, Shape
from pages.forms import shape_of
from pages.learn.shuffle import ALGORITHMS, NONE, links_of
from pages.shell import task
from pages.worker import Reporter, false_links
from tests.ui.steps import address, press, told

QUICK = {"data": "asia", "n": "3000", "algorithm": "em_pc", "epsilon": "0.3"}
START = "On independent data of this size, this setting gives"


@pytest.fixture(autouse=True)
def fresh():
    """No count is left over from another test."""
    task._shared.clear()
    yield
    task._shared.clear()


def table(app, column):
    """The table on the page that has a column."""
    return next(f.value for f in app.dataframe if column in f.value)


def test_a_count_comes_in_the_background(open_app, monkeypatch):
    monkeypatch.setattr("pages.shell.task.AT_ONCE", 0.0)
    monkeypatch.setattr(
        "engine.studies.repeat.invented", lambda *_, **__: time.sleep(0.5) or Invented((3, 3))
    )
    app = open_app(**QUICK)
    assert "Counting false positives of this setting" in told(app, "caption")
    for one in task._shared.values():
        assert one.wait(20)
    app.run()
    assert f"{START} about 3 false positives." in [c.value for c in app.caption]


def test_a_count_that_takes_too_long_is_of_fewer_tables(monkeypatch):
    monkeypatch.setattr("pages.worker.COUNTED", 0.5)
    found = false_links(Reporter(), "em_pc", Shape((2,) * 3, 500), {"epsilon": 1.0}, 100_000)
    assert 0 < len(found.counts) < 100_000


def test_a_shape_needs_no_rows(monkeypatch):
    """Of a network none are drawn; of others only what is public is used."""
    expected = [Shape.of(load_dataset(name, n=200)) for name in ("asia", "sachs", "alarm")]
    numeric = Shape.of(load_dataset("sem:er:4:3:gaussian", n=300))
    assert shape_of(Source("sem:er:4:3:gaussian", 300)) == numeric
    monkeypatch.setattr("pages.forms.data_for", None)
    assert [shape_of(Source(name, 200)) for name in ("asia", "sachs", "alarm")] == expected
    assert shape_of(Source("asia", 3)) is None


def test_shuffle_waits_for_a_guess_and_shows_what_is_invented(open_app):
    app = open_app("learn", step="shuffle", network="cancer", total="2")
    assert app.button(key="learn-shuffle").disabled
    app.button_group(key="learn-shuffle-guess").set_value([NONE]).run()
    press(app, "learn-shuffle")
    assert address(app)["shuffles"] == "1"
    found = table(app, "After")
    assert len(found) == len(ALGORITHMS)
    (answer,) = [m.value for m in app.markdown if "You said" in m.value]
    assert "all of them are false positives" in answer or f"**{NONE}** does" in answer
    for name, after in zip(found["Algorithm"], found["After"], strict=True):
        assert (name in answer.split(" still ")[0]) == (after > 0)
        assert f"{name}: {after} link" in told(app, "html")


def test_pairs_not_tested_are_no_links():
    data = load_dataset("asia", n=3_000)
    result = run("priv_pc", data, seed=0, epsilon=0.05)
    assert result.untested
    assert len(links_of(result)) == len(result.skeleton) - len(result.untested)
