"""Below the answer: best setting, map, CURATE's margins, tests, budget, edges, files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from engine import Dataset
from engine.data.spreadsheets import table_csv
from engine.registry import TITLES
from engine.request import Request, filled
from engine.story.modules import digested
from engine.studies.figures import KINDS, figure
from engine.studies.margins import BETAS, CURATE, DIALS, MOST_COLUMNS, THRESHOLDS
from engine.studies.store import read_study, study_file
from engine.studies.summary import TESTED, bands, edge_stability, frame, runs_table
from engine.studies.trial import TrialResult
from engine.studies.tune import OBJECTIVES, Tuned, axes
from pages.draw import charts, palette, show
from pages.draw.charts import Axis, Curve, curves, heat_of_runs
from pages.draw.scene import mount
from pages.shell import export, task
from pages.shell import words as text
from pages.shell.form import folded, refusals
from pages.shell.settings import drafted, parameters_of
from pages.shell.state import Place
from pages.shell.task import Task
from pages.study import work
from pages.study.form import epsilon_now, fields
from pages.study.view import Found, style

MAP, MARGINS = "study-map", "study-margins"
SIDE, SEEDS = 6, 5  # of a map: values along an axis, and runs of each cell
_START = dict(zip(DIALS, (0.05, 0.1, 0.1), strict=True))
_HAND: Place[dict[str, float]] = Place("study_hand", lambda: _START)


def expanders(found: Sequence[Found], data: Dataset, now: Request) -> None:
    """Draw the sections below the answer; closed ones are not drawn."""
    some = [one for one in found if one.answer is not None]
    margins = now.algorithm == CURATE and data.d <= MOST_COLUMNS
    for title, icon, shown, draw in (
        ("Best setting", "tune", True, partial(best, data, now)),
        ("Map of two parameters", "grid_on", True, partial(_map, data, now)),
        ("CURATE's margins", "drag_pan", margins, partial(_margins, data, now)),
        ("CI tests, and tests by order", "checklist", some, partial(_tests, some)),
        ("Which edges, over the seeds", "repeat", some, partial(_edges, some)),
        ("Figures and files", "download", some, partial(_files, found)),
        ("Open a study's file", "upload_file", True, _open),
    ):
        if shown:
            folded(title, draw, key=f"study-opens-{icon}", icon=icon)


# Best setting ---------------------------------------------------------------------------------


def best(where: work.Where, now: Request, objective: str = "") -> None:
    """Search on the dataset or on drawn rows; grey where the result is for other settings."""
    public = isinstance(where, Dataset)
    key, objective = "study" if public else "study-plan", objective or fields()["objective"]
    of = replace(now.family, params=work.paid(now))  # a search may change all but these
    every, epsilon = axes(of.algorithm, of.source.n), epsilon_now()
    names = {axis.name: axis.spec.title for axis in every}
    if not names:
        st.caption("This algorithm has no parameter to search over.")
        return
    own = [axis.name for axis in every if axis.ranged] or list(names)
    said: Any = {"default": own, "format_func": names.get, "key": f"{key}-over"}
    over = st.multiselect("Search over", list(names), **said)
    title = f"the best setting of {text.plain(TITLES[of.algorithm])}"
    call = title, work.searched, where, of, objective, epsilon, over
    at = f"Search at ε = {text.number(epsilon)}"
    pressed = st.button(at, key=f"{key}-search", icon=":material/search:")
    asked = ("best", of.key, objective, epsilon, *over) if public else None
    task.resume(f"{key}-best", *call, key=asked, keep=public, begin=pressed)
    found = task.watch(f"{key}-best")
    if found is None:
        st.caption("A search tries 200 runs, and reports its best on runs that it did not use.")
        return
    if found.problem:
        task.show_problem(found)
        return
    tuned: Tuned = found.result
    mine = found.args[1:3] == (of, objective) and (public or found.args[0] == where)
    title = f"{TITLES[tuned.key]} at ε = {text.number(found.args[3])}"
    if not mine:
        said = text.plain(f"This search belongs to another form: {title}.")
        st.warning(said, icon=":material/update:")
    with task.faded("study-tuned", old=not mine):
        st.markdown(text.plain(f"{title}. {tuned.sentence}"))
    if tuned.better and mine:
        st.button("Use this setting", key=f"{key}-use", on_click=_use, args=(tuned,))


def _use(tuned: Tuned) -> None:
    parameters_of(tuned.key).update(filled(tuned.key, {**tuned.fixed, **tuned.params}))


# A map of two parameters ----------------------------------------------------------------------


def _map(data: Dataset, now: Request) -> None:
    ranged_first = sorted(axes(now.algorithm, data.n), key=lambda axis: not axis.ranged)
    by_name = {axis.name: axis for axis in ranged_first}
    if len(by_name) < 2:
        st.caption("A map needs two parameters with a range.")
        return
    titles = {name: axis.spec.title for name, axis in by_name.items()}
    left, right, press = st.columns([2, 2, 1], vertical_alignment="bottom")
    named: Any = {"format_func": titles.get}
    across = left.selectbox("Across", list(by_name), key="study-across", **named)
    up = right.selectbox("Up", [n for n in by_name if n != across], key="study-up", **named)
    grid: dict[str, Any] = {**work.paid(now), "epsilon": epsilon_now()}
    grid |= {name: by_name[name].grid(SIDE) for name in (across, up)}
    call = MAP, "a map of two parameters", work.mapped, data, now.algorithm, grid, SEEDS
    pressed = press.button("Draw", key="study-map-start")
    asked = "map", replace(now.family, params={}).key, repr(grid), SEEDS
    task.resume(*call, key=asked, keep=True, begin=pressed)
    view = partial(_map_view, data, titles)
    if (found := task.watch(MAP, view)) is not None:
        view(found)


def _map_view(data: Dataset, titles: Mapping[str, str], found: Task) -> None:
    results = [result for _, part in list(found.parts) for result in part]
    _, key, grid, _ = found.args
    x, y = (name for name, some in grid.items() if isinstance(some, list))
    if found.done:
        task.show_problem(found)
    if not results:
        st.caption("No run has ended.")
        return
    if key != drafted().algorithm:
        st.warning(text.plain(f"This map belongs to {TITLES[key]}."))
    scores = frame(results).astype({"tested_skeleton_f1": float})
    wide = scores.pivot_table(index=y, columns=x, values="tested_skeleton_f1", aggfunc="mean")
    names = [[text.number(v) if isinstance(v, float) else str(v) for v in side]
             for side in (wide.columns, wide.index)]  # fmt: skip
    cells = {"z": wide.to_numpy().tolist(), "x": names[0], "y": names[1], "zmin": 0, "zmax": 1,
             "colorscale": list(enumerate(palette().heat)), "texttemplate": "%{text}",
             "text": [[f"{v:.2f}" for v in row] for row in wide.to_numpy()]}  # fmt: skip
    layout: dict[str, Any] = {"height": 420, "margin": {"t": 10}}
    for side, name in (("xaxis", x), ("yaxis", y)):
        layout[side] = {"title": {"text": titles.get(name, name)}, "type": "category"}
    source = drafted().source
    runs = [Request(source, key, {**grid, x: a, y: b}) for b in wide.index for a in wide.columns]
    with st.container(gap="xxsmall"):
        alt = f"Skeleton F1 over {x} and {y}"
        heat_of_runs(cells, layout, runs, key="study-map-drawn", alt=alt)
        at = text.number(grid["epsilon"])
        st.caption(f"Mean skeleton F1 of {SEEDS} runs per cell at ε = {at}, {data.n:,} rows; the "
                   "best of many cells is partly luck. Click a cell to open its run.")  # fmt: skip


# CURATE's margins -------------------------------------------------------------------------------


def _margins(data: Dataset, now: Request) -> None:
    guarantee, epsilon, objective = now.params["guarantee"], epsilon_now(), fields()["objective"]
    call = MARGINS, "CURATE's margins", work.by_hand, data, epsilon, guarantee, objective
    label = f"Run all margins at ε = {text.number(epsilon)}"
    pressed = st.button(label, key="study-margins-start")
    asked = "margins", Request(now.source, CURATE).key, epsilon, guarantee, objective
    task.resume(*call, key=asked, keep=True, begin=pressed)
    found = task.watch(MARGINS)
    if found is None or found.result is None:
        return
    (of, paid, _, objective), at = found.args, _HAND.get()
    values = zip(DIALS, (THRESHOLDS, BETAS, BETAS), strict=True)
    places = [some.index(at[name]) for name, some in values]
    content = digested({**found.result, "what": OBJECTIVES[objective]})
    mount("margins", {**content, "at": places}, "tune-margins", frame=_rested)
    st.caption(
        f"{of.name.capitalize()}, {of.n:,} rows, ε = {text.number(paid)}. Drag a curve "
        "by its handle. Solid: Lemma 1's bound on a lost deletion (type I, margin β₁). Dashed: "
        "the bound on a wrong deletion (type II, β₂). Small dots are the plan's orders. The best "
        "of many settings is partly luck."
    )


def _rested(frame: Mapping[str, Any]) -> None:
    _HAND.put({name: float(frame[name]) for name in DIALS})


# From the runs of the answers -----------------------------------------------------------------


def _near(found: Sequence[Found]) -> tuple[float, dict[str, list[TrialResult]]]:
    """Return the ε next to the visit's that every setting tried, and its runs by setting."""
    tried = set.intersection(*({run.values["epsilon"] for run in one.runs} for one in found))
    near = min(tried, key=lambda e: abs(e - epsilon_now()))
    at = {one.name: [r for r in one.runs if r.values["epsilon"] == near] for one in found}
    return near, at


