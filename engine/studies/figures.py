"""Figures for a paper: PDF, SVG or PNG, with the caption and the numbers in files next to it.

The one module that knows matplotlib: a study's curves, a map of two parameters, answers to "which
epsilon", and the panels of the papers' reproduction. Lines differ in colour, dash and mark, so that
they do in grey and for readers who do not tell red from green.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd

from engine.data.spreadsheets import table_csv
from engine.errors import InputError, need
from engine.registry import ALGORITHMS, algorithm
from engine.studies.summary import QUANTITIES, TOTALS, bands, parameter_names, varied
from engine.studies.tune import OBJECTIVES, Answer

KINDS = ("pdf", "svg", "png")
COLUMNS = {1: 3.4, 2: 7.0}  # inches of a paper's one or two columns
HEIGHT = 2.3  # of a row of panels, in inches
TITLES = {
    **{"skeleton_f1": "Skeleton F1", "directed_f1": "Directed F1"},
    "tested_skeleton_f1": "Skeleton F1 (tested links)",
    "tested_directed_f1": "Directed F1 (tested links)",
    **{"precision": "Precision", "recall": "Recall", "shd": "SHD", "ci_tests": "CI tests"},
    **{"seconds": "Seconds", "edges": "Links", "epsilon": "Asked ε"},
    **{"claimed_epsilon": "Paper's total ε", "spent_epsilon": "Proven total ε"},
}
# Apart for every eye and in grey (tests/ui/test_colours.py); the palest come where few lines reach.
COLOURS = ("#0072b2", "#a53003", "#084c41", "#de4a78", "#180b00", "#b49038", "#4d0262", "#2dbdcd")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (5, 1.2, 1, 1.2)))
MARKS = "osD^vPX*"
_SHADES = ("#ffffff", "#0072b2")  # of a map, from the lowest score to the highest
_CELL = 0.31  # inches of a paper's height that a row of a map takes
_ONE_AT_A_TIME = Lock()
_RULES: Any = {
    "svg.hashsalt": "dp-causal-explorer",  # the same figure gives the same file
    "svg.fonttype": "path",  # no reader needs the font
    **{"pdf.fonttype": 42, "font.family": "sans-serif", "font.size": 8, "axes.linewidth": 0.6},
    **{"axes.grid": True, "grid.color": "#e3e3e3", "grid.linewidth": 0.5},
    **{"lines.linewidth": 1.2, "lines.markersize": 3.2, "legend.handlelength": 2.8},
}


@dataclass(frozen=True)
class Series:
    """One line; ``low`` and ``high`` make a band. ``marks`` draws points without a line.

    Without a ``colour`` and ``dash``, ``style`` numbers both, and the mark of points (``dotted``).
    """

    label: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str = ""
    dash: Any = None
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    marks: bool = False
    style: int = 0
    dotted: bool = False


@dataclass(frozen=True)
class Panel:
    """One chart. ``names`` labels x = 0, 1, ...; otherwise ticks are numbers."""

    title: str
    series: Sequence[Series]
    x_label: str = ""
    y_label: str = ""
    x_log: bool = True
    y_log: bool = False
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None
    names: Sequence[str] = field(default=())


@dataclass(frozen=True)
class Figure:
    """A figure's file, its caption, and the numbers that it draws."""

    content: bytes
    caption: str
    data: pd.DataFrame

    def write(self, path: Path) -> list[Path]:
        """Write the figure, its caption (.txt) and its numbers (.csv); what was written."""
        others = path.with_suffix(".txt"), path.with_suffix(".csv")
        path.write_bytes(self.content)
        others[0].write_text(self.caption + "\n", encoding="utf-8")
        others[1].write_text(table_csv(self.data), encoding="utf-8")
        return [path, *others]


# Drawing ----------------------------------------------------------------------------------


