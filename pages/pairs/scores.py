"""The scores of both directions with the noise laid over them, and probabilities over ε and λ."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from plotly.subplots import make_subplots

from engine import Dataset
from engine.teaching.pairwise import EPSILONS, Picture, Way
from pages.draw import show
from pages.draw.curves import Axis, Line, curves
from pages.pairs.state import RIDGES, over_lambda, setting_of
from pages.shell import words as text
from pages.shell.drafts import Draft
from pages.shell.palette import PLAIN, ink

FIGURE2_EPSILONS = (1.0, 10.0)


def title_of(way: Way) -> str:
    """The way's name, with whom it protects."""
    if way.release == "vote":
        return "Vote (every row)"
    if way.release == "difference":
        return "√HSIC, one difference (test half)"
    return f"{text.label(way.name)}, two scores (test half)"


def scores_view(data: Dataset, found: Picture, d: Draft) -> None:
    """The paper's four scores, their gaps and the noise at this ε."""
    st.markdown(
        f"**The paper's four scores and their noise at a strict total of ε = {d['epsilon']:g}**"
    )
    paper = [way for way in found.ways if way.release == "scores"]
    figure = make_subplots(1, len(paper), subplot_titles=[text.label(w.name) for w in paper])
    arrows = _arrows(data)
    for column, way in enumerate(paper, start=1):
        for k, (arrow, value) in enumerate(zip(arrows, (way.forward, way.backward), strict=True)):
            figure.add_trace(_dot(arrow, value, way.unit / d["epsilon"], k, column == 1), 1, column)
    figure.update_layout(
        height=300,
        margin={"l": 8, "r": 8, "t": 32, "b": 8},
        legend={"orientation": "h", "y": -0.15, "x": 0},
    )
    show.figure(
        figure, key="pairs-scores", alt="Scores of both directions with bars as long as the noise"
    )
    st.caption(
        "A dot is the exact score, its bar one noise scale up and down. The smaller score's "
        "direction wins; where bars are much longer than the gap, the noise decides."
    )
    show.table(score_table(data, found, d), alt="Scores, gaps, noise and probabilities")


def _arrows(data: Dataset) -> tuple[str, str]:
    x, y = data.names
    return f"{x} → {y}", f"{y} → {x}"


def _dot(name: str, value: float, scale: float, style: int, legend: bool) -> go.Scatter:
    colour = ink(style)
    return go.Scatter(
        x=[name],
        y=[value],
        name=name,
        legendgroup=name,
        showlegend=legend,
        mode="markers",
        marker={"size": 11, "color": colour, "symbol": ("circle", "square")[style]},
        error_y={"type": "constant", "value": scale, "color": colour, "thickness": 2},
        hovertemplate=f"{name}: %{{y:.4g}} ± {scale:.3g}<extra></extra>",
    )


def score_table(data: Dataset, found: Picture, d: Draft) -> pd.DataFrame:
    """Every way to release with its exact scores, gap, noise and probability."""
    at = EPSILONS.index(d["epsilon"])
    forward, backward = _arrows(data)
    rows = []
    for way in found.ways:
        margin = way.release == "vote"
        rows.append(
            {
                "Release": title_of(way),
                f"Score {forward}": None if margin else way.forward,
                f"Score {backward}": None if margin else way.backward,
                "Gap (vote: margin)": way.gap,
                "Noise scale": way.unit / d["epsilon"],
                "Points to": forward if way.gap > 0 else backward,
                "Right" if found.sign else "As without noise": way.right[at],
            }
        )
    return pd.DataFrame(rows)


def chances_view(data: Dataset, found: Picture, d: Draft) -> None:
    """The paper's Figures 1 and 2."""
    left, right = st.columns(2, gap="medium")
    with left:
        what = "the true direction" if found.sign else "the direction without noise"
        st.markdown(f"**How often a release says {what}, over ε** (Figure 1)")
        lines = [
            Line(name=title_of(way), x=EPSILONS, y=way.right, style=style)
            for style, way in enumerate(found.ways)
        ]
        figure = curves(
            lines,
            Axis("Total ε, strict", log=True, ends=(EPSILONS[0], EPSILONS[-1])),
            Axis("Probability", ends=(0.0, 1.02)),
            height=440,
        )
        figure.add_vline(x=d["epsilon"], line={"color": ink(PLAIN), "width": 2, "dash": "dash"})
        show.figure(figure, key="pairs-epsilon-curve", alt="Probability over ε for each release")
    with right:
        st.markdown("**Over λ, with the training half protected** (Figure 2)")
        _ridge_chart(data, d)


def _ridge_chart(data: Dataset, d: Draft) -> None:
    lines = []
    for k, epsilon in enumerate(FIGURE2_EPSILONS):
        points = over_lambda(data.identity, setting_of(d), int(d["seed"]), epsilon, data)
        for j, name in enumerate(("HSIC, Theorem 7", "√HSIC, one difference")):
            lines.append(
                Line(
                    name=f"{name}, ε = {epsilon:g}",
                    x=RIDGES,
                    y=[point[j] for point in points],
                    style=2 * k + j,
                )
            )
    figure = curves(
        lines,
        Axis("Ridge λ", log=True, ends=(RIDGES[0], RIDGES[-1])),
        Axis("Probability", ends=(0.0, 1.02)),
        height=440,
    )
    show.figure(figure, key="pairs-lambda-curve", alt="Probability over λ at two ε")
    st.caption(
        "A small λ lets one record move the fit far and needs more noise, a large one makes a poor "
        "fit. A line along one half is noise alone. The vote needs no such bound."
    )
