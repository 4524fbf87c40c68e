"""A pair on the page: the decision, both fits, the scores with the noise over them, files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from numpy.typing import NDArray

from engine import Dataset, RunResult
from engine.pairs.decision import BOTH, Decision, Setting
from engine.percent import percent
from engine.teaching.pairwise import EPSILONS, Picture, Way, over_ridge
from pages.draw import show
from pages.draw.curves import Axis, Curve, curves
from pages.pairs.form import FILE, SIMULATED, setting_of
from pages.shell import words as text
from pages.shell.drafts import Draft
from pages.shell.export import as_csv, as_json, download, run_record
from pages.shell.palette import PLAIN, ink, see_through

FIGURE2_EPSILONS = (1.0, 10.0)
RIDGES = tuple(10 ** (k / 3 - 4) for k in range(13))
KEPT = Path(__file__).resolve().parents[2] / "sample_data" / "pairs.json"


def title_of(way: Way) -> str:
    """The way's name, with whom it protects."""
    if way.release == "vote":
        return "Vote (every row)"
    if way.release == "difference":
        return "√HSIC, one difference (test half)"
    return f"{text.label(way.name)}, two scores (test half)"


def scores_view(data: Dataset, found: Picture, d: Draft) -> None:
    """Every way to release at this ε: the smaller score's direction wins."""
    st.markdown(f"**Every way to release, at a strict total of ε = {d['epsilon']:g}**")
    show.table(score_table(data, found, d), alt="Scores, gaps, noise and probabilities")
    st.caption(
        "The smaller score's direction wins; where the noise scale is much larger than the gap, "
        "the noise decides."
    )


def _arrows(data: Dataset) -> tuple[str, str]:
    x, y = data.names
    return f"{x} → {y}", f"{y} → {x}"


