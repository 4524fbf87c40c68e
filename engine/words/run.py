"""Describe a run in counts and sentences.

Pages, files, slides, the terminal and notebooks print the same counts and sentences.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.graphs.links import FOUND, MARKS, LinkClass
from engine.percent import number
from engine.renamed import Renamed

if TYPE_CHECKING:
    from engine.graphs.metrics import Counts
    from engine.params import Parameters
    from engine.privacy.accounting import Guarantee
    from engine.privacy.ledger import Ledger

# The four ε of a run. The ε of a setting is one of them, or pays for one of many tests or rounds.
GUARANTEED, CLAIMED, PROVEN = "Guaranteed ε", "Claimed ε", "Proven ε"
PER = "ε per {unit}"
FINE, DOUBTFUL, NOTHING = "fine", "doubtful", "nothing"
# above the first, ε hardly protects (odds e^10); above the second, not at all (e^30)
_WEAK, _NO_USE = 10.0, 30.0
_CLOSE = 1.01  # a Proven ε within this factor of the Claimed ε counts as equal
PROMISE = (
    "An attacker who knows all other rows and must guess which of two equally likely rows a "
    "person has is right at most {right} times in 100."
)
NO_PROMISE = "No guarantee: {why}."
UNPROTECTED = "the data were read without noise"


@dataclass(frozen=True)
class Promise:
    """The protection of the people in the data.

    An attacker who guesses between two possible rows of a person is right in at most
    ``attacker_success`` of 100 guesses (100 if there is no guarantee). ``level`` says how strong
    the protection is ("fine", "doubtful", "nothing"); ``terms`` states the ε.
    """

    level: str
    attacker_success: int
    sentence: str
    terms: str

    right = Renamed("attacker_success")


@dataclass(frozen=True)
class Summary:
    """A run in counts and sentences.

    ``counts`` is None if the ground truth is unknown or must not be shown. ``links`` says how many
    edges were found, ``arrows`` which directions are wrong, ``untested`` which pairs were not fully
    tested, ``headline`` all of this under its privacy, ``ended`` why the run ended early,
    ``directions`` how many edges the evidence leaves undirected, ``order`` which edges depend on
    the order of the columns; each may be empty.
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
        """Sentences about edges, directions and untested pairs, without the privacy."""
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
    """Summarise a run from its parameters, its charges and the Claimed ε.

    ``links`` are adjacent pairs, ``untested`` those of them not fully tested, ``contradicted``
    those tested whose arrows contradict each other; ``tests`` is the number of CI tests. ``counts``
    is None if the ground truth is unknown or scores against it would not be private.
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
    """Say how many links there are, and how many of them are true."""
    if counts is None:
        return f"{MARKS[None].counted(shown)} found; the true links are not known."
    found = FOUND.counted(counts.found, counts.true)
    return f"{found}, {MARKS[LinkClass.FALSE_POSITIVE].counted(counts.false_positives)}."


def arrows_words(counts: Counts | None) -> str:
    """Say which directions of found edges are wrong or open; empty if there are none."""
    if counts is None:
        return ""
    kinds = {
        LinkClass.REVERSED: counts.reversed,
        LinkClass.UNDIRECTED: counts.undirected,
        LinkClass.NOT_IDENTIFIABLE: counts.not_identifiable,
    }
    said = listed([MARKS[kind].counted(n) for kind, n in kinds.items() if n])
    return f"Found edges: {said}." if said else ""


def directions_words(contradicted: int) -> str:
    """Say how many links are undirected because arrows contradict each other; may be empty."""
    if not contradicted:
        return ""
    drawn = "it is drawn as a line" if contradicted == 1 else "they are drawn as lines"
    return f"The arrows of {MARKS[None].counted(contradicted)} contradict each other, so {drawn}."


def together(costs: Sequence[Guarantee]) -> str:
    """Return the total (ε, δ) of runs on the same rows by basic composition."""
    epsilon, delta = sum(c.epsilon for c in costs), sum(c.delta for c in costs)
    if math.isinf(epsilon):
        return "no bound on ε, because at least one run has no guarantee"
    return f"ε = {number(epsilon)}, δ = {number(delta)} (proven, by basic composition)"


def listed(parts: Sequence[str]) -> str:
    """Join words with commas and an "and"."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def _untested(pairs: int, counts: Counts | None) -> str:
    """Return the sentence about pairs that were not fully tested, if there are any."""
    if not pairs:
        return ""
    true = "" if counts is None else f" ({counts.true_untested:,} of them true links)"
    return f"{MARKS[LinkClass.UNTESTED].counted(pairs)}{true}."


