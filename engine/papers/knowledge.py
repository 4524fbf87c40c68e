"""What background knowledge is worth: ``python -m engine reproduce knowledge --out DIR``.

No, two-tier, four-tier and complete knowledge, all true, and one tier that is false (a cause and an
effect change places), with every algorithm on ten networks, against epsilon. Every network is
finished before the next, and the tables are written anew after each: what was reached stays.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from engine.data.dataset import Dataset
from engine.graphs.cpdag import Adjacency, matrix_of
from engine.graphs.known import Known, ready_sets
from engine.graphs.metrics import compare
from engine.knowledge import ORIENTS, Knowledge
from engine.papers.report import Work
from engine.registry import ALGORITHMS
from engine.studies.figures import COLOURS, DASHES, Panel, Series, chart
from engine.studies.trial import TrialResult, knowing

NETWORKS = ("cancer", "earthquake", "asia", "survey", "sachs", "child", "insurance", "alarm",
            "water", "win95pts")  # fmt: skip
EPSILONS = (0.1, 1.0, 10.0)
SEEDS, FEWER = 10, {"child": 5, "insurance": 2, "alarm": 2, "water": 2, "win95pts": 2}
NONE, FALSE, FALSE_ORIENTS = "none", "one false", "one false, only orients"


def levels_of(truth: nx.DiGraph) -> dict[str, Knowledge | None]:
    """What is known, by its name: nothing, true sets, and two tiers with one pair changed over."""
    ready = ready_sets(truth)
    false = _changed_over(ready["two tiers"], truth)
    return {NONE: None, **ready, FALSE: false,
            FALSE_ORIENTS: Knowledge(tiers=false.tiers, use=ORIENTS)}  # fmt: skip


def _changed_over(known: Knowledge, truth: nx.DiGraph) -> Knowledge:
    """The first arrow from one tier to the other with its ends in each other's tiers."""
    early, late = known.tiers
    a, b = next((a, b) for a, b in truth.edges if a in early and b in late)
    return Knowledge(
        tiers=[[b if n == a else n for n in early], [a if n == b else n for n in late]]  # type: ignore[arg-type]
    )


def against_dag(cpdag: Adjacency, dag: Adjacency) -> float:
    """Directed F1 against the true graph with all its arrows: an open link is not right."""
    return compare(cpdag, dag).directed_f1


def arrows_of(cpdag: Adjacency, dag: Adjacency) -> tuple[int, int]:
    """How many arrows on links that are truly there point the right way, and the wrong way."""
    arrows = cpdag & ~cpdag.T
    return int((arrows & dag).sum()), int((arrows & dag.T).sum())


def knowledge_study(work: Work) -> None:
    """The tables and the picture; see the module."""
    keys = [key for key, a in ALGORITHMS.items() if a.columns is None and not a.chooses]
    rows: list[dict[str, Any]] = []
    for data in work.data(NETWORKS):
        assert data.truth is not None
        for name, known in levels_of(data.truth).items():
            told = knowing(data, known)
            for private in (True, False):
                some = [k for k in keys if ALGORITHMS[k].private == private]
                grid: Mapping[str, Any] = {"epsilon": EPSILONS} if private else {}
                seeds = FEWER.get(data.name, SEEDS)
                rows += [_row(cell, told, name) for cell in work.study([told], some, grid, seeds)]
        _written(work, pd.DataFrame(rows))


def _row(cell: TrialResult, data: Dataset, level: str) -> dict[str, Any]:
    """One run: its scores, and what knowledge alone makes of its links."""
    assert data.truth is not None
    dag = matrix_of(data.truth, data.names)
    found = matrix_of(nx.DiGraph(list(cell.cpdag)), data.names)
    links = found | found.T
    known = data.schema.knowledge if data.schema is not None else None
    alone = links if known is None else Known(known, data.names).turned(links)
    epsilon = json.loads(cell.params).get("epsilon", math.inf)
    right, wrong = arrows_of(found, dag)
    return {
        "dataset": cell.dataset,
        "algorithm": cell.algorithm,
        "epsilon": epsilon,
        "knowledge": level,
        "seed": cell.seed,
        "skeleton_f1": cell.skeleton_f1,
        "directed_f1": cell.directed_f1,
        "directed_dag": against_dag(found, dag),
        "alone_dag": against_dag(alone, dag),
        "arrows_right": right,
        "arrows_wrong": wrong,
        "ci_tests": cell.ci_tests,
    }


