"""The Run page without a browser."""

import json
import threading
from dataclasses import replace

import pytest
import streamlit as st

from engine import ALGORITHMS, load_dataset, request, run
from engine.algorithms import priv_pc
from engine.params import relevant
from engine.registry import GRAPHS
from engine.studies.detectability import detectability
from engine.studies.recommended import recommended, study
from pages.run import form as run_form
from pages.shell import runs, settings, task
from tests.test_request import More
from tests.ui.steps import address, back, behind, metrics, press, told

ASIA = load_dataset("asia", n=100_000, seed=0)
TESTS = "CI tests"
CHANGED = "Settings changed – press Run. Below is: Priv-PC, noise seed 0."


def messages(app):
    return [box.value for kind in (app.error, app.warning, app.info) for box in kind]


def parameters_shown(app):
    widgets = [*app.radio, *app.selectbox, *app.number_input, *app.toggle]
    keys = {str(w.key) for w in widgets}
    return {k.removeprefix("param-") for k in keys if k.startswith("param-")}


def enter(app, key, *values):
    for value in values:
        app.number_input(key=key).set_value(value).run()


@pytest.fixture(scope="module")
def session(open_app):
    """A session in which one algorithm is run after the other."""
    return open_app(data="cancer", n="2000")


@pytest.mark.parametrize("key", GRAPHS)
def test_every_algorithm_runs_from_its_form(session, key):
    """Which has fields for the parameters that have an effect, and for each guarantee a result."""
    app, specs = session, ALGORITHMS[key].params.specs()
    app.selectbox(key="run-algorithm").set_value(key).run()
    wanted = relevant(specs, {s.name: s.default for s in specs})
    assert parameters_shown(app) == {s.name for s in wanted}
    choices = next((s.choices for s in specs if s.name == "guarantee"), ())
    # None where there is nothing to choose; strict last, for the next one begins with it.
    for guarantee in reversed(choices) if len(choices) > 1 else [None]:
        if guarantee is not None:
            app.radio(key="param-guarantee").set_value(guarantee).run()
        press(app, "run")
        result = app.session_state["shown"][False].result
        assert result.algorithm == key
        assert guarantee in (None, result.params.as_dict().get("guarantee"))
        assert not app.error
        assert ALGORITHMS[key].title in told(app, "html")
        assert "Settings changed" not in told(app, "warning")


@pytest.fixture
def asked(app, monkeypatch):
    """Once the app has opened, no run is quick: each waits for its button."""
    monkeypatch.setattr(runs, "QUICK", 0.0)
    monkeypatch.setattr(runs, "known", lambda key: False)


@pytest.mark.usefixtures("asked")
def test_fields_follow_each_other_and_leave_the_result(app):
    """Presets fill several; slider and exact entry are one value; an algorithm keeps what fits."""
    before = metrics(app)
    for preset, guarantee, epsilon, delta in (
        ("Paper setting", "published", 1.0, 1e-3),
        ("Strong privacy", "strict", 0.1, 1e-6),
    ):
        app.pills(key="presets").set_value(preset).run()
        assert app.radio(key="param-guarantee").value == guarantee
        assert app.number_input(key="param-epsilon").value == epsilon
        assert app.number_input(key="param-delta").value == delta
    enter(app, "param-epsilon", 0.37)
    assert app.select_slider(key="param-epsilon-slider").value == 0.37
    app.select_slider(key="param-epsilon-slider").set_value(5.0).run()
    assert app.number_input(key="param-epsilon").value == 5.0
    assert any("right at most 100 times" in c.value for c in app.caption)  # 99.3, rounded up
    app.selectbox(key="run-algorithm").set_value("pc").run()
    assert "epsilon" not in parameters_shown(app)
    app.selectbox(key="run-algorithm").set_value("priv_pc").run()
    assert app.selectbox(key="param-subsample").value == "best"
    assert app.number_input(key="param-epsilon").value == 5.0
    assert metrics(app) == before
    app.segmented_control[0].set_value("Overlay").run()
    assert len(app.get("iframe")) == 1


