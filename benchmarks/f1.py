"""F1 over noise and samples, ours and its peers: ``python -m benchmarks.f1``.

Run i reads sample FIRST + i of the network, 100,000 rows on which no setting was chosen, with noise
seed i; "nothing like asia" is independent columns of Asia's shape, where the SHD of a run counts
its false positives. Runs are kept in benchmarks/results/f1.jsonl, one cell per line, and a cell
that is kept with as many runs is not run again. The last step writes the tables of
research/theory/marginal_pc.md and score_based.md; ``--tables`` does that alone, ``--datasets`` and
``--columns`` choose the cells.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from benchmarks.kept import keep, lines
from benchmarks.rivals import RIVALS
from benchmarks.utility import ADDED, DELTA, REPLACED, SMALL, peer, published
from benchmarks.written import put
from engine import load_dataset, run
from engine.data.dataset import Dataset
from engine.graphs.known import truth_cpdag
from engine.graphs.metrics import Scores, compare
from engine.marginals.citest import NoisyTests
from engine.privacy.accounting import Guarantee
from engine.studies.detectability import Shape

KEPT = Path(__file__).parent / "results" / "f1.jsonl"
RESEARCH = Path(__file__).resolve().parent.parent / "research"
ROWS, FIRST = 100_000, 2_000
MIDDLE, WIDE = ("child", "insurance", "alarm"), ("win95pts", "hailfinder")
UNRULED = "marginal_pc_all"  # Marginal PC in which every pair is seen
TESTING = ("curate_pc", "em_pc", "gauss_pc", "priv_pc", "svt_pc")  # strict, and as published
CLAIMED = {f"{key} published": key for key in TESTING}
COLUMNS: dict[str, tuple[str, dict[str, Any]]] = {
    "pc_vote": ("pc", {"statistic": "g2"}),
    "pc_weighed": (
        "pc",
        {"statistic": "g2", "orientation": "strongest", "stable": True, "max_order": 3},
    ),
    "notears": ("notears", {}),
    "marginal_pc": ("marginal_pc", {}),
    UNRULED: ("marginal_pc", {}),
    "gram_notears": ("gram_notears", {}),
    "noleaks": ("noleaks", {}),
    "curate": ("curate_notears", {}),
    "curate_rising": ("curate_notears", {"increment": "rising"}),
    "curate_published": ("curate_notears", {"guarantee": "published"}),
    **{key: (key, {"guarantee": "strict"}) for key in TESTING},
}
PEERS = {"mst_half": REPLACED, "mst_whole": ADDED}
BESIDE = (*PEERS, *RIVALS)
NOTHING = "nothing like "
WITHOUT = ("pc_vote", "pc_weighed", "notears")  # privacy
GRADIENTS = ("noleaks", "curate", "curate_rising", "curate_published")

NETWORKS = (*SMALL, *MIDDLE, *WIDE)

Runs = NDArray[np.float64]  # (runs, 3): skeleton F1, directed F1, SHD


class Cell(NamedTuple):
    """An algorithm, a network, and an epsilon (0 without privacy)."""

    column: str
    dataset: str
    epsilon: float


Kept = dict[Cell, Runs]


def runs_of(cell: Cell) -> int:
    """How many runs a cell has: 30 where they take a second at most."""
    if cell.dataset in WIDE:
        return 3
    if cell.column in CLAIMED:  # thirteen runs each, to find the epsilon of a round
        return 20
    if cell.dataset in MIDDLE and cell.column in GRADIENTS:
        return 5
    if cell.dataset.removeprefix(NOTHING) in MIDDLE[1:]:
        return 20 if cell.column in ("marginal_pc", UNRULED, *BESIDE) else 10
    return 30


def grid() -> Iterator[Cell]:
    """All cells, cheap ones first."""
    for dataset in NETWORKS:
        small, wide = dataset in SMALL, dataset in WIDE  # in wide ones PC takes minutes
        for column in () if wide else WITHOUT:
            yield Cell(column, dataset, 0.0)
        ruled = ("marginal_pc",) if wide else ("marginal_pc", UNRULED)
        for column, epsilon in product(ruled, (0.1, 1.0)):
            yield Cell(column, dataset, epsilon)
        if not wide:
            yield Cell("marginal_pc", dataset, 10.0)
        few = dataset in SMALL[:-1]  # cells, for the whole table
        others = () if wide else BESIDE if few else [c for c in BESIDE if c != "flat"]
        for column, epsilon in product(others, (0.1, 1.0)):
            yield Cell(column, dataset, epsilon)
            yield Cell(column, NOTHING + dataset, epsilon)
        for epsilon in (0.1, 1.0) if others else ():
            yield Cell("marginal_pc", NOTHING + dataset, epsilon)
        for epsilon in () if wide else (0.01, 0.1, 1.0, 10.0) if small else (0.1, 1.0, 10.0):
            for column in ("gram_notears", *GRADIENTS):
                yield Cell(column, dataset, epsilon)
        if small:
            for column, epsilon in product((*TESTING, *CLAIMED), (0.1, 1.0, 10.0)):
                yield Cell(column, dataset, epsilon)


@lru_cache(maxsize=30)
def sample(dataset: str, number: int) -> Dataset:
    """The rows of a run."""
    if dataset.startswith(NOTHING):
        return Shape.of(sample(dataset.removeprefix(NOTHING), 0)).independent(number)
    return load_dataset(dataset, n=ROWS, seed=FIRST + number)


def everything(tests: NoisyTests) -> NDArray[np.bool_]:
    """In the place of NoisyTests.seen: all pairs."""
    return np.triu(np.ones((tests.d, tests.d), dtype=bool), 1)


def one(cell: Cell, number: int) -> Scores:
    """The scores of a run of a cell."""
    return scores(cell.column, sample(cell.dataset, number), cell.epsilon, number)


def scores(column: str, data: Dataset, epsilon: float, seed: int) -> Scores:
    """The scores of a column's run on a dataset with a known truth."""
    if column in RIVALS:
        found = RIVALS[column](data, Guarantee(epsilon, DELTA), seed)
        assert found is not None
        assert data.truth is not None
        return compare(found, truth_cpdag(data.truth, data.names))
    if column in PEERS:
        made = peer(PEERS[column], "mst", data, epsilon, seed)
        result = None if made is None else made[0]
    elif column in CLAIMED:
        result = published(CLAIMED[column], data, epsilon, seed)
    else:
        key, options = COLUMNS[column]
        budget = {"epsilon": epsilon, "delta": DELTA, "seed": seed}
        values: dict[str, Any] = options if column in WITHOUT else budget | options
        seen = everything if column == UNRULED else NoisyTests.seen
        with mock.patch.object(NoisyTests, "seen", seen):
            result = run(key, data, trace=False, **values)
    assert result is not None
    assert result.metrics_all is not None
    return result.metrics_all