def _tests(found: Sequence[Found]) -> None:
    lines = []
    for k, one in enumerate(found):
        points = bands(frame(one.runs), "ci_tests").sort_values("x").to_dict("list")
        line = Curve(name=one.name, x=points["x"], y=points["median"], style=style(found, k))
        lines.append(line)
    drawn = curves(lines, Axis("ε", log=True), Axis("CI tests"), height=320)
    charts.figure(drawn, key="study-tests", alt="CI tests against ε")
    near, at = _near(found)
    orders = {
        name: pd.DataFrame([dict(enumerate(run.ci_tests_by_order)) for run in some])
        for name, some in at.items()
    }
    means = {name: counts.fillna(0).mean() for name, counts in orders.items()}
    table = pd.DataFrame(means).T.add_prefix("order ")
    st.caption(f"Mean number of tests by order at ε = {text.number(near)}; each costs its share of "
               "the budget.")  # fmt: skip
    show.table(table.reset_index(names="Setting"), alt="CI tests by order")


def _edges(found: Sequence[Found]) -> None:
    near, at = _near(found)
    truth = found[0].request.source.load().truth
    tables = {name: edge_stability(some, truth) for name, some in at.items()}
    shares = {name: one.set_index(["edge", "true"])["share"] for name, one in tables.items()}
    wide = pd.DataFrame(shares).fillna(0).reset_index()
    st.caption(f"In what share of the seeds each edge was found at ε = {text.number(near)}.")
    show.table(wide.rename(columns={"edge": "Edge", "true": "True edge"}),
               alt="Edges over the seeds")  # fmt: skip


