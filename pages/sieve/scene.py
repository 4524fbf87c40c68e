"""The sieve to take hold of: T, T - t and m are dragged, and every query answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from engine import Dataset
from engine.teaching.sieving import Array, Sieve
from engine.theory import best_subsample
from pages.draw.scene import digested, show_sieve
from pages.shell.drafts import Draft
from pages.shell.fields import nearest, places, spec_of
from pages.sieve.form import Fields
from pages.sieve.scores import FIRST_Z


def sieve_scene(data: Dataset, sieve: Sieve, values: Array, truth: Array, d: Draft) -> None:
    """Draw it; what is dragged goes into the fields, and so into the charts below."""
    ends = {name: places(spec_of(Fields, name)) for name in ("threshold", "tweak")}
    samples = _samples(data, sieve)
    still = digested(
        {
            "scores": _plain(values),
            "truth": _plain(truth),
            "scale": sieve.scale,
            "end": 0.5 if sieve.scale == "p" else FIRST_Z,
            "thresholds": ends["threshold"],
            "tweaks": ends["tweak"],
            "levels": [
                [_levels(sieve, threshold, tweak) for tweak in ends["tweak"]]
                for threshold in ends["threshold"]
            ],
            "samples": samples,
        }
    )
    share = 0 if d["best"] else 1 + nearest(places(spec_of(Fields, "share")), d["share"])
    at = [nearest(ends["threshold"], d["threshold"]), nearest(ends["tweak"], d["tweak"]), share]
    show_sieve({**still, "at": at}, "sieve-scene", partial(_rested, d))


def _levels(sieve: Sieve, threshold: float, tweak: float) -> list[float]:
    """T and T - t on the score's own scale; |z| has no end where T - t is 0."""
    level, lowered = replace(sieve, threshold=threshold, tweak=tweak).levels()
    return [level, min(lowered, 2 * FIRST_Z)]


def _samples(data: Dataset, sieve: Sieve) -> list[dict[str, Any]]:
    """The best m, then every share: rows, both scales of the noise, its standard deviation."""
    shares = places(spec_of(Fields, "share"))
    best: list[tuple[int, float | None]] = [(best_subsample(sieve.epsilon, data.n), None)]
    sizes = best + [(max(2, round(share * data.n)), share) for share in shares]
    found = []
    for m, share in sizes:
        a, b = sieve.noise(data, m)
        level = sieve.noise_level(data, m)
        found.append({"m": m, "share": share, "best": share is None, "a": a, "b": b, "sd": level})
    return found


def _rested(d: Draft, frame: Mapping[str, Any]) -> None:
    d.update(threshold=float(frame["threshold"]), tweak=float(frame["tweak"]), best=frame["best"])
    if not frame["best"]:
        d["share"] = float(frame["share"])


def _plain(values: Array) -> list[float | None]:
    """NaN has no place in JSON."""
    return [None if math.isnan(v) else round(float(v), 6) for v in values]
