"""What every reproduction shares: where it runs and writes, scores, tables and charts."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from engine.data.dataset import Dataset
from engine.data.networks import load_dataset
from engine.data.spreadsheets import table_csv
from engine.graphs.cpdag import matrix_of
from engine.graphs.metrics import Metrics, compare
from engine.registry import ALGORITHMS
from engine.result import RunResult
from engine.runner import run
from engine.studies.figures import COLOURS, DASHES, Panel, Series, chart
from engine.studies.store import ResultStore
from engine.studies.study import Progress, sweep
from engine.studies.summary import frame
from engine.studies.trial import TrialResult

# What the ε axes show. The paper's runs from 1 to 100; totals of the largest ε a round reach 1e16.
TOTAL_RANGE = {"claimed_epsilon": (0.1, 1e3), "spent_epsilon": (1.0, 1e6)}
PER_ROUND = ("em_pc", "svt_pc", "priv_pc")  # published epsilon is that of one round
COLOUR = dict(
    zip((*PER_ROUND, "curate_pc", "curate_notears", "noleaks", "pc"), COLOURS, strict=False)
)

NAN = math.nan


@dataclass
class Work:
    """Where a reproduction runs and writes. ``seeds`` and ``n`` default to the paper's."""

    out: Path
    seeds: int | None = None
    n: int = 100_000
    pairs: Path | None = None  # a person's copy of the Tuebingen pairs
    executor: str = "processes"
    workers: int = 2
    cancelled: Callable[[], bool] = lambda: False
    on_progress: Callable[[Progress], None] | None = None
    written: list[Path] = field(default_factory=list)
    missing: set[str] = field(default_factory=set)

    def registered(self, keys: Iterable[str]) -> list[str]:
        """Those of the algorithms that exist; the others are remembered as missing."""
        wanted = list(keys)
        self.missing |= {k for k in wanted if k not in ALGORITHMS}
        return [k for k in wanted if k in ALGORITHMS]

    def data(self, names: Iterable[str]) -> list[Dataset]:
        """The paper's datasets."""
        return [_network(name, self.n) for name in names]

    def cells(
        self, networks: Sequence[str], keys: Sequence[str], grid: Mapping[str, Any], seeds: int
    ) -> list[TrialResult]:
        """All results of a grid on the paper's networks."""
        return self.study(self.data(networks), keys, grid, seeds)

    def study(
        self, datasets: Sequence[Dataset], keys: Sequence[str], grid: Mapping[str, Any], seeds: int
    ) -> list[TrialResult]:
        """All results of a grid, from the folder's store where they are there already."""
        known = self.registered(keys)
        if not known:
            return []
        declared = {s.name for k in known for s in ALGORITHMS[k].params.specs()}
        fitting = {name: value for name, value in grid.items() if name in declared}
        with ResultStore(self.out / "study.db") as store:
            results = sweep(
                datasets,
                known,
                fitting,
                self.seeds or seeds,
                store=store,
                executor=self.executor,
                workers=self.workers,
                cancelled=self.cancelled,
                on_progress=self.on_progress,
            )
            finished = list(results)
        if self.cancelled():
            raise KeyboardInterrupt
        return finished

    def write(self, name: str, text: str) -> None:
        """One file of the outcome."""
        path = self.out / name
        path.write_text(text, encoding="utf-8")
        self.written.append(path)

    def write_table(self, name: str, table: pd.DataFrame, title: str, notes: Sequence[str]) -> None:
        """A table as CSV and, with notes, as Markdown."""
        self.write(f"{name}.csv", table_csv(table))
        said = [f"- {note}" for note in (*notes, *self.absent())]
        text = [f"# {title}", "", *said, "", _markdown(table), ""]
        self.write(f"{name}.md", "\n".join(text))

    def absent(self) -> list[str]:
        """A note on algorithms that this version does not have."""
        if not self.missing:
            return []
        return [f"Not in this version, so left out: {', '.join(sorted(self.missing))}."]


@cache
def _network(name: str, n: int) -> Dataset:
    return load_dataset(name, n=n)


# Scores against non-private PC -----------------------------------------------------------


@cache
def reference(data: Dataset, threshold: float) -> RunResult:
    """Non-private PC with Kendall's tau, the papers' ground truth."""
    return run("pc", data, threshold=threshold, trace=False)


