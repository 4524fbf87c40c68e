"""CURATE (Bhattacharjee and Tandon 2024): figures 3 and 4, tables 5, 6 and 7."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from engine.papers import published as papers
from engine.papers.table import Row
from engine.papers.work import (
    PER_ROUND,
    Work,
    at_claimed,
    by_network,
    network,
    reference,
    timed,
    write_curves,
)
from engine.registry import ALGORITHMS
from engine.runner import run
from engine.studies.figures import Panel, Series, chart
from engine.theory import affordable_iterations

COMMON = {"guarantee": "published", "delta": 1e-12}
CURATE = {**COMMON, "threshold": 0.05, "subsample": "off"}  # the constraint-based systems
ROUND_EPSILONS = tuple(float(e) for e in np.logspace(-3, 1, 17))  # to find a total by
GRADIENT_EPSILONS = tuple(float(e) for e in np.logspace(-2.5, -0.3, 5))  # NOLEAKS' own range
TOTAL_EPSILONS = (0.1, 1.0, 5.0, 10.0)
STRATA, BETAS = (2, 10, 20), (0.05, 0.2, 0.5)
NETWORKS = papers.CURATE_NETWORKS
ORDER = ", ".join(NETWORKS)


def curate_table5(work: Work) -> list[Row]:
    """Table 5: tests at a total of 1; CURATE over the rows of a stratum and the margins."""
    rows, off = [], {}
    printed = list(papers.CURATE_TABLE5["curate_pc"])
    wanted = [float(count or math.nan) for count in printed]
    for strata in STRATA:
        for beta in BETAS:
            grid = {**CURATE, "epsilon": 1.0, "stratum_rows": strata, "beta1": beta, "beta2": beta}
            runs = work.runs(NETWORKS, "curate_pc", grid)
            tests, error = by_network(runs, "tests", NETWORKS)
            off[strata, beta] = [abs(math.log(a / b)) for a, b in zip(tests, wanted, strict=True)]
            what = f"CURATE, tests at a total of 1, nᵢ = {strata}, β = {beta:g}, 20 seeds: {ORDER}"
            rows.append(Row("CURATE table 5", what, printed, tests, error=error))
    best = [min(off, key=lambda at: off[at][k]) for k in range(len(NETWORKS))]
    fits = ", ".join(f"{n}: {s} and {b:g}" for n, (s, b) in zip(NETWORKS, best, strict=True))
    together = min(off, key=lambda at: max(off[at]))
    rows.append(
        Row("CURATE table 5", "nᵢ of eq. 16 and β", "not given", f"closest by network: {fits}",
            f"Closest on all six: nᵢ = {together[0]}, β = {together[1]:g}, up to "
            f"{math.exp(max(off[together])):.2g} times off. No single pair fits all six; which one "
            "the authors took is not known.", "?")
    )  # fmt: skip
    pc = [reference(name, work.n, 0.05) for name in NETWORKS]
    counted = "The paper's numbers are below the number of pairs, all of which order 0 tests; they "
    rows += [
        Row("CURATE table 5", f"PC, tests: {ORDER}", list(papers.CURATE_TABLE5["pc"]),
            [float(r.ci_tests) for r in pc], counted + "match the deleted edges.", "?"),
        Row("CURATE table 5", f"PC, deleted edges: {ORDER}", list(papers.CURATE_TABLE5["pc"]),
            [float(len(r.separating_sets)) for r in pc], ""),
    ]  # fmt: skip
    for key in PER_ROUND:
        runs = work.runs(NETWORKS, key, {**CURATE, "epsilon": ROUND_EPSILONS})
        near = runs.assign(far=(np.log(runs["claimed"].clip(lower=1e-9))).abs())
        means = near.groupby(["dataset", "epsilon"], as_index=False)[["far", "tests"]].mean()
        tests = [
            float(means[means["dataset"] == name].sort_values("far")["tests"].iloc[0])
            for name in NETWORKS
        ]
        rows.append(
            Row("CURATE table 5", f"{ALGORITHMS[key].title}, tests: {ORDER}",
                list(papers.CURATE_TABLE5[key]), tests,
                "The ε of a round is not given: that of a grid with the claimed total nearest 1, "
                f"{runs['seed'].nunique()} seeds."
                + (" The paper has more than 7,000 on Child." if key == "em_pc" else ""))
        )  # fmt: skip
    return rows


def curate_table6(work: Work) -> list[Row]:
    """Table 6: non-private PC at T = 0.05."""
    found = [reference(name, work.n, 0.05) for name in NETWORKS]
    scores = [r.metrics.skeleton_f1 for r in found if r.metrics]
    return [
        Row("CURATE table 6", f"PC, skeleton F1 vs truth: {ORDER}", list(papers.CURATE_TABLE6),
            scores, "Neither the sample nor the order of levels is given, on which Kendall's τ "
            "depends; one true edge is lost at p just above .05 on Cancer and on Earthquake.")
    ]  # fmt: skip


def curate_table7(work: Work) -> list[Row]:
    """Table 7: seconds of 50 runs."""
    rows, ours = [], {}
    for key, printed in papers.CURATE_TABLE7.items():
        settings = COMMON if key == "curate_notears" else CURATE
        declared = {spec.name for spec in ALGORITHMS[key].params.specs()}
        values: dict[str, Any] = {k: v for k, v in settings.items() if k in declared}
        values["epsilon"] = 1.0 if key.startswith("curate") else 0.1
        seconds = [timed(work, key, values, name, runs=5) for name in NETWORKS]
        ours[key] = [first + 49 * later for first, later in seconds]
        what = f"{ALGORITHMS[key].title}, seconds of 50 runs: {ORDER}"
        rows.append(Row("CURATE table 7", what, list(printed), ours[key]))
    for other in ("priv_pc", "em_pc", "curate_notears"):
        pairs = zip(NETWORKS, ours["curate_pc"], ours[other], strict=True)
        quicker = [name for name, a, b in pairs if a < b]
        theirs = sum(
            a < b for a, b in zip(papers.CURATE_TABLE7["curate_pc"], papers.CURATE_TABLE7[other],
                                  strict=True)
        )  # fmt: skip
        rows.append(
            Row("CURATE table 7", f"CURATE takes less time than {ALGORITHMS[other].title}",
                f"on {theirs} of 6", f"on {len(quicker)} of 6: {', '.join(quicker) or 'none'}",
                "CURATE at a total of 1, the others at ε = 0.1 a round; the paper gives no ε.",
                "=" if len(quicker) == theirs else "≠")
        )  # fmt: skip
    return rows


def curate_figure3(work: Work) -> list[Row]:
    """Figure 3: iterations that a total affords, by Lemma 2."""
    kinds = ("additive", "exponential", "multiplicative")
    starts = tuple(float(e) for e in np.logspace(-3, math.log10(5), 40))
    panels, most = [], []
    for total in (0.1, 1.0, 10.0):
        values = {k: [affordable_iterations(total, e, k) for e in starts] for k in kinds}
        most += [
            start
            for i, start in enumerate(starts)
            if start < min(1.0, total) and values["multiplicative"][i] > values["additive"][i]
        ]
        series = [
            Series(k, starts, [max(v, 0.1) for v in values[k]], style=i)
            for i, k in enumerate(kinds)
        ]
        panels.append(Panel(f"total ε = {total:g}", series, "initial ε0", "iterations", y_log=True))
    title = "CURATE figure 3: iterations that a total affords (Lemma 2)"
    work.write("curate-figure3.svg", chart(panels, title, columns=3))
    below = sum(start < min(1.0, total) for total in (0.1, 1.0, 10.0) for start in starts)
    return [
        Row("CURATE figure 3", "the multiplicative increment affords most iterations for ε₀ < 1",
            "yes", f"at {len(most)} of {below} ε₀ below 1 and the total",
            "It does so because for ε₀ < 1 its schedule ε₀^(1 + i/I) falls: later iterations get "
            "less, against the paper's intent. Ours that rises is the increment 'rising'.",
            "=" if len(most) == below else "≈")
    ]  # fmt: skip


def curate_figure4(work: Work) -> list[Row]:
    """Figure 4: F1 against the total epsilon for every system."""
    grids: dict[str, tuple[dict[str, Any], tuple[float, ...]]] = {
        "curate_pc": (CURATE, TOTAL_EPSILONS),
        **dict.fromkeys(PER_ROUND, (CURATE, ROUND_EPSILONS)),
        "curate_notears": (COMMON, TOTAL_EPSILONS[1:]),
        "noleaks": (COMMON, GRADIENT_EPSILONS),
    }
    runs = {
        key: work.runs(NETWORKS, key, {**settings, "epsilon": epsilons})
        for key, (settings, epsilons) in grids.items()
    }
    every = pd.concat(runs.values())
    write_curves(work, "curate-figure4", every, NETWORKS, "CURATE figure 4: mean F1")
    for strata in STRATA[1:]:
        grid = {**CURATE, "epsilon": TOTAL_EPSILONS, "stratum_rows": strata}
        runs[f"nᵢ = {strata}"] = work.runs(NETWORKS, "curate_pc", grid)
    rows, at_five = [], {}
    for key, table in runs.items():
        title = f"CURATE with {key}" if key not in ALGORITHMS else ALGORITHMS[key].title
        by_total = key.startswith(("curate", "nᵢ"))
        for total in (1.0, 5.0, 10.0):
            some = table[table["epsilon"] == total]
            for column, words in (("f1", "skeleton F1"), ("arcs", "arcs")):
                if by_total:
                    found, error = by_network(some, column, NETWORKS)
                else:
                    found, error = at_claimed(table, total, column, NETWORKS)
                if column == "f1" and total == 5:
                    at_five[title] = found
                seeds = table["seed"].nunique()
                what = f"{title}, {words} vs truth at a total of {total:g}, {seeds} seeds: {ORDER}"
                rows.append(Row("CURATE figure 4", what, "picture", found, mark="?", error=error))
    rows += [_ahead(at_five), _oracle(work)]
    return rows


def _ahead(at_five: dict[str, list[float]]) -> Row:
    """Compare the methods at a total of 5, with CURATE at its best over the strata."""
    lead = []
    for k in range(len(NETWORKS)):
        here = {title: found[k] for title, found in at_five.items() if not math.isnan(found[k])}
        lead.append(max(here, key=lambda title: here[title]))
    return Row(
        "CURATE figure 4", "CURATE is ahead of all others",
        "yes", "; ".join(f"{n}: {t}" for n, t in zip(NETWORKS, lead, strict=True)),
        "Best skeleton F1 vs truth at a total of 5. How far CURATE is behind depends on nᵢ, which "
        "is not given.", "=" if all(t.startswith("CURATE") for t in lead) else "≠",
    )  # fmt: skip


def _oracle(work: Work) -> Row:
    values: dict[str, Any] = {**COMMON, "epsilon": 1.0}
    best = []
    for name, seed in product(NETWORKS, range(work.seeds or 20)):
        if work.cancelled():
            raise KeyboardInterrupt
        result: Any = run("curate_notears", network(name, work.n), seed=seed, **values)
        best.append({"dataset": name, "oracle": result.diagnostics.oracle.f1})
    found, error = by_network(pd.DataFrame(best), "oracle", NETWORKS)
    return Row(
        "CURATE figure 4",
        f"score-based CURATE at a total of 1, the threshold of best F1 in each run: {ORDER}",
        "picture", found,
        "The rows above use a fixed threshold, which no weight of Survey exceeds (0 at all ε). "
        "This one is chosen with the truth; only so is the paper's sentence on Survey true.",
        "†", error,
    )  # fmt: skip
