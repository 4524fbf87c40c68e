"""What a run amounts to: counts and sentences, each made once.

Pages, files, slides, the terminal and notebooks print these: two of them that speak of one run
cannot disagree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.graphs.links import MARKS, LinkClass
from engine.graphs.metrics import Counts
from engine.params import Parameters
from engine.percent import number
from engine.privacy.accounting import Guarantee
from engine.privacy.ledger import Ledger

FINE, DOUBTFUL, NOTHING = "fine", "doubtful", "nothing"
_WEAK, _NO_USE = 10.0, 30.0  # above these ε hardly protects (e^10 odds), and nobody (e^30)
_CLOSE = 1.01  # a proven total this near the claimed one is the same number
PROMISE = (
    "Whoever sees this result, knows everybody else's row and has to guess which of two rows one "
    "person had is right at most {right} times in 100; a coin is right 50 times."
)
NO_PROMISE = "No promise: this protects nobody."


@dataclass(frozen=True)
class Promise:
    """What protects those in the data.

    Of 100 guesses between two rows that one person may have had, ``right`` are right at most; all
    of them where nothing is promised. ``level`` says how well it holds ("fine", "doubtful",
    "nothing"), ``terms`` what it is in the field's terms.
    """

    level: str
    right: int
    sentence: str
    terms: str


@dataclass(frozen=True)
class Summary:
    """A run in counts and sentences.

    ``counts`` is None where no truth is known or it may not be shown. ``links`` says how many links
    were found, ``arrows`` what is wrong with their directions, ``untested`` what was left open,
    ``headline`` all of this under its privacy, ``ended`` why the run ended early, ``directions``
    how many links their evidence leaves without an arrow, ``order`` what depends on the order of
    the columns; each is empty where there is nothing to say.
    """

    counts: Counts | None
    headline: str
    links: str
    arrows: str
    untested: str
    ended: str
    directions: str
    order: str
    promise: Promise

    @property
    def found(self) -> str:
        """Links, arrows and what was left open, without the privacy."""
        return " ".join(filter(None, (self.links, self.arrows, self.untested)))

    def __str__(self) -> str:
        notes = (self.ended, self.directions, self.order)
        lines = (self.headline, *notes, self.promise.terms, self.promise.sentence)
        return "\n".join(filter(None, lines))


def summarise(
    params: Parameters,
    ledger: Ledger,
    claimed: Guarantee | None,
    *,
    counts: Counts | None,
    links: int,
    untested: int,
    contradicted: int,
    status: str,
    tests: int,
    order: str,
) -> Summary:
    """What a run amounts to, from its parameters, charges and the paper's total.

    ``links`` are adjacent pairs, ``untested`` those of them not tested to the end, ``contradicted``
    those tested whose arrows contradict each other; ``tests`` is the number of CI tests. ``counts``
    None leaves the truth out, where it is not known or scores against it would not be private.
    """
    promised = promise(params, ledger, claimed)
    words = links_words(counts, links - untested), arrows_words(counts), _untested(untested, counts)
    return Summary(
        counts,
        f"{_start(params, ledger, promised)}: {' '.join(filter(None, words))}",
        *words,
        _ended(status, ledger, tested=bool(tests)),
        directions_words(contradicted),
        order,
        promised,
    )


# Counts in words --------------------------------------------------------------------------


def links_words(counts: Counts | None, shown: int) -> str:
    """How many links there are, and how many of them are true."""
    if counts is None:
        return f"{MARKS[None].counted(shown)} found; the true links are not known."
    found = MARKS[LinkClass.FOUND].counted(counts.found, counts.true)
    return f"{found}, {MARKS[LinkClass.FALSE_POSITIVE].counted(counts.invented)}."


def arrows_words(counts: Counts | None) -> str:
    """What is wrong with the directions of the links found; empty for nothing."""
    if counts is None:
        return ""
    kinds = {
        LinkClass.REVERSED: counts.reversed,
        LinkClass.LINE: counts.lines,
        LinkClass.UNIDENTIFIED: counts.claimed,
    }
    said = listed([MARKS[kind].counted(n) for kind, n in kinds.items() if n])
    return f"Of those found: {said}." if said else ""


def directions_words(contradicted: int) -> str:
    """How many links have no arrow because their arrows contradict each other; empty for none."""
    if not contradicted:
        return ""
    drawn = "it is drawn as a line" if contradicted == 1 else "they are drawn as lines"
    return f"The arrows of {MARKS[None].counted(contradicted)} contradict each other, so {drawn}."


def together(costs: Sequence[Guarantee]) -> str:
    """What runs on the same rows cost in all, or that nothing bounds it."""
    epsilon, delta = sum(c.epsilon for c in costs), sum(c.delta for c in costs)
    if math.isinf(epsilon):
        return "without any bound: for one of them at least nothing can be proven"
    said = f"ε = {number(epsilon)}, δ = {number(delta)}"
    return f"{said} (basic composition of what can be proven)"


def listed(parts: Sequence[str]) -> str:
    """Words with commas and an "and"."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _untested(pairs: int, counts: Counts | None) -> str:
    """What is said of pairs not tested to the end, if there are any."""
    if not pairs:
        return ""
    true = "" if counts is None else f" ({counts.untested_true:,} of them true links)"
    return f"{MARKS[LinkClass.UNTESTED].counted(pairs)}{true}."


