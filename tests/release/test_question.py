"""A release with a question: charged exactly, answered from its file, by all ways alike."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine import Budget, InputError, Knowledge, Question, combine, load_release
from engine.effects.estimate import AIPW
from engine.privacy.accounting import mu_budget
from engine.release.checking import attack_release
from engine.release.door import opened
from engine.release.file import ASKED, canonical, loads, to_json
from engine.release.page import to_html
from tests.release.samples import declared, own_asia

ORDER = Knowledge(tiers=[["smoke"], ["bronc", "lung", "either", "xray", "dysp", "tub"]])
WANTED = Question(cause="smoke", outcome="bronc", levels=("no", "yes"), known=ORDER)


@pytest.fixture(scope="module")
def paid(tmp_path_factory):
    """A release of Asia for a question, its budget and its file."""
    folder = tmp_path_factory.mktemp("question")
    data = own_asia(20_000)
    budget = Budget("ward", epsilon=3, delta=1e-5, path=folder / "b.db")
    found = budget.release(data.to_frame(), declared(data), question=WANTED)
    return found, budget, found.save(folder / "q.json")


def test_a_kept_file_is_answered_as_by_the_version_that_wrote_it():
    path = Path(__file__).parents[1] / "known_answer" / "releases" / "asia-question.json"
    (answer,) = load_release(path).answers
    moved = answer.difference
    told = 0.6673394233487869, 0.6559027740680694, 0.6787760726295045
    assert (moved.value, moved.low, moved.high) == pytest.approx(told, rel=1e-8)


def test_the_question_is_in_the_file_and_its_answer_follows_from_it(paid):
    found, budget, path = paid
    assert budget.left.epsilon == 2
    schema = found.release.schema
    assert (schema.knowledge, schema.questions) == (ORDER, (replace(WANTED, known=None),))
    assert to_json(found.release)["version"] == ASKED
    again = load_release(path)
    answer = again.answer()
    assert answer.method == AIPW
    assert answer.difference.low < 0.3 < answer.difference.high
    assert answer.difference.width < again.effect("smoke", "dysp").difference.width
    assert answer.to_json() == found.answer().to_json() == again.answer(WANTED).to_json()
    assert answer.sentence in to_html(found.release).replace("&#x27;", "'")
    assert answer.to_json() != again.effect("smoke", "bronc", outcome_level="no").to_json()
    labels = found.release.labels
    assert labels[-2:] == ("question's tables", "question's numbers")


def test_a_file_that_changes_its_question_is_refused(paid):
    found, _, _ = paid
    plain = replace(WANTED, known=None)
    for other in ((replace(plain, outcome="dysp"),), (), (replace(plain, share=0.5),),
                  (plain, replace(plain, outcome="dysp"))):  # fmt: skip
        forged = replace(found.release, schema=replace(found.release.schema, questions=other))
        forged = loads(canonical(forged).encode())
        with pytest.raises(InputError):
            opened(canonical(forged).encode())


def test_tables_of_two_questions_add_up_and_numbers_do_not(paid, tmp_path):
    data = own_asia(8_000, seed=9)
    other = Budget("other", epsilon=3, delta=1e-5, path=tmp_path / "b.db")
    more = other.release(data.to_frame(), declared(data), question=WANTED)
    both = combine([paid[0], more], ORDER)
    assert both.release.schema.questions == ()
    assert both.effect("smoke", "bronc", outcome_level="yes").method != AIPW
    with pytest.raises(InputError, match="made without a question"):
        both.answer()
    assert load_release(both.save(tmp_path / "both.json")).answer(WANTED).difference is not None


def test_two_questions_divide_the_share_by_weight_and_are_answered_from_one_file(
    paid, tmp_path, typed
):
    """Of mu squared .3 is the graph's; .7 is divided 2 : 1, each half for tables and a number."""
    data = own_asia(20_000)
    two = [replace(WANTED, weight=2), replace(WANTED, outcome="dysp")]
    schema = declared(data).asked(two)
    budget = Budget("two", epsilon=1, delta=1e-6, path=tmp_path / "b.db")
    found = budget.release(data.to_frame(), schema, epsilon=1, delta=1e-6)
    released, each = found.release, (f"question {k}'s {w}" for k in (1, 2)
                                     for w in ("tables", "numbers"))  # fmt: skip
    assert released.labels[-4:] == tuple(each)
    parts = np.array([(one.sensitivity / one.sigma) ** 2 for one in released.releases])
    assert parts.sum() == pytest.approx(mu_budget(1.0, released.params["delta"]) ** 2, rel=1e-9)
    assert parts[-4:] / parts.sum() == pytest.approx(0.35 * np.array([2, 2, 1, 1]) / 3, rel=1e-9)
    assert [answer.method for answer in found.answers] == [AIPW, AIPW]
    narrow, alone = found.answers[0].difference.width, paid[0].answer().difference.width
    assert narrow > alone
    told = to_json(released)["schema"]
    assert (len(told["questions"]), "question" in told) == (2, False)
    assert "weight" not in to_json(paid[0].release)["schema"]["question"]
    again = load_release(found.save(tmp_path / "two.json"))
    assert [a.to_json() for a in again.answers] == [a.to_json() for a in found.answers]
    assert json.loads(typed(f"effect {tmp_path / 'two.json'} --json").out) == [
        json.loads(json.dumps(a.to_json())) for a in found.answers
    ]
    for answer in found.answers:
        assert answer.sentence in to_html(released).replace("&#x27;", "'")
    forged = replace(released, schema=replace(schema, questions=schema.questions[::-1]))
    with pytest.raises(InputError):
        opened(canonical(forged).encode())
    attacked = attack_release(released, proposals=3)
    assert attacked.passed
    assert min(attacked.ratios.values()) > 0.5  # half a charge would have been found
    assert {"question 1's numbers", "question 2's numbers"} <= {
        label for label in released.labels if any(label in key for key in attacked.ratios)
    }


