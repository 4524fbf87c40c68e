"""The report's sentences, computed from results: for people who know no statistics."""

from __future__ import annotations

import math
from collections.abc import Sequence

from engine import Dataset, RunResult
from engine.studies.null import Invented
from engine.studies.repeat import Repetition, usual
from engine.teaching.neighbours import guess_bound
from pages.shell import verdict
from pages.shell import words as text
from pages.shell.words import number

LEAST = 20  # fewer repetitions say nothing about a range


def headline(data: Dataset, result: RunResult) -> str:
    """What was found, at which epsilon, as one sentence."""
    start = _start(result)
    one = result.counts
    if not data.public or one is None:
        links = len(result.skeleton) - len(result.untested)
        return f"{start}, {text.count(links, 'link')} {'was' if links == 1 else 'were'} found."
    return (
        f"{start}, {one.found} of {text.count(one.true, 'known link')} were found and "
        f"{one.invented} invented."
    )


def _start(result: RunResult) -> str:
    """ "At ε = 1 for the whole run"; every ε says which guarantee it carries."""
    epsilon = getattr(result.params, "epsilon", None)
    if epsilon is None:
        return "Without any privacy"
    if result.ledger.undefended:
        return f"At ε = {number(epsilon)}, which nothing defends here"
    if result.ledger.cap is not None:
        return f"At ε = {number(epsilon)} for the whole run"
    return f"At ε = {number(epsilon)} as the paper counts it, which is no guarantee"


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


def price(result: RunResult) -> str:
    """What the epsilon promises, in odds; or that it promises nothing, and protects nobody."""
    level, _ = verdict.price(result)
    if result.ledger.undefended:
        return f"No promise: this protects nobody. Why: {'; '.join(result.ledger.undefended)}."
    cap, able = result.ledger.cap, result.spent.epsilon
    if cap is not None:
        if level == verdict.NOTHING:
            return "No promise worth the name: so large an ε protects nobody."
        chance = number(100 * guess_bound(cap.epsilon), 3)
        return (
            "The promise: who sees this result, knows everybody else's row and must guess which of "
            f"two rows one person had is right at most {chance} % of the time; 50 % is chance."
        )
    if getattr(result.params, "epsilon", None) is None:
        return "No promise: the data were read as they are, which protects nobody."
    if not math.isfinite(able):
        return "No promise: for this run no finite ε can be defended, so it protects nobody."
    if level == verdict.NOTHING:
        return f"No promise: what can be defended here is ε = {number(able)}, and protects nobody."
    return (
        f"The promise: what can be defended for this whole run is ε = {number(able)}, not the "
        "number above."
    )


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


def limits(data: Dataset, result: RunResult, nothing: Invented | None = None) -> list[str]:
    """What the page does not show; ``nothing`` is what the setting invents where nothing is."""
    said = []
    if data.public:
        said.append(
            f"A simulation: {data.n:,} rows drawn from the published network "
            f"“{text.dataset_title(data)}”, whose links are known. On real data nobody knows them, "
            "and results may be better or worse."
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
            said.append(f"The promise may fail with probability δ = {number(result.spent.delta)}.")
        said.append(text.RESEARCH_TOOL)
    return said
