"""Facts that many columns share, stated by their nature: a template names them.

None of them is read off a table: an age is cut in tens because ages are.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from engine.errors import InputError, did_you_mean, show

_ROMAN = (
    *("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV"),
    *("XV", "XVI", "XVII", "XVIII", "XIX", "XX", "XXI", "XXII"),
)

TEMPLATES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "age in tens": {
            "type": "numeric",
            "cuts": (10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0),
            "other": "level",
        },
        "yes/no": {
            "type": "ordered",
            "levels": ("no", "yes", "missing"),
            "other": "missing",
        },
        "0/1": {"type": "ordered", "levels": ("0", "1", "missing"), "other": "missing"},
        "Likert 1–5": {
            "type": "ordered",
            "levels": ("1", "2", "3", "4", "5", "missing"),
            "other": "missing",
        },
        "counts 0/1/2/3–5/6+": {
            "type": "numeric",
            "cuts": (1.0, 2.0, 3.0, 6.0),
            "other": "level",
        },
        "ICD-10 chapters": {
            "type": "unordered",
            "levels": (*_ROMAN, "missing"),
            "other": "missing",
        },
        "years in fives": {
            "type": "numeric",
            "cuts": tuple(float(year) for year in range(1950, 2031, 5)),
            "other": "level",
        },
    }
)


def template(name: str) -> Mapping[str, Any]:
    """A template's facts, as a column takes them; InputError for a name that there is not."""
    if name not in TEMPLATES:
        raise InputError(
            f"There is no template {show(name)}; there are {', '.join(TEMPLATES)}."
            f"{did_you_mean(name, TEMPLATES)}"
        )
    return TEMPLATES[name]
