"""One run on every surface: pages, pictures, files and JSON have its counts, words and marks."""

import base64
import io
import json
import re
from collections import Counter
from dataclasses import replace
from html import unescape

import pypdf
import pytest

from engine.graphs import links
from engine.graphs.links import MARKS, LinkClass
from engine.graphs.metrics import count
from engine.serialise import result_dict
from engine.studies.scenes import ABSENT, UNTESTED
from engine.summary import NOTHING, arrows_words
from pages.draw import scene
from pages.draw.price import price_html
from pages.learn import search
from pages.report import brief, files
from pages.run import more, trace

ENDED, PUBLISHED = "budget_exhausted", {"guarantee": "published"}
ASIA = {"data": "asia", "n": "20000"}
CANCER = {"data": "cancer", "n": "20000", "epsilon": "0.02"}
# Two networks, three algorithms, both guarantees; arrows in doubt, nothing found, ended early.
RUNS = {
    "doubt": ({**ASIA, "algorithm": "marginal_pc", "epsilon": "0.3"}, lambda r: r.low_confidence),
    "early": ({**ASIA, "epsilon": "1", "seed": "1"}, lambda r: r.status == ENDED),
    "published": ({**ASIA, **PUBLISHED}, lambda r: r.summary().promise.level == NOTHING),
    "open": ({**ASIA, **PUBLISHED, "algorithm": "curate_pc"}, lambda r: r.status == ENDED),
    "nothing": ({**CANCER, "algorithm": "marginal_pc"}, lambda r: not r.skeleton),
    "false": ({**CANCER, "algorithm": "curate_pc"}, lambda r: r.counts and r.counts.invented),
}


def counts_of(result):
    """How many pairs of each class the run has: the one source of this test."""
    return Counter(result.classes.values())


def html(app, sign):
    return unescape(next(str(h.value) for h in app.get("html") if sign in str(h.value)))


def legend_agrees(words, result):
    """A legend has the table's words with the run's counts; what it leaves out is none."""
    counts = counts_of(result)
    for kind in LinkClass:
        said = re.search(rf"{re.escape(MARKS[kind].word)} <b>([\d,]+)</b>", words)
        assert (int(said[1]) if said else 0) == counts[kind], kind


def picture_agrees(svg, result):
    """A still picture has a line for each pair, in its class's ink and dash, and its sign."""
    seen = Counter(re.findall(r'<path d="M[^"]*Q[^"]*" fill="none" stroke="([^"]*)"[^>]*?>', svg))
    dashes = Counter(re.findall(r'stroke-dasharray="([\d ]+)"', svg))
    inks = Counter()
    dashed = Counter()
    for kind, number in counts_of(result).items():
        inks[MARKS[kind].light] += number
        if MARKS[kind].dash:
            dashed[" ".join(map(str, MARKS[kind].dash))] += number
    assert seen == +inks
    assert dashes == +dashed


def frame_agrees(page, result, hidden):
    """A movable picture has the class's ink, dash and sign on each of its lines."""
    edges = json.loads(re.search(r"const edges = new vis.DataSet\((\[.*?\])\);", page)[1])
    seen = Counter(
        (
            e["color"] if isinstance(e["color"], str) else e["color"]["color"],
            tuple(e["dashes"] or ()),
            e["arrows"].get("middle", {}).get("type"),
        )
        for e in edges
    )
    expected = Counter()
    for kind, number in counts_of(result).items():
        if kind not in hidden:
            expected[MARKS[kind].light, MARKS[kind].dash, MARKS[kind].marker] += number
    assert seen == +expected


def run_page(app, result):
    said = result.summary()
    top = html(app, 'class="headline"')
    assert said.headline in top
    assert said.promise.terms in top
    assert said.ended in top
    legend_agrees(html(app, 'class="legend"'), result)
    frame_agrees(app.get("iframe")[1].proto.srcdoc, result, {LinkClass.MISSED})
    shown = app.session_state["shown"]
    table = Counter(trace.edges_table(shown.data, result)["Class"])
    assert table == {MARKS[kind].word: n for kind, n in counts_of(result).items()}
    counts = result.counts
    bars = re.findall(
        r"<b>(\d+)</b>.*?</span><span>(.*?)<", price_html(more.price_of(shown), "light")
    )
    found, last = next((int(n), words) for n, words in bars if "this result" in words)
    assert (int(bars[0][0]), found) == (counts.true, counts.found)
    wrong = MARKS[LinkClass.FALSE_POSITIVE].counted(counts.invented)
    assert (wrong in last) == bool(counts.invented)


def report_page(app, result):
    said, body = result.summary(), html(app, 'class="report"')
    assert said.headline in body
    assert said.promise.sentence in body
    assert said.promise.terms in body
    legend_agrees(body, result)
    images = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', body)
    pictures = [base64.b64decode(i).decode() for i in images]
    picture_agrees(next(p for p in pictures if "Learned graph" in p), result)
    right = re.search(r"Of the (\d+) true links? found, (\d+) ha", body)
    if result.counts is not None and result.counts.found:
        assert right
        assert (int(right[1]), int(right[2])) == (result.counts.found, result.counts.right)


