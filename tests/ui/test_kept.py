"""What pages say, draw and offer is what they did: `KEEP=1 make test ARGS=tests/ui/test_kept.py`.

The visits stand for what a user does; each is compared word by word, with labels, helps, tables,
the series of charts, the links of pictures and the files that are text. A changed page shows as a
changed file in ``kept``, which is read before it is committed.
"""

import re

import pytest
import streamlit as st

from engine.release.budget import VARIABLE, Budgets
from engine.story import content
from engine.studies import repeat
from engine.teaching.money import purses
from pages import worker
from pages.learn import search
from pages.learn.steps import STEPS
from pages.shell import PAGES, task
from pages.study import work
from tests.boundary.alike import DECLARED, Twice, table
from tests.keeping import KEPT, agrees
from tests.ui.shown import shown
from tests.ui.steps import own_table, press, step, visit

ASIA = {"data": "asia", "n": "5000", "seed": "1"}
CANCER = {"data": "cancer", "n": "2000"}
RUNS = {
    "strict": {**ASIA, "algorithm": "priv_pc", "epsilon": "1"},
    "published": {**ASIA, "algorithm": "curate_pc", "guarantee": "published"},
    "marginal": {**ASIA, "algorithm": "marginal_pc", "epsilon": "0.5"},
    "none": {**CANCER, "algorithm": "pc"},
    "score": {**CANCER, "algorithm": "notears"},
    "nodes": {**CANCER, "algorithm": "em_pc"},
    "auto": {**CANCER, "algorithm": "auto"},
}
TABS = ("Scores and cost", "Where edges are lost", "Why was this edge removed?", "Edge table",
        "Ledger", "Download and share")  # fmt: skip
SLOW = {"published", "none", "nodes", "auto", "once", "now"}  # not between two edits
TEXT = (".csv", ".json", ".txt", ".dot", ".graphml", ".mmd", ".dag", ".svg")


@pytest.fixture(autouse=True)
def files(monkeypatch):
    """What is offered for download, as text."""
    found = []
    offer = st.download_button

    def offered(label, data, name, *args, **options):
        content = data() if callable(data) else data
        if str(name).endswith(TEXT):
            text = content if isinstance(content, str) else content.decode()
            found.append(f"[file] {name}\n{text}")
        return offer(label, data, name, *args, **options)

    monkeypatch.setattr(st, "download_button", offered)
    monkeypatch.setattr(work, "EPSILONS", (0.1, 1.0))
    monkeypatch.setattr(worker, "EPSILONS", (0.1, 1.0))
    monkeypatch.setattr(worker, "CURVE_RUNS", 2)
    monkeypatch.setattr(repeat, "DRAWS", 2)
    task._shared.clear()  # what another test had made for fewer repetitions
    return found


def names(some):
    return [pytest.param(n, marks=pytest.mark.slow, id=n) if n in SLOW else n for n in some]


@pytest.mark.parametrize("name", names(RUNS))
def test_run(open_app, name, files):
    app = press(open_app("run", **RUNS[name]), "run", "pin")
    seen = [shown(app)]
    for tab in TABS:
        app.session_state["run-details"] = tab
        files.clear()
        app.run()
        lines = shown(app).splitlines()
        seen += [f"\n# {tab}", *(x for x in lines if x not in seen[0].splitlines()), *files]
    agrees(f"run {name}", "\n".join(seen))


@pytest.mark.parametrize("word", names([*(one.key for one in STEPS), "shuffled"]))
def test_learn(open_app, word, monkeypatch):
    monkeypatch.setattr(content, "purses", lambda *a: purses(*a[:2], a[2][::20], *a[3:]))
    step = {"step": "shuffle", "shuffles": "2"} if word == "shuffled" else {"step": word}
    agrees(f"learn {word}", shown(open_app("learn", **step, data="cancer", seed="1")))


def test_learn_after_run(open_app):
    """The Run page's run is one of those that the search is shown of."""
    app = press(open_app("run", **CANCER), "run")
    visit(app, "learn", step="search", data="cancer")
    app.session_state["learn-tests"] = search.SHOWN
    app.run()
    assert not app.exception
    agrees("learn after run", shown(app))


def test_pins(open_app):
    app = open_app("run", **CANCER, algorithm="pc")
    for key, epsilon in (("pc", 1.0), ("marginal_pc", 3.0), ("priv_pc", 1.0)):
        app.selectbox(key="run-algorithm").set_value(key).run()
        if key == "marginal_pc":
            app.number_input(key="param-epsilon").set_value(epsilon).run()
        press(app, "run", *(["pin"] if key != "priv_pc" else []))
    agrees("run pins", shown(app))


CLICKS = {"pairs": (), "report": (), "scene": (), "trust": (), "study": ("study-find",)}


@pytest.mark.parametrize("page", CLICKS)
def test_page(open_app, page, files):
    query = {"data": "cancer", "n": "2000", "algorithm": "priv_pc", "study.seeds": "5"}
    [entry] = [one for one in PAGES if one.name == page]
    app = press(open_app(entry.address, **query), *CLICKS[page])
    agrees(page, "\n".join([shown(app), *files]))


def test_own_table(open_app, tmp_path, monkeypatch):
    """From a file to a release, each step as it is drawn."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "b.db"))
    Budgets().new("ward", 9, 1e-3)
    with Twice().visit():
        app = open_app("my-data")
        seen = ["# door", shown(app)]
        own_table(app, table(7, None), DECLARED)
        for word in ("table", "columns", "known", "budget", "release", "share"):
            step(app, word)
            seen += [f"\n# {word}", shown(app)]
    agrees("own table", "\n".join(seen))


def test_no_kept_sentence_ends_twice():
    """A page that cuts a sentence at a comma or colon doubles its full stop when it is edited."""
    doubled = re.compile(r"(?<![.…])\.\.(?=\s|$)")
    kept = sorted(KEPT.glob("*.txt"))
    assert kept
    assert [path.name for path in kept if doubled.search(path.read_text("utf-8"))] == []
