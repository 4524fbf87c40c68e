"""Scores of all queries, exactly: why most of them need no precise answer."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from engine import Dataset
from engine.percent import percent
from engine.statistics.rank import critical_z
from engine.teaching import sieving
from engine.teaching.sieving import Array, Sieve
from pages.draw import show
from pages.draw.curves import Axis, Curve, curves, vertical
from pages.shell import words as text
from pages.shell.palette import PLAIN, ink

FIRST_Z = 8.0  # |z| from here on share the last bar
DEPENDENT, INDEPENDENT, MIDDLE = 1, 0, 2  # styles
Counts = dict[str, NDArray[np.int64]]


@st.cache_data(max_entries=16, show_spinner="Scoring …", scope="session")
def _scored(
    fingerprint: str, statistic: str, guarantee: str, scale: str, _data: Dataset
) -> tuple[Array, Array]:
    return sieving.exact_scores(_data, statistic, guarantee, scale)


def scored(data: Dataset, sieve: Sieve) -> tuple[Array, Array]:
    """Every query's exact score, and whether the true graph separates it (NaN if unknown)."""
    return _scored(data.identity, sieve.statistic, sieve.guarantee, sieve.scale, data)


def scores_view(data: Dataset, sieve: Sieve) -> None:
    """The histogram with threshold, tweak and noise, and its table."""
    values, truth = scored(data, sieve)
    a, b = sieve.noise(data)
    st.markdown("**Scores of all queries of order 0 and 1, exactly**")
    st.caption(_explained(data, values, sieve))
    edges = _edges(sieve.scale)
    counts = _counts(values, truth, edges)
    left, right = st.columns([5, 3], gap="medium")
    with left:
        figure = _histogram(counts, edges, sieve, a, b)
        show.figure(
            figure,
            key="sieve-scores",
            alt="Distribution of exact scores with threshold, tweak and the noise of the sieve",
        )
    with right:
        _tiles(values, sieve, a, b)
        st.caption(strict_words(data, sieve))
        show.table(_score_table(counts, edges), alt="Scores in bars", height=252)


MIDDLE_SHARE = (0.05, 0.4)  # p-values between these lie in neither hump
FAR = 0.8  # a share of queries from which on "most" is said


def _explained(data: Dataset, values: Array, sieve: Sieve) -> str:
    total = sieving.query_count(data.d)
    what = f"{total:,}" if total == len(values) else f"{len(values):,} of {total:,} (drawn)"
    end = (
        "Bars are split by what the true graph says (d-separation)."
        if data.truth is not None
        else "There is no truth to split the bars by."
    )
    return f"{what} queries. {_shape_words(values, sieve)} {end}"


def _shape_words(values: Array, sieve: Sieve) -> str:
    """Whether there are two humps, from the scores themselves."""
    known = values[~np.isnan(values)]
    if not len(known):
        return "None of them has a score."
    ends = MIDDLE_SHARE if sieve.scale == "p" else tuple(critical_z(p) for p in MIDDLE_SHARE[::-1])
    low, high = float(np.mean(known <= ends[0])), float(np.mean(known >= ends[1]))
    words = f"{percent(low)} lie in the lowest part, {percent(high)} in the highest"
    if low + high >= FAR and min(low, high) >= 1 - FAR:
        return f"{words}: two humps. Only what lies near T can be mistaken; a noisy sieve does."
    if low + high >= FAR:
        return f"{words}: one hump. Only what lies near T can be mistaken; a noisy sieve does."
    return f"{words}: many lie between, so a noisy sieve will often be mistaken here."


