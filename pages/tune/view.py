"""What a search found and what it tried, the least ε as a range, and a map of two parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from engine.studies.figures import listed
from engine.studies.tuned_figures import (
    least_caption,
    least_figure,
    least_numbers,
)
from engine.studies.tuning import (
    OBJECTIVES,
    Candidate,
    Least,
    Tuned,
    bounds,
    front,
    verdict,
)
from pages.draw.curves import Axis, Curve, curves
from pages.draw.opening import figure_of_runs, list_of_runs
from pages.draw.paper import paper_figure
from pages.draw.recommended import score as number
from pages.draw.show import figure, table
from pages.shell import words as text
from pages.shell.data import data_for
from pages.shell.form import title_of
from pages.shell.palette import PLAIN, font_ink, heat_inks, ink, see_through, style_of
from pages.shell.settings import Settings, Source, filled
from pages.tune.form import names_of
from pages.tune.state import TuneJob

COSTS = {"ci_tests": "CI tests", "seconds": "Seconds", "shd": "SHD", "invented": "Share invented"}


def setting(key: str, params: Mapping[str, Any]) -> str:
    """A setting in words."""
    names = names_of(key)
    said = [f"{names[name]} = {value:,}" if isinstance(value, int) and not isinstance(value, bool)
            else f"{names[name]} = {value}" for name, value in params.items()]  # fmt: skip
    return ", ".join(said) or "the default setting"


def run_of(job: TuneJob, params: Mapping[str, Any], epsilon: float | None = None) -> Settings:
    """The first seed's run of a setting, on the first network."""
    d = job.asked
    values = {"epsilon": d["epsilon"] if epsilon is None else epsilon, "guarantee": "strict"}
    key, source = d["algorithm"], Source(d["networks"][0], d["n"])
    schema = data_for(source, d["known"]).schema if d["known"] else None
    known = None if schema is None else schema.knowledge
    return Settings(source, key, filled(key, {**values, **params}), known=known)


def runs_view(job: TuneJob, settings: Sequence[Mapping[str, Any]]) -> None:
    """The settings by name, the best first; each opens as a run."""
    key = job.asked["algorithm"]
    list_of_runs({setting(key, params): run_of(job, params) for params in settings}, key="tune")


# A setting ------------------------------------------------------------------------------


def setting_view(job: TuneJob, found: Tuned) -> None:
    """The setting, its score where it counts, and what was tried."""
    what = OBJECTIVES[job.asked["objective"]]
    best = setting(found.key, found.params)
    said = text.together(f"{title_of(found.key)}: {best}")
    st.subheader(text.plain(said), anchor=False)
    if not found.whole:
        st.info("Stopped early: the best of what was tried by then.")
    _scores(what, found)
    tried = sorted(found.tried, key=lambda c: (len(c.scores), c.score.mean), reverse=True)
    wide = any(len(c.params) > 2 for c in tried)
    left, right = (st.container(), st.container()) if wide else st.columns(2, gap="large")
    with left:
        st.markdown("**What was tried**")
        tried_view(job, tried, found)
    with right:
        cost_view(job, tried, what)
    tried_table(found.key, tried, what)
    runs_view(job, [found.params, *(c.params for c in tried if c.params != found.params)])


def _scores(what: str, found: Tuned) -> None:
    """Fresh seeds first: that is what one will get."""
    cells = [("on fresh seeds", found.fresh, found.default)]
    if found.elsewhere is not None and found.default_elsewhere is not None:
        cells.append(("on other networks", found.elsewhere, found.default_elsewhere))
    columns = st.columns(len(cells) + 1)
    for column, (where, score, default) in zip(columns, cells, strict=False):
        column.metric(f"{what} {where}", number(score))
        column.caption(f"default setting: {number(default)}")
    if found.alone is not None:
        columns[0].caption(f"known arrows alone: directed F1 {number(found.alone)}")
    columns[-1].metric("Where it was chosen", number(found.chosen))
    columns[-1].caption(gap_words(found.gap))


def gap_words(gap: float) -> str:
    """How much better a setting looked where it was chosen than it is; NaN where nobody knows."""
    if math.isnan(gap):
        return "No fresh seed was run: how much of it is luck is not known."
    if gap < 0.005:
        return "It looked no better than it is on fresh seeds."
    return f"It looked {gap:.2f} better than it is: the best is partly luck."


