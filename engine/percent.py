"""Shares and probabilities as they are written everywhere: "12 %", "99.8 %"."""

from __future__ import annotations


def percent(share: float, digits: int = 0) -> str:
    """A share in percent, with so many digits after the point."""
    return f"{share:.{digits}%}".replace("%", " %")


def probability(p: float) -> str:
    """A probability, never rounded up to certainty."""
    return "> 99.9 %" if p > 0.999 else percent(p, 1)