def test_a_press_after_back_leaves_its_run(app, monkeypatch):
    """It ends the page that Back led to before its run is begun."""
    with monkeypatch.context() as patch:
        patch.setattr(runs, "_start", lambda *_: st.stop())
        back(app, {"data": "cancer", "n": "2000"})
    app.run()
    assert "Cancer" in told(app, "html")
    assert (app.session_state["shown"][False].data.name, address(app)["data"]) == (
        "cancer",
        "cancer",
    )


@pytest.mark.usefixtures("asked")
def test_knowledge_that_says_nothing_is_no_change(app):
    empty = '{"format": "dp-causal-explorer/knowledge", "version": 1}'
    back(app, {"data": "asia", "asia-known": empty})
    press(app, "run")
    assert "Settings changed" not in told(app, "warning")


def test_a_field_declared_in_memory_is_in_form_and_address(open_app, monkeypatch):
    monkeypatch.setattr(priv_pc, "ALGORITHM", replace(priv_pc.ALGORITHM, params=More))
    app = open_app(data="cancer", n="2000", patience="1.5")
    assert app.number_input(key="param-patience").value == 1.5
    app.session_state["run-details"] = "Download and share"
    enter(app, "param-patience", 2.5)
    press(app, "run")
    assert address(app)["patience"] == "2.5"
    assert "patience=2.5," in told(app, "code")


