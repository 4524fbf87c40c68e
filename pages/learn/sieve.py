"""Priv-PC's sieve to take hold of: T, T - t and m are dragged, and every query answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from engine import Dataset
from engine.params import Parameters
from engine.statistics.registry import BOUNDED
from engine.teaching import sieving
from engine.teaching.sieving import Array, Sieve
from engine.theory import best_subsample
from pages.draw import show
from pages.draw.curves import Axis, Curve, curves, vertical
from pages.draw.scene import digested, show_sieve
from pages.learn.tour import Tour, shown_run
from pages.shell import state
from pages.shell.drafts import Draft
from pages.shell.fields import among, choice, nearest, number, places, slider, spec_of, switch
from pages.shell.form import parameters
from pages.shell.palette import PLAIN
from pages.shell.settings import MOST_SEED

FIRST_Z = 8.0  # |z| from here on is drawn at the edge
GAPS = {"p": 0.05, "z": 0.5}  # α, the distance from T of the query whose errors are shown
TWEAKS = tuple(float(t) for t in np.linspace(0.0, 0.06, 13))
_ROUNDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
_TYPED = ("statistic", "guarantee", "scale", "round")  # what is not dragged


@dataclass(frozen=True, kw_only=True)
class Fields(Parameters):
    """What a sieve is made of."""

    statistic: str = choice("kendall", "Independence test", BOUNDED)
    guarantee: str = choice("strict", "Sensitivity", ("strict", "published"))
    scale: str = choice("p", "Score", ("p", "z"))
    round: float = among(
        1.0, "ε of one round", _ROUNDS, help="Half for the sieve, half for the examine."
    )
    threshold: float = slider(0.1, "Threshold T (a p-value)", 0.01, 0.3, 0.01)
    tweak: float = slider(0.02, "Tweak t", 0.0, 0.06, 0.005)
    best: bool = switch(True, "Best m (section 3.2)")
    share: float = slider(0.2, "m as a share of n", 0.05, 1.0, 0.05)
    seed: int = number(0, "Noise seed", 0, MOST_SEED)


def sieve_view(now: Tour) -> None:
    """All queries of order 0 and 1 before the sieve; what a run's sieve did; Theorem 2."""
    d, data = state.of(Fields, "sieve."), now.dataset
    sieve = sieve_of(d, data)
    _scene(data, sieve, d)
    result = shown_run(now, "priv_pc", epsilon=now.epsilon)
    asked, examined = (sum(s.kind == kind for s in result.steps) for kind in ("sieve", "examine"))
    st.markdown(
        f"Priv-PC's run at ε = {now.epsilon:g} asked **{asked:,}** questions. The sieve alone "
        f"answered **{asked - examined:,}**; **{examined:,}** were examined. Answering each on its "
        f"own would split ε {asked:,} times; here each “perhaps independent” takes one share."
    )
    with st.expander("The sieve's test, and Theorem 2's bounds on its errors", key="learn-theorem"):
        left, right = st.columns([2, 5], gap="large")
        with left:
            parameters([s for s in Fields.specs() if s.name in _TYPED], d, key="sieve")
        with right:
            _errors(data, sieve)


def sieve_of(d: Draft, data: Dataset) -> Sieve:
    """The sieve that the fields describe."""
    m = best_subsample(d["round"], data.n) if d["best"] else max(2, round(d["share"] * data.n))
    names = ("statistic", "guarantee", "scale", "threshold", "tweak")
    return Sieve(**{name: d[name] for name in names}, epsilon=d["round"], m=m)


@st.cache_data(max_entries=16, show_spinner="Scoring …")
def _scored(
    fingerprint: str, statistic: str, guarantee: str, scale: str, _data: Dataset
) -> tuple[Array, Array]:
    return sieving.exact_scores(_data, statistic, guarantee, scale)


def _scene(data: Dataset, sieve: Sieve, d: Draft) -> None:
    values, truth = _scored(data.identity, sieve.statistic, sieve.guarantee, sieve.scale, data)
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
    best: list[tuple[int, float | None]] = [(best_subsample(sieve.epsilon, data.n), None)]
    sizes = best + [(max(2, round(s * data.n)), s) for s in places(spec_of(Fields, "share"))]
    found = []
    for m, share in sorted(sizes, key=lambda size: size[0]):
        a, b, sd = sieve.noise(data, m)
        found.append({"m": m, "share": share, "best": share is None, "a": a, "b": b, "sd": sd})
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


# Theorem 2 ------------------------------------------------------------------------------------

_NAMES = {
    "I bound": ("Type I, bound", 0, "lines"),
    "I noise": ("Type I, noise alone", 0, "markers"),
    "I on the data": ("Type I, on these data", 5, "lines+markers"),
    "II bound": ("Type II, bound", 1, "lines"),
    "II noise": ("Type II, noise alone", 1, "markers"),
    "II on the data": ("Type II, on these data", 3, "lines+markers"),
}


@st.cache_data(max_entries=64, show_spinner="Simulating …")
def errors_table(fingerprint: str, sieve: Sieve, _data: Dataset) -> pd.DataFrame:
    """Bounds and observed rates of both errors at every tweak; rates are shares of answers."""
    gap = GAPS[sieve.scale]
    seen = sieving.on_data(_data, sieve, gap, sieve.m, TWEAKS)
    rows = []
    for tweak, (one, two) in zip(TWEAKS, seen, strict=True):
        found = sieving.error_rates(_data, sieve, gap, tweak)
        rates = (*found[:2], one, *found[2:], two)
        rows.append({"t": tweak, **dict(zip(_NAMES, rates, strict=True))})
    return pd.DataFrame(rows)


def _errors(data: Dataset, sieve: Sieve) -> None:
    table = errors_table(data.identity, sieve, data)
    lines = [
        Curve(name=name, x=list(table["t"]), y=list(table[c]), style=style, mode=mode)
        for c, (name, style, mode) in _NAMES.items()
        if table[c].notna().any()
    ]
    high = max(1e-3, float(np.nanmax(table.drop(columns="t").to_numpy(dtype=float))))
    ends = (0, min(1.05, high * 1.1))
    figure = curves(lines, Axis("Tweak t"), Axis("Error rate", ends=ends), height=360)
    vertical(figure, sieve.tweak, "now", style=PLAIN)
    show.figure(figure, key="sieve-by-t", alt="Error rates against the tweak: bounds and observed")
    st.caption(
        f"A query whose score lies α = {GAPS[sieve.scale]:g} from T. Type I: it looks independent, "
        "and the sieve keeps the link. Type II: it looks dependent, and passes sieve and examine. "
        "The theorem speaks of the noise alone; on real samples the score moves too. "
        + _above(table)
    )


def _above(table: pd.DataFrame) -> str:
    """Where a simulated rate lies above its bound by more than the simulation's own error."""
    margin = 3 * 0.5 / math.sqrt(sieving.DRAWS)
    if not (table["II noise"] > table["II bound"] + margin).any():
        return ""
    return (
        "Somewhere the observed type II rate lies above the bound: the theorem's exponent for the "
        "examine is 2εα/Δ; Laplace noise of scale 2Δ/ε, which Algorithm 1 adds, gives εα/(2Δ)."
    )
