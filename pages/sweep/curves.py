"""A study's medians and bands against ε, the smallest ε that meets a target, and its edges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import networkx as nx
import pandas as pd
import streamlit as st

from engine import Dataset
from engine.graphs.metrics import Scores
from engine.registry import ALGORITHMS
from engine.studies import CellResult, analysis
from engine.studies.known import ALONE
from engine.studies.null import Shape
from engine.studies.price import DESCENT, TABLES, PriceStep, price_steps
from pages.draw import show
from pages.draw.curves import Axis, Curve, curves
from pages.draw.opening import figure_of_runs, list_of_runs
from pages.draw.price import reference_lines
from pages.shell import words as text
from pages.shell.nothing import NOTHING, Counts, cell, nothing_of, watch
from pages.shell.palette import PLAIN, style_of
from pages.shell.runs import shown, told
from pages.shell.settings import Settings, filled
from pages.shell.words import SCORES
from pages.sweep.jobs import StudyJob, known_datasets

Y = {**SCORES, text.KNOWN_ALONE: ALONE, "CI tests": "ci_tests", "Seconds": "seconds"}
SHARES = ("Skeleton F1", "Directed F1", text.KNOWN_ALONE)  # from 0 to 1, the more the better
X = {"asked ε": "epsilon", "paper's total": "claimed_epsilon", "defended total": "spent_epsilon"}
X_TITLES = {"asked ε": "ε asked for", "paper's total": "Total ε as the paper composes it"}
X_TITLES |= {"defended total": "Total ε that can be defended"}


TESTED, ALL = "tested to the end", "all pairs left"  # which links a score counts
COUNTED = {
    TESTED: "Scores count the links tested to the end, as the Run page's headline does: some of "
    "these runs ended early, and a pair they did not test to the end was not found.",
    ALL: "Scores count the graph as it stood when a run ended: pairs not tested to the end are "
    "links, as in the papers.",
}
UNKNOWN = (
    "Of {} that ended early the file does not say which pairs were left: scores of the links "
    "tested to the end are not known of them, and the map of edges counts every pair as found."
)
Level = tuple[str, Scores]


def references(data: Dataset | None, results: Sequence[CellResult]) -> list[Level]:
    """Scores without any noise: the best test's, and each method's own form of its test."""
    if data is None:
        return []
    named: dict[str, Scores] = {}
    for result in {r.algorithm: r for r in results}.values():
        if ALGORITHMS[result.algorithm].private:
            params = ALGORITHMS[result.algorithm].params.build(result.values)
            steps = price_steps(data, result.algorithm, params)
            for step, name in reference_lines(steps):
                named.setdefault(_whose(name, result.algorithm, step), step.counts.scores)
    return list(named.items())


def _whose(name: str, key: str, step: PriceStep) -> str:
    """Methods share their tests; what is a method's own carries its name."""
    own = step.kind in (TABLES, DESCENT)
    return f"{ALGORITHMS[key].title}: {name[0].lower()}{name[1:]}" if own else name


def early(table: pd.DataFrame) -> bool:
    """Whether a run ended before all its pairs were tested to the end."""
    return bool(table["status"].ne("complete").any())


def counting(table: pd.DataFrame, counted: str) -> pd.DataFrame:
    """The table with its scores' columns as they are to be counted."""
    if counted == ALL:
        return table
    return table.assign(**{name: table[column] for name, column in analysis.TESTED.items()})


def _early_notes(table: pd.DataFrame, counted: str) -> str:
    """Which links the scores count, and for how many runs that is not known."""
    unknown = int((table["status"].ne("complete") & table["untested"].isna()).sum())
    if not unknown:
        return COUNTED[counted]
    return f"{COUNTED[counted]} {UNKNOWN.format(text.count(unknown, 'run'))}"


def curve_view(
    runs: pd.DataFrame,
    x: str,
    y: str,
    levels: Sequence[Level] = (),
    counted: str = TESTED,
    source: Settings | None = None,
    results: Sequence[CellResult] = (),
) -> None:
    """Median and band of every algorithm, the Run page's place, and the numbers.

    ``levels`` are drawn as horizontal lines; ``counted`` says which links the scores count;
    ``source`` is that of public data, on which a point opens as one of ``results``.
    """
    table = counting(runs, counted)
    points = analysis.bands(table, Y[y], x=X[x])
    usable = points["x"].gt(0) & points["x"].lt(float("inf")) & points["median"].notna()
    drawn, flat = points[usable], points[points["epsilon"].isna()] if "epsilon" in points else None
    left, right = st.columns([5, 4], gap="medium")
    with left:
        if drawn.empty:
            st.info(_nothing(x))
        else:
            opens = [] if source is None else runs_at(drawn, table, y, results, source)
            _curve_chart(drawn, flat, x, y, levels, run_page_point(table, x, y, counted), opens)
        st.caption(_curve_notes(points, drawn, flat, x))
        if ALONE in table:
            st.caption(
                f"{text.KNOWN_ALONE}: directed F1 of the same links with no arrows but known ones."
            )
        if y in SCORES and early(table):
            st.caption(_early_notes(table, counted))
    with right:
        st.markdown(f"**{y}: median and band over the seeds**")
        show.table(_numbers(points, table, x, y), alt=f"{y} of every algorithm by ε", height=400)
        if source is not None and not drawn.empty:
            list_of_runs({_point_name(run): run for run in opens}, key="sweep-run")