def test_the_recommended_setting_is_the_studys(open_app):
    """At the form's ε, under the strict guarantee, with what it is worth elsewhere."""
    rows = study()[0].rows
    found = next(filter(None, (recommended(key, 0.3, rows) for key in ALGORITHMS)))
    app = open_app(data="cancer", n=str(rows), algorithm=found.algorithm, epsilon="0.3")
    assert found.params
    app.radio(key="param-guarantee").set_value("published").run()
    app.pills(key="presets").set_value("Recommended").run()
    params = ALGORITHMS[found.algorithm].params().as_dict() | app.session_state["state"].chosen
    assert {**params, **found.params} == params
    assert (params["epsilon"], params["guarantee"]) == (0.3, "strict")
    tuned, _ = found.elsewhere["earthquake"]
    assert f"Earthquake {tuned.mean:.2f} (default" in told(app, "caption")
    enter(app, "run-n", rows // 5)
    assert "Recommended" not in app.pills(key="presets").options  # the study says nothing of that n
    assert not app.exception


def test_where_little_is_to_be_had_it_is_said_before_the_run(open_app):
    app = open_app(data="cancer", n="500", algorithm="em_pc", epsilon="0.1")
    assert f"{detectability(500, 5, [0.1]).split(':')[0]}." in messages(app)
    enter(app, "param-epsilon", 5.0)
    assert "can be found:" not in told(app, "warning")
    app = open_app(data="asia", n="300", algorithm="svt_pc", epsilon="0.1")
    assert "cannot work here" in told(app, "warning")
    assert told(app, "warning").endswith("here.")  # on public data without the reasons


@pytest.mark.parametrize(
    ("meanwhile", "kept", "ran"),
    [({}, 5.0, True), ({"seed": 8}, 5.0, False), ({}, 0.0, False)],
    ids=["the same form", "another form", "long ago"],
)
@pytest.mark.usefixtures("asked")
def test_a_press_that_another_press_overtakes(open_app, monkeypatch, meanwhile, kept, ran):
    """The script begins anew, and its button knows of no press: the callback's word is left."""
    app = press(open_app(data="cancer", n="2000", seed="3"), "run")
    monkeypatch.setattr(run_form, "_KEPT", kept)
    enter(app, "run-seed", 7)
    button, form = run_form.st.button, run_form.parameter_form

    def changed(*words, **options):
        form(*words, **options)
        settings.draft().update(meanwhile)

    monkeypatch.setattr(run_form, "parameter_form", changed)
    monkeypatch.setattr(run_form.st, "button", lambda *a, **o: button(*a, **o) and False)
    press(app, "run")
    assert app.session_state["shown"][False].request.seed == (7 if ran else 3)


@pytest.mark.usefixtures("asked")
def test_a_change_is_called_stale_until_it_is_run_or_runs_at_once_where_that_is_quick(
    app, monkeypatch
):
    def agrees(seed):
        assert messages(app) == []
        assert "opacity:0.4" not in told(app, "html")
        assert metrics(app)[TESTS] == str(run("priv_pc", ASIA, seed=seed).ci_tests)
        assert f">{seed}<" in told(app, "html")  # the strip's noise seed

    agrees(0)
    enter(app, "run-seed", 5)
    assert messages(app) == [CHANGED]
    assert "opacity:0.4" in told(app, "html")
    press(app, "run")
    agrees(5)
    monkeypatch.setattr(runs, "QUICK", 1e9)
    enter(app, "run-seed", 11)
    assert address(app)["seed"] == "11"
    agrees(11)
    assert app.button(key="run").label == "Run (automatic)"
    monkeypatch.setattr(runs, "measured", lambda: {})
    # What nobody has measured waits for its button; then it is measured.
    app.selectbox(key="run-algorithm").set_value("noleaks").run()
    assert messages(app)[0].startswith("Settings changed – press Run. Below is: Priv-PC")
    assert app.button(key="run").label == "Run"


def test_bad_values_give_one_sentence_and_lose_nothing(app):
    before = metrics(app)
    for key, value, good, said in (
        ("param-epsilon", -1.0, 1.0, "epsilon must be at least"),
        ("param-epsilon", 0.0, 1.0, "epsilon must be at least"),
        ("param-epsilon", 1e20, 1.0, "epsilon must be at least"),
        ("run-n", 3, 100_000, "n must be at least 100 and at most 1,000,000"),
    ):
        enter(app, key, value)
        press(app, "run")
        assert [said in word for word in alerts(app)] == [True]
        assert messages(app) == [runs.AT_FIELD]
        assert app.number_input(key=key).value == value
        assert metrics(app) == before
        enter(app, key, good)
        assert alerts(app) == []


def alerts(app):
    """Return the sentences at fields that refuse their values."""
    return [html.value for html in app.get("html") if 'role="alert"' in html.value]


@pytest.mark.parametrize("tab", ["Edge table", "Why was this edge removed?"])
def test_graphs_and_tables_have_one_label_for_a_column(app, tab):
    """Plain words, or the columns' names where the visit asks for them."""
    app.session_state["run-details"] = tab
    menu = "run-node" if tab == "Edge table" else "run-pair"
    for own, wanted, other in ((False, "Smoking", "smoke"), (True, "smoke", "Smoking")):
        app.toggle(key="run-names").set_value(own).run()
        assert (address(app).get("names") == "true") == own
        graph = json.dumps(app.get("iframe")[0].proto.srcdoc)
        assert f'label\\": \\"{wanted}' in graph
        assert f'label\\": \\"{other}' not in graph
        shown = " ".join([str(app.dataframe[0].value), *app.selectbox(key=menu).options])
        assert wanted in shown
        assert other not in shown


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (
            {"data": "atlantis", "algorithm": "magic", "seed": "y"},
            ["data must be one of", "algorithm must be one of", "seed must be a whole number"],
        ),
        ({"epsilon": "-3"}, ["epsilon must be at least"]),
        ({"n": "999999999"}, ["n must be at least 100 and at most 1,000,000"]),
        ({"subsample": "many"}, ["subsample must be"]),
        ({"data": "own"}, ["Upload a table"]),
        ({"data": "sem", "sem_graph": "x"}, ["sem_graph must be one of"]),
        ({"data": "sem", "sem_nodes": "1"}, ["A simulated model has 2 to 200 nodes"]),
    ],
)
def test_a_broken_link_gives_one_sentence_and_the_default(open_app, query, words):
    app = open_app(**query)
    assert all(text in told(app, "error", "info", "html") for text in words)
    # of rows that are not there nothing is shown, nor of another dataset's
    shown = {"atlantis", "-3", "many"}.intersection(query.values())
    assert ("Asia" in told(app, "html")) == bool(shown)


# Long runs ------------------------------------------------------------------------------


