"""Figures for a paper as PDF, SVG or PNG, with caption and numbers in files next to them.

Only this module uses matplotlib. It draws a study's curves, and the panels of the papers'
reproduction. Lines differ in colour, dash and mark, so they also differ in grey and for
colour-blind readers.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
import pandas as pd

from engine.data.spreadsheets import table_csv
from engine.errors import InputError
from engine.percent import number
from engine.registry import ALGORITHMS
from engine.studies.summary import bands, varied
from engine.words.run import CLAIMED, PROVEN, listed

KINDS = ("pdf", "svg", "png")
COLUMNS = {1: 3.4, 2: 7.0}  # width in inches of one or two columns of a paper
HEIGHT = 2.3  # inches per row of panels
TITLES = {
    **{"skeleton_f1": "Skeleton F1", "directed_f1": "Directed F1"},
    "tested_skeleton_f1": "Skeleton F1 (tested links)",
    "tested_directed_f1": "Directed F1 (tested links)",
    **{"precision": "Precision", "recall": "Recall", "shd": "SHD", "ci_tests": "CI tests"},
    **{"seconds": "Seconds", "edges": "Links"},
    **{"claimed_epsilon": CLAIMED, "proven_epsilon": PROVEN},
}
# Distinct also for colour-blind readers and in grey (tests/ui/test_colours.py); the palest are
# last.
COLOURS = ("#0072b2", "#a53003", "#084c41", "#de4a78", "#180b00", "#b49038", "#4d0262", "#2dbdcd")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (5, 1.2, 1, 1.2)))
MARKS = "osD^vPX*"
_ONE_AT_A_TIME = RLock()
_RULES: Any = {
    "svg.hashsalt": "dp-causal-explorer",  # makes the file reproducible
    "svg.fonttype": "path",  # so that readers do not need the font
    **{"pdf.fonttype": 42, "font.family": "sans-serif", "font.size": 8, "axes.linewidth": 0.6},
    **{"axes.grid": True, "grid.color": "#80808038", "grid.linewidth": 0.5},
    **{"lines.linewidth": 1.2, "lines.markersize": 3.2, "legend.handlelength": 2.8},
}


@dataclass(frozen=True)
class Series:
    """One line; ``low`` and ``high`` make a band. ``marks`` draws points without a line.

    Without ``colour`` and ``dash``, ``style`` is the index of both, and of the mark of points
    (``dotted``).
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
    """One chart with a logarithmic x axis."""

    title: str
    series: Sequence[Series]
    x_label: str = ""
    y_label: str = ""
    y_log: bool = False
    x_range: tuple[float, float] | None = None
    y_range: tuple[float, float] | None = None


@dataclass(frozen=True)
class Figure:
    """A figure's file, its caption, and its numbers."""

    content: bytes
    caption: str
    data: pd.DataFrame

    def _repr_svg_(self) -> str | None:
        """Show the figure in a notebook, if it is SVG."""
        return self.content.decode() if self.content.startswith(b"<svg") else None

    def files(self, path: Path) -> dict[Path, bytes]:
        """Return the figure, its caption (.txt) and its numbers (.csv), by their paths."""
        caption, numbers = f"{self.caption}\n".encode(), table_csv(self.data).encode()
        ends = zip((path.suffix, ".txt", ".csv"), (self.content, caption, numbers), strict=True)
        return {path.with_suffix(end): content for end, content in ends}


# Drawing ----------------------------------------------------------------------------------


def draw(
    panels: Sequence[Panel], *, kind: str, width: float, across: int, title: str = "", wide: int = 2
) -> bytes:
    """Draw panels in rows of ``across``, with one legend of ``wide`` columns for all of them.

    ``width`` is in inches. An SVG has no document type, because that contains an address. Raises
    InputError for an unknown kind of file.
    """
    if kind not in KINDS:
        raise InputError(f"A figure is {', '.join(KINDS)}; {kind!r} is not.")
    from matplotlib import rc_context  # local import: slow, and needed only for drawing
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    across = max(1, min(across, len(panels)))
    down = math.ceil(len(panels) / across)
    out, handles = io.BytesIO(), dict[str, Any]()
    with _ONE_AT_A_TIME, rc_context(_RULES):  # matplotlib's settings apply to the whole process
        canvas = Canvas(figsize=(width, HEIGHT * down + 0.4), layout="constrained")
        FigureCanvasAgg(canvas)
        axes = canvas.subplots(down, across, squeeze=False).ravel()
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
        # Without a date, the same study gives the same bytes.
        blank = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}[kind]
        canvas.savefig(out, format=kind, dpi=300, metadata=blank)
    content = out.getvalue()
    return content[content.index(b"<svg") :] if kind == "svg" else content


def chart(panels: Sequence[Panel], title: str, columns: int = 4) -> str:
    """Draw the panels in rows as SVG."""
    across = max(1, min(columns, len(panels)))
    drawn = draw(panels, kind="svg", width=3.1 * across, across=across, title=title, wide=4)
    return drawn.decode()


_META = re.compile(r"<metadata>.*?</metadata>|<style.*?</style>", re.DOTALL)