def _nothing(x: str) -> str:
    if x == "paper's total":
        return "No run claims a total: strict runs keep a cap instead. Choose another axis."
    return "Nothing can be defended for any of these runs. Choose another axis."


def _curve_chart(
    drawn: pd.DataFrame,
    flat: pd.DataFrame | None,
    x: str,
    y: str,
    levels: Sequence[Level],
    place: tuple[float, float, str] | None,
    opens: Sequence[Settings],
) -> None:
    low, high = float(drawn["x"].min()), float(drawn["x"].max())
    lines = []
    numbered = drawn.assign(opens=range(len(drawn)))
    for key in dict.fromkeys(drawn["algorithm"]):
        part = numbered[numbered["algorithm"] == key].sort_values("x")
        lines.append(
            Curve(
                name=ALGORITHMS[key].title,
                x=list(part["x"]),
                y=list(part["median"]),
                low=list(part["low"]),
                high=list(part["high"]),
                style=style_of(key),
                opens=list(part["opens"]),
            )
        )
    level = flat if flat is not None else drawn.iloc[:0]
    for key, median in zip(level["algorithm"], level["median"].astype(float), strict=True):
        name, style = ALGORITHMS[key].title, style_of(key)
        lines.append(Curve(name=name, x=[low, high], y=[median] * 2, style=style, mode="lines"))
    lines += _level_lines(levels, y, (low, high))
    if place is not None:
        low, high = min(low, place[0]), max(high, place[0])
    pad = (high / low) ** 0.05 if high > low else 3.0
    figure = curves(
        lines,
        Axis(X_TITLES[x], log=True, ends=(low / pad, high * pad)),
        Axis(y, ends=(0, 1.04) if y in SHARES else None, log=y == "Seconds"),
        height=430 + 25 * len(levels),
        here=place,
    )
    alt = f"{y} against ε, one line an algorithm"
    if opens:
        figure_of_runs(figure, opens, key="sweep-curves", alt=alt, hint=_HINT)
    else:
        show.figure(figure, key="sweep-curves", alt=alt)


_HINT = "Click a point to open its run: that of the seed nearest to the median."


def runs_at(
    points: pd.DataFrame,
    table: pd.DataFrame,
    y: str,
    results: Sequence[CellResult],
    source: Settings,
) -> list[Settings]:
    """The run behind each point: of the seed whose ``y`` is nearest to the median."""
    told_by = [c for c in dict.fromkeys(("epsilon", *analysis.varied(table))) if c in points]
    by_place = {
        (r.algorithm, *(r.values.get(name) for name in told_by), r.seed): r for r in results
    }
    seeds: dict[tuple[Any, ...], list[tuple[float, int]]] = {}
    values = table[Y[y]].astype(float)
    for place, value, seed in zip(_places(table, told_by), values, table["seed"], strict=True):
        if not math.isnan(value):
            seeds.setdefault(place, []).append((value, seed))
    found = []
    for place, median in zip(_places(points, told_by), points["median"], strict=True):
        gaps = [abs(value - median) for value, _ in seeds[place]]
        _, seed = seeds[place][gaps.index(min(gaps))]
        found.append(run_of(by_place[*place, seed], source))
    return found


def _places(table: pd.DataFrame, told_by: Sequence[str]) -> list[tuple[Any, ...]]:
    """Each row's algorithm and what its point is told by, None where it has no such thing."""
    read = [table[name].astype(object).where(table[name].notna(), None) for name in told_by]
    return list(zip(table["algorithm"], *read, strict=True))


def run_of(result: CellResult, source: Settings) -> Settings:
    """The run that a study's result is the summary of."""
    key = result.algorithm
    params = filled(key, result.values)
    return replace(source, algorithm=key, params=params, seed=result.seed)


def _point_name(run: Settings) -> str:
    epsilon = run.params.get("epsilon")
    named = "" if epsilon is None else f", ε = {epsilon:g}"
    return f"{ALGORITHMS[run.algorithm].title}{named}"


def _level_lines(levels: Sequence[Level], y: str, ends: tuple[float, float]) -> list[Curve]:
    """The levels as flat lines, where they have the score that is shown."""
    if y not in SCORES:
        return []
    return [
        Curve(name=name, x=ends, y=[getattr(m, Y[y])] * 2, style=PLAIN + 1 + k, mode="lines")
        for k, (name, m) in enumerate(levels)
    ]


