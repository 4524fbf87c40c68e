"""Shares as a person can check them: so many of 100."""

from __future__ import annotations


def of_hundred(p: float) -> str:
    """A share as so many of 100: whole numbers from 10 on, tenths below."""
    many = 100 * p
    if abs(many) >= 9.95:
        said = f"{many:.0f}"
    else:
        said = f"{many:.1f}".removesuffix(".0")
    return "0" if said == "-0" else said.replace("-", "−")
