"""A map of two parameters: the mean score of every cell, level lines, the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from engine.studies import tuned_figures
from engine.studies.tuned_figures import map_caption, map_figure
from engine.studies.tuning import OBJECTIVES
from pages.draw.opening import figure_of_runs, over_cells
from pages.draw.paper import paper_figure
from pages.draw.show import table
from pages.shell import words as text
from pages.shell.form import title_of
from pages.shell.palette import font_ink, heat_inks, ink
from pages.tune.form import axes_of, names_of
from pages.tune.state import TuneJob
from pages.tune.view import run_of, runs_view, setting


def map_view(job: TuneJob) -> None:
    """Mean score over two parameters, with level lines and the best cell."""
    axes, y = axes_of(job.asked), job.asked["objective"]
    names = names_of(job.asked["algorithm"])
    if not job.runs:
        st.info("Stopped before the first run.")
        return
    cells = job.table.groupby([axis.name for axis in axes])[f"tested_{y}"].agg(["mean", "sem"])
    wide = cells["mean"].unstack(0)
    best = cells["mean"].astype(float).idxmax()
    names_now = [axis.name for axis in axes]
    at = setting(job.asked["algorithm"], dict(zip(names_now, _plain(best), strict=True)))
    score = f"{cells['mean'][best]:.2f} ± {cells['sem'][best]:.2f}"
    what = OBJECTIVES[y]
    title = title_of(job.asked["algorithm"])
    said = text.together(f"{title}: best at {at}, {what} {score}")
    st.subheader(text.plain(said), anchor=False)
    count = text.count(len(job.asked["networks"]), "network")
    places = [dict(zip(names_now, _plain((x, y)), strict=True))
              for y in wide.index for x in wide.columns]  # fmt: skip
    figure_of_runs(
        _surface(wide, [names[a.name] for a in axes], best),
        [run_of(job, place) for place in places],
        key="tune-map",
        alt=f"{what} map",
        hint=f"Means over {job.asked['seeds']} seeds and {count}; lines join equal scores. The "
        "best of many cells is partly luck: a search tells it on fresh seeds. Click a cell to open "
        "its run.",
    )
    _map_paper(job, (axes[0].name, axes[1].name))
    with st.expander("The same as a table"):
        table(cells.reset_index().rename(columns={"mean": what, "sem": "±", **names}), alt=what)
    order = cells["mean"].astype(float).sort_values(ascending=False)
    runs_view(job, [dict(zip(names_now, _plain(cell), strict=True)) for cell in order.index])


def _map_paper(job: TuneJob, over: tuple[str, str]) -> None:
    """The map as a paper prints it."""
    runs, y = job.table, f"tested_{job.asked['objective']}"
    rows = dict.fromkeys(job.asked["networks"], job.asked["n"])
    paper_figure(
        lambda kind, columns: (
            map_figure(runs, over, y, kind=kind, columns=columns, rows=rows).content
        ),
        tuned_figures.cells(runs, over, y),
        map_caption(runs, over, y, rows),
        name=f"{job.asked['algorithm']}_map",
        key="tune",
    )


def _plain(cell: tuple[Any, ...]) -> list[Any]:
    """A cell's values as Python has them."""
    return [v.item() if hasattr(v, "item") else v for v in cell]


def _surface(wide: pd.DataFrame, titles: Sequence[str], best: tuple[Any, Any]) -> go.Figure:
    low, high = heat_inks()
    x, y = (list(map(str, side)) for side in (wide.columns, wide.index))
    z = wide.to_numpy(dtype=float)
    drawn = go.Figure(
        go.Heatmap(
            z=z,
            x=x,
            y=y,
            colorscale=[[0, low], [1, high]],
            colorbar={"thickness": 12},
            text=[[f"{v:.2f}" for v in row] for row in z],
            texttemplate="%{text}",
        )
    )
    if min(z.shape) > 1:
        lines = {"coloring": "lines", "showlabels": False}
        drawn.add_contour(
            z=z,
            x=x,
            y=y,
            contours=lines,
            showscale=False,
            hoverinfo="skip",
            ncontours=6,
            colorscale=[[0, font_ink()], [1, font_ink()]],
            line={"width": 1},
        )
    drawn.add_scatter(
        x=[str(best[0])], y=[str(best[1])], mode="markers", hoverinfo="skip", showlegend=False,
        marker={"size": 34, "symbol": "circle-open", "line": {"width": 3}, "color": ink(1)},
    )  # fmt: skip
    over_cells(drawn, [[f"{v:.2f}" for v in row] for row in z])
    kind = {"type": "category", "showgrid": False}
    drawn.update_layout(
        height=460, margin={"l": 8, "r": 8, "t": 8, "b": 8},
        xaxis={**kind, "title": titles[0]}, yaxis={**kind, "title": titles[1]},
    )  # fmt: skip
    return drawn
