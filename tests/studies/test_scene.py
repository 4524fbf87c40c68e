"""Scenes: every frame is a run that anybody can repeat."""

import json
import math

import numpy as np
import pytest

from engine import InputError, load_dataset, read_csv, run
from engine.graphs.known import truth_cpdag
from engine.graphs.links import LinkClass
from engine.studies import scenes
from engine.studies.scenes import kept_scene, make_scene, pair_states, states_in, states_of

SEVERAL = 2  # frames of each algorithm that are run again


@pytest.mark.parametrize("name", scenes.kept_scenes())
def test_a_kept_scene_is_whole_and_its_frames_are_the_engines(name):
    kept = kept_scene(name)
    data, rng = load_dataset(name, n=kept["rows"]), np.random.default_rng(0)
    epsilons, draws = tuple(kept["epsilons"]), kept["draws"]
    assert (epsilons, draws) in ((scenes.EPSILONS, scenes.DRAWS), (scenes.COARSE, scenes.FEW))
    assert (states_of(run("pc", data, seed=0, statistic="g2")) == kept["free"]).all()
    for key, states in states_in(kept).items():
        assert states.max() <= scenes.UNTESTED
        assert states.shape == (len(epsilons), draws, math.comb(data.d, 2))
        if epsilons != scenes.EPSILONS and key != scenes.ALGORITHMS[0]:
            continue  # seconds a run
        for _ in range(SEVERAL):
            at, draw = int(rng.integers(len(epsilons))), int(rng.integers(draws))
            values = {"epsilon": epsilons[at], "guarantee": "strict"}
            again = states_of(run(key, data, seed=draw, **values))
            assert (again == states[at, draw]).all(), (key, at, draw)


def test_a_scene_made_again_is_the_one_that_is_kept():
    kept = kept_scene("cancer")
    made = make_scene(load_dataset("cancer", n=kept["rows"]), ["marginal_pc"], scenes.EPSILONS[:2])
    (before,) = (m for m in kept["methods"] if m["key"] == "marginal_pc")
    (again,) = made["methods"]
    assert (states_in(made)["marginal_pc"] == states_in(kept)["marginal_pc"][:2]).all()
    rest = {"states": "", "methods": [], "epsilons": []}
    assert {**kept, **rest} == {**made, **rest}
    assert {**before, **rest} == {**again, **rest}
    assert json.loads(json.dumps(made)) == made


def test_a_pair_that_was_not_tested_to_the_end_is_neither_there_nor_gone():
    data = load_dataset("child", n=5000)
    result = run("priv_pc", data, seed=1, epsilon=0.1)
    states = states_of(result)
    assert result.untested
    pairs = [(i, j) for i in range(data.d) for j in range(i + 1, data.d)]
    assert {p for p, s in zip(pairs, states, strict=True) if s == scenes.UNTESTED} == set(
        result.untested
    )


def test_states_tell_what_the_metrics_tell():
    data = load_dataset("asia", n=5000)
    truth = truth_cpdag(data.truth, data.names)
    for seed in range(5):
        result = run("marginal_pc", data, seed=seed, epsilon=0.5)
        mine, real = states_of(result), pair_states(truth)
        kinds = list(result.classes.values())
        assert kinds.count(LinkClass.FALSE_POSITIVE) == int(((real == 0) & (mine > 0)).sum())
        assert kinds.count(LinkClass.MISSED) == int(((real > 0) & (mine == 0)).sum())
        assert kinds.count(LinkClass.FOUND) == int(((real > 0) & (mine == real)).sum())


def test_a_stop_makes_no_scene_and_the_rest_are_runs():
    data, seen = load_dataset("cancer", n=2000), list[int]()
    asked = (data, ["priv_pc"], [0.1, 1.0], 3)
    assert make_scene(*asked, cancelled=lambda: len(seen) == 4,
                      on_frame=lambda done, of: seen.append(done)) is None  # fmt: skip
    scene = make_scene(*asked)
    assert scene is not None
    alone = run("priv_pc", data, seed=2, epsilon=1.0)
    assert (states_in(scene)["priv_pc"][1, 2] == states_of(alone)).all()


def test_what_cannot_be_drawn_says_so():
    with pytest.raises(InputError, match="columns"):
        make_scene(load_dataset("hailfinder", n=200))
    rows = "".join(f"{k % 2},{k // 3 % 2},{k // 5 % 2}\n" for k in range(200))
    with pytest.raises(InputError, match="bundled"):
        make_scene(read_csv(f"a,b,c\n{rows}".encode()))
    with pytest.raises(InputError, match="engine scene"):
        kept_scene("win95pts")


def test_the_longest_row_of_pairs_is_in_the_order_of_the_browser():
    d = 5
    matrix = np.zeros((d, d), bool)
    matrix[1, 3] = True  # the sixth pair: 01 02 03 04 12 13
    states = pair_states(matrix)
    assert len(states) == math.comb(d, 2)
    assert list(np.nonzero(states)[0]) == [5]
    assert states[5] == scenes.FORTH
    assert pair_states(matrix.T)[5] == scenes.BACK
    assert pair_states(matrix | matrix.T)[5] == scenes.LINE
