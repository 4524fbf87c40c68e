"""Settings recommended by a study: ``python -m benchmarks.recommended``.

The bundled networks up to MOST columns, sorted by columns and name, are taken in turns: on the
first half each published algorithm is tuned at every epsilon, on the other half the outcome is
reported with the default setting, each run on a separate sample with a separate seed. The default
stays where the search's winner does not beat it by two standard errors on fresh seeds of the same
half. Algorithms introduced here are reported with their defaults. A cell that is kept in
sample_data/recommended.json is not run again; the last step writes the tables of both pages
recommended.md, ``--tables`` that alone.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.utility import DELTA
from benchmarks.written import put
from engine import ALGORITHMS, load_dataset
from engine.data.networks import NETWORKS, load_network
from engine.runner import run
from engine.studies.recommended import KEPT, Score, study
from engine.studies.tune import Tuned, axes, tune

RESEARCH = Path(__file__).resolve().parent.parent / "research"
SETTINGS, RESULTS = RESEARCH / "settings.md", RESEARCH / "recommended.md"
ROWS, MOST = 100_000, 25
FIRST, TOLD = 3_000, 20  # the first sample of a report, and how many runs it has
EPSILONS = (0.1, 1.0, 10.0)
SCORES = ("skeleton_f1", "directed_f1")
TESTING = ("curate_pc", "em_pc", "gauss_pc", "priv_pc", "svt_pc")
GRADIENTS = ("noleaks", "curate_notears")
OURS = ("marginal_pc", "gram_notears")
RUNS = {**dict.fromkeys(TESTING, 450), **dict.fromkeys(GRADIENTS, 240)}
Content = dict[str, Any]  # of the file, or of one of its cells
LEFT = ("stable",)  # PC-stable costs tests and is no number of the papers
GRADIENT_COLUMNS = 12  # a descent on more takes seconds


def halves() -> tuple[list[str], list[str]]:
    """Names to search on, and those to tell the outcome on."""
    sizes = {name: len(load_network(name).names) for name in NETWORKS}
    ordered = sorted((n for n in NETWORKS if sizes[n] <= MOST), key=lambda n: (sizes[n], n))
    return ordered[::2], ordered[1::2]


def searched(key: str) -> list[str]:
    """The networks that an algorithm is tuned on."""
    most = GRADIENT_COLUMNS if key in GRADIENTS else MOST
    return [name for name in halves()[0] if len(load_network(name).names) <= most]


def tuned(key: str, epsilon: float) -> Tuned:
    """The search of a cell."""
    data = [load_dataset(name, n=ROWS, seed=0) for name in searched(key)]
    names = [axis.name for axis in axes(key, ROWS) if axis.name not in LEFT]
    fixed = {"epsilon": epsilon, "delta": DELTA, "guarantee": "strict"}
    return tune(key, data, fixed, names, runs=RUNS[key])


def scores(key: str, name: str, values: Mapping[str, Any]) -> dict[str, list[float]]:
    """The scores of a setting's runs on a network."""
    found: dict[str, list[float]] = {score: [] for score in SCORES}
    for i in range(TOLD):
        data = load_dataset(name, n=ROWS, seed=FIRST + i)
        metrics = run(key, data, seed=FIRST + i, trace=False, **values).metrics_tested
        for score in SCORES:
            found[score].append(getattr(metrics, score))
    return found


def cell(key: str, epsilon: float) -> dict[str, Any]:
    """Tune, and tell."""
    fixed = {"epsilon": epsilon, "delta": DELTA}
    params, fresh, default, runs = {}, _NONE, _NONE, 0
    if key in RUNS:
        found = tuned(key, epsilon)
        fresh, default, runs = found.fresh, found.default, found.runs
        params = dict(found.params) if surely(fresh, default) else {}
    reported = {}
    for name in halves()[1]:
        plain = scores(key, name, fixed)
        better = scores(key, name, {**fixed, **params}) if params else plain
        reported[name] = {"tuned": _written(better), "default": _written(plain)}
    return {
        "algorithm": key, "epsilon": epsilon, "params": params, "runs": runs,
        "fresh": _row(fresh), "default": _row(default), "reported": reported,
    }  # fmt: skip


