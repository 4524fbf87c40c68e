"""The Pairs page without a browser."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from engine.pairs.decision import Decision
from pages.pairs import form, view
from pages.shell import words as text
from tests.ui.steps import press, told


@pytest.fixture(scope="module")
def pairs_page(open_app):
    """One session, in which one choice follows another."""
    return open_app("cause-or-effect")


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_votes_gap_is_what_its_probability_is_of(pairs_page, epsilon):
    """Laplace noise of the scale shown leaves the gap shown on its side so often."""
    pairs_page.select_slider(key="pairs-epsilon").set_value(epsilon).run()
    table = next(d.value for d in pairs_page.dataframe if "Points to" in d.value)
    vote = table.set_index("Release").loc["Vote (every row)"]
    gap = vote["Gap (vote: margin)"]
    turned = math.exp(-abs(gap) / vote["Noise scale"]) / 2
    truth = form.simulated("square", "gaussian", "uniform", 1_000, 0).truth
    right = [" → ".join(edge) for edge in truth.edges] == [vote["Points to"]]
    assert vote["Right"] == pytest.approx(1 - turned if right else turned, abs=1e-9)
    # The decision that was released, whichever way it points, and what its noise leaves of it.
    tiles = {m.label: m.value for m in pairs_page.metric}
    released, scale = (float(tiles[name]) for name in ("Released", "Noise scale"))
    left = 100 * (1 - math.exp(-abs(released) / scale) / 2)
    assert float(tiles["Noise did not decide"].removesuffix(" %")) == pytest.approx(left, abs=1)
    again = 100 * (1 - turned if (released > 0) == (gap > 0) else turned)
    said = pairs_page.header[0].value
    assert f": {'> 99' if again > 99 else f'{again:.0f}'} of 100 such releases" in said


def test_fits_and_residuals_are_drawn_in_the_units_of_their_columns(monkeypatch):
    """x is 1 and y 20 wide on either side of its middle, 1 and 10."""
    drawn = {}
    monkeypatch.setattr(view.charts, "figure", lambda it, key, alt: drawn.update({key: it["data"]}))
    fields = {"x": [-1, 0], "y": [0, 0.5], "grid": [0, 1], "forward": [0.2, 0.4],
              "backward": [0.6, 0.8], "of_y": [0.1, 0.2], "of_x": [0.4, 0.5]}  # fmt: skip
    found = SimpleNamespace(**{name: np.array(some) for name, some in fields.items()})
    view.fits_view(SimpleNamespace(names=("x", "y"), bounds=((0, 2), (-10, 30))), found)
    points, forward, backward = drawn["pairs-fits"]
    wanted = [
        (points, [0, 1], [10, 20]),
        (forward, [1, 2], [14, 18]),
        (backward, [1.6, 1.8], [10, 30]),
        (drawn["pairs-residuals-0"][0], [0, 1], [2, 4]),
        (drawn["pairs-residuals-1"][0], [10, 20], [0.4, 0.5]),
    ]
    for one, x, y in wanted:
        assert (one["x"], one["y"]) == (pytest.approx(x), pytest.approx(y))


@pytest.mark.parametrize(("released", "sign", "many"), [(5, 1, 80), (-5, 1, 20), (-5, -1, 80)])
def test_a_decision_is_told_with_the_share_of_releases_that_say_the_same(released, sign, many):
    """.8 of them say what is true; without a known truth the sign of the gap stands for it."""
    way = SimpleNamespace(release="vote", name="vote", chance=lambda _: 0.8, gap=lambda _: sign)
    told = {"release": "vote", "score": "hsic", "protects": "both", "probability": 0.9, "scale": 1}
    found = Decision(direction="a->b", scores=(released,), **told)
    for known in (sign, 0):
        said = view._sentence(found, ("a", "b"), SimpleNamespace(sign=known, ways=[way]),
                              {"epsilon": 1.0})  # fmt: skip
        assert f": {many} of 100 such releases" in said


def test_the_script_gives_the_same_decision(open_app):
    app = open_app("cause-or-effect")
    there = {}
    exec(app.code[0].value, there)
    released = next(m for m in app.metric if m.label == "Released")
    assert text.number(there["result"].diagnostics.scores[0]) == released.value


def test_the_headline_says_how_often_the_model_is_right(open_app, tmp_path, monkeypatch):
    """The kept result's numbers, whatever they are; beside the share of releases."""
    kept = tmp_path / "other.json"
    kept.write_text('{"pairs": 7, "ways": [{"right": 0.1}, {"right": 0.9}]}')
    monkeypatch.setattr(view, "KEPT", kept)
    app = open_app("cause-or-effect")
    assert app.header[0].value.startswith("If the model holds")
    assert "7 real pairs of known cause it is right on 10 to 90 %" in told(app)
    assert "without privacy" in told(app)


