"""The Sweep page without a browser."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from engine.graphs.known import ready_sets
from engine.studies import ResultStore, analysis
from pages.draw.bars import heat
from pages.shell.settings import Settings
from pages.sweep import jobs as study_jobs
from pages.sweep import state as studies
from pages.sweep import view
from pages.sweep.curves import runs_at
from pages.sweep.jobs import _example_results
from pages.sweep.stability import _found_in
from pages.sweep.state import EXAMPLE, Wanted

ROOT = Path(__file__).resolve().parents[2]
SMALL = {"sweep-n": 2000, "sweep-seeds": 2, "sweep-count": 3}


@pytest.fixture
def sweep_page(
    open_app: Callable[..., AppTest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[AppTest]:
    """The page in a folder of its own, on a small study."""
    monkeypatch.chdir(tmp_path)
    yield open_app("sweep", data="cancer", n="2000")
    study_jobs.jobs().clear()  # the example's runs and public samples may stay


def test_a_heat_maps_numbers_can_be_read() -> None:
    """No letters shrink to a cell's size, and no scale takes the room of those that say as much."""
    shares = pd.DataFrame([[0.4, 1.0]] * 2, index=["a - b", "c - d"], columns=["0.1", "1"])
    drawn = heat(shares, x_title="x").data[0]
    assert [list(row) for row in drawn.text] == [["40", "100"]] * 2
    assert (drawn.textfont.size, drawn.showscale) == (12, False)
    bare = heat(shares, x_title="x", words=False).data[0]
    assert (bare.text, bare.showscale) == (None, True)


def test_a_click_meets_the_chart_that_it_was_made_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """With more runs it would be another chart, and what was clicked on the old is forgotten."""
    points: list[int] = []
    state = {"sweep-heat": SimpleNamespace(selection=SimpleNamespace(points=points))}
    monkeypatch.setattr(view.st, "session_state", state)
    job: Any = SimpleNamespace(name="a", results=[1, 2])
    assert view.drawn_runs(job) == 2
    job.results.append(3)
    points.append(7)
    assert view.drawn_runs(job) == 2
    assert view.drawn_runs(job) == 3  # a point that leads nowhere holds nothing up
    other: Any = SimpleNamespace(name="b", results=[1])
    assert view.drawn_runs(other) == 1
    points.clear()
    assert view.drawn_runs(job) == 3


def small(app: AppTest, name: str) -> AppTest:
    app.multiselect(key="sweep-datasets").set_value(["cancer"])
    app.multiselect(key="sweep-algorithms").set_value(["priv_pc", "pc"])
    for key, value in SMALL.items():
        app.number_input(key=key).set_value(value)
    app.text_input(key="sweep-name").set_value(name).run()
    assert not app.exception
    return app


def finished(app: AppTest) -> AppTest:
    job = app.session_state["sweep_job"]
    give_up = time.monotonic() + 30
    while job.running and time.monotonic() < give_up:
        time.sleep(0.05)
    app.run()
    assert not app.exception
    assert not job.running
    return app


def words(app: AppTest) -> str:
    kinds = (app.markdown, app.caption, app.info, app.warning, app.error)
    return " ".join(e.value for kind in kinds for e in kind)


def test_it_opens_on_a_finished_example(sweep_page: AppTest) -> None:
    assert "145 of 145 runs" in words(sweep_page)
    assert len(sweep_page.get("plotly_chart")) == 2
    assert "Target F1" in [s.label for s in sweep_page.slider]
    assert any("on one core" in c.value for c in sweep_page.caption)


def test_a_study_is_run_kept_and_opened_again(sweep_page: AppTest) -> None:
    app = small(sweep_page, "mine")
    app.button(key="sweep-start").click().run()
    finished(app)
    assert "8 of 8 runs · finished" in words(app)
    assert (Path("studies") / "mine.db").exists()
    spec = app.get("plotly_chart")[0].proto.spec
    assert "You are here: Priv-PC on Run" in spec
    assert "PC (no privacy)" in spec

    app.session_state["sweep_job"] = study_jobs.example()
    app.selectbox(key="sweep-chosen").set_value("mine").run()
    app.button(key="sweep-open").click().run()
    assert "8 of 8 runs · finished" in words(app)
    assert app.multiselect(key="sweep-datasets").value == ["cancer"]