def against_pc(result: TrialResult, data: Dataset, threshold: float) -> Metrics:
    """A result's metrics with PC's output in the place of the truth."""
    graph = nx.DiGraph(list(result.cpdag))
    return compare(matrix_of(graph, data.names), reference(data, threshold).matrix)


def scored(
    results: Sequence[TrialResult], datasets: Sequence[Dataset], threshold: float
) -> pd.DataFrame:
    """The tidy table with columns f1_truth, f1_pc, their directed forms, and shd against both."""
    by_print = {d.fingerprint: d for d in datasets}

    def beside_pc(result: TrialResult) -> dict[str, object]:
        m = against_pc(result, by_print[result.fingerprint], threshold)
        return {"f1_pc": m.skeleton_f1, "directed_f1_pc": m.directed_f1, "shd_pc": m.shd}

    names = {"skeleton_f1": "f1_truth", "directed_f1": "directed_f1_truth", "shd": "shd_truth"}
    return frame(results, beside_pc).rename(columns=names)


def mean_scores(table: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Means over the seeds of the scores, tests and totals, and their deviation."""
    scores = [f"{name}_{of}" for name in ("f1", "directed_f1", "shd") for of in ("truth", "pc")]
    columns = [*scores, "ci_tests", "seconds"]
    totals = ["claimed_epsilon", "spent_epsilon"]
    numbers = table.astype(dict.fromkeys((*columns, *totals), float))
    groups = numbers.groupby(list(by), dropna=False, sort=False)
    out = groups[[*columns, *totals]].mean()
    for name in scores:
        out[f"{name}_std"] = groups[name].std().fillna(0.0)
    out["runs"] = groups.size()
    return out.reset_index()


def _markdown(table: pd.DataFrame) -> str:
    """A table in Markdown, its columns as wide as their longest entry."""
    rows = [list(map(str, table.columns)), *table.astype(object).map(_cell).values.tolist()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [[c.ljust(w) for c, w in zip(row, widths, strict=True)] for row in rows]
    rule = "|" + "|".join(":" + "-" * (w + 1) for w in widths) + "|"
    head, *body = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join((head, rule, *body))


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def at_total(curve: pd.DataFrame, total: float, y: str, x: str = "claimed_epsilon") -> float:
    """A curve's value at a total, linear in log epsilon; NaN outside what was measured."""
    points = curve[[x, y]].dropna().sort_values(x)
    points = points[np.isfinite(points[x]) & (points[x] > 0)]
    near = 1.001  # CURATE spends its total up to rounding
    if points.empty or not points[x].iloc[0] / near <= total <= points[x].iloc[-1] * near:
        return NAN
    return float(np.interp(math.log(total), np.log(points[x]), points[y]))


def write_curves(
    work: Work, stem: str, means: pd.DataFrame, networks: Sequence[str], title: str, papers: str
) -> None:
    """The F1 of skeleton and arrows against both totals: four charts."""
    for x, words in (("claimed_epsilon", papers), ("spent_epsilon", "that can be defended")):
        total = "claimed" if x == "claimed_epsilon" else "defended"
        for score, name in (("f1", total), ("directed_f1", f"directed-{total}")):
            what = f"{title} ({'skeleton' if score == 'f1' else 'directed'}) and deviation"
            drawn = curves_chart(means, networks, x, score, f"{what} against the total ε {words}")
            work.write(f"{stem}-{name}.svg", drawn)


def curves_chart(
    means: pd.DataFrame, networks: Sequence[str], x: str, score: str, title: str
) -> str:
    """A panel a network; ``score`` is "f1" or "directed_f1"."""
    panels = []
    for network in networks:
        series = []
        for key in dict.fromkeys(means["algorithm"]):
            part = means[(means["dataset"] == network) & (means["algorithm"] == key)]
            for y, against, dash in (
                (f"{score}_pc", "PC's output", ""),
                (f"{score}_truth", "truth", DASHES[1]),
            ):
                label = f"{ALGORITHMS[key].title} against {against}"
                band = part[f"{y}_std"] if y == f"{score}_pc" else part[f"{y}_std"] * 0
                low, high = list(part[y] - band), list(part[y] + band)
                points = (list(part[x].astype(float)), list(part[y]))
                colour = COLOUR.get(key, COLOURS[-1])
                series.append(Series(label, *points, colour, dash, low, high))
        ends = TOTAL_RANGE[x]
        panels.append(Panel(network, series, "total ε", "F1", x_range=ends, y_range=(0.0, 1.05)))
    return chart(panels, title)


def timed(
    work: Work,
    key: str,
    title: str,
    network: str,
    values: Mapping[str, Any],
    printed: float,
    runs: int,
) -> dict[str, Any]:
    """One row: the paper's seconds, ours, and what the runs found and cost.

    Ours are seconds of one processor core, which other load on the machine does not lengthen.
    """
    data = load_dataset(network, n=work.n)  # a new object: nothing has been counted
    start = time.process_time()
    results = [run(key, data, seed=0, trace=False, **_declared(key, values))]
    first = time.process_time() - start
    count = work.seeds or runs
    start = time.process_time()
    for seed in range(1, count + 1):
        if work.cancelled():
            break
        results.append(run(key, data, seed=seed, trace=False, **_declared(key, values)))
    later = (time.process_time() - start) / max(1, len(results) - 1)
    return {
        "algorithm": title,
        "network": network,
        "paper": printed,
        "first": first,
        "later": later,
        "paper / later": printed / later,
        **_found(results, data, values),
    }


def _declared(key: str, values: Mapping[str, Any]) -> dict[str, Any]:
    names = {s.name for s in ALGORITHMS[key].params.specs()}
    return {k: v for k, v in values.items() if k in names}


def _found(
    results: Sequence[RunResult], data: Dataset, values: Mapping[str, Any]
) -> dict[str, Any]:
    """Mean scores and totals of runs."""
    pc = reference(data, values.get("threshold", 0.10))
    truth = [r.metrics for r in results if r.metrics]
    claimed = [r.claimed.epsilon for r in results if r.claimed]
    return {
        "F1 vs truth": float(np.mean([m.skeleton_f1 for m in truth])),
        "directed F1": float(np.mean([m.directed_f1 for m in truth])),
        "SHD": float(np.mean([m.shd for m in truth])),
        "F1 vs PC": float(np.mean([compare(r.matrix, pc.matrix).skeleton_f1 for r in results])),
        "claimed ε": float(np.mean(claimed)) if claimed else NAN,
        "defended ε": float(np.mean([r.spent.epsilon for r in results])),
    }


def beside(
    means: pd.DataFrame,
    printed: Mapping[str, Sequence[float | None]],
    networks: Sequence[str],
    what: str,
) -> pd.DataFrame:
    """Long table: algorithm, network, the paper's number, ours, scores and totals."""
    rows = []
    for key, numbers in printed.items():
        for network, number in zip(networks, numbers, strict=True):
            part = means[(means["algorithm"] == key) & (means["dataset"] == network)]
            if part.empty:
                continue
            mine = part.iloc[0]
            rows.append(
                {
                    "algorithm": ALGORITHMS[key].title,
                    "network": network,
                    "paper": NAN if number is None else float(number),
                    "ours": float(mine[what]),
                    "F1 vs truth": float(mine["f1_truth"]),
                    "directed F1": float(mine["directed_f1_truth"]),
                    "SHD": float(mine["shd_truth"]),
                    "F1 vs PC": float(mine["f1_pc"]),
                    "claimed ε": float(mine["claimed_epsilon"]),
                    "defended ε": float(mine["spent_epsilon"]),
                }
            )
    return pd.DataFrame(rows)


def dots(
    table: pd.DataFrame,
    networks: Sequence[str],
    left: str,
    right: str,
    what: str,
    y_log: bool = False,
) -> str:
    """A panel an algorithm: the paper's numbers and ours as dots over the networks."""
    panels = []
    names = list(networks)
    for title in dict.fromkeys(table["algorithm"]):
        part = table[table["algorithm"] == title]
        at = [float(names.index(n)) for n in part["network"]]
        series = [
            Series("paper", at, list(part[left]), COLOURS[1], marks=True),
            Series("ours", at, list(part[right]), COLOURS[0], marks=True),
        ]
        short = [n[:6] for n in names]
        panels.append(Panel(title, series, "", what, y_log=y_log, names=short))
    return chart(panels, f"{what[0].upper()}{what[1:]}: the paper's and ours", columns=3)
