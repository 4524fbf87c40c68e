"""The sentences about a causal effect, for pages, command line and files."""

from __future__ import annotations

from engine.effects.estimate import AIPW, Contrast, Interval
from engine.effects.finding import Finding
from engine.percent import count, number, percent

ASSUMPTION = "This assumes that no unmeasured column causes both, and that the edges are right."
CUT = (
    "An estimated chance lay below 0 or above 100 of 100 and is clipped there. The difference "
    "uses the estimates before clipping."
)
KNOWLEDGE = "Background knowledge costs no ε and may leave fewer graphs."
UNTIMELY = (
    "The background knowledge fits no plausible graph: every graph leads from a later tier to an "
    "earlier one, so no effect is reported."
)
FOLDED = "Rare levels of adjusted columns were merged with their neighbours, after the noise."
PROJECTED = (
    "The estimate is a linear projection: the released tables hold pairs and a few larger sets, "
    "not all these columns together. If effects do not add up, it is their straight line."
)
CORRECTED = (
    "The estimate is doubly robust: the release spent a share of its budget on one number per "
    "adjustment set, which corrects the estimate from the tables."
)
# probability that the outcome causes the cause, from which on the sentence mentions it
NARROW = 0.05


def of_hundred(p: float) -> str:
    """Write a share as a number out of 100: whole numbers from 10 on, tenths below."""
    many = 100 * p
    if abs(many) >= 9.95:
        text = f"{many:.0f}"
    else:
        text = f"{many:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text.replace("-", "−")


def amount(value: float, in_unit: bool) -> str:
    """Write a mean or a difference: a number in the outcome's unit, or out of 100."""
    return number(value, 4).replace("-", "−") if in_unit else of_hundred(value)


def chance(p: float) -> str:
    """Write the probability of a direction, which is at most the calibrated limit."""
    return percent(p)


def sentence(found: Finding) -> str:
    """State the effect, or why there is none, and the probability that the cause has an effect."""
    if found.acts is None:
        acts = f"No path from {found.cause} to {found.outcome} was found."
    else:
        acts = (
            f"The probability that {found.cause} acts on {found.outcome} is {chance(found.acts)}."
        )
    if found.difference is None:
        return UNTIMELY if found.refusal == UNTIMELY else f"{found.refusal} {acts}"
    return f"{_condition(found)}{_answer(found)} {acts}"


def _condition(found: Finding) -> str:
    """Return the condition for the case that the outcome may cause the cause."""
    if found.reverse < NARROW:
        return ""
    return (
        f"{found.outcome} is among the causes of {found.cause} with a probability of "
        f"{chance(found.reverse)}; then setting {found.cause} does not change {found.outcome}. "
        "If it is not: "
    )


def _answer(found: Finding) -> str:
    """State both means or probabilities and their difference."""
    moved, in_unit = found.difference, found.in_unit
    assert moved is not None
    least, most = (amount(value, in_unit) for value in found.estimates)
    between = least if least == most else f"{least} to {most}"
    ends = f"{amount(moved.low, in_unit)} to {amount(moved.high, in_unit)}"
    first = "if" if found.reverse >= NARROW else "If"
    if not {found.level, found.reference} <= (found.risks or {}).keys():
        what = "the mean of " if in_unit else "the chance of "
        told = found.outcome if in_unit else f"{found.outcome} = {found.event}"
        return (
            f"{first} {found.cause} were {found.level} instead of {found.reference} for everyone, "
            f"{what}{told} would differ by {between}{'' if in_unit else ' of 100'} (95 % interval: "
            f"{ends})."
        )
    high, low = (amount(found.risk(at).value, in_unit) for at in (found.level, found.reference))
    if in_unit:
        return (
            f"{first} {found.cause} were {found.level} for everyone, the mean of {found.outcome} "
            f"would be {high}; if it were {found.reference}, {low}. The difference is {between} "
            f"(95 % interval: {ends})."
        )
    return (
        f"{first} {found.cause} were {found.level} for everyone, {found.outcome} would be "
        f"{found.event} for {high} of 100; if it were {found.reference}, for {low} of 100. "
        f"The difference is {between} of 100 (95 % interval: {ends})."
    )


def notes(found: Finding) -> tuple[str, ...]:
    """List the notes on the sentence, with the assumption last."""
    if found.refusal == UNTIMELY:
        return (ASSUMPTION,)
    if found.refusal is not None:
        return (KNOWLEDGE, ASSUMPTION)
    said = [adjustment(found.adjusted)]
    said += [FOLDED] if any(answer.folded for answer in found.answers) else []
    said += [PROJECTED] if found.projected else []
    said += [CORRECTED] if found.method == AIPW else []
    said += [KNOWLEDGE] if len(found.adjusted) > 1 else []
    said += [CUT] if found.cut else []
    return (*said, ASSUMPTION)


def adjustment(sets: tuple[tuple[str, ...], ...]) -> str:
    """Name the heaviest adjustment set and count the others."""
    first = f"Adjusted for {{{', '.join(sets[0])}}}" if sets[0] else "Adjusted for nothing"
    if len(sets) == 1:
        return f"{first}."
    others = count(len(sets) - 1, "other set")
    return (
        f"{first}, and for {others}: plausible graphs need different sets, and the interval covers "
        "them all."
    )


def too_wide(cause: str, outcome: str, whole: Interval, asked: Contrast) -> str:
    """Say that an interval excludes too little."""
    in_unit = set(asked.values) != {0.0, 1.0}
    where = "open"
    if whole == whole.within(-asked.span, asked.span):
        ends = f"{amount(whole.low, in_unit)} to {amount(whole.high, in_unit)}"
        where = f"anywhere from {ends}{'' if in_unit else ' of 100'}"
    return (
        f"The effect of {cause} on {outcome} is {where}: the interval is too wide to say anything "
        "about this effect."
    )


def always_reversed(cause: str, outcome: str) -> str:
    """Say that every plausible graph leads from the outcome to the cause."""
    return (
        f"In every plausible graph {outcome} is among the causes of {cause}, so no graph shows an "
        f"adjustment set for the other direction."
    )


def hidden_level(name: str, level: str) -> str:
    """Say that a level's count cannot be distinguished from zero."""
    return f"The noise is larger than the count of {name} = {level}."


def hidden_covariance(cause: str, adjusted: tuple[str, ...]) -> str:
    """Say that the noise hides the covariance of the adjusted columns."""
    how = f"{', '.join((cause, *adjusted))} vary together" if adjusted else f"{cause} varies"
    return f"The noise hides how {how}, so no effect can be reported."


def too_many_groups(adjusted: tuple[str, ...]) -> str:
    """Say that a set has more cells than the limit."""
    return f"Adjusting for {{{', '.join(adjusted)}}} makes more groups than can be counted."
