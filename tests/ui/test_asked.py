"""A question of a panel, a trial and a survey: page, command line and Python give the same numbers.

The noise of the first way is given to the others.
"""

import html
import json
import shlex
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from engine import Budget, Knowledge, Question, Schema, load_release
from engine.__main__ import main
from engine.effects.width import widths
from engine.release.budget import VARIABLE
from engine.release.make import BudgetedRelease
from tests.boundary.alike import Twice
from tests.ui.steps import own_table, press, told, visit

YES = ["no", "yes"]
ROWS = 4_000


def panel():
    """Visits of patients: a drug at one, a relapse at another; who is older takes it more often."""
    rng = np.random.default_rng(3)
    old = rng.random(ROWS) < 0.4
    drug = rng.random(ROWS) < 0.3 + 0.3 * old
    relapse = rng.random(ROWS) < 0.5 + 0.2 * old - 0.25 * drug
    late = rng.random(ROWS) < 0.5
    visits = np.repeat(np.arange(ROWS), 2)
    second = np.tile([False, True], ROWS)

    def at_one_visit(value):
        return np.where((value & (late == second[::2]))[visits], "yes", "no")

    frame = pd.DataFrame({"patient": visits, "old": np.where(old[visits], "yes", "no"),
                          "drug": at_one_visit(drug),
                          "relapse": at_one_visit(relapse)})  # fmt: skip
    frame.loc[second & drug[visits], "drug"] = "yes"
    frame.loc[second & relapse[visits], "relapse"] = "yes"
    names = ["old", "drug", "relapse"]
    schema = Schema.draft(frame[names]).declare(**dict.fromkeys(names, YES))
    schema = schema.by_person("patient", **dict.fromkeys(names, "any"))
    asked = Question(cause="drug", outcome="relapse", levels=("no", "yes"), outcome_level="yes",
                     known=Knowledge(tiers=[["old"], ["drug"], ["relapse"]]))  # fmt: skip
    return frame, schema, asked, "--before old --after relapse", -0.25


def trial():
    """A randomised treatment, and a cost in dollars."""
    rng = np.random.default_rng(4)
    treated, severe = rng.random(ROWS) < 0.5, rng.random(ROWS) < 0.3
    cost = rng.gamma(4, 100, ROWS) + 300 * severe - 120 * treated
    frame = pd.DataFrame({"treatment": np.where(treated, "new", "old"),
                          "severe": np.where(severe, "yes", "no"),
                          "cost": cost.clip(0, 1999).round()})  # fmt: skip
    cuts = {"type": "numeric", "cuts": [200, 350, 500, 700, 1000], "bounds": [0, 2000]}
    schema = Schema.draft(frame).declare(treatment=["old", "new"], severe=YES, cost=cuts)
    schema = replace(schema, knowledge=Knowledge(roots=["treatment"]))
    asked = Question(cause="treatment", outcome="cost", levels=("old", "new"), mean=True,
                     shares=(0.5, 0.5))  # fmt: skip
    return frame, schema, asked, "--mean --shares 0.5,0.5", -120


def survey():
    """Four answers of people on their way to work; the last has three levels."""
    rng = np.random.default_rng(5)
    town, school = rng.random(ROWS) < 0.6, rng.random(ROWS) < 0.5
    car = rng.random(ROWS) < 0.7 - 0.3 * town
    late = rng.integers(0, 2, ROWS) + (rng.random(ROWS) < 0.2 + 0.4 * car)
    frame = pd.DataFrame({"town": np.where(town, "yes", "no"),
                          "school": np.where(school, "yes", "no"),
                          "car": np.where(car, "yes", "no"),
                          "late": np.array(["never", "seldom", "often"])[late]})  # fmt: skip
    schema = Schema.draft(frame).declare(town=YES, school=YES, car=YES,
                                         late=["never", "seldom", "often"])  # fmt: skip
    asked = Question(cause="car", outcome="late", levels=("no", "yes"), outcome_level="often",
                     known=Knowledge(tiers=[["town"], ["car"], ["late"]]))  # fmt: skip
    return frame, schema, asked, "--before town --outcome-level often", 0.2


