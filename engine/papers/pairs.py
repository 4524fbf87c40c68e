"""Kusner et al. 2016, table 2: how often each score is right, and how noise takes it away."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from engine.data.dataset import Dataset
from engine.data.pairs import read_tuebingen
from engine.data.simulated_pairs import HELD_OUT, MECHANISMS, NOISES, simulate_pair
from engine.errors import InputError
from engine.papers import published as papers
from engine.papers.report import NAN, Work
from engine.studies.trial import TrialResult

KEY = "anm"
NO_NOISE = 1e7  # the largest epsilon there is: its noise is below the scores' rounding
PAIR_ROWS = 7_800  # the paper's ten pairs have 7,713 to 7,862
SPLITS = 10
PUBLISHED = {"guarantee": "published", "protect": "test"}
TOTALS = (2.0, 1.0, 0.1)
# What is compared at one strict total. The vote hides every row, the others the test half's.
FORMS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("two scores", {"release": "scores", "protect": "test", "score": list(papers.PAIRS_TABLE2)}),
    (
        "one difference",
        {"release": "difference", "protect": "test", "score": ["root_hsic", *papers.PAIRS_TABLE2]},
    ),
    ("a vote (all rows)", {"release": "vote", "score": ["variance", "hsic"]}),
)


def pairs_table2(work: Work) -> None:
    """Table 2 on pairs that can be shipped, and on a person's copy of the Tuebingen pairs."""
    sets = {"simulated": simulated_pairs()}
    if work.pairs is not None:
        sets["Tuebingen"] = list(read_tuebingen(work.pairs))
    published = pd.DataFrame(
        [row for name, data in sets.items() for row in _published(work, name, data)]
    )
    strict = pd.DataFrame([row for name, data in sets.items() for row in _strict(work, name, data)])
    notes = [
        f"Share of right directions over {work.seeds or SPLITS} splits with noise of their own; "
        "'±' is the standard error over pairs. One half even would be a coin.",
        "The pairs differ. The paper takes ten of the largest pairs of a Kaggle challenge that we "
        "cannot pass on; simulated here are ten mechanisms with three noises "
        f"({PAIR_ROWS:,} rows each), the Tuebingen pairs are your copy.",
        "The paper's column is the mean of its ten printed probabilities. Its ε is that of each "
        "part: two scores cost 2ε, an IQR decision 12ε for a record that enters all four (9ε is "
        "claimed). The widths are fixed here, where the paper's median heuristic reads the data.",
    ]
    work.write_table("pairs-table2", published, "Kusner et al. 2016, table 2", notes)
    work.write_table(
        "pairs-strict",
        strict,
        "One strict total: two scores, one difference, a vote",
        [
            "ε is the total. Two scores and a difference protect the test half, the training half "
            "being public; a vote protects every row at the same ε.",
            notes[0],
        ],
    )


# How the model itself does, apart from privacy: each way to decide with its noise taken away. A
# vote's blocks depend on n and epsilon: these are the ends and the middle of what 'auto' takes.
ACCURACY_SPLITS = 2
WAYS: tuple[tuple[str, dict[str, Any]], ...] = (
    *FORMS[:1],
    ("one difference", {"release": "difference", "protect": "test", "score": ["root_hsic"]}),
    ("a vote (all rows)", {"release": "vote", "score": ["auto"], "block": [25, 50, 100]}),
)


def pairs_accuracy(work: Work) -> None:
    """How often each way to decide is right without noise on real pairs: table, notes and JSON."""
    if work.pairs is None:
        raise InputError("Name your copy of the cdt 0.6.0 wheel with --pairs FILE.")
    data, splits = list(read_tuebingen(work.pairs)), work.seeds or ACCURACY_SPLITS
    rows = []
    for form, values in WAYS:
        results = work.study(data, [KEY], {**values, "epsilon": NO_NOISE}, splits)
        for score, block in product(values["score"], values.get("block", [None])):
            found = [
                r
                for r in results
                if r.values["score"] == score and block in (None, r.values["block"])
            ]
            name = score if block is None else f"blocks of {block} rows"
            rows.append({"release": form, "by": name, **_right(found)})
    table = pd.DataFrame(rows)
    notes = [
        f"Share of right directions over {len(data)} pairs whose cause is known, {splits} splits "
        "each; '±' is the standard error over pairs. One half is a coin.",
        f"ε = {NO_NOISE:g}: what is left is the model's own error.",
    ]
    work.write_table("pairs-accuracy", table, "The additive-noise model on real pairs", notes)
    kept = {"pairs": len(data), "splits": splits, "ways": rows}
    work.write("pairs-accuracy.json", json.dumps(kept, indent=1) + "\n")


def simulated_pairs() -> list[Dataset]:
    """Every mechanism, those held out included, with one noise each in turn."""
    noises = list(NOISES)
    return [
        simulate_pair(mechanism, noises[i % len(noises)], n=PAIR_ROWS, seed=i)
        for i, mechanism in enumerate([*MECHANISMS, *HELD_OUT])
    ]


def _published(work: Work, name: str, data: Sequence[Dataset]) -> list[dict[str, Any]]:
    epsilons = [NO_NOISE, *(e for e in papers.PAIRS_EPSILONS if math.isfinite(e))]
    grid = {**PUBLISHED, "score": list(papers.PAIRS_TABLE2), "epsilon": epsilons}
    results = work.study(data, [KEY], grid, SPLITS)
    rows = []
    for score, printed in papers.PAIRS_TABLE2.items():
        for epsilon, ours, number in zip(papers.PAIRS_EPSILONS, epsilons, printed, strict=True):
            found = [r for r in results if r.values["score"] == score]
            found = [r for r in found if r.values["epsilon"] == ours]
            rows.append(
                {
                    "pairs": f"{name} ({len(data)})",
                    "score": score,
                    "ε": "no noise" if math.isinf(epsilon) else f"{epsilon:g}",
                    "paper": number,
                    **_right(found),
                    "claimed ε": NAN if math.isinf(epsilon) else _mean(found, "claimed_epsilon"),
                    "defended ε": NAN if math.isinf(epsilon) else _mean(found, "spent_epsilon"),
                }
            )
    return rows


def _strict(work: Work, name: str, data: Sequence[Dataset]) -> list[dict[str, Any]]:
    rows = []
    for form, values in FORMS:
        results = work.study(data, [KEY], {**values, "epsilon": list(TOTALS)}, SPLITS)
        for score in values["score"]:
            row: dict[str, Any] = {
                "pairs": f"{name} ({len(data)})",
                "release": form,
                "score": score,
            }
            for total in TOTALS:
                found = [
                    r for r in results if (r.values["score"], r.values["epsilon"]) == (score, total)
                ]
                row[f"right at ε = {total:g}"] = _right(found)["right"]
            rows.append(row)
    return rows


def _right(results: Sequence[TrialResult]) -> dict[str, float]:
    """Share of right directions, a decision withheld counting one half; error over pairs."""
    by_pair: dict[str, list[float]] = {}
    for result in results:
        edges = len(result.cpdag)
        assert result.directed_f1 is not None
        by_pair.setdefault(result.fingerprint, []).append(result.directed_f1 if edges == 1 else 0.5)
    means = np.array([np.mean(shares) for shares in by_pair.values()])
    error = float(means.std(ddof=1) / math.sqrt(len(means))) if len(means) > 1 else NAN
    return {"right": float(means.mean()), "±": error}


def _mean(results: Sequence[TrialResult], name: str) -> float:
    return float(np.mean([getattr(r, name) for r in results]))
