"""Why sieving works: most queries are far from the threshold, and what its noise does to them."""

from __future__ import annotations

import itertools
import math
from collections.abc import MutableMapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from engine import Dataset, InputError
from engine.statistics.rank import critical_z
from engine.theory import MIN_RATE, best_subsample, sieve_errors
from pages.components import charts, curves, dataset, sieving, state, text
from pages.components.curves import Axis, Line
from pages.components.shell import draw
from pages.components.sieving import TWEAKS, Sieve
from pages.components.strip import show_strip

FIRST_Z = 8.0  # |z| from here on share the last bar
RATES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
DEPENDENT, INDEPENDENT, MIDDLE, OBSERVED, ON_DATA = 1, 0, 2, 3, 5  # styles


def main() -> None:
    """The page, top to bottom."""
    state.shown()
    with st.sidebar:
        dataset.picker(key="sieve")
        d = fields()
    try:
        data = state.data_for(state.drafted_source())
    except InputError as error:
        st.title("Sieve", anchor=False)
        st.info(text.plain(str(error)), icon=":material/upload_file:")
        return
    show_strip("Sieve", data)
    sieve = Sieve(
        d["statistic"],
        d["guarantee"],
        d["scale"],
        d["threshold"],
        d["tweak"],
        d["epsilon"],
        rows_of(d, data.n),
    )
    if not data.public:
        st.warning(
            "Exact scores of your own data, without noise: nothing on this page is private. Keep "
            "it to yourself.",
            icon=":material/warning:",
        )
    scores_view(data, sieve)
    errors_view(data, sieve, gap_of(d))
    noise_view(data, sieve)


# Settings -------------------------------------------------------------------------------


def draft() -> MutableMapping[str, Any]:
    """The page's settings, kept over changes of page."""
    return st.session_state.setdefault(
        "sieve_draft",
        {
            "statistic": "kendall",
            "guarantee": "published",
            "scale": "p",
            "threshold": 0.1,
            "tweak": 0.02,
            "epsilon": 1.0,
            "best": True,
            "share": 0.2,
            "gap_p": 0.05,
            "gap_z": 0.5,
        },
    )


def fields() -> MutableMapping[str, Any]:
    """What the sieve is made of."""
    d = draft()
    for name, title, options in (
        ("statistic", "Independence test", ["kendall", "spearman"]),
        ("guarantee", "Sensitivity", ["published", "strict"]),
        ("scale", "Score", ["p", "z"]),
    ):
        state.bound(
            st.radio,
            title,
            d,
            name,
            key=f"sieve-{name}",
            options=options,
            format_func=text.label,
            horizontal=True,
        )
    slide(d, "threshold", "Threshold T (a p-value)", 0.01, 0.3, 0.01)
    slide(d, "tweak", "Tweak t", 0.0, float(TWEAKS[-1]), 0.005)
    state.bound(
        st.select_slider,
        "ε of one round",
        d,
        "epsilon",
        key="sieve-epsilon",
        options=[0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0],
        format_func=lambda v: f"{v:g}",
        help="A round is one sieve with half of ε and one examine with the other half.",
    )
    state.bound(st.toggle, "Best m (section 3.2)", d, "best", key="sieve-best")
    if not d["best"]:
        slide(d, "share", "m as a share of n", RATES[0], 1.0, 0.05)
    if d["scale"] == "p":
        slide(d, "gap_p", "Distance α from T, for the errors", 0.01, 0.3, 0.01)
    else:
        slide(d, "gap_z", "Distance α in |z|, for the errors", 0.1, 3.0, 0.1)
    return d


def slide(
    d: MutableMapping[str, Any], name: str, title: str, low: float, high: float, step: float
) -> None:
    """One slider bound to the settings."""
    state.bound(
        st.slider, title, d, name, key=f"sieve-{name}", min_value=low, max_value=high, step=step
    )


def rows_of(d: MutableMapping[str, Any], n: int) -> int:
    """m as a number."""
    return best_subsample(d["epsilon"], n) if d["best"] else max(2, round(d["share"] * n))


