"""Scenes: every frame is a run that anybody can repeat."""

from __future__ import annotations

import math

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
    Frame,
    empty_scene,
    fill,
    kept_scene,
    kept_scenes,
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
            frame = Frame(key, int(rng.integers(len(kept.epsilons))), int(rng.integers(kept.draws)))
            again = states_of(kept.run(frame))
            assert (again == states[frame.at, frame.draw]).all(), frame


@pytest.mark.parametrize("name", kept_scenes())
def test_a_kept_scene_is_whole(name: str) -> None:
    content = kept_scene(name)
    kept = read_scene(content)
    assert not list(kept.missing())
    assert kept.as_dict() == content
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


def test_one_draw_of_every_epsilon_comes_first_and_a_stop_keeps_what_there_is() -> None:
    scene = empty_scene(load_dataset("cancer", n=2000), ["priv_pc"], [0.1, 1.0], draws=3)
    first = [frame.draw for frame in scene.missing()]
    assert first == [0, 0, 1, 1, 2, 2]  # two values of epsilon
    seen: list[int] = []
    assert not fill(scene, lambda: len(seen) == 4, lambda done, of: seen.append(done))
    left = list(scene.missing())
    assert left == [Frame("priv_pc", 0, 2), Frame("priv_pc", 1, 2)]
    assert fill(scene)
    assert not list(scene.missing())


def test_what_cannot_be_drawn_says_so() -> None:
    with pytest.raises(InputError, match="columns"):
        empty_scene(load_dataset("hailfinder", n=200))
    rows = "".join(f"{k % 2},{k // 3 % 2},{k // 5 % 2}\n" for k in range(200))
    with pytest.raises(InputError, match="bundled"):
        empty_scene(read_csv(f"a,b,c\n{rows}".encode()))
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
