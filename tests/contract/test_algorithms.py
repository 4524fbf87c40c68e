"""One suite that every registered algorithm must pass; a new registry line is tested at once."""

import dataclasses
import math
import random
import sys
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from engine import ALGORITHMS, Dataset, InputError, load_dataset, run
from engine.params import Parameters
from engine.privacy.accounting import Guarantee
from engine.privacy.budget import PRESETS
from engine.registry import GRAPHS, NON_PRIVATE, TITLES
from tests.contract.conftest import sample_for, short
from tests.privacy.readd import total_of

network = cache(load_dataset)  # read and counted once for all algorithms

KEYS = list(ALGORITHMS)
PRIVATE = [key for key, a in ALGORITHMS.items() if a.private]
STATUSES = {"complete", "budget_exhausted", "cancelled"}

# Whose limit without noise is PC; what another parent's limit is, the algorithm's own tests show.
PARENT = {key: "pc" for key, a in ALGORITHMS.items() if a.parent == "pc"}


def has(key, *names):
    return set(names) <= {spec.name for spec in ALGORITHMS[key].params.specs()}


CASES = [(key, g) for key in PRIVATE for g in ALGORITHMS[key].guarantees]
EVERY = [*CASES, *((key, None) for key in KEYS if key not in PRIVATE)]
STRICT = [key for key in PRIVATE if "strict" in ALGORITHMS[key].guarantees]


def seen(result):
    """Everything of a run but the clock, comparable even with NaNs in it."""
    return (
        result.matrix.tolist(),
        sorted(map(sorted, result.skeleton)),
        result.ci_tests_by_order,
        repr(list(result.ledger)),
        repr(result.steps),
        repr(sorted((sorted(k), list(map(sorted, v))) for k, v in result.separating_sets.items())),
        result.status,
        repr(result.claimed),
        repr(result.proven),
    )


def test_a_run_of_priv_pc_is_followed_through_few_files():
    """Those of the engine that a run enters, once its loops are compiled; one is its monitor."""
    run("priv_pc", sample_for(None), epsilon=1.0, seed=0)
    entered, fresh = set(), load_dataset("asia", n=1_000)
    sys.setprofile(lambda frame, *_: entered.add(Path(frame.f_code.co_filename)))
    run("priv_pc", fresh, epsilon=1.0, seed=0)
    sys.setprofile(None)
    ours = {path for path in entered if "engine" in path.parts}
    assert {"priv_pc.py", "skeleton.py", "mechanisms.py"} <= {path.name for path in ours}
    assert len(ours) <= 21, sorted(map(str, ours))


# Registry and declarations --------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
def test_registry_line(key):
    a = ALGORITHMS[key]
    assert a.key == key
    assert a.title == TITLES[key]
    assert a.private == (key not in NON_PRIVATE)
    assert (a.columns is None) == (key in GRAPHS)
    assert a.reference
    assert a.summary.endswith(".")
    assert a.family
    assert not a.private or a.ledger is not None
    assert (a.epsilon_pays is not None) == ("published" in a.guarantees)
    assert set(a.presets) <= set(PRESETS)
    for values in a.presets.values():
        assert a.params.build(values)
    # What it becomes without noise is another algorithm, without privacy.
    assert a.parent is None or (a.private and not ALGORITHMS[a.parent].private)


@pytest.mark.parametrize("key", KEYS)
def test_declarations_are_whole(key):
    """What they do with a value is tested with any parameters (tests/test_params.py)."""
    cls = ALGORITHMS[key].params
    assert issubclass(cls, Parameters)
    assert cls.build(cls().as_dict()) == cls()
    declared = {spec.name: spec for spec in cls.specs()}
    for spec in cls.specs():
        assert spec.check(spec.default) == getattr(cls(), spec.name)
        assert spec.title
        assert spec.help.endswith(".")
        for way in spec.when if isinstance(spec.when, tuple) else (spec.when,):
            for other, admitted in way.items():
                assert all(declared[other].check(v) == v for v in admitted)


