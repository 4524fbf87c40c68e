"""The Report page: its words are the engine's numbers, and its files hold nothing they must not."""

import html
import io
import json
import re
import zipfile
from dataclasses import replace
from itertools import permutations

import networkx as nx
import pytest
from pypdf import PdfReader

from engine import Dataset, load_dataset, run
from engine.data.networks import plain_names
from engine.graphs.links import LinkClass
from engine.request import Request, Source
from engine.studies.price import loss_steps
from pages.draw.price import said
from pages.forms import count_for
from pages.report import brief as report
from pages.report import files as report_files
from pages.report import repeats, view, words, work
from pages.report.brief import Heading, brief_of
from pages.report.repeats import Repeats
from pages.report.work import Repetition
from pages.shell.runs import Shown
from pages.shell.task import Task
from pages.worker import Reporter
from tests.ui.steps import address, press

WILD = ("<b>x</b>", 'say "hi" & bye', "two\nlines", "$x^2$", "</svg><script>alert(1)</script>")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr("pages.report.work.REPETITIONS", 12)


def shown_of(name, key, n, seed=0, **values):
    """A run on a bundled network, as pages have it."""
    data = load_dataset(name, n=n)
    result = run(key, data, seed=seed, **values)
    return Shown(Request(Source(name, n), key, values, seed), data, result)


def brief(run, theme="light", **lines):
    """The report without repetitions."""
    return brief_of(run, None, Heading(**lines), theme)


def body(app):
    return next(h.value for h in app.get("html") if 'class="report"' in h.value)


def words_of(pdf):
    """What a reader of the PDF reads, however its lines are broken."""
    return joined(" ".join(page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages))


def joined(said):
    """Words without the places where a line ends or a word is parted."""
    return "".join(said.replace("\xad", "").split()).replace("-", "")


def test_page_html_pdf_slides_and_zip_say_the_same(open_app):
    question = "Does <lung cancer> cause #an X-ray shadow?"
    lines = {"question": question, "author": "Dr. *A*", "date": "1 May 2026"}
    asked = {f"report.{name}": line for name, line in lines.items()}
    app = open_app("report", data="asia", n="5000", epsilon="1", **asked)
    shown = app.session_state["shown"][False]
    found, nothing = repeats.repeats_of(shown), count_for(shown)
    assert found is not None
    nothing.wait(60)
    app.run()
    made = brief_of(shown, found, Heading(**lines), "light")
    told = [made.first, *made.further, made.headline, made.promise.terms, *made.limits]
    told += [*made.details, made.curve_title, made.curve_note, *lines.values()]
    told += [f"{step.found}{said(step)}" for step in made.steps]
    told += [f"{e.name} {e.number}{e.more}" for e in made.legend]
    assert "of 12 repetitions" in made.first
    assert made.sure.startswith("At ε = 1, ")
    # known, three searches without noise, this run
    every, best, _, bounded, now = (step.found for step in made.steps)
    lost = [bounded - now, bounded] if now < bounded else [now, every]
    numbers = [best, every, bounded, now, *lost]
    assert list(map(int, re.findall(r"\d+", made.took + made.lost))) == numbers
    with zipfile.ZipFile(io.BytesIO(report_files.archive(shown, made))) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    page = files["report.html"].decode()
    forms = {
        "screen": text_of(body(app)),
        "html": text_of(page.split("<body>")[1].split('<div id="scene">')[0]),
        "pdf": words_of(files["report.pdf"]),
        "slides": words_of(files["slides.pdf"]),
    }
    for form, read in forms.items():
        missing = [line for line in told if joined(line) not in read]
        assert not missing, (form, missing)
        at = [read.index(joined(line)) for line in (made.first, *made.further)]
        assert at == sorted(at), form
    first = joined(PdfReader(io.BytesIO(files["slides.pdf"])).pages[0].extract_text())
    assert all(joined(line) in first for line in (made.first, *made.further))
    pages = [len(PdfReader(io.BytesIO(files[f"{f}.pdf"])).pages) for f in ("report", "slides")]
    assert pages == [1, 6]
    counts = json.loads(files["result.json"])["counts"]
    assert (counts["true"], counts["found"]) == (every, now)
    assert f"{now} of 8 true" in made.headline
    assert address(app)["report.question"] == question


def text_of(page):
    """What a reader of the HTML reads."""
    return joined(html.unescape(re.sub(r"<[^>]+>", "", page)))


