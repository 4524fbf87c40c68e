"""Each number on a page is the one its title names: results whose numbers are all different."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from engine import RunResult, load_dataset, run
from engine.graphs.links import MARKS, LinkClass
from engine.graphs.metrics import Counts, Metrics
from engine.graphs.picture import stroke as stroke_svg
from engine.privacy.accounting import Guarantee
from engine.privacy.events import GaussianEvent, LaplaceEvent, SmoothEvent
from engine.privacy.ledger import Ledger
from engine.studies.trial import TrialResult
from pages.draw import links, show
from pages.run import ledger, more
from pages.run import view as result
from pages.shell import words as text
from pages.shell.runs import Shown
from pages.shell.settings import Settings

CANCER = load_dataset("cancer", n=500, seed=0)
# Recall 6/10, precision 6/9, F1 12/19; 3 with the right mark: directed F1 6/19, SHD 6 + 4.
NO_LINKS = Counts(10, 0, 0, 0, 0, 0, missed=4, untested=6, untested_true=6)
TESTED = replace(NO_LINKS, found=6, reversed=2, claimed=1, invented=3, untested=0, untested_true=0)
# Of the graph as it stands, on purpose no score of which is one of those above.
WHOLE = Metrics(
    skeleton_f1=0.41,
    directed_f1=0.23,
    precision=0.71,
    recall=0.29,
    shd=17,
    correct=3,
    wrong_direction=4,
    extra=5,
    missed=6,
)


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """What became of the pairs and its scores, whatever was learned."""
    monkeypatch.setattr(RunResult, "counts", TESTED)
    monkeypatch.setattr(RunResult, "metrics", WHOLE)


@pytest.fixture(scope="module")
def scored() -> RunResult:
    """A run whose scores, counts and totals are all different."""
    found = run("priv_pc", CANCER, epsilon=2.0, delta=1e-5)
    return replace(
        found,
        ci_tests_by_order=(1_000, 234),
        seconds=9.87,
        claimed=Guarantee(7.5, 1e-4),
    )


@pytest.fixture
def tiles(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What is put on tiles, by title."""
    drawn: dict[str, str] = {}
    monkeypatch.setattr(
        result, "tiles", lambda rows, *, across: drawn.update({t: v for t, v, _ in rows})
    )
    return drawn


def test_tiles_of_a_budget(scored: RunResult) -> None:
    """A cap of 8, of which 2 and 4 are charged."""
    paid = Ledger(Guarantee(8.0, 1e-5))
    for epsilon in (2.0, 4.0):
        paid.charge(LaplaceEvent(epsilon, 1.0))
    shown = ledger.privacy_tiles(replace(scored, ledger=paid))
    assert [(title, value) for title, value, _ in shown] == [
        ("Guaranteed total ε", "8"),
        ("Budget used (ε)", "6 · 75 %"),
        ("Budget left (ε)", "2"),
    ]
    assert shown[0][2] == "With δ = 0. A cap."  # Laplace noise alone needs none of it
    assert shown[1][2].startswith("In all 8, as charges add up in ε.")


def test_a_budget_that_rounding_leaves_is_none(scored: RunResult) -> None:
    for share in (1 - 1e-11, 1 - 5e-10):
        paid = Ledger(Guarantee(8.0, 1e-5))
        paid.charge(LaplaceEvent(8.0 * share, 1.0))
        assert 0 < paid.left < 8e-9
        assert ledger.privacy_tiles(replace(scored, ledger=paid))[2][1] == "0"


def test_tiles_of_a_published_run(scored: RunResult) -> None:
    """The paper's total is not the one that can be proven."""
    open_ended = Ledger(delta=1e-4)
    open_ended.charge(LaplaceEvent(3.0, 1.0))
    open_ended.charge(LaplaceEvent(9.0, 1.0))
    published = replace(scored, ledger=open_ended)
    shown = ledger.privacy_tiles(published)
    assert [(t, v) for t, v, _ in shown] == [
        ("Paper's total ε", "7.5"),
        ("Proven total ε", "12"),
        ("Charges", "2"),
    ]
    assert shown[0][2] == "As the paper composes it, with δ = 1e-4."
    without = ledger.privacy_tiles(replace(published, claimed=None))
    assert [t for t, _, _ in without] == ["Proven total ε", "Charges"]


