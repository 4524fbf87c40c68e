"""The Run page without a browser."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from engine import ALGORITHMS, load_dataset, run
from engine.graphs.picture import Link
from engine.graphs.weighed_colliders import SHOWN
from engine.marginals.diagnostics import MarginalDiagnostics
from engine.params import relevant
from engine.registry import GRAPHS
from engine.studies.detectability import detectability
from engine.studies.recommended import recommended
from pages import worker
from pages.draw.links import doubtful, found_links, weighted, widths
from pages.report import brief as report
from pages.run import form as run_form
from pages.run import trace
from pages.shell import runs, settings, task
from pages.shell.state import defaults
from tests.ui.history import behind

ASIA = load_dataset("asia", n=100_000, seed=0)
F1, SHD = "Skeleton F1", "SHD"
TESTS = "CI tests"


def metrics(app: AppTest) -> dict[str, str]:
    return {m.label: m.value for m in app.metric}


def headline(app: AppTest) -> str:
    """What was found and what it cost, as on screen; empty if something else stands there."""
    return next((h.value for h in app.get("html") if 'class="headline"' in h.value), "")


def messages(app: AppTest) -> list[str]:
    return [box.value for kind in (app.error, app.warning, app.info) for box in kind]


def parameters_shown(app: AppTest) -> set[str]:
    widgets = [*app.radio, *app.selectbox, *app.number_input, *app.toggle]
    keys = {str(w.key) for w in widgets}
    return {k.removeprefix("param-") for k in keys if k.startswith("param-")}


def press_run(app: AppTest) -> AppTest:
    app.button(key="run").click().run()
    assert not app.exception
    return app


@pytest.fixture(scope="module")
def untouched(open_app: Callable[..., AppTest]) -> AppTest:
    """The app as it opens, for tests that only look."""
    return open_app()


@pytest.fixture(scope="module")
def session(open_app: Callable[..., AppTest]) -> AppTest:
    """A session in which one algorithm is run after the other."""
    return open_app(data="cancer", n="2000")


def test_graphs_hold_every_node_and_no_external_address(untouched: AppTest) -> None:
    assert untouched.get("iframe")
    for frame in untouched.get("iframe"):
        page = frame.proto.srcdoc
        assert all(f'"label": "{name}"' in page for name in ASIA.names)
        assert "//" not in page.replace("// ", "")
        assert "app/static/vis/vis-network.min.js" in page
        assert len(page) < 20_000


def guarantees(key: str) -> tuple[str | None, ...]:
    """What the form lets one choose; None where there is nothing to choose."""
    spec = {s.name: s for s in ALGORITHMS[key].params.specs()}.get("guarantee")
    return (None,) if spec is None or len(spec.choices) < 2 else spec.choices


@pytest.mark.parametrize("key", GRAPHS)
def test_every_algorithm_runs_from_its_form(session: AppTest, key: str) -> None:
    """Which has fields for the parameters that have an effect, and for each guarantee a result."""
    app = session
    app.selectbox(key="run-algorithm").set_value(key).run()
    specs = ALGORITHMS[key].params.specs()
    wanted = relevant(specs, {s.name: s.default for s in specs})
    assert parameters_shown(app) == {s.name for s in wanted}
    for guarantee in reversed(guarantees(key)):  # strict last: the next one begins with it
        if guarantee is not None:
            app.radio(key="param-guarantee").set_value(guarantee).run()
        press_run(app)
        result = app.session_state["shown"].result
        assert result.algorithm == key
        if guarantee is not None:
            assert result.params.as_dict()["guarantee"] == guarantee
        assert not app.error
        assert ALGORITHMS[key].title in app_html(app)
        assert "Settings changed" not in " ".join(messages(app))


def app_html(app: AppTest) -> str:
    return " ".join(h.value for h in app.get("html"))


def test_presets_fill_the_fields_and_leave_the_result(app: AppTest, asked: None) -> None:
    before = metrics(app)
    app.pills(key="presets").set_value("Paper setting").run()
    assert app.radio(key="param-guarantee").value == "published"
    assert app.number_input(key="param-epsilon").value == 1.0
    assert app.number_input(key="param-delta").value == 1e-3
    app.pills(key="presets").set_value("Strong privacy").run()
    assert app.radio(key="param-guarantee").value == "strict"
    assert app.number_input(key="param-epsilon").value == 0.1
    assert app.number_input(key="param-delta").value == 1e-6
    assert metrics(app) == before


def test_the_recommended_setting_is_the_studys(open_app: Callable[..., AppTest]) -> None:
    """At the form's ε, under the strict guarantee, with what it is worth elsewhere."""
    app = open_app(data="cancer", n="20000", algorithm="priv_pc", epsilon="0.3")
    found = recommended("priv_pc", 0.3, 20_000)
    assert found is not None
    assert found.params
    app.radio(key="param-guarantee").set_value("published").run()
    app.pills(key="presets").set_value("Recommended").run()
    params = defaults(ALGORITHMS["priv_pc"].params) | app.session_state["state_chosen"]
    assert {**params, **found.params} == params
    assert (params["epsilon"], params["guarantee"]) == (0.3, "strict")
    worth = found.reported[0].tuned["skeleton_f1"].mean
    assert any(f"Earthquake {worth:.2f} (default" in c.value for c in app.caption)
    app.number_input(key="run-n").set_value(100_000).run()
    assert "Recommended" not in app.pills(key="presets").options  # the study says nothing of that n
    assert not app.exception


