"""Choose ε: the answer, its file, what opens below it, and a form that has changed."""

import inspect
import json
from dataclasses import replace
from statistics import fmean
from unittest.mock import Mock

import pytest

from engine import Dataset, InputError, load_dataset, sweep
from engine.__main__ import main
from engine.cli.tune import as_dict
from engine.registry import TITLES
from engine.release.budget import Budgets
from engine.release.file import canonical
from engine.request import Request, Source
from engine.studies import tune
from engine.studies.plan import PlanRequest
from engine.studies.tune import which_epsilon
from pages.study import forecast, lines, more, work
from pages.study.view import Found
from pages.worker import Reporter, Undrawn
from tests.release.samples import declared, make
from tests.ui.shown import shown
from tests.ui.steps import address, own_table, press, told

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


def rows(app):
    """The table of settings, by name."""
    [table] = [one.value for one in app.get("dataframe") if "Smallest ε" in one.value]
    return table.set_index("Setting")


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
    assert answer.sentence in told(app, "header")
    assert len(app.get("plotly_chart")) == 1
    assert "you are here: ε = 1" in shown(app)
    flags = [text for k, v in words_of.items() for text in (f"--{k}", v)]
    argv = ["sweep", "--dataset", name, "--n", str(n), "--algorithm", key, "--seeds", "5", *flags]
    argv += ["--epsilon", ",".join(map(str, grid)), "--target", str(target), "--json"]
    assert main(argv) == 0
    assert json.loads(capsys.readouterr().out) == [answer.as_dict()]
    assert answer.epsilon is None or answer.least <= answer.epsilon <= answer.most


def test_the_analysts_grid_is_one_chart_and_one_table(open_app):
    """t x m in two fields and one press; the settings can be renamed, removed, added to, linked."""
    app = open_app("choose-epsilon", **{**SMALL, "algorithm": "priv_pc"})
    app.text_input(key="study-tweak").set_value("0, .02, 0.05").run()
    app.text_input(key="study-subsample").set_value("best, off").run()
    assert app.button(key="study-add").label == "Add these 6 settings"
    press(app, "study-find")
    names = [f"t {t}, m {m}" for t in ("0", "0.02", "0.05") for m in ("best", "off")]
    assert list(rows(app).index) == names
    assert len(app.get("plotly_chart")) == 1
    drawn = shown(app)
    assert all(f'"name": "{name}"' in drawn for name in names)
    best = {}
    for name in names:  # each is the run of the engine at that setting
        t, m = name[2:].split(", m ")
        answer = which_epsilon(load_dataset("cancer", n=1_000), "priv_pc", seeds=5,
                               params={"tweak": float(t), "subsample": m},
                               epsilons=work.EPSILONS)  # fmt: skip
        assert rows(app).loc[name, "90 % interval"] == answer.interval
        best[name] = answer.best
    app.slider(key="study-target").set_value(1.0).run()
    name = max(best, key=best.get)
    assert f"the highest median is {best[name]:.2f}, by {name}." in told(app, "header")
    app.text_input(key="study-name-0").set_value("mine").run()
    press(app, "study-remove-1")
    assert list(rows(app).index) == ["mine", *names[2:]]
    app.text_input(key="study-tweak").set_value("0.02").run()
    app.text_input(key="study-subsample").set_value("0, best").run()
    assert "subsample must be at least 1" in told(app, "html")  # below its field
    app.text_input(key="study-subsample").set_value("best").run()
    app.selectbox(key="study-algorithm").set_value("pc").run()
    press(app, "study-find")
    assert rows(app).loc[TITLES["pc"], "Smallest ε"] == "–"
    assert "(no ε)" in shown(app)
    again = open_app("choose-epsilon", **address(app))
    assert list(rows(again).index) == list(rows(app).index)
    [link] = [one for one in again.get("page_link") if "tweak=0.02" in one.proto.query_string][:1]
    assert "subsample=best" in link.proto.query_string
    press(again, "study-clear")
    assert "PC (no privacy) has no ε" in told(again)  # its kept runs


@pytest.mark.parametrize(
    ("word", "says"),
    [("data=own", "public data only"), ("data=nowhere", "nowhere"), ("algorithm=x", "x"),
     ("tweak=9", "tweak must be"), (";;&=%ff;", ""), ("n=5", "n must be at least 100")],
)  # fmt: skip
def test_a_setting_that_cannot_be_run_is_left_out_of_a_link(word, says, open_app):
    app = open_app("choose-epsilon", **SMALL, **{"study.lines": f"{word};data=cancer&n=1000"})
    assert told(app, "error").count(says) == 1 or not says
    assert len(app.get("page_link")) == 1 + (not says)


OPENS = {
    "tune": "A search tries 200 runs",
    "checklist": "Mean number of tests by order",
    "repeat": "share of the seeds",
    "download": "The study's file holds every run",
}