def test_a_refused_value_has_its_sentence_at_its_field_and_the_page_stays(open_app):
    app = open_app("cause-or-effect", **{"pairs.width": "0.4"})
    before = told(app, "subheader", "caption")
    app.number_input(key="pairs-width").set_value(9.0).run()
    assert told(app, "html").count('role="alert"') == 1
    assert "width must be at least 0.1" in told(app, "html")
    assert told(app, "subheader", "caption") == before
    assert not app.error
    assert not app.info


def test_without_data_there_is_one_sentence(open_app):
    app = open_app("cause-or-effect")
    for source in ("Tübingen file", "Your own CSV"):
        app.radio(key="pairs-source").set_value(source).run()
        assert not app.exception
        assert len(app.info) == 1
    assert view._with_room(np.full(2, 3.0)) == (2.0, 4.0)  # an axis of two units for one value


def test_own_data_show_nothing_exact_before_they_are_asked_to(open_app):
    app = open_app("cause-or-effect")
    rows = "\n".join(f"{i % 41},{(i % 41 - 20) ** 2}" for i in range(120))
    app.radio(key="pairs-source").set_value("Your own CSV").run()
    app.file_uploader(key="pairs-csv").upload("own.csv", f"a,b\n{rows}".encode(), "text/csv")
    app.run()
    assert "four numbers" in app.info[0].value
    for wrong in ("0, nan, 0, 400", "40, 0, 0, 400", "0, inf, 0, 400"):
        app.text_input(key="pairs-bounds").set_value(wrong).run()
        assert "lowest value before its highest one" in app.info[0].value
    app.text_input(key="pairs-bounds").set_value("0, 40, 0, 400").run()
    assert not app.exception
    places = [leaf.type for leaf in app.main if leaf.type in ("html", "button")]
    assert places.index("button") > 0, places  # the page's title comes first
    assert len(app.get("plotly_chart")) == 0
    assert "explains" not in told(app)
    press(app, "pairs-go")
    assert "explains" in told(app)
    assert len(app.get("plotly_chart")) == 0
    app.toggle(key="pairs-look").set_value(True).run()
    assert len(app.get("plotly_chart")) > 0
    assert any("Nothing below is private" in w.value for w in app.warning)


def test_the_batch(open_app, monkeypatch):
    monkeypatch.setattr(view, "BATCH_ROWS", 400)
    app = open_app("cause-or-effect")
    press(app, "pairs-batch-run")
    job = app.session_state["task-pairs-batch"]
    assert job.wait(120)
    app.run()
    assert not app.exception
    assert len(job.parts) == len(view.batch_pairs())
    table = app.dataframe[-1].value
    assert list(table["Pairs"]) == [len(job.parts)] * 6
    right = table.set_index("Release").iloc[:, 1]
    assert right.idxmax() == "Vote (every row)"
    said = "These results are for the 30 simulated pairs at λ = 0.001"
    assert not any(said in c.value for c in app.caption)
    app.number_input(key="pairs-ridge").set_value(0.5).run()
    assert any(said in c.value for c in app.caption)
