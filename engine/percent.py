"""Counts, numbers, shares and probabilities as they are written everywhere: "1,200", "12 %"."""

from __future__ import annotations

import math

NO_BOUND = "no bound"  # of a number that is infinite, on every screen
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def count(value: int, noun: str) -> str:
    """A count with its noun in the right number, e.g. "1 edge", "2 edges"."""
    return f"{value:,} {noun}{'' if value == 1 else 's'}"


def number(value: float | None, digits: int = 3) -> str:
    """A number with three significant digits, thousands grouped; "no bound" for infinity.

    Small and large ones are powers of ten: 10⁻⁶, 2.5·10⁹.
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
    """A share in percent, with so many digits after the point."""
    return f"{share:.{digits}%}".replace("%", " %")


def probability(p: float) -> str:
    """A probability, never rounded up to certainty."""
    return "> 99.9 %" if p > 0.999 else percent(p, 1)