def test_every_charge_with_its_running_total(scored: RunResult) -> None:
    paid = Ledger(Guarantee(8.0, 1e-5), method="zcdp")
    paid.charge(LaplaceEvent(0.5, 1.0), label="first", order=0)
    paid.charge(LaplaceEvent(0.1, 1.0), label="second", order=3)
    table = ledger.ledger_table(replace(scored, ledger=paid))
    assert table["#"].tolist() == [1, 2]
    assert table["Order"].tolist() == [0, 3]
    assert table["Mechanism"].tolist() == ["first", "second"]
    assert table["ε"].tolist() == [0.5, 0.1]
    assert table["ρ"].tolist() == pytest.approx([0.125, 0.005])
    assert table["Total ρ"].tolist() == pytest.approx([0.125, 0.13])
    assert result.charged(replace(scored, ledger=paid)) == (
        {0: pytest.approx(0.125), 3: pytest.approx(0.005)},
        "order",
    )


def test_titles_name_their_fields() -> None:
    fields = {"Skeleton F1": "skeleton_f1", "Directed F1": "directed_f1", "SHD": "shd"}
    assert fields == text.SCORES
    assert set(fields.values()) <= set(TrialResult.__dataclass_fields__)


def test_released_tables_are_counted_by_their_variables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Cancer has five columns: five tables of one, ten of two, and those of three first."""
    found = run("marginal_pc", CANCER, epsilon=1.0)
    triple = replace(
        found.diagnostics, released_tables=(*found.diagnostics.released_tables[:15], (0, 1, 2))
    )
    said: list[str] = []
    monkeypatch.setattr(ledger.st, "caption", said.append)
    monkeypatch.setattr(ledger.st, "markdown", lambda words: None)
    monkeypatch.setattr(show, "table", lambda frame, **rest: None)
    ledger.released_view(replace(found, diagnostics=triple))
    assert said[0].startswith("5 one-way, 10 two-way, 1 three-way; ")
    table = ledger.released_table(replace(found, diagnostics=triple))
    assert table["Variables in it"].tolist() == [3] + [2] * 10 + [1] * 5
    assert table["Table"][0] == ", ".join(found.names[:3])
    assert result.charged(found) == (found.ledger.by_label(), "release")


@pytest.mark.parametrize(
    ("epsilon", "words"),
    [(4.0, "together ε = 4, δ = 1e-5"), (float("inf"), "together without any bound")],
)
def test_what_a_session_has_cost(
    scored: RunResult, monkeypatch: pytest.MonkeyPatch, epsilon: float, words: str
) -> None:
    said: list[str] = []
    settings: Any = Settings
    monkeypatch.setattr(more.st, "caption", said.append)
    costs = [Guarantee(epsilon / 2, 5e-6)] * 2
    monkeypatch.setattr(more, "costs_of", lambda data: dict(enumerate(costs)))
    more.own_data_costs(Shown(settings, CANCER, scored))
    assert said[0].startswith("This session: 2 runs on these data, ")
    assert words in said[0]


# What is drawn and said of a run ------------------------------------------------------------


class Page:
    """Stands for Streamlit: keeps what is drawn, in order."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.drawn: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return lambda words="", *a, **k: self.said.append(str(words))

    def columns(self, count: int, **_: Any) -> list[Any]:
        page = self

        class Column:
            def metric(self, title: str, value: str, help: str = "") -> None:
                page.drawn.append((count, title, value, help))

        return [Column() for _ in range(count)]


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    found = Page()
    for module in (result, ledger):
        monkeypatch.setattr(module, "st", found)
    monkeypatch.setattr(show, "table", lambda frame, **rest: found.drawn.append((frame, rest)))
    monkeypatch.setattr(result, "figure", lambda figure, **rest: found.drawn.append((figure, rest)))
    return found


def capped(*epsilons: float, cap: float = 8.0, method: str = "basic") -> Ledger:
    paid = Ledger(Guarantee(cap, 1e-5), method=method)
    for order, epsilon in enumerate(epsilons):
        paid.charge(LaplaceEvent(epsilon, 1.0), label=f"label {order}", order=order)
    return paid