ASIA = (
    ("Does smoking cause bronchitis?", "smoke", "bronc"),
    ("Is TB or cancer a cause of breathlessness?", "either", "dysp"),
    ("Does lung cancer cause an X-ray shadow?", "lung", "xray"),
    ("Does a visit to Asia lead to breathlessness?", "asia", "dysp"),
    ("How much does tub act on xray?", "tub", "xray"),
    ("Does an X-ray shadow cause lung cancer?", "xray", "lung"),
    ("Is smoking caused by bronchitis?", "bronc", "smoke"),
    ("Is a visit to Asia linked to smoking?", "asia", "smoke"),
    ("Does bronchitis depend on tuberculosis?", "tub", "bronc"),
    ("Does lung cancr cause breathlesness?", "lung", "dysp"),
)
CHILD = (
    ("Does lung tissue cause what a chest X-ray shows?", "LungParench", "ChestXray"),
    ("Does mixed blood act on oxygen right arm?", "CardiacMixing", "RUQO2"),
    ("Does heart disease lead to oxygen below?", "Disease", "LowerBodyO2"),
    ("How much does Sick act on GruntingReport?", "Sick", "GruntingReport"),
    ("Is heart disease a cause of duct flow?", "Disease", "DuctFlow"),
    ("Does the X-ray report cause lung flow?", "XrayReport", "LungFlow"),
    ("Is lung flow caused by chest X-ray?", "ChestXray", "LungFlow"),
    ("Is duct flow linked to the CO2Report?", "DuctFlow", "CO2Report"),
    ("Does the LVH report depend on heart disease?", "Disease", "LVHreport"),
    ("Does lung tisue cause gruntng?", "LungParench", "Grunting"),
)
NO_PAIR = ("", "Why?", "May the registry publish this?", "Does smoking cause baldness?",
           "Do smoking and asia cause bronchitis?")  # fmt: skip


def expected_answer(links, untested, cause, outcome):
    """The answer's verdict by the links that are drawn, with networkx."""
    drawn = [k for k in links if k.kind not in (LinkClass.MISSED, LinkClass.UNTESTED)]
    graphs = {name: nx.DiGraph() for name in ("directed", "drawn", "open")}
    for graph in graphs.values():
        graph.add_nodes_from((cause, outcome))
    for k in drawn:
        for name in graphs if k.arrow else ("drawn", "open"):
            graphs[name].add_edges_from([(k.a, k.b)] if k.arrow else [(k.a, k.b), (k.b, k.a)])
    graphs["open"].add_edges_from([(a, b) for pair in untested for a, b in permutations(pair)])
    if nx.has_path(graphs["directed"], cause, outcome):
        direct = nx.shortest_path_length(graphs["directed"], cause, outcome) == 1
        return ": yes, directly" if direct else ": yes, through "
    if nx.has_path(graphs["directed"], outcome, cause):
        return ": no, the path leads from "
    if nx.has_path(graphs["drawn"], cause, outcome):
        return ": open, because an edge on this path has no direction"
    if nx.has_path(graphs["open"], cause, outcome):
        return ": open, because a pair on this path was not fully tested"
    return ": no, no path leads from the first to the second"


def test_ten_questions_are_answered_by_the_paths_of_the_drawn_graph():
    """In three runs, and alike on the page and in each file."""
    verdicts = set()
    for network, key, questions in (
        ("asia", "marginal_pc", ASIA),
        ("asia", "priv_pc", ASIA),
        ("child", "marginal_pc", CHILD),
    ):
        shown = shown_of(network, key, 20_000, epsilon=1.0)
        links, titles = report.links(shown.data, shown.result), report.titles_of(shown.data)
        for question, cause, outcome in questions:
            made = brief(shown, question=question)
            assert Heading(question=question).asked(titles) == (cause, outcome)
            wanted = expected_answer(links, shown.result.untested_pairs, cause, outcome)
            assert wanted in made.answer, (network, key, question)
            verdicts.add(wanted)
            truly = nx.has_path(shown.data.truth, cause, outcome)
            assert made.answer.endswith(f"The true graph says {'yes' if truly else 'no'}.")
            assert bool(made.effect) == (key == "marginal_pc")
            assert titles[outcome] in made.effect or key == "priv_pc"
        texts = [text_of(view.body(made, "light", inline=False)), joined(html.unescape(
            re.sub(r"<[^>]+>", "", report_files.page(shown, made)))),
            *(words_of(report_files.pdf(made, kind)) for kind in ("page", "slides"))]  # fmt: skip
        assert all(joined(line) in text for text in texts for line in (made.first, *made.further))
    assert len(verdicts) == 6
    for question in NO_PAIR:
        made = brief(shown, question=question)
        assert (made.answer, made.first) == ("", made.headline)