def gap_of(d: MutableMapping[str, Any]) -> float:
    """α in units of the chosen score."""
    return d["gap_p"] if d["scale"] == "p" else d["gap_z"]


# Scores ---------------------------------------------------------------------------------


def scores_view(data: Dataset, sieve: Sieve) -> None:
    """The histogram with threshold, tweak and noise, and its table."""
    values, truth = sieving.exact_scores(
        data.fingerprint, sieve.statistic, sieve.guarantee, sieve.scale, data
    )
    a, b = sieving.spread(sieve.epsilon, data.n, sieve.m, sieve.unit(data, sieve.m))
    st.markdown("**Scores of all queries of order 0 and 1, exactly**")
    st.caption(_explained(data, values))
    edges = _edges(sieve.scale)
    counts = _counts(values, truth, edges)
    left, right = st.columns([5, 3], gap="medium")
    with left:
        figure = _histogram(counts, edges, sieve, a, b)
        charts.show(
            figure,
            key="sieve-scores",
            alt="Distribution of exact scores with threshold, tweak and the noise of the sieve",
        )
    with right:
        _tiles(values, sieve, a, b)
        curves.table(_score_table(counts, edges), alt="Scores in bars", height=252)


def _explained(data: Dataset, values: np.ndarray) -> str:
    total = sieving.query_count(data.d)
    what = f"{total:,}" if total == len(values) else f"{len(values):,} of {total:,} (drawn)"
    end = (
        "Bars are split by what the true graph says (d-separation)."
        if data.truth is not None
        else "There is no truth to split the bars by."
    )
    return (
        f"{what} queries. Most lie far from the threshold, in two humps: only those near it can be "
        f"mistaken, so a cheap, noisy sieve settles the rest. {end}"
    )


def _edges(scale: str) -> np.ndarray:
    if scale == "p":
        return np.linspace(0, 0.5, 26)
    return np.append(np.linspace(0, FIRST_Z, 33), np.inf)


def _counts(values: np.ndarray, truth: np.ndarray, edges: np.ndarray) -> dict[str, np.ndarray]:
    if np.isnan(truth).all():
        return {"Queries": np.histogram(values, edges)[0]}
    return {
        "Independent": np.histogram(values[truth == 1], edges)[0],
        "Dependent": np.histogram(values[truth == 0], edges)[0],
    }


def _histogram(
    counts: dict[str, np.ndarray], edges: np.ndarray, sieve: Sieve, a: float, b: float
) -> go.Figure:
    width = float(edges[1] - edges[0])
    middles = edges[:-1] + width / 2
    level, lowered = _levels(sieve)
    end = float(middles[-1] + width / 2)
    x = np.linspace(0, end, 1200)
    noise = Line(
        name="Noise of the sieve around T − t",
        x=list(x),
        y=list(sieving.noise_density(x - lowered, a, b)),
        style=MIDDLE,
        mode="lines",
        fill=True,
        second=True,
    )
    title = "p-value" if sieve.scale == "p" else f"|z| (the last bar holds {FIRST_Z:g} and more)"
    figure = curves.curves(
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
                "color": curves.ink(style),
                "pattern": {"shape": "/" if k else "", "solidity": 0.4},
            },
            hovertemplate="%{x:.3g}: %{y}<extra></extra>",
        )
        figure.add_trace(bar)
    # The density's height says nothing by itself: its place and width do.
    figure.update_layout(barmode="stack", margin={"t": 40}, yaxis2={"showticklabels": False})
    curves.vertical(figure, level, f"T = {level:.3g}", style=curves.PLAIN, level=1.1)
    if lowered != level:
        curves.vertical(figure, lowered, f"T − t = {lowered:.3g}", style=3, level=0.97)
    return figure


def _levels(sieve: Sieve) -> tuple[float, float]:
    """(T, T − t) in units of the score: on |z| a p-value's critical value."""
    low = max(1e-12, sieve.threshold - sieve.tweak)
    if sieve.scale == "p":
        return sieve.threshold, max(0.0, sieve.threshold - sieve.tweak)
    return critical_z(sieve.threshold), critical_z(low)


