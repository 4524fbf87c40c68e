"""What tuning finds, as a paper prints it: a score over two parameters, and the tuned score beside
the default setting's at each epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from engine.errors import InputError
from engine.registry import algorithm
from engine.studies.analysis import QUANTITIES, parameter_names, varied
from engine.studies.figures import (
    TITLES,
    Figure,
    Look,
    datasets_words,
    draw_curves,
    drawing,
    early_words,
    seeds_words,
    terms_words,
)
from engine.studies.tuning import Least

_SHADES = ("#ffffff", "#0072b2")  # from the lowest score to the highest
_CELL = 0.31  # inches of a paper's height that a row of cells takes


def cells(table: pd.DataFrame, over: tuple[str, str], y: str) -> pd.DataFrame:
    """Mean of ``y`` for every pair of values, with its standard error and the number of runs.

    Args:
        table: Runs of one algorithm, as :func:`engine.studies.analysis.frame` gives them.
        over: The parameters across and up.
        y: One of ``QUANTITIES``.

    Returns:
        Columns ``over``, mean, error, runs; sorted by ``over``.

    Raises:
        InputError: For several algorithms, a parameter there is not, and another one that varies.
    """
    if y not in QUANTITIES:
        raise InputError(f"y is one of {', '.join(QUANTITIES)}.")
    keys = list(dict.fromkeys(table["algorithm"]))
    if len(keys) != 1:
        raise InputError("A map is of one algorithm; name it with --algorithm.")
    known = parameter_names(table)
    for name in over:
        if name not in known:
            raise InputError(f"{keys[0]} has no parameter {name!r}; it has {', '.join(known)}.")
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

    Args:
        table: Runs of one algorithm.
        over: The parameters across and up.
        y: One of ``QUANTITIES``.
        kind: "pdf", "svg" or "png" (300 dots an inch).
        columns: How many columns of the paper it is wide.
        rows: n of each dataset, for the caption.

    Returns:
        The file, its caption and its numbers.

    Raises:
        InputError: As :func:`cells`, and for a kind or width there is not.
    """
    found = cells(table, over, y)
    wide = found.pivot(index=over[1], columns=over[0], values="mean")
    titles = _titles(table)
    with drawing(kind, columns, _CELL * len(wide.index) + 0.8) as (canvas, out):
        panel = canvas.subplots()
        drawn = _shades(panel, wide.to_numpy(dtype=float))
        for axis, values, name in (("x", wide.columns, over[0]), ("y", wide.index, over[1])):
            getattr(panel, f"set_{axis}ticks")(range(len(values)), [_word(v) for v in values])
            getattr(panel, f"set_{axis}label")(titles[name])
        bar = canvas.colorbar(drawn, ax=panel, shrink=0.9, aspect=14, pad=0.02)
        bar.set_label(TITLES.get(y, y))
        bar.outline.set_visible(False)
    return Figure(out.getvalue(), map_caption(table, over, y, rows or {}), found)


def _shades(panel: Any, z: np.ndarray) -> Any:
    """The cells with their numbers, level lines between them, a ring around the best."""
    from matplotlib.colors import LinearSegmentedColormap

    shades = LinearSegmentedColormap.from_list("shares", _SHADES)
    low, high = float(np.nanmin(z)), float(np.nanmax(z))
    drawn = panel.imshow(z, cmap=shades, aspect="auto", origin="lower", interpolation="nearest")
    for (row, column), value in np.ndenumerate(z):
        if not math.isnan(value):
            dark = value > low + 0.6 * (high - low)
            ink = "#ffffff" if dark else "#000000"
            panel.text(column, row, f"{value:.2f}", ha="center", va="center", size=6.5, color=ink)
    if min(z.shape) > 1 and high > low:
        panel.contour(z, levels=5, colors="#000000", linewidths=0.5, alpha=0.6)
    row, column = np.unravel_index(np.nanargmax(z), z.shape)
    panel.plot(column, row, "o", ms=19, mfc="none", mec="#b34700", mew=1.6)
    panel.grid(visible=False)
    return drawn