@contextmanager
def drawing(kind: str, width: float, height: float) -> Iterator[tuple[Any, io.BytesIO]]:
    """A canvas of so many inches, and the file it becomes; InputError for an unknown kind."""
    if kind not in KINDS:
        raise InputError(f"A figure is {', '.join(KINDS)}; {kind!r} is not.")
    need("matplotlib", "figures")
    from matplotlib import rc_context  # here: who draws nothing need not wait for it
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    out = io.BytesIO()
    with _ONE_AT_A_TIME, rc_context(_RULES):  # matplotlib's rules are the whole process's
        canvas = Canvas(figsize=(width, height), layout="constrained")
        FigureCanvasAgg(canvas)
        yield canvas, out
        # No clock in a file: the same study gives the same bytes.
        blank = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}[kind]
        canvas.savefig(out, format=kind, dpi=300, metadata=blank)


def draw(
    panels: Sequence[Panel], *, kind: str, width: float, across: int, title: str = "", wide: int = 2
) -> bytes:
    """Panels in rows, ``across`` in each, with one legend of ``wide`` columns for all of them."""
    across = max(1, min(across, len(panels)))
    down = math.ceil(len(panels) / across)
    with drawing(kind, width, HEIGHT * down + 0.4) as (canvas, out):
        axes = canvas.subplots(down, across, squeeze=False).ravel()
        handles: dict[str, Any] = {}
        for axis, panel in zip(axes, panels, strict=False):
            _draw(axis, panel)
            found, labels = axis.get_legend_handles_labels()
            handles |= dict(zip(labels, found, strict=True))
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
        if title:
            canvas.suptitle(title)
        place: Any = {"loc": "outside lower center", "ncols": wide, "frameon": False}
        if handles:
            canvas.legend(handles.values(), handles.keys(), **place)
    return out.getvalue()


def chart(panels: Sequence[Panel], title: str, columns: int = 4, width: float | None = None) -> str:
    """An SVG document of the panels in rows, without the document type, which names an address."""
    across = max(1, min(columns, len(panels)))
    inches = 3.1 * across if width is None else width
    wide = 4 if width is None else 2  # columns of the legend
    content = draw(panels, kind="svg", width=inches, across=across, title=title, wide=wide)
    text = content.decode()
    return text[text.index("<svg") :]


_META = re.compile(r"<metadata>.*?</metadata>|<style.*?</style>", re.DOTALL)


def inline(panel: Panel, alt: str) -> str:
    """A chart as an SVG element, without what names an address or styles other parts."""
    drawn = _META.sub("", chart([panel], "", width=5.6))
    return drawn.replace("<svg ", f'<svg role="img" aria-label="{escape(alt)}" ', 1)


def _draw(axis: Any, panel: Panel) -> None:
    """One panel on its axes."""
    axis.set_title(panel.title, loc="left", fontsize=8)
    axis.set(xlabel=panel.x_label, ylabel=panel.y_label)
    if panel.x_log and not panel.names:
        axis.set_xscale("log")
    if panel.y_log:
        axis.set_yscale("log")
    axis.minorticks_off()  # between decades a chart of this size has no room for them
    for series in panel.series:
        _line(axis, series)
    if panel.names:
        axis.set_xticks(range(len(panel.names)), panel.names)
    if panel.x_range is not None:
        axis.set_xlim(*panel.x_range)
    if panel.y_range is not None:
        axis.set_ylim(*panel.y_range)


def _line(axis: Any, series: Series) -> None:
    """One line with its band, or dots; points that are not finite are left out."""
    points = np.array([series.x, series.y], dtype=float)
    keep = np.flatnonzero(np.isfinite(points).all(axis=0))
    if not len(keep):
        return
    keep = keep[np.argsort(points[0, keep], kind="stable")]
    x, y = points[:, keep]
    colour = series.colour or COLOURS[series.style % len(COLOURS)]
    dash = DASHES[series.style % len(DASHES)] if series.dash is None else series.dash or "-"
    if series.marks:
        axis.plot(x, y, "o", color=colour, label=series.label, alpha=0.85, markersize=5)
        return
    mark = MARKS[series.style % len(MARKS)] if series.dotted else None
    axis.plot(x, y, color=colour, linestyle=dash, marker=mark, label=series.label)
    if len(series.low):
        low, high = (np.asarray(side, dtype=float)[keep] for side in (series.low, series.high))
        axis.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)


