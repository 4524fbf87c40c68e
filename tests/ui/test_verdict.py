"""What the headline says of a run and of its price."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from engine import Dataset, RunResult, load_dataset, run
from engine.graphs.metrics import Counts, EdgeClass
from engine.privacy.accounting import Guarantee
from engine.privacy.events import LaplaceEvent
from engine.privacy.ledger import Ledger
from engine.studies import price as price_steps
from engine.studies.price import PriceStep
from pages.draw.links import found_links
from pages.report.words import headline
from pages.shell import words as text
from pages.shell.verdict import (
    DOUBTFUL,
    FINE,
    NOTHING,
    backwards,
    findings,
    mark,
    price,
    price_html,
    reference_lines,
    step_words,
)

CANCER = load_dataset("cancer", n=5000)


@pytest.mark.parametrize(
    ("key", "values", "level", "words"),
    [
        ("pc", {}, NOTHING, "nothing can be defended"),
        ("priv_pc", {"epsilon": 1.0}, FINE, "ε = 1 for the whole run"),
        ("priv_pc", {"epsilon": 20.0}, DOUBTFUL, "ε = 20 for the whole run"),
        ("priv_pc", {"epsilon": 100.0}, NOTHING, "too large to protect anyone"),
        ("priv_pc", {"guarantee": "published", "epsilon": 1.0}, NOTHING, "protects nobody"),
    ],
)
def test_the_price_is_named_and_never_a_sign(
    key: str, values: dict[str, object], level: str, words: str
) -> None:
    found, said = price(run(key, CANCER, **values))
    assert found == level
    assert words in said
    assert "∞" not in said
    assert "inf" not in said


def test_counts_are_of_the_classes_on_screen() -> None:
    data = load_dataset("child", n=5000)
    result = run("priv_pc", data, epsilon=0.1)
    assert result.status == "budget_exhausted"
    kinds, found = list(result.classes.values()), result.counts
    assert found is not None
    assert found.untested == len(result.untested) == kinds.count(EdgeClass.UNTESTED) > 0
    assert found.invented == kinds.count(EdgeClass.EXTRA)
    assert found.missed == kinds.count(EdgeClass.MISSED)
    assert f"{found.untested:,} more pairs were not tested to the end" in findings(result)
    whole = replace(result, untested=frozenset())
    assert EdgeClass.UNTESTED not in whole.classes.values()


def test_a_run_that_ends_by_itself_has_tested_all() -> None:
    for key in ("pc", "em_pc", "svt_pc"):
        assert not run(key, CANCER).untested


def test_nothing_defended_is_never_called_guaranteed() -> None:
    """Rows of a person whose schema was found in them: a cap on the noise is no guarantee."""
    codes = load_dataset("cancer", n=500).codes
    result = run("priv_pc", Dataset.from_codes(codes), epsilon=1.0)
    level, said = price(result)
    assert level == NOTHING
    assert said.startswith("Nothing can be defended: ")
    assert text.guarantee_label(result)[1] == "nothing can be defended"


@pytest.mark.parametrize(
    ("cap", "level"), [(10.0, FINE), (10.01, DOUBTFUL), (30.0, DOUBTFUL), (30.01, NOTHING)]
)
def test_how_large_a_cap_still_protects(cap: float, level: str) -> None:
    result = replace(run("pc", CANCER), ledger=Ledger(Guarantee(cap, 1e-6)))
    assert price(result)[0] == level


@pytest.mark.parametrize(
    ("claimed", "spent", "level", "words"),
    [
        (2.0, 2.0, FINE, "Claimed ε = 2, and it can be defended"),
        (2.0, 2.015, FINE, "and it can be defended"),
        (2.0, 2.03, DOUBTFUL, "Claimed ε = 2; what can be defended is ε = 2.03"),
        (20.0, 11.0, DOUBTFUL, "what can be defended is ε = 11"),
        (20.0, 30.0, DOUBTFUL, "what can be defended is ε = 30"),
        (2.0, 31.0, NOTHING, "what can be defended is ε = 31, which protects nobody"),
        (math.inf, 5.0, DOUBTFUL, "The paper's sum has no limit; what can be defended is ε = 5"),
        (2.0, math.inf, NOTHING, "Claimed ε = 2; nothing can be defended"),
        (None, 5.0, DOUBTFUL, "Nothing claimed; what can be defended is ε = 5"),
    ],
)
def test_a_claim_beside_what_can_be_defended(
    claimed: float | None, spent: float, level: str, words: str
) -> None:
    paid = Ledger(delta=1e-6)
    paid.charge(LaplaceEvent(spent, 1.0))
    found = run("priv_pc", CANCER, guarantee="published", epsilon=1.0)
    promise = None if claimed is None else Guarantee(claimed, 1e-6)
    made, said = price(replace(found, ledger=paid, claimed=promise))
    assert made == level
    assert said.endswith(words)


NONE = Counts(
    true=8, found=5, turned=0, claimed=0, invented=0, missed=3, untested=0, untested_true=0
)
SENTENCES = {
    "5 of 8 true links found, 0 invented.": {},
    "1 of 1 true link found, 2,000 invented.": {"true": 1, "found": 1, "invented": 2000},
    "5 of 8 true links found, 0 invented. Of those found, 1 lacks its arrow.": {"turned": 1},
    "5 of 8 true links found, 0 invented. Of those found, 2 lack their arrow.": {"turned": 2},
    "5 of 8 true links found, 0 invented. 1 carries a direction that such data cannot tell.": {
        "claimed": 1
    },
    "5 of 8 true links found, 0 invented. 3 carry directions that such data cannot tell.": {
        "claimed": 3
    },
    "5 of 8 true links found, 0 invented. 1 more pair was not tested to the end "
    "(0 of them true links).": {"untested": 1},
    "5 of 8 true links found, 0 invented. 7 more pairs were not tested to the end "
    "(2 of them true links).": {"untested": 7, "untested_true": 2},
}


@pytest.mark.parametrize("sentence", SENTENCES)
def test_what_was_found_in_words(sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RunResult, "counts", replace(NONE, **SENTENCES[sentence]))
    assert findings(run("pc", CANCER)) == sentence


def test_an_arrow_that_is_missing_points_nowhere() -> None:
    """Run and Report say alike which of the links turned are arrows, and which are lines."""
    data, mixed = load_dataset("asia", n=20_000), set()
    for key, epsilon in (("em_pc", 1.0), ("curate_notears", 2.0), ("noleaks", 2.0)):
        found = run(key, data, epsilon=epsilon, seed=0)
        assert found.counts is not None
        arrows = sum(k.arrow and k.kind is EdgeClass.WRONG_DIRECTION for k in found_links(found))
        lines = found.counts.turned - arrows
        assert backwards(found) == arrows
        assert ("another way" in findings(found)) == bool(arrows)
        assert ("lack" in findings(found)) == bool(lines)
        assert f"{arrows or 'no'} arrow" in headline(data, found)
        mixed.add((bool(arrows), bool(lines)))
    assert mixed == {(False, True), (True, True), (True, False)}


def test_without_a_truth_links_are_counted() -> None:
    """Pairs not tested to the end are no links."""
    result = replace(run("pc", load_dataset("asia", n=2000)), truth=None, metrics=None)
    links = len(result.skeleton)
    assert links > 2
    assert findings(result).startswith(f"{links} links found. There is no known truth")
    waiting = replace(result, untested=frozenset(list(result.skeleton)[:1]))
    words = f"{links - 1} links found. 1 more pair was not tested to the end."
    assert findings(waiting).startswith(words)


def test_the_lines_beside_a_curve_are_the_best_and_the_methods_own() -> None:
    kinds = (price_steps.BEST, price_steps.PAPER, price_steps.BOUNDED)
    steps = [PriceStep(kind, "kendall", NONE) for kind in kinds]
    assert [step.kind for step, _ in reference_lines(steps)] == [kinds[0], kinds[2]]
    assert [words for _, words in reference_lines(steps)] == [
        "Best test (Kendall's τ), no noise",
        "Kendall's τ, bounded form, no noise",
    ]
    assert [step.kind for step, _ in reference_lines(steps[:2])] == list(kinds[:2])
    assert [step.kind for step, _ in reference_lines(steps[:1])] == [kinds[0]]
    assert step_words(steps[0]) == "the best test (Kendall's τ)"
    assert step_words(steps[1]) == "the papers' test (Kendall's τ)"


@pytest.mark.parametrize(("level", "sign"), [(FINE, "✔"), (DOUBTFUL, "▲"), (NOTHING, "✖")])
def test_a_price_has_a_sign_beside_its_words(level: str, sign: str) -> None:
    said = mark(level, "<b>ε = 1</b>", "light")
    assert f">{sign}</span> &lt;b&gt;ε = 1" in said


def test_a_headline_has_the_price_of_its_run() -> None:
    assert "nothing can be defended" in price_html(run("pc", CANCER), "light")