def strict_words(data: Dataset, sieve: Sieve) -> str:
    """What Strict does to this sieve's noise on these data, and why."""
    other = {"strict": "published", "published": "strict"}[sieve.guarantee]
    units = {g: replace(sieve, guarantee=g).unit(data, sieve.m) for g in (sieve.guarantee, other)}
    ratio = units["strict"] / units["published"]
    binary = max(data.cardinalities) == 2
    columns = "all columns here have two levels" if binary else "some columns have more than two"
    change = "the same noise" if ratio > 0.99 else f"{percent(ratio)} of the published noise"
    return (
        f"Strict gives {change} here: one person moves a strict score by at most 3/√m where both "
        f"columns have two levels and 6/√m otherwise, and {columns}. The published sensitivity "
        "never looks at the levels, and no proof bounds it for every dataset."
    )


def _edges(scale: str) -> Array:
    if scale == "p":
        return np.linspace(0, 0.5, 26)
    return np.append(np.linspace(0, FIRST_Z, 33), np.inf)


def _counts(values: Array, truth: Array, edges: Array) -> Counts:
    if np.isnan(truth).all():
        return {"Queries": np.histogram(values, edges)[0]}
    return {
        "Independent": np.histogram(values[truth == 1], edges)[0],
        "Dependent": np.histogram(values[truth == 0], edges)[0],
    }


def _histogram(counts: Counts, edges: Array, sieve: Sieve, a: float, b: float) -> go.Figure:
    width = float(edges[1] - edges[0])
    middles = edges[:-1] + width / 2
    level, lowered = sieve.levels()
    end = float(middles[-1] + width / 2)
    x = np.linspace(0, end, 1200)
    noise = Curve(
        name="Noise of the sieve around T − t",
        x=list(x),
        y=list(sieving.noise_density(x - lowered, a, b)),
        style=MIDDLE,
        mode="lines",
        fill=True,
        second=True,
    )
    title = "p-value" if sieve.scale == "p" else f"|z| (the last bar holds {FIRST_Z:g} and more)"
    figure = curves(
        [noise],
        Axis(title, ends=(0, end)),
        Axis("Queries"),
        second=Axis("Density of the noise"),
        height=400,
    )
    for k, (name, found) in enumerate(counts.items()):
        style = (INDEPENDENT, DEPENDENT)[k]
        bar = go.Bar(
            x=list(middles),
            y=[int(c) for c in found],
            width=width * 0.92,
            name=f"{name} in the true graph" if len(counts) > 1 else name,
            marker={
                "color": ink(style),
                "pattern": {"shape": "/" if k else "", "solidity": 0.4},
            },
            hovertemplate="%{x:.3g}: %{y}<extra></extra>",
        )
        figure.add_trace(bar)
    # The density's height says nothing by itself: its place and width do.
    figure.update_layout(barmode="stack", margin={"t": 40}, yaxis2={"showticklabels": False})
    vertical(figure, level, f"T = {level:.3g}", style=PLAIN, level=1.1, left=level < lowered)
    if lowered != level:
        name = f"T − t = {lowered:.3g}"
        vertical(figure, lowered, name, style=3, level=1.1, left=lowered < level)
    return figure


def _tiles(values: Array, sieve: Sieve, a: float, b: float) -> None:
    level, lowered = sieve.levels()
    known = values[~np.isnan(values)]
    beyond = known > level if sieve.scale == "p" else known < level
    near = np.abs(known - lowered) <= sieving.deviation(a, b)
    one, two, three = st.columns(3)
    one.metric(
        "Beyond T",
        percent(float(np.mean(beyond))),
        help="Queries whose exact score looks independent.",
    )
    two.metric(
        "Close by",
        percent(float(np.mean(near))),
        help="Queries at most one s.d. of the noise from T − t.",
    )
    three.metric("Noise s.d.", text.number(sieving.deviation(a, b), 2), help="Of the comparison.")


def _score_table(counts: Counts, edges: Array) -> pd.DataFrame:
    names = [
        f"{low:.3g} – {high:.3g}" if math.isfinite(high) else f"{low:.3g} and more"
        for low, high in itertools.pairwise(edges)
    ]
    return pd.DataFrame({"Score": names, **counts})