def _size(columns: int) -> float:
    if columns not in COLUMNS:
        raise InputError("A figure is 1 or 2 columns of a paper wide.")
    return COLUMNS[columns]


# A study's curves -------------------------------------------------------------------------


def figure(
    table: pd.DataFrame,
    y: str = "skeleton_f1",
    *,
    x: str = "epsilon",
    kind: str = "pdf",
    columns: int = 1,
    rows: Mapping[str, int] | None = None,
) -> Figure:
    """A study's curves: one panel a dataset, the median and the 10th to 90th percentile.

    Args:
        table: As :func:`engine.studies.summary.frame` gives it.
        y: What is drawn, one of ``QUANTITIES``.
        x: "epsilon", "claimed_epsilon" or "spent_epsilon", on a logarithmic axis.
        kind: "pdf", "svg" or "png" (300 dots an inch).
        columns: How many columns of the paper it is wide.
        rows: n of each dataset, for the caption.

    Returns:
        The file, its caption and its numbers.

    Raises:
        InputError: For a quantity, axis, kind or width there is not, and where nothing can be
            drawn.
    """
    if y not in QUANTITIES or x not in TOTALS:
        raise InputError(f"y is one of {', '.join(QUANTITIES)}; x one of {', '.join(TOTALS)}.")
    points = bands(table, y, x=x)
    there = points["median"].notna() & ~points["x"].le(0) & ~points["x"].eq(math.inf)
    if points.loc[there, "x"].isna().all():
        raise InputError(f"The study has no {TITLES.get(y, y)} against {TITLES[x]} to draw.")
    points = points.assign(drawn=there)
    drawn = points[there]
    names = _curves(drawn, varied(table))
    styles = {name: at for at, name in enumerate(dict.fromkeys(names))}
    share = "f1" in y or y.endswith(("precision", "recall"))
    panels = [
        Panel(
            str(dataset).capitalize(),
            [_curve(str(name), some, styles, part["x"]) for name, some in
             part.groupby(pd.Series(names, drawn.index)[part.index], sort=False)],
            TITLES[x], TITLES.get(y, y), y_range=(0.0, 1.02) if share else None,
        )
        for dataset, part in drawn.groupby("dataset", sort=False)
    ]  # fmt: skip
    across = 1 if columns == 1 else 3
    content = draw(panels, kind=kind, width=_size(columns), across=across, wide=1 + columns)
    return Figure(content, caption(table, y, x, rows or {}), points)


def _curve(name: str, part: pd.DataFrame, styles: Mapping[str, int], x: pd.Series[Any]) -> Series:
    """One curve; an algorithm without an ε is a level line."""
    if part["x"].isna().all():
        level = [float(part["median"].iloc[0])] * 2
        return Series(name, [x.min(), x.max()], level, style=styles[name])
    sides = (part[side].tolist() for side in ("low", "high"))
    line = part["x"].tolist(), part["median"].tolist()
    low, high = sides
    return Series(name, *line, low=low, high=high, style=styles[name], dotted=True)


def _curves(points: pd.DataFrame, varying: Sequence[str]) -> list[str]:
    """The name of the curve that each point lies on: the algorithm and what else varies."""
    titles = [ALGORITHMS[key].title for key in points["algorithm"]]
    for name in varying:
        if name != "epsilon" and name in points:
            titles = [
                title if pd.isna(value) else f"{title}, {name} = {value}"
                for title, value in zip(titles, points[name], strict=True)
            ]
    return titles


def caption(table: pd.DataFrame, y: str, x: str, rows: Mapping[str, int]) -> str:
    """The figure in words: what is drawn, of which data, under which guarantee, how often."""
    axis = TITLES[x][0].lower() + TITLES[x][1:]
    what = f"{TITLES.get(y, y)} against {axis} on {_datasets(table, rows)}."
    much = f"Median over {_seeds(table)}; the band is the 10th to the 90th percentile."
    return " ".join([what, *_terms(table), much, *_early(table, y)])