def map_caption(table: pd.DataFrame, over: tuple[str, str], y: str, rows: Mapping[str, int]) -> str:
    """The map in words."""
    found, titles = cells(table, over, y), _titles(table)
    best = found.to_dict("records")[int(found["mean"].argmax())]
    at = ", ".join(f"{titles[name]} = {_word(best[name])}" for name in over)
    title = algorithm(str(table["algorithm"].iloc[0])).title
    said = [
        f"{TITLES.get(y, y)} of {title} over {titles[over[0]]} and {titles[over[1]]} on "
        f"{datasets_words(table, rows)}."
    ]
    epsilons = sorted(set(table.get("epsilon", pd.Series(dtype=float)).dropna()))
    if len(epsilons) == 1:
        said.append(f"ε = {epsilons[0]:g}.")
    error = "" if math.isnan(best["error"]) else f" ± {best['error']:.2f}"
    said += terms_words(table)
    said.append(
        f"Mean over {seeds_words(table)}; lines join equal scores; the ring is the highest mean, "
        f"{best['mean']:.2f}{error} (standard error), at {at}."
    )
    return " ".join([*said, *early_words(table, y)])


def least_figure(
    found: Least,
    what: str,
    where: str,
    *,
    kind: str = "pdf",
    columns: int = 1,
) -> Figure:
    """The tuned score and the default setting's at each epsilon that was tried.

    Args:
        found: As :func:`engine.studies.tuning.least_epsilon` gives it.
        what: The score's title.
        where: The data that the scores are of, in words.
        kind: "pdf", "svg" or "png" (300 dots an inch).
        columns: How many columns of the paper it is wide.

    Returns:
        The file, its caption and its numbers.

    Raises:
        InputError: Where nothing was found, and for a kind or width there is not.
    """
    if not found.found:
        raise InputError("Nothing was tried yet: there is no figure.")
    points = least_numbers(found)
    drawn = points.assign(dataset=where, x=points["epsilon"], median=points["mean"])
    drawn["curve"] = points["setting"].map({"tuned": "tuned at each ε", "default": "default"})
    wanted = {"dataset": where, "curve": "wanted", "x": math.nan, "median": found.target}
    drawn = pd.concat([drawn, pd.DataFrame([wanted])], ignore_index=True)
    look = Look("ε (strict)", what, share=True)
    content = draw_curves(drawn, look, kind=kind, columns=columns)
    return Figure(content, least_caption(found, what, where), points)


def least_numbers(found: Least) -> pd.DataFrame:
    """One row an epsilon and setting ("tuned", "default"): mean, low, high (two standard errors),
    runs, and the tuned parameters.
    """
    rows = []
    for epsilon, one in found.found.items():
        tuned = one.elsewhere or one.fresh
        default = one.default_elsewhere or one.default
        for name, score, params in (("tuned", tuned, one.params), ("default", default, {})):
            half = 0.0 if math.isnan(score.error) else 2 * score.error
            ends = {"low": score.mean - half, "high": score.mean + half}
            row = {"epsilon": epsilon, "setting": name, "mean": score.mean}
            rows.append({**row, **ends, "runs": score.runs, **params})
    return pd.DataFrame(rows)


def least_caption(found: Least, what: str, where: str) -> str:
    """The figure in words."""
    one = next(iter(found.found.values()))
    specs = {spec.name: spec.default for spec in algorithm(one.key).params.specs()}
    delta = one.fixed.get("delta", specs.get("delta"))
    told = [] if delta is None else [f"δ = {delta:g}."]
    seeds = (one.elsewhere or one.fresh).runs
    return " ".join(
        [
            f"{what} of {algorithm(one.key).title} against ε on {where}, tuned at each ε and at "
            "the default setting.",
            f"Guarantee: {one.fixed.get('guarantee', specs.get('guarantee'))}.",
            *told,
            f"Mean over {seeds} seeds that no search used; the band is two standard errors.",
        ]
    )


def _titles(table: pd.DataFrame) -> dict[str, str]:
    specs = algorithm(str(table["algorithm"].iloc[0])).params.specs()
    return {spec.name: spec.title for spec in specs}


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
