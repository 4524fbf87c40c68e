"""The report's sentences, computed from results: for people who know no statistics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine import Dataset, RunResult
from engine.studies.null import Invented
from engine.studies.repeat import Repetition, usual
from engine.teaching.neighbours import guess_bound
from pages.shell import verdict
from pages.shell import words as text
from pages.shell.settings import is_simulated
from pages.shell.words import number

LEAST = 20  # fewer repetitions say nothing about a range


def headline(data: Dataset, result: RunResult) -> str:
    """What was found, as one sentence without a term of the trade."""
    one = result.counts
    if not data.public or one is None:
        links = len(result.skeleton) - len(result.untested)
        are, real = ("is", "whether it is") if links == 1 else ("are", "how many of them are")
        said = f"{text.count(links, 'link')} {are} shown; nobody knows {real} real"
        return f"{_start(result)}, {said}{_open(len(result.untested))}."
    back = verdict.backwards(result)
    return (
        f"{_start(result)}, {one.found} of {text.count(one.true, 'known link')} "
        f"{'is' if one.found == 1 else 'are'} found; {one.invented} of those shown "
        f"{'is' if one.invented == 1 else 'are'} false; {_backwards(back, one.turned - back)}"
        f"{_open(one.untested)}."
    )


def _backwards(back: int, lines: int) -> str:
    """Arrows that point the wrong way, and links without the arrow that they should have."""
    said = text.count(back, "arrow") if back else "no arrow"
    said += f" {'is' if back <= 1 else 'are'} backwards"
    lack = "lacks its arrow" if lines == 1 else "lack theirs"
    return f"{said}, and {text.count(lines, 'link')} {lack}" if lines else said


def _open(pairs: int) -> str:
    were = "pair was" if pairs == 1 else "pairs were"
    return f"; {pairs:,} {were} not tested to the end" if pairs else ""


def _start(result: RunResult) -> str:
    """What stands before the numbers: they never go without what protects those in the data."""
    if getattr(result.params, "epsilon", None) is None:
        return "Without any privacy"
    nobody = verdict.price(result)[0] == verdict.NOTHING
    return "With noise that protects nobody" if nobody else "With this privacy"


def range_sentence(outcomes: Sequence[Repetition]) -> str:
    """How much of the headline is luck; empty with too few repetitions."""
    if len(outcomes) < LEAST:
        return ""
    found = usual([o.counts.found for o in outcomes])
    extra = usual([o.counts.invented for o in outcomes])
    return (
        f"In {found.inside} of {found.of} repetitions {_range(found.low, found.high)} were found; "
        f"in {extra.inside} of {extra.of}, {_range(extra.low, extra.high)} were invented."
    )


def _range(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


@dataclass(frozen=True)
class Promise:
    """What protects those in the data.

    Of 100 guesses between two rows that one person may have had, ``right`` are right at most;
    all of them where nothing is promised. ``level`` says how well it holds, ``terms`` what it is
    in the field's own terms.
    """

    level: str
    right: int
    sentence: str
    terms: str

    @property
    def alt(self) -> str:
        """The array of a hundred figures in words."""
        if self.level == verdict.NOTHING:
            return "A hundred figures, all of them red: this protects nobody"
        return f"A hundred figures, {self.right} of them lit; chance alone lights 50"


def promise(result: RunResult) -> Promise:
    """What the epsilon promises, in odds; or that it promises nothing, and protects nobody."""
    level, terms = verdict.price(result)
    if level == verdict.NOTHING:
        return Promise(level, 100, f"No promise: this protects nobody. {_why(result)}", terms)
    cap, able = result.ledger.cap, result.spent.epsilon
    chance = guess_bound(able if cap is None else cap.epsilon)
    right = math.ceil(100 * chance)  # what bounds an attacker is rounded up
    sentence = (
        "The promise: who sees this result, knows everybody else's row and must guess which of two "
        f"rows one person had is right at most {number(100 * chance, 3)} % of the time: at most "
        f"{right} times in 100, where tossing a coin is right 50 times."
    )
    return Promise(level, right, text.together(sentence), terms)


def _why(result: RunResult) -> str:
    if result.ledger.undefended:
        return f"Why: {'; '.join(result.ledger.undefended)}."
    if getattr(result.params, "epsilon", None) is None:
        return "The data were read as they are."
    if not math.isfinite(result.spent.epsilon):
        return "For this run no finite ε can be defended."
    return f"The ε that can be defended, {number(result.spent.epsilon)}, is too large."


def _arrows(data: Dataset, result: RunResult) -> str:
    """How good the arrows are where a truth tells, as the end of a sentence.

    Not of a person's own data, whose truth file is no released fact.
    """
    counts, m = result.counts, result.metrics_tested
    if not data.public or counts is None or m is None or not counts.found:
        return ""
    links, right = text.count(counts.found, "known link"), counts.found - counts.turned
    right -= counts.claimed
    return (
        f": of the {links} found, {right} {'has' if right == 1 else 'have'} the arrow, or "
        f"the plain line, that such data allow (skeleton F1 {m.skeleton_f1:.2f}, directed F1 "
        f"{m.directed_f1:.2f}, SHD {m.shd})"
    )


def _origin(data: Dataset) -> str:
    """What public rows were drawn from."""
    what = "a simulated linear model" if is_simulated(data.name) else "the published network"
    return f"{what} “{text.dataset_title(data)}”"


def limits(data: Dataset, result: RunResult, nothing: Invented | None = None) -> list[str]:
    """What the page does not show; ``nothing`` is what the setting invents where nothing is."""
    said = []
    if data.public:
        said.append(
            f"A simulation: {data.n:,} rows drawn from {_origin(data)}, whose links are known. On "
            "real data nobody knows them, and results may be better or worse."
        )
    else:
        said.append(
            "Real data: nothing here says how many of these links are real. No score is shown, "
            "because scores would not be private, and nothing was repeated, because each "
            "repetition would spend budget."
        )
    if nothing is not None:
        said.append(nothing.sentence)
    if result.untested:
        why = "The run was stopped" if result.status == "cancelled" else "The budget ran out"
        pairs = text.count(len(result.untested), "pair")
        said.append(
            f"{why} while {pairs} had not been tested to the end: nothing is said of them, and "
            "they are drawn as grey dots."
        )
    said.append(
        "A link says that two things go together in a way that the others do not explain. It is "
        "causal only if nothing unmeasured causes both. A line without an arrow can point either "
        f"way. Arrows are less certain than links{_arrows(data, result)}."
    )
    if result.ledger.cap is not None and not result.ledger.undefended:
        if result.spent.delta > 0:
            failing = f"The promise may fail with probability δ = {number(result.spent.delta)}."
            said.append(text.together(failing))
        said.append(text.RESEARCH_TOOL)
    return said