def _tiles(values: np.ndarray, sieve: Sieve, a: float, b: float) -> None:
    level, lowered = _levels(sieve)
    known = values[~np.isnan(values)]
    beyond = known > level if sieve.scale == "p" else known < level
    near = np.abs(known - lowered) <= sieving.deviation(a, b)
    one, two, three = st.columns(3)
    one.metric(
        "Beyond T", f"{np.mean(beyond):.0%}", help="Queries whose exact score looks independent."
    )
    two.metric(
        "Close by", f"{np.mean(near):.0%}", help="Queries at most one s.d. of the noise from T − t."
    )
    three.metric("Noise s.d.", text.number(sieving.deviation(a, b), 2), help="Of the comparison.")


def _score_table(counts: dict[str, np.ndarray], edges: np.ndarray) -> pd.DataFrame:
    names = [
        f"{low:.3g} – {high:.3g}" if math.isfinite(high) else f"{low:.3g} and more"
        for low, high in itertools.pairwise(edges)
    ]
    return pd.DataFrame({"Score": names, **counts})


# Errors ---------------------------------------------------------------------------------


def errors_view(data: Dataset, sieve: Sieve, gap: float) -> None:
    """Theorem 2 and what is observed, as t moves and as m moves."""
    st.markdown("**Errors of one answer: Theorem 2's bounds, and what is observed**")
    st.caption(
        f"A query whose score lies α = {gap:g} from T. Type I: it looks independent, but the sieve "
        "sifts it out. Type II: it looks dependent, but passes sieve and examine. The theorem "
        "speaks of the noise alone; on real samples the score itself moves too."
    )
    by_tweak = tweak_table(data, sieve, gap)
    by_rows = rows_table(data, sieve, gap)
    left, right = st.columns(2, gap="medium")
    with left:
        _error_chart(by_tweak, "t", sieve.tweak, "Tweak t", key="sieve-by-t")
    with right:
        _error_chart(by_rows, "m / n", sieve.m / data.n, "m / n", key="sieve-by-m")
    if above := _above(pd.concat([by_tweak, by_rows])):
        st.caption(above)
    with st.expander("The same as tables"):
        left, right = st.columns(2, gap="medium")
        with left:
            curves.table(by_tweak, alt="Errors as t moves")
        with right:
            curves.table(by_rows, alt="Errors as m moves")


def tweak_table(data: Dataset, sieve: Sieve, gap: float) -> pd.DataFrame:
    """Bounds and observed rates at every tweak."""
    rows = [{"t": float(t), **_rates(data, sieve, gap, float(t), sieve.m)} for t in TWEAKS]
    if data.public:
        tweaks = tuple(map(float, TWEAKS))
        found = sieving.on_data(data.fingerprint, sieve, gap, sieve.m, tweaks, data)
        rows = [r | _named(f) for r, f in zip(rows, found, strict=True)]
    return pd.DataFrame(rows)


def rows_table(data: Dataset, sieve: Sieve, gap: float) -> pd.DataFrame:
    """Bounds and observed rates at every m."""
    rows = []
    for rate in RATES:
        m = max(2, round(rate * data.n))
        row = {"m / n": rate, **_rates(data, sieve, gap, sieve.tweak, m)}
        if data.public:
            row |= _named(sieving.on_data(data.fingerprint, sieve, gap, m, (sieve.tweak,), data)[0])
        rows.append(row)
    return pd.DataFrame(rows)


def _named(found: tuple[float, float]) -> dict[str, float]:
    return {"I on the data": found[0], "II on the data": found[1]}


def _rates(data: Dataset, sieve: Sieve, gap: float, tweak: float, m: int) -> dict[str, float]:
    units = sieve.unit(data, m), sieve.unit(data)
    moved = Sieve(**(vars(sieve) | {"tweak": tweak}))
    level, lowered = _levels(moved)
    shift = abs(level - lowered)  # t in units of the score
    bound = sieve_errors(gap, shift, sieve.epsilon, data.n, m, units[0])
    seen = sieving.observed(gap, shift, sieve.epsilon, data.n, m, units)
    second = bound[1] if gap >= shift else math.nan  # the theorem asks for alpha >= t
    return {"I bound": bound[0], "I noise": seen[0], "II bound": second, "II noise": seen[1]}