class Slow:
    """An engine that runs until it is told to stop or to go on; then it answers as the real one."""

    def __init__(self):
        self.go, self.begun = threading.Event(), threading.Event()
        self.fails = False

    def __call__(self, key, data, *, stop, **rest):
        self.begun.set()
        while not self.go.wait(0.01) and not stop():
            pass
        if self.fails:
            raise ZeroDivisionError
        found = run(key, data, **rest)
        return replace(found, status="cancelled") if stop() else found


@pytest.fixture
def slow(app, monkeypatch):
    """A slow engine in the place of the real one, once the app has opened."""
    found = Slow()
    monkeypatch.setattr(task, "SHORT", 0.05)
    monkeypatch.setattr(task, "AT_ONCE", 0.0)
    monkeypatch.setattr(request, "run", found)
    return found


def start(app, slow, seed):
    slow.go.clear()
    slow.begun.clear()
    enter(app, "run-seed", seed)
    press(app, "run")
    assert slow.begun.wait(10)
    assert "run-stop" in buttons(app)


def finish(app):
    """Look again, as the fragment does twice a second."""
    if "task-run" in app.session_state:
        assert app.session_state["task-run"].wait(60)
    app.run()
    assert not app.exception
    assert "run-stop" not in buttons(app)


def buttons(app):
    return {str(b.key) for b in app.button}


def test_a_long_run_is_watched_and_stopped_and_may_fail(app, slow):
    before = metrics(app)
    start(app, slow, 901)
    assert metrics(app) == before
    assert "Priv-PC on Asia" in told(app, "markdown")
    slow.go.set()
    finish(app)
    found = metrics(app)
    assert found[TESTS] == str(run("priv_pc", ASIA, seed=901).ci_tests)
    assert "Cancelled" not in told(app, "html")

    slow.fails = True
    start(app, slow, 903)
    slow.go.set()
    finish(app)
    assert len(app.error) == 1
    assert "ZeroDivisionError" in app.error[0].value
    assert metrics(app) == found

    slow.fails = False
    start(app, slow, 902)
    press(app, "run-stop")
    finish(app)
    assert "Cancelled." in told(app, "html")
    assert app.session_state["shown"][False].result.status == "cancelled"
    slow.go.set()
    press(app, "run")
    finish(app)
    assert "Cancelled" not in told(app, "html")  # what was stopped is not kept as finished
    assert app.session_state["shown"][False].result.status != "cancelled"


def test_a_run_that_ends_while_its_page_is_drawn(app, slow, monkeypatch):
    """Between the look whether one goes on and its bar: the page is drawn once more, with it."""
    start(app, slow, 905)
    bar = task.bar

    def ends(name):
        slow.go.set()
        going = task.find(name)
        assert going.wait(60)
        bar(name)

    monkeypatch.setattr(task, "bar", ends)
    app.run()
    assert not app.exception
    assert "run-stop" in buttons(app)
    app.run()  # as its next look does
    assert "run-stop" not in buttons(app)
    assert metrics(app)[TESTS] == str(run("priv_pc", ASIA, seed=905).ci_tests)


@pytest.mark.parametrize("algorithm", ["priv_pc", "noleaks"])
def test_a_run_stopped_before_it_decided_anything_leaves_the_last_result(
    algorithm, app, monkeypatch
):
    def nothing(key, data, **rest):
        return run(key, data, **{**rest, "stop": lambda: True})

    before = metrics(app)
    monkeypatch.setattr(request, "run", nothing)
    app.selectbox(key="run-algorithm").set_value(algorithm)
    enter(app, "run-seed", 904)
    press(app, "run")
    assert messages(app)[0].startswith("Stopped early")
    assert metrics(app) == before


def test_who_presses_run_fast_loses_nothing(app, monkeypatch):
    """A quick run wrote its address; the button may be pressed before the browser has it."""
    monkeypatch.setattr(runs, "QUICK", 60.0)
    before = address(app)
    enter(app, "param-epsilon", 3.0)
    assert address(app)["epsilon"] == "3.0"
    behind(app, before)
    press(app, "run")
    assert app.number_input(key="param-epsilon").value == 3.0
    assert address(app)["epsilon"] == "3.0"
