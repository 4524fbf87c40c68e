"""A plan on the page: F1 against ε with bands, links found and invented, and the least ε."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from engine.registry import algorithm
from engine.studies.forecast import Band, Forecast, Question, smallest_epsilon, warning
from pages.draw.curves import Axis, Line, curves
from pages.draw.show import figure, table
from pages.shell import words as text
from pages.shell.palette import style_of

BANDED = 2  # more bands than these hide each other


def forecast_view(
    question: Question, schema: str, forecasts: Sequence[Forecast], target: float
) -> None:
    """The sentence, the curve and the table of a plan."""
    st.subheader(sentence(question, forecasts, target), anchor=False)
    bad = warning(question, forecasts)
    if bad:
        st.warning(text.plain(bad), icon=":material/warning:")
    curve_view(forecasts)
    st.caption(
        f"Strict guarantee, δ = 10⁻⁶. The schema of {text.plain(schema)}, {question.rows:,} rows, "
        f"a guess of {question.density:g} links a column. Medians over {forecasts[0].draws} "
        "simulated networks; bands and brackets hold four fifths of them. No row was read, nothing "
        "was spent."
    )
    table_view(forecasts)


def sentence(question: Question, forecasts: Sequence[Forecast], target: float) -> str:
    """The answer in one sentence."""
    reached = smallest_epsilon(forecasts, target)
    if reached is None:
        best = max(forecasts, key=lambda f: f.f1.median)
        return (
            f"No ε tried reaches skeleton F1 {target:g}; the best is {best.f1.median:.2f}, by "
            f"{algorithm(best.algorithm).title} at ε = {text.number(best.epsilon)}."
        )
    epsilon, by = reached
    return (
        f"With {question.rows:,} rows expect skeleton F1 {target:g} from ε = "
        f"{text.number(epsilon)} on, by {algorithm(by.algorithm).title}: {by.found.median:.0f} of "
        f"{by.links.median:.0f} links found, {by.invented.median:.0f} invented."
    )


def curve_view(forecasts: Sequence[Forecast]) -> None:
    """Skeleton F1 against ε, one line an algorithm; bands for the best two."""
    keys = list(dict.fromkeys(f.algorithm for f in forecasts))
    best = sorted(keys, key=lambda k: -max(f.f1.median for f in forecasts if f.algorithm == k))
    lines = []
    for key in keys:
        some = sorted((f for f in forecasts if f.algorithm == key), key=lambda f: f.epsilon)
        banded = key in best[:BANDED]
        lines.append(
            Line(
                name=algorithm(key).title,
                x=[f.epsilon for f in some],
                y=[f.f1.median for f in some],
                low=[f.f1.low for f in some] if banded else None,
                high=[f.f1.high for f in some] if banded else None,
                style=style_of(key),
            )
        )
    drawn = curves(
        lines, Axis("ε (strict)", log=True), Axis("Skeleton F1", ends=(0.0, 1.02)), height=400
    )
    figure(drawn, key="plan-curve", alt="Expected skeleton F1 against ε, by algorithm")


def table_view(forecasts: Sequence[Forecast]) -> None:
    """Links found and invented with their bands, and the scores."""
    frame = pd.DataFrame(
        {
            "Algorithm": [algorithm(f.algorithm).title for f in forecasts],
            "ε": [text.number(f.epsilon) for f in forecasts],
            "Links found": [f"{_band(f.found)} of {f.links.median:.0f}" for f in forecasts],
            "Invented": [_band(f.invented) for f in forecasts],
            "Skeleton F1": [f"{f.f1.median:.2f}" for f in forecasts],
            "Directed F1": [f"{f.directed_f1.median:.2f}" for f in forecasts],
            "SHD": [f"{f.shd.median:.0f}" for f in forecasts],
            "": ["expect noise" if f.noise else "" for f in forecasts],
        }
    )
    table(frame, alt="Links found and invented and scores, by algorithm and ε", height=420)


def _band(band: Band) -> str:
    return f"{band.median:.0f} ({band.low:.0f}–{band.high:.0f})"