def by_network(runs: pd.DataFrame) -> pd.DataFrame:
    """Means over the seeds, one row a network and kind of run; ``runs`` says how many they are."""
    groups = runs.groupby(["dataset", "algorithm", "epsilon", "knowledge"], sort=False)
    means = groups.mean(numeric_only=True).drop(columns="seed")
    means.insert(0, "runs", groups.size())
    return means.reset_index()


def _written(work: Work, runs: pd.DataFrame) -> None:
    """Runs, the table of means over networks, the table by network, the picture."""
    work.written.clear()
    work.write("knowledge-runs.csv", runs.to_csv(index=False))
    means = by_network(runs)
    counts = means.groupby("dataset", sort=False)["runs"].max()
    drawn = ", ".join(f"{name} ({count})" for name, count in counts.items())
    notes = [
        f"Networks, and noise seeds on one sample of each: {drawn}; n = {work.n:,}, strict "
        "guarantees. Means over networks.",
        "± is the standard error over networks of the difference to no knowledge.",
        "Directed F1 is against the true graph with all its arrows; 'alone' keeps the links that "
        "were found and no arrows but those that knowledge decides. 'Wrong arrows' is the share of "
        "arrows on true links that point the other way.",
        "'One false': of two true tiers, the ends of one arrow between them change places.",
    ]
    work.write_table("knowledge", summary(means), "What knowledge is worth", notes)
    work.write("knowledge-networks.csv", means.to_csv(index=False))
    work.write("knowledge.svg", picture(means))


def summary(means: pd.DataFrame) -> pd.DataFrame:
    """One row an algorithm, epsilon and kind of knowledge: scores, and what they gain."""
    wrong = means["arrows_wrong"] / (means["arrows_right"] + means["arrows_wrong"])
    indexed = means.assign(wrong=wrong).set_index(["algorithm", "epsilon", "knowledge", "dataset"])
    rows = []
    for (key, epsilon), part in indexed.groupby(level=[0, 1], sort=False):
        free = part.xs(NONE, level="knowledge").reset_index(level=[0, 1], drop=True)
        for level, some in part.groupby(level=2, sort=False):
            here = some.reset_index(level=[0, 1, 2], drop=True)
            row: dict[str, Any] = {"algorithm": key, "ε": epsilon, "knowledge": str(level)}
            for score, title in (("skeleton_f1", "skeleton"), ("directed_dag", "directed")):
                row[title] = f"{here[score].mean():.3f}"
                row[f"Δ {title}"] = _gain(here[score] - free[score]) if str(level) != NONE else "–"
            row["alone"] = f"{here['alone_dag'].mean():.3f}"
            row["wrong arrows"] = _share(here["wrong"].mean())
            row["tests"] = f"{here['ci_tests'].mean():,.0f}"
            rows.append(row)
    return pd.DataFrame(rows)


def _share(mean: float) -> str:
    return "–" if math.isnan(mean) else f"{mean:.3f}" if mean else "0"


def _gain(change: pd.Series) -> str:
    error = "" if len(change) < 2 else f" ± {change.std(ddof=1) / math.sqrt(len(change)):.3f}"
    return f"{change.mean():+.3f}{error}"


def picture(means: pd.DataFrame) -> str:
    """F1 against epsilon, two panels an algorithm, a line a kind of knowledge."""
    private = means[np.isfinite(means["epsilon"])]
    levels: Sequence[str] = [name for name in dict.fromkeys(means["knowledge"])
                             if name != FALSE_ORIENTS]  # fmt: skip
    panels = []
    for key in dict.fromkeys(private["algorithm"]):
        for score, title in (("skeleton_f1", "skeleton F1"), ("directed_dag", "directed F1")):
            series = []
            for k, level in enumerate(levels):
                here = private[(private["algorithm"] == key) & (private["knowledge"] == level)]
                line = here.groupby("epsilon")[score].mean()
                points = list(map(float, line.index)), list(map(float, line))
                series.append(Series(level, *points, COLOURS[k], DASHES[k % len(DASHES)]))
            panels.append(Panel(f"{ALGORITHMS[key].title}: {title}", series, "total ε", "F1",
                                y_range=(0.0, 1.05)))  # fmt: skip
    return chart(panels, "What is known, and F1 against the true graph")
