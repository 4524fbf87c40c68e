"""Priv-PC's sieve: drag T, T - t and m, and every query is answered again."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from engine import Dataset
from engine.params import Parameters, param
from engine.percent import number
from engine.statistics.registry import BOUNDED
from engine.story.modules import digested
from engine.teaching import sieving
from engine.teaching.sieving import Array, Sieve
from engine.theory import best_subsample
from pages.draw.scene import mount
from pages.learn.tour import Tour, nearest, places, shown_run
from pages.shell import state
from pages.shell.form import keeping, parameters
from pages.shell.settings import MOST_SEED
from pages.shell.state import Draft, spec_of

FIRST_Z = 8.0  # larger |z| are drawn at the edge
_ROUNDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_TYPED = ("statistic", "guarantee", "scale", "round")  # set by fields, not dragged
_HALVES = "One half pays for the sieve, the other for the examined questions."


@dataclass(frozen=True, kw_only=True)
class Fields(Parameters):
    """The settings of a sieve."""

    statistic: str = param("kendall", "Independence test", choices=BOUNDED)
    guarantee: str = param("strict", "Sensitivity", choices=("strict", "published"))
    scale: str = param("p", "Score", choices=("p", "z"))
    round: float = param(1.0, "ε of one round", among=_ROUNDS, help=_HALVES)
    threshold: float = param(0.1, "Threshold T (a p-value)", low=0.01, high=0.3, step=0.01)
    tweak: float = param(0.02, "Tweak t", low=0.0, high=0.06, step=0.005)
    best: bool = param(True, "Best m (section 3.2)")
    share: float = param(0.2, "m as a share of n", low=0.05, high=1.0, step=0.05)
    seed: int = param(0, "Noise seed", low=0, high=MOST_SEED)


def sieve_view(now: Tour) -> None:
    """Draw all queries of order 0 and 1, and count the sieve's answers in a run."""
    d = state.Values(Fields, "sieve.")
    mount("sieve", content(now.dataset, d), "sieve-scene", frame=keeping(d))
    kinds = [step.kind for step in shown_run(now, "priv_pc").steps]
    asked, examined = kinds.count("sieve"), kinds.count("examine")
    st.markdown(
        f"Priv-PC's run at ε = {number(now.epsilon)} asked **{asked:,}** questions. The sieve "
        f"answered **{asked - examined:,}**; **{examined:,}** were examined. Separate "
        f"noisy answers would split ε {asked:,} times. Here each “perhaps independent” takes one "
        "share."
    )
    with st.expander("The sieve's test", key="learn-theorem"):
        parameters([d.specs[name] for name in _TYPED], d, key="sieve")


def sieve_of(d: Draft) -> Sieve:
    """Return the sieve that the fields describe."""
    names = ("statistic", "guarantee", "scale", "threshold", "tweak")
    return Sieve(**{name: d[name] for name in names}, epsilon=d["round"])


@st.cache_data(max_entries=16, show_spinner="Scoring …")
def _scored(
    fingerprint: str, statistic: str, guarantee: str, scale: str, _data: Dataset
) -> tuple[Array, Array]:
    return sieving.exact_scores(_data, statistic, guarantee, scale)


def content(data: Dataset, d: Draft) -> dict[str, Any]:
    """Return every query's score and its true answer, all places of the hands, and the places at
    which they are."""
    sieve = sieve_of(d)
    values, truth = _scored(data.identity, sieve.statistic, sieve.guarantee, sieve.scale, data)
    thresholds, tweaks = (places(spec_of(Fields, name)) for name in ("threshold", "tweak"))
    samples = _samples(data, sieve)
    shares = [sample["share"] or 0.0 for sample in samples]  # 0 stands for the best m
    still = {
        "scores": _plain(values),
        "truth": _plain(truth),
        "scale": sieve.scale,
        "end": 0.5 if sieve.scale == "p" else FIRST_Z,
        "thresholds": thresholds,
        "tweaks": tweaks,
        "levels": [[_levels(sieve, t, tweak) for tweak in tweaks] for t in thresholds],
        "samples": samples,
    }
    hands = nearest(thresholds, d["threshold"]), nearest(tweaks, d["tweak"])
    m = nearest(shares, 0.0 if d["best"] else d["share"])
    return {**digested(still), "at": [*hands, m, int(d["seed"])]}


def _levels(sieve: Sieve, threshold: float, tweak: float) -> list[float]:
    """Return T and T - t on the scale of the score; |z| is unbounded if T - t is 0."""
    level, lowered = replace(sieve, threshold=threshold, tweak=tweak).levels()
    return [level, min(lowered, 2 * FIRST_Z)]


def _samples(data: Dataset, sieve: Sieve) -> list[dict[str, Any]]:
    """Return every share and the best m, by size: rows, both scales of the noise, its deviation."""
    best: list[tuple[int, float | None]] = [(best_subsample(sieve.epsilon, data.n), None)]
    sizes = best + [(max(2, round(s * data.n)), s) for s in places(spec_of(Fields, "share"))]
    found = []
    for m, share in sorted(sizes, key=lambda size: size[0]):
        a, b, sd = sieve.noise(data, m)
        found.append({"m": m, "share": share, "best": share is None, "a": a, "b": b, "sd": sd})
    return found


def _plain(values: Array) -> list[float | None]:
    """Return None for NaN, which JSON does not have."""
    return [None if math.isnan(v) else round(float(v), 6) for v in values]
