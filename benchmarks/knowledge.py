"""The gain from knowledge: ``python -m benchmarks.knowledge [--run] [--seeds N] [--n N]``.

With ``--run`` every algorithm learns ten networks with no, two-tier, four-tier and complete
knowledge, all true, and with one tier that is false (a cause and an effect change places), against
epsilon; a network's means join benchmarks/results/knowledge.csv when it is finished. The tables of
research/knowledge.md and research/pictures/knowledge.svg are written from that file.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from benchmarks.written import put
from engine import load_dataset, run
from engine.data.dataset import Dataset
from engine.graphs.cpdag import Adjacency, matrix_of
from engine.graphs.known import Known, ready_sets
from engine.graphs.metrics import compare
from engine.knowledge import ORIENTS, Knowledge
from engine.percent import percent
from engine.registry import ALGORITHMS
from engine.studies.figures import Panel, Series, chart

KEPT = Path(__file__).parent / "results" / "knowledge.csv"
ROOT = Path(__file__).resolve().parent.parent
DOC, PICTURE = ROOT / "research" / "knowledge.md", ROOT / "research" / "pictures" / "knowledge.svg"
OURS = "marginal_pc"
NETWORKS = ("cancer", "earthquake", "asia", "survey", "sachs", "child", "insurance", "alarm",
            "water", "win95pts")  # fmt: skip
EPSILONS = (0.1, 1.0, 10.0)
SEEDS, FEWER = 10, {"child": 5, "insurance": 2, "alarm": 2, "water": 2, "win95pts": 2}
NONE, FALSE, FALSE_ORIENTS = "none", "one false", "one false, only orients"
NAMES = {NONE: "nothing"}


def levels_of(truth: nx.DiGraph) -> dict[str, Knowledge | None]:
    """Return knowledge by its name: none, true sets, and two tiers with one pair exchanged."""
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


def study(data: Dataset, seeds: int) -> pd.DataFrame:
    """A row a run of every algorithm and kind of knowledge on one network."""
    assert data.truth is not None
    dag, rows = matrix_of(data.truth, data.names), []
    for name, known in levels_of(data.truth).items():
        for key, chosen in ALGORITHMS.items():
            if chosen.columns is not None or chosen.chooses:
                continue
            for epsilon in EPSILONS if chosen.private else (math.inf,):
                values: dict[str, Any] = {"epsilon": epsilon} if chosen.private else {}
                for seed in range(seeds if chosen.private else 1):
                    found = run(key, data, seed=seed, trace=False, knowledge=known, **values)
                    links = found.matrix | found.matrix.T
                    alone = links if known is None else Known(known, data.names).turned(links)
                    right, wrong = arrows_of(found.matrix, dag)
                    assert found.metrics_all is not None
                    rows.append({
                        "dataset": data.name, "algorithm": key, "epsilon": epsilon,
                        "knowledge": name, "seed": seed,
                        "skeleton_f1": found.metrics_all.skeleton_f1,
                        "directed_f1": found.metrics_all.directed_f1,
                        "directed_dag": against_dag(found.matrix, dag),
                        "alone_dag": against_dag(alone, dag),
                        "arrows_right": right, "arrows_wrong": wrong,
                        "ci_tests": found.ci_tests,
                    })  # fmt: skip
    return pd.DataFrame(rows)


def by_network(runs: pd.DataFrame) -> pd.DataFrame:
    """Means over the seeds, one row a network and kind of run; ``runs`` says how many they are."""
    groups = runs.groupby(["dataset", "algorithm", "epsilon", "knowledge"], sort=False)
    means = groups.mean(numeric_only=True).drop(columns="seed")
    means.insert(0, "runs", groups.size())
    return means.reset_index()


def summary(means: pd.DataFrame) -> pd.DataFrame:
    """Return one row per algorithm, epsilon and kind of knowledge: scores and their gains."""
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
    """F1 against epsilon, two panels per algorithm, one line per kind of knowledge."""
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
                series.append(Series(level, *points, style=k))
            panels.append(Panel(f"{ALGORITHMS[key].title}: {title}", series, "total ε", "F1",
                                y_range=(0.0, 1.05)))  # fmt: skip
    return chart(panels, "What is known, and F1 against the true graph")


def kept() -> pd.DataFrame:
    """Means over the seeds, one row a network, algorithm, epsilon and kind of knowledge."""
    return pd.read_csv(KEPT)


def joined(before: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """The means with those of a study in the place of the same algorithms' on its networks."""
    key = ["dataset", "algorithm"]
    replaced = before.set_index(key).index.isin(found.set_index(key).index)
    both = pd.concat([before[~replaced], found])
    places = {name: place for place, name in enumerate(NETWORKS)}
    return both.sort_values("dataset", key=lambda names: names.map(places), kind="stable")


def ours(means: pd.DataFrame) -> Iterator[str]:
    """Marginal PC over all networks, one row an epsilon and kind of knowledge."""
    table = summary(means[means["algorithm"] == OURS]).drop(columns="algorithm")
    table["knowledge"] = table["knowledge"].replace(NAMES)
    yield _line(["ε", "known", "skeleton F1", "change", "directed F1", "change", "alone",
                 "wrong arrows", "tests"])  # fmt: skip
    yield _rule(9)
    for row in table.sort_values("ε", kind="stable").itertuples(index=False):
        yield _line([f"{row[0]:g}", *row[1:]])