# A run ----------------------------------------------------------------------------------


def check_result(result, data, key):
    """Consistency of the fields of the public API."""
    assert result.algorithm == key
    assert result.names == data.names
    assert result.fingerprint == data.fingerprint
    assert result.matrix.shape == (data.d, data.d)
    assert result.matrix.dtype == bool
    assert not result.matrix.diagonal().any()
    assert all(isinstance(p, frozenset) and len(p) == 2 for p in result.skeleton)
    assert set(result.cpdag.nodes) == set(data.names)
    assert {frozenset(e) for e in result.cpdag.edges} == result.skeleton
    assert (result.metrics_all is None) == (data.truth is None)
    if result.metrics_all is not None:
        for name in ("skeleton_f1", "directed_f1", "recall"):
            assert 0 <= getattr(result.metrics_all, name) <= 1
        assert (result.metrics_all.precision is None) == (not result.skeleton)
        assert 0 <= (result.metrics_all.precision or 0) <= 1
    assert sum(result.ci_tests_by_order) == result.ci_tests
    assert result.proven.epsilon >= 0
    assert 0 <= result.proven.delta <= 1
    assert [s.index for s in result.steps] == list(range(len(result.steps)))
    assert result.status in STATUSES
    for pair, sets in result.separating_sets.items():
        assert pair not in result.skeleton
        assert all(given <= set(data.names) - pair for given in sets)


@pytest.mark.parametrize("key", KEYS)
def test_defaults_run(key, sample):
    """Every field of the API, global randomness untouched, the same run again without a trace."""
    numpy_before, python_before = np.random.get_state(), random.getstate()  # noqa: NPY002
    result = run(key, sample, seed=1)
    numpy_after = np.random.get_state()  # noqa: NPY002
    assert all(np.array_equal(a, b) for a, b in zip(numpy_before, numpy_after, strict=True))
    assert random.getstate() == python_before
    check_result(result, sample, key)
    assert len(result.ledger) > 0
    silent = run(key, sample, seed=1, trace=False)
    assert silent.steps == ()
    assert seen(silent)[:4] == seen(result)[:4]
    assert seen(silent)[5:] == seen(result)[5:]
    assert result.proven.epsilon == math.inf or ALGORITHMS[key].private


@pytest.mark.parametrize(("key", "guarantee"), CASES)
def test_seed_decides_everything(key, guarantee, sample):
    options = {"epsilon": 1.0, "guarantee": guarantee, **short(key, 1.0)}
    first, again, other = (run(key, sample, seed=seed, **options) for seed in (5, 5, 6))
    assert seen(first) == seen(again)
    assert repr(first.steps) != repr(other.steps)


@pytest.mark.parametrize("key", [k for k in KEYS if k not in PRIVATE])
def test_without_privacy_the_seed_is_idle(key, sample):
    first, other = (run(key, sample, seed=seed, **short(key, 1.0)) for seed in (1, 2))
    assert seen(first) == seen(other)


@pytest.mark.parametrize(("key", "guarantee"), EVERY)
def test_the_trace_carries_the_whole_ledger_and_its_reasons(key, guarantee, sample):
    heard = []
    options = {**({"guarantee": guarantee, "epsilon": 1.0} if guarantee else {}), **short(key, 1.0)}
    result = run(key, sample, seed=2, on_step=heard.append, **options)
    assert [c for step in result.steps for c in step.charges] == list(result.ledger)
    assert tuple(heard) == result.steps
    spent = [step.budget_used for step in result.steps]
    assert spent == sorted(spent)
    for step in result.steps:
        if step.x is not None:
            assert step.reason
            assert step.reason[0].islower() or step.reason.startswith("G")
            assert not step.reason.endswith(".")
    if guarantee == "strict":
        assert result.claimed is None
        assert result.proven.epsilon == 1.0
        assert result.proven.delta <= result.params.as_dict()["delta"]
        assert spent[-1] <= 1.0 + 1e-6
    elif guarantee == "published":
        assert result.claimed is not None
        assert result.ledger.cap is None
    if guarantee == "strict" and key in PARENT:  # no value without a charge, and none asked twice
        released = [s for s in result.steps if s.value is not None and s.x is not None]
        assert len({(s.x, s.y, s.conditioning_set) for s in released}) == len(released)
        assert all(s.charges for s in released)
    # Raw values ride along for public data only.
    own = run(key, dataclasses.replace(sample, public=False), seed=2, **options)
    assert own.steps
    assert all(step.internal is None for step in own.steps)


