"""Words, layouts, graphs, charts and tables, apart from any page."""

import json
import math
import re
from pathlib import Path

import pandas as pd
import pytest

from engine import RunResult, load_dataset, read_table, run
from engine.data.networks import plainly, words
from engine.graphs.links import MARKS, LinkClass
from engine.graphs.picture import stroke
from engine.graphs.view import Link, view
from engine.request import Request
from pages.draw import charts, links, scene, show
from pages.draw.charts import Axis, bars, curves
from pages.draw.graphs import render_graph
from pages.report.words import together
from pages.shell import export
from pages.shell import words as text

NUMBERS = (0, 1, 0.0174689, 35.7128, 148.4, 1892.2, 1e-6, 2.5e9, math.inf, None, -0.286)
SHOWN = "0 1 0.0175 35.7 148 1,892 10⁻⁶ 2.5·10⁹ no_bound – -0.286"


def test_numbers_and_words():
    assert " ".join(text.number(n).replace(" ", "_") for n in NUMBERS) == SHOWN
    assert text.number(148.4, 2) == "148"  # few digits never turn into exponents
    kept = together("At ε = 3: 82 % of 7; T = .1, m = best")
    assert kept == "At ε\xa0=\xa03: 82\xa0% of 7; T\xa0=\xa0.1, m = best"
    assert text.safe("<b>") == "&lt;b&gt;"
    assert text.plain("*a* $x$ :red[b]") == r"\*a\* \$x\$ \:red\[b\]"
    assert text.plain("1. a\r\n&lt; www.b") == "1\\. a \\&lt; www\u2060.b"
    assert plainly("sprinkler") == {"title": "Sprinkler", "about": "", "nodes": {}}
    assert plainly("cancer") == words()["cancer"]


def test_a_graph_page_loads_nothing_from_elsewhere():
    c = "</script><img src=x>"  # a column's name ends no script
    drawn = [Link("a", "b", True, LinkClass.FALSE_POSITIVE), Link("b", c, False)]
    page = render_graph(view(["a", "b", c], drawn, [("a", "b")]))
    assert not re.search(r"<(link|img|iframe)\b", page)
    assert page.count("</script>") == 2
    sources = re.findall(r"<(?:script|link|img)\b[^>]*(?:src|href)=[\"']?([^\"' >]+)", page)
    assert sources == ["app/static/vis/vis-network.min.js"]
    assert "//" not in re.sub(r"// .*", "", page)


ODD = "<b>30</b> & more"


def test_levels_and_names_of_columns_are_no_markup_in_a_chart():
    drawn = bars([ODD], [1.0], x_title=ODD, y_title="%", words=["1"])
    lines = curves([], Axis(ODD), Axis(f"{ODD} minus its fit"))
    for content in map(json.dumps, (drawn, lines)):
        assert "<b>" not in content
        assert "&lt;b" in content


def test_a_cell_of_a_map_opens_its_run(monkeypatch):
    """The browser names the mark over it by its place, row by row."""
    cells = {"x": ["a", "b"], "y": ["u", "v"], "text": [["1", "2"], ["3", "4"]]}
    of, went = [Request(seed=k) for k in range(4)], []
    monkeypatch.setattr(charts, "figure", lambda *_, **rest: [{"point_index": 3}])
    monkeypatch.setattr(charts.st, "switch_page", lambda _, query_params: went.append(query_params))
    charts.heat_of_runs(cells, {}, of, key="map", alt="")
    assert went == [of[3].to_words()]


def test_without_a_truth_what_was_not_tested_is_told_apart(monkeypatch):
    found = run("priv_pc", load_dataset("asia", n=3000), seed=0, epsilon=0.05)
    monkeypatch.setattr(RunResult, "classes", {})  # as of one's own table
    drawn = {(k.a, k.b): (k.kind, k.arrow) for k in links.found_links(found, waiting=True)}
    assert [*drawn.values()].count((LinkClass.UNTESTED, False)) == len(found.untested_pairs) > 0