def others(means: pd.DataFrame) -> Iterator[str]:
    """The other algorithms at epsilon 1 or without privacy: without knowledge, and the gains."""
    table = summary(means[means["epsilon"].isin([1.0, np.inf]) & (means["algorithm"] != OURS)])
    kinds = [
        kind for kind in dict.fromkeys(table["knowledge"]) if kind not in (NONE, FALSE_ORIENTS)
    ]
    true = [kind for kind in kinds if kind != FALSE]
    yield _line(["algorithm", "skeleton F1, nothing known", *true,
                 "directed F1, nothing known", *kinds])  # fmt: skip
    yield _rule(3 + len(true) + len(kinds))
    for key, part in table.groupby("algorithm", sort=False):
        here = part.set_index("knowledge")
        yield _line([f"`{key}`", here["skeleton"][NONE], *here["Δ skeleton"][true],
                     here["directed"][NONE], *here["Δ directed"][kinds]])  # fmt: skip


def networks(means: pd.DataFrame) -> Iterator[str]:
    """Marginal PC at epsilon 1 on each network, and how many runs each number rests on."""
    some = means[(means["algorithm"] == OURS) & (means["epsilon"] == 1.0)]
    kinds = list(dict.fromkeys(some["knowledge"]))
    titles = [NAMES.get(kind, kind) for kind in kinds]
    yield _line(["network", "runs each", "skeleton F1 / directed F1: " + titles[0], *titles[1:]])
    yield _rule(2 + len(kinds))
    for name, part in some.groupby("dataset", sort=False):
        here = part.set_index("knowledge")
        cells = [f"{here['skeleton_f1'][k]:.2f} / {here['directed_dag'][k]:.2f}" for k in kinds]
        counts = sorted(set(means[means["dataset"] == name]["runs"]))
        yield _line([name, ", ".join(map(str, counts)), *cells])


def words(means: pd.DataFrame) -> Iterator[str]:
    """Yield the same in sentences: gain from true knowledge, saved tests, and one false tier."""
    mine = means[means["algorithm"] == OURS]
    table = summary(mine).set_index(["ε", "knowledge"])
    numbers = mine.groupby(["knowledge", "epsilon"])[["skeleton_f1", "ci_tests"]].mean()
    two, four, order = "two tiers", "four tiers", "complete order"
    low, middle = mine["epsilon"].min(), 1.0

    def said(epsilon: float, kind: str, column: str) -> str:
        return str(table.loc[(epsilon, kind), column])

    def wrong(epsilon: float, kind: str) -> str:
        return f"{100 * float(said(epsilon, kind, 'wrong arrows')):.0f}"

    def spared(kind: str) -> str:
        tests = numbers["ci_tests"]
        return percent(1 - tests[kind][middle] / tests[NONE][middle])

    def moved(kind: str) -> str:
        gained = numbers["skeleton_f1"][kind] - numbers["skeleton_f1"][NONE]
        return f"{gained.min():+.3f} to {gained.max():+.3f}"

    yield (
        f"- *True knowledge.* At ε = {low:g} two tiers bring directed F1 from "
        f"{said(low, NONE, 'directed')} to {said(low, two, 'directed')} (alone "
        f"{said(low, two, 'alone')}), four to {said(low, four, 'directed')} (alone "
        f"{said(low, four, 'alone')}); ε = {middle:g} without any brings "
        f"{said(middle, NONE, 'directed')}. Of 100 arrows on true links {wrong(low, NONE)} are "
        f"wrong at ε = {low:g} without tiers, and {wrong(low, two)} with two."
    )
    yield (
        f"- *Links and tests.* Two tiers change the skeleton's F1 by {moved(two)} over the three "
        f"budgets, a complete order by {moved(order)}; at ε = {middle:g} they spare "
        f"{spared(two)} and {spared(order)} of the tests."
    )
    yield (
        f"- **One false tier** at ε = {middle:g}: skeleton F1 {said(middle, FALSE, 'Δ skeleton')}"
        f", directed F1 {said(middle, FALSE, 'Δ directed')}, where two true ones give "
        f"{said(middle, two, 'Δ skeleton')} and {said(middle, two, 'Δ directed')}. Where knowledge "
        f"only orients no link is lost, and of 100 arrows {wrong(middle, FALSE_ORIENTS)} are wrong "
        f"({wrong(middle, FALSE)} where it is used in full, {wrong(middle, NONE)} without tiers)."
    )


TABLES = {
    "knowledge: ours": ours,
    "knowledge: others": others,
    "knowledge: networks": networks,
    "knowledge: words": words,
}


def written(mark: str, means: pd.DataFrame) -> str:
    """Return the text under a mark of the document."""
    return "\n".join(TABLES[mark](means))


def _line(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _rule(columns: int) -> str:
    return "|" + "---|" * columns


def main() -> None:
    """Measure and keep, if asked to; write tables and picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", action="store_true", help="measure again")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--n", type=int, default=100_000)
    options = parser.parse_args()
    for name in NETWORKS if options.run else ():
        data = load_dataset(name, n=options.n)
        found = by_network(study(data, options.seeds or FEWER.get(name, SEEDS)))
        joined(kept(), found).to_csv(KEPT, index=False, float_format="%.6g")
    means = kept()
    for mark in TABLES:
        put(DOC, mark, written(mark, means))
    PICTURE.write_text(picture(means), encoding="utf-8")


if __name__ == "__main__":
    main()