def test_cause_and_outcome_are_two_menus_that_a_sentence_fills(open_app, monkeypatch):
    """The menus win until another sentence is typed; without a pair some are offered."""
    monkeypatch.setattr(work, "REPETITIONS", 1)
    monkeypatch.setattr(work, "POINTS", 1)
    app = open_app("report", data="asia", n="20000", algorithm="marginal_pc")
    menus = [app.selectbox(key=f"report-{name}") for name in ("cause", "outcome")]
    assert [menu.value for menu in menus] == ["", ""]
    press(app, "report-example-0")
    assert ": yes, " in body(app)

    def typed(question):
        app.text_input(key="report-question").set_value(question).run()
        return [app.selectbox(key=f"report-{name}").value for name in ("cause", "outcome")]

    assert typed("Is bronchitis caused by smoking?") == ["smoke", "bronc"]
    assert "if Smoking were" in body(app)
    app.selectbox(key="report-outcome").set_value("dysp").run()
    assert "moking were yes for everyone, Breathlessness" in body(app)
    assert (address(app)["report.cause"], address(app)["report.outcome"]) == ("smoke", "dysp")
    assert typed("Does lung cancer cause an X-ray shadow?") == ["lung", "xray"]
    assert typed("May we publish this?") == ["", ""]
    assert "link" in body(app).split("</h2>")[0]


def test_a_slide_of_a_large_graph_draws_what_the_question_is_about():
    one, names = shown_of("alarm", "pc", 5_000), {"CO", "BP"}
    part = brief(one, question="Does CO act on BP?").part
    names |= {name for link in one.result.skeleton if {*link} & {"CO", "BP"} for name in link}
    boxes = set(re.findall(r"<text[^>]*>([^<]+)</text>", part.svg))
    assert 2 < len(boxes) <= 10
    assert {"Cardiac output", "Blood pressure"} <= boxes
    assert boxes >= set(plain_names("alarm", sorted(names)))
    assert brief(one, question="Which?").part is None


def test_what_is_shown_before_the_end_says_how_much_of_it_there_is(monkeypatch):
    shown = shown_of("cancer", "priv_pc", 2000)
    parts = []
    work.repeat(Reporter(part=parts.append), shown.request, shown.data)
    so_far = Repeats(Task("", (), parts=parts[:8]))
    made = brief_of(shown, so_far, Heading(), "light")
    assert "7 of 12 repetitions" in made.sure
    assert "0 of 3 points are drawn" in made.curve_note
    assert "7 repetitions have it" in made.note
    assert made.further == (made.sure, made.took, made.promise.sentence)
    asked = Heading(question="Does smoking cause lung cancer?")
    assert "of 7 repetitions so far" in brief_of(shown, so_far, asked, "light").answer


def test_repetitions_of_the_same_answer_are_counted():
    """Two of three have the run's own graph; one has no edge, and another answer."""
    shown = shown_of("asia", "marginal_pc", 20_000, epsilon=1.0)
    own, counts = shown.result.displayed_cpdag, shown.result.counts
    made = [Repetition(counts, graph, frozenset()) for graph in (own, own, own & False)]
    work_of = Repeats(Task("", (), parts=made))
    for question in ("Does lung cancer cause an X-ray shadow?", "Does xray act on lung?"):
        found = brief_of(shown, work_of, Heading(question=question), "light")
        assert ", in 2 of 3 repetitions so far." in found.answer
        assert found.same == "2 of 3 repetitions so far give this answer"
        assert found.further[0] == found.effect


def test_a_link_is_as_thick_as_it_is_stable():
    shown = shown_of("asia", "priv_pc", 5000)
    data, result = shown.data, shown.result
    runs = [run("priv_pc", data, seed=seed) for seed in range(25)]
    made = [Repetition(r.counts, r.displayed_cpdag, r.untested) for r in runs]
    drawn = report.stable(report.links(data, result), result, made)
    for link in drawn:
        held = sum(frozenset((link.a, link.b)) in r.skeleton - r.untested_pairs for r in runs)
        if link.kind in (LinkClass.MISSED, LinkClass.UNTESTED):
            assert link.width is None
        else:
            assert link.note == f"In {held} of 25 repetitions"
            assert link.width == pytest.approx(1.4 + 5.6 * held / 25, abs=0.01)
    assert len({k.width for k in drawn}) > 2


def test_the_page_stays_one_and_the_slides_five_whatever_is_on_them():
    lines = {"question": "Who? " * 32, "author": "A. " * 26, "date": "W" * 40}
    made = brief(shown_of("alarm", "priv_pc", 2000, epsilon=0.5), **lines)
    made = replace(made, limits=("What nobody knows. " * 20,) * 6)
    for pdf, pages in ((report_files.pdf(made, "page"), 1), (report_files.pdf(made, "slides"), 5)):
        assert len(PdfReader(io.BytesIO(pdf)).pages) == pages
        assert joined("What nobody knows. " * 20) in words_of(pdf)