def inline(panel: Panel, alt: str, ink: str = "#000000", paper: str = "#ffffff") -> str:
    """Draw a chart as an SVG element without addresses and global styles."""
    from matplotlib import rc_context

    words = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    inks: Any = dict.fromkeys(words, ink) | {"axes.facecolor": paper, "figure.facecolor": paper}
    with _ONE_AT_A_TIME, rc_context(inks):
        drawn = _META.sub("", draw([panel], kind="svg", width=5.6, across=1).decode())
    return drawn.replace("<svg ", f'<svg role="img" aria-label="{escape(alt)}" ', 1)


def _draw(axis: Any, panel: Panel) -> None:
    """Draw one panel on its axes."""
    axis.set_title(panel.title, loc="left", fontsize=8)
    yscale = "log" if panel.y_log else "linear"
    axis.set(xlabel=panel.x_label, ylabel=panel.y_label, xscale="log", yscale=yscale)
    axis.minorticks_off()  # a chart of this size has no room for them
    axis.xaxis.set_major_formatter("{x:g}")
    for series in panel.series:
        _line(axis, series)
    for limit, ends in ((axis.set_xlim, panel.x_range), (axis.set_ylim, panel.y_range)):
        if ends is not None:
            limit(*ends)


def _line(axis: Any, series: Series) -> None:
    """Draw one line with its band, or dots; omit points that are not finite."""
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


# A study's curves -------------------------------------------------------------------------


def figure(
    table: pd.DataFrame,
    y: str = "skeleton_f1",
    *,
    kind: str = "pdf",
    columns: int = 1,
    rows: Mapping[str, int] | None = None,
) -> Figure:
    """Draw a study's curves: one panel per dataset, the median and 10th to 90th percentile.

    Args:
        table: As :func:`engine.studies.summary.frame` gives it.
        y: The quantity, one of ``QUANTITIES``.
        kind: "pdf", "svg" or "png" (300 dots per inch).
        columns: Width in columns of the paper.
        rows: n of each dataset, for the caption.

    Returns:
        The file, its caption and its numbers.

    Raises:
        InputError: For an unknown quantity, kind or width, and if there is nothing to draw.
    """
    if columns not in COLUMNS:
        raise InputError("A figure is 1 or 2 columns of a paper wide.")
    points, title = bands(table, y), TITLES.get(y, y)
    drawn = points[points["median"].notna()]
    if drawn["x"].isna().all():
        raise InputError(f"The study has no {title} against ε to draw.")
    drawn = drawn.assign(curve=_curves(drawn, varied(table)))
    styles = {name: at for at, name in enumerate(dict.fromkeys(drawn["curve"]))}
    ends = (0.0, 1.02) if "f1" in y or y.endswith(("precision", "recall")) else None
    panels = []
    for dataset, part in drawn.groupby("dataset", sort=False):
        series = [
            _curve(str(name), some, styles[name], part["x"])
            for name, some in part.groupby("curve", sort=False)
        ]
        panels.append(Panel(str(dataset).capitalize(), series, "ε", title, y_range=ends))
    across = 1 if columns == 1 else 3
    content = draw(panels, kind=kind, width=COLUMNS[columns], across=across, wide=1 + columns)
    return Figure(content, _caption(table, y, rows or {}, drawn["count"]), points)


def _curve(name: str, part: pd.DataFrame, style: int, x: pd.Series[Any]) -> Series:
    """Make one curve; an algorithm without an ε is a horizontal line."""
    if part["x"].isna().all():
        return Series(name, [x.min(), x.max()], [part["median"].iloc[0]] * 2, style=style)
    at, middle, low, high = (part[k].tolist() for k in ("x", "median", "low", "high"))
    return Series(name, at, middle, low=low, high=high, style=style, dotted=True)


def _curves(points: pd.DataFrame, varying: Sequence[str]) -> list[str]:
    """Name the curve of each point: the algorithm and other varying parameters."""
    others = [name for name in varying if name != "epsilon" and name in points]
    return [
        ", ".join([ALGORITHMS[point["algorithm"]].title,
                   *(f"{name} = {point[name]}" for name in others if not pd.isna(point[name]))])
        for point in points.to_dict("records")
    ]  # fmt: skip


def _caption(table: pd.DataFrame, y: str, rows: Mapping[str, int], count: pd.Series[int]) -> str:
    """Describe the figure: the quantity, the data, the guarantee, and the number of runs."""
    data = [f"{d} (n = {rows[d]:,})" if d in rows else d for d in dict.fromkeys(table["dataset"])]
    said = [f"{TITLES.get(y, y)} against ε on {listed(data)}."]
    for name, sign in (("guarantee", "Guarantee: "), ("delta", "δ = ")):
        if name in table:
            values = sorted(set(table.loc[table["epsilon"].notna(), name].dropna()))
            words = [number(v) if name == "delta" else v for v in values]
            said.append(f"{sign}{listed(words)}.")
    most = " to ".join(str(k) for k in sorted({count.min(), count.max()}))
    seeds = f"{most} seed{'s' * (most != '1')}"
    said.append(f"Median over {seeds}; the band is the 10th to the 90th percentile.")
    early = int(table["status"].ne("complete").sum())
    if early and not y.startswith("tested_") and y != "seconds":
        said.append(
            f"In {early} of {len(table)} runs the budget ended before the last test; pairs left "
            "untested count as links."
        )
    return " ".join(said)