def _files(found: Sequence[Found]) -> None:
    results = [run for one in found for run in one.runs]
    rows = {one.request.source.name: one.request.source.n for one in found}
    table, objective = frame(results), TESTED[fields()["objective"]]
    made = figure(table, objective, rows=rows, kind="svg")

    def drawn(kind: str, columns: int) -> bytes:
        return figure(table, objective, rows=rows, kind=kind, columns=columns).content

    st.code(made.caption, language=None, wrap_lines=True)
    for columns, width in {1: "one column", 2: "two columns"}.items():
        export.downloads("which-epsilon", {
            f"Figure, {width} (.{kind})": (f".{kind}", partial(drawn, kind, columns))
            for kind in KINDS
        })  # fmt: skip
    export.downloads("study", {
        "Numbers (CSV)": ("_numbers.csv", partial(table_csv, made.data)),
        "Runs (CSV)": ("_runs.csv", partial(runs_table, table, "csv")),
        "Runs (Parquet)": ("_runs.parquet", partial(runs_table, table, "parquet")),
        "Study (.db)": (".db", partial(study_file, results)),
    })  # fmt: skip
    st.caption(
        "The study's file holds every run; `python -m engine figure study.db --out f.pdf` draws "
        "it, `engine sweep --out study.db` goes on with it."
    )


def _open() -> None:
    """Draw a file from elsewhere: its runs as a table and curves; nothing in it is trusted."""
    file = st.file_uploader("Study (.db)", type=["db"], key="study-upload")
    if file is None:
        return
    with refusals():
        table = frame(read_study(file.getvalue(), file.name))
        made = figure(table, "tested_skeleton_f1", kind="png", columns=2)
        st.image(made.content, width="stretch")
        st.caption(text.plain(made.caption))
        points = bands(table, "tested_skeleton_f1").drop(columns=["x"])
        points = points.rename(columns=lambda name: name.replace("_", " "))
        show.table(points, alt="The study's points")
