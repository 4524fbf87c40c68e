"""A pair on the page: the decision, both fits, the scores with their noise, and files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from engine import Dataset, RunResult
from engine.data.networks import SAMPLE_DATA
from engine.data.pairs import HELD_OUT, MECHANISMS, NOISES, simulate_pair
from engine.data.spreadsheets import table_csv
from engine.pairs.decision import BOTH, Decision, Setting
from engine.percent import percent
from engine.teaching.pairwise import EPSILONS, Picture, Way, over_ridge
from pages.draw import PLAIN, charts, ink, see_through, show
from pages.draw.charts import Axis, Curve, curves
from pages.pairs.form import request_of, setting_of, tuebingen
from pages.pairs.work import pictures
from pages.shell import words as text
from pages.shell.export import downloads, run_json
from pages.shell.state import Draft
from pages.shell.task import Task, show_problem, start, watch

FIGURE2_EPSILONS = (1.0, 10.0)
RIDGES = tuple(10 ** (k / 3 - 4) for k in range(13))
KEPT = SAMPLE_DATA / "pairs.json"


_TITLES = {
    "vote": "Vote (every row)",
    "difference": "√HSIC, one difference (test half)",
    "scores": "{score}, two scores (test half)",
}


def title_of(way: Way) -> str:
    """Return the name of the release, with the records that it protects."""
    return _TITLES[way.release].format(score=text.label(way.name))


def scores_view(data: Dataset, found: Picture, d: Draft) -> None:
    """Draw every kind of release at this ε; the direction with the smaller score wins."""
    st.markdown(f"**Releases at Guaranteed ε = {d['epsilon']:g}**")
    show.table(score_table(data, found, d), alt="Scores, gaps, noise and probabilities")
    st.caption(
        "The smaller score's direction wins. If the noise scale is far above the gap, noise "
        "decides."
    )


def score_table(data: Dataset, found: Picture, d: Draft) -> pd.DataFrame:
    """Return every kind of release with its exact scores, gap, noise and probability."""
    epsilon, (x, y) = d["epsilon"], data.names
    forward, backward = f"{x} → {y}", f"{y} → {x}"
    gaps = [way.gap(epsilon) for way in found.ways]
    chances = "Right" if found.sign else "Same as without noise"
    scores = [way.scores or (None, None) for way in found.ways]
    columns = {
        "Release": map(title_of, found.ways),
        f"Score {forward}": (one for one, _ in scores),
        f"Score {backward}": (other for _, other in scores),
        "Gap (vote: margin)": gaps,
        "Noise scale": (way.unit / epsilon for way in found.ways),
        "Points to": (forward if gap > 0 else backward for gap in gaps),
        chances: (way.chance(epsilon) for way in found.ways),
    }
    return pd.DataFrame({name: list(values) for name, values in columns.items()})


def chances_view(data: Dataset, found: Picture, d: Draft) -> None:
    """Draw the paper's Figures 1 and 2."""
    left, right = st.columns(2, gap="medium")
    with left:
        what = "the true direction" if found.sign else "the direction without noise"
        st.markdown(f"**How often a release says {what}, over ε** (Figure 1)")
        lines = [
            Curve(name=title_of(way), x=EPSILONS, y=way.right, style=style)
            for style, way in enumerate(found.ways)
        ]
        figure = _probability(lines, "Total ε, strict", EPSILONS)
        here = charts.upright(d["epsilon"], color=ink(PLAIN), width=2, dash="dash")
        figure["layout"]["shapes"] = [here]
        charts.figure(figure, key="pairs-epsilon-curve", alt="Probability over ε for each release")
    with right:
        st.markdown("**Over λ, with the training half protected** (Figure 2)")
        lines = []
        for k, epsilon in enumerate(FIGURE2_EPSILONS):
            points = _over_lambda(data.identity, setting_of(d), int(d["seed"]), epsilon, data)
            for j, name in enumerate(("HSIC, Theorem 7", "√HSIC, one difference")):
                y = [point[j] for point in points]
                lines.append(Curve(name=f"{name}, ε = {epsilon:g}", x=RIDGES, y=y, style=2 * k + j))
        figure = _probability(lines, "Ridge λ", RIDGES)
        charts.figure(figure, key="pairs-lambda-curve", alt="Probability over λ at two ε")
        st.caption(
            "With a small λ one record can move the fit far, so more noise is needed. With a "
            "large λ the fit is poor. A line along one half shows noise only. The vote needs no "
            "such bound."
        )


def _probability(lines: Sequence[Curve], title: str, over: Sequence[float]) -> charts.Figure:
    x = Axis(title, log=True, ends=(over[0], over[-1]))
    return curves(lines, x, Axis("Probability", ends=(0.0, 1.02)), height=440)


