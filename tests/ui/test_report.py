"""The Report page: its words are the engine's numbers, and its files hold nothing they must not."""

import html
import io
import json
import re
import zipfile
from dataclasses import replace

import pytest
from pypdf import PdfReader

from engine import Dataset, load_dataset, run, sweep
from engine.graphs.links import LinkClass
from engine.request import Request, Source
from engine.story.modules import plain_names
from engine.studies.price import price_steps
from pages.draw.price import said
from pages.forms import nothing_for
from pages.report import brief as report
from pages.report import files as report_files
from pages.report import repeats, view, words
from pages.report.brief import Heading, brief_of
from pages.report.repeats import Repeats
from pages.shell.runs import Shown
from pages.shell.task import Task
from tests.ui.steps import address

WILD = ("<b>x</b>", 'say "hi" & bye', "two\nlines", "$x^2$", "</svg><script>alert(1)</script>")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr("pages.report.work.REPETITIONS", 30)
    monkeypatch.setattr("pages.report.work.SECONDS", 60.0)


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
    lines = {"question": "May we <publish> #this?", "author": "Dr. *A*", "date": "1 May 2026"}
    asked = {f"report.{name}": line for name, line in lines.items()}
    app = open_app("report", data="asia", n="5000", epsilon="1", **asked)
    shown = app.session_state["shown"]
    found, nothing = repeats.repeats_of(shown), nothing_for(shown)
    assert found is not None
    nothing.wait(60)
    app.run()
    made = brief_of(shown, found, Heading(**lines), "light")
    told = [made.headline, made.spread, made.promise.sentence, made.promise.terms, *made.limits]
    told += [made.answer, *made.details]
    told += [f"{step.found}{said(step)}" for step in made.price]
    told += [f"{e.name} {e.number}{e.more}" for e in made.legend]
    told += [lines["question"], lines["author"], lines["date"]]
    assert made.spread.startswith("In ")
    assert len(made.price) == 5  # known, three searches without noise, this run
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
    assert [len(PdfReader(io.BytesIO(files[f"{f}.pdf"])).pages) for f in ("report", "slides")] == [
        1,
        6,
    ]
    counts = json.loads(files["result.json"])["counts"]
    assert (counts["true"], counts["found"]) == (made.price[0].found, made.price[-1].found)
    assert f"{counts['found']} of 8 true" in made.headline
    assert address(app)["report.question"] == lines["question"]


def text_of(page):
    """What a reader of the HTML reads."""
    return joined(html.unescape(re.sub(r"<[^>]+>", "", page)))


QUESTIONS = {
    "": "",
    "Does smoking cause bronchitis?": "“Smoking”",
    "How much does smoking affect bronchitis?": words.NO_ANSWER,
    "Does smoking cause baldness?": words.NO_ANSWER,
    "Why?": words.NO_ANSWER,
    "Is xray linked to asia?": "no direct link",
}


def test_the_typed_question_is_answered_or_not():
    data = load_dataset("asia", n=20_000)
    result = run("pc", data, statistic="g2")
    titles = dict(zip(data.names, plain_names("asia", data.names), strict=True))
    for question, answer in QUESTIONS.items():
        found = words.answer(question, data, result, titles)
        assert answer in found
        assert bool(found) == bool(question)


def test_a_slide_of_a_large_graph_draws_what_the_question_is_about():
    one, names = shown_of("alarm", "pc", 5_000), {"CO", "BP"}
    part = brief(one, question="Does CO act on BP?").part
    names |= {name for link in one.result.skeleton if {*link} & {"CO", "BP"} for name in link}
    boxes = set(re.findall(r"<text[^>]*>([^<]+)</text>", part.svg))
    assert 2 < len(boxes) <= 10
    assert {"Cardiac output", "Blood pressure"} <= boxes
    assert boxes >= set(plain_names("alarm", sorted(names)))
    assert brief(one, question="Which?").part is None


def test_a_link_is_as_thick_as_it_is_stable():
    shown = shown_of("asia", "priv_pc", 5000)
    data, result = shown.data, shown.result
    made = list(sweep(data, "priv_pc", seeds=25))
    work = Repeats(Task("", (lambda: None, ()), parts=made))
    drawn = report.stable(report.links(data, result), result, work)
    runs = [run("priv_pc", data, seed=seed) for seed in range(25)]
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
    for pdf, pages in ((report_files.sheet(made), 1), (report_files.slides(made), 5)):
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
    page, sheet = report_files.page(shown, made), report_files.sheet(made)
    for no in ("known link", "invented", "repetitions", "<script", "<b>x</b>"):
        assert no not in page
    told = [joined(page), words_of(sheet), words_of(report_files.slides(made))]
    for hidden in ("58264917", shown.data.fingerprint, "mine <i>.csv", "mine &lt;i&gt;.csv", "F1"):
        assert not any(joined(hidden) in words for words in told), hidden
    assert "each repetition would spend budget" in page
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
        assert "No promise" in part
        assert "protects nobody" in part


def test_why_a_pair_was_not_tested_to_the_end_is_told():
    shown = shown_of("asia", "priv_pc", 20_000, 1)
    for status, why in ((shown.result.status, "The budget ran"), ("cancelled", "The run was stop")):
        assert why in str(words.limits(shown.data, replace(shown.result, status=status)))


def test_a_simulated_model_is_no_published_network_and_a_weight_no_sureness():
    made = brief(shown_of("sem:er:5:6:gaussian", "gram_notears", 3000, 1, epsilon=5.0))
    assert "drawn from a simulated linear model “SEM" in made.limits[0]
    assert made.note == "The thicker a line, the larger its weight in the linear model."


def test_a_run_without_privacy_says_so_and_has_the_steps_of_the_run_page_and_no_curve():
    """Nothing is repeated there, which would have counted them."""
    shown = shown_of("cancer", "pc", 2000)
    assert repeats.repeats_of(shown) is None
    made = brief(shown)
    assert made.curve is None
    assert made.headline.startswith("Without privacy: ")
    assert "The data were read as they are" in made.promise.sentence
    assert len(made.price) == 2 + len(price_steps(shown.data, "pc", shown.result.params)) == 4
