"""Numbers and sentences that people read, each computed a second way."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine import Dataset, load_dataset, run
from engine.graphs.picture import Link
from engine.privacy.accounting import Guarantee, rho_budget
from engine.privacy.events import GaussianEvent
from engine.privacy.ledger import Ledger
from engine.score.learned import ScoreDiagnostics
from engine.studies.study import sweep
from engine.studies.summary import bands, frame
from pages.draw import charts
from pages.draw.links import strengths, weighted
from pages.report.words import range_sentence
from pages.run import ledger
from pages.shell.own import promised
from pages.study.view import _curve
from pages.study.work import _told

CANCER = load_dataset("cancer", n=500)


def test_what_is_left_of_a_zcdp_budget_is_in_its_own_unit() -> None:
    """Used and left make the cap in rho, and neither is an epsilon."""
    paid = Ledger(Guarantee(2.0, 1e-5), method="zcdp")
    paid.charge(GaussianEvent(1.0, 5.0))
    told = ledger.privacy_tiles(replace(run("priv_pc", CANCER), ledger=paid))
    shown = {title: value for title, value, _ in told}
    used, left = float(shown["Budget used (ρ)"].split(" ")[0]), float(shown["Budget left (ρ)"])
    assert used == pytest.approx(1 / (2 * 5.0**2))
    assert used + left == pytest.approx(rho_budget(2.0, 1e-5), rel=1e-2)


def test_a_negative_weight_is_told_with_its_sign_and_drawn_by_its_size() -> None:
    weights = np.zeros((5, 5))
    weights[0, 1], weights[1, 2], weights[2, 3] = -0.8, 0.8, 0.2
    matrix = weights != 0
    found = replace(
        run("notears", CANCER),
        matrix=matrix,
        diagnostics=ScoreDiagnostics(weights=weights, threshold=0.1),
    )
    names = CANCER.names
    known = strengths(found)
    assert known is not None
    assert {(*sorted(pair),): v for pair, v in known.values.items()} == {
        (*sorted((names[i], names[j])),): weights[i, j] for i, j in np.argwhere(matrix).tolist()
    }
    links = [Link(names[k], names[k + 1], True) for k in range(3)]
    drawn = weighted(links, found)
    assert [link.note for link in drawn] == ["Weight: -0.8", "Weight: 0.8", "Weight: 0.2"]
    assert drawn[0].width == drawn[1].width > drawn[2].width


@pytest.mark.parametrize("declared", [False, True])
@pytest.mark.parametrize(("guarantee", "capped"), [("strict", True), ("published", False)])
def test_own_data_are_promised_a_cap_where_all_is_declared(
    declared: bool, guarantee: str, capped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what the run itself can defend is what was promised."""
    own = Dataset.from_codes(CANCER.codes, CANCER.names, CANCER.levels, public=False)
    monkeypatch.setattr(Dataset, "declared", declared)
    values: dict[str, Any] = {"epsilon": 3.0, "delta": 1e-5, "guarantee": guarantee}
    told = promised("priv_pc", values, own)
    assert told == (Guarantee(3.0, 1e-5) if capped and declared else Guarantee(math.inf, 0.0))
    spent = run("priv_pc", own, **values).spent.epsilon
    assert spent == (3.0 if capped and declared else math.inf) or not capped


def test_a_band_goes_from_the_tenth_to_the_ninetieth_percentile_and_is_drawn_so() -> None:
    """By counting: of 11 seeds one lies below, one above, nine between."""
    said: list[str] = []
    results = list(sweep(CANCER, "priv_pc", {"epsilon": [1.0, 9.0]}, 11,
                         on_progress=_told(lambda share, words: said.append(words))))  # fmt: skip
    assert [words.split(",")[0] for words in said] == [f"{k} of 22 runs" for k in range(1, 23)]
    table = frame(results)
    points = bands(table, "ci_tests")
    for epsilon, part in table.groupby("epsilon"):
        values = sorted(part["ci_tests"])
        point = points[points["epsilon"] == epsilon].iloc[0]
        assert (point["low"], point["median"], point["high"]) == (values[1], values[5], values[9])
        assert values[0] <= point["sure_low"] <= values[5] <= point["sure_high"] <= values[10]
    assert (points["sure_low"] < points["sure_high"]).any()

    line = _curve("priv_pc", SimpleNamespace(points=points), 0)  # type: ignore[arg-type]
    figure = charts.curves([line], charts.Axis("ε"), charts.Axis("tests"))
    band = next(t for t in figure.data if t.fill == "toself")
    half = len(line.x)
    assert list(band.y[:half]) == points["sure_high"].tolist()
    assert list(band.y[half:])[::-1] == points["sure_low"].tolist()


def test_the_sentence_of_a_run_is_counted_from_its_links_and_its_odds_from_epsilon() -> None:
    data = load_dataset("asia", n=20_000)
    result = run("marginal_pc", data, epsilon=1.0, seed=0)
    assert data.truth is not None
    true, found = ({frozenset(e) for e in g.edges} for g in (data.truth, result.cpdag))
    told = result.summary()
    assert told.links.startswith(f"{len(true & found)} of {len(true)} true links found")
    assert told.found == " ".join(filter(None, (told.links, told.arrows, told.untested)))
    assert str(told).splitlines()[0].endswith(told.found)
    odds = math.ceil(100 * math.e / (1 + math.e))  # a guess between two neighbours at ε = 1
    assert told.promise.right == odds
    assert f"at most {odds} times in 100" in str(told)


def test_the_luck_of_a_headline_is_told_as_a_range_or_as_one_number() -> None:
    def outcomes(found: list[int]) -> list[Any]:
        return [SimpleNamespace(counts=SimpleNamespace(found=k, invented=1)) for k in found]

    assert range_sentence(outcomes([5] * 19)) == ""
    assert range_sentence(outcomes([5] * 20)) == (
        "In 20 of 20 repetitions 5 were found; in 20 of 20, 1 were false positives."
    )
    assert " 4 to 5 were found" in range_sentence(outcomes([4] * 10 + [5] * 10))
