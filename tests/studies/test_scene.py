"""Scenes: every frame is a run that anybody can repeat."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from engine import InputError, load_dataset, read_csv, run
from engine.graphs.known import truth_cpdag
from engine.graphs.links import LinkClass
from engine.studies import scenes
from engine.studies.scenes import (
    ALGORITHMS,
    COARSE,
    DRAWS,
    EPSILONS,
    FEW,
    kept_scene,
    kept_scenes,
    make_scene,
    pair_states,
    read_scene,
    states_of,
)

SEVERAL = 6  # frames of each algorithm that are run again


@pytest.mark.parametrize("name", kept_scenes())
def test_random_frames_of_a_kept_scene_are_the_engines(name: str) -> None:
    kept = read_scene(kept_scene(name))
    rng = np.random.default_rng(0)
    for key, states in kept.states.items():
        if kept.epsilons != EPSILONS and key != ALGORITHMS[0]:
            continue  # seconds a run
        for _ in range(SEVERAL):
            at, draw = int(rng.integers(len(kept.epsilons))), int(rng.integers(kept.draws))
            assert (states_of(kept.run(key, at, draw)) == states[at, draw]).all(), (key, at, draw)


@pytest.mark.parametrize("name", kept_scenes())
def test_a_kept_scene_is_whole(name: str) -> None:
    content = kept_scene(name)
    kept = read_scene(content)
    assert kept.as_dict() == content
    assert all(states.max() <= scenes.UNTESTED for states in kept.states.values())
    free = run("pc", kept.data, seed=0, statistic="g2")
    assert (kept.free == states_of(free)).all()
    assert (kept.epsilons, kept.draws) in ((EPSILONS, DRAWS), (COARSE, FEW))


def test_a_pair_that_was_not_tested_to_the_end_is_neither_there_nor_gone() -> None:
    data = load_dataset("child", n=5000)
    result = run("priv_pc", data, seed=1, epsilon=0.1)
    states = states_of(result)
    assert result.untested
    pairs = [(i, j) for i in range(data.d) for j in range(i + 1, data.d)]
    assert {p for p, s in zip(pairs, states, strict=True) if s == scenes.UNTESTED} == set(
        result.untested
    )


def test_states_tell_what_the_metrics_tell() -> None:
    data = load_dataset("asia", n=5000)
    assert data.truth is not None
    truth = truth_cpdag(data.truth, data.names)
    for seed in range(5):
        result = run("marginal_pc", data, seed=seed, epsilon=0.5)
        mine, real = states_of(result), pair_states(truth)
        kinds = list(result.classes.values())
        assert kinds.count(LinkClass.FALSE_POSITIVE) == int(((real == 0) & (mine > 0)).sum())
        assert kinds.count(LinkClass.MISSED) == int(((real > 0) & (mine == 0)).sum())
        assert kinds.count(LinkClass.FOUND) == int(((real > 0) & (mine == real)).sum())


def test_a_stop_makes_no_scene_and_the_rest_are_runs() -> None:
    data, seen = load_dataset("cancer", n=2000), list[int]()
    asked: Any = (data, ["priv_pc"], [0.1, 1.0], 3)
    assert make_scene(*asked, cancelled=lambda: len(seen) == 4,
                      on_frame=lambda done, of: seen.append(done)) is None  # fmt: skip
    scene = make_scene(*asked)
    assert scene is not None
    alone = run("priv_pc", data, seed=2, epsilon=1.0)
    assert (scene.states["priv_pc"][1, 2] == states_of(alone)).all()
    again = read_scene(json.loads(json.dumps(scene.as_dict())))
    assert again.as_dict() == scene.as_dict()


def test_what_cannot_be_drawn_says_so() -> None:
    with pytest.raises(InputError, match="columns"):
        make_scene(load_dataset("hailfinder", n=200))
    rows = "".join(f"{k % 2},{k // 3 % 2},{k // 5 % 2}\n" for k in range(200))
    with pytest.raises(InputError, match="bundled"):
        make_scene(read_csv(f"a,b,c\n{rows}".encode()))
    with pytest.raises(InputError, match="engine scene"):
        kept_scene("win95pts")


def test_the_longest_row_of_pairs_is_in_the_order_of_the_browser() -> None:
    d = 5
    matrix = np.zeros((d, d), bool)
    matrix[1, 3] = True  # the sixth pair: 01 02 03 04 12 13
    states = pair_states(matrix)
    assert len(states) == math.comb(d, 2)
    assert list(np.nonzero(states)[0]) == [5]
    assert states[5] == scenes.FORTH
    assert pair_states(matrix.T)[5] == scenes.BACK
    assert pair_states(matrix | matrix.T)[5] == scenes.LINE