def score_table(data: Dataset, found: Picture, d: Draft) -> pd.DataFrame:
    """Every way to release with its exact scores, gap, noise and probability."""
    epsilon = d["epsilon"]
    forward, backward = _arrows(data)
    rows = []
    for way in found.ways:
        one, other = way.scores or (None, None)
        gap = way.gap(epsilon)
        rows.append(
            {
                "Release": title_of(way),
                f"Score {forward}": one,
                f"Score {backward}": other,
                "Gap (vote: margin)": gap,
                "Noise scale": way.unit / epsilon,
                "Points to": forward if gap > 0 else backward,
                "Right" if found.sign else "As without noise": way.chance(epsilon),
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
            Curve(name=title_of(way), x=EPSILONS, y=way.right, style=style)
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


@st.cache_data(max_entries=16, show_spinner="Fitting over λ …", scope="session")
def _over_lambda(
    fingerprint: str, setting: Setting, seed: int, epsilon: float, _data: Dataset
) -> list[tuple[float, float]]:
    return over_ridge(_data, setting, seed, RIDGES, epsilon)


def _ridge_chart(data: Dataset, d: Draft) -> None:
    lines = []
    for k, epsilon in enumerate(FIGURE2_EPSILONS):
        points = _over_lambda(data.identity, setting_of(d), int(d["seed"]), epsilon, data)
        for j, name in enumerate(("HSIC, Theorem 7", "√HSIC, one difference")):
            values = [point[j] for point in points]
            name = f"{name}, ε = {epsilon:g}"
            lines.append(Curve(name=name, x=RIDGES, y=values, style=2 * k + j))
    ends = (RIDGES[0], RIDGES[-1])
    axes = Axis("Ridge λ", log=True, ends=ends), Axis("Probability", ends=(0.0, 1.02))
    figure = curves(lines, *axes, height=440)
    show.figure(figure, key="pairs-lambda-curve", alt="Probability over λ at two ε")
    st.caption(
        "A small λ lets one record move the fit far and needs more noise, a large one makes a poor "
        "fit. A line along one half is noise alone. The vote needs no such bound."
    )


# The decision in plain words, and what it cost -------------------------------------------


def assumption() -> str:
    """What a decision rests on, and how far that can be trusted: the result that ``engine
    reproduce pairs-accuracy`` wrote.
    """
    known = json.loads(KEPT.read_text(encoding="utf-8"))
    right = [100 * way["right"] for way in known["ways"]]
    return (
        "That counts noise, not truth. The method assumes that one column is a smooth function of "
        "the other plus noise that does not depend on it, and that nothing else drives both. "
        f"**On {known['pairs']} real pairs whose cause is known it is right on {min(right):.0f} to "
        f"{max(right):.0f} % without any privacy**; a coin is right on 50 %."
    )


def decision_view(result: RunResult, data: Dataset, exact: Picture | None, d: Draft) -> None:
    """One sentence, then numbers; ``exact`` tells how often a release would say so."""
    found = result.diagnostics
    if not isinstance(found, Decision):
        return
    st.subheader(_sentence(found, result.names, exact, d), anchor=False)
    if found.direction is not None:
        st.markdown(assumption())
    one, two, three, four = st.columns(4)
    released = " and ".join(text.number(score) for score in found.scores) or "nothing"
    one.metric("Released", released, help=_released(found))
    two.metric(
        "Noise scale",
        text.number(found.scale),
        help="Of the Laplace noise on each released number.",
    )
    three.metric(
        "Noise did not decide",
        percent(found.probability),
        help="Probability that noise of this size leaves a gap as large as the released one on "
        "its side of 0. Computed from released numbers.",
    )
    four.metric(
        "ε spent",
        text.number(result.spent.epsilon),
        help="Strict total, δ = " + text.number(result.spent.delta) + ".",
    )
    whose = "every row" if found.protects == BOTH else f"the {found.protects} half's rows"
    st.caption(
        f"Strict: ε = {text.number(result.spent.epsilon)} protects {whose}"
        + ("." if found.protects == BOTH else "; the other half is taken as public.")
        + f" {text.RESEARCH_TOOL}"
    )


def _sentence(found: Decision, names: tuple[str, ...], exact: Picture | None, d: Draft) -> str:
    if found.direction is None:
        return "Nothing was released: the data are too close to a change to say anything safely."
    cause, effect = map(text.plain, names if found.forward else names[::-1])
    said = f"If the model holds, {cause} explains {effect} rather than the other way round"
    if exact is None:
        return (
            f"{said}; noise of this size turns {percent(1 - found.probability)} of such decisions."
        )
    way = next(
        w for w in exact.ways if w.release == found.release and w.name in ("vote", found.score)
    )
    right = way.chance(d["epsilon"])
    # ``right`` counts the true direction, or the one without noise where no truth is known.
    target = exact.sign if exact.sign else (1.0 if way.gap(d["epsilon"]) > 0 else -1.0)
    if (found.scores[-1] - (found.scores[0] if len(found.scores) > 1 else 0.0)) * target < 0:
        right = 1 - right
    return f"{said}: {100 * right:.0f} of 100 such releases would say so."


def _released(found: Decision) -> str:
    if found.release == "vote":
        return "Votes for the first column as the cause, less votes for the second, with noise."
    if found.release == "difference":
        return "Score of second → first less that of first → second, with noise."
    return "The scores of first → second and of second → first, with noise; the smaller one wins."


# The pair with both fitted curves, and what the fits leave against their inputs ----------


Values = NDArray[np.float64]
FORWARD, BACKWARD = 0, 1  # styles
_ROOM = 0.04  # of the range, on either side: more than half a point at any size of the chart


def fits_view(data: Dataset, found: Picture) -> None:
    """Scatter with curves at the left, residuals of both directions at the right."""
    x, y = data.names
    (low_x, high_x), (low_y, high_y) = data.bounds or ((-1.0, 1.0), (-1.0, 1.0))

    def unscaled(values: Values, low: float, high: float) -> Values:
        return (low + high) / 2 + values * (high - low) / 2

    def of_x(values: Values) -> Values:
        return unscaled(values, low_x, high_x)

    def of_y(values: Values) -> Values:
        return unscaled(values, low_y, high_y)

    grid_x, grid_y = list(of_x(found.grid)), list(of_y(found.grid))
    forward, backward = list(of_y(found.forward)), list(of_x(found.backward))
    points = (of_x(found.x), of_y(found.y))
    left, one, two = st.columns([8, 5, 5], gap="medium")
    with left:
        st.markdown("**Both regressions**")
        lines = [
            Curve(name=f"{y} fitted on {x}", x=grid_x, y=forward, style=FORWARD, mode="lines"),
            Curve(name=f"{x} fitted on {y}", x=backward, y=grid_y, style=BACKWARD, mode="lines"),
        ]
        ends = [_with_room(p) for p in points]
        figure = curves(lines, Axis(x, ends=ends[0]), Axis(y, ends=ends[1]), height=380)
        figure.add_trace(_points(points[0], points[1], 6, "Test half"))
        figure.data = (figure.data[-1], *figure.data[:-1])
        show.figure(figure, key="pairs-fits", alt=f"{x} and {y} with both fitted curves")
    for column, cause, effect, a, b, style in (
        (one, x, y, points[0], found.of_y * (high_y - low_y) / 2, FORWARD),
        (two, y, x, points[1], found.of_x * (high_x - low_x) / 2, BACKWARD),
    ):
        with column:
            st.markdown(f"**What is left of {text.plain(f'{cause} → {effect}')}**")
            figure = curves([], Axis(cause), Axis(f"{effect} less its fit"), height=380)
            figure.add_trace(_points(a, b, style, f"{cause} → {effect}"))
            alt = f"Residuals of {effect} against {cause}"
            show.figure(figure, key=f"pairs-residuals-{style}", alt=alt)
    st.caption(
        "In the causal direction the residuals spread alike at every input; in the other one their "
        "spread or place changes along it. The scores measure that."
    )


def _with_room(values: Values) -> tuple[float, float]:
    """Ends of an axis: a point at either end of the range is drawn whole."""
    low, high = float(values.min()), float(values.max())
    room = _ROOM * (high - low) or 1.0
    return low - room, high + room


def _points(x: Values, y: Values, style: int, name: str) -> go.Scattergl:
    return go.Scattergl(
        x=list(x),
        y=list(y),
        name=name,
        mode="markers",
        marker={"size": 4, "color": see_through(ink(style), 0.45)},
        hovertemplate="%{x:.3g}, %{y:.3g}<extra></extra>",
    )


# What a person takes along of a pair: decision, table, and a script that makes it again ---


def files_view(data: Dataset, result: RunResult, found: Picture, d: Draft) -> None:
    """Downloads and a script; of public data alone."""
    with st.expander("Take along", icon=":material/download:", key="pairs-files"):
        left, right = st.columns(2)
        stem = text.file_stem(data)
        with left:
            record = run_record(data, result, {"pair": data.name})
            download("Decision (JSON)", lambda: as_json(record), f"{stem}.json", key="pairs-json")
        with right:
            table = score_table(data, found, d)
            download("Scores (CSV)", lambda: as_csv(table), f"{stem}.csv", key="pairs-table-csv")
        st.code(script(result, data.name, d), language=None)


def script(result: RunResult, name: str, d: Draft) -> str:
    """A few lines that give the same decision."""
    values = ", ".join(
        f"{name}={value!r}"
        for name, value in result.params.as_dict().items()
        if value != type(result.params)().as_dict()[name]
    )
    first, data = "", ""
    if d["source"] == SIMULATED:
        first = "from engine.data.simulated_pairs import simulate_pair\n"
        chosen = ", ".join(repr(d[name]) for name in ("mechanism", "noise", "cause"))
        data = f"simulate_pair({chosen}, n={d['rows']}, seed={d['sample']})"
    elif d["source"] == FILE:
        first = "from engine.data.pairs import read_tuebingen\n"
        pick = f'next(p for p in pairs if p.name == "{name}")'
        data = f'pairs = read_tuebingen("cdt-0.6.0-py3-none-any.whl")\ndata = {pick}'
    data = data if data.startswith("pairs") else f"data = {data}"
    call = ", ".join(filter(None, [f'run("anm", data, seed={result.seed}', values]))
    return f"from engine import run\n{first}\n{data}\nresult = {call})\nresult.diagnostics\n"
