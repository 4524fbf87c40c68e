"""CURATE's margins by hand: every place's plan, bounds and score are those of ordinary runs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from engine import Dataset, InputError, load_dataset, run
from engine.algorithms.curate_pc import CuratePCParameters
from engine.studies.margins import BETAS, THRESHOLDS, Margins, margins, planned
from engine.studies.study import Progress
from engine.theory import kendall_p_bound, lemma1

T, B = (0.05, 0.1), (0.2, 0.4, 1.0)


def values(at: tuple[int, ...]) -> dict[str, float]:
    """The parameters of a place."""
    return {"threshold": T[at[0]], "beta1": B[at[1]], "beta2": B[at[2]]}


@pytest.fixture(scope="module")
def cancer() -> Dataset:
    return load_dataset("cancer", n=1000)


@pytest.fixture(scope="module")
def found(cancer: Dataset) -> Margins:
    made = margins(cancer, 1.0, thresholds=T, betas=B, draws=2)
    assert made is not None
    return made


def test_every_place_has_the_scores_of_its_runs(found: Margins, cancer: Dataset) -> None:
    for at in ((0, 0, 1), (1, 2, 0)):
        for seed in range(2):
            alone = run("curate_pc", cancer, seed=seed, epsilon=1.0, **values(at))
            assert alone.metrics_tested is not None
            assert found.scores[(*at, seed)] == alone.metrics_tested.skeleton_f1
    assert found.scores[found.best()].mean() == found.scores.mean(axis=3).max()


def test_every_place_has_the_plan_of_its_runs(found: Margins, cancer: Dataset) -> None:
    for at in ((0, 0, 1), (1, 1, 2)):
        result = run("curate_pc", cancer, seed=0, epsilon=1.0, **values(at))
        begun = result.diagnostics.allocation.at_the_start()  # type: ignore[union-attr]
        assert [s.epsilon for s in found.plans[at]] == [b.epsilon for b in begun.values()]
        assert sum(s.coins for s in found.plans[at]) == pytest.approx(100)


@pytest.mark.parametrize("beta1", [0.1, 0.5])
def test_the_rates_are_lemma_1s(beta1: float, cancer: Dataset) -> None:
    asked = {"threshold": 0.05, "beta1": beta1, "beta2": 0.3}
    first = planned(cancer, epsilon=5.0, guarantee="published", **asked)[0]
    wanted = lemma1(first.epsilon, 0.05, kendall_p_bound(1000), beta1=beta1, beta2=0.3)
    bounds = [(1 + np.exp(-rate * first.epsilon)) / 2 for rate in (first.rate1, first.rate2)]
    assert bounds == pytest.approx(wanted)


def test_the_browser_is_given_places_in_one_order(found: Margins) -> None:
    content = json.loads(json.dumps(found.as_dict()))
    for t, one, two in ((0, 0, 1), (1, 2, 0)):
        place = (t * len(B) + one) * len(B) + two
        assert content["scores"][place] == pytest.approx(list(found.scores[t, one, two]), abs=1e-3)
        first = found.plans[t, one, two][0]
        order, tests, epsilon, coins, rate1, rate2 = content["plans"][place][0]
        assert (order, tests) == (first.order, first.tests)
        assert (epsilon, coins, rate1, rate2) == pytest.approx(
            (first.epsilon, first.coins, first.rate1, first.rate2), rel=1e-3
        )


def test_the_defaults_are_among_the_places() -> None:
    default = CuratePCParameters.build({})
    assert default.beta1 in BETAS
    assert default.beta2 in BETAS
    assert default.cutoff in THRESHOLDS


def test_stopped_is_none_and_what_is_not_public_is_refused(cancer: Dataset) -> None:
    seen: list[Progress] = []
    stopped = margins(
        cancer, 1.0, thresholds=T, betas=B, draws=2, cancelled=lambda: len(seen) > 3,
        on_progress=seen.append,
    )  # fmt: skip
    assert stopped is None
    assert len(seen) == 4
    with pytest.raises(InputError, match="at most 12 columns"):
        margins(load_dataset("child", n=100), 1.0)