def test_where_little_is_to_be_had_it_is_said_before_the_run(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app(data="cancer", n="500", algorithm="em_pc", epsilon="0.1")
    said = detectability(500, 5, [0.1])
    assert said
    assert f"{said.split(':')[0]}." in [w.value for w in app.warning]
    app.number_input(key="param-epsilon").set_value(5.0).run()
    assert not any("is to be had" in w.value for w in app.warning)


def test_slider_and_exact_entry_are_one_value(app: AppTest) -> None:
    app.number_input(key="param-epsilon").set_value(0.37).run()
    assert app.select_slider(key="param-epsilon-slider").value == 0.37
    app.select_slider(key="param-epsilon-slider").set_value(5.0).run()
    assert app.number_input(key="param-epsilon").value == 5.0
    assert any("148" in c.value and "e^ε" in c.value for c in app.caption)  # e^5 = 148.4


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which no run is quick: each waits for its button."""
    monkeypatch.setattr(runs, "QUICK", 0.0)


@pytest.mark.parametrize(
    ("meanwhile", "kept", "ran"),
    [({}, 5.0, True), ({"seed": 8}, 5.0, False), ({}, 0.0, False)],
    ids=["the same form", "another form", "long ago"],
)
@pytest.mark.usefixtures("asked")
def test_a_press_that_another_press_overtakes(
    open_app: Callable[..., AppTest],
    monkeypatch: pytest.MonkeyPatch,
    meanwhile: dict[str, Any],
    kept: float,
    ran: bool,
) -> None:
    """The script begins anew, and its button knows of no press: the callback's word is left."""
    app = open_app(data="cancer", n="2000", seed="3")
    monkeypatch.setattr(run_form, "_KEPT", kept)
    app.number_input(key="run-seed").set_value(7).run()
    button = run_form.st.button

    def overtaken(*words: Any, **options: Any) -> bool:
        button(*words, **options)
        if options.get("key") == "run":
            settings.draft().update(meanwhile)
        return False

    monkeypatch.setattr(run_form.st, "button", overtaken)
    app.button(key="run").click().run()
    assert not app.exception
    assert "".join(app.query_params["seed"]) == ("7" if ran else "3")


def test_a_change_runs_at_once_where_such_a_run_is_quick(
    app: AppTest, open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "QUICK", 1e9)
    press_run(app)
    for seed in (3, 11):
        app.number_input(key="run-seed").set_value(seed).run()
        assert messages(app) == []
        assert app.query_params["seed"] in (str(seed), [str(seed)])
        result = run("priv_pc", ASIA, seed=seed)
        assert metrics(app)[TESTS] == str(result.ci_tests)
        assert f">{seed}<" in app_html(app)  # the strip's noise seed
    app.number_input(key="param-epsilon").set_value(-1.0).run()
    assert any("at least" in m for m in messages(app))  # refused, once
    assert metrics(app)[TESTS] == str(result.ci_tests)
    # What was never run here before waits for its button: nobody knows how long it takes.
    app.number_input(key="param-epsilon").set_value(1.0).run()
    app.selectbox(key="run-algorithm").set_value("noleaks").run()
    assert messages(app) == ["Settings changed – press Run."]


def test_changed_settings_are_called_stale_until_run(app: AppTest, asked: None) -> None:
    dimmed = "opacity:0.4"
    assert dimmed not in app_html(app)
    app.number_input(key="run-seed").set_value(5).run()
    assert messages(app) == ["Settings changed – press Run."]
    assert dimmed in app_html(app)
    press_run(app)
    assert "Settings changed – press Run." not in messages(app)
    assert dimmed not in app_html(app)
    result = run("priv_pc", ASIA, seed=5)
    assert metrics(app)[TESTS] == str(result.ci_tests)


def test_an_exhausted_budget_is_explained(open_app: Callable[..., AppTest]) -> None:
    app = open_app(data="child", n="5000", epsilon="0.1")
    assert "The budget ran out at order" in headline(app)
    run_ = app.session_state["shown"].result
    assert run_.untested
    assert f"{len(run_.untested):,} pairs not tested to the end" in headline(app)
    whole = run_.metrics
    said = f"recall {whole.recall:.2f}, precision {whole.precision:.2f}, skeleton F1"
    assert any(said in caption.value for caption in app.caption)
    frames = [f.proto.srcdoc.count('"from":') for f in app.get("iframe")]
    app.toggle(key="run-waiting").set_value(False).run()
    fewer = [f.proto.srcdoc.count('"from":') for f in app.get("iframe")]
    assert fewer[-1] == frames[-1] - len(run_.untested)


def test_bad_values_give_one_sentence_and_lose_nothing(app: AppTest) -> None:
    before = metrics(app)
    for key, value, good in (
        ("param-epsilon", -1.0, 1.0),
        ("param-epsilon", 0.0, 1.0),
        ("param-epsilon", 1e9, 1.0),
        ("run-n", 3, 100_000),
    ):
        app.number_input(key=key).set_value(value).run()
        press_run(app)
        assert len(app.error) == 1
        said = "Rows n must be from" if key == "run-n" else "epsilon must be at least"
        assert said in app.error[0].value
        assert app.number_input(key=key).value == value
        assert metrics(app) == before
        app.number_input(key=key).set_value(good).run()
        assert not app.error


def test_why_view_answers_for_removed_and_kept_edges(app: AppTest) -> None:
    app.session_state["run-details"] = "Why did this edge go?"
    app.run()
    result = run("priv_pc", ASIA, seed=0)
    removed = next(p for p in result.separating_sets if p not in result.skeleton)
    kept = next(iter(result.skeleton))
    for pair, word in ((removed, "went at order"), (kept, "stayed")):
        names = tuple(sorted(pair, key=ASIA.names.index))
        app.selectbox(key="run-pair").set_value(names).run()
        reason = next(m.value for m in app.markdown if word in m.value)
        assert all(name in reason for name in names)
        table = app.dataframe[0].value
        about = [s for s in result.steps if s.x and {s.x, s.y} == pair]
        assert list(table["Step"]) == [s.index + 1 for s in about]
        assert any("simulation only" in column for column in table.columns)


def test_link_round_trip(app: AppTest, open_app: Callable[..., AppTest]) -> None:
    app.selectbox(key="run-network").set_value("sachs").run()
    app.number_input(key="run-n").set_value(5000).run()
    app.number_input(key="run-seed").set_value(7).run()
    app.pills(key="presets").set_value("Loose").run()
    press_run(app)
    link = {k: v[0] if isinstance(v, list) else v for k, v in dict(app.query_params).items()}
    again = open_app(**link)
    assert "Sachs" in app_html(again)
    same = (F1, SHD, TESTS, "Budget left (ρ)")
    assert [metrics(again)[k] for k in same] == [metrics(app)[k] for k in same]
    assert again.number_input(key="run-seed").value == 7
    assert again.number_input(key="param-epsilon").value == 10.0
    assert not again.warning or "Settings changed" not in again.warning[0].value


def test_the_default_needs_no_link(untouched: AppTest) -> None:
    assert not dict(untouched.query_params)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (
            {"data": "atlantis", "algorithm": "magic", "seed": "x"},
            ["data must be one of", "algorithm must be one of", "seed must be a whole number"],
        ),
        ({"epsilon": "-3"}, ["epsilon must be at least"]),
        ({"n": "999999999"}, ["Rows n must be from"]),
        ({"data": "own"}, ["Upload a table"]),
        ({"data": "sem:x:1:0"}, ["sem_graph must be one of"]),
        ({"data": "sem:er:1:0"}, ["A simulated model has 2 to 200 nodes"]),
    ],
)
def test_a_broken_link_gives_one_sentence_and_the_default(
    open_app: Callable[..., AppTest], query: dict[str, str], words: list[str]
) -> None:
    app = open_app(**query)
    said = " ".join(error.value.replace("\\", "") for error in app.error)
    assert all(text in said for text in words)
    # with own data chosen nothing of a public run is shown
    assert ("Asia" in app_html(app)) == ("own" not in query.values())


