"""Summarise a study: a tidy table, bands over seeds, edge stability, the smallest epsilon.

All functions accept results from ``sweep()``, a list, or ``ResultStore.results()``.
"""

from __future__ import annotations

import io
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import product
from statistics import fmean
from typing import Any, NamedTuple
from warnings import catch_warnings, simplefilter

import networkx as nx
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import infer_dtype
from scipy.special import bdtr

from engine.data.spreadsheets import table_csv
from engine.errors import InputError
from engine.graphs.metrics import SCORES, Scores
from engine.studies.trial import Pairs, TrialResult

SCORED = tuple(f.name for f in fields(Scores))
TESTED = {name: f"tested_{name}" for name in SCORED}  # scores of fully tested links
QUANTITIES = (
    *SCORED,
    *TESTED.values(),
    *("ci_tests", "seconds", "edges", "proven_epsilon", "spent_epsilon", "claimed_epsilon"),
)
TABLES = ("parquet", "csv")
SURE = 0.9  # level of the intervals for a median and for a smallest epsilon
RESAMPLES = 1_000
Floats = NDArray[np.float64]

_FIXED = (
    *("dataset", "fingerprint", "algorithm", "seed", "status"),
    *TESTED.values(),
    *SCORED,
    *("edges", "untested"),
    *("ci_tests", "ci_tests_by_order", "seconds"),
    *("claimed_epsilon", "claimed_delta", "proven_epsilon", "proven_delta"),
    *("spent_epsilon", "spent_delta", "version"),
)
_BAND = ("x", "median", "low", "high", "mean", "std", "count", "sure_low", "sure_high")


def frame(results: Iterable[TrialResult]) -> pd.DataFrame:
    """Make a table with one row per run and one column per quantity or parameter, in fixed order.

    Each parameter is a column with its name, empty if an algorithm does not declare it.
    ``ci_tests_by_order`` is text, "28 50 3" for orders 0, 1, 2. Scores named ``tested_`` refer to
    fully tested links; the others, and ``edges``, count the ``untested`` pairs as links, as in the
    papers. Different datasets with the same name (other rows or other background knowledge) get the
    end of their fingerprint as a suffix.
    """
    rows = [_row(r) for r in results]
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = pd.DataFrame(rows, columns=[*_FIXED, *(n for n in names if n not in _FIXED)])
    several = table.groupby("dataset")["fingerprint"].transform("nunique") > 1
    if several.any():
        ends = table["dataset"] + " (" + table["fingerprint"].str[-4:] + ")"
        table = table.assign(dataset=table["dataset"].mask(several, ends))
    by = [c for c in ("dataset", "algorithm", "epsilon", "seed") if c in table]
    return table.sort_values(by, kind="stable", ignore_index=True) if len(table) else table


def _row(r: TrialResult) -> dict[str, object]:
    known: dict[str, object] = {name: getattr(r, name) for name in _FIXED if hasattr(r, name)}
    for name in SCORED:
        known[name] = getattr(r.metrics_all, name, None)
        known[TESTED[name]] = getattr(r.metrics_tested, name, None)
    for name, part in product(("claimed", "proven"), ("epsilon", "delta")):
        known[f"{name}_{part}"] = getattr(getattr(r, name), part, None)
    known |= {f"spent_{part}": known[f"proven_{part}"] for part in ("epsilon", "delta")}  # 0.3's
    known |= {"edges": len(r.skeleton), "untested": len(r.untested)}
    known["ci_tests_by_order"] = " ".join(map(str, r.ci_tests_by_order))
    return {**r.values, **known}


def varied(table: pd.DataFrame) -> list[str]:
    """List the parameters (columns of :func:`frame`) with several values within one algorithm."""
    names = [c for c in table.columns if c not in _FIXED]
    counts = table.groupby("algorithm")[names].nunique(dropna=True)
    return [n for n in names if (counts[n] > 1).any()]


