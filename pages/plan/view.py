"""A plan on the page: F1 against ε with bands, links found and invented, and the least ε."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine.percent import percent
from engine.registry import algorithm
from engine.studies.forecast import TRUST, Band, Forecast, Question, reach, warning
from pages.draw.curves import Axis, Curve, curves
from pages.draw.show import figure, table
from pages.shell import words as text
from pages.shell.nothing import NOTHING, UNKNOWN
from pages.shell.palette import style_of

OWN = "Your declared schema"


def title_of(schema: str) -> str:
    """A network's name as other pages write it; one's own as it is."""
    return schema if schema == OWN else schema.capitalize()


def whose(schema: str) -> str:
    """Whose columns a plan is for, as a sentence begins."""
    return schema if schema == OWN else f"The schema of {title_of(schema)}"


def forecast_view(
    question: Question, schema: str, forecasts: Sequence[Forecast], target: float
) -> None:
    """The sentence, the curve and the table of a plan."""
    st.subheader(text.together(sentence(question, forecasts, target)), anchor=False)
    bad = warning(question, forecasts)
    if bad:
        st.warning(text.plain(bad), icon=":material/warning:")
    left, right = st.columns(2, gap="large")
    with left:
        curve_view(forecasts)
    with right:
        false_view(forecasts)
    st.caption(
        f"Strict guarantee, δ = 10⁻⁶. {text.plain(schema)}, {question.rows:,} rows, "
        f"a guess of {question.density:g} links a column. Medians over {forecasts[0].draws} "
        f"simulated networks; brackets hold four fifths of them. {text.together(TRUST)} No row was "
        "read, nothing was spent."
    )
    table_view(forecasts)
    st.caption(
        "“False share”: of the links shown, how many are invented. "
        f"“{NOTHING}”: how many links the same setting shows, on average, where no column has "
        "anything to do with another."
    )


def sentence(question: Question, forecasts: Sequence[Forecast], target: float) -> str:
    """The answer in two sentences: the range, and what is found at its end."""
    found = reach(forecasts, target)
    if found.may is None:
        best = max(forecasts, key=lambda f: f.f1.median)
        return (
            f"No ε tried reaches skeleton F1 {target:g}; the best is {best.f1.median:.2f}, by "
            f"{algorithm(best.algorithm).title} at ε = {text.number(best.epsilon)}."
        )
    at = found.will or found.usual or found.may
    one = next(f for f in forecasts if (f.algorithm, f.epsilon) == (found.algorithm, at))
    return (
        f"{found.words} At ε = {text.number(at)}: {one.found.median:.0f} of "
        f"{one.links.median:.0f} links found, {one.invented.median:.0f} invented."
    )


def curve_view(forecasts: Sequence[Forecast]) -> None:
    """Skeleton F1 against ε."""
    st.markdown("**How much is found and right**")
    band_curves(forecasts, "f1", "Skeleton F1", key="plan-curve", alt="Expected skeleton F1")


def false_view(forecasts: Sequence[Forecast]) -> None:
    """The share of the links shown that are invented, against ε."""
    st.markdown("**Of the links shown, how many are invented**")
    title, alt = "Invented / (found + invented)", "Expected share of invented links"
    band_curves(forecasts, "false_share", title, key="plan-false", alt=alt)


def band_curves(
    forecasts: Sequence[Forecast], name: str, title: str, *, key: str, alt: str
) -> None:
    """One of the forecasts' bands against ε, one line an algorithm."""
    keys = list(dict.fromkeys(f.algorithm for f in forecasts))
    lines = []
    for one in keys:
        some = sorted((f for f in forecasts if f.algorithm == one), key=lambda f: f.epsilon)
        bands = [getattr(f, name) for f in some]
        lines.append(
            Curve(
                name=algorithm(one).title,
                x=[f.epsilon for f in some],
                y=[band.median for band in bands],
                low=[band.low for band in bands],
                high=[band.high for band in bands],
                style=style_of(one),
            )
        )
    ticks = tuple(sorted({f.epsilon for f in forecasts}))
    drawn = curves(
        lines, Axis("ε (strict)", log=True, ticks=ticks), Axis(title, ends=(0.0, 1.02)), height=340
    )
    figure(drawn, key=key, alt=f"{alt} against ε, by algorithm")


def table_view(forecasts: Sequence[Forecast]) -> None:
    """Links found and invented with their bands, and the scores."""
    frame = pd.DataFrame(
        {
            "Algorithm": [algorithm(f.algorithm).title for f in forecasts],
            "ε": [text.number(f.epsilon) for f in forecasts],
            "Links found": [f"{_band(f.found)} of {f.links.median:.0f}" for f in forecasts],
            "Invented": [_band(f.invented) for f in forecasts],
            "False share": [percent(f.false_share.median) for f in forecasts],
            NOTHING: [_nothing(f) for f in forecasts],
            "Skeleton F1": [f"{f.f1.median:.2f}" for f in forecasts],
            "Directed F1": [f"{f.directed_f1.median:.2f}" for f in forecasts],
            "SHD": [f"{f.shd.median:.0f}" for f in forecasts],
            "Expect": ["noise" if f.noise else "" for f in forecasts],
        }
    )
    table(frame, alt="Links found and invented and scores, by algorithm and ε")


def _nothing(forecast: Forecast) -> str:
    return UNKNOWN if forecast.nothing is None else forecast.nothing.about


def _band(band: Band) -> str:
    return f"{band.median:.0f} ({band.low:.0f}–{band.high:.0f})"