def test_a_study_is_told_what_is_known(sweep_page: AppTest) -> None:
    """Its file says so, a link does, and the score of the knowledge alone stands beside."""
    app = small(sweep_page, "told")
    assert "Known arrows alone" not in app.segmented_control(key="sweep-y").options
    app.selectbox(key="sweep-known").set_value("complete-order").run()
    wanted = json.loads(app.query_params["sweep.wanted"])
    assert wanted["known"] == "complete-order"
    app.button(key="sweep-start").click().run()
    finished(app)
    asked = app.session_state["sweep_job"].wanted
    (told,) = study_jobs.datasets_of(asked)
    assert told.truth is not None
    assert told.schema is not None
    assert told.schema.knowledge == ready_sets(told.truth)["complete order"]
    assert Wanted.from_json(asked.as_json()) == asked
    runs = app.session_state["sweep_job"].results
    assert {r.fingerprint for r in runs} == {told.identity}
    app.segmented_control(key="sweep-y").set_value("Directed F1").run()
    table = next(d.value for d in app.dataframe if "Known arrows alone" in d.value)
    assert (table["Known arrows alone"] == table["Median"]).all()  # nothing is left to find
    # What the Run page ran knew nothing: it has no place among these.
    assert "You are here" not in app.get("plotly_chart")[0].proto.spec