def bands(table: pd.DataFrame, y: str = TESTED["skeleton_f1"]) -> pd.DataFrame:
    """Return the median and band of ``y`` over the seeds, one row per point of a curve.

    ``y`` is by default the skeleton F1 of the fully tested links.
    Columns: dataset, algorithm, the varied parameters, then x, the epsilon of the request (NaN
    without one), median, low and high (10th and 90th percentile), mean, std, count, and the ends of
    the median's 90 % interval, ``sure_low`` and ``sure_high`` (order statistics). A curve is one
    dataset, algorithm and choice of varied parameters other than epsilon.
    """
    if y not in QUANTITIES:
        raise InputError(f"y must be one of {', '.join(QUANTITIES)}.")
    of_y = _points(table, [y])[y]
    out = of_y.agg(["median", "mean", "std", "count"])
    out["low"], out["high"] = of_y.quantile(0.1), of_y.quantile(0.9)
    out["sure_low"] = of_y.agg(lambda values: median_interval(values)[0])
    out["sure_high"] = of_y.agg(lambda values: median_interval(values)[1])
    points: pd.DataFrame = out.reset_index()
    points["x"] = points.get("epsilon", math.nan)
    return points[[c for c in points if c not in _BAND] + list(_BAND)]


def median_interval(values: Iterable[float]) -> tuple[float, float]:
    """Return a ``SURE`` interval of the median, from order statistics; extremes if values are few.

    >>> median_interval([float(k) for k in range(20)])
    (5.0, 14.0)
    """
    seen = sorted(v for v in values if not math.isnan(v))
    if not seen:
        return math.nan, math.nan
    below = bdtr(np.arange(len(seen)), len(seen), 0.5)  # interval of the sign test
    rank = max(int(np.argmax(below > (1 - SURE) / 2)) - 1, 0)
    return float(seen[rank]), float(seen[-1 - rank])


def _keys(table: pd.DataFrame) -> list[str]:
    """Return the columns that identify a point of a curve."""
    by = ["dataset", "algorithm", *dict.fromkeys(("epsilon", *varied(table)))]
    return [name for name in by if name in table]


def _points(table: pd.DataFrame, quantities: Sequence[str]) -> Any:
    """Group the runs by point of a curve, with these quantities as numbers."""
    by = _keys(table)
    read = [c for c in dict.fromkeys(quantities) if c in table and c not in by]
    numbers = table[[*by, *read]].astype(dict.fromkeys(read, float))
    return numbers.groupby(by, dropna=False, sort=True)


def edge_stability(results: Iterable[TrialResult], truth: nx.DiGraph | None = None) -> pd.DataFrame:
    """Compute how often each edge was found over the seeds, per epsilon.

    Columns: dataset, algorithm, epsilon (NaN without one), edge ("a - b"), share in [0, 1], and
    ``true`` (None without a ground truth). Edges that were never found are omitted unless they are
    true. A pair that is not fully tested counts as not found.
    """
    runs = defaultdict[tuple[str, str, float], list[Pairs]](list)
    for r in results:
        runs[r.dataset, r.algorithm, float(r.values.get("epsilon", math.nan))].append(r.found)
    real = {(min(e), max(e)) for e in truth.edges} if truth is not None else set()
    rows = []
    for key, some in sorted(runs.items()):
        for pair in sorted(real.union(*some)):
            true = pair in real if truth is not None else None
            rows.append((*key, " - ".join(pair), fmean(pair in pairs for pairs in some), true))
    columns = ["dataset", "algorithm", "epsilon", "edge", "share", "true"]
    return pd.DataFrame(rows, columns=columns)


def smallest_epsilons(
    table: pd.DataFrame, target: float, y: str = TESTED["skeleton_f1"]
) -> pd.DataFrame:
    """Return the smallest epsilon tried from which on the median of ``y`` stays at the target.

    One row per curve of :func:`bands`: its keys, ``epsilon`` (NaN if not reached), ``reached``,
    ``below`` (the next smaller epsilon tried, 0 for none), and ``best`` (the largest median). Only
    tried epsilons are known, so a crossing lies between ``below`` and ``epsilon``. ``least`` and
    ``most`` are the ends of its 90 % interval: the percentile bootstrap (Efron and Tibshirani 1993,
    section 13.3) of the crossing over the seeds, which all epsilons share. ``least`` is 0 if the
    smallest epsilon may be enough, ``most`` infinite if the largest may be too small.
    """
    by = [name for name in _keys(table) if name != "epsilon"]
    rows = []
    for keys, runs in table.groupby(by, dropna=False, sort=True):
        scores = runs.pivot_table(index="seed", columns="epsilon", values=y, dropna=False)
        found = _crossing(scores.columns.to_numpy(float), scores.to_numpy(float), target)
        rows.append((*keys, *found))
    return pd.DataFrame(rows, columns=[*by, *_Crossing._fields])