def test_what_the_price_means_is_said_of_each_kind(scored: RunResult, page: Page) -> None:
    voided = capped(1.0)
    voided.void("no schema")
    voided.void("a read bound")
    endless = Ledger(delta=1e-4)
    endless.charge(LaplaceEvent(3.0, 1.0))
    unbounded = replace(scored, ledger=endless, claimed=Guarantee(float("inf"), 0.0))
    cases = [
        (replace(scored, ledger=voided), "No guarantee: no schema; a read bound. Noise was drawn"),
        (replace(scored, ledger=capped(2.0)), "Strict: the guarantee (ε = 8, δ = 0) was fixed"),
        (replace(scored, ledger=endless), "Published: the paper states 7.5; what can be proven "),
        (unbounded, "Published: the paper states a sum without limit; what can be proven for"),
        (replace(scored, ledger=endless, claimed=None), "No privacy: the result may reveal"),
    ]
    for run_of, _ in cases:
        ledger.privacy_sentence(run_of)
    assert len(page.said) == len(cases)
    for words, (_, begin) in zip(page.said, cases, strict=True):
        assert words.startswith(begin)
    assert "for this very run is 3, because the sensitivity" in page.said[2]
    assert text.RESEARCH_TOOL in page.said[1]
    charged = Ledger()
    charged.charge(SmoothEvent(1.0, 0.1))
    spent = replace(scored, ledger=charged).spent.epsilon
    ledger.privacy_sentence(replace(scored, ledger=charged))
    nothing = "nothing can be proven for this run"
    assert (nothing in page.said[-1]) == (not math.isfinite(spent))
    assert [t for t, _, _ in ledger.privacy_tiles(replace(scored, ledger=voided))] == [
        "Proven total ε",
        "Charges",
    ]


def test_a_run_that_asked_nothing_has_the_guarantee_of_its_strip(
    scored: RunResult, page: Page
) -> None:
    """Where all is known there are no charges: the cap holds everywhere, and nowhere an ε of 0."""
    idle = replace(scored, ledger=capped(method="zcdp"))
    ledger.privacy_sentence(idle)
    assert page.said[0].startswith("Strict: the guarantee (ε = 8, δ = 0) was fixed before")
    assert ledger.privacy_tiles(idle)[0][1] == text.guarantee_label(idle)[0] == "8"


def test_the_ledger_says_how_its_charges_make_the_guarantee(scored: RunResult) -> None:
    """δ stands in the strip and on no charge: it pays for counting in ρ."""
    by_rho = replace(scored, ledger=capped(0.5, 0.1, method="zcdp"))
    assert "δ = 1e-5" in text.guarantee_label(by_rho)[1]
    words = ledger.sum_words(by_rho)
    assert words.startswith(
        f"In ρ the charges add up to 0.13 of {by_rho.ledger.limit:.3g}, the cap"
    )
    assert "(ε = 8, δ = 1e-5) in that unit. No charge spends any δ" in words
    plain = replace(scored, ledger=capped(2.0, 4.0))
    assert ledger.sum_words(plain) == "In ε the charges add up to 6 of 8, the cap (ε = 8, δ = 0)."
    assert ledger.sum_words(replace(scored, ledger=Ledger(delta=1e-4))) == ""


