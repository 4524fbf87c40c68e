"""Explain why a run took a step, from the step's code and numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeVar


class Decision(Protocol):
    """The part of a step (:class:`engine.context.Step`) that its sentence needs."""

    @property
    def code(self) -> str:
        """Code of the reason for the step."""

    @property
    def numbers(self) -> Mapping[str, float | str]:
        """Numbers in the sentence."""

    @property
    def order(self) -> int | None:
        """Size of the conditioning set."""

    @property
    def value(self) -> float | None:
        """The released value."""

    @property
    def threshold(self) -> float | None:
        """The public threshold."""


S = TypeVar("S", bound=Decision)

# Values that a step compares with its threshold.
COMPARED = {
    "p_value": "p-value",
    "noisy_p": "noisy p-value",
    "noisy_z": "noisy |z|",
    "votes": "noisy number of votes",
    "median_p": "noisy median p-value",
    "independence": "probability of independence, computed from the released tables,",
    "votes_margin": "noisy margin of the votes",
    "scores_difference": "noisy difference of the scores",
}
# The engine compares -|z|, so that on every scale a high value means independence.
NEGATIVE = ("noisy_z", "sieve_z", "margins_z")

_WORDS: Mapping[str, str] = {
    "untestable": "no stratum has enough rows for a test, and an untested edge stays",
    "not_seen": "the released tables show no more dependence of the two than chance among all "
    "pairs would",
    "margins": "the {name} {value:.4g} lies between the margins {low:.4g} and {high:.4g}, where "
    "{decider}",
    "planned": "the plan gives each test of order {order} ε = {value:.4g}",
    "drawn": "the exponential mechanism drew it among the edges to delete, and edges that look "
    "independent are likelier to be drawn",
    "drawn_count": "the exponential mechanism drew how many of the {edges} edges at {node} are "
    "deleted: {value:.0f}",
    "sieve": "in the {label} its {scale} {reached} the noisy threshold; neither is released",
    "too_close": "the {name} is too close to a change to be released",
    "gram_released": "the Gram matrix was released with Gaussian noise of σ = {value:.4g}",
    "tables_released": "the one-way tables were released with noise",
    "centres_released": "the numbers that centre the columns were released with noise",
    "gradient_released": "a gradient of the loss was released with noise; its length is shown",
    "solved": "the objective is {value:.4g}, the measure of cycles h {h:.2e}",
}


def reason(step: Decision) -> str:
    """Return the clause after "because"; a code without a sentence is returned unchanged."""
    shown = on_shown_scale(step)
    if step.code in COMPARED:
        return _compared(shown)
    base = step.code.removesuffix("_z")
    if base == "margins":
        ends = sorted(abs(float(step.numbers[end])) for end in ("low", "high"))
        kept = step.numbers["decider"] == "program"
        return _WORDS[base].format(
            name=COMPARED[str(step.numbers["of"])],
            value=shown.value,
            low=ends[0],
            high=ends[1],
            decider="the program keeps" if kept else "a coin decides",
        )
    if base == "sieve":
        found = bool(step.numbers["reached"]) != (step.code in NEGATIVE)
        scale = "noisy |z|" if step.code in NEGATIVE else "noisy value"
        reached = "reached" if found else "stayed below"
        return _WORDS[base].format(label=step.numbers["label"], scale=scale, reached=reached)
    if base not in _WORDS:
        return step.code
    name = COMPARED.get(str(step.numbers.get("of")), "").removeprefix("noisy ")
    facts = {"value": step.value, "order": step.order, "name": name}
    return _WORDS[base].format(**{**facts, **step.numbers})


def _compared(step: Decision) -> str:
    """Say on which side of the threshold a value lies; a value equal to it is not above."""
    value = math.nan if step.value is None else step.value
    threshold = 0.0 if step.threshold is None else step.threshold
    if step.code in NEGATIVE:
        side = "below" if value < threshold else "not below"
    else:
        side = "above" if value > threshold else "not above"
    limit = (
        f"{threshold:.4g}"
        if step.code.endswith(("margin", "difference"))
        else (f"the threshold {threshold:.4g}")
    )
    return f"the {COMPARED[step.code]} {value:.4g} is {side} {limit}"


def on_shown_scale(step: S) -> S:
    """Return the step on the pages' scale |z|, where a low value means independence."""
    if step.code not in NEGATIVE:
        return step
    whole: Any = step
    inside = whole.internal or {}
    raw = {k: -v if isinstance(v, float) else v for k, v in inside.items()} or None
    value, limit = (None if x is None else -x for x in (step.value, step.threshold))
    return replace(whole, value=value, threshold=limit, internal=raw)  # type: ignore[no-any-return]
