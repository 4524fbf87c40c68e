"""CURATE's margins by hand: every place's plan, bounds and score are those of ordinary runs."""

import numpy as np
import pytest

from engine import InputError, load_dataset, run
from engine.algorithms.curate_pc import CuratePCParameters
from engine.studies.margins import BETAS, THRESHOLDS, margins, planned
from engine.theory import kendall_p_bound, lemma1

T, B = (0.05, 0.1), (0.2, 0.4, 1.0)


@pytest.fixture(scope="module")
def cancer():
    return load_dataset("cancer", n=1000)


def test_every_place_has_the_plan_and_scores_of_its_runs(cancer):
    found = margins(cancer, 1.0, thresholds=T, betas=B, draws=2)
    for t, one, two in ((0, 0, 1), (1, 2, 0), (1, 1, 2)):
        place = (t * len(B) + one) * len(B) + two  # the order that the browser reads
        asked = {"epsilon": 1.0, "threshold": T[t], "beta1": B[one], "beta2": B[two]}
        runs = [run("curate_pc", cancer, seed=seed, **asked) for seed in range(2)]
        scores = [r.metrics_tested.skeleton_f1 for r in runs if r.metrics_tested]
        assert found["scores"][place] == pytest.approx(scores, abs=1e-3)
        begun = runs[0].diagnostics.allocation.at_the_start()
        plan = found["plans"][place]
        assert [s[1] for s in plan] == [b.tests for b in begun.values()]
        assert [s[2] for s in plan] == pytest.approx([b.epsilon for b in begun.values()], rel=1e-3)
        assert sum(s[3] for s in plan) == pytest.approx(100, rel=1e-3)
        assert plan == pytest.approx(np.array(planned(cancer, **asked)), rel=1e-3)
    t, one, two = found["best"]
    means = [np.mean(scores) for scores in found["scores"]]
    assert means[(t * len(B) + one) * len(B) + two] == max(means)


@pytest.mark.parametrize("beta1", [0.1, 0.5])
def test_the_rates_are_lemma_1s(beta1, cancer):
    asked = {"threshold": 0.05, "beta1": beta1, "beta2": 0.3}
    first = planned(cancer, epsilon=5.0, guarantee="published", **asked)[0]
    wanted = lemma1(first[2], 0.05, kendall_p_bound(1000), beta1=beta1, beta2=0.3)
    bounds = [(1 + np.exp(-rate * first[2])) / 2 for rate in first[4:]]
    assert bounds == pytest.approx(wanted)


def test_the_defaults_are_among_the_places():
    default = CuratePCParameters.build({})
    assert default.beta1 in BETAS
    assert default.beta2 in BETAS
    assert default.cutoff in THRESHOLDS


def test_stopped_is_none_and_what_is_not_public_is_refused(cancer):
    seen = []
    stopped = margins(
        cancer, 1.0, thresholds=T, betas=B, draws=2, stop=lambda: len(seen) > 3,
        on_progress=lambda share, phrase: seen.append(share),
    )  # fmt: skip
    assert stopped is None
    assert len(seen) == 4
    with pytest.raises(InputError, match="at most 12 columns"):
        margins(load_dataset("child", n=100), 1.0)
