"""How often the model is right on real pairs: what ``engine reproduce pairs-accuracy`` wrote."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

KEPT = Path(__file__).resolve().parents[2] / "sample_data" / "pairs.json"


@dataclass(frozen=True)
class Accuracy:
    """Over ``pairs`` pairs with a known cause: the least and the most that a way to decide is right
    without noise, as shares.
    """

    pairs: int
    least: float
    most: float


def accuracy() -> Accuracy:
    """The kept result."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    right = [way["right"] for way in kept["ways"]]
    return Accuracy(kept["pairs"], min(right), max(right))


def assumption() -> str:
    """What a decision rests on, and how far that can be trusted, in words."""
    known = accuracy()
    return (
        "That counts noise, not truth. The method assumes that one column is a smooth function of "
        "the other plus noise that does not depend on it, and that nothing else drives both. "
        f"**On {known.pairs} real pairs whose cause is known it is right on "
        f"{100 * known.least:.0f} to {100 * known.most:.0f} % without any privacy**; a coin is "
        "right on 50 %."
    )
