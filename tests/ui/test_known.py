"""What is known, and what follows, on the pages without a browser."""

import json
import re
from base64 import b64decode
from dataclasses import replace
from itertools import groupby

import numpy as np
import pytest

from benchmarks import knowledge as measured
from benchmarks.knowledge import kept
from engine import InputError, Knowledge, load_dataset, read_table
from engine.effects.effect import effect_of
from engine.effects.estimate import Interval
from engine.effects.plausible import Plausible
from engine.graphs.cpdag import matrix_of
from engine.graphs.known import ready_sets
from engine.knowledge import FULL, ORIENTS
from engine.request import Request, Source, known_from, ready, word_of
from pages.draw import effect as drawn
from pages.forms import known_label
from pages.forms.known import LOST, WRONG, fixed_words
from pages.shell import settings
from tests.effects.models import exact
from tests.release.samples import asia_schema
from tests.ui.steps import told

TRUTH = load_dataset("asia", n=10).truth
assert TRUTH is not None
SETS = ready_sets(TRUTH)
MARGINAL = {"data": "asia", "algorithm": "marginal_pc", "n": "20000"}
ASIA = load_dataset("asia", n=10)


def test_ready_sets_are_true_and_settle_more_and_more():
    assert list(SETS) == ["two tiers", "four tiers", "complete order"]
    for found in SETS.values():
        assert all(found.allows(a, b) for a, b in TRUTH.edges)
    said = [fixed_words(ASIA, SETS[name]) for name in SETS]
    assert said[0] == "Background knowledge alone fixes **3 of 8** true directions."
    assert "8 of 8" in said[2]
    own = read_table(b"a,b,c\n0,0,1\n1,0,0\n0,1,1\n")
    assert fixed_words(own, Knowledge(roots=["a"])) == (
        "Background knowledge alone fixes the direction of **2 of 3** pairs."
    )


def test_the_buttons_words():
    tiers = Knowledge(tiers=[["asia"], ["smoke"]], required=[("tub", "lung")])
    stated = (None, SETS["four tiers"], tiers, Knowledge(roots=["asia"]))
    said = ["none", "four tiers", "2 tiers, 1 arrow", "a little"]
    assert [known_label(ASIA, one) for one in stated] == said


@pytest.mark.parametrize(
    "stated", [*SETS.values(), Knowledge(forbidden=[("asia", "xray")], use=ORIENTS)]
)
def test_a_link_carries_it(stated):
    word = word_of(stated, "asia")
    assert known_from(word, "asia") == stated
    assert word.startswith("{") == (stated not in SETS.values())
    assert Request(knowledge=stated).to_words()["asia-known"] == word
    own = Request(Source("own"), seed=None, knowledge=stated)
    assert "known" not in " ".join(own.to_words())
    assert ready("sem:er:10:20:gaussian") == {}


@pytest.mark.parametrize("word", ["three-tiers", "{", '{"format": "x"}'])
def test_a_link_that_says_nonsense_is_refused(word):
    with pytest.raises(InputError):
        known_from(word, "asia")


def test_a_run_that_knows_says_what_it_knew(open_app):
    app = open_app("run", **MARGINAL, **{"asia-known": "four-tiers"})
    result = app.session_state["shown"][False].result
    assert result.knowledge == SETS["four tiers"]
    assert any("Background knowledge: four tiers" in b.label for b in app.button)
    said = next(c.value for c in app.caption if "knowledge fixes" in c.value)
    turned, links = result.known.fixed(result.matrix)
    assert said.startswith(f"Background knowledge fixes {turned} of {links} directions.")
    assert f"{result.knowledge_alone.directed_f1:.2f}: the difference comes from the data" in said
    views = [g.proto.help for g in app.get("button_group")]
    assert any("that data and background knowledge identify" in said for said in views)
    # A file in its place, whose names are examined.
    for name, problem in (("smokes", "Did you mean 'smoke'"), ("smoke", "None")):
        next(b for b in app.button if "Background knowledge: four" in b.label).click().run()
        file = json.dumps(Knowledge(roots=[name]).to_json()).encode()
        app.file_uploader(key="known-file").set_value(("k.json", file, "text/json")).run()
        assert problem in str(app.session_state["known-problem"])
        assert not app.exception
    # Another dataset knows nothing of it.
    app.selectbox(key="run-network").set_value("cancer").run()
    assert any("Background knowledge: none" in b.label for b in app.button)
    assert not app.exception