def _start(params: Parameters, ledger: Ledger, promised: Promise) -> str:
    """What stands before the counts: they never go without what protects those in the data."""
    if getattr(params, "epsilon", None) is None:
        return "Without privacy"
    nobody = promised.level == NOTHING
    if ledger.cap is None and not ledger.undefended:
        return "As published, which protects nobody" if nobody else "As published"
    return "With noise that protects nobody" if nobody else "With this privacy"


def _ended(status: str, ledger: Ledger, *, tested: bool) -> str:
    """Why the run ended before its end; empty if it did not."""
    if status == "cancelled":
        return "Stopped early."
    if status != "budget_exhausted":
        return ""
    last = max(ledger.by_order(), default=0)
    if ledger.cap is None and tested:
        rest = "The published method keeps the edges that it could not ask about."
        if last == 0:
            return f"The plan gave order 0 the whole budget: no conditional CI test ran. {rest}"
        return f"The plan left no budget after order {last}. {rest}"
    at = f"{'order' if tested else 'iteration'} {last}"
    return f"The budget ran out at {at}: raise ε, or lower the largest order."


# Privacy in words -------------------------------------------------------------------------


def price(params: Parameters, ledger: Ledger, claimed: Guarantee | None) -> tuple[str, str]:
    """(how well the price holds: "fine", "doubtful" or "nothing", the price in words)."""
    cap, spent = ledger.cap, ledger.defended.epsilon
    if ledger.undefended:
        return NOTHING, "Nothing can be proven"
    if cap is not None:
        words = f"Guaranteed: ε = {number(cap.epsilon)} for the whole run"
        if cap.epsilon > _NO_USE:
            return NOTHING, f"{words}, too large to protect anyone"
        return (FINE if cap.epsilon <= _WEAK else DOUBTFUL), words
    if claimed is None and getattr(params, "epsilon", None) is None:
        return NOTHING, "No privacy: nothing can be proven"
    said = "Nothing claimed" if claimed is None else f"Claimed ε = {number(claimed.epsilon)}"
    endless = claimed is not None and not math.isfinite(claimed.epsilon)
    if endless:
        said = "The paper's sum has no limit"
    if not math.isfinite(spent):
        return NOTHING, f"{said}; nothing can be proven"
    if claimed is not None and not endless and spent <= min(_WEAK, claimed.epsilon * _CLOSE):
        return FINE, f"{said}, and it can be proven"
    able = f"{said}; what can be proven is ε = {number(spent)}"
    return (NOTHING, f"{able}, which protects nobody") if spent > _NO_USE else (DOUBTFUL, able)


def promise(params: Parameters, ledger: Ledger, claimed: Guarantee | None) -> Promise:
    """What the epsilon promises, in odds; or that it promises nothing, and protects nobody."""
    level, terms = price(params, ledger, claimed)
    if level == NOTHING:
        return Promise(level, 100, f"{NO_PROMISE} {_why(params, ledger)}", terms)
    cap, able = ledger.cap, ledger.defended.epsilon
    right = guesses(able if cap is None else cap.epsilon)
    return Promise(level, right, PROMISE.format(right=right), terms)


def guesses(epsilon: float) -> int:
    """Right guesses in 100 between two neighbours at most, rounded up: 100 e^ε / (1 + e^ε).

    Wasserman and Zhou (2010), for a fair coin; and the probability δ with which ε may fail.
    """
    return math.ceil(100 / (1 + math.exp(-epsilon)))


def _why(params: Parameters, ledger: Ledger) -> str:
    if ledger.undefended:
        return f"Why: {'; '.join(ledger.undefended)}."
    if getattr(params, "epsilon", None) is None:
        return "The data were read as they are."
    if not math.isfinite(ledger.defended.epsilon):
        return "For this run no finite ε can be proven."
    return f"The ε that can be proven, {number(ledger.defended.epsilon)}, is too large."
