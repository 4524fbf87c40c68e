"""run(): its input, its output, and how it stops."""

import networkx as nx
import numpy as np
import pytest

import engine.context as session_module
from engine import Dataset, InputError, load_dataset, run
from engine.privacy.accounting import Guarantee


@pytest.fixture(scope="module")
def cancer():
    return load_dataset("cancer", n=3000, seed=1)


@pytest.mark.parametrize("seed", [-1, 1.5, "0", True])
def test_bad_seed(seed, cancer):
    with pytest.raises(InputError, match="seed must be a whole number of at least 0"):
        run("pc", cancer, seed=seed)


def test_numpy_seed(cancer):
    a = run("priv_pc", cancer, seed=np.int64(3))
    assert a.seed == 3
    assert a.params.as_dict()["guarantee"] == "strict"  # unless another is asked for
    assert repr(a.steps) == repr(run("priv_pc", cancer, seed=3).steps)


def test_unknown_algorithm(cancer):
    with pytest.raises(InputError, match=r"no algorithm 'prv_pc'.*Did you mean 'priv_pc'"):
        run("prv_pc", cancer)
    with pytest.raises(InputError, match="no algorithm <class"):  # and no row
        run(cancer.to_frame(), "pc")


def test_published_reports_both_totals(cancer):
    result = run("priv_pc", cancer, guarantee="published", epsilon=1.0, delta=1e-3)
    assert result.claimed.delta == 1e-3
    # p moves by up to 1/2 and not by the paper's 0.04, so far more than was claimed
    assert result.proven.epsilon > 5 * result.claimed.epsilon > 0


def test_oracle_reads_no_data(cancer):
    assert run("pc", cancer, statistic="oracle").proven == Guarantee(0.0, 0.0)
    with pytest.raises(InputError, match="needs the true graph"):
        run("pc", Dataset.from_codes([[0, 1], [1, 0]]), statistic="oracle")


def test_a_stop_keeps_what_was_decided(cancer):
    polls = []

    def stop():
        polls.append(1)
        return len(polls) > 3

    result = run("pc", cancer, stop=stop)
    assert result.status == "cancelled"
    full = run("pc", cancer)
    assert 0 < result.ci_tests < full.ci_tests
    assert full.skeleton <= result.skeleton
    assert len(result.steps) == result.ci_tests


def test_metrics_need_truth_and_take_it_by_name(cancer):
    bare = Dataset.from_codes(cancer.codes, cancer.names, cancer.levels)
    assert run("pc", bare).metrics_all is None
    order = np.array([3, 0, 4, 1, 2])
    moved = Dataset.from_codes(
        cancer.codes[:, order],
        [cancer.names[j] for j in order],
        [cancer.levels[j] for j in order],
        truth=nx.DiGraph(cancer.truth),
    )
    assert run("pc", moved, stable=True).metrics_all == run("pc", cancer, stable=True).metrics_all


def test_steps_say_why_an_edge_went(cancer):
    """Every missing pair has its last step "independent", with p above the threshold."""
    result = run("pc", cancer)
    gone = {p: s for p, s in result.separating_sets.items() if p not in result.skeleton}
    assert gone
    for pair, sets in gone.items():
        step = [s for s in result.steps if {s.x, s.y} == set(pair)][-1]
        assert step.decision == "independent"
        assert step.value > step.threshold
        assert frozenset(step.conditioning_set) in sets
        assert step.order == len(step.conditioning_set)


@pytest.mark.parametrize(
    ("statistic", "threshold"), [("kendall", 0.1), ("spearman", 0.1), ("g2", 0.01), ("chi2", 0.01)]
)
def test_auto_threshold(statistic, threshold, cancer):
    result = run("pc", cancer, statistic=statistic)
    assert {s.threshold for s in result.steps} == {threshold}
    assert {s.threshold for s in run("pc", cancer, statistic=statistic, threshold=0.2).steps} == {
        0.2
    }


def test_a_long_trace_is_bounded_and_still_adds_up(monkeypatch):
    monkeypatch.setattr(session_module, "MOST_STEPS", 12)
    seen = []
    asia = load_dataset("asia", n=2_000)
    result = run("curate_pc", asia, epsilon=5.0, seed=0, on_step=seen.append)
    assert len(seen) > 20
    assert len(result.steps) == 12
    assert [step.index for step in seen] == list(range(len(seen)))
    assert result.steps[:11] == tuple(seen[:11])
    assert result.steps[-1].decision == "not kept"
    carried = [charge for step in result.steps for charge in step.charges]
    assert carried == list(result.ledger)


@pytest.mark.parametrize(
    ("of", "old", "new"),
    [
        (lambda r: r, "spent", "proven"),
        (lambda r: r, "simulation", "seed_known"),
        (lambda r: r, "metrics", "metrics_all"),
        (lambda r: r.counts, "invented", "false_positives"),
        (lambda r: r.counts, "lines", "undirected"),
        (lambda r: r.counts, "claimed", "not_identifiable"),
        (lambda r: r.counts, "right", "correct"),
        (lambda r: r.ledger, "defended", "proven"),
        (lambda r: r.ledger, "undefended", "no_guarantee_reasons"),
        (lambda r: r.ledger, "left", "remaining"),
        (lambda r: r.steps[0], "given", "conditioning_set"),
        (lambda r: r.steps[0], "spent", "budget_used"),
        (lambda r: r.summary().promise, "right", "attacker_success"),
        (lambda r: r.diagnostics, "arrow_confidence", "direction_confidence"),
    ],
)
def test_a_name_of_the_version_before_warns_and_gives_the_same(cancer, of, old, new):
    found = of(run("marginal_pc", cancer, epsilon=1.0))
    with pytest.warns(DeprecationWarning, match=f"{old} is called {new}"):
        assert getattr(found, old) == getattr(found, new)