@pytest.mark.parametrize("kind", LinkClass)
def test_a_sample_of_a_line_has_its_sign(kind):
    drawn, mark = stroke(kind, "light"), MARKS[kind]
    assert drawn.count(f'fill="{mark.light}"') == bool(mark.marker)
    assert ("stroke-dasharray" in drawn) == bool(mark.dash)
    assert links.sample(kind, "light").count("<img") == 1


def test_what_was_not_tested_is_fainter_than_what_was_missed_and_no_script_has_an_ink():
    missed, untested = MARKS[LinkClass.MISSED], MARKS[LinkClass.UNTESTED]
    assert untested.width < missed.width
    ink = [sum(mark.dash[::2]) / sum(mark.dash) for mark in (untested, missed)]
    assert ink[0] < ink[1]
    assert len({(mark.dash, mark.marker) for mark in MARKS.values()}) == len(LinkClass)
    inks = {mark.ink(theme) for mark in MARKS.values() for theme in ("light", "dark")}
    drawn = "".join(map(scene.script, ("scene", "search", "arrows"))) + scene.style()
    assert not any(one in drawn for one in inks)  # a component is given the marks


def test_the_record_of_a_run_is_json_with_its_seed_on_public_data_only():
    public = load_dataset("cancer", n=2000)
    rows = "".join(f"{k % 2},{k // 3 % 2},{k // 5 % 2}\n" for k in range(200))
    own = read_table(f"a,b,c\n{rows}".encode())
    for data, seed in ((public, 11), (own, None)):
        record = json.loads(export.run_json(data, run("pc", data, seed=11), {}))
        assert record["seed"] == seed
        assert record["proven"]["epsilon"] == "inf"
        internal = [step["internal"] for step in record["steps"]]
        assert all(internal) if data.public else not any(internal)


def test_no_table_writes_none_or_infinity(monkeypatch):
    sent = {}
    monkeypatch.setattr(show.st, "dataframe", lambda frame, **o: sent.update(o, frame=frame))
    frame = pd.DataFrame(
        {
            "floats": [math.inf, 1234.5678, math.nan],
            "mixed": pd.Series([math.inf, "a", None], dtype=object),
            "counts": pd.Series([1, None, 3], dtype="Int64"),
            "numbers": [0.12345, math.nan, 2.0],
        }
    )
    show.table(frame, alt="x", columns={"numbers": {"label": "n", "help": "why"}})
    shown = sent["frame"]
    assert shown["floats"].tolist()[:2] == ["no bound", "1,235"]
    assert pd.isna(shown["floats"][2])
    assert shown["mixed"].tolist()[:2] == ["no bound", "a"]
    assert shown.isna().sum().tolist() == [1, 1, 1, 1]
    assert shown["numbers"].tolist()[::2] == [0.12345, 2.0]  # the browser rounds: it can sort
    assert sent["placeholder"] == "–"
    assert sent["column_config"]["numbers"]["label"] == "n"
    assert sent["column_config"]["numbers"]["type_config"]["format"] == "%.3g"


@pytest.mark.parametrize(
    ("rows", "how", "height"),
    [(3, {}, "content"), (14, {}, 405), (9, {"most": 320}, 335), (40, {"height": 320}, 335),
     (2, {"height": 320}, 320)],
)  # fmt: skip
def test_a_table_with_more_rows_ends_within_a_row(rows, how, height, monkeypatch):
    """One that ended with a row would hide that there are more: rows of 35 pixels, titles of 38."""
    drawn = []
    monkeypatch.setattr(show.st, "dataframe", lambda frame, **rest: drawn.append(rest["height"]))
    show.table(pd.DataFrame({"a": range(rows)}), alt="", **how)
    assert drawn == [height]


def test_every_table_comes_from_one_place():
    pages = Path(show.__file__).parents[1]
    direct = [p.name for p in pages.rglob("*.py") if ".dataframe(" in p.read_text("utf-8")]
    assert direct == ["show.py"]