@st.cache_data(max_entries=16, show_spinner="Fitting over λ …", scope="session")
def _over_lambda(
    fingerprint: str, setting: Setting, seed: int, epsilon: float, _data: Dataset
) -> list[tuple[float, float]]:
    return over_ridge(_data, setting, seed, RIDGES, epsilon)


# The decision in plain words, and its cost -----------------------------------------------


def assumption() -> str:
    """Return a sentence on the accuracy of decisions, from the file of ``engine reproduce
    pairs-accuracy``."""
    known = json.loads(KEPT.read_text(encoding="utf-8"))
    right = [100 * way["right"] for way in known["ways"]]
    return (
        f"**On {known['pairs']} real pairs of known cause it is right on {min(right):.0f} to "
        f"{max(right):.0f} % without privacy**; a coin: 50 %."
    )


def decision_view(result: RunResult, exact: Picture | None, d: Draft) -> None:
    """Draw one sentence, then numbers; with ``exact`` also the share of releases with this
    decision."""
    found = result.diagnostics
    assert isinstance(found, Decision)
    st.header(_sentence(found, result.names, exact, d), anchor=False)
    if found.direction is not None:
        st.markdown(assumption())
    epsilon, delta = text.number(result.proven.epsilon), text.number(result.proven.delta)
    released = " and ".join(text.number(score) for score in found.scores) or "nothing"
    tiles = [
        ("Released", released, _RELEASED[found.release]),
        ("Noise scale", text.number(found.scale), "Scale of the Laplace noise on each number."),
        ("Noise did not decide", percent(found.probability), _UNDECIDED),
        ("Guaranteed ε", epsilon, f"δ = {delta}."),
    ]
    rows = "every row"
    if found.protects != BOTH:
        rows = f"the {found.protects} half's rows; the other half is taken as public"
    with st.expander("Released values and assumptions"):
        show.tiles(tiles)
        st.caption(f"Strict: ε = {epsilon} protects {rows}. {text.RESEARCH_TOOL}")
        st.caption(
            "These numbers count noise only, not errors of the method. The method assumes that "
            "one column is a smooth function of the other plus independent noise, and that "
            "nothing else causes both."
        )


_UNDECIDED = (
    "Probability that noise of this size does not reverse a gap as large as the released one. "
    "Computed from released numbers."
)
_RELEASED = {
    "vote": "Votes for the first column as the cause minus votes for the second, with noise.",
    "difference": "Score of second → first minus that of first → second, with noise.",
    "scores": "The scores of first → second and second → first, with noise; the smaller one wins.",
}


def _sentence(found: Decision, names: tuple[str, ...], exact: Picture | None, d: Draft) -> str:
    if found.direction is None:
        return "Nothing was released, because the data are too close to a change of the answer."
    cause, effect = map(text.plain, names if found.forward else names[::-1])
    said = f"If the model holds, {cause} explains {effect} rather than the other way round"
    if exact is None:
        return (
            f"{said}; noise of this size reverses {percent(1 - found.probability)} of such "
            f"decisions."
        )
    way = next(
        w for w in exact.ways if w.release == found.release and w.name in ("vote", found.score)
    )
    right = way.chance(d["epsilon"])
    # ``right`` counts the true direction, or the one without noise if the truth is unknown.
    target = (exact.sign or way.gap(d["epsilon"])) > 0
    right = right if found.forward == target else 1 - right
    many = f"{100 * right:.0f}" if right <= 0.99 else "> 99"
    return f"{said}: {many} of 100 such releases would say so."


# The pair with both fitted curves, and the residuals against their inputs ----------------


Values = NDArray[np.float64]
_ROOM = 0.04  # share of the range on either side: more than half a point at any chart size


def fits_view(data: Dataset, found: Picture) -> None:
    """Draw the scatter plot with curves at the left, the residuals of both directions at the
    right."""
    (x, y), bounds = data.names, data.bounds or ((-1.0, 1.0), (-1.0, 1.0))
    (mid_x, half_x), (mid_y, half_y) = (((a + b) / 2, (b - a) / 2) for a, b in bounds)
    points = mid_x + found.x * half_x, mid_y + found.y * half_y
    directions = (
        (x, y, found.grid, found.forward, points[0], found.of_y * half_y),
        (y, x, found.backward, found.grid, points[1], found.of_x * half_x),
    )
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("**Both regressions**")
        lines = [_curve("Test half", *points, style=6, mode="markers")]
        for style, (cause, effect, of_x, of_y, _, _) in enumerate(directions):
            ends = mid_x + of_x * half_x, mid_y + of_y * half_y
            lines.append(_curve(f"{effect} fitted on {cause}", *ends, style=style, mode="lines"))
        axes = (Axis(name, ends=_with_room(p)) for name, p in zip((x, y), points, strict=True))
        figure = _dotted(curves(lines, *axes, height=560), 6)
        charts.figure(figure, key="pairs-fits", alt=f"{x} and {y} with both fitted curves")
    for style, (cause, effect, _, _, at, rest) in enumerate(directions):
        with right:
            st.markdown(f"**Residuals of {text.plain(f'{cause} → {effect}')}**")
            line = _curve(f"{cause} → {effect}", at, rest, style=style, mode="markers")
            figure = curves([line], Axis(cause), Axis(f"{effect} minus its fit"), height=250)
            alt, key = f"Residuals of {effect} against {cause}", f"pairs-residuals-{style}"
            charts.figure(_dotted(figure, style), key=key, alt=alt)
    st.caption(
        "In the causal direction the residuals have the same spread at every input. In the other "
        "direction their spread or position changes. The scores measure this."
    )


