"""Choose ε: the answer, its file, what opens below it, and a form that has changed."""

import inspect
import json
from dataclasses import replace

import pytest

from engine import Dataset, load_dataset
from engine.__main__ import main
from engine.cli.tune import as_dict
from engine.release.budget import Budgets
from engine.release.file import canonical
from engine.request import Request, Source
from engine.studies import tune
from engine.studies.plan import PlanRequest
from engine.studies.tune import which_epsilon
from pages.study import forecast, work
from pages.study.view import answers_of
from pages.worker import Reporter
from tests.release.samples import declared, make
from tests.ui.shown import shown
from tests.ui.steps import own_table, press, told

SMALL = {"data": "cancer", "n": "1000", "algorithm": "marginal_pc", "study.seeds": "5"}


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Three values of ε, and short searches."""
    monkeypatch.setattr(work, "EPSILONS", (0.1, 1.0, 10.0))
    monkeypatch.setitem(inspect.unwrap(tune.tune).__kwdefaults__, "runs", 20)


def found(open_app, **query):
    app = open_app("choose-epsilon", **{**SMALL, **query})
    assert len(app.get("plotly_chart")) == 1  # by it the browser gets ready for the first curve
    return press(app, "study-find")


ASKED = [
    ("cancer", 1_000, "marginal_pc", {}, 0.5),
    ("cancer", 2_000, "svt_pc", {"guarantee": "published", "delta": 1e-4}, 0.9),
]


@pytest.mark.parametrize(("name", "n", "key", "params", "target"), ASKED)
def test_page_command_line_and_python_give_one_answer_with_one_error(
    name, n, key, params, target, open_app, capsys
):
    data, grid = load_dataset(name, n=n), list(work.EPSILONS)
    answer = which_epsilon(data, key, params, target=target, seeds=5, epsilons=grid)
    words_of = {k: str(v) for k, v in params.items()}
    app = found(open_app, data=name, n=str(n), algorithm=key, **words_of,
                **{"study.target": str(target)})  # fmt: skip
    assert f"#### {answer.sentence}" in told(app)
    assert len(app.get("plotly_chart")) == 1
    assert "you are here: ε = 1" in shown(app)
    flags = [text for k, v in words_of.items() for text in (f"--{k}", v)]
    argv = ["sweep", "--dataset", name, "--n", str(n), "--algorithm", key, "--seeds", "5", *flags]
    argv += ["--epsilon", ",".join(map(str, grid)), "--target", str(target), "--json"]
    assert main(argv) == 0
    assert json.loads(capsys.readouterr().out) == [answer.as_dict()]
    assert answer.epsilon is None or answer.least <= answer.epsilon <= answer.most


def test_another_form_greys_the_answer_and_says_whose_it_is(open_app):
    app = found(open_app)
    assert "belongs to" not in told(app)
    app.selectbox(key="study-algorithm").set_value("priv_pc").run()
    assert "this answer belongs to Marginal PC on cancer, 1,000 rows" in told(app)
    app.selectbox(key="study-algorithm").set_value("marginal_pc").run()
    assert "belongs to" not in told(app)


def test_other_algorithms_are_drawn_with_it(open_app):
    app = found(open_app, **{"study.others": "pc,priv_pc"})
    assert "Priv-PC" in shown(app)
    assert "(no ε)" in shown(app)
    assert "Priv-PC" in told(app)


OPENS = {
    "tune": "A search tries 200 runs",
    "checklist": "Mean number of tests by order",
    "repeat": "share of the seeds",
    "download": "The study's file holds every run",
}


def test_what_opens_below(open_app):
    app = found(open_app)
    for icon, says in OPENS.items():
        assert says not in told(app)
        app.session_state[f"study-opens-{icon}"] = True
        app.run()
        assert not app.exception
        assert says in told(app)


def test_a_best_setting_is_of_its_form(open_app, monkeypatch):
    monkeypatch.setattr(tune, "SEEDS", 3)
    app = found(open_app, algorithm="priv_pc")
    app.session_state["study-opens-tune"] = True
    app.run()
    press(app, "study-search")
    assert "new runs" in told(app)
    app.selectbox(key="study-algorithm").set_value("svt_pc").run()
    assert "This search belongs to another form: Priv-PC" in told(app)


def test_a_schema_is_searched_on_networks_and_reported_on_others(monkeypatch):
    monkeypatch.setattr(tune, "SEEDS", 2)
    request = PlanRequest(("a", "b", "c"), (("no", "yes"),) * 3, 300)
    aim = work.Aim(Request(Source("own", 300), "priv_pc"), 0.8, "skeleton_f1", 2)
    found, _ = work.searched(Reporter(), request, aim, 1.0, ["tweak"])
    _, others = tune.halves(request.dataset)
    again = tune.tune("priv_pc", others, {**aim.paid, "epsilon": 1.0}, ["tweak"], runs=20)
    assert found.default.mean == again.default.mean


def test_a_release_is_searched_on_its_synthetic_tables_as_by_the_command(
    open_app, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(tune, "SEEDS", 2)
    monkeypatch.setattr(tune, "DRAWN", 1)
    data = load_dataset("cancer", n=500)
    schema = replace(declared(data), rows=data.n)
    own = Dataset.from_codes(data.codes, data.names, data.levels)
    released = make(Budgets(tmp_path / "b.db"), own, schema, epsilon=3)
    app = open_app(
        "choose-epsilon", data="own", algorithm="priv_pc", **{"plan.rows": "2000", "epsilon": "3"}
    )
    table = data.to_frame().to_csv(index=False).encode()
    own_table(app, table, schema, page="study")
    assert "on 3 random networks of these columns, 2,000 rows each" in told(app, "caption")
    assert not [r for r in app.radio if r.key == "study-plan-on"]
    app.session_state["released"] = released, app.session_state["own_data"]
    app.run()
    app.radio(key="study-plan-on").set_value(forecast.RELEASE).run()
    assert "tables drawn from your release “asia”, 2,000 rows each" in told(app, "caption")
    app.multiselect(key="study-plan-over").set_value(["tweak"]).run()
    press(app, "study-plan-search")
    assert "belongs to another form" not in told(app)
    found, _ = app.session_state["task-study-plan-best"].result
    (tmp_path / "r.json").write_text(canonical(released))
    argv = ["tune", "--release", str(tmp_path / "r.json"), "--n", "2000", "--over", "tweak"]
    assert main([*argv, "--runs", "20", "--epsilon", "3", "--delta", "1e-6", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == as_dict(found)
    app.radio(key="study-plan-on").set_value(forecast.NETWORKS).run()
    assert "belongs to another form: Priv-PC" in told(app)
    more = table + table.splitlines()[1] + b"\n"
    own_table(app, more, replace(schema, rows=501), page="study")
    assert app.radio(key="study-plan-on").disabled
    assert "on 3 random networks" in told(app, "caption")


def test_an_algorithm_without_an_epsilon_is_refused(open_app):
    assert "has no ε to choose" in told(found(open_app, algorithm="pc"))


def test_ones_own_table_is_forecast_from_its_schema(open_app):
    app = open_app("choose-epsilon", data="own")
    assert "Declare the columns of your table" in told(app)


def test_an_answer_while_it_runs_is_of_what_there_is():
    aim = work.Aim(Request(Source("cancer", 500), "marginal_pc"), 0.8, "skeleton_f1", 2)
    parts, said = [], []

    hear = Reporter(
        lambda share, phrase: said.append(phrase), lambda: len(parts) > 1,
        lambda part: parts.extend([part] if part else []),
    )  # fmt: skip
    work.answered(hear, load_dataset("cancer", n=500), aim)
    assert "1 of " in " ".join(said)
    assert answers_of([r for part in parts for r in part], aim)["marginal_pc"].rows == 500