def own_run():
    sample = load_dataset("asia", n=400)
    names = (*WILD, *sample.names[len(WILD) :])
    data = Dataset.from_codes(sample.codes, names, name="mine <i>.csv")
    source = Source("own", 0, 0, data.fingerprint)
    result = run("priv_pc", data, seed=58264917, epsilon=50.0)
    return Shown(Request(source, "priv_pc", {"epsilon": 50.0}, None), data, result)


def test_own_data_get_no_score_no_repetition_and_no_seed():
    """And the file opens offline, with their names as text; a PDF brings its letters."""
    shown = own_run()
    assert repeats.repeats_of(shown) is None
    made = brief(shown, author="A. Person")
    page, sheet = report_files.page(shown, made), report_files.pdf(made, "page")
    for no in ("known link", "invented", "of 12 repetitions", "<script", "<b>x</b>"):
        assert no not in page
    told = [joined(page), words_of(sheet), words_of(report_files.pdf(made, "slides"))]
    for hidden in ("58264917", shown.data.fingerprint, "mine <i>.csv", "mine &lt;i&gt;.csv", "F1"):
        assert not any(joined(hidden) in words for words in told), hidden
    assert "each repetition would be charged to the budget" in page
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert "&lt;/svg&gt;&lt;script&gt;" in page
    # Namespaces are names, not addresses that anything is fetched from.
    assert not re.findall(r"(?<!xmlns=\")(?<!xmlns:xlink=\")https?://[^\s\"'<]+", page)
    assert page.count("<svg") == 2  # the graph and the hundred figures
    drawn = brief(shown, "dark").graph
    assert "<script" not in drawn.svg
    assert "$x^2$" in drawn.svg  # no mathematics is set
    assert 'aria-label="Learned graph: 8 nodes' in drawn.svg
    assert drawn.png.startswith(b"\x89PNG")
    read = PdfReader(io.BytesIO(sheet))
    fonts = [f.get_object() for f in read.pages[0]["/Resources"]["/Font"].values()]
    kinds = [f["/DescendantFonts"][0].get_object()["/FontDescriptor"] for f in fonts]
    assert all("/FontFile2" in kind or "/FontFile3" in kind for kind in kinds)
    assert "SourceSansPro" in str([f["/BaseFont"] for f in fonts])
    assert (read.metadata.author, read.metadata.creation_date) == ("A. Person", None)


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("pc", {}),
        ("priv_pc", {"epsilon": 100.0}),
        ("priv_pc", {"guarantee": "published"}),
        ("curate_pc", {"guarantee": "published", "epsilon": 20.0}),
    ],
)
def test_a_promise_that_protects_nobody_is_red_and_says_so(key, values):
    shown = shown_of("cancer", key, 2000, **values)
    for theme, red in (("light", "#a8321f"), ("dark", "#ff9580")):
        part = view.body(brief(shown, theme), theme, inline=True).split('class="promise">')[1]
        assert part.split("</figure>")[0].count(f'fill="{red}"') == 200  # a hundred, all of them
        assert f"color:{red}" in part
        top = view.body(brief(shown, theme), theme, inline=True).split("<figure>")[0]
        assert "No guarantee: " in top


def test_why_a_pair_was_not_tested_to_the_end_is_told():
    shown = shown_of("asia", "priv_pc", 20_000, 1)
    for status, why in ((shown.result.status, "The budget was"), ("cancelled", "The run was stop")):
        assert why in str(words.limits(shown.data, replace(shown.result, status=status)))


def test_a_simulated_model_is_no_published_network_and_a_weight_no_sureness():
    made = brief(shown_of("sem:er:5:6:gaussian", "gram_notears", 3000, 1, epsilon=5.0))
    assert "drawn from a simulated linear model “SEM" in made.limits[0]
    assert made.note == "Line width shows the size of the edge's weight in the linear model."


def test_a_run_without_privacy_says_so_and_has_the_steps_of_the_run_page_and_no_curve():
    """Nothing is repeated there, which would have counted them."""
    shown = shown_of("cancer", "pc", 2000)
    assert repeats.repeats_of(shown) is None
    made = brief(shown)
    assert made.curve is None
    assert made.headline.startswith("Without privacy: ")
    assert "the data were read without noise" in made.promise.sentence
    assert len(made.steps) == 2 + len(loss_steps(shown.data, "pc", shown.result.params)) == 4