def _with_room(values: Values) -> tuple[float, float]:
    """Return the ends of an axis, so that a point at either end of the range is drawn whole."""
    low, high = float(values.min()), float(values.max())
    room = _ROOM * (high - low) or 1.0
    return low - room, high + room


def _curve(name: str, x: Values, y: Values, **look: Any) -> Curve:
    return Curve(name=name, x=list(x), y=list(y), **look)


def _dotted(figure: charts.Figure, style: int) -> charts.Figure:
    """Return the figure with its first series as small dots that show where many are."""
    figure["data"][0]["marker"] = {"size": 4, "color": see_through(ink(style), 0.45)}
    return figure


# Files: decision, table, and a script that gives the same decision --------------------------


def files_view(data: Dataset, result: RunResult, found: Picture, d: Draft) -> None:
    """Draw downloads and a script, for public data only."""
    with st.expander("Take along", icon=":material/download:", key="pairs-files"):
        stem, table = text.file_stem(data), score_table(data, found, d)
        made = partial(run_json, data, result, {"pair": data.name})
        files = {"Decision (JSON)": (".json", made)}
        downloads(stem, files | {"Scores (CSV)": (".csv", lambda: table_csv(table))})
        st.code(request_of(d, data).to_python(), language=None)


# Many pairs at once: the accuracy of each kind of release -------------------------------------

BATCH, BATCH_ROWS = "pairs-batch", 1_000


def batch_pairs() -> list[Dataset]:
    """Return the pairs of the user's copy, or every simulated mechanism with every noise."""
    return list(tuebingen().values()) or [
        simulate_pair(mechanism, noise, n=BATCH_ROWS, seed=i)
        for i, mechanism in enumerate([*MECHANISMS, *HELD_OUT])
        for noise in NOISES
    ]


def batch_view(d: Draft) -> None:
    """Show a button, the progress, and the table of the finished pairs."""
    which = "99 Tübingen pairs" if tuebingen() else "30 simulated pairs"
    st.markdown(f"**All {which}**")
    st.button(
        "Run all pairs",
        key="pairs-batch-run",
        icon=":material/playlist_play:",
        on_click=_begin,
        args=(d, which),
        help="One split per pair. The probabilities are exact, so no noise is drawn.",
    )
    task = watch(BATCH, more=lambda going: _table(going, d))
    if task is None:
        return
    show_problem(task)
    (datasets, made), done = task.args, len(task.parts)
    stopped = "" if done == len(datasets) else "Stopped: "
    said = f"{stopped}{done} of {len(datasets)} pairs, one split each."
    if made != setting_of(d) or task.title != which:
        said += (
            f" These results are for the {text.plain(task.title)} at λ = {made.ridge:g}, a fit "
            f"width of {made.width:g} and an HSIC width of {made.score_width:g}. To use the "
            "form's settings, run all pairs again."
        )
    st.caption(said)
    _table(task, d)


def _begin(d: Draft, what: str) -> None:
    start(BATCH, what, pictures, batch_pairs(), setting_of(d), wait=0.0)


def _table(task: Task, d: Draft) -> None:
    epsilon, rows = d["epsilon"], []
    finished = [(found.sign, found.ways) for _, found in list(task.parts)]
    signs = [sign for sign, _ in finished]
    for ways in zip(*(ways for _, ways in finished), strict=True):  # one release of every pair
        sure = [way.gap(epsilon) * sign > 0 for way, sign in zip(ways, signs, strict=True)]
        row = {"Release": title_of(ways[0]), "Right without noise": float(np.mean(sure))}
        row[f"Right at ε = {epsilon:g}"] = float(np.mean([way.chance(epsilon) for way in ways]))
        rows.append(row | {"Pairs": len(ways)})
    if rows:
        show.table(pd.DataFrame(rows), alt="Accuracy of each kind of release over the pairs")
