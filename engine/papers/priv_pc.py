"""Priv-PC (Wang, Pang, Song, NeurIPS 2020): figure 1, tables 2 and 3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from engine.papers import published as papers
from engine.papers.report import (
    NAN,
    PER_ROUND,
    Work,
    at_total,
    beside,
    dots,
    mean_scores,
    scored,
    timed,
    write_curves,
)
from engine.registry import ALGORITHMS

PRIV_PC = {"guarantee": "published", "delta": 1e-3}
FIGURE1_EPSILONS = tuple(float(e) for e in np.logspace(-2, 1.5, 21))


def figure1(work: Work) -> None:
    """Priv-PC figure 1: F1 against the total epsilon, 2,205 runs."""
    networks = papers.PRIV_PC_NETWORKS
    results = work.cells(networks, PER_ROUND, {**PRIV_PC, "epsilon": FIGURE1_EPSILONS}, 5)
    data = work.data(networks)
    table = scored(results, data, 0.10)
    work.write("figure1-runs.csv", table.to_csv(index=False))
    means = mean_scores(table, ("dataset", "algorithm", "epsilon"))
    work.write("figure1-curves.csv", means.to_csv(index=False))
    title = "Priv-PC figure 1: mean F1"
    write_curves(work, "figure1", means, networks, title, "that the paper claims")
    notes = [
        "Settings: 21 ε a round = logspace(−2, 1.5), 5 seeds, n = 100,000, δ = 1e-3, T = 0.10, "
        "published forms. The paper prints only pictures; the columns check what it says of them.",
        "F1 is of the skeleton; directed F1 and SHD are against the truth. "
        "'vs PC' scores against non-private PC's output, the paper's ground "
        "truth; 'vs truth' against the true graph.",
        "EM-PC tests with G² (α = 0.01), the others with Kendall's τ, as in the papers.",
        "Nothing can be defended for EM-PC's published form, which chooses separating sets without "
        "noise, so figure1-defended.svg has no curve of it.",
    ]
    work.write_table("figure1", _figure1_claims(means, networks), "Priv-PC, figure 1", notes)


def _figure1_claims(means: pd.DataFrame, networks: Sequence[str]) -> pd.DataFrame:
    """One row a network: what the paper says of the curves, checked on ours."""
    rows = []
    for network in networks:
        curves = {str(k): c for k, c in means[means["dataset"] == network].groupby("algorithm")}
        last = {k: c.sort_values("epsilon").iloc[-1] for k, c in curves.items()}
        row: dict[str, Any] = {"network": network}
        for key in PER_ROUND:
            title = ALGORITHMS[key].title if key in ALGORITHMS else key
            row[f"{title}, largest ε, vs PC"] = float(last[key]["f1_pc"]) if key in last else NAN
            truth = float(last[key]["f1_truth"]) if key in last else NAN
            row[f"{title}, largest ε, vs truth"] = truth
            for name, column in (("directed F1", "directed_f1_truth"), ("SHD", "shd_truth")):
                value = float(last[key][column]) if key in last else NAN
                row[f"{title}, largest ε, {name}"] = value
        for total in (1.0, 10.0):
            for key in PER_ROUND:
                value = at_total(curves[key], total, "f1_pc") if key in curves else NAN
                row[f"{key} at claimed {total:g}, vs PC"] = value
        rows.append(row)
    return pd.DataFrame(rows)


def table2(work: Work) -> None:
    """Priv-PC table 2: seconds of one run at epsilon = 1 a round."""
    networks, rows = papers.PRIV_PC_NETWORKS, []
    for (key, subsample), printed in papers.TABLE2.items():
        if not work.registered([key]):
            continue
        values = {**PRIV_PC, "epsilon": 1.0, **({"subsample": subsample} if subsample else {})}
        title = ALGORITHMS[key].title + (" without sub-sampling" if subsample == "off" else "")
        for network, seconds in zip(networks, printed, strict=True):
            rows.append(timed(work, key, title, network, values, seconds, runs=5))
    table = pd.DataFrame(rows)
    notes = [
        "Seconds of one run at ε = 1 a round. The paper: a server of 32 Opteron "
        "cores; ours: seconds of one core of this machine. "
        "'first' is a run on data of which nothing has been counted, 'later' the mean of 5 more.",
    ]
    work.write_table("table2", table, "Priv-PC, table 2: running time", notes)
    work.write("table2.svg", dots(table, networks, "paper", "later", "seconds a run", y_log=True))


def table3(work: Work) -> None:
    """Priv-PC table 3: number of independence tests at epsilon = 1 a round."""
    networks = papers.PRIV_PC_NETWORKS
    results = work.cells(networks, list(papers.TABLE3), {**PRIV_PC, "epsilon": 1.0}, 5)
    means = mean_scores(scored(results, work.data(networks), 0.10), ("dataset", "algorithm"))
    table = beside(means, papers.TABLE3, networks, "ci_tests")
    notes = [
        "Mean over the seeds at ε = 1 a round. A query is an unordered pair and a set, asked once; "
        "an examined query counts as two tests; EM-PC counts every set it looks at.",
    ]
    work.write_table("table3", table, "Priv-PC, table 3: independence tests", notes)
    work.write("table3.svg", dots(table, networks, "paper", "ours", "tests", y_log=True))
