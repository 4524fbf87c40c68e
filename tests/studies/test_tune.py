"""Which epsilon is enough, and which setting does best."""

import json
import math
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest

from engine import ALGORITHMS, Dataset, InputError, load_dataset, run, sweep
from engine.__main__ import main
from engine.data.schema import Column, Schema
from engine.studies.recommended import Score
from engine.studies.summary import TESTED, median_interval, smallest_epsilons
from engine.studies.tune import FRESH, SEEDS, answer_of, axes, tune, which_epsilon

EPSILONS = [0.03, 0.1, 0.3, 1.0, 3.0]


@pytest.fixture(scope="module")
def cancer():
    return load_dataset("cancer", n=1_000)


def made_up(scores):
    """Results with these scores at each epsilon."""
    (one,) = sweep(load_dataset("cancer", n=500), "priv_pc", {"epsilon": 1.0}, 1)
    assert one.metrics_tested is not None
    return [
        replace(
            one,
            seed=seed,
            params=json.dumps({**one.values, "epsilon": epsilon}, sort_keys=True),
            metrics_tested=replace(one.metrics_tested, skeleton_f1=score),
        )
        for epsilon, some in scores.items()
        for seed, score in enumerate(some)
    ]


def test_an_answer_and_its_interval():
    rising = {e: list(np.linspace(f - 0.2, f + 0.2, 21)) for e, f in
              zip(EPSILONS, (0.1, 0.3, 0.5, 0.7, 0.9), strict=True)}  # fmt: skip
    found = answer_of(made_up(rising), 500, 0.6)
    assert (found.least, found.below, found.epsilon, found.most) == (0.3, 0.3, 1.0, 1.0)
    assert "is reached from ε = 1 on (between 0.3 and 1)" in found.sentence
    published = replace(found, params={**found.params, "guarantee": "published"})
    assert "Priv-PC on cancer, 500 rows, published guarantee" in published.sentence
    never = answer_of(made_up(rising), 500, 0.95)
    assert never.epsilon is None
    assert "not reached up to ε = 3 (median 0.90 at best), though above ε = 1" in never.sentence
    always = answer_of(made_up({e: [0.9] * 5 for e in EPSILONS}), 500, 0.6)
    assert (always.epsilon, always.below, always.least) == (0.03, 0.0, 0.0)
    assert "from ε = 0.03 or less on (at most 0.03)" in always.sentence
    # A median that falls again does not count.
    falls = answer_of(made_up({0.1: [0.9] * 3, 1.0: [0.2] * 3, 3.0: [0.9] * 3}), 500, 0.6)
    assert falls.epsilon == 3.0
    assert answer_of(made_up({1.0: [0.6] * 3}), 500, 0.6).epsilon == 1.0  # what it equals is met


def test_an_interval_holds_the_crossing_as_often_as_it_says_and_is_no_finer_than_the_grid():
    """On scores whose seeds matter more than ε, as in a study: all ε share them."""
    rng, inside = np.random.default_rng(0), 0
    epsilons, medians = np.array([*EPSILONS, 10.0]), (0.3, 0.5, 0.58, 0.62, 0.64, 0.9)
    for _ in range(100):
        scores = medians + rng.normal(0, 0.15, (20, 1)) + rng.normal(0, 0.1, (20, 6))
        runs = [("d", "a", e, seed, f) for seed, row in enumerate(scores)
                for e, f in zip(epsilons, row, strict=True)]  # fmt: skip
        columns = ["dataset", "algorithm", "epsilon", "seed", TESTED["skeleton_f1"]]
        [found] = smallest_epsilons(pd.DataFrame(runs, columns=columns), 0.6).itertuples()
        assert {found.least, found.most} <= {0.0, *epsilons, math.inf}
        assert not found.reached or found.least <= found.below < found.epsilon <= found.most
        inside += found.least < 1.0 <= found.most
    assert 0.88 < inside / 100 < 1