def run_page_point(
    table: pd.DataFrame, x: str, y: str, counted: str = TESTED
) -> tuple[float, float, str] | None:
    """Where the Run page's result lies, if it is about these data and has an ε."""
    run = shown()
    if told(run).identity not in set(table["fingerprint"]):
        return None
    result = run.result
    asked = getattr(result.params, "epsilon", None)
    totals = {
        "asked ε": asked,
        "paper's total": result.claimed.epsilon if result.claimed is not None else None,
        "defended total": result.spent.epsilon,
    }
    scores = result.metrics if counted == ALL else result.metrics_tested
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
    scored = [*([text.KNOWN_ALONE] if ALONE in table else []), *SCORES]
    beside = {name: Y[name] for name in scored if y in scored and name != y}
    medians = analysis.medians(table, list(beside.values()))
    for name, column in beside.items():
        out[name] = medians[column].to_numpy(dtype=float)
    out["Runs"] = points["count"].to_numpy()
    return out


def target_view(
    table: pd.DataFrame, x: str, y: str, results: Sequence[CellResult], shape: Shape | None
) -> None:
    """The smallest ε whose median F1 stays at the target or above; of the arrows if they show.

    ``shape`` is that of the study's data: what the setting invents where nothing is stands beside.
    """
    score = y if y in SHARES and y != text.KNOWN_ALONE else SHARES[0]
    st.markdown(f"**Smallest ε that meets a target F1** ({score[0].lower()}{score[1:]})")
    if not table["skeleton_f1"].notna().any():
        st.caption("There is no truth, so there is no F1 to aim at.")
        return
    target = st.slider("Target F1", 0.0, 1.0, 0.75, 0.01, key="sweep-target")
    found = analysis.smallest_epsilons(table, target, Y[score], x=X[x])
    settings = [
        _setting(key, results, epsilon if X[x] == "epsilon" else math.nan)
        for key, epsilon in zip(found["algorithm"], found["epsilon"], strict=True)
    ]

    def counts() -> Counts:
        pairs = zip(found["algorithm"], settings, strict=True)
        return [None if v is None or shape is None else nothing_of(k, shape, v) for k, v in pairs]

    watch(counts, lambda known: show.table(_targets(found, known), alt=_TARGETS))
    st.caption(
        f"On the axis chosen above ({x}). From this ε on the median stays at the target; between "
        f"two measured points it is read off a straight line in log ε. “{NOTHING}”: links that the "
        "setting shows, on average, where no column has anything to do with another."
    )


_TARGETS = "Smallest ε that meets the target, and links invented on nothing, by algorithm"


def _setting(key: str, results: Sequence[CellResult], epsilon: float) -> dict[str, Any] | None:
    """The study's own setting of an algorithm at this ε; None where there is none."""
    values = next((r.cell.values for r in results if r.algorithm == key), {})
    if "epsilon" not in values:
        return values
    return None if math.isnan(epsilon) else values | {"epsilon": epsilon}


def _targets(found: pd.DataFrame, nothing: Counts) -> pd.DataFrame:
    private = [ALGORITHMS[k].private for k in found["algorithm"]]
    least = [
        text.number(e) if ok else "not reached"
        for e, ok in zip(found["epsilon"], found["reached"], strict=True)
    ]
    notes = zip(found["note"], private, strict=True)
    return pd.DataFrame(
        {
            "Algorithm": [ALGORITHMS[k].title for k in found["algorithm"]],
            "Smallest ε": [e if p else "–" for e, p in zip(least, private, strict=True)],
            "Best F1": found["best"].to_numpy(dtype=float),
            NOTHING: [cell(one) for one in nothing],
            "How it is known": [n if p else "No privacy: it has no ε." for n, p in notes],
        }
    )


# The data behind a study ---------------------------------------------------------------


def source_of(job: StudyJob, fingerprint: str) -> Settings | None:
    """A run's source and what is known of it, of the public dataset with the fingerprint.

    None where the study's settings do not say it.
    """
    named = () if job.wanted is None else job.wanted.sources
    for data, source in zip(known_datasets(job), named, strict=False):
        if data.identity == fingerprint and not source.own:
            return Settings(source, known=None if data.schema is None else data.schema.knowledge)
    return None


def data_of(job: StudyJob, fingerprint: str) -> Dataset | None:
    """The dataset with the fingerprint, if the study's settings name it."""
    return next((d for d in known_datasets(job) if d.identity == fingerprint), None)


def truth_of(job: StudyJob, fingerprint: str) -> nx.DiGraph | None:
    """The true graph of that dataset."""
    data = data_of(job, fingerprint)
    return None if data is None else data.truth
