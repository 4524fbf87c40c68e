"""Divide an epsilon among gradients: equally, or by CURATE's increments (2024, section III-B)."""

from __future__ import annotations

import math
from functools import cache

from engine.errors import InputError
from engine.theory import affordable_iterations

INCREMENTS = ("multiplicative", "additive", "exponential", "rising")
RISE = 10.0  # "rising": about the ratio of the last gradient's epsilon to the first one's
MAX_ITERATIONS = 5_000


def iterations(total: float, initial: float, increment: str) -> int:
    """Count the gradients that a total pays for from ``initial`` on: the floor of Lemma 2.

    For "rising", I solves: the sum of initial RISE^(k/I) over k < I equals the total. Raises
    InputError if the total is too small for one gradient.
    """
    if increment == "rising":
        real = math.log(RISE) / math.log1p(initial * (RISE - 1) / total)
    else:
        real = affordable_iterations(total, initial, increment)
    count = min(MAX_ITERATIONS, math.floor(real * (1 + 1e-9)))
    if count < 1:
        raise InputError(
            f"A total epsilon of {total:g} does not afford one iteration that starts at "
            f"{initial:g}; lower the initial epsilon."
        )
    return count


AUTO_GRADIENTS = 200


@cache
def initial_for(total: float, increment: str, count: int = AUTO_GRADIENTS) -> float:
    """Return the initial epsilon for which a total pays for ``count`` gradients (up to rounding).

    It depends only on public numbers. A larger initial epsilon allows fewer gradients, so bisection
    finds it.
    """
    low, high = 0.0, total
    while low < (middle := (low + high) / 2) < high:  # until no number lies between them
        if sum(schedule(middle, count, increment)) <= total:
            low = middle
        else:
            high = middle
    if increment == "exponential":  # Lemma 2 is conservative here: I = E / (e epsilon_0)
        low = total / (math.e * count)
    return low


def schedule(initial: float, count: int, increment: str) -> tuple[float, ...]:
    """Return epsilon_k for k = 0, ..., count - 1.

    The text and Lemma 2 have k / I; Algorithm 2 has k / (I - 1), which would exceed the total. This
    function uses k / I. For initial < 1 the published multiplicative increment falls from epsilon_0
    towards epsilon_0^2. "rising" (introduced here) goes from epsilon_0 to RISE times as much, for
    every epsilon_0.
    """
    shares = [k / count for k in range(count)]
    if increment == "additive":
        return tuple(initial * (1 + s) for s in shares)
    if increment == "exponential":
        return tuple(initial * math.exp(s) for s in shares)
    if increment == "rising":
        return tuple(initial * RISE**s for s in shares)
    return tuple(initial ** (1 + s) for s in shares)
