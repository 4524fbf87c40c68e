"""Numbers, layouts and graph pages, apart from any page."""

from __future__ import annotations

import json
import math
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import pandas as pd
import pytest

from engine import load_dataset, read_csv, run
from engine.data.networks import NETWORKS, load_network
from engine.graphs.layout import (
    NODE_HEIGHT,
    box_width,
    frame_height,
    frame_scale,
    place,
)
from engine.graphs.links import MARKS, LinkClass
from engine.graphs.picture import Link
from pages.draw import show
from pages.draw.graphs import render_graph
from pages.shell import export
from pages.shell import words as text


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (1, "1"),
        (0.0174689, "0.0175"),
        (35.7128, "35.7"),
        (148.4, "148"),
        (1892.2, "1,892"),
        (1e-6, "1e-6"),
        (2.5e9, "2.5e9"),
        (math.inf, "nothing"),
        (None, "–"),
        (-0.286, "-0.286"),
    ],
)
def test_numbers(value: float | None, shown: str) -> None:
    assert text.number(value) == shown


def test_few_digits_never_turn_into_exponents() -> None:
    assert text.number(148.4, 2) == "148"


# Wider graphs than Alarm's do not fit without overlaps.
DRAWN = [name for name in NETWORKS if len(load_network(name).names) <= 40]


@pytest.mark.parametrize("name", DRAWN)
def test_no_two_nodes_overlap_and_all_lie_in_the_frame(name: str) -> None:
    graph = load_network(name).dag()
    scale = frame_scale(len(graph), wide=False)
    width, height = 460 * scale, (frame_height(len(graph)) - 20) * scale
    at = place(graph, width, height)
    assert set(at) == set(graph)
    for a, b in combinations(graph, 2):
        apart_x = abs(at[a][0] - at[b][0]) >= (box_width(a) + box_width(b)) / 2 - 1
        assert apart_x or abs(at[a][1] - at[b][1]) >= NODE_HEIGHT - 1, (a, b)
    assert all(abs(x) <= width / 2 + 1 and abs(y) <= height / 2 + 1 for x, y in at.values())


def test_small_graphs_show_causes_above_effects() -> None:
    graph = load_network("asia").dag()
    at = place(graph, 460, 380)
    assert all(at[a][1] < at[b][1] for a, b in graph.edges)


@pytest.mark.parametrize("graph", [nx.DiGraph(), nx.DiGraph([("a", "b"), ("b", "a")])])
def test_a_graph_without_edges_or_with_a_cycle_can_be_laid_out(graph: nx.DiGraph) -> None:
    graph.add_nodes_from("abc")
    assert set(place(graph, 460, 380)) == set("abc")


def test_classes_differ_without_colour() -> None:
    signs = {(MARKS[k].dash, MARKS[k].marker) for k in LinkClass}
    assert len(signs) == len(LinkClass)


def test_a_graph_page_loads_nothing_from_elsewhere() -> None:
    c = "</script><img src=x>"  # a column's name ends no script
    links = [Link("a", "b", True, LinkClass.FALSE_POSITIVE), Link("b", c, False)]
    at = {"a": (0.0, 0.0), "b": (50.0, 50.0), c: (0.0, 100.0)}
    page = render_graph(["a", "b", c], links, at, height=300)
    assert not re.search(r"<(link|img|iframe)\b", page)
    assert page.count("</script>") == 2
    sources = re.findall(r"<(?:script|link|img)\b[^>]*(?:src|href)=[\"']?([^\"' >]+)", page)
    assert sources == ["app/static/vis/vis-network.min.js"]
    assert "//" not in re.sub(r"// .*", "", page)


def test_undirected_edges_have_no_arrow_and_are_drawn_once() -> None:
    at = {"a": (0.0, 0.0), "b": (50.0, 50.0)}
    page = render_graph(["a", "b"], [Link("a", "b", False)], at, height=300)
    assert page.count('"from":') == 1
    assert '"to": {"enabled": false' in page


def test_text_of_a_person_means_itself() -> None:
    assert text.safe("<b>") == "&lt;b&gt;"
    assert text.plain("*a* $x$ :red[b]") == r"\*a\* \$x\$ \:red\[b\]"


def test_the_record_of_a_run_is_json_with_its_seed_on_public_data_only() -> None:
    public = load_dataset("cancer", n=2000)
    rows = "".join(f"{k % 2},{k // 3 % 2},{k // 5 % 2}\n" for k in range(200))
    own = read_csv(f"a,b,c\n{rows}".encode())
    for data, seed in ((public, 11), (own, None)):
        record = json.loads(export.as_json(export.run_record(data, run("pc", data, seed=11), {})))
        assert record["seed"] == seed
        assert record["spent"]["epsilon"] == "inf"
        internal = [step["internal"] for step in record["steps"]]
        assert all(internal) if data.public else not any(internal)


def test_no_table_writes_none_or_infinity(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: dict[str, Any] = {}
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
    assert shown["floats"].tolist()[:2] == ["nothing", "1,235"]
    assert pd.isna(shown["floats"][2])
    assert shown["mixed"].tolist()[:2] == ["nothing", "a"]
    assert shown.isna().sum().tolist() == [1, 1, 1, 1]
    assert shown["numbers"].tolist()[::2] == [0.12345, 2.0]  # the browser rounds: it can sort
    assert sent["placeholder"] == "–"
    assert sent["column_config"]["numbers"]["label"] == "n"
    assert sent["column_config"]["numbers"]["type_config"]["format"] == "%.3g"


def test_every_table_comes_from_one_place() -> None:
    pages = Path(show.__file__).parents[1]
    direct = [p.name for p in pages.rglob("*.py") if ".dataframe(" in p.read_text("utf-8")]
    assert direct == ["show.py"]