def _datasets(table: pd.DataFrame, rows: Mapping[str, int]) -> str:
    names = list(dict.fromkeys(table["dataset"]))
    return listed([f"{name} (n = {rows[name]:,})" if name in rows else name for name in names])


def _terms(table: pd.DataFrame) -> list[str]:
    """The guarantee and its δ, a sentence each."""
    said, known = [], parameter_names(table)
    if "guarantee" in known:
        said.append(f"Guarantee: {listed(sorted(set(table['guarantee'].dropna())))}.")
    if "delta" in known:
        deltas = sorted(set(table.loc[table["epsilon"].notna(), "delta"].dropna()))
        said.append(f"δ = {listed([f'{d:g}' for d in deltas])}.")
    return said


def _seeds(table: pd.DataFrame) -> str:
    count = table.groupby(["dataset", "algorithm"])["seed"].nunique()
    least, most = count.min(), count.max()
    word = "seed" if most == 1 else "seeds"
    return f"{least} to {most} seeds" if least < most else f"{most} {word}"


def _early(table: pd.DataFrame, y: str) -> list[str]:
    """What runs count that ended before their last test."""
    early = int(table["status"].ne("complete").sum())
    if not early or y.startswith("tested_") or y == "seconds":
        return []
    return [
        f"In {early} of {len(table)} runs the budget ended before the last test; pairs left "
        "untested count as links."
    ]


def listed(words: Iterable[object]) -> str:
    """Words with commas and an "and"."""
    *most, last = [str(word) for word in words]
    return f"{', '.join(most)} and {last}" if most else last


# A map of two parameters ------------------------------------------------------------------


def map_cells(table: pd.DataFrame, over: tuple[str, str], y: str) -> pd.DataFrame:
    """Mean of ``y`` for every pair of values, with its standard error and the number of runs.

    Returns:
        Columns ``over``, mean, error, runs; sorted by ``over``.

    Raises:
        InputError: For several algorithms, a parameter there is not, and another one that varies.
    """
    keys = list(dict.fromkeys(table["algorithm"]))
    known = parameter_names(table)
    if y not in QUANTITIES or len(keys) != 1 or not set(over) <= set(known):
        raise InputError(
            "A map is of one algorithm (--algorithm), over two of its parameters "
            f"({', '.join(known)}) and of one of {', '.join(QUANTITIES)}."
        )
    others = [name for name in varied(table) if name not in over]
    if over[0] == over[1] or others:
        raise InputError(f"A map is over two parameters; here vary {', '.join(varied(table))}.")
    groups = table.astype({y: float}).groupby(list(over), sort=True)[y]
    found = groups.agg(mean="mean", error="sem", runs="count").reset_index()
    if found["mean"].isna().all():
        raise InputError(f"The study has no {TITLES.get(y, y)} to draw.")
    return found