def test_the_crossing_is_narrowed_by_epsilons_between_those_tried(monkeypatch, cancer):
    """The true crossing is at 1; the runs that are counted again come from the store."""

    def played(data, trial, stop=None):
        score = 0.9 if trial.values["epsilon"] >= 1.0 else 0.1
        scores = replace(one.metrics_tested, skeleton_f1=score)
        return replace(one, **asdict(trial), seconds=0.01, metrics_tested=scores)

    (one,) = made_up({1.0: [0.0]})
    monkeypatch.setattr("engine.studies.study.run_trial", played)
    found = which_epsilon(cancer, "priv_pc", epsilons=[0.03, 0.5, 3.0, 30.0], seeds=5)
    middle = 0.5 * 6 ** (1 / 2), 0.5 * 6 ** (1 / 4), 0.5 * 6 ** (3 / 8)
    tried = sorted([0.03, 0.5, 3, 30, *middle])
    assert found.points["x"].tolist() == pytest.approx(tried, abs=0.01)
    assert (found.below, found.epsilon) == (found.least, found.most)
    assert found.below < 1.0 <= found.epsilon < 1.26 * found.below
    stops = {"stop": lambda: len(seen) > 22, "on_progress": lambda _, said: seen.append(said)}
    seen = []
    short = which_epsilon(cancer, "priv_pc", epsilons=[0.03, 0.5, 3.0, 30.0], seeds=5, **stops)
    assert len(short.points) == 4


def test_the_interval_of_a_median_holds_it_as_often_as_it_says():
    rng, inside = np.random.default_rng(0), 0
    for _ in range(600):
        low, high = median_interval(rng.normal(size=20).tolist())
        inside += low <= 0.0 <= high
    assert 0.87 < inside / 600 < 0.99


@pytest.mark.parametrize("key", ALGORITHMS)
def test_every_value_of_every_axis_is_admitted(key):
    """With defaults for the rest; what one pays and what asks the truth is never searched for."""
    specs = {s.name: s for s in ALGORITHMS[key].params.specs()}
    for axis in axes(key, 5_000):
        assert axis.name not in ("epsilon", "delta", "guarantee")
        for value in axis.grid(7):
            specs[axis.name].check(value)
            assert value != "oracle"


class Played:
    """Runs with known scores: a hill over the threshold, with noise from the seed."""

    def __init__(self, noise):
        self.noise, self.seen = noise, {}
        (self.one,) = made_up({1.0: [0.0]})  # a run, before runs are played

    def __call__(self, data, trial, stop=None):
        asked = trial.values["threshold"]
        threshold = asked if isinstance(asked, float) else 0.01
        luck = np.random.default_rng([trial.seed, int(threshold * 1e6)]).normal()
        score = 0.9 - abs(math.log(threshold / 0.15)) / 5 + self.noise * luck
        self.seen[threshold, trial.seed] = score
        scores = self.one.metrics_tested
        assert scores is not None
        scores = replace(scores, skeleton_f1=score)
        return replace(self.one, **asdict(trial), seconds=0.01, metrics_tested=scores)


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_the_best_is_found_and_reported_on_seeds_it_was_not_chosen_by(noise, monkeypatch, cancer):
    played = Played(noise)
    monkeypatch.setattr("engine.studies.study.run_trial", played)
    found = tune("priv_pc", cancer, {"epsilon": 1.0}, ["threshold"], runs=300)
    assert found.params["threshold"] == pytest.approx(0.15, rel=0.5)
    assert found.better
    assert found.fresh.runs == found.default.runs == SEEDS
    assert found.chosen.mean > found.fresh.mean - 0.1
    mine = [seed for threshold, seed in played.seen if threshold == found.params["threshold"]]
    assert {s for s in mine if s >= FRESH} == set(range(FRESH, FRESH + SEEDS))
    assert len(played.seen) == found.runs
    first = {threshold: score for (threshold, seed), score in played.seen.items() if seed == 0}
    on = {threshold for threshold, seed in played.seen if seed == 1}  # the better half
    assert min(map(first.get, on)) >= max(map(first.get, first.keys() - on))


