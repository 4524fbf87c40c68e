"""The tables and the picture of what knowledge is worth: ``python -m benchmarks.knowledge [DIR]``.

DIR is where ``python -m engine reproduce knowledge --out DIR`` wrote. Its means by network
join those in benchmarks/results/knowledge.csv, from which the tables of
docs/research/knowledge.md and docs/pictures/knowledge.svg are written; without DIR they are
written anew from what is kept.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.written import put
from engine.papers.knowledge import (
    FALSE,
    FALSE_ORIENTS,
    NETWORKS,
    NONE,
    by_network,
    picture,
    summary,
)
from engine.percent import percent

KEPT = Path(__file__).parent / "results" / "knowledge.csv"
DOCS = Path(__file__).resolve().parent.parent / "docs"
DOC, PICTURE = DOCS / "research" / "knowledge.md", DOCS / "pictures" / "knowledge.svg"
OURS = "marginal_pc"
NAMES = {NONE: "nothing"}


def kept() -> pd.DataFrame:
    """Means over the seeds, one row a network, algorithm, epsilon and kind of knowledge."""
    return pd.read_csv(KEPT)


def joined(before: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """The means with those of a study in the place of the same algorithms' on its networks."""
    key = ["dataset", "algorithm"]
    anew = before.set_index(key).index.isin(found.set_index(key).index)
    both = pd.concat([before[~anew], found])
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
    """The same in sentences: what true knowledge is worth, what it spares, and one false tier."""
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
    """What stands under a mark of the document."""
    return "\n".join(TABLES[mark](means))


def _line(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _rule(columns: int) -> str:
    return "|" + "---|" * columns


def main() -> None:
    """Keep what a study found, if one is named; write tables and picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", metavar="DIR", nargs="?", type=Path)
    folder = parser.parse_args().folder
    if folder is not None:
        found = by_network(pd.read_csv(folder / "knowledge-runs.csv"))
        joined(kept(), found).to_csv(KEPT, index=False, float_format="%.6g")
    means = kept()
    for mark in TABLES:
        put(DOC, mark, written(mark, means))
    PICTURE.write_text(picture(means), encoding="utf-8")


if __name__ == "__main__":
    main()
