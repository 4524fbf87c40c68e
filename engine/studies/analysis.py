"""Reading a study: a tidy table, bands over seeds, edge stability, the smallest sufficient epsilon.

Everything takes results of any origin: ``sweep()``, a list, or ``ResultStore.results()``.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import networkx as nx
import numpy as np
import pandas as pd

from engine.data.spreadsheets import table_csv
from engine.errors import InputError
from engine.graphs.metrics import SCORES
from engine.studies.cells import SCORED, CellResult
from engine.studies.known import ALONE

if TYPE_CHECKING:
    from pandas.core.groupby import DataFrameGroupBy

TESTED = {name: f"tested_{name}" for name in SCORED}  # of the links tested to the end alone
QUANTITIES = (
    *SCORED,
    *TESTED.values(),
    *("ci_tests", "seconds", "edges", "spent_epsilon", "claimed_epsilon", ALONE),
)
TOTALS = ("epsilon", "claimed_epsilon", "spent_epsilon")  # what an ε axis may show

_FIXED = (
    *("dataset", "fingerprint", "algorithm", "seed", "status"),
    *TESTED.values(),
    *SCORED,
    *("edges", "untested"),
    *("ci_tests", "ci_tests_by_order", "seconds"),
    *("claimed_epsilon", "claimed_delta", "spent_epsilon", "spent_delta", "version"),
)


def frame(
    results: Iterable[CellResult],
    extra: Callable[[CellResult], Mapping[str, object]] = lambda result: {},
) -> pd.DataFrame:
    """One row a run, one column a quantity or parameter, in a fixed order of rows.

    Parameters are columns under their own names, empty where an algorithm does not declare one.
    ``ci_tests_by_order`` is text, "28 50 3" for orders 0, 1, 2. Scores named ``tested_`` are of the
    links tested to the end alone; the others, and ``edges``, count the ``untested`` pairs as links,
    as the papers do. ``extra`` adds columns. Datasets of one name that are not the same (other
    rows, or more known of them) have the end of their fingerprint beside it.
    """
    rows = [{**_row(r), **extra(r)} for r in results]
    names = list(dict.fromkeys(name for row in rows for name in row))
    ordered = [*_FIXED, *(n for n in names if n not in _FIXED)]
    table = _apart(pd.DataFrame(rows, columns=ordered))
    by = [c for c in ("dataset", "algorithm", "epsilon", "seed") if c in table]
    return table.sort_values(by, kind="stable", ignore_index=True) if len(table) else table


def _apart(table: pd.DataFrame) -> pd.DataFrame:
    several = table.groupby("dataset")["fingerprint"].transform("nunique") > 1
    ends = table["dataset"] + " (" + table["fingerprint"].str[-4:] + ")"
    return table.assign(dataset=table["dataset"].mask(several, ends)) if several.any() else table


def _row(r: CellResult) -> dict[str, object]:
    known = {name: getattr(r, name) for name in _FIXED if hasattr(r, name)}
    known |= {TESTED[name]: getattr(r.metrics_tested, name, None) for name in SCORED}
    known["edges"] = len(r.skeleton)
    known["untested"] = None if r.untested is None else len(r.untested)
    known["ci_tests_by_order"] = " ".join(map(str, r.ci_tests_by_order))
    return {**r.values, **known}


def parameter_names(table: pd.DataFrame) -> list[str]:
    """The columns of :func:`frame` that are parameters."""
    return [c for c in table.columns if c not in (*_FIXED, ALONE)]


def varied(table: pd.DataFrame) -> list[str]:
    """Parameters that take several values within one algorithm."""
    names = parameter_names(table)
    counts = table.groupby("algorithm")[names].nunique(dropna=True)
    return [n for n in names if (counts[n] > 1).any()]


def bands(
    table: pd.DataFrame,
    y: str = "skeleton_f1",
    *,
    x: str = "epsilon",
    low: float = 0.1,
    high: float = 0.9,
) -> pd.DataFrame:
    """Median and band of ``y`` over the seeds, one row a point of a curve.

    Columns: dataset, algorithm, the varied parameters, then x, median, low, high, mean, std, count.
    ``x`` is "epsilon" (what was asked for), "claimed_epsilon" or "spent_epsilon" (the median of
    what the runs of the point claimed or can defend). A curve is one dataset, algorithm and choice
    of varied parameters other than epsilon.
    """
    if y not in QUANTITIES or x not in TOTALS:
        raise InputError(f"y must be one of {', '.join(QUANTITIES)}; x one of {', '.join(TOTALS)}.")
    groups = _points(table, [y, x])
    of_y = groups[y]
    out = pd.DataFrame({"median": of_y.median()})
    out["low"], out["high"] = of_y.quantile(low), of_y.quantile(high)
    out["mean"], out["std"], out["count"] = of_y.mean(), of_y.std(), of_y.count()
    at = groups[x].median() if x in table else pd.Series(math.nan, index=out.index)
    out.insert(0, "x", at.to_numpy(dtype=float))
    return out.reset_index()


def medians(table: pd.DataFrame, quantities: Sequence[str]) -> pd.DataFrame:
    """The medians of several quantities at once, one row a point in the order of :func:`bands`."""
    return _points(table, quantities)[list(quantities)].median().reset_index(drop=True)


def _points(
    table: pd.DataFrame, quantities: Sequence[str]
) -> DataFrameGroupBy[tuple[object, ...], Literal[True]]:
    """The runs of each point of a curve, with these quantities as numbers."""
    by = ["dataset", "algorithm", *dict.fromkeys(("epsilon", *varied(table)))]
    by = [c for c in by if c in table]
    read = [c for c in dict.fromkeys(quantities) if c in table and c not in by]
    numbers = table[[*by, *read]].astype(dict.fromkeys(read, float))
    return numbers.groupby(by, dropna=False, sort=True)


def edge_stability(results: Iterable[CellResult], truth: nx.DiGraph | None = None) -> pd.DataFrame:
    """How often each edge was found, over the seeds, at each epsilon.

    Columns: dataset, algorithm, epsilon (NaN without one), edge ("a - b"), share in [0, 1], and
    ``true`` (None without a truth). Edges that were never found are left out, unless they are true;
    a pair not tested to the end was not found.
    """
    runs: Counter[tuple[str, str, float]] = Counter()
    found: dict[tuple[str, str, float], Counter[tuple[str, str]]] = {}
    for r in results:
        key = r.dataset, r.algorithm, float(r.values.get("epsilon", math.nan))
        runs[key] += 1
        found.setdefault(key, Counter()).update(r.found)
    real = {(min(e), max(e)) for e in truth.edges} if truth is not None else set()
    rows = []
    for key in sorted(runs):
        everywhere = {e for k, c in found.items() if k[0] == key[0] for e in c} | real
        for a, b in sorted(everywhere):
            share = found[key][a, b] / runs[key]
            true = (a, b) in real if truth is not None else None
            rows.append((*key, f"{a} - {b}", share, true))
    columns = ["dataset", "algorithm", "epsilon", "edge", "share", "true"]
    return pd.DataFrame(rows, columns=columns)


def smallest_epsilons(
    table: pd.DataFrame, target: float, y: str = "skeleton_f1", *, x: str = "epsilon"
) -> pd.DataFrame:
    """The smallest epsilon from which on the median of ``y`` stays at the target or above.

    One row a curve of :func:`bands`: its keys, ``epsilon`` (NaN if not reached), ``reached``,
    ``best`` (the largest median) and ``note``, a sentence. Between two points the median is taken
    to rise linearly in log epsilon; a median that falls below the target again does not count.
    """
    points = bands(table, y, x=x)
    by = [c for c in points.columns if c not in (*_BAND, "epsilon")]
    rows = []
    for keys, curve in points.groupby(by, dropna=False, sort=True):
        epsilon, note = _crossing(curve["x"].to_numpy(), curve["median"].to_numpy(), target)
        best = float(curve["median"].max())
        rows.append((*_as_tuple(keys), epsilon, not math.isnan(epsilon), best, note))
    return pd.DataFrame(rows, columns=[*by, "epsilon", "reached", "best", "note"])


_BAND = ("x", "median", "low", "high", "mean", "std", "count")


def _as_tuple(keys: object) -> tuple[object, ...]:
    return keys if isinstance(keys, tuple) else (keys,)


def _crossing(x: np.ndarray, median: np.ndarray, target: float) -> tuple[float, str]:
    """(epsilon or NaN, a sentence) for one curve."""
    usable = np.isfinite(x) & np.isfinite(median) & (x > 0)
    if not usable.any():
        return math.nan, "There is no epsilon to read off."
    order = np.argsort(x[usable], kind="stable")
    x, median = x[usable][order], median[usable][order]
    floor = np.minimum.accumulate(median[::-1])[::-1]  # what holds from here on
    if floor[-1] < target:
        least, most = f"{x[-1]:.3g}", f"{floor[-1]:.3g}"
        return math.nan, f"Not reached: the median is {most} at the largest epsilon, {least}."
    i = int(np.argmax(floor >= target))
    if i == 0:
        return float(x[0]), f"Reached at the smallest epsilon measured, {x[0]:.3g}, or before."
    share = (target - floor[i - 1]) / (floor[i] - floor[i - 1])
    epsilon = math.exp(math.log(x[i - 1]) + share * (math.log(x[i]) - math.log(x[i - 1])))
    return epsilon, f"Between {x[i - 1]:.3g} and {x[i]:.3g}, both measured."


def to_csv(results: Iterable[CellResult]) -> str:
    """The tidy table as CSV text."""
    return table_csv(frame(results))


def to_json(results: Iterable[CellResult]) -> str:
    """All results, edges included, as a JSON array of objects with a single run's field names."""
    return json.dumps([r.as_dict() for r in results])


