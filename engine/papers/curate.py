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
    arc_f1,
    at_claimed,
    authors_list,
    by_network,
    network,
    reference,
    timed,
    with_deviation,
    write_curves,
)
from engine.privacy.budget import PROGRAM, TEXT
from engine.registry import ALGORITHMS
from engine.result import RunResult
from engine.runner import run
from engine.statistics.kendall import KENDALL
from engine.studies.figures import Panel, Series, chart
from engine.theory import affordable_iterations

COMMON = {"guarantee": "published", "delta": 1e-12}
CURATE = {**COMMON, "threshold": 0.05, "subsample": "off"}  # the constraint-based systems
PROGRAM_DELTA = 1e-14
FIGURE4_RUNS, NOLEAKS_RUNS = 50, 10
# claimed totals from below .1 to above 10
ROUND_EPSILONS = tuple(float(e) for e in np.logspace(-3.5, -0.25, 9))
GRADIENT_EPSILONS = tuple(float(e) for e in np.logspace(-2.5, -0.3, 5))  # the range for NOLEAKS
TOTAL_EPSILONS = (0.1, 1.0, 5.0, 10.0)
STRATA = (10, 20)
FIGURE4_TOTALS = (0.1, 5.0, 10.0)  # of part (b)
FIGURE4_SCORES = {"f1": "skeleton F1 vs truth", "arcs_list": "arcs vs the authors' list"}
REASONS4 = {
    "curate_pc": "The program's sensitivity is √2 smaller, and only deletions and answers between "
    "the margins are charged.",
    "em_pc": "The program picks sets by Kendall's p-value at .05.",
    "svt_pc": "The program adds twice the noise to a query.",
    "priv_pc": "The program asks each question from both nodes of a pair.",
    "noleaks": "–: the smallest ε of a gradient, .003, times some 1,000 gradients claims more. The "
    "program claims a twentieth for 5,000 of the 100,000 rows, and chooses the threshold with the "
    "truth. On Earthquake its 50 public rows differ in one column alone, so that the line search "
    "takes no step: 21 gradients, a small claim and an empty graph.",
}
NETWORKS = papers.CURATE_NETWORKS
ORDER = ", ".join(NETWORKS)


def program_count(result: RunResult, d: int) -> float:
    """Return the number of tests that the authors' program prints.

    It counts deletions and answers between the margins, from the first order on, and adds up the
    counts after every order that it enters. The last of these is the order without further tests.
    """
    diagnostics: Any = result.diagnostics
    counts = np.cumsum([order.tests for order in diagnostics.allocation.spent])
    entered = min(len(counts) + (result.status == "complete"), d - 1)
    return float(np.resize(np.append(counts, counts[-1]), entered).sum())


def curate_table5(work: Work) -> list[Row]:
    """Reproduce table 5: tests at a total of 1, as in the text and as the program counts them."""
    values = {**CURATE, "epsilon": 1.0}
    text, error = by_network(work.runs(NETWORKS, "curate_pc", values), "tests", NETWORKS)
    program, program_error = by_network(_program_counts(work, values), "tests", NETWORKS)
    printed = list(papers.CURATE_TABLE5["curate_pc"])
    what = f"CURATE, tests at a total of 1, {work.seeds or 20} seeds: {ORDER}"
    reason = (
        "The program counts deletions and answers between the margins, and adds up the cumulative "
        "counts of the orders: no number of tests. The text's numbers are d(d − 1)/2: the optimum "
        "of problem (3) gives all budget to order 0, so that no conditional question is asked."
    )
    counted = Row("CURATE table 5", what, printed, text, reason, error=error, program=program,
                  program_error=program_error)  # fmt: skip
    rows = [_conditional(work), counted]
    pc, sorted_pc = (
        [float(len(reference(name, work.n, 0.05, form).separating_sets)) for name in NETWORKS]
        for form in (TEXT, PROGRAM)
    )
    rows.append(
        Row("CURATE table 5", f"PC, deleted edges: {ORDER}", list(papers.CURATE_TABLE5["pc"]), pc,
            "The paper's numbers are below the number of pairs, all of which order 0 tests; they "
            "are the deleted edges.", program=sorted_pc)
    )  # fmt: skip
    for key in PER_ROUND:
        runs = _per_round(work, key)
        (program, program_error), (tests, error) = (
            at_claimed(runs[form], 1.0, "tests", NETWORKS) for form in (PROGRAM, TEXT)
        )
        seeds = runs[TEXT]["seed"].nunique()
        rows.append(
            Row("CURATE table 5", f"{ALGORITHMS[key].title}, tests, {seeds} seeds: {ORDER}",
                list(papers.CURATE_TABLE5[key]), tests,
                "The program asks its user for ε of a round and no text says which was typed: "
                "read off the curve at a claimed total of 1. Their sample is not public."
                + (" The paper has more than 7,000 on Child." if key == "em_pc" else ""),
                error=error, program=program, program_error=program_error)
        )  # fmt: skip
    return rows