def test_cancel_keeps_what_is_finished_and_resume_goes_on(
    sweep_page: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = small(sweep_page, "halved")
    slow = study_jobs.sweep

    def two_only(*args: object, **options: object) -> Iterator[object]:
        for k, result in enumerate(slow(*args, **options)):
            if k == 2:
                return
            yield result

    monkeypatch.setattr(study_jobs, "sweep", two_only)
    app.button(key="sweep-start").click().run()
    finished(app)
    assert "2 of 8 runs · cancelled" in words(app)
    monkeypatch.setattr(study_jobs, "sweep", slow)
    app.button(key="sweep-resume").click().run()
    finished(app)
    assert "8 of 8 runs · finished" in words(app)
    with ResultStore("studies/halved.db") as store:
        assert len(store) == 8


@pytest.mark.parametrize("another", [False, True])
def test_a_study_whose_file_goes_away_stops_and_says_so(
    sweep_page: AppTest, monkeypatch: pytest.MonkeyPatch, another: bool
) -> None:
    app, real, made = small(sweep_page, "gone"), study_jobs.sweep, []

    def deleting(*args: object, **options: object) -> Iterator[object]:
        for result in real(*args, **options):
            made.append(result)
            if len(made) == 3:
                kept = Path("studies/gone.db")
                kept.rename("elsewhere.db")
                if another:
                    kept.write_bytes(Path("elsewhere.db").read_bytes())
            yield result

    monkeypatch.setattr(study_jobs, "sweep", deleting)
    app.button(key="sweep-start").click().run()
    finished(app)
    assert len(made) == 3
    assert "3 of 8 runs · stopped by an error" in words(app)
    assert "deleted or replaced while it ran" in words(app)


@pytest.mark.parametrize("content", [b"not a database", b"SQLite format 3\0" + b"\1" * 200])
def test_a_foreign_or_damaged_file_is_one_sentence(sweep_page: AppTest, content: bytes) -> None:
    Path("studies").mkdir()
    (Path("studies") / "odd.db").write_bytes(content)
    sweep_page.run()
    sweep_page.selectbox(key="sweep-chosen").set_value("odd").run()
    sweep_page.button(key="sweep-open").click().run()
    assert not sweep_page.exception
    assert len(sweep_page.error) == 1
    assert "not a file of study results" in sweep_page.error[0].value
    assert (Path("studies") / "odd.db").read_bytes() == content
    assert "145 of 145 runs" in words(sweep_page)


def test_bad_settings_are_one_sentence_and_stop_start(sweep_page: AppTest) -> None:
    sweep_page.number_input(key="sweep-from").set_value(-1.0).run()
    assert "must start above 0" in words(sweep_page)
    assert "sweep-start" not in [b.key for b in sweep_page.button]
    sweep_page.number_input(key="sweep-from").set_value(0.1).run()
    sweep_page.text_input(key="sweep-name").set_value("../up").run()
    sweep_page.button(key="sweep-start").click().run()
    assert "A study's name has" in sweep_page.error[0].value
    assert not Path("studies").exists()


def test_axes_and_target_are_honest(sweep_page: AppTest) -> None:
    sweep_page.slider(key="sweep-target").set_value(1.0).run()
    table = next(d.value for d in sweep_page.dataframe if "Smallest ε" in d.value)
    smallest = table.set_index("Algorithm")["Smallest ε"]
    assert set(smallest[["Priv-PC", "SVT-PC", "EM-PC"]]) == {"not reached"}
    assert smallest["PC (no privacy)"] == "–"
    about = next(c.value for c in sweep_page.caption if "On the axis chosen" in c.value)
    named = about.split("“")[1].split("”")[0]  # the column that the sentence speaks of
    assert named in table.columns
    assert "nothing" in named
    ceiling = next(c.value for c in sweep_page.caption if "Why three curves stop" in c.value)
    assert "stop at 0.77," in ceiling
    against = next(s for s in sweep_page.segmented_control if s.key == "sweep-x")
    against.set_value("paper's total").run()
    assert "No run claims a total" in words(sweep_page)
    shown = next(s for s in sweep_page.segmented_control if s.key == "sweep-y")
    shown.set_value("CI tests").run()
    assert not sweep_page.exception


def test_what_is_lost_without_noise_has_lines_of_its_own(sweep_page: AppTest) -> None:
    """The best test, and each method's own form of its test, both without noise."""
    levels = {
        trace["name"]: set(trace["y"])
        for trace in json.loads(sweep_page.get("plotly_chart")[0].proto.spec)["data"]
        if "no noise" in trace["name"]
    }
    assert levels["Best test (G²), no noise"] == {1.0}
    bounded = levels["Kendall's τ, bounded form, no noise"]
    assert {round(v, 3) for v in bounded} == {0.769}
    assert any("Marginal PC" in name for name in levels)


def test_arrows_stand_beside_links(sweep_page: AppTest) -> None:
    table = next(d.value for d in sweep_page.dataframe if "Median" in d.value)
    assert {"Directed F1", "SHD"} <= set(table)
    shown = next(s for s in sweep_page.segmented_control if s.key == "sweep-y")
    shown.set_value("Directed F1").run()
    turned = next(d.value for d in sweep_page.dataframe if "Median" in d.value)
    assert list(turned["Median"]) == list(table["Directed F1"])
    assert list(turned["Skeleton F1"]) == list(table["Median"])
    assert "(directed f1)" not in words(sweep_page)
    assert "(directed F1)" in words(sweep_page)


def test_scores_are_those_of_the_run_page(
    open_app: Callable[..., AppTest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Published CURATE leaves most of Child open: links that nobody tested are no find."""
    monkeypatch.chdir(tmp_path)
    named = {"algorithm": "curate_pc", "guarantee": "published", "epsilon": "20"}
    app = open_app("run", data="child", n="2000", **named)
    tiles = {m.label: m.value for m in app.metric}
    app.switch_page("pages/sweep/page.py").run()
    app.multiselect(key="sweep-datasets").set_value(["child"])
    app.multiselect(key="sweep-algorithms").set_value(["curate_pc"])
    app.radio(key="sweep-guarantee").set_value("published")
    app.radio(key="sweep-grid").set_value("List").run()
    app.text_input(key="sweep-list").set_value("20")
    app.number_input(key="sweep-n").set_value(2000)
    app.number_input(key="sweep-seeds").set_value(1).run()
    app.button(key="sweep-start").click().run()
    finished(app)
    assert "as the Run page's headline does" in words(app)
    table = next(d.value for d in app.dataframe if "Median" in d.value)
    mine = f"{table['Median'].iloc[0]:.2f}"
    assert mine == tiles["Both in one number (skeleton F1)"] == "0.00"
    counted = next(s for s in app.segmented_control if s.key == "sweep-counted")
    counted.set_value("all pairs left").run()
    table = next(d.value for d in app.dataframe if "Median" in d.value)
    assert table["Median"].iloc[0] > 0.1
    assert "as in the papers" in words(app)
    assert "sweep-csv" in [d.key for d in app.get("download_button")]


def test_an_override_reaches_the_study(sweep_page: AppTest) -> None:
    sweep_page.multiselect(key="sweep-changed").set_value(["tweak"]).run()
    sweep_page.number_input(key="sweep-param-tweak").set_value(0.05).run()
    assert not sweep_page.exception
    assert sweep_page.session_state["sweep_draft"]["params"]["tweak"] == 0.05


def test_epsilon_grids() -> None:
    assert studies.epsilon_range(0.1, 10, 3) == (0.1, 1.0, 10.0)
    assert studies.epsilon_list("1, .5;1") == (0.5, 1.0)
    assert Wanted.from_json(studies.EXAMPLE.as_json()) == studies.EXAMPLE


def test_own_data_are_labelled_and_never_kept(sweep_page: AppTest) -> None:
    app = sweep_page
    csv = (ROOT / "sample_data" / "asia_2000.csv").read_bytes()
    app.switch_page("pages/data/page.py").run()
    app.selectbox(key="data-network").set_value("own").run()
    app.file_uploader(key="data-file").set_value(("mine.csv", csv, "text/csv")).run()
    app.switch_page("pages/sweep/page.py").run()
    app.multiselect(key="sweep-datasets").set_value(["own"]).run()
    app.multiselect(key="sweep-algorithms").set_value(["priv_pc"])
    app.number_input(key="sweep-count").set_value(2)
    app.number_input(key="sweep-seeds").set_value(2).run()
    assert "schema is not declared, so nothing could be defended" in words(app)
    assert "sweep-name" not in [t.key for t in app.text_input]
    app.button(key="sweep-start").click().run()
    finished(app)
    assert "4 of 4 runs · finished" in words(app)
    assert "no F1 to aim at" in words(app)
    assert "every rerun spends ε" in " ".join(h.value for h in app.get("html"))
    assert not list(Path("studies").glob("*"))
    (meter,) = app.session_state["own_costs"].values()
    assert meter.total()[:2] == (4, float("inf"))  # no schema was declared
    results = app.session_state["sweep_job"].results
    assert all(r.as_dict()["seed"] is None for r in results)
    app.button(key="sweep-start").click().run()  # the same once more, with new noise
    finished(app)
    again = app.session_state["sweep_job"].results
    assert [r.cell.key for r in again] == [r.cell.key for r in results]
    assert [r.fixed() for r in again] != [r.fixed() for r in results]
    assert meter.total()[0] == 8


def test_a_point_opens_the_run_of_the_seed_nearest_to_its_median(
    open_app: Callable[..., AppTest],
) -> None:
    results = list(_example_results())
    table = analysis.frame(results)
    points = analysis.bands(table, "shd")
    source = EXAMPLE.sources[0]
    runs = runs_at(points, table, "SHD", results, Settings(source))
    assert len(runs) == len(points)
    for point, settings in zip(points.to_dict("records"), runs, strict=True):
        assert settings.source == source
        assert settings.algorithm == point["algorithm"]
        asked = settings.params.get("epsilon")
        assert asked == point["epsilon"] or (asked is None and pd.isna(point["epsilon"]))
        mine = [
            r
            for r in results
            if (r.algorithm, r.values.get("epsilon")) == (settings.algorithm, asked)
        ]
        (chosen,) = (r for r in mine if r.seed == settings.seed)
        gaps = [abs(r.shd - point["median"]) for r in mine if r.shd is not None]
        assert chosen.shd is not None
        assert abs(chosen.shd - point["median"]) == min(gaps)
    shares = analysis.edge_stability([r for r in results if r.algorithm == "em_pc"])
    wide = shares.assign(epsilon=shares["epsilon"].map("{:g}".format)).pivot_table(
        index="edge", columns="epsilon", values="share", sort=False
    )
    at = [(edge, word) for edge in wide.index for word in wide.columns]
    mine = [r for r in results if r.algorithm == "em_pc"]
    for (edge, word), run in zip(at, _found_in(wide, mine), strict=True):
        assert run.values["epsilon"] == float(word)
        assert (edge in {f"{a} - {b}" for a, b in run.found}) == (wide.loc[edge, word] > 0)
    app = open_app("sweep")
    app.selectbox(key="sweep-run-setting").select_index(2).run()
    app.button(key="sweep-run-open").click().run()
    assert not app.exception
    shown = app.session_state["shown"]
    assert shown.settings.algorithm == "em_pc"
    assert shown.result.params.as_dict()["epsilon"] == 1.0