def test_effects_under_a_run(open_app):
    app = open_app("run", **MARGINAL, **{"asia-known": "complete-order"})
    app.session_state["run-effects"] = True
    app.run()
    app.selectbox(key="run-effect-cause").set_value("Smoking").run()
    app.selectbox(key="run-effect-effect").set_value("Bronchitis").run()
    assert "If Smoking were yes for everyone" in told(app, "markdown")
    tables = "probability tables: 60 of 100 and 30 of 100, a difference of 30."
    assert tables in told(app, "markdown").replace("*", "")
    assert "no unmeasured column causes both" in told(app, "caption")
    assert 'alt="Smoking = yes: ' in told(app, "html")
    app.selectbox(key="run-effect-effect").set_value("Smoking").run()
    assert "two different columns" in told(app, "info")
    app.selectbox(key="run-effect-effect").set_value("Visit to Asia").run()
    assert not app.exception
    app.toggle(key="run-names").set_value(True).run()  # as the graph above them
    app.selectbox(key="run-effect-cause").set_value("smoke").run()
    app.selectbox(key="run-effect-effect").set_value("bronc").run()
    assert "If smoke were yes for everyone" in told(app, "markdown")


def test_figures_say_how_many_are_sure_and_how_many_may_be():
    html = drawn._hundred(Interval(0.3, 0.2, 0.45), "smoke = yes", "lung = yes")
    said = "smoke = yes: 20 to 45 of 100 with lung = yes"
    assert html.count(said) == 2  # beside the picture, and for screen readers
    assert '<img style="width:100%"' in html  # or it would lie under the other side's picture
    icons = b64decode(html.split("base64,")[1].split('"')[0]).decode()
    fills = re.findall(r'<circle[^>]* fill="([^"]+)"', icons)
    assert [len([*same]) for _, same in groupby(fills)] == [20, 25, 55]
    assert fills[-1] == "none"


def test_a_refusal_stands_without_figures(monkeypatch):
    data = load_dataset("asia", n=1000)
    dags = Plausible((matrix_of(data.truth, data.names),), np.ones(1))
    found = effect_of(exact(data), data.names, data.levels, dags, "dysp", "bronc")
    assert found.refusal is not None
    shown = []
    monkeypatch.setattr(drawn.st, "info", lambda words, **_: shown.append(words))
    monkeypatch.setattr(drawn.st, "html", lambda words: shown.append("figures"))
    for name in ("markdown", "caption"):
        monkeypatch.setattr(drawn.st, name, lambda words: None)
    drawn._show(found, "asia")
    assert len(shown) == 1
    assert "In every plausible graph bronc is among the causes of dysp" in shown[0]


def test_what_the_form_says_of_own_data_goes_into_their_release(monkeypatch):
    """And what the form takes back does not."""
    schema = replace(asia_schema(), knowledge=SETS["two tiers"])
    for said in (SETS["four tiers"], None):
        monkeypatch.setattr(settings, "drafted_known", lambda source, said=said: said)
        assert settings.stated(schema) == replace(schema, knowledge=said)


def test_what_the_dialog_says_of_a_false_tier_was_measured():
    """Its numbers are those of the table of Marginal PC at ε = 1."""
    table = measured.summary(kept()).set_index(["algorithm", "ε", "knowledge"]).sort_index()
    ours = table.loc[("marginal_pc", 1.0)]
    wrong = {name: round(100 * float(ours.loc[name, "wrong arrows"])) for name in WORDS}
    assert {use: wrong[name] for name, use in WORDS.items()} == WRONG
    assert round(-100 * float(ours.loc[measured.FALSE, "Δ skeleton"].split()[0])) == LOST
    only = ours.loc[measured.FALSE_ORIENTS, "Δ skeleton"]
    assert float(only.split()[0]) == 0


WORDS = {measured.NONE: "none", measured.FALSE: FULL, measured.FALSE_ORIENTS: ORIENTS}