def test_changes_follow_to_the_next_algorithm_where_they_fit(app: AppTest) -> None:
    app.number_input(key="param-epsilon").set_value(3.0).run()
    app.selectbox(key="run-algorithm").set_value("pc").run()
    assert "epsilon" not in parameters_shown(app)
    app.selectbox(key="run-algorithm").set_value("priv_pc").run()
    assert app.selectbox(key="param-subsample").value == "best"
    app.segmented_control[0].set_value("Overlay").run()
    assert not app.exception
    assert len(app.get("iframe")) == 1


# Long runs ------------------------------------------------------------------------------


class Slow:
    """An engine that runs until it is told to stop or to go on; then it answers as the real one."""

    def __init__(self) -> None:
        self.go, self.begun = threading.Event(), threading.Event()
        self.fails = False

    def __call__(self, key: str, data: Any, *, cancelled: Callable[[], bool], **rest: Any) -> Any:
        self.begun.set()
        while not self.go.wait(0.01) and not cancelled():
            pass
        if self.fails:
            raise ZeroDivisionError
        if cancelled():
            return replace(run(key, data, **rest), status="cancelled")
        return run(key, data, **rest)


@pytest.fixture
def slow() -> Slow:
    """A slow engine, not yet in the place of the real one."""
    return Slow()