def summary(table: pd.DataFrame) -> list[Sequence[str]]:
    """Rows of text for a terminal: a header, then one line a point of a curve.

    The scores are of the links tested to the end; where a run left others, F1 with them as links
    stands beside, and where causes are known the directed F1 of what is known alone.
    """
    scores, more = [TESTED[name] for name in SCORES], {}
    if ALONE in table:
        more[ALONE] = "known arrows alone"
    if table["status"].ne("complete").any():
        more["skeleton_f1"] = "F1, all as links"
    f1, *others = (bands(table, y) for y in (*scores, *more, "ci_tests", "seconds"))
    claimed = bands(table, x="claimed_epsilon")["x"]
    spent = bands(table, x="spent_epsilon")["x"]
    keys = [c for c in f1.columns if c not in _BAND]
    first, *names = SCORES.values()
    names += [*more.values(), "tests", "seconds", "claimed", "defended", "runs"]
    header = [*keys, first, "low", "high", *names]
    rows: list[Sequence[str]] = [header]
    for i in range(len(f1)):
        numbers = (f1["median"][i], f1["low"][i], f1["high"][i])
        rest = (*(other["median"][i] for other in others), claimed[i], spent[i])
        cells = [*(f1[k][i] for k in keys), *numbers, *rest]
        rows.append([*map(_text, cells), str(f1["count"][i])])
    return rows


def _text(value: object) -> str:
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.4g}"
    return str(value)