@pytest.mark.parametrize("made", [panel, trial, survey])
def test_page_command_and_python_answer_alike(made, open_app, tmp_path, monkeypatch, capsys):
    frame, schema, asked, flags, truth = made()
    monkeypatch.chdir(tmp_path)
    raw = frame.to_csv(index=False)
    (tmp_path / "t.csv").write_text(raw)
    schema.save("s.json")
    twice = Twice()

    def budget(name):
        monkeypatch.setenv(VARIABLE, str(tmp_path / f"{name}.db"))
        return Budget(name, epsilon=3, delta=1e-5)

    budget("page")
    with twice.visit():
        app = open_app("my-data", step="release")
        own_table(app, raw.encode(), schema)
        app.selectbox(key="release-budget").set_value("page")
        app.number_input(key="release-epsilon").set_value(2.0)
        app.number_input(key="release-delta").set_value(1e-6)
        for name, value in (("cause", asked.cause), ("outcome", asked.outcome)):
            app.selectbox(key=f"question-{name}").set_value(value)
        app.run()
        if asked.mean:
            app.selectbox(key="question-counted").set_value("the mean, in its unit")
        for key, tier in (("before", 0), ("after", 2)) if asked.known else ():
            some = [name for name in asked.known.tiers[tier] if name != asked.outcome]
            app.multiselect(key=f"question-{key}").set_value(some)
        if asked.shares:
            for wrong in ("0.5", "0.5, 0.6", "0, 1", "half, half"):
                app.text_input(key="question-shares").set_value(wrong).run()
                assert told(app, "html").count("two numbers above 0, at most 1 together") == 1
            app.text_input(key="question-shares").set_value("0.5, 0.5")
        app.run()
        assert "at most 1 together" not in told(app, "html")
        forecast, button = told(app, "markdown"), app.checkbox(key="release-sure").label
        [drawn] = [frame.value for frame in app.dataframe if "Expected" in frame.value]
        app.checkbox(key="release-sure").set_value(True).run()
        press(app, "release-go")
        page = BudgetedRelease(app.session_state["released"][0]).answer()
        assert page.sentence in told(app, "markdown")
        visit(app, "report")
        report = html.unescape(told(app, "html"))
        assert page.sentence in report
        assert "Real data: the number of links that are real is unknown" in report

    line = (f"--cause {asked.cause} --outcome {asked.outcome} --reference {asked.levels[0]} "
            f"--cause-level {asked.levels[1]} {flags}")  # fmt: skip

    def typed(words):
        assert main(shlex.split(words)) == 0
        return capsys.readouterr().out

    budget("command")
    with twice.visit():
        said = typed("release --csv t.csv --schema s.json --budget command --epsilon 2 "
                     f"--delta 1e-6 --out q.json {line}")  # fmt: skip
    with twice.visit():
        paid = budget("python").release(frame, schema, epsilon=2, delta=1e-6, question=asked)
    assert page.sentence in said
    command = json.loads(typed("effect q.json --json"))
    assert page.to_json() == command == load_release("q.json").answer().to_json()
    assert page.to_json() == paid.answer().to_json()
    assert page.difference.low < truth < page.difference.high
    assert page.in_unit == asked.mean
    question = schema.asked(asked).questions
    [width] = widths(question, schema.names, schema.levels, rows=ROWS, epsilons=[2], delta=1e-6,
                     knowledge=schema.knowledge)  # fmt: skip
    assert width.sentences[0] in forecast
    assert button.endswith(f"for good: {width.aims[0]}")
    assert ("at public shares 0.5 and 0.5" in button) == (asked.shares is not None)
    (wide,) = widths(question, schema.names, schema.levels, rows=ROWS, epsilons=drawn["ε"],
                     delta=1e-6, knowledge=schema.knowledge)  # fmt: skip
    halves = drawn["Expected"] / (1 if asked.mean else 100)
    assert halves.tolist() == pytest.approx([each.half for each in wide.found])
    assert 2 in drawn["ε"].tolist()
    typed_plan = typed("plan --schema s.json --rows 4000 --epsilon 2 --delta 1e-6 --draws 2 "
                       f"--algorithm marginal_pc {line}")  # fmt: skip
    assert width.sentences[0] in typed_plan