def _per_round(work: Work, key: str) -> dict[str, pd.DataFrame]:
    """Return both forms' runs of a system with epsilon per round, over :data:`ROUND_EPSILONS`.

    In CURATE's program, EM-PC chooses its sets by Kendall's p-value.
    """
    program = {**CURATE, "delta": PROGRAM_DELTA, "form": PROGRAM}
    if key == "em_pc":
        program["statistic"] = KENDALL.key
    grids = {TEXT: CURATE, PROGRAM: program}
    return {
        form: work.runs(NETWORKS, key, {**grid, "epsilon": ROUND_EPSILONS})
        for form, grid in grids.items()
    }


def _conditional(work: Work) -> Row:
    """Return the row that counts the text-form runs with a conditional test, by total."""
    runs = work.runs(NETWORKS, "curate_pc", {**CURATE, "epsilon": TOTAL_EPSILONS})
    pairs = runs["dataset"].map(lambda name: math.comb(network(name, work.n).d, 2))
    reached = runs.assign(reached=runs["tests"] > pairs).groupby(["epsilon", "dataset"])["reached"]
    counts = reached.sum().unstack()[list(NETWORKS)]
    said = "; ".join(
        f"{total:g}: {', '.join(str(int(k)) for k in row)}" for total, row in counts.iterrows()
    )
    return Row(
        "CURATE problem (3)",
        f"runs of {runs['seed'].nunique()} that ask a conditional question, by total: {ORDER}",
        "–", said,
        "The optimum gives order 0 all budget at the smaller totals. The graph is then that of "
        "unconditional tests, and F1 need not grow with ε.", "†",
    )  # fmt: skip


def _program_counts(work: Work, values: dict[str, Any]) -> pd.DataFrame:
    """Return one row per run of the program's form at its δ′, with the number that it prints."""
    values = {**values, "delta": PROGRAM_DELTA, "form": PROGRAM, "trace": False}
    counts = []
    for name, seed in product(NETWORKS, range(work.seeds or 20)):
        if work.monitor.stopped():
            raise KeyboardInterrupt
        data = network(name, work.n)
        result = run("curate_pc", data, seed=seed, **values)
        counts.append({"dataset": name, "tests": program_count(result, data.d)})
    return pd.DataFrame(counts)


def curate_table6(work: Work) -> list[Row]:
    """Reproduce table 6: non-private PC at T = 0.05."""
    text, program = (
        [r.metrics_all.skeleton_f1 for r in (reference(n, work.n, 0.05, form) for n in NETWORKS)
         if r.metrics_all]
        for form in (TEXT, PROGRAM)
    )  # fmt: skip
    arcs = {
        form: [arc_f1(reference(n, work.n, 0.05, form).matrix, authors_list(n)) for n in NETWORKS]
        for form in (TEXT, PROGRAM)
    }
    return [
        Row("CURATE table 6", f"PC, arcs vs the authors' list: {ORDER}", list(papers.CURATE_TABLE6),
            arcs[TEXT], "The score of the program. Its sample, which is not public, gives PC the "
            "lists' own graphs on Cancer, Earthquake and Survey; ours loses one true edge at p "
            "just above .05 on Cancer and on Earthquake, and finds all six of Survey.",
            program=arcs[PROGRAM]),
        Row("CURATE table 6", f"PC, skeleton F1 vs truth: {ORDER}", list(papers.CURATE_TABLE6),
            text, "The lists have 6 of Asia's 8 edges, 4 of Survey's 6, 13 of Sachs' 17 and 21 of "
            "Child's 25.", program=program),
    ]  # fmt: skip


def curate_table7(work: Work) -> list[Row]:
    """Reproduce table 7: seconds for 50 runs."""
    rows, ours = [], {}
    for key, printed in papers.CURATE_TABLE7.items():
        settings = COMMON if key == "curate_notears" else CURATE
        declared = {spec.name for spec in ALGORITHMS[key].params.specs()}
        values: dict[str, Any] = {k: v for k, v in settings.items() if k in declared}
        values["epsilon"] = 1.0 if key.startswith("curate") else 0.1
        seconds = [timed(work, key, values, name, runs=5) for name in NETWORKS]
        ours[key] = [first + 49 * later for first, later in seconds]
        what = f"{ALGORITHMS[key].title}, seconds of 50 runs: {ORDER}"
        rows.append(
            Row("CURATE table 7", what, list(printed), ours[key],
                "The authors' programs count the rows for every test and gradient.")
        )  # fmt: skip
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
                "CURATE at a total of 1, the others at ε = 0.1 per round; the paper gives no ε.",
                "=" if len(quicker) == theirs else "≠")
        )  # fmt: skip
    return rows