@pytest.mark.parametrize(
    ("rows", "how", "height"),
    [
        (3, {}, "content"),
        (10, {}, "content"),
        (14, {}, 38 + 10 * 35 + 17),
        (9, {"most": 320}, 38 + 8 * 35 + 17),
        (40, {"height": 320}, 38 + 8 * 35 + 17),
        (2, {"height": 320}, 320),
    ],
)
def test_a_table_with_more_rows_ends_within_a_row(
    rows: int, how: dict[str, int], height: int | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that ended with a row would hide that there are more."""
    drawn: list[int | str] = []
    monkeypatch.setattr(show.st, "dataframe", lambda frame, **rest: drawn.append(rest["height"]))
    show.table(pd.DataFrame({"a": range(rows)}), alt="", **how)
    assert drawn == [height]


def test_a_number_stays_with_its_sign() -> None:
    kept = text.together("At ε = 3: 82 % of 7; T = .1, m = best")
    assert kept == "At ε\xa0=\xa03: 82\xa0% of 7; T\xa0=\xa0.1, m = best"


def _without_limit() -> Ledger:
    found = Ledger()
    found.charge(GaussianEvent(1.0, 1.0), order=0)
    found.charge(LaplaceEvent(1.0, 1.0), order=1)
    assert math.isinf(found.cost(GaussianEvent(1.0, 1.0)))
    return found


def test_iterations_pay_where_there_are_no_orders(scored: RunResult) -> None:
    paid = Ledger(Guarantee(8.0, 1e-5))
    paid.charge(LaplaceEvent(0.5, 1.0), order=7, iteration=1)
    paid.charge(LaplaceEvent(0.25, 1.0), iteration=4)
    run_of = replace(scored, ledger=paid)
    assert result.charged(run_of) == ({7: 0.5}, "order")
    assert result.charged(replace(run_of, ci_tests_by_order=())) == ({1: 0.5, 4: 0.25}, "iteration")
    table = ledger.ledger_table(run_of)
    assert table["Order"].isna().tolist() == [False, True]
    assert table["Total ε"].tolist() == [0.5, 0.75]


def test_the_ledger_is_shown_with_the_tables_that_were_released(
    scored: RunResult, page: Page
) -> None:
    ledger.ledger_view(replace(scored, ledger=capped(2.0)))
    ((frame, rest),) = page.drawn
    assert len(frame) == 1
    assert (rest["alt"], rest["digits"]) == ("Every charge of the run", 4)
    assert page.said == [ledger.sum_words(replace(scored, ledger=capped(2.0)))]  # of no tables


def test_tests_are_drawn_by_order(scored: RunResult, page: Page) -> None:
    result.tests_chart(scored)
    ((figure, rest),) = page.drawn
    assert list(figure.data[0].x) == ["0", "1"]
    assert list(figure.data[0].y) == [1000, 234]
    assert list(figure.data[0].text) == ["1,000", "234"]
    assert rest["key"] == "run-tests"
    result.tests_chart(replace(scored, ci_tests_by_order=()))
    assert page.said[-1] == "The run ended before its first test."
    assert len(page.drawn) == 1


# Links ---------------------------------------------------------------------------------------


def small(*arcs: tuple[int, int]) -> Any:
    matrix = np.zeros((4, 4), dtype=bool)
    for i, j in arcs:
        matrix[i, j] = True
    return matrix


def test_links_are_told_once_with_their_class_and_arrow() -> None:
    matrix = small((0, 1), (2, 1), (2, 3), (3, 2))
    names = ("a", "b", "c", "d")
    plain = [(k.a, k.b, k.arrow, k.kind) for k in links.links_of(matrix, names)]
    assert plain == [("a", "b", True, None), ("c", "b", True, None), ("c", "d", False, None)]
    kinds = {(0, 1): LinkClass.FALSE_POSITIVE, (1, 2): LinkClass.FOUND}
    told = {(k.a, k.b): k.kind for k in links.links_of(matrix, names, kinds)}
    assert told == {
        ("a", "b"): LinkClass.FALSE_POSITIVE,
        ("c", "b"): LinkClass.FOUND,
        ("c", "d"): None,
    }
    only = links.links_of(matrix, names, kinds, [LinkClass.FOUND])
    assert [(k.a, k.b) for k in only] == [("c", "b"), ("c", "d")]
    graph = links.as_digraph(names, small((1, 0), (2, 3), (3, 2)))
    assert list(graph.nodes) == list(names)
    assert sorted(graph.edges) == [("b", "a"), ("c", "d")]


def test_what_is_open_has_no_arrow_and_is_drawn_when_asked(
    scored: RunResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = nx.DiGraph([("a", "b"), ("c", "d"), ("b", "d")])
    run_of = replace(
        scored,
        names=("a", "b", "c", "d"),
        matrix=small((0, 1), (1, 2), (3, 2)),
        untested=frozenset({(1, 2)}),
        truth=truth,
    )
    kinds = {
        (0, 1): LinkClass.FOUND,
        (1, 2): LinkClass.UNTESTED,
        (2, 3): LinkClass.REVERSED,
        (1, 3): LinkClass.MISSED,
    }
    monkeypatch.setattr(RunResult, "classes", kinds)

    def drawn(**how: bool) -> dict[tuple[str, str], tuple[bool, LinkClass | None]]:
        return {(k.a, k.b): (k.arrow, k.kind) for k in links.found_links(run_of, **how)}

    found = {("a", "b"): (True, kinds[0, 1]), ("d", "c"): (True, kinds[2, 3])}
    assert drawn() == found
    assert drawn(waiting=True) == {**found, ("b", "c"): (False, LinkClass.UNTESTED)}
    missed = drawn(missed=True)
    assert missed.keys() - found.keys() == {("b", "d")}
    assert missed["b", "d"][1] == LinkClass.MISSED
    monkeypatch.setattr(RunResult, "classes", {})
    assert drawn(waiting=True)["b", "c"] == (False, LinkClass.UNTESTED)  # without a truth too
    assert not run_of.tested[1, 2]


def test_a_sample_of_a_line_has_its_sign() -> None:
    for kind in LinkClass:
        drawn, stroke = stroke_svg(kind, "light"), MARKS[kind]
        signs = drawn.count(f'fill="{MARKS[kind].light}"')
        assert signs == bool(stroke.marker)
        assert ("stroke-dasharray" in drawn) == bool(stroke.dash)
        assert links.sample(kind, "light").count("<img") == 1