def report_files(app, result):
    shown = app.session_state["shown"]
    made = brief.brief_of(shown, None, brief.Heading(question="", author="", date=""), "light")
    said = result.summary()
    for kind in (files.sheet, files.slides):
        read = pypdf.PdfReader(io.BytesIO(kind(made)))
        text = " ".join(" ".join(p.extract_text() for p in read.pages).split())
        assert said.headline in text
        assert said.promise.sentence in text
        for link, number in counts_of(result).items():
            assert f"{MARKS[link].word} {number}" in text
    page = unescape(files.page(shown, made))
    assert said.headline in page
    picture_agrees(page[page.index("<svg") : page.index("</svg>")], result)


def json_record(app, result):
    record, counts = result_dict(result)["counts"], counts_of(result)
    assert record["invented"] == counts[LinkClass.FALSE_POSITIVE]
    for kind in (LinkClass.UNTESTED, LinkClass.REVERSED, LinkClass.MISSED):
        assert record[kind.value] == counts[kind]


def learn_page(app, result):
    played = search.played_back(app.session_state["shown"].data, result)
    ends, counts = Counter(played["end"]), counts_of(result)
    assert ends[UNTESTED] == counts[LinkClass.UNTESTED]
    links = sum(n for state, n in ends.items() if state not in (ABSENT, UNTESTED))
    assert links == counts.total() - counts[LinkClass.UNTESTED] - counts[LinkClass.MISSED]


def scene_marks(app, result):
    """The browser's own drawings are given the table; no class stands in their files."""
    assert set(scene.marks_data("light")) == set(LinkClass)
    for kind, mark in scene.marks_data("dark").items():
        table = MARKS[LinkClass(kind)]
        assert (mark["ink"], mark["word"], mark["said"]) == (table.dark, table.word, table.said)
        assert mark["dash"] == (" ".join(map(str, table.dash)) or "none")
    inks = {m.light for m in MARKS.values()} | {m.dark for m in MARKS.values()}
    for name in ("scene", "search", "arrows"):
        assert not any(ink in scene.script(name) + scene.style() for ink in inks)


PAGES = {
    "run": ("run", run_page),
    "report": ("report", report_page),
    "files": ("report", report_files),
    "json": ("run", json_record),
    "learn": ("run", learn_page),
    "scene": ("run", scene_marks),
}


@pytest.mark.parametrize("name", RUNS)
def test_every_surface_tells_one_run_alike(open_app, name):
    asked, is_so = RUNS[name]
    for page in dict.fromkeys(page for page, _ in PAGES.values()):
        app = open_app(page, **asked)
        result = app.session_state["shown"].result
        assert is_so(result)
        for at, agrees in PAGES.values():
            if at == page:
                agrees(app, result)


def _learned(run, *rest):
    """The arrows as they were learned, not as they are displayed."""
    made, result = BRIEF_OF(run, *rest), run.result
    counts = count(result._classes(result.tested), result.reference_cpdag)
    said = result.summary().arrows
    return replace(made, headline=made.headline.replace(said, arrows_words(counts)))


BRIEF_OF, ENTRIES, DATA = brief.brief_of, brief.entries, links.marks_data
MISSED = {LinkClass.MISSED: replace(MARKS[LinkClass.MISSED], word="Overlooked")}
# Contradictions that are planted: where, what; and the surface and the run on which each shows.
PLANTED = {
    "word": ("pages.draw.links.MARKS", dict(MARKS) | MISSED, "run", "doubt"),
    "dash": ("pages.draw.graphs.MARKS", {k: replace(m, dash=()) for k, m in MARKS.items()},
             "run", "false"),
    "arrows": ("pages.report.brief.brief_of", _learned, "report", "doubt"),
    "count": ("pages.report.brief.entries",
              lambda *a, **o: [e._replace(number="99") for e in ENTRIES(*a, **o)],
              "files", "early"),
    "ink": ("pages.draw.scene.marks_data",
            lambda theme: {k: m | {"ink": "#000"} for k, m in DATA(theme).items()},
            "scene", "early"),
}  # fmt: skip


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_contradiction_is_seen(open_app, monkeypatch, fault):
    place, planted, surface, name = PLANTED[fault]
    page, agrees = PAGES[surface]
    monkeypatch.setattr(place, planted)
    app = open_app(page, **RUNS[name][0])
    with pytest.raises(AssertionError):
        agrees(app, app.session_state["shown"].result)


def test_what_was_not_tested_is_fainter_than_what_was_missed():
    missed, untested = MARKS[LinkClass.MISSED], MARKS[LinkClass.UNTESTED]
    assert untested.width < missed.width
    ink = [sum(mark.dash[::2]) / sum(mark.dash) for mark in (untested, missed)]
    assert ink[0] < ink[1]
    assert len({(mark.dash, mark.marker) for mark in MARKS.values()}) == len(LinkClass)
