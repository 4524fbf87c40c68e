"""A run that is asked a question: its share of the budget, its tables, its numbers, its answer."""

from dataclasses import replace

import numpy as np
import pytest

from engine import Column, InputError, Knowledge, Schema, load_dataset, plan, run
from engine.__main__ import main
from engine.effects.estimate import AIPW
from engine.effects.width import NAMED, RANDOMISED, width
from engine.privacy.accounting import mu_budget
from engine.question import Question, listed, parse_question

ASKED = Question(cause="smoke", outcome="dysp", outcome_level="yes")
ORDER = Knowledge(tiers=[["asia"], ["smoke"], ["tub", "lung", "bronc", "either", "xray", "dysp"]])
TABLES, NUMBERS = "question's tables", "question's numbers"


@pytest.fixture(scope="module")
def asia():
    return load_dataset("asia", n=20_000)


@pytest.fixture(scope="module")
def answered(asia):
    return run("marginal_pc", asia, epsilon=1.0, question=replace(ASKED, known=ORDER))


def test_the_ledger_ends_at_its_cap_and_the_question_has_its_share(asia, answered):
    """On the scale of mu squared: .3 for the graph, .35 for tables, .35 for the number."""
    assert answered.ledger.used_epsilon == pytest.approx(1.0, abs=1e-9)
    assert answered.ledger.used_epsilon <= 1.0
    assert (answered.guaranteed_epsilon, answered.knowledge) == (1.0, ORDER)
    assert run("priv_pc", asia, guarantee="published").guaranteed_epsilon is None
    charges = list(answered.ledger)
    assert [c.label for c in charges][-2:] == [TABLES, NUMBERS]
    parts = np.array([(c.event.sensitivity / c.event.sigma) ** 2 for c in charges])
    shares = parts / mu_budget(1.0, 1e-6) ** 2
    assert shares.sum() == pytest.approx(1.0, abs=1e-9)
    assert shares[-2:] == pytest.approx([0.35, 0.35], abs=1e-9)
    half = run("marginal_pc", asia, epsilon=1.0, question=replace(ASKED, share=0.4))
    last = half.ledger[-1].event
    assert (last.sensitivity / last.sigma) ** 2 / parts.sum() == pytest.approx(0.2, abs=1e-9)


def test_the_question_is_answered_by_its_number_and_others_as_before(answered):
    found = answered.effect("smoke", "dysp", outcome_level="yes")
    assert found.method == AIPW
    assert found.difference.low < 0.234 < found.difference.high  # by the network's own tables
    assert found.risks == {}
    assert "the chance of dysp = yes would differ by 2" in found.sentence
    for other in ({"outcome_level": "no"}, {"cause_level": "no", "reference": "yes"}):
        assert answered.effect("smoke", "dysp", **other).method != AIPW
    assert answered.effect("smoke", "bronc").method != AIPW
    plain = run("marginal_pc", load_dataset("asia", n=20_000), epsilon=1.0, knowledge=ORDER)
    assert TABLES not in [c.label for c in plain.ledger]


def test_a_known_cause_or_a_named_set_needs_one_number(asia):
    root = run("marginal_pc", asia, epsilon=1.0,
               question=replace(ASKED, known=Knowledge(roots=["smoke"])))  # fmt: skip
    assert [a.adjusted for a in root.effect("smoke", "dysp").answers] == [()]
    named = run("marginal_pc", asia, epsilon=1.0, question=replace(ASKED, adjust=("asia",)))
    assert [a.adjusted for a in named.diagnostics.answers] == [(asia.names.index("asia"),)]
    found = named.effect("smoke", "dysp", adjustment=("asia",))
    assert (found.adjusted, found.method) == ((("asia",),), AIPW)
    with pytest.raises(InputError):
        named.effect("smoke", "dysp", adjustment=("smoke",))
    assert root.diagnostics.released_tables != named.diagnostics.released_tables


def test_a_level_that_the_noise_hides_has_no_number_and_the_share_goes_to_tables():
    small = load_dataset("asia", n=300)
    found = run("marginal_pc", small, epsilon=0.3, question=Question(cause="asia", outcome="dysp"))
    assert found.diagnostics.answers == ()
    assert found.ledger.used_epsilon == pytest.approx(0.3, abs=1e-9)
    refused = found.effect("asia", "dysp").sentence
    assert "The noise is larger than the count of asia = yes" in refused


WRONG = [
    {"cause": "smoke", "outcome": "smoke"},
    {"cause": "smok", "outcome": "dysp"},
    {"cause": "smoke", "outcome": "dysp", "levels": ("no", "no")},
    {"cause": "smoke", "outcome": "dysp", "levels": ("no", "maybe")},
    {"cause": "smoke", "outcome": "dysp", "outcome_level": "maybe"},
    {"cause": "smoke", "outcome": "dysp", "outcome_level": ("yes", "no")},
    {"cause": "smoke", "outcome": "dysp", "values": (1.0,)},
    {"cause": "smoke", "outcome": "dysp", "values": (1.0, 1.0)},
    {"cause": "smoke", "outcome": "dysp", "values": (1.0, float("nan"))},
    {"cause": "smoke", "outcome": "dysp", "values": (1, 2), "outcome_level": "yes"},
    {"cause": "smoke", "outcome": "dysp", "adjust": ("smoke",)},
    {"cause": "smoke", "outcome": "dysp", "adjust": ("age",)},
    {"cause": "smoke", "outcome": "dysp", "share": 1.0},
    {"cause": "smoke", "outcome": "dysp", "weight": 0},
    {"cause": "smoke", "outcome": "dysp", "weight": float("nan")},
    {"cause": "smoke", "outcome": "dysp", "weight": 10**400},  # beyond every float
    {"cause": "smoke", "outcome": "dysp", "values": (1, 10**400)},
    {"cause": "smoke", "outcome": "dysp", "shares": (10**400, 0.5)},
    {"cause": 3, "outcome": "dysp"},
    {"cause": "smoke", "outcome": "dysp", "adjust": "asia"},
]


