"""Every count of one run, read from each page and file that tells it: all are the engine's."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from engine import ALGORITHMS, Dataset, RunResult, load_dataset, run
from engine.cli.run import summary
from engine.graphs.metrics import EdgeClass
from engine.serialise import result_dict
from engine.studies.bundle import bundle
from engine.studies.scene import ABSENT, BACK, FORTH, LINE, UNTESTED
from pages.draw.links import Link, doubtful, found_links
from pages.draw.picture import graph_picture
from pages.learn import search
from pages.report import brief as report
from pages.report import repeats
from pages.run import trace
from pages.shell import words as text

Query = dict[str, str]
# The first: everything is left open. The second: something of everything but what is claimed. The
# third: nothing is left open, and arrows are turned.
RUNS: dict[str, Query] = {
    "child": {"data": "child", "algorithm": "curate_pc", "guarantee": "published", "epsilon": "20"},
    "open": {"data": "asia", "n": "20000", "epsilon": "1", "seed": "1"},
    "turned": {"data": "asia", "n": "100000"},
}
Seen = dict[str, int]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "REPETITIONS", 2)
    monkeypatch.setattr(repeats, "SECONDS", 0.1)
    monkeypatch.setattr(repeats, "PATIENCE", 60.0)


@pytest.fixture(params=RUNS)
def case(request: pytest.FixtureRequest) -> Query:
    return RUNS[request.param]


def told(result: RunResult) -> Seen:
    """The engine's counts under the names used below."""
    counts = result.counts
    assert counts is not None
    return vars(counts) | {"right": counts.found - counts.turned - counts.claimed}


def agree(seen: Mapping[str, int], truth: Seen) -> None:
    assert seen
    assert seen == {name: truth[name] for name in seen}


def html(app: AppTest, sign: str) -> str:
    return next(str(h.value) for h in app.get("html") if sign in str(h.value))


def sentence(words: str) -> Seen:
    """The headline's counts; what it leaves out is none."""
    found = re.search(r"(\d+) of (\d+) true links? found, (\d+) invented", words)
    assert found
    more = re.search(r"(\d+) more pairs? w\w+ not tested to the end \((\d+) of them", words)
    ways = r"Of those found, (?:(\d+) points? another way)?(?:, and )?(?:(\d+) lack)?"
    turned = sum(int(n or 0) for m in re.finditer(ways, words) for n in m.groups())
    claimed = re.search(r"(\d+) carr\w+ (?:a )?direction", words)
    values = [*found.groups(), *(more.groups() if more else (0, 0))]
    values += [turned, claimed[1] if claimed else 0]
    names = ("found", "true", "invented", "untested", "untested_true", "turned", "claimed")
    return dict(zip(names, map(int, values), strict=True))


CLASS = {
    "right": "correct",
    "claimed": "direction claimed",
    "turned": "wrong direction",
    "invented": "extra",
    "missed": "missed",
    "untested": "not tested",
}


def legend(words: str) -> Seen:
    """The legend's counts; a class that is left out has none."""
    shown = {n: re.search(rf"{text.CLASSES[c]} <b>([\d,]+)</b>", words) for n, c in CLASS.items()}
    return {n: int(m[1].replace(",", "")) if m else 0 for n, m in shown.items()}


def classes(links: list[Link]) -> Seen:
    """The counts of the links that a picture is drawn from."""
    drawn = Counter(link.kind for link in links)
    return {n: drawn[EdgeClass(c)] for n, c in CLASS.items()}


def price(bars: str) -> Seen:
    """The counts of the bars of where the links go: the first and this run's."""
    found = re.findall(r"<b>(\d+)</b>.*?</span><span>(.*?)<", bars)
    lines = {words: int(n) for n, words in found}
    mine = next(words for words in lines if "this result" in words)
    seen: Seen = {"true": lines["known links"], "found": lines[mine]}
    for name, words in (("invented", "invented"), ("untested", "pairs? not tested")):
        said = re.search(rf"([\d,]+) {words}", mine)
        seen[name] = int(said[1]) if said else 0
    return seen


