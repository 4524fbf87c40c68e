"""The Audit and Plan pages: they open on finished examples, and attack and simulate when asked."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from engine.audit.survey import FAULT, MECHANISM, PUBLISHED, STRICT
from engine.studies.forecast import planned_algorithms
from engine.teaching.neighbours import guess_bound
from pages.audit import state as audits
from pages.audit.view import replay_ratios, sentence
from pages.plan import state as plans
from pages.plan.view import sentence as plan_sentence

Open = Callable[..., AppTest]


def words(app: AppTest) -> str:
    return " ".join(e.value for kind in ("subheader", "caption", "info") for e in app.get(kind))


def finished(app: AppTest) -> None:
    """Wait for the thread, then draw the page again."""
    for key in ("audit_job", "plan_job"):
        if key in app.session_state:
            assert app.session_state[key].wait(60)
    app.run()
    assert not app.exception


def test_the_example_says_what_was_measured(open_app: Open) -> None:
    app = open_app(data="cancer", n="2000")
    app.switch_page("pages/audit/page.py").run()
    assert not app.exception
    text = words(app)
    assert "claims ε = 1" in text
    assert "the claim is wrong" in text
    assert len(app.get("plotly_chart")) == 2
    shown = {m.label: m.value for m in app.metric}
    assert shown["Planted faults found"] == "5 of 5"
    for title in ("Strict claims not refuted", "Would show twice the ε"):
        left, right = shown[title].split(" of ")
        assert left == right
    assert "Not refuted is not proved" in text
    assert not any("hold" in title for title in shown)


def test_the_example_is_what_the_audit_found() -> None:
    lines = audits.example()
    head = lines[audits.HEADLINE]
    assert head.measured.runs == 1500
    assert head.measured.epsilon > 5
    assert "at least" in sentence(head)
    assert all(x.verdict in {"found", "not refuted"} for x in lines.values() if x.kind != PUBLISHED)
    assert sum(x.kind == FAULT for x in lines.values()) == 5
    strict = [x for x in lines.values() if x.kind in {STRICT, MECHANISM}]
    assert all(x.power is not None and x.power.twice for x in strict)
    ratios = replay_ratios(lines.values())
    assert len(ratios) > 8
    assert all(r <= 1 + 1e-9 for r in ratios.values())


def test_an_attack_runs_and_goes_back(open_app: Open) -> None:
    app = open_app(data="cancer", n="2000")
    app.switch_page("pages/audit/page.py").run()
    app.selectbox(key="audit-algorithm").set_value("gram_notears").run()
    app.selectbox(key="audit-pair-gram_notears").set_value("one cell").run()
    app.select_slider(key="audit-runs").set_value(50).run()
    app.button(key="audit-go").click().run()
    finished(app)
    assert "Gram-NOTEARS, strict, claims ε = 1" in words(app)
    app.button(key="audit-back").click().run()
    assert "the claim is wrong" in words(app)


def test_a_plan_opens_on_an_example_and_simulates(open_app: Open) -> None:
    question, schema, forecasts = plans.example()
    assert {f.algorithm for f in forecasts} <= set(planned_algorithms())
    app = open_app(data="cancer", n="2000")
    app.switch_page("pages/plan/page.py").run()
    assert not app.exception
    for keys in (app.multiselect(key="plan-algorithms").value, ["noleaks"]):
        app.multiselect(key="plan-algorithms").set_value(keys).run()
        shown = [f for f in forecasts if f.algorithm in keys]
        assert plan_sentence(question, shown, 0.8) in words(app)
    assert "No row was read" in words(app)
    assert schema == "asia"
    app.selectbox(key="plan-schema").set_value("cancer")
    app.multiselect(key="plan-algorithms").set_value(["gauss_pc"])
    app.number_input(key="plan-rows").set_value(500)
    app.button(key="plan-go").click().run()
    finished(app)
    assert "The schema of cancer, 500 rows" in words(app)


def test_the_game_keeps_the_score_and_says_what_nobody_can_beat(open_app: Open) -> None:
    app = open_app(data="cancer", n="2000")
    app.switch_page("pages/audit/page.py").run()
    app.button(key="audit-game-start").click().run()
    for played in (1, 2):
        inside = app.session_state["audit_game"].inside
        app.button(key=f"audit-game-{inside if played == 1 else not inside}").click().run()
        assert not app.exception
        shown = {m.label: m.value for m in app.metric}
        assert shown["You"] == f"1 of {played}"
    assert shown["Nobody can beat"] == f"{guess_bound(1.0, 1e-6):.1%}"
    assert 0 <= float(shown["Best guesser"].rstrip("%")) <= 100