def test_what_opens_below(open_app, monkeypatch):
    app = found(open_app, algorithm="priv_pc")
    for icon, says in OPENS.items():
        assert says not in told(app)
        app.session_state[f"study-opens-{icon}"] = True
        app.run()
        assert not app.exception
        assert says in told(app)
    app.session_state["study-opens-grid_on"] = True
    app.run()
    across, up = (app.selectbox(key=f"study-{side}") for side in ("across", "up"))
    assert {*up.options} == {*across.options[1:]}  # across is the first of them
    for name in ("SIDE", "SEEDS"):
        monkeypatch.setattr(more, name, 2)
    press(app, "study-map-start")
    specs = [json.loads(one.proto.spec) for one in app.get("plotly_chart")]
    [(cells, axes)] = [(spec["data"][0], spec["layout"]) for spec in specs
                       if spec["data"][0]["type"] == "heatmap"]  # fmt: skip
    by_name = {axis.name: axis for axis in tune.axes("priv_pc", 1_000)}
    x, y = (by_name[box.value] for box in (across, up))
    for side, axis in (("x", x), ("y", y)):
        assert [*map(float, cells[side])] == [*axis.grid(2)]
        assert axes[f"{side}axis"]["title"]["text"] == axis.spec.title
    corner = {x.name: x.grid(2)[0], y.name: y.grid(2)[1]}
    runs = sweep(load_dataset("cancer", n=1_000), "priv_pc", corner, 2)
    assert cells["text"][1][0] == f"{fmean(one.metrics_tested.skeleton_f1 for one in runs):.2f}"
    monkeypatch.setattr(tune, "SEEDS", 3)
    press(app, "study-search")
    assert "new runs" in told(app)
    app.selectbox(key="study-algorithm").set_value("svt_pc").run()
    for old in ("search", "map"):
        assert f"This {old} belongs to" in told(app)


def test_a_schema_is_searched_on_networks_and_reported_on_others(monkeypatch):
    monkeypatch.setattr(tune, "SEEDS", 2)
    request = PlanRequest(("a", "b", "c"), (("no", "yes"),) * 3, 300)
    of = Request(Source("own", 300), "priv_pc")
    found = work.searched(Reporter(), request, of, "skeleton_f1", 1.0, ["tweak"])
    _, others = tune.halves(request.dataset)
    again = tune.tune("priv_pc", others, {**work.paid(of), "epsilon": 1.0}, ["tweak"], runs=20)
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
    assert "Declare the columns of your table" in told(app)
    own_table(app, table, schema, page="study")
    assert "on 3 random networks of these columns, 2,000 rows each" in told(app, "caption")
    assert not [r for r in app.radio if r.key == "study-plan-on"]
    with monkeypatch.context() as patch:
        patch.setattr(work, "forecast", Mock(side_effect=InputError("No network fits.")))
        assert "No network fits." in told(press(app, "plan-start"), "error")
    app.session_state["released"] = released, app.session_state["own_data"]
    app.run()
    app.radio(key="study-plan-on").set_value(forecast.RELEASE).run()
    assert "tables drawn from your release “asia”, 2,000 rows each" in told(app, "caption")
    app.multiselect(key="study-plan-over").set_value(["tweak"]).run()
    press(app, "study-plan-search")
    assert "belongs to another form" not in told(app)
    found = app.session_state["task-study-plan-best"].result
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


def test_lines_go_on_from_the_runs_that_are_known():
    """Every line has its first seed before any has its second; a stop keeps what has come."""
    data, asked = load_dataset("cancer", n=500), {"target": 0.5, "objective": "skeleton_f1"}
    source, said, parts = Source("cancer", 500), [], []
    two = [Request(source, key) for key in ("marginal_pc", "priv_pc")]
    rows_of = Undrawn.of("cancer", 500, 0)

    def go(known, stop=lambda: False):
        parts.clear()
        hear = Reporter(lambda share, phrase: said.append(phrase), stop, parts.append)
        known = [(one, tuple(known.get(one.key, {}).values())) for one in two]
        return work.answered(hear, known, *asked.values(), 5, rows_of)

    def runs():
        keys = {key: [run for at, part in parts if at == key for run in part] for key, _ in parts}
        return {key: lines.by_place(some) for key, some in keys.items()}

    assert not go({}, stop=lambda: len(said) > 8)
    assert "1 of " in said[0]
    early = runs()
    assert {seed for some in early.values() for _, seed in some} == {0, 1}
    assert go(early)
    later = runs()
    whole = {one.key: {**early[one.key], **later[one.key]} for one in two}
    for one in two:
        answer = which_epsilon(data, one.algorithm, target=0.5, seeds=5, epsilons=work.EPSILONS)
        mine = Found.of("", one, tuple(whole[one.key].values()), {**asked, "seeds": 5}).answer
        assert mine.as_dict() == answer.as_dict()
    assert go(whole)
    assert not any(key not in whole for key in runs())
