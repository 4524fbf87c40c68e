"""A study's curves as a paper prints them: PDF, SVG or PNG, with the caption and the data beside.

One panel a dataset, one line an algorithm: the median over the seeds and a band from the 10th to
the 90th percentile. Lines differ in colour, dash and mark, so that they do in grey and for readers
who do not tell red from green.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import pandas as pd

from engine.data.spreadsheets import table_csv
from engine.errors import InputError, need
from engine.registry import ALGORITHMS
from engine.studies.analysis import QUANTITIES, TOTALS, bands, parameter_names, varied

KINDS = ("pdf", "svg", "png")
COLUMNS = {1: 3.4, 2: 7.0}  # inches of a paper's one or two columns
HEIGHT = 2.3  # of a row of panels, in inches
TITLES = {
    "skeleton_f1": "Skeleton F1",
    "directed_f1": "Directed F1",
    "tested_skeleton_f1": "Skeleton F1 (tested links)",
    "tested_directed_f1": "Directed F1 (tested links)",
    "precision": "Precision",
    "recall": "Recall",
    "shd": "SHD",
    "ci_tests": "CI tests",
    "seconds": "Seconds",
    "edges": "Links",
    "epsilon": "Asked ε",
    "claimed_epsilon": "Paper's total ε",
    "spent_epsilon": "Defended total ε",
}
# Apart for every eye and in grey (tests/ui/test_colours.py); the palest come where few lines reach.
_INKS = ("#0072b2", "#a53003", "#084c41", "#de4a78", "#180b00", "#b49038", "#4d0262", "#2dbdcd")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (5, 1.2, 1, 1.2)))
_MARKS = "osD^vPX*"
_ONE_AT_A_TIME = Lock()
_RULES: Any = {
    "svg.hashsalt": "dp-causal-explorer",  # the same figure gives the same file
    "svg.fonttype": "path",  # no reader needs the font
    "pdf.fonttype": 42,
    "font.family": "sans-serif",
    "font.size": 8,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "grid.color": "#e3e3e3",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.2,
    "legend.handlelength": 2.8,  # two dashes at least
}


@dataclass(frozen=True)
class Figure:
    """A figure's file, its caption, and the numbers that it draws."""

    content: bytes
    caption: str
    data: pd.DataFrame

    def write(self, path: Path) -> list[Path]:
        """Write the figure, its caption (.txt) and its numbers (.csv) beside; what was written."""
        beside = path.with_suffix(".txt"), path.with_suffix(".csv")
        path.write_bytes(self.content)
        beside[0].write_text(self.caption + "\n", encoding="utf-8")
        beside[1].write_text(table_csv(self.data), encoding="utf-8")
        return [path, *beside]


def figure(
    table: pd.DataFrame,
    y: str = "skeleton_f1",
    *,
    x: str = "epsilon",
    kind: str = "pdf",
    columns: int = 1,
    rows: Mapping[str, int] | None = None,
) -> Figure:
    """A study's curves, ready for a paper.

    Args:
        table: As :func:`engine.studies.analysis.frame` gives it.
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
    points = curve_points(table, y, x)
    drawn = points[points["drawn"]]
    drawn = drawn.assign(curve=_curves(drawn, varied(table)))
    look = Look(TITLES[x], TITLES.get(y, y), "f1" in y or y.endswith(("precision", "recall")))
    content = draw_curves(drawn, look, kind=kind, columns=columns)
    return Figure(content, caption(table, y, x, rows or {}), points)


def curve_points(table: pd.DataFrame, y: str, x: str) -> pd.DataFrame:
    """The figure's numbers: :func:`engine.studies.analysis.bands`, and whether a point is drawn.

    Raises InputError for a quantity or axis there is not, and where nothing can be drawn.
    """
    if y not in QUANTITIES or x not in TOTALS:
        raise InputError(f"y is one of {', '.join(QUANTITIES)}; x one of {', '.join(TOTALS)}.")
    points = bands(table, y, x=x)
    there = points["median"].notna() & ~points["x"].le(0) & ~points["x"].eq(math.inf)
    if points.loc[there, "x"].isna().all():
        raise InputError(f"The study has no {TITLES.get(y, y)} against {TITLES[x]} to draw.")
    return points.assign(drawn=there)


@dataclass(frozen=True)
class Look:
    """A figure's axes: their titles, and whether y is a share, from 0 to 1."""

    x: str
    y: str
    share: bool = False