def tried_view(job: TuneJob, tried: Sequence[Candidate], found: Tuned) -> None:
    """Every setting: two parameters as points, more as parallel coordinates."""
    names, spread = names_of(found.key), [c for c in tried if c.params]
    over = list(spread[0].params) if spread else []
    numeric = [n for n in over if not isinstance(spread[0].params[n], (str, bool))]
    if len(over) == 2 and len(numeric) == 2:
        figure_of_runs(
            _points(spread, over, names, found),
            [run_of(job, c.params) for c in spread],
            key="tune-points",
            alt="Settings tried",
            hint="Larger points had more seeds; the ring is what was chosen. Click a point to open "
            "its run.",
        )
    elif over:
        figure(_parallel(spread, over, names), key="tune-parallel", alt="Settings tried")
        st.caption("A line a setting, the darker the better. Drag along an axis to pick some.")


def _points(
    tried: Sequence[Candidate], over: Sequence[str], names: Mapping[str, str], found: Tuned
) -> go.Figure:
    x, y = ([c.params[name] for c in tried] for name in over)
    low, high = heat_inks()
    size = [6 + 2.5 * np.sqrt(len(c.scores)) for c in tried]
    shade = {"color": [c.score.mean for c in tried], "colorscale": [[0, low], [1, high]]}
    line = {"width": 1, "color": font_ink()}
    marks = go.Scatter(
        x=x, y=y, mode="markers", showlegend=False, customdata=list(range(len(tried))),
        marker={**shade, "size": size, "line": line, "showscale": True,
                "colorbar": {"thickness": 12}},
        hovertemplate="%{x}, %{y}: %{marker.color:.2f}<extra></extra>",
    )  # fmt: skip
    drawn = go.Figure(marks)
    if found.params:
        ring = {"size": 24, "color": "rgba(0,0,0,0)", "line": {"width": 3, "color": ink(1)}}
        drawn.add_scatter(
            x=[found.params[over[0]]],
            y=[found.params[over[1]]],
            mode="markers",
            marker=ring,
            showlegend=False,
            hoverinfo="skip",
        )
    drawn.update_layout(
        height=380, margin={"l": 8, "r": 8, "t": 8, "b": 8},
        xaxis={"title": names[over[0]]}, yaxis={"title": names[over[1]]},
    )  # fmt: skip
    return drawn


def _parallel(
    tried: Sequence[Candidate], over: Sequence[str], names: Mapping[str, str]
) -> go.Figure:
    scores = [c.score.mean for c in tried]
    dimensions = [_dimension(names[name], [c.params[name] for c in tried]) for name in over]
    dimensions.append({"label": "Score", "values": scores})
    scale = [[0, see_through(ink(0), 0.15)], [1, ink(0)]]
    lines = {"color": scores, "colorscale": scale, "showscale": False}
    drawn = go.Figure(go.Parcoords(dimensions=dimensions, line=lines))
    drawn.update_layout(height=380, margin={"l": 60, "r": 40, "t": 50, "b": 20})
    return drawn


def _dimension(title: str, values: Sequence[Any]) -> dict[str, Any]:
    """An axis of parallel coordinates; words stand at whole numbers."""
    if isinstance(values[0], (str, bool)):
        words = list(dict.fromkeys(map(str, values)))
        at = [words.index(str(v)) for v in values]
        return {"label": title, "values": at, "tickvals": list(range(len(words))),
                "ticktext": words}  # fmt: skip
    return {"label": title, "values": list(values)}


def cost_view(job: TuneJob, tried: Sequence[Candidate], what: str) -> None:
    """Score against what a setting costs besides ε; the front is what none beats in both."""
    chosen = st.segmented_control(
        "Against", list(COSTS), default="ci_tests", format_func=lambda c: COSTS[c], key="tune-cost"
    )
    cost = str(chosen or "ci_tests")
    known = [c for c in tried if c.means]
    if not known:
        return
    points = [
        (1 - c.means["precision"] if cost == "invented" else c.means[cost], c.score.mean)
        for c in known
    ]
    best = front(points)
    x, y = zip(*points, strict=True)
    drawn = curves(
        [
            Curve(name="a setting", x=x, y=y, style=0, mode="markers", opens=range(len(known))),
            Curve(
                name="none is better in both",
                x=[x[k] for k in best],
                y=[y[k] for k in best],
                style=1,
                opens=best,
            ),
        ],
        Axis(COSTS[cost], log=cost == "seconds"),
        Axis(what, ends=(0, 1.02)),
        height=330,
    )
    alt = f"{what} against {COSTS[cost]}, and the Pareto front"
    figure_of_runs(drawn, [run_of(job, c.params) for c in known], key="tune-front", alt=alt)


