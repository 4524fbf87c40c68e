"""Folder and processes of a reproduction, and the runs that it stores."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from engine.data.dataset import Dataset
from engine.data.networks import load_dataset
from engine.graphs.cpdag import matrix_of
from engine.graphs.metrics import compare
from engine.monitor import QUIET, Monitor
from engine.papers.published import AUTHORS_LISTS
from engine.privacy.budget import PROGRAM, TEXT
from engine.registry import ALGORITHMS
from engine.result import RunResult, reference_of
from engine.runner import run
from engine.studies.figures import Panel, Series, chart
from engine.studies.study import sweep
from engine.studies.trial import TrialResult

PER_ROUND = ("em_pc", "svt_pc", "priv_pc")  # published epsilon is per round
# Ranges of the ε axes. The paper has 1 to 100; totals of the largest ε per round reach 1e16.
TOTAL_RANGE = {"claimed": (0.1, 1e3), "spent": (1.0, 1e6)}
NAN = math.nan
Values = dict[str, Any]


@dataclass
class Work:
    """Folder and processes of a reproduction. ``seeds`` and ``n`` default to those of the study."""

    out: Path
    seeds: int | None = None
    n: int = 100_000
    pairs: Path | None = None  # the user's copy of the Tuebingen pairs
    workers: int = 2
    monitor: Monitor = QUIET
    written: list[Path] = field(default_factory=list)
    # run time of the stored runs when they ran, minus the time to read them now
    seconds: float = 0.0

    def runs(
        self, datasets: Sequence[str | Dataset], key: str, grid: Mapping[str, Any], seeds: int = 20
    ) -> pd.DataFrame:
        """Return one row per run, from the folder's runs.db if it exists; lists in a grid vary.

        A dataset is a bundled network by its name, scored against its truth and against non-private
        PC at the grid's threshold (0.10 if it has none), or a pair. Raises KeyboardInterrupt after
        a stop.
        """
        start = time.process_time()
        declared = {spec.name for spec in ALGORITHMS[key].params.specs()}
        several = [network(d, self.n) if isinstance(d, str) else d for d in datasets]
        results = sorted(
            sweep(
                several,
                key,
                {name: some for name, some in grid.items() if name in declared},
                self.seeds or seeds,
                store=self.out / "runs.db",
                executor="processes",
                workers=self.workers,
                stop=self.monitor.stop,
                on_progress=self.monitor.progress,
            ),
            key=attrgetter("dataset", "params", "seed"),
        )
        if self.monitor.stopped():
            raise KeyboardInterrupt
        self.seconds += sum(r.seconds for r in results) - (time.process_time() - start)
        by_print = {data.identity: data for data in several}
        threshold = float(grid.get("threshold", 0.10))
        return pd.DataFrame(measured(r, by_print[r.fingerprint], threshold) for r in results)

    def write(self, name: str, text: str) -> None:
        """Write one file of the outcome."""
        path = self.out / name
        path.write_text(text, encoding="utf-8")
        self.written.append(path)


@lru_cache(maxsize=8)
def network(name: str, n: int) -> Dataset:
    """Load the papers' dataset: n rows of a bundled network, drawn with seed 0."""
    return load_dataset(name, n=n)


@lru_cache(maxsize=32)
def reference(name: str, n: int, threshold: float, form: str = TEXT) -> RunResult:
    """Run non-private PC with Kendall's tau, the papers' ground truth.

    The authors' programs sort the levels alphabetically.
    """
    data = network(name, n)
    data = data if form == TEXT else data.alphabetical
    return run("pc", data, threshold=threshold, trace=False)


@lru_cache(maxsize=8)
def authors_list(name: str) -> NDArray[np.bool_]:
    """Return the authors' list of a network's arcs as a matrix; an undirected link is two."""
    names = network(name, 2).names
    matrix = np.zeros((len(names), len(names)), bool)
    for link in AUTHORS_LISTS[name].split():
        directed = ">" in link
        cause, effect = map(names.index, link.split(">" if directed else "--"))
        matrix[cause, effect] = True
        matrix[effect, cause] |= not directed
    return matrix


def arc_f1(found: Any, truth: Any) -> float:
    """Return F1 as in the authors' programs: over a CPDAG's arcs; an undirected edge is two."""
    total = int(found.sum() + truth.sum())
    return 2 * int((found & truth).sum()) / total if total else 1.0


def measured(r: TrialResult, data: Dataset, threshold: float) -> Values:
    """Return one run's results and costs, by name."""
    assert r.metrics_all is not None
    assert data.truth is not None
    found: Values = {
        "form": TEXT,
        **r.values,
        "dataset": r.dataset,
        "algorithm": r.algorithm,
        "seed": r.seed,
        "f1": r.metrics_all.skeleton_f1,
        "directed": r.metrics_all.directed_f1,
        "shd": r.metrics_all.shd,
        "tests": r.ci_tests,
        "claimed": r.claimed.epsilon if r.claimed else NAN,
        "spent": r.proven.epsilon,
        "seconds": r.seconds,
    }
    if data.bounds is None:
        matrix = matrix_of(nx.DiGraph(r.cpdag), data.names)
        pc = reference(data.name, data.n, threshold, r.values.get("form", TEXT))
        if data.name in AUTHORS_LISTS:
            found["arcs_list"] = arc_f1(matrix, authors_list(data.name))
        found["f1_pc"] = compare(matrix, pc.matrix).skeleton_f1
        found["arcs"] = arc_f1(matrix, reference_of(r.algorithm, data.truth, data.names, None))
        found["arcs_pc"] = arc_f1(matrix, pc.matrix)
    else:  # a pair: right, wrong, or not released
        found["right"] = r.metrics_all.directed_f1 if len(r.cpdag) == 1 else 0.5
    return found


