"""The sieve's noise against the size of its sample, with the best m (Priv-PC, section 3.2)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from engine import Dataset
from engine.teaching.sieving import Sieve
from engine.theory import MIN_RATE, best_subsample
from pages.draw import show
from pages.draw.curves import Axis, Line, curves, trace
from pages.shell.palette import ink
from pages.sieve.errors import RATES

BEST = 3  # the style of the best m


def noise_view(data: Dataset, sieve: Sieve) -> None:
    """The noise's standard deviation against m, with the best m."""
    st.markdown("**How noisy the sieve is, by the size m of its sample**")
    best = best_subsample(sieve.epsilon, data.n)
    rates = np.unique(np.append(np.geomspace(0.01, 1, 40), best / data.n))
    levels = [sieve.noise_level(data, max(2, round(r * data.n))) for r in rates]
    left, right = st.columns([5, 3], gap="medium")
    with left:
        line = Line(name="Noise s.d.", x=list(rates), y=levels, mode="lines")
        figure = curves(
            [line],
            Axis("m / n", log=True, ends=(0.009, 1.1)),
            Axis("Noise s.d. in units of the score", ends=(0, max(levels) * 1.05)),
            height=340,
            here=(sieve.m / data.n, sieve.noise_level(data, sieve.m), f"m now: {sieve.m:,}"),
        )
        figure.add_vline(x=best / data.n, line={"color": ink(BEST), "width": 2, "dash": "dash"})
        mark = Line(
            name=f"Best m: {best:,}",
            x=[best / data.n],
            y=[sieve.noise_level(data, best)],
            style=BEST,
            mode="markers",
        )
        figure.add_trace(trace(mark))
        show.figure(figure, key="sieve-noise", alt="Standard deviation of the noise against m")
    with right:
        picks = sorted({*RATES, round(best / data.n, 4)})
        table = pd.DataFrame(
            {
                "m / n": picks,
                "m": [round(r * data.n) for r in picks],
                "Noise s.d.": [sieve.noise_level(data, max(2, round(r * data.n))) for r in picks],
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