def _start(params: Parameters, ledger: Ledger, promised: Promise) -> str:
    """Return the start of the headline: the protection, which always precedes the counts."""
    if getattr(params, "epsilon", None) is None:
        return "Without privacy"
    nobody = promised.level == NOTHING
    if ledger.cap is None and not ledger.no_guarantee_reasons:
        return "As published, without a guarantee" if nobody else "As published"
    return "With noise but without a guarantee" if nobody else "With this privacy"


def _ended(status: str, ledger: Ledger, *, tested: bool) -> str:
    """Say why the run ended early; empty if it is complete."""
    if status == "cancelled":
        return "Cancelled."
    if status != "budget_exhausted":
        return ""
    last = max(ledger.by_order(), default=0)
    if ledger.cap is None and tested:
        rest = "The published method keeps the edges that it could not ask about."
        if last == 0:
            return f"The plan gave order 0 the whole budget: no conditional CI test ran. {rest}"
        return f"The plan left no budget after order {last}. {rest}"
    at = f"{'order' if tested else 'iteration'} {last}"
    return f"Budget exhausted at {at}: raise ε or lower the largest order."


# Privacy in words -------------------------------------------------------------------------


def stated(name: str, epsilon: float) -> str:
    """Return an ε under its name: "Claimed ε = 3", or "Proven ε: no bound"."""
    return f"{name} = {number(epsilon)}" if math.isfinite(epsilon) else f"{name}: no bound"


def epsilon_name(unit: str, params: Parameters) -> str:
    """Return the name of the ε of a setting; ``unit`` is its algorithm's ``epsilon_unit``."""
    if getattr(params, "guarantee", None) != "published":
        return GUARANTEED
    return PER.format(unit=unit) if unit else CLAIMED


def proven_name(ledger: Ledger) -> str:
    """Return the name of a run's proven ε: Guaranteed ε if a cap guarantees it in advance."""
    return PROVEN if ledger.cap is None or ledger.no_guarantee_reasons else GUARANTEED


def price(params: Parameters, ledger: Ledger, claimed: Guarantee | None) -> tuple[str, str]:
    """Return how strong the protection is ("fine", "doubtful", "nothing") and its ε in words."""
    cap, proven = ledger.cap, ledger.proven.epsilon
    if ledger.no_guarantee_reasons:
        return NOTHING, "No guarantee"
    if cap is not None:
        words = f"{stated(GUARANTEED, cap.epsilon)} for the whole run"
        if cap.epsilon > _NO_USE:
            return NOTHING, f"{words}, too large to protect anyone"
        return (FINE if cap.epsilon <= _WEAK else DOUBTFUL), words
    if claimed is None and getattr(params, "epsilon", None) is None:
        return NOTHING, "No privacy"
    terms = stated(PROVEN, proven)
    if claimed is not None:
        terms = f"{stated(CLAIMED, claimed.epsilon)}; {terms}"
        if proven <= min(_WEAK, claimed.epsilon * _CLOSE):
            return FINE, terms
    return (NOTHING if proven > _NO_USE else DOUBTFUL), terms


def promise(params: Parameters, ledger: Ledger, claimed: Guarantee | None) -> Promise:
    """Return the attacker's success that the ε allows, or why there is no guarantee."""
    level, terms = price(params, ledger, claimed)
    if level == NOTHING:
        return Promise(level, 100, NO_PROMISE.format(why=_why(params, ledger)), terms)
    cap, proven = ledger.cap, ledger.proven.epsilon
    right = guesses(proven if cap is None else cap.epsilon)
    return Promise(level, right, PROMISE.format(right=right), terms)


def guesses(epsilon: float) -> int:
    """Return the most right guesses in 100 between neighbours, rounded up: 100 e^ε / (1 + e^ε).

    This is the bound of Wasserman and Zhou (2010) for a fair coin and δ = 0.
    """
    return math.ceil(100 / (1 + math.exp(-epsilon)))


def _why(params: Parameters, ledger: Ledger) -> str:
    if ledger.no_guarantee_reasons:
        return "; ".join(ledger.no_guarantee_reasons)
    if getattr(params, "epsilon", None) is None:
        return UNPROTECTED
    proven = ledger.proven.epsilon
    if not math.isfinite(proven):
        return "no finite ε is proven for this run"
    return f"ε = {number(proven)} is too large to protect anyone"