def curate_figure3(work: Work) -> list[Row]:
    """Reproduce figure 3: the number of iterations for a total, by Lemma 2."""
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
    """Reproduce figure 4: F1 against the total epsilon for every system, with deviations."""
    runs = _figure4_runs(work)
    every = [table for key, forms in runs.items() if key in ALGORITHMS for table in forms.values()]
    write_curves(work, "curate-figure4", pd.concat(every), NETWORKS, "CURATE figure 4: mean F1")
    rows, at_five = [], {}
    for key, forms in runs.items():
        title = f"CURATE with {key}" if key not in ALGORITHMS else ALGORITHMS[key].title
        at_five[title] = at_claimed(forms[TEXT], 5.0, "f1", NETWORKS)[0]
        seeds = forms[TEXT]["seed"].nunique()
        for total, (column, words) in product(FIGURE4_TOTALS, FIGURE4_SCORES.items()):
            said = {f: with_deviation(t, total, column, NETWORKS) for f, t in forms.items()}
            rows.append(
                Row("CURATE figure 4",
                    f"{title}, {words} at a total of {total:g}: mean (deviation) of {seeds} runs: "
                    f"{ORDER}", "picture", said[TEXT], REASONS4.get(key, ""), "?",
                    program=said.get(PROGRAM, "–"))
            )  # fmt: skip
    rows += [_ahead(at_five), _oracle(work)]
    return rows


def _figure4_runs(work: Work) -> dict[str, dict[str, pd.DataFrame]]:
    """Return every system's runs by form. If epsilon is the total, it is also the Claimed ε."""
    text = {**CURATE, "epsilon": TOTAL_EPSILONS}
    program = {**text, "delta": PROGRAM_DELTA, "form": PROGRAM}
    totals = {
        form: work.runs(NETWORKS, "curate_pc", grid, FIGURE4_RUNS)
        for form, grid in ((TEXT, text), (PROGRAM, program))
    }
    runs = {"curate_pc": totals, **{key: _per_round(work, key) for key in PER_ROUND}}
    score_based = work.runs(NETWORKS, "curate_notears", {**COMMON, "epsilon": TOTAL_EPSILONS})
    runs["curate_notears"] = {TEXT: score_based.assign(form=TEXT)}
    gradients = {**COMMON, "epsilon": GRADIENT_EPSILONS}
    as_programmed = {**gradients, "delta": 1e-4, "form": PROGRAM}
    runs["noleaks"] = {
        form: work.runs(NETWORKS, "noleaks", grid, NOLEAKS_RUNS)
        for form, grid in ((TEXT, gradients), (PROGRAM, as_programmed))
    }
    for strata in STRATA:
        grid = {**text, "stratum_rows": strata}
        runs[f"nᵢ = {strata}"] = {TEXT: work.runs(NETWORKS, "curate_pc", grid, FIGURE4_RUNS)}
    for key, forms in runs.items():
        if key.startswith(("curate", "nᵢ")):
            runs[key] = {f: table.assign(claimed=table["epsilon"]) for f, table in forms.items()}
    return runs


def _ahead(at_five: dict[str, list[float]]) -> Row:
    """Compare the methods at a total of 5, with the best result of CURATE over the strata."""
    lead = []
    for k in range(len(NETWORKS)):
        here = {title: found[k] for title, found in at_five.items() if not math.isnan(found[k])}
        lead.append(max(here, key=lambda title: here[title]))
    return Row(
        "CURATE figure 4", "CURATE is ahead of all others",
        "yes", "; ".join(f"{n}: {t}" for n, t in zip(NETWORKS, lead, strict=True)),
        "Best skeleton F1 vs truth at a total of 5. How far CURATE is behind depends on nᵢ, "
        "which is 2 in the program.", "=" if all(t.startswith("CURATE") for t in lead) else "≠",
    )  # fmt: skip


def _oracle(work: Work) -> Row:
    values: dict[str, Any] = {**COMMON, "epsilon": 1.0}
    best = []
    for name, seed in product(NETWORKS, range(work.seeds or 20)):
        if work.monitor.stopped():
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