def draw_curves(points: pd.DataFrame, look: Look, *, kind: str, columns: int) -> bytes:
    """Curves with bands over a logarithmic axis, one panel a dataset.

    Args:
        points: Columns dataset, curve (its name), x, median, low, high; a curve whose x are missing
            is a level line.
        look: The axes.
        kind: One of ``KINDS``.
        columns: Of the paper, 1 or 2.

    Returns:
        The file.

    Raises:
        InputError: For a kind or width there is not.
    """
    names = list(dict.fromkeys(points["dataset"]))
    across = min(len(names), 1 if columns == 1 else 3)
    down = math.ceil(len(names) / across)
    with drawing(kind, columns, HEIGHT * down + 0.4) as (canvas, out):
        panels = canvas.subplots(down, across, squeeze=False).ravel()
        styles = {key: k for k, key in enumerate(dict.fromkeys(points["curve"]))}
        for panel, name in zip(panels, names, strict=False):
            _panel(panel, points[points["dataset"] == name], styles)
            panel.set_title(name.capitalize(), loc="left", fontsize=8)
            panel.set(xscale="log", xlabel=look.x, ylabel=look.y)
            if look.share:
                panel.set_ylim(0, 1.02)
        for panel in panels[len(names) :]:
            panel.set_axis_off()
        handles, labels = panels[0].get_legend_handles_labels()
        canvas.legend(handles, labels, loc="outside lower center", ncols=1 + columns, frameon=False)
    return out.getvalue()


@contextmanager
def drawing(kind: str, columns: int, height: float) -> Iterator[tuple[Any, io.BytesIO]]:
    """A canvas of a paper's one or two columns and ``height`` inches, and the file it becomes.

    Raises InputError for a kind or width there is not.
    """
    if kind not in KINDS or columns not in COLUMNS:
        raise InputError(f"A figure is {', '.join(KINDS)}, and 1 or 2 columns wide.")
    need("matplotlib", "figures")
    from matplotlib import rc_context  # here: who draws nothing need not wait for it
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    out = io.BytesIO()
    with _ONE_AT_A_TIME, rc_context(_RULES):  # matplotlib's rules are the whole process's
        canvas = Canvas(figsize=(COLUMNS[columns], height), layout="constrained")
        FigureCanvasAgg(canvas)
        yield canvas, out
        # No clock in a file: the same study gives the same bytes.
        blank = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": {}}[kind]
        canvas.savefig(out, format=kind, dpi=300, metadata=blank)


def _curves(points: pd.DataFrame, varying: Sequence[str]) -> list[str]:
    """The name of the curve that each point lies on: the algorithm and what else varies."""
    others = [name for name in varying if name != "epsilon" and name in points]
    titles = [ALGORITHMS[key].title for key in points["algorithm"]]
    for name in others:
        titles = [
            title if pd.isna(value) else f"{title}, {name} = {value}"
            for title, value in zip(titles, points[name], strict=True)
        ]
    return titles


def _panel(panel: Any, points: pd.DataFrame, styles: Mapping[str, int]) -> None:
    """One dataset's curves; an algorithm without an ε is a level line."""
    ends = points["x"].min(), points["x"].max()
    for name, curve in points.groupby("curve", sort=False):
        style = styles[str(name)]
        look = {"color": _INKS[style % len(_INKS)], "linestyle": _DASHES[style % len(_DASHES)]}
        if curve["x"].isna().all():
            panel.plot(ends, [curve["median"].iloc[0]] * 2, label=name, **look)
            continue
        curve = curve.sort_values("x")
        mark = _MARKS[style % len(_MARKS)]
        panel.plot(curve["x"], curve["median"], label=name, marker=mark, **look)
        low, high = curve["low"].astype(float), curve["high"].astype(float)
        panel.fill_between(curve["x"], low, high, color=look["color"], alpha=0.15, linewidth=0)


def caption(table: pd.DataFrame, y: str, x: str, rows: Mapping[str, int]) -> str:
    """The figure in words: what is drawn, of which data, under which guarantee, how often."""
    axis = TITLES[x][0].lower() + TITLES[x][1:]
    said = [f"{TITLES.get(y, y)} against {axis} on {datasets_words(table, rows)}."]
    said += terms_words(table)
    said.append(
        f"Median over {seeds_words(table)}; the band reaches from the 10th to the 90th percentile."
    )
    return " ".join([*said, *early_words(table, y)])


def datasets_words(table: pd.DataFrame, rows: Mapping[str, int]) -> str:
    """The datasets with their n, where it is known."""
    names = list(dict.fromkeys(table["dataset"]))
    return listed([f"{name} (n = {rows[name]:,})" if name in rows else name for name in names])


def terms_words(table: pd.DataFrame) -> list[str]:
    """The guarantee and its δ, a sentence each."""
    said, known = [], parameter_names(table)
    if "guarantee" in known:
        guarantees = sorted(set(table["guarantee"].dropna()))
        said.append(f"Guarantee: {listed(guarantees)}.")
    if "delta" in known:
        deltas = sorted(set(table.loc[table["epsilon"].notna(), "delta"].dropna()))
        said.append(f"δ = {listed([f'{d:g}' for d in deltas])}.")
    return said


def seeds_words(table: pd.DataFrame) -> str:
    """How many seeds each dataset and algorithm has."""
    count = table.groupby(["dataset", "algorithm"])["seed"].nunique()
    least, most = count.min(), count.max()
    return (
        f"{least} to {most} seeds" if least < most else f"{most} {'seed' if most == 1 else 'seeds'}"
    )


def early_words(table: pd.DataFrame, y: str) -> list[str]:
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
