"""The Compare page without a browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from engine.studies.recommended import ranked, recommended


@pytest.fixture
def compare_page(open_app: Callable[..., AppTest]) -> AppTest:
    return open_app("compare", data="cancer", n="2000")


def table(app: AppTest, column: str):  # type: ignore[no-untyped-def]
    return next(d.value for d in app.dataframe if column in d.value)


def test_it_opens_on_two_runs(compare_page: AppTest) -> None:
    assert len(compare_page.get("iframe")) == 2
    names = list(table(compare_page, "Setting").columns)
    assert names == ["Setting", "A · Priv-PC, ε = 1", "B · PC (no privacy)"]
    rows = table(compare_page, "Setting").set_index("Setting")
    assert list(rows.iloc[:, 0].loc[["Privacy budget ε", "Failure probability δ"]]) == ["1", "1e-6"]
    differ = set(rows.index)
    assert "Algorithm" in differ
    assert "Rows n" not in differ


def test_same_layout_in_every_graph(compare_page: AppTest) -> None:
    places = []
    for frame in compare_page.get("iframe"):
        nodes = frame.proto.srcdoc.split("new vis.DataSet(", 2)[1].split("]", 1)[0]
        places.append(nodes)
    assert places[0] == places[1]


def test_adding_stops_at_four_and_unpin_makes_room(compare_page: AppTest) -> None:
    app = compare_page
    for seed in (5, 6):
        app.number_input(key="compare-seed").set_value(seed).run()
        app.button(key="compare-add").click().run()
        assert not app.exception
    assert len(app.get("iframe")) == 4
    assert app.button(key="compare-add").disabled
    app.button(key="compare-unpin-0").click().run()
    assert len(app.get("iframe")) == 3
    assert not app.button(key="compare-add").disabled
    assert not app.button(key="compare-pin").disabled
    app.button(key="compare-pin").click().run()
    assert len(app.get("iframe")) == 4


def test_edges_that_differ_only(compare_page: AppTest) -> None:
    found = [d.value for d in compare_page.dataframe if "Pair" in d.value]
    for rows in found:
        a, b = rows.columns[-2:]
        assert (rows[a] != rows[b]).all()
        assert "Truth" in rows.columns


def test_a_run_that_is_refused_is_one_sentence(compare_page: AppTest) -> None:
    compare_page.number_input(key="compare-param-epsilon").set_value(-1.0).run()
    compare_page.button(key="compare-add").click().run()
    assert len(compare_page.error) == 1
    assert "epsilon must be at least" in compare_page.error[0].value
    assert len(compare_page.get("iframe")) == 2


def test_another_algorithm_in_the_form(compare_page: AppTest) -> None:
    compare_page.selectbox(key="compare-algorithm").set_value("notears").run()
    assert not compare_page.exception
    compare_page.button(key="compare-add").click().run()
    assert not compare_page.exception
    assert len(compare_page.get("iframe")) == 3


def test_a_run_is_added_that_knows_more(compare_page: AppTest) -> None:
    app = compare_page
    app.selectbox(key="compare-known").set_value("complete-order").run()
    app.button(key="compare-add").click().run()
    assert not app.exception
    differ = table(app, "Setting").set_index("Setting").loc["What is known"]
    assert list(differ) == ["nothing", "nothing", "complete order"]
    scores = table(app, "Score").set_index("Score")
    alone = scores.loc["Known arrows alone"]
    assert list(alone[:2]) == ["–", "–"]
    assert alone.iloc[2] == scores.loc["Skeleton F1"].iloc[2]  # every arrow is known
    assert "known=complete-order" in str(app.query_params["pin2"])


def test_nothing_pinned_says_so(compare_page: AppTest) -> None:
    compare_page.button(key="compare-unpin-0").click().run()
    compare_page.button(key="compare-unpin-0").click().run()
    assert "Nothing is pinned" in compare_page.info[0].value


def test_pairs_not_tested_to_the_end_are_apart(open_app: Callable[..., AppTest]) -> None:
    app = open_app("compare", data="asia", n="2000")
    scores = table(app, "Score").set_index("Score").iloc[:, 0]
    waiting = int(scores["Not tested to the end"])
    assert waiting > 0
    assert int(scores["Links in the result"]) >= 0

    def drawn() -> int:
        return str(app.get("iframe")[0].proto.srcdoc).count('"arrows"')

    switch, before = app.toggle(key="compare-0-waiting"), drawn()
    assert f"{waiting} pair" in switch.label
    switch.set_value(False).run()
    assert drawn() == before - waiting
    # The other run was tested to its end.
    assert [t.key for t in app.toggle if "waiting" in t.key] == ["compare-0-waiting"]


def test_published_ones_stand_beside_at_their_recommended_settings(
    open_app: Callable[..., AppTest],
) -> None:
    app = open_app("compare", data="cancer", n="2000", algorithm="marginal_pc", epsilon="1")
    app.button(key="compare-published").click().run()
    assert not app.exception
    pinned = app.session_state["pins"]
    best = ranked(1.0)[:3]
    keys = [run.settings.algorithm for run in pinned]
    assert keys == ["marginal_pc", *(one.algorithm for one in best)]
    for run, one in zip(pinned[1:], best, strict=True):
        asked = run.settings.params
        assert {**asked, **one.params} == asked
        assert (asked["epsilon"], asked["guarantee"]) == (1.0, "strict")
    app.button(key="compare-unpin-3").click().run()
    app.selectbox(key="compare-algorithm").set_value("priv_pc").run()
    found = recommended("priv_pc", 1.0)
    assert found is not None
    app.button(key="compare-recommended").click().run()
    app.button(key="compare-add").click().run()
    params = app.session_state["pins"][-1].settings.params
    assert {**params, **found.params} == params
