"""The guided tour: its steps in order. Their texts stand in ``steps.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Step:
    """One screen: its name in the address, a short name, a title, plain text, and sources.

    A screen ``under`` another one is an aside, which opens from that one or by its address.
    """

    key: str
    short: str
    title: str
    words: str
    source: str
    under: str = ""


_TEXTS = tomllib.loads(Path(__file__).with_name("steps.toml").read_text(encoding="utf-8"))
STEPS = tuple(Step(**texts) for texts in _TEXTS["step"])
BY_KEY = {step.key: step for step in STEPS}
WAY = tuple(step for step in STEPS if not step.under)
OLD = {"truth": "cause", "once": "budget", "now": "study"}  # steps in addresses of version 0.3
