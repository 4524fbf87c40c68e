"""Numbers and sentences that people read, each computed a second way."""

import math
import re
from dataclasses import replace
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest

from engine import Dataset, load_dataset, run
from engine.graphs.cpdag import digraph_of
from engine.graphs.links import LinkClass
from engine.graphs.view import Link
from engine.privacy.accounting import Guarantee
from engine.privacy.events import LaplaceEvent
from engine.privacy.ledger import Ledger
from engine.score.learned import ScoreDiagnostics
from engine.studies.plan import BANDS, Band, Forecast
from engine.studies.price import LossStep
from engine.studies.repeat import Point
from engine.words.run import together
from pages.draw import charts
from pages.draw.links import entries, strengths, weighted
from pages.draw.price import price_html, steps_of
from pages.report import brief
from pages.report.words import details, usually
from pages.run import ledger, more
from pages.run.view import charged
from pages.shell import words as text
from pages.shell.own import promised
from pages.table import share

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


STRICT = "Guaranteed ε = 8, δ = 0. It was fixed before the run"
# Ledger, what the paper claims -> tiles, how the sentence begins, how the charges make the cap.
PRICES = {
    "strict, but for rounding": (
        *(paid(8.0 * (1 - 5e-10)), None, ["Budget used (ε) 8 · 100 %", "Remaining (ε) 0"]),
        *(STRICT, "In ε the charges use 8 of 8"),
    ),
    "published, without end": (
        *(
            paid(3.0, cap=0),
            Guarantee(math.inf, 0.0),
            ["Claimed ε no bound", "Proven ε 3", "Charges 1"],
        ),
        *("Claimed ε: no bound, as the paper composes it. Proven ε = 3, because", ""),
    ),
    "void": (
        *(paid(1.0, void=("no schema", "a read bound")), None, ["Proven ε no bound"]),
        *("No guarantee: no schema; a read bound. The run added the noise", ""),
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


def test_runs_on_the_same_rows_cost_their_sum():
    costs = [Guarantee(1.0, 1e-6), Guarantee(0.5, 2e-6), Guarantee(2.0, 0.0)]
    assert together(costs).startswith("ε = 3.5, δ = 3·10⁻⁶ (")
    assert together([*costs, Guarantee(math.inf, 0.0)]).startswith("no bound on ε")


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


# A run that ended early, found by hand: sets of pairs, and each pair's marks.
ASIA = load_dataset("asia", n=20_000)
EARLY = run("priv_pc", ASIA, epsilon=1.0, seed=1)


def by_hand(result, *, all_pairs=False):
    """Recall, precision, both F1 and SHD of the links tested to the end, or of all pairs."""
    left = set() if all_pairs else result.untested_pairs

    def marks(graph):
        arcs = {frozenset(arc): set() for arc in graph.edges}
        for arc in graph.edges:
            arcs[frozenset(arc)].add(arc)
        return arcs

    mine = {pair: arcs for pair, arcs in marks(result.cpdag).items() if pair not in left}
    true = marks(digraph_of(result.reference_cpdag, result.names))
    found, right = mine.keys() & true.keys(), [p for p in mine if mine[p] == true.get(p)]
    both = len(mine) + len(true)
    shares = len(found) / len(true), len(found) / len(mine), 2 * len(found) / both
    shd = sum(mine.get(p) != true.get(p) for p in mine.keys() | true.keys())
    return (*shares, 2 * len(right) / both, shd), len(found), len(right), true


def test_the_scores_of_a_run_that_ended_early(monkeypatch):
    """Tiles, caption, legend and the report's details, by sets of pairs."""
    (*shares, shd), found, right, true = by_hand(EARLY)
    assert EARLY.untested
    assert len({*shares}) == 4  # each number is told from the others
    told = [f"{share:.2f}" for share in shares]
    assert [value for _, value, _ in more.score_tiles(EARLY)] == [*told, f"{shd}"]
    said = []
    monkeypatch.setattr(more.st, "caption", said.append)
    monkeypatch.setattr(more.show, "tiles", lambda rows: None)
    monkeypatch.setattr(more, "count_line", lambda *_: None)
    more.scores_view(SimpleNamespace(result=EARLY, data=ASIA, request=mock.Mock()))
    (recall, precision, f1, directed, whole), *_ = by_hand(EARLY, all_pairs=True)
    assert said[0].endswith(
        f"recall {recall:.2f}, precision {precision:.2f}, skeleton F1 {f1:.2f}, directed F1 "
        f"{directed:.2f}, SHD {whole}."
    )
    waiting = next(e for e in entries(EARLY) if e.kind is LinkClass.UNTESTED)
    real = len(EARLY.untested_pairs & true.keys())
    assert (waiting.number, waiting.more) == (
        f"{len(EARLY.untested)}",
        f" ({real} of them true links; not drawn)",
    )
    assert f" ({real} of them true links)." in EARLY.summary().untested
    said_of = f"{right} of the {text.count(found, 'true link')} found "
    assert details(ASIA, EARLY)[0].startswith(said_of)
    last = max(charge.order for charge in EARLY.ledger)
    assert f"at order {last}:" in EARLY.summary().ended


def test_steps_before_the_noise_are_counts_of_pairs():
    """True links, then what each search finds and invents; bars are shares of the longest."""
    _, found, _, true = by_hand(EARLY)
    exact = run("pc", ASIA, statistic="spearman", threshold=0.4, max_order=0)
    steps = steps_of(EARLY, [LossStep("best", "g2", exact.counts)])
    wanted = [len(exact.skeleton & true.keys()), len(exact.skeleton - true.keys())]
    invented = len(EARLY.skeleton - EARLY.untested_pairs - true.keys())
    assert [s.found for s in steps] == [len(true), wanted[0], found]
    assert [s.false_positives for s in steps] == [0, wanted[1], invented]
    assert [s.untested for s in steps] == [0, 0, len(EARLY.untested)]
    most = max(s.found + s.false_positives for s in steps)
    widths = re.findall(r"<i style=\"width:([\d.e+]+)%", price_html(steps, "light"))
    bars = [n for s in steps for n in (s.found, s.false_positives) if n]
    assert [float(w) for w in widths] == pytest.approx([100 * n / most for n in bars], rel=0.01)
    heights = brief.levels(len(true), [LossStep("best", "g2", exact.counts)])
    assert [height for height, _ in heights] == [len(true), wanted[0]]


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
    spent = run("priv_pc", own, **values).proven.epsilon
    assert spent == (3.0 if capped and declared else math.inf) or not capped


def test_the_luck_of_a_headline_is_told_as_a_range_or_as_one_number():
    def outcomes(found):
        return [SimpleNamespace(counts=SimpleNamespace(found=k, true=6)) for k in found]

    assert usually(outcomes([5] * 7)) == "7 of 7 repetitions find 5 of the 6 true edges"
    said = usually(outcomes([3] + [4] * 10 + [5] * 9))
    assert said == "19 of 20 repetitions find 4 to 5 of the 6 true edges"


def test_bands_are_drawn_from_their_low_to_their_high_ends(monkeypatch):
    """On the report's curve and on the pages' charts."""
    points = [Point(e, (e, e + 2, e + 5), (0.1, 0.2, 0.7), (0.2, 0.5, 0.6), 30) for e in (1, 2, 4)]
    drawn = []
    monkeypatch.setattr(brief, "curve_picture", lambda panel, **_: drawn.append(panel))
    repeats = SimpleNamespace(running=False, points=points, steps=())
    brief._curve(RUN, repeats, "light")
    found, wrong, *_ = drawn[0].series
    assert (found.low, found.y, found.high) == ((1, 2, 4), (3, 4, 6), (6, 7, 9))
    assert (wrong.low, wrong.y, wrong.high) == ((0.1,) * 3, (0.2,) * 3, (0.7,) * 3)
    line = charts.Curve(name="a", x=[1, 2], y=[5, 6], low=[4, 3], high=[8, 9])
    band, middle = charts.curves([line], charts.Axis("x"), charts.Axis("y"))["data"]
    assert (band["x"], band["y"]) == ([1, 2, 2, 1], [8, 9, 3, 4])
    assert (middle["x"], middle["y"]) == ([1, 2], [5, 6])


def test_a_release_s_links_stand_beside_the_forecast_s():
    told = dict.fromkeys(BANDS, Band(1, 2, 3))
    told |= {"shown": Band(4, 6, 8), "f1": Band(0.5, 0.6, 0.75)}
    said = {k: share.against(Forecast("marginal_pc", 1.0, draws=9, **told), k)
            for k in (3, 4, 6, 9)}  # fmt: skip
    assert "4 to 8 links shown, 2 of them false, skeleton F1 between 0.50 and 0.75" in said[6]
    assert said[6].endswith("Result: 6.")
    assert said[4].endswith("Result: 4.")
    assert "less than forecast" in said[3]
    assert "more than forecast" in said[9]
