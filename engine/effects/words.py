"""An effect in sentences a person can check: so many of 100."""

from __future__ import annotations

from engine.effects.effect import ASSUMPTION, Effect
from engine.effects.estimate import LEVELS


def of_hundred(p: float) -> str:
    """A share as so many of 100: whole numbers from 10 on, tenths below."""
    many = 100 * p
    if abs(many) >= 9.95:
        said = f"{many:.0f}"
    else:
        said = f"{many:.1f}".removesuffix(".0")
    return "0" if said == "-0" else said.replace("-", "−")


def sentence(effect: Effect) -> str:
    """What setting the cause does, in one sentence; or why nothing is told."""
    if effect.refusal is not None:
        return effect.refusal
    high, low, told = effect.risk(effect.level), effect.risk(effect.base), effect.difference
    least, most = effect.values
    change = of_hundred(least)
    if len(effect.answers) > 1 and of_hundred(most) != change:
        change = f"{change} to {of_hundred(most)}"
    unless = ""
    if effect.reverse:
        unless = (
            f"Unless {effect.effect} is among the causes of {effect.cause}, as in "
            f"{effect.reverse} of the {len(effect.versions)} versions that the graph leaves open "
            f"(then setting {effect.cause} changes nothing about it): "
        )
    chances = of_hundred(_inside(high.value)), of_hundred(_inside(low.value))
    return (
        f"{unless}{'if' if unless else 'If'} {effect.cause} were {effect.level} for everyone, "
        f"{effect.effect} would be {effect.event} for {chances[0]} of 100; if it were "
        f"{effect.base}, for {chances[1]} of 100. The difference is {change} of 100; the noise and "
        f"the sample leave {of_hundred(told.low)} to {of_hundred(told.high)}."
    )


def _inside(p: float) -> float:
    return min(max(p, 0.0), 1.0)


def notes(effect: Effect) -> tuple[str, ...]:
    """What has to stand beside the sentence, the assumption last."""
    said = [f"Adjusted for {_sets(effect)}."] if effect.answers and effect.refusal is None else []
    if effect.refusal is None:
        if effect.method != LEVELS:
            said.append(
                "A linear projection: the released tables hold pairs (and a few triples), not all "
                "these columns together, so where effects do not add up it is their straight line."
            )
        if not effect.path:
            said.append(f"The graph has no path from {effect.cause} to {effect.effect}: it says 0.")
        if len(effect.answers) > 1:
            said.append(
                f"The graph leaves open what causes {effect.cause}: the range is over "
                f"{len(effect.answers)} sets."
            )
    return (*said, ASSUMPTION)


def _sets(effect: Effect) -> str:
    """The sets that are adjusted for, in words."""
    named = [[effect.names[z] for z in answer.adjusted] for answer in effect.answers]
    return " or ".join(" and ".join(some) if some else "nothing" for some in named)
