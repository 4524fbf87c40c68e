"""One picture: boxes in a frame, lines around boxes, the same on every surface."""

import json
import re
from functools import cache
from itertools import combinations, pairwise

import numpy as np
import pytest

from engine import load_dataset, run
from engine.data.networks import NETWORKS, load_network, plain_names
from engine.graphs.links import LinkClass
from engine.graphs.picture import graph_svg, people_svg
from engine.graphs.view import MOST_UNTESTED, Link, view
from engine.story.modules import graph_content
from pages.draw import graphs
from pages.draw.graphs import render_graph
from pages.draw.links import few_untested, found_links, graph_view

LONG = [f"{x} column whose name says at length what is measured in it {x}" for x in "abcdef"]


@cache
def _bundled(name):
    net = load_network(name)
    titles = dict(zip(net.names, plain_names(name, net.names), strict=True))
    edges = list(net.dag().edges)
    return view(net.names, [Link(a, b, True) for a, b in edges], edges, titles=titles)


def _random(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(3, 10))
    order = rng.permutation(d)
    drawn = np.triu(rng.random((d, d)) < rng.uniform(0.1, 0.5), 1)
    edges = [(f"v{order[i]}", f"v{order[j]}") for i, j in zip(*np.nonzero(drawn), strict=True)]
    return view([f"v{k}" for k in range(d)], [Link(a, b, True) for a, b in edges], edges)


def _wrong(shown):
    """What a person would see as wrong: lines through foreign boxes, boxes on boxes, cut parts."""
    left, top, width, height = shown.frame
    boxes = list(shown.boxes.values())
    at, half = np.array([b.at for b in boxes]), np.array([b.size for b in boxes]) / 2
    end = np.array([left + width, top + height])
    t = np.linspace(0, 1, 150)[:, None]
    for edge in shown.edges:
        a, m, b = map(np.array, edge.curve)
        points = (1 - t) ** 2 * a + 2 * t * (1 - t) * m + t**2 * b
        hit = (abs(points[:, None] - at) < half).all(axis=2).any(axis=0)
        yield from (f"{edge.link} crosses {boxes[k].name}" for k in np.flatnonzero(hit))
        if (points < (left, top)).any() or (points > end).any():
            yield f"{edge.link} leaves the frame"
    for i, j in combinations(range(len(boxes)), 2):
        if (abs(at[i] - at[j]) < half[i] + half[j] - 1).all():
            yield f"{boxes[i].name} lies on {boxes[j].name}"
    if (at - half < (left, top)).any() or (at + half > end).any():
        yield "a box leaves the frame"


def test_no_line_crosses_a_foreign_box_and_nothing_leaves_the_frame():
    """A fault in one of 20 random graphs is seen with probability .994."""
    wrong = {name: list(_wrong(_bundled(name))) for name in NETWORKS}
    wrong |= {seed: list(_wrong(_random(seed))) for seed in range(100)}
    assert {name: said for name, said in wrong.items() if said} == {}


@pytest.mark.parametrize(
    ("name", "least"),
    [(name, 11) for name in ("asia", "sachs", "child", "insurance", "alarm")]
    + [(name, 8) for name in ("water", "hailfinder", "win95pts")],
)
def test_letters_can_be_read_where_run_draws_a_graph(name, least):
    """In a window of 1440 pixels with its sidebar: half of the rest, or all of it."""
    shown = _bundled(name)
    half = len(shown.boxes) <= graphs.LARGE
    wide, high = (500, graphs.HIGH) if half else (1030, graphs.HIGHEST)
    font = float(re.findall(r"font: \{size: (\d+)", render_graph(shown))[0])
    assert font * min(wide / shown.frame[2], high / shown.frame[3]) >= least


def test_long_names_stand_in_two_lines_which_are_cut():
    """Sixty characters and more, with and without spaces, in a graph with a long line."""
    names = [*LONG, "x" * 60, "short"]
    edges = [*pairwise(names), (names[0], names[-1]), (names[1], names[6])]
    shown = view(names, [Link(a, b, True) for a, b in edges], edges)
    assert list(_wrong(shown)) == []
    assert [len(box.lines) for box in shown.boxes.values()] == [2] * 7 + [1]
    assert all(box.lines[1].endswith("…") for box in list(shown.boxes.values())[:6])
    drawn = graph_svg(shown, alt="")
    assert all(f"<title>{name}</title>" in drawn for name in names[:7])  # the whole name on hover


def test_small_graphs_stand_in_layers():
    """Causes above effects, and a node in the middle below its two causes."""
    edges = [*((f"{k}", "both") for k in (1, 2)), ("both", "last")]
    at = {n: b.at for n, b in view(["1", "2", "both", "last"], [], edges).boxes.items()}
    assert all(at[cause][1] < at[effect][1] for cause, effect in edges)
    assert at["both"][0] == pytest.approx((at["1"][0] + at["2"][0]) / 2)