@pytest.mark.parametrize("facts", WRONG)
def test_a_question_that_does_not_fit_is_refused_in_a_sentence(facts):
    with pytest.raises(InputError):
        run("marginal_pc", load_dataset("asia", n=100), question=Question(**facts))


def test_only_marginal_pc_takes_questions_and_knowledge_is_stated_once(asia):
    for call in ({"key": "pc"}, {"key": "marginal_pc", "knowledge": Knowledge(roots=["asia"])},
                 {"key": "marginal_pc", "question": "smoke -> dysp"}):  # fmt: skip
        with pytest.raises(InputError):
            run(**{"data": asia, "question": replace(ASKED, known=ORDER), **call})


def test_a_question_survives_its_json():
    two = {"cause": "a", "outcome": "b"}
    for one in (ASKED, Question(**two, levels=("0", "1"), values=(1, 2), share=0.5),
                Question(**two, outcome_level=("x", "y"), adjust=()),
                Question(**two, shares=(0.2, 0.8))):  # fmt: skip
        assert parse_question(one.to_json()) == one
    for wrong in ({}, {"cause": "a"}, {"cause": "a", "outcome": "b", "color": 1}, "a"):
        with pytest.raises(InputError):
            parse_question(wrong)
    for shares in ([0, 0.5], [0.6, 0.6], [0.5], [0.5, "x"], [True, 0.5], "12", 0.5):
        with pytest.raises(InputError, match="two numbers above 0, at most 1 together"):
            parse_question({**two, "shares": shares})
    with pytest.raises(InputError, match="occurs twice"):
        listed([Question(**two), Question(**two, shares=(0.5, 0.5))])


def test_the_forecast_of_a_width_by_hand():
    """At ε = 1, δ = 1e-6 half of .7 of mu squared is the number's; weights are at most 4."""
    mu = mu_budget(1.0, 1e-6) * (0.7 / 2) ** 0.5
    noise, sample = 1.3 * 4 * 10 / (mu * 1000), 0.2 * 100 * (1 / 250 + 1 / 750)
    about = {"rows": 1000, "epsilon": 1.0, "delta": 1e-6, "share": 0.7, "levels": 3, "span": 10.0}
    found = width(**about, shares=(0.25, 0.75), known=RANDOMISED)
    assert found.half == pytest.approx(1.959964 * (noise**2 + sample / 1) ** 0.5)
    assert found.most == pytest.approx(1.09 * found.half)
    assert width(**about, shares=(0.25, 0.75), known=NAMED).most == pytest.approx(1.9 * found.half)
    assert width(**about, shares=(0.25, 0.75)).most is None
    even = width(**about, known=NAMED)
    assert even.half == width(**about, shares=(1 / 3, 1 / 3)).half
    assert even.most == pytest.approx(3.7 * even.half)


def test_a_forecast_says_the_width_that_each_epsilon_buys_before_a_record_is_read(capsys, tmp_path):
    """By Python, by the command, and by hand; a named set and a known cause are promised."""
    levels = {"type": "ordered", "levels": ("no", "yes")}
    schema = Schema(tuple(Column(name=name, **levels) for name in ("drug", "age", "cost")))
    wanted = Question(cause="drug", outcome="cost", values=(100, 900), adjust=("age",),
                      shares=(0.5, 0.5))  # fmt: skip
    found = plan(schema, rows=20_000, epsilon=[0.3, 1], algorithms="marginal_pc", draws=2, empty=0,
                 question=wanted)  # fmt: skip
    by_hand = width(rows=20_000, epsilon=1.0, delta=1e-6, share=0.7, levels=2, span=800.0,
                    shares=(0.5, 0.5), known=NAMED)  # fmt: skip
    assert found.widths[0].found[1] == by_hand
    assert [w["half"] for w in found.as_dict()["widths"]] == [w.half for w in found.widths[0].found]
    assert f"about ± {by_hand.half:.4g} at public shares 0.5 and 0.5; in nine of ten" in str(found)
    two = [replace(wanted, weight=3),
           replace(wanted, outcome="age", values=None, adjust=(), shares=(0.2, 0.8))]  # fmt: skip
    forecast = plan(schema, rows=20_000, epsilon=1, algorithms="marginal_pc", draws=2, empty=0,
                    question=two)  # fmt: skip
    about = {"rows": 20_000, "epsilon": 1.0, "delta": 1e-6, "levels": 2, "known": NAMED}
    assert [each.found for each in forecast.widths] == [
        (width(share=0.7 * 3 / 4, span=800.0, shares=(0.5, 0.5), **about),),
        (width(share=0.7 / 4, span=1.0, shares=(0.2, 0.8), **about),),
    ]
    schema.save(tmp_path / "s.json")
    asked = (f"plan --schema {tmp_path / 's.json'} --rows 20000 --epsilon 1 --draws 2 --algorithm "
             "marginal_pc --cause drug --outcome cost")  # fmt: skip
    main([*asked.split(), "--values", "100,900", "--adjust", "age", "--shares", "0.5,0.5"])
    assert found.widths[0].sentences[1] in capsys.readouterr().out
    main(asked.split())
    said = capsys.readouterr().out
    assert "No width is guaranteed" in said
    assert "Fewer columns leave fewer sets." in said
    for wrong in (["--shares", "0.5"], ["--cause-level", "yes"], ["--values", "1"]):
        assert main([*asked.split(), *wrong]) == 2