def _error_chart(table: pd.DataFrame, x: str, now: float, title: str, *, key: str) -> None:
    names = {
        "I bound": ("Type I, bound", 0, "lines"),
        "I noise": ("Type I, noise alone", 0, "markers"),
        "I on the data": ("Type I, on these data", 5, "lines+markers"),
        "II bound": ("Type II, bound", 1, "lines"),
        "II noise": ("Type II, noise alone", 1, "markers"),
        "II on the data": ("Type II, on these data", 3, "lines+markers"),
    }
    lines = [
        Line(name=name, x=list(table[x]), y=list(table[c]), style=style, mode=mode)
        for c, (name, style, mode) in names.items()
        if c in table and table[c].notna().any()
    ]
    high = max(1e-3, float(np.nanmax(table.drop(columns=x).to_numpy(dtype=float))))
    figure = curves.curves(
        lines, Axis(title), Axis("Error rate", ends=(0, min(1.05, high * 1.1))), height=380
    )
    curves.vertical(figure, now, "now", style=curves.PLAIN)
    charts.show(figure, key=key, alt=f"Error rates against {title}: bounds and observed")


def _above(table: pd.DataFrame) -> str:
    """Where a simulated rate lies above its bound by more than the simulation's own error."""
    margin = 3 * 0.5 / math.sqrt(sieving.DRAWS)
    if not (table["II noise"] > table["II bound"] + margin).any():
        return ""
    return (
        "Somewhere the observed type II rate lies above the bound. The theorem's exponent for the "
        "examine is 2εα/Δ; Laplace noise of scale 2Δ/ε, which Algorithm 1 adds, gives εα/(2Δ)."
    )


# Noise ----------------------------------------------------------------------------------


def noise_view(data: Dataset, sieve: Sieve) -> None:
    """The noise's standard deviation against m, with the best m."""
    st.markdown("**How noisy the sieve is, by the size m of its sample**")
    best = best_subsample(sieve.epsilon, data.n)
    rates = np.unique(np.append(np.geomspace(0.01, 1, 40), best / data.n))
    levels = [noise_level(data, sieve, max(2, round(r * data.n))) for r in rates]
    left, right = st.columns([5, 3], gap="medium")
    with left:
        line = Line(name="Noise s.d.", x=list(rates), y=levels, mode="lines")
        figure = curves.curves(
            [line],
            Axis("m / n", log=True, ends=(0.009, 1.1)),
            Axis("Noise s.d. in units of the score", ends=(0, max(levels) * 1.05)),
            height=340,
            here=(sieve.m / data.n, noise_level(data, sieve, sieve.m), f"m now: {sieve.m:,}"),
        )
        figure.add_vline(x=best / data.n, line={"color": curves.ink(3), "width": 2, "dash": "dash"})
        mark = Line(
            name=f"Best m: {best:,}",
            x=[best / data.n],
            y=[noise_level(data, sieve, best)],
            style=3,
            mode="markers",
        )
        figure.add_trace(curves.trace(mark))
        charts.show(figure, key="sieve-noise", alt="Standard deviation of the noise against m")
    with right:
        picks = sorted({*RATES, round(best / data.n, 4)})
        table = pd.DataFrame(
            {
                "m / n": picks,
                "m": [round(r * data.n) for r in picks],
                "Noise s.d.": [noise_level(data, sieve, max(2, round(r * data.n))) for r in picks],
            }
        )
        curves.table(table, alt="Noise by m", height=340)
    clipped = best / data.n <= MIN_RATE * 1.0001
    st.caption(
        "A smaller sample makes scores more sensitive, but sub-sampling amplifies privacy, so each "
        "round may use a larger ε′. The best m balances the two"
        + (
            f"; here it is held at n/{1 / MIN_RATE:.0f}, section 3.2's lower end."
            if clipped
            else "."
        )
    )


def noise_level(data: Dataset, sieve: Sieve, m: int) -> float:
    """The standard deviation of a comparison's noise on m rows."""
    return sieving.deviation(*sieving.spread(sieve.epsilon, data.n, m, sieve.unit(data, m)))


draw(main)
