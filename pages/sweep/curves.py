"""A study's medians and bands against ε, and the smallest ε that meets a target."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from engine.registry import ALGORITHMS
from engine.studies import analysis
from pages.draw import show
from pages.draw.curves import Axis, Line, curves
from pages.shell import words as text
from pages.shell.palette import style_of
from pages.shell.runs import shown
from pages.shell.words import SCORES

Y = {**SCORES, "CI tests": "ci_tests", "Seconds": "seconds"}
SHARES = ("Skeleton F1", "Directed F1")  # from 0 to 1, the more the better
X = {"asked ε": "epsilon", "paper's total": "claimed_epsilon", "defended total": "spent_epsilon"}
X_TITLES = {"asked ε": "ε asked for", "paper's total": "Total ε as the paper composes it"}
X_TITLES |= {"defended total": "Total ε that can be defended"}


def curve_view(table: pd.DataFrame, x: str, y: str) -> None:
    """Median and band of every algorithm, the Run page's place, and the numbers."""
    points = analysis.bands(table, Y[y], x=X[x])
    usable = points["x"].gt(0) & points["x"].lt(float("inf")) & points["median"].notna()
    drawn, flat = points[usable], points[points["epsilon"].isna()] if "epsilon" in points else None
    left, right = st.columns([5, 4], gap="medium")
    with left:
        if drawn.empty:
            st.info(_nothing(x))
        else:
            _curve_chart(drawn, flat, x, y, table)
        st.caption(_curve_notes(points, drawn, flat, x))
    with right:
        st.markdown(f"**{y}: median and band over the seeds**")
        show.table(_numbers(points, table, x, y), alt=f"{y} of every algorithm by ε", height=400)


def _nothing(x: str) -> str:
    if x == "paper's total":
        return "No run claims a total: strict runs keep a cap instead. Choose another axis."
    return "Nothing can be defended for any of these runs. Choose another axis."


def _curve_chart(
    drawn: pd.DataFrame, flat: pd.DataFrame | None, x: str, y: str, table: pd.DataFrame
) -> None:
    low, high = float(drawn["x"].min()), float(drawn["x"].max())
    lines = []
    for key in dict.fromkeys(drawn["algorithm"]):
        part = drawn[drawn["algorithm"] == key].sort_values("x")
        lines.append(
            Line(
                name=ALGORITHMS[key].title,
                x=list(part["x"]),
                y=list(part["median"]),
                low=list(part["low"]),
                high=list(part["high"]),
                style=style_of(key),
            )
        )
    level = flat if flat is not None else drawn.iloc[:0]
    for key, median in zip(level["algorithm"], level["median"].astype(float), strict=True):
        name, style = ALGORITHMS[key].title, style_of(key)
        lines.append(Line(name=name, x=[low, high], y=[median] * 2, style=style, mode="lines"))
    place = here(table, x, y)
    if place is not None:
        low, high = min(low, place[0]), max(high, place[0])
    pad = (high / low) ** 0.05 if high > low else 3.0
    figure = curves(
        lines,
        Axis(X_TITLES[x], log=True, ends=(low / pad, high * pad)),
        Axis(y, ends=(0, 1.04) if y in SHARES else None, log=y == "Seconds"),
        height=430,
        here=place,
    )
    show.figure(figure, key="sweep-curves", alt=f"{y} against ε, one line an algorithm")


def here(table: pd.DataFrame, x: str, y: str) -> tuple[float, float, str] | None:
    """Where the Run page's result lies, if it is about these data and has an ε."""
    run = shown()
    if run.data.identity not in set(table["fingerprint"]):
        return None
    result = run.result
    asked = getattr(result.params, "epsilon", None)
    totals = {
        "asked ε": asked,
        "paper's total": result.claimed.epsilon if result.claimed is not None else None,
        "defended total": result.spent.epsilon,
    }
    scores = result.metrics
    at, high = totals[x], getattr(scores if y in SCORES else result, Y[y], None)
    if asked is None or at is None or high is None or not 0 < at < float("inf"):
        return None
    return float(at), float(high), f"You are here: {ALGORITHMS[result.algorithm].title} on Run"


def _curve_notes(
    points: pd.DataFrame, drawn: pd.DataFrame, flat: pd.DataFrame | None, x: str
) -> str:
    notes = ["Lines are medians over the seeds, bands reach from the 10th to the 90th percentile."]
    hidden = len(points) - len(drawn) - (len(flat) if flat is not None else 0)
    if hidden > 0 and not drawn.empty:
        notes.append(
            f"{text.count(hidden, 'point')} of which nothing can be defended: not on this axis."
        )
    if x != "asked ε":
        notes.append("Each point lies at the median total of its runs.")
    return " ".join(notes)


def _numbers(points: pd.DataFrame, table: pd.DataFrame, x: str, y: str) -> pd.DataFrame:
    """The chart's numbers; beside a score the medians of the other scores."""
    out = pd.DataFrame({"Algorithm": [ALGORITHMS[k].title for k in points["algorithm"]]})
    if "epsilon" in points and x != "asked ε":
        out["Asked ε"] = points["epsilon"].to_numpy()
    at = points["x"].to_numpy(dtype=float)
    endless = bool((at == float("inf")).any())
    out[x[0].upper() + x[1:]] = [text.number(v) for v in at] if endless else at
    for name, column in (("Median", "median"), ("10 %", "low"), ("90 %", "high")):
        out[name] = points[column].to_numpy(dtype=float)
    beside = {name: Y[name] for name in SCORES if y in SCORES and name != y}
    medians = analysis.medians(table, list(beside.values()))
    for name, column in beside.items():
        out[name] = medians[column].to_numpy(dtype=float)
    out["Runs"] = points["count"].to_numpy()
    return out


def target_view(table: pd.DataFrame, x: str, y: str) -> None:
    """The smallest ε whose median F1 stays at the target or above; of the arrows if they show."""
    score = y if y in SHARES else SHARES[0]
    st.markdown(f"**Smallest ε that meets a target F1** ({score[0].lower()}{score[1:]})")
    if not table["skeleton_f1"].notna().any():
        st.caption("There is no truth, so there is no F1 to aim at.")
        return
    target = st.slider("Target F1", 0.0, 1.0, 0.75, 0.01, key="sweep-target")
    found = analysis.smallest_epsilon(table, target, Y[score], x=X[x])
    rows = pd.DataFrame(
        {
            "Algorithm": [ALGORITHMS[k].title for k in found["algorithm"]],
            "Smallest ε": [
                text.number(e) if ok else "not reached"
                for e, ok in zip(found["epsilon"], found["reached"], strict=True)
            ],
            "Best F1": found["best"].to_numpy(dtype=float),
            "How it is known": [
                note if ALGORITHMS[k].private else "No privacy: it has no ε."
                for k, note in zip(found["algorithm"], found["note"], strict=True)
            ],
        }
    )
    for k, i in zip(found["algorithm"], rows.index, strict=True):
        if not ALGORITHMS[k].private:
            rows.loc[i, "Smallest ε"] = "–"
    show.table(rows, alt="Smallest ε that meets the target, by algorithm")
    st.caption(
        f"On the axis chosen above ({x}). From this ε on the median stays at the target; between "
        "two measured points it is read off a straight line in log ε."
    )