def test_no_setting_is_offered_that_does_not_beat_the_default(cancer):
    """Nothing can be found in so few rows, whatever the setting."""
    found = tune("priv_pc", cancer, {"epsilon": 0.01}, ["tweak"], runs=20)
    assert not found.better
    assert "default is as good" in found.sentence


def test_scores_are_those_of_the_runs_and_held_out_data_are_reported_on(cancer):
    other = load_dataset("earthquake", n=1_000)
    found = tune("priv_pc", cancer, {"epsilon": 3.0}, ["tweak"], runs=20, held_out=other)
    scores = []
    for seed in range(FRESH, FRESH + SEEDS):
        tested = run("priv_pc", other, epsilon=3.0, seed=seed, **found.params).metrics_tested
        scores.append(tested.skeleton_f1)
    assert found.fresh.mean == pytest.approx(np.mean(scores))


def test_a_stopped_search_says_so(cancer):
    seen = []
    how = {"stop": lambda: len(seen) > 60, "on_progress": lambda _, phrase: seen.append(phrase)}
    found = tune("priv_pc", cancer, {"epsilon": 1.0}, ["tweak"], runs=60, **how)
    assert (found.whole, found.fresh.runs) == (False, 0)
    assert "Stopped" in found.sentence
    totals = {int(said.split()[2]) for said in seen}
    assert len(totals) == 1
    assert min(totals) > 60


def test_a_score_has_the_standard_error_of_its_mean():
    one = Score.of([0.2, 0.4, 0.6])
    assert (one.mean, one.runs) == (pytest.approx(0.4), 3)
    assert one.error == pytest.approx(0.2 / math.sqrt(3))
    assert math.isnan(Score.of([0.5]).error)
    assert Score(0.5, 0.01, 9).beats(Score(0.4, 0.05, 9))
    assert not Score(0.44, 0.01, 9).beats(Score(0.4, 0.05, 9))


@pytest.mark.parametrize(
    "argv",
    [
        ["--epsilon", "1"],
        ["--dataset", "cancer", "--epsilon", "1", "--runs", "1"],
        ["--dataset", "cancer", "--epsilon", "1", "--over", "epsilon"],
        ["--dataset", "cancer", "--target", "1.5"],
    ],
)
def test_what_does_not_fit_is_one_line(argv, capsys):
    assert main(["tune", *argv]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert main(["tune", "--schema", "any.json", "--held-out", "asia"]) == 2
    assert capsys.readouterr().err.startswith("--held-out can only be used with --dataset")


def test_the_command_answers_before_it_searches(capsys):
    argv = ["tune", "--dataset", "cancer", "--n", "500", "--algorithm", "em_pc"]
    argv += ["--target", "0.5", "--runs", "20"]
    assert main(argv) == 0
    said = capsys.readouterr().out
    assert "500 rows, strict guarantee: Skeleton F1 0.5" in said


def test_a_schema_is_searched_without_rows(tmp_path, capsys, cancer):
    """On random networks; tests/ui/test_study.py searches on a release."""
    named = zip(cancer.names, cancer.levels, strict=True)
    schema = Schema(tuple(Column(name=n, type="ordered", levels=s, other=s[0]) for n, s in named))
    (tmp_path / "s.json").write_text(json.dumps(schema.to_json()))
    argv = ["tune", "--schema", str(tmp_path / "s.json"), "--n", "300", "--epsilon", "3"]
    found = []
    for known in ([], ["--knowledge", "complete-order"]):
        assert main([*argv, "--over", "tweak", "--runs", "20", "--json", *known]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0]["fresh"]["runs"] == SEEDS
    assert found[0]["fresh"] != found[1]["fresh"]


def test_private_rows_are_never_searched_on():
    mine = Dataset.from_codes(load_dataset("cancer", n=200).codes, name="mine")
    for ask in (lambda: tune("pc", mine, {}), lambda: which_epsilon(mine, "priv_pc")):
        with pytest.raises(InputError, match="private data"):
            ask()
