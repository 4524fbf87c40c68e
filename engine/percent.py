"""Format counts, numbers, shares and probabilities the same everywhere: "1,200", "12 %"."""

from __future__ import annotations

import math

NO_BOUND = "no bound"  # an infinite number on every screen
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def count(value: int, noun: str) -> str:
    """Format a count with its noun in singular or plural, e.g. "1 edge", "2 edges"."""
    return f"{value:,} {noun}{'' if value == 1 else 's'}"


def number(value: float | None, digits: int = 3) -> str:
    """Format a number with three significant digits and grouped thousands, or as "no bound".

    Very small and very large numbers use powers of ten: 10⁻⁶, 2.5·10⁹.
    """
    if value is None:
        return "–"
    if math.isinf(value):
        return NO_BOUND if value > 0 else "–"
    if value and (abs(value) < 1e-3 or abs(value) >= 1e7):
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        power = f"10{str(int(exponent)).translate(_RAISED)}"
        return power if mantissa == "1" else f"{mantissa}·{power}"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def percent(share: float, digits: int = 0) -> str:
    """Format a share as a percentage with ``digits`` decimal places."""
    return f"{share:.{digits}%}".replace("%", " %")


def span(low: int, high: int) -> str:
    """Format a range of whole numbers: "3 to 5", or "3" if both ends are equal."""
    return f"{low}" if low == high else f"{low} to {high}"


def probability(p: float) -> str:
    """Format a probability, never rounded up to certainty."""
    return "> 99.9 %" if p > 0.999 else percent(p, 1)
