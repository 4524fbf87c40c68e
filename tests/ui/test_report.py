"""The Report page: its words are the engine's numbers, and its files hold nothing they must not."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from engine import Dataset, load_dataset, run
from engine.graphs.metrics import EdgeClass
from engine.studies.price import price_steps
from engine.studies.repeat import repeated, usual
from pages.report import files as report_files
from pages.report import repeats
from pages.report import view as report
from pages.report import words as report_words
from pages.report.repeats import Repeats
from pages.shell import job as jobs
from pages.shell.runs import Shown
from pages.shell.settings import Settings, Source, filled

ROOT = Path(__file__).resolve().parents[2]
WILD = ("<b>x</b>", 'say "hi" & bye', "two\nlines", "$x^2$", "</svg><script>alert(1)</script>")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "REPETITIONS", 30)
    monkeypatch.setattr(repeats, "PER_POINT", 3)
    monkeypatch.setattr(repeats, "PATIENCE", 60.0)


def address(app: AppTest) -> dict[str, str]:
    """The query parameters, each once."""
    found = app.query_params
    return {k: v if isinstance(v, str) else v[0] for k, v in found.items()}


def body(app: AppTest) -> str:
    return next(h.value for h in app.get("html") if 'class="report"' in h.value)


def test_the_sentence_is_computed_from_results(open_app: Callable[..., AppTest]) -> None:
    app = open_app(data="cancer", n="2000", epsilon="2", seed="3")
    app.switch_page("pages/report/page.py").run()
    assert not app.exception
    data = load_dataset("cancer", n=2000)
    params = {"epsilon": 2.0}
    one = run("priv_pc", data, seed=3, **params).counts
    assert one is not None
    many = usual([o.counts.found for o in repeated("priv_pc", data, params, range(30))])
    found = body(app)
    assert (
        f"At ε = 2 for the whole run, {one.found} of 4 known links were found and {one.invented} "
        "invented." in found
    )
    spread = f"{many.low}" if many.low == many.high else f"{many.low} to {many.high}"
    assert f"In {many.inside} of 30 repetitions {spread} were found" in found
    assert found.count("<img alt=") == 2  # the graph and the curve
    m = run("priv_pc", data, seed=3, **params).metrics
    assert m is not None
    assert f"directed F1 {m.directed_f1:.2f}, SHD {m.shd})" in found
    assert "88.1 %" in found  # e^2 / (1 + e^2)
    assert {b.label for b in app.get("download_button")} >= {"Report (HTML)", "Everything (ZIP)"}


def test_presenter_mode_is_in_the_address(open_app: Callable[..., AppTest]) -> None:
    app = open_app("report", data="cancer", n="2000", present="1")
    assert address(app)["present"] == "1"
    assert not app.get("download_button")
    app.button(key="report-present").click().run()
    assert "present" not in app.query_params
    assert app.get("download_button")


def own_run() -> Shown:
    sample = load_dataset("asia", n=400)
    names = (*WILD, *sample.names[len(WILD) :])
    data = Dataset.from_codes(sample.codes, names, name="mine <i>.csv")
    source = Source("own", 0, 0, data.fingerprint)
    result = run("priv_pc", data, seed=58264917, epsilon=50.0)
    settings = Settings(source, "priv_pc", filled("priv_pc", {"epsilon": 50.0}), None)
    return Shown(settings, data, result)


def test_own_data_get_no_score_no_repetition_and_no_seed() -> None:
    shown = own_run()
    assert repeats.repeats_of(shown) is None
    page = report_files.page(shown, None, report.pictures(shown, None, "light"))
    assert "known link" not in page
    assert "invented" not in page
    assert "repetitions" not in page
    assert "58264917" not in page
    assert shown.data.fingerprint not in page
    assert "each repetition would spend budget" in page


def test_a_promise_that_nothing_defends_is_not_made() -> None:
    shown = own_run()  # its seed was given, so its noise can be taken away
    assert shown.result.ledger.undefended
    assert "which nothing defends here" in report_words.headline(shown.data, shown.result)
    assert report_words.price(shown.result).startswith("No promise: this protects nobody.")
    data = Dataset.from_codes(shown.data.codes, shown.data.names, shown.data.levels)
    secret = run("priv_pc", data, epsilon=1.0)  # declared levels, secret noise
    assert "at most 73.1 %" in report_words.price(secret)


def test_the_file_opens_offline_and_names_are_text() -> None:
    shown = own_run()
    page = report_files.page(shown, None, report.pictures(shown, None, "light"))
    assert "<script" not in page
    assert "<b>x</b>" not in page
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert "&lt;/svg&gt;&lt;script&gt;" in page
    # Namespaces are names, not addresses that anything is fetched from.
    addresses = re.findall(r"(?<!xmlns=\")(?<!xmlns:xlink=\")https?://[^\s\"'<]+", page)
    assert addresses == []
    assert page.count("<svg") == 1


def test_pictures_hold_names_as_text_and_say_what_they_are() -> None:
    shown = own_run()
    drawn = report.pictures(shown, None, "dark").graph
    assert "<script" not in drawn.svg
    assert "$x^2$" in drawn.svg  # no mathematics is set
    assert 'aria-label="Learned graph: 8 nodes' in drawn.svg
    assert drawn.png.startswith(b"\x89PNG")


def test_a_run_without_privacy_has_no_curve_and_says_so() -> None:
    data = load_dataset("cancer", n=2000)
    shown = Shown(Settings(algorithm="pc", params=filled("pc", {})), data, run("pc", data))
    assert repeats.repeats_of(shown) is None
    assert report_words.headline(data, shown.result).startswith("Without any privacy, ")
    assert report_words.price(shown.result).startswith("No promise: the data were read")


def test_published_numbers_are_called_what_they_are() -> None:
    data = load_dataset("cancer", n=2000)
    result = run("priv_pc", data, guarantee="published")
    assert "which is no guarantee" in report_words.headline(data, result)
    assert "and protects nobody" in report_words.price(result)
    finer = run("priv_pc", data, guarantee="published", epsilon=1e-3)
    assert "not the number above" in report_words.price(finer)


def test_pairs_that_were_not_tested_are_grey_without_an_arrow_and_not_counted() -> None:
    data = load_dataset("asia", n=20_000)
    seeds = (run("priv_pc", data, seed=s, epsilon=1.0) for s in range(10))
    result = next(r for r in seeds if r.untested)
    waiting = {frozenset((data.names[i], data.names[j])) for i, j in result.untested}
    drawn = {frozenset((k.a, k.b)): k for k in report.links(data, result)}
    assert {pair for pair, k in drawn.items() if k.kind is EdgeClass.UNTESTED} == waiting
    assert not any(drawn[pair].arrow for pair in waiting)
    counts = result.counts
    assert counts is not None
    said = f"{counts.found} of 8 known links were found and {counts.invented} invented"
    assert said in report_words.headline(data, result)
    assert any(
        "had not been tested to the end" in line for line in report_words.limits(data, result)
    )


def test_of_own_data_nothing_is_called_invented_not_even_what_was_not_tested() -> None:
    data = replace(load_dataset("asia", n=20_000), public=False)
    seeds = (run("priv_pc", data, seed=s, epsilon=1.0) for s in range(10))
    result = next(r for r in seeds if r.untested)
    words = " ".join(report_words.limits(data, result))
    assert "had not been tested to the end" in words
    assert "invented" not in words


def test_work_that_nobody_looks_at_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "UNSEEN", -1.0)
    data = load_dataset("cancer", n=2000)
    result = run("priv_pc", data)
    work = Repeats(Shown(Settings(params=filled("priv_pc", {})), data, result))
    work.start()
    assert work.wait(20)
    assert not work.whole
    assert len(work.outcomes) < 30


def test_own_data_on_the_page(open_app: Callable[..., AppTest]) -> None:
    """From the upload to the report: one release, not one more."""
    app = open_app("data")
    app.selectbox(key="data-network").set_value("own").run()
    table = (ROOT / "sample_data" / "asia_2000.csv").read_bytes()
    app.file_uploader(key="data-file").set_value(("mine.csv", table, "text/csv")).run()
    edges = (ROOT / "sample_data" / "asia_edges.csv").read_bytes()
    app.file_uploader(key="data-truth").set_value(("e.csv", edges, "text/csv")).run()
    app.switch_page("pages/run/page.py").run()
    app.button(key="run").click().run()

    def spent() -> list[tuple[int, float, float]]:
        return [meter.total() for meter in app.session_state["own_costs"].values()]

    before = spent()
    assert [runs for runs, *_ in before] == [1]
    app.switch_page("pages/report/page.py").run()
    assert not app.exception
    found = body(app)
    assert "known link" not in found
    assert "F1" not in found
    assert "invented" not in found
    assert "Real data: nothing here says" in found
    assert found.count("<img alt=") == 1
    assert "seed" not in app.query_params
    assert spent() == before


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("pc", {}),
        ("priv_pc", {"epsilon": 100.0}),
        ("priv_pc", {"guarantee": "published"}),
        ("curate_pc", {"guarantee": "published", "epsilon": 20.0}),
    ],
)
def test_a_promise_that_protects_nobody_is_red_and_says_so(
    key: str, values: dict[str, object]
) -> None:
    data = load_dataset("cancer", n=2000)
    result = run(key, data, **values)
    shown = Shown(Settings(algorithm=key, params=filled(key, values)), data, result)
    for theme, red in (("light", "#a8321f"), ("dark", "#ff9580")):
        drawn = report.pictures(shown, None, theme)
        part = report.body(shown, None, drawn, theme, inline=True).split('class="price">')[1]
        part = part.split("</p>")[0]
        assert f"color:{red}" in part
        assert "No promise" in part
        assert "protects nobody" in part
    kept = run("priv_pc", data, epsilon=1.0)
    assert "nobody" not in report_words.price(kept)


def test_the_curve_says_what_is_lost_without_noise() -> None:
    data = load_dataset("asia", n=20_000)
    result = run("priv_pc", data)
    found = report.levels(8, price_steps(data, "priv_pc", result.params))
    assert found == [
        (8.0, "All 8 known links\nBest test (G²), no noise"),
        (5.0, "Kendall's τ, bounded form, no noise"),
    ]