@pytest.mark.parametrize("edges", [[], [("a", "b"), ("b", "a")]])
def test_a_graph_without_edges_or_with_a_cycle_can_be_laid_out(edges):
    assert list(_wrong(view("abc", [], edges))) == []
    assert view("a", [], []).boxes["a"].at == (0, 0)


# The same on every surface ---------------------------------------------------------------

MARGINS = {"width": 8, "height": 6}  # pixels, as vis-network has them from the page
RUNS = [
    ("asia", "marginal_pc", {"epsilon": 1.0}), ("asia", "priv_pc", {"epsilon": 0.3}),
    ("asia", "pc", {}), ("cancer", "priv_pc", {"epsilon": 5.0}), ("survey", "pc", {}),
    ("sachs", "marginal_pc", {"epsilon": 1.0}), ("child", "marginal_pc", {"epsilon": 10.0}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "algorithm", "params"), RUNS)
def test_page_files_and_scene_draw_the_same_graph(name, algorithm, params):
    data = load_dataset(name, n=2000)
    result = run(algorithm, data, seed=1, **params)
    links = found_links(result, waiting=few_untested(result))
    shown = graph_view(data, links, result)
    assert list(_wrong(shown)) == []
    page = render_graph(shown)
    nodes, edges = (
        json.loads(re.search(rf"const {what} = new vis.DataSet\((.*)\);", page)[1])
        for what in ("nodes", "edges")
    )
    svg = graph_svg(shown, alt="")
    number = r'="([-\d.]+)"'
    rects = re.findall(rf"<rect x{number} y{number} width{number} height{number}", svg)
    scene = graph_content(data)["layouts"]["wide"]
    scale = np.abs([n["x"] for n in nodes]).max() / np.abs([x for x, _ in scene["at"]]).max()
    for node, rect, at, size, lines in zip(
        nodes, rects, scene["at"], scene["sizes"], scene["lines"], strict=True
    ):
        x, y, width, height = map(float, rect)
        assert [x + width / 2, y + height / 2] == pytest.approx([node["x"], node["y"]], abs=0.2)
        assert np.multiply(at, scale) == pytest.approx([node["x"], node["y"]], abs=0.2)
        boxes = (
            [width, height],
            [node[f"{k}Constraint"]["minimum"] + 2 * side for k, side in MARGINS.items()],
        )
        assert all(box == pytest.approx(size, abs=0.1) for box in boxes)
        assert node["label"].split("\n") == lines
        assert all(f">{line}</text>" in svg for line in lines)
    pairs = list(combinations(range(data.d), 2))
    told = {
        (int(e["from"]), int(e["to"])): (e["smooth"] and e["smooth"]["roundness"]) for e in edges
    }
    assert len(told) == len(links) == len(re.findall(r'd="M[^"]*Q', svg))
    if scale == pytest.approx(1.0, abs=1e-3):  # else boxes moved apart for what the run found
        assert told == {p: abs(b) for p, b in zip(pairs, scene["bows"], strict=True) if p in told}
    heads = [
        tip for e in edges for tip in ("to", "from") if e["arrows"].get(tip, {}).get("enabled")
    ]
    assert len(heads) == sum(link.arrow for link in links)


def test_missed_edges_are_drawn_and_many_untested_pairs_are_not():
    few, many = (
        run("priv_pc", load_dataset(name, n=2000), seed=0, epsilon=0.05)
        for name in ("cancer", "child")
    )
    assert few_untested(few)
    assert len(many.untested) > MOST_UNTESTED
    for result in (few, many):
        kinds = [link.kind for link in found_links(result, waiting=few_untested(result))]
        drawn = LinkClass.UNTESTED in kinds
        assert drawn == (0 < len(result.untested) <= MOST_UNTESTED)
        assert kinds.count(LinkClass.MISSED) == list(result.classes.values()).count(
            LinkClass.MISSED
        )


@pytest.mark.parametrize("across", [10, 20])
def test_a_hundred_icons_lie_in_their_picture_and_as_many_are_filled_as_it_says(across):
    drawn = people_svg(74, "red", "blue", "grey", across=across, alt="")
    box = map(float, re.search(r'viewBox="([^"]+)"', drawn)[1].split())
    left, top, width, height = box
    heads = {tuple(map(float, at)) for at in re.findall(r'cx="([^"]+)" cy="([^"]+)"', drawn)}
    x, y = np.array(sorted(heads)).T
    assert len(heads) == 100
    assert left < x.min() < x.max() < left + width < x.max() + width / across
    assert top < y.min() < y.max() < top + height < y.max() + height * across / 100
    assert [drawn.count(f'fill="{ink}"') for ink in ("red", "blue", "none")] == [100, 48, 52]