WRONG = [
    replace(WANTED, outcome="bronchitis"),
    [WANTED, replace(WANTED, weight=3)],
    [WANTED, replace(WANTED, outcome="dysp", share=0.5)],
    [WANTED, replace(WANTED, outcome="dysp", known=Knowledge(roots=["smoke"]))],
    [WANTED, "smoke -> dysp"],
    replace(WANTED, levels=("no", "maybe")),
    replace(WANTED, outcome_level="maybe"),
    replace(WANTED, values=(1.0, 2.0, 3.0)),
    "smoke -> bronc",
]


@pytest.mark.parametrize("wanted", WRONG)
def test_a_question_that_does_not_fit_costs_nothing(paid, wanted):
    _, budget, _ = paid
    data = own_asia(20_000)
    with pytest.raises(InputError):
        budget.release(data.to_frame(), declared(data), question=wanted)
    assert budget.left.epsilon == 2


def test_the_command_line_asks_and_answers(paid, typed):
    (found, _, path), before = paid, typed("budget show ward").out
    answer = found.answer().sentence
    assert typed(f"effect {path}").out.splitlines()[0] == answer
    assert "If smoke were yes instead of no for everyone" in answer
    two = [{"cause": "smoke", "outcome": "bronc"}, {"cause": "smoke", "outcome": "dysp"}]
    Path("two.json").write_text(json.dumps(two), encoding="utf-8")
    both = typed("release --csv a.csv --schema s.json --budget ward --epsilon 1 --out both.json "
                 "--questions two.json").out  # fmt: skip
    said = [answer.sentence for answer in load_release("both.json").answers]
    assert [line for line in both.splitlines() if line in said] == said
    old = typed(f"effect {path} --cause smoke --effect=bronc --level yes --base no --event yes")
    assert (old.out.splitlines()[0], old.err.count(" is called --")) == (answer, 4)
    for wrong in ("--cause smoke", f"--questions {path}", "--questions two.json --mean",
                  "--outcome bronc --after lung", "--cause smoke --outcome bronc "
                  "--reference no", "--cause smoke --outcome bronc --before bronc"):  # fmt: skip
        line = f"release --csv a.csv --schema s.json --budget ward --out w.json {wrong}"
        assert typed(line).status == 2
    assert typed("budget show ward").out.count("release by") == before.count("release by") + 1
