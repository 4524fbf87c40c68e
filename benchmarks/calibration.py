"""Are confidences frequencies? ``python -m benchmarks.calibration [--fit --networks 252]``.

Marginal PC on random networks (benchmarks.random_networks): of the links it finds with a confidence
in a range, the share that is real; of the arrows it draws on real links, the share that the true
CPDAG has; and P(acts) of every ordered pair against the true graph, on whole tables and with a
quarter of the columns hidden. Answers are kept in benchmarks/results/calibration.json, and
research/marginal_pc.md shows them. ``--acts 20`` only repeats P(acts). ``--fit`` prints the
constants of engine/marginals/confidence.py from other networks.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.random_networks import random_dataset
from benchmarks.written import put
from engine import run
from engine.data.dataset import Dataset
from engine.effects.plausible import plausible
from engine.graphs.cpdag import matrix_of
from engine.graphs.known import truth_cpdag
from engine.graphs.orientation import reachable
from engine.marginals import confidence
from engine.marginals.diagnostics import MarginalDiagnostics

KEPT = Path(__file__).parent / "results" / "calibration.json"
DOC, MARK = (
    Path(__file__).resolve().parent.parent / "research" / "marginal_pc.md",
    "benchmarks.calibration",
)
PICTURE = DOC.parent / "pictures" / "calibration.svg"
SIZES = (5, 8, 12, 20)  # nodes
DENSITY = 1.2  # edges a node, as many as the prior odds expect
ROWS, EPSILONS = (3_000, 20_000, 100_000), (0.1, 1.0)
FITTED, FRESH = 40_000, 50_000  # seeds of the first network
BINS = 10
FEWEST = 50  # links in a range that is judged

Array = NDArray[np.float64]


class Claim(NamedTuple):
    """A link found on a network: its confidence, both arrows', whether it and which is real, drawn.

    ``mark`` and ``drawn`` are 1 for i -> j, -1 for j -> i, 0 for neither.
    """

    network: int
    rows: int
    epsilon: float
    link: float
    there: float
    back: float
    real: bool
    mark: int
    drawn: int


def claims(networks: Iterable[int], first: int) -> Iterator[Claim]:
    """Every link found on these of the networks that are counted from seed ``first`` on."""
    for k, n in product(networks, ROWS):
        d = SIZES[k % len(SIZES)]
        data = random_dataset(d, round(DENSITY * d), first + k, n)
        assert data.truth is not None
        true = truth_cpdag(data.truth, data.names).astype(int)
        for epsilon in EPSILONS:
            result = run("marginal_pc", data, epsilon=epsilon, delta=1e-6, seed=k, trace=False)
            found, drawn = result.diagnostics, result.matrix.astype(int)
            assert isinstance(found, MarginalDiagnostics)
            for (i, j), p in found.edge_confidence.items():
                arrows = found.direction_confidence[i, j], found.direction_confidence[j, i]
                mark = int(true[i, j] - true[j, i])
                yield Claim(
                    k, n, epsilon, p, *arrows, bool(true[i, j] or true[j, i]), mark,
                    int(drawn[i, j] - drawn[j, i]),
                )  # fmt: skip


Told = list[tuple[int, float, bool]]  # network, confidence, whether it is right


def links(found: list[Claim]) -> Told:
    """Every link."""
    return [(c.network, c.link, c.real) for c in found]


def arrows(found: list[Claim]) -> Told:
    """Every arrow drawn on a real link."""
    drawn = [c for c in found if c.real and c.drawn]
    return [(c.network, c.there if c.drawn > 0 else c.back, c.mark == c.drawn) for c in drawn]


def acts(network: int, hidden: bool) -> Iterator[tuple[int, float, Told]]:
    """Rows, epsilon and P(acts) of every ordered pair, by the run's DAGs and in the true one."""
    d = SIZES[network % len(SIZES)]
    for n, epsilon in product(ROWS, EPSILONS):
        data = random_dataset(d, round(DENSITY * d), FRESH + network, n)
        assert data.truth is not None
        left = np.sort(np.random.default_rng(network).permutation(d)[d // 4 if hidden else 0 :])
        names, levels = [data.names[i] for i in left], [data.levels[i] for i in left]
        table = Dataset.from_codes(data.codes[:, left], names, levels, public=True)
        result = run("marginal_pc", table, epsilon=epsilon, delta=1e-6, seed=network, trace=False)
        assert isinstance(result.diagnostics, MarginalDiagnostics)
        dags = plausible(result.diagnostics, result.matrix, None)
        told = np.einsum("k,kij->ij", dags.weights, np.array(dags.ways))
        true = reachable(matrix_of(data.truth, data.names))[np.ix_(left, left)]
        pairs = np.argwhere(~np.eye(len(left), dtype=bool)).tolist()
        yield n, epsilon, [(network, float(told[i, j]), bool(true[i, j])) for i, j in pairs]


def acts_cells(count: int) -> list[dict[str, Any]]:
    """Return the ranges of P(acts) on the first networks, for every number of rows and epsilon."""
    cells = []
    for what, hidden in (("P(acts)", False), ("P(acts), hidden", True)):
        found: dict[tuple[int, float], Told] = {}
        for network in range(count):
            for n, epsilon, told in acts(network, hidden):
                found.setdefault((n, epsilon), []).extend(told)
        cells += [{"what": what, "rows": n, "epsilon": epsilon, "ranges": reliability(told)}
                  for (n, epsilon), told in found.items()]  # fmt: skip
    return cells


def reliability(said: Told) -> list[dict[str, float]]:
    """For every range of a tenth: how many, their mean confidence, and the share that is right.

    The standard error of the share's distance from that mean takes networks, and not links, as
    independent of each other.
    """
    of = np.array(said, dtype=float).reshape(-1, 3)
    place = np.minimum((of[:, 1] * BINS).astype(int), BINS - 1)
    out = []
    for b in range(BINS):
        network, stated, right = of[place == b].T
        if len(stated):
            sums = np.bincount(network.astype(int), right - stated)
            error = math.sqrt(float(np.sum(sums**2))) / len(stated)
            out.append(
                {"from": b / BINS, "count": len(stated), "told": round(stated.mean(), 4),
                 "right": round(right.mean(), 4), "error": round(error, 4)}
            )  # fmt: skip
    return out


def table(kept: dict[str, Any]) -> str:
    """The ranges of more than FEWEST links or arrows."""
    count = f"{kept['networks']} networks, {kept['acts']} for P(acts)"
    lines = [f"| {count} | rows | ε | stated / right (number) |"]
    lines.append("|---|---|---|---|")
    for cell in kept["cells"]:
        some = [r for r in cell["ranges"] if r["count"] > FEWEST]
        said = ", ".join(
            f"{r['told']:.2f} / {r['right']:.2f} ± {r['error']:.2f} ({r['count']})" for r in some
        )
        lines.append(f"| {cell['what']} | {cell['rows']:,} | {cell['epsilon']:g} | {said} |")
    return "\n".join(lines)


def draw(kept: dict[str, Any]) -> None:
    """Plot confidence against frequency into ``PICTURE``: links, arrows and P(acts)."""
    from matplotlib import pyplot, rc_context

    with rc_context({"svg.hashsalt": "calibration", "svg.fonttype": "none", "font.size": 8}):
        whats = list(dict.fromkeys(cell["what"] for cell in kept["cells"]))
        figure, grid = pyplot.subplots(2, 2, figsize=(7, 6), sharey=True, layout="constrained")
        axes = grid.ravel()
        for axis, what in zip(axes, whats, strict=True):
            axis.plot([0, 1], [0, 1], color="0.6", linewidth=1)
            cells = [cell for cell in kept["cells"] if cell["what"] == what]
            for cell, mark in zip(cells, "osDo^v", strict=True):
                some = [r for r in cell["ranges"] if r["count"] > FEWEST]
                told, right, error = ([r[k] for r in some] for k in ("told", "right", "error"))
                label = f"n = {cell['rows']:,}, ε = {cell['epsilon']:g}"
                axis.errorbar(told, right, error, fmt=f"{mark}:", markersize=4, label=label)
            axis.set(title=what[0].upper() + what[1:], xlabel="Stated confidence")
        for axis in grid[:, 0]:
            axis.set_ylabel("Share that was right")
        axes[1].legend(frameon=False)
        figure.savefig(PICTURE, metadata={"Date": None})
        pyplot.close(figure)


class Share(float):
    """A share of the chains with the arguments of confidence.of_arrows it came in."""

    asked: tuple[float, ...]


def share(*asked: float) -> tuple[Share, Share]:
    """In the place of confidence.of_arrows: the shares themselves."""
    out = Share(asked[0]), Share(asked[1])
    out[0].asked = out[1].asked = asked
    return out


def fit(count: int) -> None:
    """Print the constants, from posteriors and shares as they are."""
    with mock.patch.multiple(confidence, of_link=float, of_arrows=share):
        found = list(claims(range(count), FITTED))
    for low, high in pairwise(confidence.POSTERIOR[1:]):
        some = [(c.link, c.real) for c in found if low <= c.link <= high]
        if some:
            mean, right = np.mean(some, axis=0)
            print(f"posterior {mean:.4f}: real {right:.3f} of {len(some)}")
    print(arrow_constants([c for c in found if c.real]))


START = {
    "SLOPE": 0.7, "SLOPE_BY_NOISE": 0.0, "DRAWN": 0.0, "NEITHER": 0.0, "NEITHER_BY_COLUMNS": 0.0,
    "UNDRAWN": 0.0, "WHOLE": 0.0, "LEAST_SHARE": -3.0,
}  # fmt: skip


def arrow_constants(real: list[Claim]) -> dict[str, float]:
    """Maximum likelihood of the marks of real links (LEAST_SHARE is found as its logarithm)."""
    asked = np.array([c.there.asked for c in real if isinstance(c.there, Share)])
    assert len(asked) == len(real)
    marks = np.array([{1: 0, -1: 1, 0: 2}[c.mark] for c in real])

    def named(constants: Array) -> dict[str, float]:
        said = dict(zip(START, constants.tolist(), strict=True))
        return said | {"LEAST_SHARE": math.exp(said["LEAST_SHARE"])}

    def loss(constants: Array) -> float:
        with mock.patch.dict(vars(confidence), named(constants)):
            rates = confidence.of_marks(*asked.T)
        return -float(np.log(rates[np.arange(len(real)), marks]).mean())

    return named(minimize(loss, list(START.values()), method="BFGS").x)


def main() -> None:
    """Run the fresh networks, keep and print the answers; or print the constants."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=100)
    parser.add_argument("--acts", type=int, metavar="NETWORKS")
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    if options.fit:
        return fit(options.networks)
    if options.acts is None:
        found = list(claims(range(options.networks), FRESH))
        answers = {"networks": options.networks, "cells": list(ranges(found))}
    else:
        answers = json.loads(KEPT.read_text(encoding="utf-8"))
    answers["cells"] = [cell for cell in answers["cells"] if cell["what"] in ("links", "arrows")]
    answers["acts"] = options.acts or options.networks
    answers["cells"] += acts_cells(answers["acts"])
    KEPT.write_text(json.dumps(answers, indent=1) + "\n", encoding="utf-8")
    put(DOC, MARK, table(answers))
    draw(answers)


def ranges(found: list[Claim]) -> Iterator[dict[str, Any]]:
    """Yield the ranges for edges and for directions, for every number of rows and epsilon."""
    for n, epsilon in product(ROWS, EPSILONS):
        some = [c for c in found if (c.rows, c.epsilon) == (n, epsilon)]
        for what, said in (("links", links(some)), ("arrows", arrows(some))):
            yield {"what": what, "rows": n, "epsilon": epsilon, "ranges": reliability(said)}


if __name__ == "__main__":
    main()
