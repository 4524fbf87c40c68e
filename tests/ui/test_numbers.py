"""Numbers and sentences that people read, each computed a second way."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from engine import Dataset, load_dataset, run
from engine.graphs.picture import Link
from engine.marginals.diagnostics import MarginalDiagnostics
from engine.privacy.accounting import Guarantee
from engine.privacy.events import LaplaceEvent
from engine.privacy.ledger import Ledger
from engine.score.learned import ScoreDiagnostics
from engine.studies.plan import BANDS, Band, Forecast
from pages.draw.links import strengths, weighted
from pages.report.words import range_sentence
from pages.run import ledger
from pages.run.view import charged
from pages.shell import words as text
from pages.shell.own import promised
from pages.table import expected

CANCER = load_dataset("cancer", n=500)
RUN = run("priv_pc", CANCER)


def paid(*epsilons, cap=8.0, void=()):
    """A ledger with a charge of each ε, the k-th at order k; without a cap where that is 0."""
    found = Ledger(Guarantee(cap, 1e-5)) if cap else Ledger(delta=1e-4)
    for order, epsilon in enumerate(epsilons):
        found.charge(LaplaceEvent(epsilon, 1.0), label=f"label {order}", order=order)
    for why in void:
        found.void(why)
    return found


STRICT = "Strict: the guarantee (ε = 8, δ = 0) was fixed before the run"
# Ledger, what the paper claims -> tiles, how the sentence begins, how the charges make the cap.
PRICES = {
    "strict, but for rounding": (
        *(paid(8.0 * (1 - 5e-10)), None, ["Budget used (ε) 8 · 100 %", "Budget left (ε) 0"]),
        *(STRICT, "In ε the charges add up to 8 of 8"),
    ),
    "published, without end": (
        *(paid(3.0, cap=0), Guarantee(math.inf, 0.0), ["Proven total ε 3", "Charges 1"]),
        *("Published: the paper states a sum without limit; what can be proven for", ""),
    ),
    "void": (
        *(paid(1.0, void=("no schema", "a read bound")), None, ["Proven total ε nothing"]),
        *("No guarantee: no schema; a read bound. Noise was drawn", ""),
    ),
}


@pytest.mark.parametrize("name", PRICES)
def test_what_a_run_cost(name, monkeypatch):
    of, claimed, tiles, sentence, made = PRICES[name]
    result = replace(RUN, ledger=of, claimed=claimed)
    shown = ledger.privacy_tiles(result)
    assert {f"{title} {value}" for title, value, _ in shown} >= set(tiles)
    said = []
    monkeypatch.setattr(ledger.st, "caption", said.append)
    ledger.privacy_sentence(result)
    assert said[0].startswith(sentence)
    assert (text.RESEARCH_TOOL in said[0]) == (sentence == STRICT)
    assert ledger.sum_words(result).startswith(made)
    assert bool(ledger.sum_words(result)) == bool(made)


def test_a_count_has_its_noun_in_the_right_number():
    assert [text.count(n, "edge") for n in (0, 1, 1_200)] == ["0 edges", "1 edge", "1,200 edges"]


def test_what_was_charged_is_told_by_order_or_else_by_iteration():
    by_step = Ledger(Guarantee(8.0, 1e-5))
    by_step.charge(LaplaceEvent(0.5, 1.0), order=7, iteration=1)
    by_step.charge(LaplaceEvent(0.25, 1.0), iteration=4)
    result = replace(RUN, ledger=by_step)
    assert charged(result) == ({7: 0.5}, "order")
    assert charged(replace(result, ci_tests_by_order=())) == ({1: 0.5, 4: 0.25}, "iteration")
    assert ledger.ledger_table(result)["Order"].isna().tolist() == [False, True]


def test_a_negative_weight_is_told_with_its_sign_and_drawn_by_its_size():
    weights = np.zeros((5, 5))
    weights[0, 1], weights[1, 2], weights[2, 3] = -0.8, 0.8, 0.2
    learned = ScoreDiagnostics(weights=weights, threshold=0.1)
    found = replace(run("notears", CANCER), matrix=weights != 0, diagnostics=learned)
    names = CANCER.names
    known = strengths(found)
    assert [known.values[frozenset(names[k : k + 2])] for k in range(3)] == [-0.8, 0.8, 0.2]
    drawn = weighted([Link(names[k], names[k + 1], True) for k in range(3)], found)
    assert [link.note for link in drawn] == ["Weight: -0.8", "Weight: 0.8", "Weight: 0.2"]
    assert drawn[0].width == drawn[1].width > drawn[2].width


def marginal(edges, arrows):
    known = MarginalDiagnostics(edge_confidence=edges, arrow_confidence=arrows)
    return replace(run("marginal_pc", CANCER), diagnostics=known)


def test_an_arrow_carries_its_probability_where_it_is_in_doubt():
    arrows = {(0, 1): 0.84, (1, 0): 0.1, (1, 2): 0.999, (2, 1): 0.0, (2, 3): 0.3, (3, 2): 0.3}
    result = marginal(dict.fromkeys([(0, 1), (1, 2), (2, 3)], 0.9), arrows)
    names = CANCER.names
    links = [Link(names[k], names[k + 1], k < 2) for k in range(3)]
    assert [link.label for link in weighted(links, result)] == ["84 %", "", ""]


@pytest.mark.parametrize("declared", [False, True])
@pytest.mark.parametrize(("guarantee", "capped"), [("strict", True), ("published", False)])
def test_own_data_are_promised_a_cap_where_all_is_declared(
    declared, guarantee, capped, monkeypatch
):
    """And what the run itself can defend is what was promised."""
    own = Dataset.from_codes(CANCER.codes, CANCER.names, CANCER.levels, public=False)
    monkeypatch.setattr(Dataset, "declared", declared)
    values = {"epsilon": 3.0, "delta": 1e-5, "guarantee": guarantee}
    told = promised("priv_pc", values, own)
    assert told == (Guarantee(3.0, 1e-5) if capped and declared else Guarantee(math.inf, 0.0))
    spent = run("priv_pc", own, **values).spent.epsilon
    assert spent == (3.0 if capped and declared else math.inf) or not capped


def test_the_luck_of_a_headline_is_told_as_a_range_or_as_one_number():
    def outcomes(found):
        return [SimpleNamespace(counts=SimpleNamespace(found=k, invented=1)) for k in found]

    assert range_sentence(outcomes([5] * 19)) == ""
    assert range_sentence(outcomes([5] * 20)) == (
        "In 20 of 20 repetitions 5 were found; in 20 of 20, 1 were false positives."
    )
    said = range_sentence(outcomes([3] + [4] * 10 + [5] * 9))
    assert said.startswith("In 19 of 20 repetitions 4 to 5 were found")


def test_a_release_s_links_stand_beside_the_forecast_s():
    told = dict.fromkeys(BANDS, Band(1, 2, 3))
    told |= {"shown": Band(4, 6, 8), "f1": Band(0.5, 0.6, 0.75)}
    said = {k: expected.against(Forecast("marginal_pc", 1.0, draws=9, **told), k)
            for k in (3, 4, 6, 9)}  # fmt: skip
    assert "4 to 8 links shown, 2 of them false, skeleton F1 between 0.50 and 0.75" in said[6]
    assert said[6].endswith("Came: 6.")
    assert said[4].endswith("Came: 4.")
    assert "less than forecast" in said[3]
    assert "more than forecast" in said[9]