# Numbers from runs ------------------------------------------------------------------------


def by_network(
    table: pd.DataFrame, column: str, networks: Sequence[str]
) -> tuple[list[float], float]:
    """Average a column per network; also return the largest standard error."""
    groups = table.groupby("dataset")[column]
    means, errors = groups.mean(), groups.sem().fillna(0.0)
    return [float(means[name]) for name in networks], float(errors.max())


def at_claimed(
    table: pd.DataFrame, total: float, column: str, networks: Sequence[str]
) -> tuple[list[float], float]:
    """Return each network's mean curve at a claimed total, and the largest standard error.

    Values are NaN outside the measured range; errors are read off their curve in the same way.
    """
    found = []
    for name in networks:
        runs = table[table["dataset"] == name].groupby("epsilon")
        parts = {"claimed": runs["claimed"].mean(), column: runs[column].mean()}
        curve = pd.DataFrame({**parts, "error": runs[column].sem()})
        found.append([at_total(curve, total, part) for part in (column, "error")])
    return [value for value, _ in found], float(np.nan_to_num([e for _, e in found]).max())


def with_deviation(table: pd.DataFrame, total: float, column: str, networks: Sequence[str]) -> str:
    """Format each network's mean and deviation at a claimed total; "–" outside the curve."""
    said = []
    for name in networks:
        runs = table[table["dataset"] == name].groupby("epsilon")
        parts = {"claimed": runs["claimed"].mean(), "mean": runs[column].mean()}
        curve = pd.DataFrame({**parts, "deviation": runs[column].std()})
        mean, deviation = (at_total(curve, total, part) for part in ("mean", "deviation"))
        said.append("–" if math.isnan(mean) else f"{mean:.2f} ({deviation:.2f})")
    return ", ".join(said)


def at_total(curve: pd.DataFrame, total: float, column: str) -> float:
    """Interpolate a curve at a total, linear in log epsilon; NaN outside the measured range."""
    points = curve[["claimed", column]].dropna().sort_values("claimed")
    points = points[np.isfinite(points["claimed"]) & (points["claimed"] > 0)]
    near = 1.001  # CURATE spends its total up to rounding
    x = points["claimed"]
    if points.empty or not x.iloc[0] / near <= total <= x.iloc[-1] * near:
        return NAN
    return float(np.interp(math.log(total), np.log(x), points[column]))


def largest(table: pd.DataFrame, column: str, networks: Sequence[str]) -> list[float]:
    """Return the mean at the largest epsilon on each network."""
    return by_network(table[table["epsilon"] == table["epsilon"].max()], column, networks)[0]


def timed(work: Work, key: str, values: Values, name: str, runs: int) -> tuple[float, float]:
    """Return seconds on one core for a run without cached counts, and for later runs."""
    data = load_dataset(name, n=work.n)  # a new object has no cached counts
    seconds = []
    for seed in range(1 + (work.seeds or runs)):
        start = time.process_time()
        run(key, data, seed=seed, trace=False, **values)
        seconds.append(time.process_time() - start)
        if work.monitor.stopped():
            raise KeyboardInterrupt
    return seconds[0], float(np.mean(seconds[1:]))


def write_curves(
    work: Work, stem: str, runs: pd.DataFrame, networks: Sequence[str], title: str
) -> None:
    """Write the curves of F1 against the total: charts, and the runs as CSV.

    The program's form (by the column ``form``) is scored as in the authors' program.
    """
    work.write(f"{stem}-runs.csv", runs.to_csv(index=False))
    programmed = runs["form"] == PROGRAM
    for part, x, column, name, words in (
        (~programmed, "claimed", "f1_pc", "claimed", "skeleton vs PC, by the total ε claimed"),
        (~programmed, "spent", "f1_pc", "defended", "skeleton vs PC, by the total ε proven"),
        (~programmed, "claimed", "directed", "directed-claimed", "arrows, by the total ε claimed"),
        (programmed, "claimed", "arcs_list", "program", "as programmed, vs the authors' list"),
    ):
        if part.any():
            drawn = _chart(runs[part], networks, x, column, f"{title}, {words}")
            work.write(f"{stem}-{name}.svg", drawn)


def _chart(runs: pd.DataFrame, networks: Sequence[str], x: str, column: str, title: str) -> str:
    panels = []
    for name in networks:
        series = []
        for k, (key, part) in enumerate(runs[runs["dataset"] == name].groupby("algorithm")):
            means = part.groupby("epsilon")[[x, column]].mean()
            points = list(map(float, means[x])), list(map(float, means[column]))
            series.append(Series(ALGORITHMS[str(key)].title, *points, style=k))
        panels.append(
            Panel(name, series, "total ε", "F1", x_range=TOTAL_RANGE[x], y_range=(0.0, 1.05))
        )
    return chart(panels, title)