@pytest.mark.parametrize("key", KEYS)
def test_a_run_can_be_stopped(key, sample):
    result = run(key, sample, stop=lambda: True)
    assert result.status == "cancelled"
    check_result(result, sample, key)


# Budgets --------------------------------------------------------------------------------

NETWORKS = {None: ("cancer", "asia"), 2: ("pair:cubic:uniform", "pair:sine:laplace")}


def budget_cases(key):
    """Two datasets of two sizes, and budgets; each dataset has a delta and a seed.

    A run of many steps is carried out whole on one table of each size, and in fewer on others.
    """
    names = NETWORKS[ALGORITHMS[key].columns]
    for (seed, name), n, epsilon in product(enumerate(names), (50, 2000), (0.01, 0.3, 3.0, 100.0)):
        values = {"epsilon": epsilon, "delta": (1e-6, 1e-2)[seed]}
        yield network(name, n=n, seed=n), values | (short(key, epsilon) if seed else {}), seed


@pytest.mark.parametrize("key", STRICT)
def test_strict_budget_is_never_exceeded(key):
    """The ledger's events are added up apart from it.

    Every graph is valid, whether the run completed or the budget ended it.
    """
    for data, options, seed in budget_cases(key):
        epsilon, delta = options["epsilon"], options["delta"]
        result = run(key, data, seed=seed, trace=seed == 0, **options)
        assert result.ledger.cap == Guarantee(epsilon, delta)
        total = total_of(result.ledger)
        assert total.epsilon <= epsilon * (1 + 1e-6)
        assert total.delta <= delta * (1 + 1e-6)
        assert result.proven.epsilon in (0.0, epsilon)
        check_result(result, data, key)


def runs_with(key, statistic):
    """Whether a strict run of the algorithm takes the statistic."""
    spec = {s.name: s for s in ALGORITHMS[key].params.specs()}["statistic"]
    return statistic in spec.choices and (key, statistic) not in REFUSED


# G2's distance has no sensitivity that holds.
REFUSED = {("em_pc", "g2")}


@pytest.mark.parametrize("key", [k for k in STRICT if has(k, "statistic")])
@pytest.mark.parametrize("statistic", ["kendall", "spearman", "g2", "chi2"])
def test_strict_budget_with_every_statistic(key, statistic):
    data = network("survey", n=3000, seed=1)
    if not runs_with(key, statistic):
        with pytest.raises(InputError, match=statistic):
            run(key, data, statistic=statistic)
        return
    for stable in (False, True):
        result = run(key, data, epsilon=2.0, statistic=statistic, seed=1, stable=stable)
        assert total_of(result.ledger).epsilon <= 2.0 * (1 + 1e-6)
        check_result(result, data, key)


def test_the_budget_does_run_out():
    """Otherwise the runs above would never see a refusal; what was decided by then is kept."""
    asia = sample_for(None)
    runs = [run("priv_pc", asia, epsilon=1.0, seed=seed) for seed in range(20)]
    ended = [r for r in runs if r.status == "budget_exhausted"]
    assert ended
    for result in ended:
        check_result(result, asia, "priv_pc")
        assert result.ledger.remaining < result.ledger.limit
        assert [c for step in result.steps for c in step.charges] == list(result.ledger)


# Without noise --------------------------------------------------------------------------


HUGE = 1e7