def map_figure(
    table: pd.DataFrame,
    over: tuple[str, str],
    y: str = "tested_skeleton_f1",
    *,
    kind: str = "pdf",
    columns: int = 1,
    rows: Mapping[str, int] | None = None,
) -> Figure:
    """The mean of ``y`` over two parameters, with level lines and the best cell ringed.

    Arguments as of :func:`figure`; ``over``: the parameters across and up. Raises InputError as
    :func:`map_cells`, and for a kind or width there is not.
    """
    found = map_cells(table, over, y)
    wide = found.pivot(index=over[1], columns=over[0], values="mean")
    specs = algorithm(str(table["algorithm"].iloc[0])).params.specs()
    titles = {spec.name: spec.title for spec in specs}
    with drawing(kind, _size(columns), _CELL * len(wide.index) + 0.8) as (canvas, out):
        panel = canvas.subplots()
        drawn = _shades(panel, wide.to_numpy(dtype=float))
        panel.set_xticks(range(len(wide.columns)), [_word(v) for v in wide.columns])
        panel.set_yticks(range(len(wide.index)), [_word(v) for v in wide.index])
        panel.set(xlabel=titles[over[0]], ylabel=titles[over[1]])
        bar = canvas.colorbar(drawn, ax=panel, shrink=0.9, aspect=14, pad=0.02)
        bar.set_label(TITLES.get(y, y))
    best = found.to_dict("records")[int(found["mean"].argmax())]
    at = ", ".join(f"{titles[name]} = {_word(best[name])}" for name in over)
    error = "" if math.isnan(best["error"]) else f" ± {best['error']:.2f}"
    epsilons = sorted(set(table.get("epsilon", pd.Series(dtype=float)).dropna()))
    said = [
        f"{TITLES.get(y, y)} of {_title(table)} over {titles[over[0]]} and {titles[over[1]]} on "
        f"{_datasets(table, rows or {})}.",
        *([f"ε = {epsilons[0]:g}."] if len(epsilons) == 1 else []),
        *_terms(table),
        f"Mean over {_seeds(table)}; lines join equal scores; the ring is the highest mean, "
        f"{best['mean']:.2f}{error} (standard error), at {at}.",
        *_early(table, y),
    ]
    return Figure(out.getvalue(), " ".join(said), found)


def _shades(panel: Any, z: np.ndarray) -> Any:
    """The cells with their numbers, level lines between them, a ring around the best."""
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("shares", _SHADES)
    low, high = float(np.nanmin(z)), float(np.nanmax(z))
    drawn = panel.imshow(z, cmap=shades, aspect="auto", origin="lower", interpolation="nearest")
    for (row, column), value in np.ndenumerate(z):
        if not math.isnan(value):
            ink = "#ffffff" if value > low + 0.6 * (high - low) else "#000000"
            panel.text(column, row, f"{value:.2f}", ha="center", va="center", size=6.5, color=ink)
    if min(z.shape) > 1 and high > low:
        panel.contour(z, levels=5, colors="#000000", linewidths=0.5, alpha=0.6)
    row, column = np.unravel_index(np.nanargmax(z), z.shape)
    panel.plot(column, row, "o", ms=19, mfc="none", mec="#b34700", mew=1.6)
    panel.grid(visible=False)
    return drawn


def _title(table: pd.DataFrame) -> str:
    return algorithm(str(table["algorithm"].iloc[0])).title


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


# Which epsilon ----------------------------------------------------------------------------


def answers_figure(answers: Mapping[str, Answer], *, kind: str = "pdf", columns: int = 1) -> Figure:
    """The curves of one or several answers, by name, with the target; arguments as :func:`figure`.

    Raises InputError for answers with different targets, and a kind or width there is not.
    """
    first = next(iter(answers.values()))
    if {(a.target, a.objective) for a in answers.values()} != {(first.target, first.objective)}:
        raise InputError("Answers in one figure have one target.")
    series, numbers = [], []
    for at, (name, answer) in enumerate(answers.items()):
        points = answer.points.sort_values("x")
        sides: Any = {side: points[f"sure_{side}"].tolist() for side in ("low", "high")}
        line = points["x"].tolist(), points["median"].tolist()
        series.append(Series(name, *line, **sides, style=at, dotted=True))
        numbers.append(points.assign(curve=name))
    ends = [first.points["x"].min(), first.points["x"].max()]
    series.append(Series("target", ends, [first.target] * 2, colour="#555555", dash=DASHES[2]))
    what = OBJECTIVES[first.objective]
    panel = Panel("", series, "ε", what, y_range=(0.0, 1.02))
    content = draw([panel], kind=kind, width=_size(columns), across=1)
    said = " ".join(f"{name}: {answer.sentence}" for name, answer in answers.items())
    seeds = len({r.seed for r in first.results})
    much = f"Median over {seeds} seeds; the band is its 90 % interval."
    return Figure(content, f"{what} against ε. {said} {much}", pd.concat(numbers))