def measure(cell: Cell) -> Runs:
    """Run a cell and keep it."""
    found = [one(cell, i) for i in range(runs_of(cell))]
    rows = [[round(m.skeleton_f1, 4), round(m.directed_f1, 4), m.shd] for m in found]
    keep(KEPT, {"cell": cell, "runs": rows})
    print(*cell, said(np.array(rows)), flush=True)
    return np.array(rows)


def kept() -> Kept:
    """The cells that were run."""
    return {Cell(*line["cell"]): np.array(line["runs"], dtype=float) for line in lines(KEPT)}


def mean_and_error(values: NDArray[np.float64], sign: str = "") -> str:
    """``.951 ± .004``: the mean over runs and its standard error."""
    error = values.std(ddof=1) / math.sqrt(len(values))
    if not values.any():
        return "0"
    said = f"{values.mean():{sign}.3f} ± {error:.3f}" if error else f"{values.mean():{sign}.3f}"
    return said.replace("0.", ".").replace("-", "−")


def said(runs: Runs, sign: str = "") -> str:
    """Skeleton / directed F1."""
    return " / ".join(mean_and_error(runs[:, i], sign) for i in range(2))


def with_shd(runs: Runs) -> str:
    """Skeleton / directed F1, and the mean of the third."""
    return f"{said(runs)}, {runs[:, 2].mean():.1f}"


def table(
    found: Kept,
    heads: Sequence[str],
    columns: Sequence[tuple[str, float | None]],
    *,
    networks: Sequence[str] = NETWORKS,
    epsilons: Sequence[float] = (),
    write: Callable[[Runs], str] = said,
) -> str:
    """A line for each network, or each network and epsilon; a column without one has the line's.

    Lines of which nothing was run are left out, a dash stands for a cell that was not.
    """
    firsts = ("", "ε") if epsilons else ("",)
    lines = ["| " + " | ".join((*firsts, *heads, "runs")) + " |"]
    lines.append("|---" * (len(firsts) + len(heads) + 1) + "|")
    for name, epsilon in product(networks, epsilons or (0.0,)):
        cells = [Cell(c, name, epsilon if of is None else of) for c, of in columns]
        some = [found[c] for c in cells if c in found and (c.epsilon or not epsilons)]
        if some:
            counts = sorted({len(runs) for runs in some}, reverse=True)
            texts = [write(found[c]) if c in found else "–" for c in cells]
            label = (name.capitalize(), f"{epsilon:g}") if epsilons else (name.capitalize(),)
            lines.append("| " + " | ".join((*label, *texts, ", ".join(map(str, counts)))) + " |")
    return "\n".join(lines)


