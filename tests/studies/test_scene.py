"""Scenes: every frame is a run that anybody can repeat."""

import json
import math

import numpy as np
import pytest

from engine import InputError, load_dataset, read_table, run
from engine.studies import scenes
from engine.studies.scenes import kept_scene, make_scene, states_in, states_of

SEVERAL = 2  # frames of each algorithm that are run again
MOST = 20  # columns of a network that PC without noise is run on again


@pytest.mark.parametrize("name", scenes.kept_scenes())
def test_a_kept_scene_is_whole_and_its_frames_are_the_engines(name):
    kept, rng = kept_scene(name), np.random.default_rng(0)
    epsilons, draws = tuple(kept["epsilons"]), kept["draws"]
    assert (epsilons, draws) in ((scenes.EPSILONS, scenes.DRAWS), (scenes.COARSE, scenes.FEW))
    every = states_in(kept)
    for states in every.values():
        assert states.max() <= scenes.UNTESTED
        assert states.shape == (len(epsilons), draws, math.comb(len(kept["names"]), 2))
    data, small = load_dataset(name, n=kept["rows"]), len(kept["names"]) <= MOST
    if small:
        assert (states_of(run("pc", data, seed=0, statistic="g2")) == kept["free"]).all()
    for key, states in every.items():
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


def test_a_stop_makes_no_scene_and_the_rest_are_runs():
    data, seen = load_dataset("cancer", n=2000), list[str]()
    asked = (data, ["priv_pc"], [0.1, 1.0], 3)
    how = {"stop": lambda: len(seen) == 4, "on_progress": lambda _, said: seen.append(said[:6])}
    assert make_scene(*asked, **how) is None
    assert seen == ["1 of 6", "2 of 6", "3 of 6", "4 of 6"]
    scene = make_scene(*asked)
    assert scene is not None
    alone = run("priv_pc", data, seed=2, epsilon=1.0)
    assert (states_in(scene)["priv_pc"][1, 2] == states_of(alone)).all()


def test_what_cannot_be_drawn_says_so():
    with pytest.raises(InputError, match="2 to 40 columns"):
        make_scene(load_dataset("hailfinder", n=200))
    make_scene(load_dataset("pair:cubic:gaussian", n=200), ["marginal_pc"], [1.0], 1)
    rows = "".join(f"{k % 2},{k // 3 % 2},{k // 5 % 2}\n" for k in range(200))
    with pytest.raises(InputError, match="bundled"):
        make_scene(read_table(f"a,b,c\n{rows}".encode()))
    with pytest.raises(InputError, match="engine scene"):
        kept_scene("win95pts")