@pytest.mark.parametrize("stable", [False, True])
@pytest.mark.parametrize("statistic", ["kendall", "spearman"])
@pytest.mark.parametrize(("key", "guarantee"), [(k, g) for k, g in CASES if k in PARENT])
def test_huge_budget_recovers_the_parent(key, guarantee, statistic, stable):
    """Skeleton, separating sets and directions, on three networks."""
    # no coin in CURATE's band, which is no noise
    options = {"beta1": 0.0, "beta2": 0.0} if has(key, "beta1") else {}
    if has(key, "tests"):  # its plan is a guess, and the run ends with the last planned test
        options["tests"] = 5000
    for name, n in (("cancer", 5000), ("asia", 3000), ("survey", 2000)):
        data = network(name, n=n, seed=2)
        private = run(
            key,
            data,
            epsilon=HUGE,
            guarantee=guarantee,
            statistic=statistic,
            stable=stable,
            seed=1,
            trace=False,
            **options,
        )
        parent = run(
            PARENT[key], data, variant=guarantee, statistic=statistic, stable=stable,
            threshold=private.params.cutoff, trace=False,
        )  # fmt: skip
        assert private.status == "complete"
        assert private.skeleton == parent.skeleton
        assert private.separating_sets == parent.separating_sets
        assert (private.matrix == parent.matrix).all()


# Odd data -------------------------------------------------------------------------------


@cache
def odd_data():
    rng = np.random.default_rng(0)
    levels3 = [["a", "b", "c"]] * 3
    found = {
        "two columns": Dataset.from_codes(rng.integers(0, 2, (200, 2))),
        "two columns, ten rows": Dataset.from_codes([[0, 1], [1, 0], [1, 1], [0, 0], [1, 1]] * 2),
        "two columns, all rows alike": Dataset.from_codes(
            np.zeros((60, 2), int), levels=[["a", "b"]] * 2
        ),
        "two numeric columns, one constant": Dataset.from_values(
            np.column_stack([np.linspace(-3, 3, 80), np.ones(80)]), [(-2, 2), (0, 5)]
        ),
        "two rows": Dataset.from_codes([[0, 0, 1], [1, 1, 0]]),
        "three rows": Dataset.from_codes(rng.integers(0, 3, (3, 4)), levels=[["a", "b", "c"]] * 4),
        "a level never occurs": Dataset.from_codes(rng.integers(0, 2, (300, 3)), levels=levels3),
        "a constant column": Dataset.from_codes(
            np.column_stack([rng.integers(0, 2, (300, 2)), np.zeros(300, int)]), levels=levels3
        ),
        "all rows alike": Dataset.from_codes(np.zeros((100, 3), int), levels=levels3),
        "many levels": Dataset.from_codes(
            rng.integers(0, 12, (300, 3)), levels=[[str(k) for k in range(12)]] * 3
        ),
    }
    # Public, so that a run's seed may be known.
    return {what: dataclasses.replace(data, public=True) for what, data in found.items()}


@pytest.mark.parametrize(
    ("key", "options"),
    [
        *(
            (k, {**({"guarantee": g, "epsilon": 1.0} if g else {}), **short(k, 1.0)})
            for k, g in EVERY
        ),
        *(("pc", {"statistic": statistic}) for statistic in ("spearman", "g2", "chi2")),
    ],
    ids=str,
)
def test_odd_data(key, options):
    one = ALGORITHMS[key]
    for what, data in odd_data().items():
        if one.columns not in (None, data.d) or data.n < one.min_rows:
            with pytest.raises(InputError) as caught:
                run(key, data, seed=3, **options)
            assert str(caught.value).endswith("."), what
            assert "\n" not in str(caught.value), what
            continue
        result = run(key, data, seed=3, **options)
        check_result(result, data, key)
        assert result.metrics_all is None, what
        if options.get("guarantee") == "strict":
            assert total_of(result.ledger).epsilon <= 1 + 1e-6, what
        if key == "pc" and what == "all rows alike":
            assert not result.skeleton  # a constant column is independent of everything
