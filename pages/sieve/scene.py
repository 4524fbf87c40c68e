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
from pages.shell.settings import MOST_SEED
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
    at = [nearest(ends[name], d[name]) for name in ("threshold", "tweak")]
    at += [_chosen(samples, d), int(d["seed"])]
    show_sieve({**still, "at": at}, "sieve-scene", partial(_rested, d))


def _levels(sieve: Sieve, threshold: float, tweak: float) -> list[float]:
    """T and T - t on the score's own scale; |z| has no end where T - t is 0."""
    level, lowered = replace(sieve, threshold=threshold, tweak=tweak).levels()
    return [level, min(lowered, 2 * FIRST_Z)]


def _samples(data: Dataset, sieve: Sieve) -> list[dict[str, Any]]:
    """Every share and the best m, by size: rows, both scales of the noise, its deviation."""
    shares = places(spec_of(Fields, "share"))
    best: list[tuple[int, float | None]] = [(best_subsample(sieve.epsilon, data.n), None)]
    sizes = best + [(max(2, round(share * data.n)), share) for share in shares]
    found = []
    for m, share in sorted(sizes, key=lambda size: size[0]):
        a, b = sieve.noise(data, m)
        level = sieve.noise_level(data, m)
        found.append({"m": m, "share": share, "best": share is None, "a": a, "b": b, "sd": level})
    return found


def _chosen(samples: list[dict[str, Any]], d: Draft) -> int:
    """The place of the sample that the fields name."""
    if d["best"]:
        return next(k for k, sample in enumerate(samples) if sample["best"])
    return nearest([math.inf if s["best"] else s["share"] for s in samples], d["share"])


def _rested(d: Draft, frame: Mapping[str, Any]) -> None:
    d.update(threshold=float(frame["threshold"]), tweak=float(frame["tweak"]), best=frame["best"])
    d["seed"] = min(int(frame["seed"]), MOST_SEED)
    if not frame["best"]:
        d["share"] = float(frame["share"])


def _plain(values: Array) -> list[float | None]:
    """NaN has no place in JSON."""
    return [None if math.isnan(v) else round(float(v), 6) for v in values]