class _Crossing(NamedTuple):
    epsilon: float
    reached: bool
    below: float
    least: float
    most: float
    best: float


def _crossing(x: Floats, scores: Floats, target: float) -> _Crossing:
    """Return the crossing of scores with one row per seed and one column per rising epsilon."""
    seeds, tried = scores.shape
    drawn = np.random.default_rng(0).integers(seeds, size=(RESAMPLES, seeds))
    median, medians = _medians(scores[None])[0], _medians(scores[drawn])
    place = int(_first(median, target))
    ends = np.quantile(_first(medians, target), [(1 - SURE) / 2, (1 + SURE) / 2], method="nearest")
    low, high = map(int, ends)
    edges = [0.0, *map(float, x), math.inf]  # edges[k] and edges[k + 1] enclose the k-th crossing
    reached = place < tried
    epsilon, below = (edges[place + 1], edges[place]) if reached else (math.nan, edges[tried])
    return _Crossing(epsilon, reached, below, edges[low], edges[high + 1], float(np.nanmax(median)))


def _medians(scores: Floats) -> Floats:
    """Return medians over the seeds, axis 1; seeds may lack runs while a study is running."""
    if not np.isnan(scores).any():
        return np.asarray(np.median(scores, axis=1))
    with catch_warnings():  # NaN if there is no run
        simplefilter("ignore", RuntimeWarning)
        return np.asarray(np.nanmedian(scores, axis=1))


def _first(medians: Floats, target: float) -> NDArray[np.intp]:
    """Return the first index from which on the medians (last axis) stay at the target."""
    holds = np.minimum.accumulate(medians[..., ::-1], axis=-1) >= target
    places: NDArray[np.intp] = medians.shape[-1] - holds.sum(axis=-1)
    return places


def runs_table(table: pd.DataFrame, kind: str) -> bytes:
    """Write the tidy table as a Parquet or CSV file.

    A parameter with numbers in some runs and words in others is text in Parquet.
    """
    if kind not in TABLES:
        raise InputError(f"A table of runs is a .parquet or .csv file; {kind!r} is neither.")
    if kind == "csv":
        return table_csv(table).encode()

    mixed = [c for c in table.columns if infer_dtype(table[c]).startswith("mixed")]
    texts: dict[str, Any] = {str(c): table[c].map(str, na_action="ignore") for c in mixed}
    out = io.BytesIO()
    table.assign(**texts).to_parquet(out, index=False)
    return out.getvalue()


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Return medians for a terminal, one row per point of a curve, with the band of F1.

    The scores refer to fully tested links; if a run left others, F1 with these as links is added.
    Without a true graph, numbers of links replace the scores.
    """
    heads = {TESTED[name]: head for name, head in SCORES.items()}
    if table["status"].ne("complete").any():
        heads["skeleton_f1"] = "F1, all as links"
    f1 = bands(table, next(iter(heads)))
    if unknown := not f1["count"].any():
        heads["edges"] = "links"
    heads |= {"ci_tests": "tests", "seconds": "seconds"}
    heads |= {"claimed_epsilon": "claimed", "proven_epsilon": "proven"}
    points = _points(table, list(heads))
    rest = points[list(heads)].median().rename(columns=heads).reset_index(drop=True)
    rest.insert(1, "low", f1["low"])
    rest.insert(2, "high", f1["high"])
    rest["runs"] = points.size().to_numpy()
    found: pd.DataFrame = pd.concat([f1[[name for name in f1 if name not in _BAND]], rest], axis=1)
    return found.dropna(axis=1, how="all") if unknown else found
