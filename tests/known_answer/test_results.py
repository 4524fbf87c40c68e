"""No result changes unnoticed: a part of the kept ones is computed again (``scripts/results.py``).

A change that intends other results writes the file again and says so in its commit.
"""

import json
import platform

import numpy as np
import pytest

from engine import ALGORITHMS, load_dataset
from scripts.results import PAIRS, SEEDS, answers, grid, kept

SOME = ("asia", PAIRS[0][0])
LINES = [line for line in kept() if line["dataset"] in SOME and line["seed"] == SEEDS[0]]
ASKED = ("algorithm", "dataset", "n", "seed", "values")


def name(line):
    return "-".join(map(str, (line["algorithm"], *line["values"].values())))


@pytest.fixture(scope="module")
def computed():
    """The kept questions' answers, by question."""
    if platform.machine().lower() not in {"x86_64", "amd64"}:
        pytest.skip("kept as x86-64 processors round; others round sums in other places")
    found = answers([{k: line[k] for k in ASKED} for line in LINES])
    return {json.dumps([line[k] for k in ASKED]): line for line in found}


@pytest.mark.parametrize("line", LINES, ids=name)
def test_the_same_as_before(line, computed):
    assert computed[json.dumps([line[k] for k in ASKED])] == line


def test_the_kept_grid_is_whole():
    """Every line of each algorithm that is kept; a new one enters with ``--write``."""
    algorithms = {line["algorithm"] for line in kept()}
    assert algorithms <= set(ALGORITHMS)
    questions = [[q[k] for k in ASKED] for q in grid() if q["algorithm"] in algorithms]
    assert [[line[k] for k in ASKED] for line in kept()] == questions


@pytest.mark.parametrize(("key", "least"), [("pc", 0.9), ("marginal_pc", 0.98), ("priv_pc", 0.85)])
def test_the_kept_graphs_are_near_the_true_ones(key, least):
    """Mean skeleton F1 at the largest budget (.905, 1, .864); ``--write`` would keep worse ones."""
    found = []
    for line in kept():
        if line["algorithm"] == key and line["values"].get("epsilon", 10.0) == 10.0:
            true = load_dataset(line["dataset"], n=2).truth
            links = {frozenset(edge) for edge in line["edges"]}
            common = len(links & {frozenset(edge) for edge in true.edges})
            found.append(2 * common / (len(links) + len(true.edges)))
    assert np.mean(found) >= least