def surely(fresh: Score, default: Score) -> bool:
    """Whether a setting beats the default by two standard errors of their difference."""
    return fresh.mean - default.mean > 2 * math.hypot(fresh.error, default.error)


_NONE = Score(math.nan, math.nan, 0)


def _row(score: Score) -> list[float | None]:
    values = (None if math.isnan(v) else round(v, 4) for v in (score.mean, score.error))
    return [*values, score.runs]


def _written(found: Mapping[str, Sequence[float]]) -> dict[str, list[float | None]]:
    return {name: _row(Score.of(values)) for name, values in found.items()}


def kept() -> Content:
    """Return the file's content, or its initial content."""
    found = {key: searched(key) for key in RUNS}
    content = {"rows": ROWS, "searched": found, "told": halves()[1], "cells": []}
    return json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else content


def number(row: Sequence[float | None]) -> str:
    """``.951 ± .004`` of a mean, its error and the runs; no error where all came to the same."""
    mean, error, runs = row
    if not runs:
        return "–"
    return f"{mean:.3f}{f' ± {error:.3f}' if error else ''}".replace("0.", ".")


def settings_table(found: Content) -> str:
    """Return the chosen settings, and their scores where they were searched for."""
    heads = ("", "ε", "setting", "runs", "skeleton F1, fresh seeds", "default")
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    chosen = {(one.algorithm, one.epsilon): one.params for one in study()}
    for (key, epsilon), one in sorted(cells(found).items()):
        if one["runs"]:
            said = ", ".join(f"{k} = {v}" for k, v in chosen[key, epsilon].items()) or "the default"
            first = ALGORITHMS[key].title, f"{epsilon:g}", said, f"{one['runs']:,}"
            values = (*first, number(one["fresh"]), number(one["default"]))
            lines.append("| " + " | ".join(values) + " |")
    return "\n".join(lines)


def told_table(found: Content) -> str:
    """Every setting on the networks that no search saw."""
    known = cells(found)
    keys = [k for k in (*OURS, *TESTING, *GRADIENTS) if any(a == k for a, _ in known)]
    heads = ("", "ε", "setting", *(ALGORITHMS[key].title for key in keys))
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for name, epsilon, which in product(found["told"], EPSILONS, ("tuned", "default")):
        told = [_told(known.get((key, epsilon)), name, which) for key in keys]
        first = name.capitalize(), f"{epsilon:g}", which
        lines.append("| " + " | ".join((*first, *told)) + " |")
    return "\n".join(lines)


def _told(one: Content | None, name: str, which: str) -> str:
    if one is None or (which == "tuned" and not one["runs"]):
        return "–"
    return " / ".join(number(one["reported"][name][which][score]) for score in SCORES)


def cells(found: Content) -> dict[tuple[str, float], Content]:
    """The file's cells by algorithm and epsilon."""
    return {(c["algorithm"], c["epsilon"]): c for c in found["cells"]}


TABLES: dict[str, Callable[[Content], str]] = {
    "benchmarks.recommended settings": settings_table,
    "benchmarks.recommended": told_table,
}


def main() -> None:
    """Run the missing cells, then write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--algorithms", default=",".join((*TESTING, *OURS, *GRADIENTS)))
    options = parser.parse_args()
    for key, epsilon in () if options.tables else product(options.algorithms.split(","), EPSILONS):
        content = kept()
        if (key, epsilon) in cells(content):
            continue
        start = time.process_time()
        content["cells"].append(cell(key, epsilon))
        KEPT.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        print(key, epsilon, content["cells"][-1]["params"], f"{time.process_time() - start:.0f} s",
              flush=True)  # fmt: skip
    for mark, write in TABLES.items():
        put(SETTINGS if mark.endswith("settings") else RESULTS, mark, write(kept()))


if __name__ == "__main__":
    main()
