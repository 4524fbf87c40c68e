"""The sieve's errors beside Theorem 2's bounds, and its noise against the size of its sample."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import streamlit as st

from engine import Dataset
from engine.teaching.sieving import DRAWS, ErrorRates, Sieve, error_rates, on_data
from engine.theory import MIN_RATE, best_subsample
from pages.draw import show
from pages.draw.curves import Axis, Curve, curves, trace, vertical
from pages.shell.palette import PLAIN, ink
from pages.sieve.form import MOST_TWEAK

TWEAKS = np.linspace(0.0, MOST_TWEAK, 13)
RATES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@st.cache_data(max_entries=64, show_spinner="Simulating …")
def _on_data(
    fingerprint: str, sieve: Sieve, gap: float, m: int, tweaks: tuple[float, ...], _data: Dataset
) -> list[tuple[float, float]]:
    return on_data(_data, sieve, gap, m, tweaks)


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
            show.table(by_tweak, alt="Errors as t moves")
        with right:
            show.table(by_rows, alt="Errors as m moves")


def tweak_table(data: Dataset, sieve: Sieve, gap: float) -> pd.DataFrame:
    """Bounds and observed rates at every tweak."""
    tweaks = tuple(map(float, TWEAKS))
    rows = [{"t": t, **_rates(error_rates(data, sieve, gap, tweak=t))} for t in tweaks]
    if data.public:
        found = _on_data(data.identity, sieve, gap, sieve.m, tweaks, data)
        rows = [r | _named(f) for r, f in zip(rows, found, strict=True)]
    return pd.DataFrame(rows)


def rows_table(data: Dataset, sieve: Sieve, gap: float) -> pd.DataFrame:
    """Bounds and observed rates at every m."""
    rows = []
    for rate in RATES:
        m = max(2, round(rate * data.n))
        row = {"m / n": rate, **_rates(error_rates(data, sieve, gap, m=m))}
        if data.public:
            row |= _named(_on_data(data.identity, sieve, gap, m, (sieve.tweak,), data)[0])
        rows.append(row)
    return pd.DataFrame(rows)


def _rates(found: ErrorRates) -> dict[str, float]:
    return {
        "I bound": found.bound_one,
        "I noise": found.noise_one,
        "II bound": found.bound_two,
        "II noise": found.noise_two,
    }


def _named(found: tuple[float, float]) -> dict[str, float]:
    return {"I on the data": found[0], "II on the data": found[1]}


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
        Curve(name=name, x=list(table[x]), y=list(table[c]), style=style, mode=mode)
        for c, (name, style, mode) in names.items()
        if c in table and table[c].notna().any()
    ]
    high = max(1e-3, float(np.nanmax(table.drop(columns=x).to_numpy(dtype=float))))
    figure = curves(
        lines, Axis(title), Axis("Error rate", ends=(0, min(1.05, high * 1.1))), height=380
    )
    vertical(figure, now, "now", style=PLAIN)
    show.figure(figure, key=key, alt=f"Error rates against {title}: bounds and observed")


def _above(table: pd.DataFrame) -> str:
    """Where a simulated rate lies above its bound by more than the simulation's own error."""
    margin = 3 * 0.5 / math.sqrt(DRAWS)
    if not (table["II noise"] > table["II bound"] + margin).any():
        return ""
    return (
        "Somewhere the observed type II rate lies above the bound. The theorem's exponent for the "
        "examine is 2εα/Δ; Laplace noise of scale 2Δ/ε, which Algorithm 1 adds, gives εα/(2Δ)."
    )


# The sieve's noise against the size of its sample, with the best m (Priv-PC, section 3.2) ---


BEST = 3  # the style of the best m


def noise_view(data: Dataset, sieve: Sieve) -> None:
    """The noise's standard deviation against m, with the best m."""
    st.markdown("**How noisy the sieve is, by the size m of its sample**")
    best = best_subsample(sieve.epsilon, data.n)
    rates = np.unique(np.append(np.geomspace(0.01, 1, 40), best / data.n))
    levels = [sieve.noise_level(data, max(2, round(r * data.n))) for r in rates]
    left, right = st.columns([5, 3], gap="medium")
    with left:
        line = Curve(name="Noise s.d.", x=list(rates), y=levels, mode="lines")
        figure = curves(
            [line],
            Axis("m / n", log=True, ends=(0.009, 1.1)),
            Axis("Noise s.d. in units of the score", ends=(0, max(levels) * 1.05)),
            height=340,
            here=(sieve.m / data.n, sieve.noise_level(data, sieve.m), f"m now: {sieve.m:,}"),
        )
        figure.add_vline(x=best / data.n, line={"color": ink(BEST), "width": 2, "dash": "dash"})
        mark = Curve(
            name=f"Best m: {best:,}",
            x=[best / data.n],
            y=[sieve.noise_level(data, best)],
            style=BEST,
            mode="markers",
        )
        figure.add_trace(trace(mark))
        show.figure(figure, key="sieve-noise", alt="Standard deviation of the noise against m")
    with right:
        picks = sorted({best, *(max(2, round(r * data.n)) for r in RATES)})
        table = pd.DataFrame(
            {
                "m / n": [m / data.n for m in picks],
                "m": picks,
                "Noise s.d.": [sieve.noise_level(data, m) for m in picks],
            }
        )
        show.table(table, alt="Noise by m", height=340)
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