def measured(found: Kept) -> str:
    """Marginal PC and PC without privacy."""
    ours = [("marginal_pc", epsilon) for epsilon in (10.0, 1.0, 0.1)]
    columns = (("pc_vote", 0.0), ("pc_weighed", 0.0), *ours)
    heads = ("PC, vote", "PC, weighed", "ε = 10", "ε = 1", "ε = .1")
    return table(found, heads, columns, write=with_shd)


def beside_peers(found: Kept) -> str:
    """Marginal PC and peers, with each one's false links on independent data."""
    columns = [(c, None) for c in ("marginal_pc", *BESIDE)]
    heads = ("marginal_pc", "MST, half ε", "MST, whole ε", "Chow–Liu", "PrivBayes", "flat table")
    both = {}
    for cell, runs in found.items():
        nothing = found.get(cell._replace(dataset=NOTHING + cell.dataset))
        if nothing is not None:
            links = np.full(len(runs), nothing[:, 2].mean())
            both[cell] = np.column_stack([runs[:, :2], links])
    return table(
        both, heads, columns, networks=(*SMALL, *MIDDLE), epsilons=(0.1, 1.0), write=with_shd
    )


def of_the_rule(found: Kept) -> str:
    """Return the cost of the rule that a pair must be seen: runs without it and with it, paired."""
    lines = ["| | ε | without the rule | with it | change | runs |", "|---" * 6 + "|"]
    for name, epsilon in product((*SMALL, *MIDDLE), (0.1, 1.0)):
        cells = Cell(UNRULED, name, epsilon), Cell("marginal_pc", name, epsilon)
        if all(c in found for c in cells):
            before, after = (found[c] for c in cells)
            before, after = before[: len(after)], after[: len(before)]
            texts = (said(before), said(after), said(after - before, "+"), str(len(after)))
            lines.append(f"| {name.capitalize()} | {epsilon:g} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def beside_published(found: Kept) -> str:
    """Marginal PC and the published constraint-based systems."""
    columns = [(c, None) for c in ("marginal_pc", *TESTING, *CLAIMED)]
    heads = ("marginal_pc", *(f"{key} strict" for key in TESTING), *CLAIMED)
    return table(found, heads, columns, networks=SMALL, epsilons=(0.1, 1.0, 10.0))


def score_based(found: Kept) -> str:
    """Gram-NOTEARS and the gradient methods."""
    columns = [("notears", 0.0), *((c, None) for c in ("gram_notears", *GRADIENTS))]
    heads = ("NOTEARS", "gram_notears", "noleaks", "curate (multiplicative)", "curate (rising)",
             "curate published, claimed ε")  # fmt: skip
    networks, epsilons = (*SMALL, *MIDDLE), (0.01, 0.1, 1.0, 10.0)
    return table(found, heads, columns, networks=networks, epsilons=epsilons)


TABLES: dict[str, tuple[str, Callable[[Kept], str]]] = {
    "benchmarks.f1 measured": ("theory/marginal_pc.md", measured),
    "benchmarks.f1 rule": ("marginal_pc.md", of_the_rule),
    "benchmarks.f1 mst": ("marginal_pc.md", beside_peers),
    "benchmarks.f1 published": ("marginal_pc.md", beside_published),
    "benchmarks.f1": ("score_based.md", score_based),
}


def main() -> None:
    """Run the missing cells, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default="")
    parser.add_argument("--columns", default="")
    parser.add_argument("--tables", action="store_true")
    options = parser.parse_args()
    datasets, columns = (
        set(filter(None, text.split(","))) for text in (options.datasets, options.columns)
    )
    done = kept()
    for cell in () if options.tables else grid():
        asked = not datasets or cell.dataset.removeprefix(NOTHING) in datasets
        asked = asked and (not columns or cell.column in columns)
        if asked and len(done.get(cell, ())) < runs_of(cell):
            measure(cell)
    for mark, (name, write) in TABLES.items():
        put(RESEARCH / name, mark, write(kept()))


if __name__ == "__main__":
    main()