def test_run_tells_the_engines_counts(open_app: Callable[..., AppTest], case: Query) -> None:
    app = open_app(**case)
    shown = app.session_state["shown"]
    truth, scores = told(shown.result), shown.result.metrics_tested
    agree(sentence(html(app, 'class="headline"')), truth)
    agree(legend(html(app, 'class="legend"')), truth)
    tiles = {m.label: m.value for m in app.metric}
    assert tiles["Links found (recall)"] == f"{truth['found'] / truth['true']:.2f}"
    learned = truth["found"] + truth["invented"]
    share = f"{truth['found'] / learned:.2f}" if learned else "–"
    assert tiles["Real among the learned (precision)"] == share
    assert tiles["Both in one number (skeleton F1)"] == f"{scores.skeleton_f1:.2f}"
    assert tiles["Pairs that differ (SHD)"] == str(scores.shd)
    whole = [c.value for c in app.caption if "not tested to the end as links" in c.value]
    assert len(whole) == bool(truth["untested"])
    assert all(f"recall {shown.result.metrics.recall:.2f}" in words for words in whole)
    bars = html(app, 'class="price"')
    agree(price(bars), truth)
    frame = app.get("iframe")[1].proto.srcdoc
    assert frame.count('"arrows"') == learned + truth["untested"]
    table = Counter(trace.edges_table(shown.data, shown.result)["Class"])
    agree({n: table[text.CLASSES[c]] for n, c in CLASS.items()}, truth)


def test_report_tells_the_engines_counts(open_app: Callable[..., AppTest], case: Query) -> None:
    app = open_app("report", **case)
    shown = app.session_state["shown"]
    truth, body = told(shown.result), html(app, 'class="report"')
    said = re.search(r"(\d+) of (\d+) known links? (?:are|is) found; (\d+) of those", body)
    assert said
    agree(dict(zip(("found", "true", "invented"), map(int, said.groups()), strict=True)), truth)
    agree(legend(body), truth)
    agree(classes(report.links(shown.data, shown.result)), truth)
    if truth["found"]:
        right = re.search(r"of the (\d+) known links? found, (\d+) ha", body)
        assert right
        agree({"found": int(right[1]), "right": int(right[2])}, truth)


def test_compare_tells_the_engines_counts(open_app: Callable[..., AppTest], case: Query) -> None:
    app = open_app("compare", **case)
    result = app.session_state["shown"].result
    truth = told(result)
    agree(legend(html(app, 'class="legend"')), truth)
    table = next(d.value for d in app.dataframe if "Score" in d.value).set_index("Score")
    column = table.iloc[:, 0]
    found, true = map(int, column["True links found"].split(" of "))
    seen = {"found": found, "true": true, "invented": int(column["Invented"])}
    agree(seen | {"untested": int(column["Not tested to the end"])}, truth)
    assert int(column["Links in the result"]) == truth["found"] + truth["invented"]
    assert column["Recall"] == f"{truth['found'] / truth['true']:.2f}"
    assert column["F1 with those as links"] == f"{result.metrics.skeleton_f1:.2f}"
    frame = app.get("iframe")[0].proto.srcdoc
    drawn = truth["found"] + truth["invented"] + truth["untested"] + truth["missed"]
    assert frame.count('"arrows"') == drawn


def test_learn_plays_the_same_run_to_the_same_counts(
    open_app: Callable[..., AppTest], case: Query
) -> None:
    app = open_app(**case)
    truth = told(app.session_state["shown"].result)
    app.session_state["learn-tests"] = search.SHOWN
    app.query_params.clear()
    app.query_params["step"] = "search"
    app.switch_page("pages/learn/page.py").run()
    assert not app.exception
    agree(sentence(next(c.value for c in app.caption if "In the end: " in c.value)), truth)
    held = json.loads(app.get("bidi_component")[-1].proto.json)
    ends = Counter(held["end"])
    assert sum(ends[s] for s in (LINE, FORTH, BACK)) == truth["found"] + truth["invented"]
    assert ends[UNTESTED] == truth["untested"]
    run_of, strip = app.session_state["shown"], strip_of(app)
    for told_of in (text.dataset_title(run_of.data), f"n = {run_of.data.n:,}"):
        assert told_of in strip
    assert ALGORITHMS[run_of.result.algorithm].title in strip
    app.segmented_control(key="learn-tests").set_value(search.PERFECT).run()
    assert "Asia" in strip_of(app)
    assert "n = 20,000" in strip_of(app)
    app.segmented_control(key="learn-tests").set_value(search.SHOWN).run()
    app.query_params["step"] = "draws"
    app.run()
    assert "n = 20,000" in strip_of(app)


def strip_of(app: AppTest) -> str:
    """The strip's HTML."""
    return next(e.value for e in app.get("html") if "<h1" in e.value)


