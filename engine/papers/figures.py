"""Figures of curves in panels, as self-contained SVG text (drawn by matplotlib)."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.errors import need

# Okabe and Ito's colours; every curve has a dash of its own too.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555")
DASHES = ("-", "--", ":", "-.")

_PANEL = (3.1, 2.4)  # inches
_RULES: Any = {
    "svg.hashsalt": "dp-causal-explorer",  # the same figure gives the same file
    "svg.fonttype": "none",  # text stays text
    "font.family": "sans-serif",
    "font.size": 8,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "grid.color": "#dddddd",
}


@dataclass(frozen=True)
class Series:
    """One line; ``low`` and ``high`` make a band. ``marks`` draws points without a line."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    colour: str
    dash: str = "-"
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    marks: bool = False


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


def chart(panels: Sequence[Panel], title: str, columns: int = 4) -> str:
    """An SVG document of the panels in rows, with one legend for all of them."""
    need("matplotlib", "figures")
    # Here, so that studies without figures do not wait for it.
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    columns = max(1, min(columns, len(panels)))
    rows = math.ceil(len(panels) / columns)
    with rc_context(_RULES):
        figure = Figure(figsize=(columns * _PANEL[0], rows * _PANEL[1] + 0.7), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for axis, panel in zip(axes, panels, strict=False):
            _draw(axis, panel)
        for axis in axes[len(panels) :]:
            axis.set_axis_off()
        handles = {
            label: handle
            for axis in axes
            for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
        }
        figure.suptitle(title)
        if handles:
            figure.legend(
                handles.values(), handles.keys(), loc="outside lower center", ncols=4, frameon=False
            )
        out = io.StringIO()
        # No clock and no address of anybody's in a figure.
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        # As savefig does, but for its first drawing, which lays out what this one does anyway.
        FigureCanvasSVG(figure).print_svg(out, metadata=nothing)
    text = out.getvalue()
    return text[text.index("<svg") :]  # without the document type, which names an address


def _draw(axis: Any, panel: Panel) -> None:
    """One panel on its axes."""
    axis.set_title(panel.title, loc="left", fontweight="bold")
    axis.set_xlabel(panel.x_label)
    axis.set_ylabel(panel.y_label)
    if panel.x_log and not panel.names:
        axis.set_xscale("log")
    if panel.y_log:
        axis.set_yscale("log")
    # Between decades a chart of this size has no room for marks, which took most of its drawing.
    axis.minorticks_off()
    for series in panel.series:
        _curve(axis, series)
    if panel.names:
        axis.set_xticks(range(len(panel.names)), panel.names)
    if panel.x_range is not None:
        axis.set_xlim(*panel.x_range)
    if panel.y_range is not None:
        axis.set_ylim(*panel.y_range)


def _curve(axis: Any, series: Series) -> None:
    """One line with its band, or marks; points that are not finite are left out."""
    keep = [
        i
        for i, point in enumerate(zip(series.x, series.y, strict=True))
        if all(map(math.isfinite, point))
    ]
    if not keep:
        return
    keep.sort(key=lambda i: series.x[i])
    x, y = [series.x[i] for i in keep], [series.y[i] for i in keep]
    if series.marks:
        axis.plot(x, y, "o", color=series.colour, label=series.label, alpha=0.85, markersize=5)
        return
    axis.plot(x, y, series.dash, color=series.colour, label=series.label)
    if series.low:
        low, high = ([side[i] for i in keep] for side in (series.low, series.high))
        axis.fill_between(x, low, high, color=series.colour, alpha=0.15, linewidth=0)