def tried_table(key: str, tried: Sequence[Candidate], what: str) -> None:
    """Every setting with its score."""
    names = names_of(key)
    rows = [
        {
            **{names[n]: text.number(v) if isinstance(v, float) else str(v)
               for n, v in c.params.items()},
            what: c.score.mean,
            "±": c.score.error,
            "Runs": c.score.runs,
            "CI tests": c.means.get("ci_tests"),
        }
        for c in tried
    ]  # fmt: skip
    frame = pd.DataFrame(rows)
    frame = frame.astype({c: object for c in frame.columns if c in names.values()}).fillna(
        {c: "default" for c in frame.columns if c in names.values()}
    )
    table(frame, alt="Settings that were tried, the longest tried first", most=300)


# The least ε ----------------------------------------------------------------------------


def least_view(job: TuneJob, found: Least) -> None:
    """The range, and the best score at every ε that was tried."""
    what, key = OBJECTIVES[job.asked["objective"]], job.asked["algorithm"]
    said = text.together(f"{title_of(key)}: {range_words(found, what)}")
    st.subheader(text.plain(said), anchor=False)
    if not found.found:
        return
    scores = {e: (t.elsewhere or t.fresh) for e, t in found.found.items()}
    epsilons = list(scores)
    lines = [
        Curve(
            name=f"{title_of(key)}, tuned at each ε",
            x=epsilons,
            y=[s.mean for s in scores.values()],
            low=[s.mean - 2 * s.error for s in scores.values()],
            high=[s.mean + 2 * s.error for s in scores.values()],
            style=style_of(key),
            opens=range(len(epsilons)),
        ),
        Curve(
            name="default setting",
            x=epsilons,
            y=[(t.default_elsewhere or t.default).mean for t in found.found.values()],
            style=PLAIN + 1,
            opens=range(len(epsilons), 2 * len(epsilons)),
        ),
        Curve(name="wanted", x=[epsilons[0] / 1.3, epsilons[-1] * 1.3], y=[found.target] * 2,
              style=100, mode="lines"),
    ]  # fmt: skip
    drawn = curves(lines, Axis("ε (strict)", log=True), Axis(what, ends=(0, 1.02)), height=380)
    where = "on other networks" if job.asked["elsewhere"] else "on fresh seeds"
    runs = {e: run_of(job, t.params, e) for e, t in found.found.items()}
    figure_of_runs(
        drawn,
        [*runs.values(), *(run_of(job, {}, e) for e in runs)],
        key="tune-least",
        alt=f"{what} of the tuned algorithm against ε",
        hint=f"Scores {where}, which no search used; the band is two standard errors. Click a "
        "point to open its run.",
    )
    _least_paper(job, found, what)
    table(_epsilon_table(key, found, what), alt="The best setting at each ε", most=300)
    list_of_runs({f"ε = {e:g}": run for e, run in runs.items()}, key="tune")


def _least_paper(job: TuneJob, found: Least, what: str) -> None:
    """The tuned score beside the default setting's as a paper prints it."""
    where = f"{listed(job.asked['elsewhere'] or job.asked['networks'])} (n = {job.asked['n']:,})"
    paper_figure(
        lambda kind, columns: least_figure(found, what, where, kind=kind, columns=columns).content,
        least_numbers(found),
        least_caption(found, what, where),
        name=f"{job.asked['algorithm']}_tuned",
        key="tune",
    )


def ended_view(job: TuneJob) -> None:
    """The searches of a range that have come to their end, while others go on."""
    if not job.ended:
        return
    what, target = OBJECTIVES[job.asked["objective"]], job.asked["target"]
    rows = [
        {"ε": f"{e:g}", what: number(t.elsewhere or t.fresh), f"For {target:g}": verdict(t, target)}
        for e, t in sorted(job.ended.items())
    ]
    table(pd.DataFrame(rows), alt="Searches that came to their end", most=300)


def range_words(found: Least, what: str) -> str:
    """The range of ε in words."""
    name = f"{what} {found.target:g}"
    if not found.whole:
        return f"stopped before the ε of {name} was known{bounds(found)}"
    if found.may is None:
        return f"no ε up to 10 reaches {name}"
    if found.will is None:
        return f"{name} may be reached from ε = {found.may:g} on, and at no ε up to 10 surely"
    if found.may == found.will:
        return f"{name} from ε = {found.will:g} on"
    return f"{name} from somewhere between ε = {found.may:g} and {found.will:g} on"


def _epsilon_table(key: str, found: Least, what: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "ε": [f"{e:g}" for e in found.found],
            what: [number(t.elsewhere or t.fresh) for t in found.found.values()],
            f"For {found.target:g}": [verdict(t, found.target) for t in found.found.values()],
            "Default setting": [
                number(t.default_elsewhere or t.default) for t in found.found.values()
            ],
            "Tuned setting": [setting(key, t.params) for t in found.found.values()],
        }
    )