def test_files_tell_the_engines_counts(case: Query) -> None:
    given: dict[str, Any] = {k: case[k] for k in ("guarantee",) if k in case}
    given["epsilon"] = float(case.get("epsilon", "1"))
    data = load_dataset(case["data"], n=int(case.get("n", "100000")))
    seed = int(case.get("seed", "0"))
    result = run(case.get("algorithm", "priv_pc"), data, seed=seed, **given)
    truth, record = told(result), result_dict(result)
    agree(record["counts"], truth)
    assert record["metrics"]["recall"] == result.metrics.recall  # type: ignore[union-attr]
    assert record["metrics_tested"]["recall"] == truth["found"] / truth["true"]
    with zipfile.ZipFile(io.BytesIO(bundle(data, result, 0))) as archive:
        rows = list(csv.DictReader(io.StringIO(archive.read("edges.csv").decode())))
        scores = json.loads(archive.read("metrics.json"))
        drawn = archive.read("graph.dot").decode()
    marks = Counter(row["mark"] for row in rows)
    assert marks["?"] == truth["untested"]
    assert marks["->"] + marks["--"] == truth["found"] + truth["invented"] == drawn.count(" -> ")
    agree(scores["counts"], truth)
    lines = summary(result)
    if truth["untested"]:
        assert f"  {truth['untested']} pairs not tested to the end" in lines
    assert f"recall {truth['found'] / truth['true']:.3f}" in lines


# What is drawn -----------------------------------------------------------------------------


def reversed_run() -> tuple[Dataset, RunResult]:
    """Asia's default run: it turns an arrow."""
    data = load_dataset("asia", n=100_000)
    result = run("priv_pc", data, seed=0)
    assert EdgeClass.WRONG_DIRECTION in result.classes.values()
    return data, result


def test_a_reversed_arrow_is_painted_as_found_in_no_picture() -> None:
    data, result = reversed_run()
    turned = {
        frozenset((data.names[i], data.names[j]))
        for (i, j), kind in result.classes.items()
        if kind is EdgeClass.WRONG_DIRECTION
    }
    for drawn in (report.links(data, result), found_links(result, missed=True)):
        kinds = {frozenset((k.a, k.b)): k.kind for k in drawn}
        assert {kinds[pair] for pair in turned} == {EdgeClass.WRONG_DIRECTION}


def test_its_sign_is_on_the_still_picture_too() -> None:
    at = {"a": (0.0, 0.0), "b": (300.0, 0.0)}

    def drawn(kind: EdgeClass) -> str:
        link = Link("a", "b", True, kind)
        return graph_picture(("a", "b"), [link], at, alt="x").svg

    assert drawn(EdgeClass.WRONG_DIRECTION).count("<path") > drawn(EdgeClass.CORRECT).count("<path")
    assert "<circle" in drawn(EdgeClass.CLAIMED)


def test_an_arrow_in_doubt_is_a_line_where_a_search_ends_too() -> None:
    data = load_dataset("survey", n=20_000)
    result = run("marginal_pc", data, epsilon=0.3)
    assert doubtful(result)
    ends = dict(
        zip(combinations(data.names, 2), search.played_back(data, result)["end"], strict=True)
    )
    drawn = {tuple(sorted((k.a, k.b), key=data.names.index)): k for k in found_links(result)}
    assert {pair for pair, state in ends.items() if state != ABSENT} == set(drawn)
    for pair, link in drawn.items():
        assert ends[pair] == ((FORTH if pair == (link.a, link.b) else BACK) if link.arrow else LINE)
    assert all(ends[tuple(sorted(p, key=data.names.index))] == LINE for p in doubtful(result))


def test_what_was_not_tested_never_has_an_arrow() -> None:
    data = load_dataset("asia", n=20_000)
    result = run("priv_pc", data, seed=1, epsilon=1.0)
    i, j = next(iter(result.untested))
    matrix = result.matrix.copy()
    matrix[i, j], matrix[j, i] = True, False  # whatever an algorithm says of its direction
    result = replace(result, matrix=matrix)
    drawn = {frozenset((k.a, k.b)): k for k in found_links(result, waiting=True)}
    link = drawn[frozenset((data.names[i], data.names[j]))]
    assert link.kind is EdgeClass.UNTESTED
    assert not link.arrow
    assert frozenset((link.a, link.b)) not in {
        frozenset((k.a, k.b)) for k in found_links(result, waiting=False)
    }
    edges = trace.edges_table(data, result).set_index("Pair")["Learned"]
    assert edges[f"{data.names[i]} – {data.names[j]}"] == "not tested to the end"