def start_slow(app: AppTest, slow: Slow, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(task, "SHORT", 0.05)
    monkeypatch.setattr(worker, "run", slow)
    app.number_input(key="run-seed").set_value(seed).run()
    press_run(app)
    assert slow.begun.wait(10)


def finish(app: AppTest) -> AppTest:
    """Look again, as the fragment does twice a second."""
    if "task-run" in app.session_state:
        assert app.session_state["task-run"].wait(60)
    app.run()
    assert not app.exception
    return app


def buttons(app: AppTest) -> set[str]:
    return {str(b.key) for b in app.button}


def test_a_long_run_is_watched_and_stopped_and_may_fail(
    app: AppTest, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = metrics(app)
    start_slow(app, slow, monkeypatch, 901)
    assert "run-stop" in buttons(app)
    assert metrics(app) == before
    assert any("Priv-PC on Asia" in m.value for m in app.markdown)
    slow.go.set()
    finish(app)
    assert "run-stop" not in buttons(app)
    found = metrics(app)
    assert found[TESTS] == str(run("priv_pc", ASIA, seed=901).ci_tests)
    assert "Stopped" not in headline(app)

    slow.go.clear()
    slow.fails = True
    start_slow(app, slow, monkeypatch, 903)
    slow.go.set()
    finish(app)
    assert len(app.error) == 1
    assert "ZeroDivisionError" in app.error[0].value
    assert metrics(app) == found

    slow.go.clear()
    slow.fails = False
    start_slow(app, slow, monkeypatch, 902)
    app.button(key="run-stop").click().run()
    finish(app)
    assert "Stopped early" in headline(app)
    assert app.session_state["shown"].result.status == "cancelled"
    slow.go.set()
    finish(press_run(app))
    assert "Stopped" not in headline(app)  # what was stopped is not kept as finished
    assert app.session_state["shown"].result.status != "cancelled"


def test_a_run_that_ends_while_its_page_is_drawn(
    app: AppTest, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look whether one goes on and its bar: the page is drawn once more, with it."""
    start_slow(app, slow, monkeypatch, 905)
    watch = runs.watch

    def ends(name: str) -> task.Task | None:
        slow.go.set()
        going = task.find(name)
        assert going is not None
        assert going.wait(60)
        return watch(name)

    monkeypatch.setattr(runs, "watch", ends)
    app.run()
    assert not app.exception
    assert "run-stop" not in buttons(app)
    assert metrics(app)[TESTS] == str(run("priv_pc", ASIA, seed=905).ci_tests)


def test_a_run_stopped_before_it_decided_anything_leaves_the_last_result(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = metrics(app)

    def nothing(key: str, data: Any, **rest: Any) -> Any:
        return replace(run(key, data, **rest), status="cancelled", ci_tests_by_order=())

    monkeypatch.setattr(worker, "run", nothing)
    app.number_input(key="run-seed").set_value(904).run()
    press_run(app)
    assert messages(app)[0].startswith("Stopped early")
    assert metrics(app) == before


def test_an_arrow_in_doubt_is_drawn_as_a_line_and_both_confidences_are_told() -> None:
    """Link and arrow each have a number; an arrow below the limit has no head in any picture."""
    data = load_dataset("cancer", n=500)
    result, at = run("marginal_pc", data), SHOWN
    matrix = np.zeros((5, 5), dtype=bool)
    matrix[0, 1] = matrix[1, 2] = matrix[2, 3] = matrix[3, 2] = True
    arrows = {(0, 1): at, (1, 0): 0.0, (1, 2): at - 0.01, (2, 1): 0.2, (2, 3): 0.1, (3, 2): 0.1}
    known = MarginalDiagnostics(
        edge_confidence={(0, 1): 0.7, (1, 2): 1.0, (2, 3): 1.0}, arrow_confidence=arrows
    )
    result = replace(result, matrix=matrix, diagnostics=known)
    a, b, c, d, _ = data.names
    assert doubtful(result) == {(b, c)}
    links = weighted(found_links(result), result)
    drawn = {(k.a, k.b): k for k in links}
    assert drawn[a, b].arrow
    assert not drawn[b, c].arrow
    assert not drawn[c, d].arrow
    assert {k.arrow for k in report.links(data, result) if {k.a, k.b} == {b, c}} == {False}
    assert drawn[b, c].note == f"Link: > 99.9 %. Arrow: {b} → 59.0 %, ← 20.0 % {c}"
    table = trace.edges_table(data, result).set_index("Pair")
    assert table.loc[f"{a} – {b}", "Learned"] == f"{a} → {b}"
    assert table.loc[f"{b} – {c}", "Learned"] == f"{b} — {c}"
    assert table.loc[f"{a} – {b}", "Link confidence"] == "70.0 %"
    assert table.loc[f"{a} – {b}", "Arrow confidence"] == "→ 60.0 %, ← 0.0 %"
    assert "below 60 % it is drawn as a line (1 arrow here" in widths(result)


def test_an_arrow_carries_its_probability_where_it_is_in_doubt() -> None:
    names = ("a", "b", "c", "d")
    arrows = {(0, 1): 0.84, (1, 0): 0.1, (1, 2): 0.999, (2, 1): 0.0, (2, 3): 0.3, (3, 2): 0.3}
    known = MarginalDiagnostics(
        edge_confidence={(0, 1): 0.9, (1, 2): 0.9, (2, 3): 0.9}, arrow_confidence=arrows
    )
    result = replace(run("marginal_pc", load_dataset("cancer", n=500)), diagnostics=known)
    result = replace(result, names=names)
    links = [Link("a", "b", True), Link("b", "c", True), Link("c", "d", False)]
    assert [link.label for link in weighted(links, result)] == ["84 %", "", ""]


def test_simulated_models_are_offered_and_travel_in_links(
    app: AppTest, open_app: Callable[..., AppTest]
) -> None:
    app.selectbox(key="run-network").set_value(settings.SEM).run()
    app.radio(key="run-sem_graph").set_value("sf").run()
    app.number_input(key="run-sem_nodes").set_value(6).run()
    app.number_input(key="run-sem_edges").set_value(7).run()
    app.radio(key="run-sem_noise").set_value("gumbel").run()
    app.number_input(key="run-n").set_value(2000).run()
    app.selectbox(key="run-algorithm").set_value("notears").run()
    press_run(app)
    assert "SEM, Scale-free, Gumbel" in app_html(app)
    again = open_app(data="sem:sf:6:7:gumbel", n="2000", algorithm="notears")
    assert metrics(again)[SHD] == metrics(app)[SHD]
    assert again.number_input(key="run-sem_nodes").value == 6
    again.switch_page("pages/table/page.py").run()
    assert not again.exception


def test_who_presses_run_fast_loses_nothing(app: AppTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quick run wrote its address; the button may be pressed before the browser has it."""
    monkeypatch.setattr(runs, "QUICK", 60.0)
    before = dict(app.query_params)
    app.number_input(key="param-epsilon").set_value(3.0).run()
    assert "".join(app.query_params["epsilon"]) == "3.0"
    behind(app, before)
    app.button(key="run").click().run()
    assert app.number_input(key="param-epsilon").value == 3.0
    assert "".join(app.query_params["epsilon"]) == "3.0"
