"""Transcript replay: one run's answers, forced on a neighbour, leave nothing else to tell them by.

For every registered algorithm with a strict guarantee, under every test, score and encoding it has.
"""

import numpy as np
import pytest

from engine import ALGORITHMS, InputError, load_dataset
from engine.algorithms import marginal_pc
from engine.audit.instrumented import repeated_noise
from engine.audit.neighbours import all_alike, extremes, from_dataset, many
from engine.audit.replay import NOTHING, differences, replay, transcript
from engine.data.dataset import Dataset
from engine.privacy import mechanisms

STRICT = [key for key, a in ALGORITHMS.items() if a.private and "strict" in a.guarantees]
# Runs of few steps: a replay checks each of them alike.
SHORT = {"noleaks": {"gradients": 6}, "curate_notears": {"initial": 0.2}}

# To plan the noise for a sampling rate takes a second: one number of rows, and of tests.
ROWS, ONE_PLAN = 50, {"gauss_pc": {"tests": 5}}


def variants(key):
    """The defaults, every other choice there is, and a sample of rows."""
    options = [{}]
    for spec in ALGORITHMS[key].params.specs():
        if spec.kind == "choice" and spec.name != "guarantee":
            options += [{spec.name: c} for c in spec.choices if c not in (spec.default, "oracle")]
        if spec.name == "subsample":
            options += [{spec.name: "off"}, {spec.name: 15, **ONE_PLAN.get(key, {})}]
        if spec.name == "stable":
            options.append({spec.name: True})
    for option in options:
        yield {**SHORT.get(key, {}), **option, "epsilon": 2.0}


def suited(key, **options):
    """Random neighbours of the shape that the algorithm takes."""
    chosen = ALGORITHMS[key]
    return many(columns=chosen.columns, least=chosen.min_rows, **options)


CASES = [(key, values) for key in STRICT for values in variants(key)]


def replayed(key, values, pairs, first_seed=0):
    algorithm, found = ALGORITHMS[key], NOTHING
    params = algorithm.params.build(values)
    for seed, pair in enumerate(pairs, first_seed):
        found += replay(algorithm, pair, params, seed)
    return found


@pytest.mark.parametrize(("key", "values"), CASES, ids=[f"{k}-{v}" for k, v in CASES])
def test_nothing_but_the_answers_tells_neighbours_apart(key, values):
    rows = ROWS if "subsample" in values else None
    pairs = list(suited(key, seed=len(repr(values)), count=12, rows=rows))
    if ALGORITHMS[key].columns is not None:  # few columns leave chance little room for extremes
        pairs += [*extremes(ALGORITHMS[key].columns)] * 3
    try:
        found = replayed(key, values, pairs[:1])
    except InputError:  # refused at once, or of private data: it releases nothing
        assert set(values) - {"epsilon", *SHORT.get(key, {})}  # the defaults never are
        return
    found += replayed(key, values, pairs[1:], first_seed=1)
    assert found.faults == ()
    assert found.passed
    assert found.largest > 0.1  # the pairs are hard enough to say something


@pytest.mark.parametrize("key", STRICT)
def test_the_documented_extremes(key):
    found = replayed(key, SHORT.get(key, {}), list(extremes(ALGORITHMS[key].columns)))
    assert found.passed, found.faults
    assert found.largest > 0.5


@pytest.mark.parametrize(
    ("cells", "later"), [(256, {"all orders"}), (0, {"triples", "whole tables"})]
)
def test_every_release_of_marginal_pc_is_met(cells, later, monkeypatch):
    """With little noise triples are worth their budget: they too move as far as was charged.

    Real links, as triples are bought for what is seen to be joined; random persons are replaced.
    What follows from the releases is short here; how directions are found does not change them.
    """
    monkeypatch.setattr(marginal_pc, "MOST_CELLS", cells)
    rng, pairs = np.random.default_rng(3), []
    for seed in range(16):
        data = load_dataset("cancer", n=2000, seed=seed)
        row = int(rng.integers(data.n))
        pairs.append(from_dataset(data, row, [int(rng.integers(r)) for r in data.cardinalities]))
    found = replayed("marginal_pc", {"epsilon": 100.0, "orientation": "majority"}, pairs)
    assert found.passed, found.faults
    assert set(found.ratios) == {"all pairs", "pairs again", *later}
    assert min(found.ratios.values()) > 0.99


def same_course(key, data, values):
    """The labels of a run's charges, once its answers have led to the same on rows all alike."""
    params = ALGORITHMS[key].params.build({**SHORT.get(key, {}), **values})
    alike = Dataset.from_codes(np.zeros_like(data.codes), data.names, data.levels)
    first = transcript(ALGORITHMS[key], data, params, 1)
    second = transcript(ALGORITHMS[key], alike, params, 1, script=first.answers)
    assert differences(first, second) == []
    return {charge.label for charge in first.ledger}


@pytest.mark.parametrize("key", [k for k in STRICT if ALGORITHMS[k].columns is None])
def test_a_course_follows_from_its_answers_whatever_the_rows(key):
    """Neighbours agree where a count that decides is far from what it is compared with."""
    own = load_dataset("cancer", n=2000, seed=0).codes
    assert same_course(key, Dataset.from_codes(own), {"epsilon": 20.0})


def test_so_does_every_course_of_marginal_pc():
    """Ten columns that hang together: triples, whole tables, and pairs in their place."""
    rng, columns = np.random.default_rng(1), [np.zeros(30_000, int)]
    for _ in range(10):
        noise = rng.integers(0, 2, 30_000)
        columns.append(
            np.where(rng.random(30_000) < 0.45, columns[rng.integers(len(columns))], noise)
        )
    data = Dataset.from_codes(np.stack(columns[1:], axis=1))
    found = set().union(*(same_course("marginal_pc", data, {"epsilon": e}) for e in (2.0, 0.1)))
    assert found == {"all pairs", "pairs again", "triples", "whole tables"}


def test_what_a_result_does_not_show_is_compared_too(monkeypatch):
    """The released tables and the names of their levels, which are in no line of it."""
    data = Dataset.from_codes(load_dataset("cancer", n=500, seed=0).codes)
    pair = from_dataset(data, 0, 1 - data.codes[0])
    params = ALGORITHMS["marginal_pc"].params.build({})
    real = marginal_pc.MarginalDiagnostics
    for field in ("levels", "released"):
        told = iter((None, data.codes.sum()))  # of the run, of its replay
        monkeypatch.setattr(
            marginal_pc,
            "MarginalDiagnostics",
            lambda field=field, told=told, **said: real(**{**said, field: next(told)}),
        )
        found = replay(ALGORITHMS["marginal_pc"], pair, params, 0)
        assert found.faults == ("hidden contents of the result differ",)


# Faults that a replay must find; those of other algorithms are in tests/audit ---------------


class Weaker:
    """A generator whose noise is 30 % too small, of whatever kind."""

    def __init__(self, generator):
        self._generator = generator

    def __getattr__(self, name):
        return lambda *given, **options: 0.7 * getattr(self._generator, name)(*given, **options)


class Refreshed:
    """A generator that gives Gaussian noise where Laplace noise is due."""

    def __init__(self, generator):
        self._generator = generator

    def __getattr__(self, name):
        return getattr(self._generator, "normal" if name == "laplace" else name)


@pytest.mark.parametrize(("wrap", "spared"), [(Weaker, set()), (Refreshed, {"normal", "gumbel"})])
@pytest.mark.parametrize("key", STRICT)
def test_the_wrong_noise_shows_in_every_algorithm(key, wrap, spared, monkeypatch):
    """Mechanisms that draw something else than they charge; Gaussian algorithms need no Laplace."""
    first = all_alike() if ALGORITHMS[key].columns is None else extremes(ALGORITHMS[key].columns)[0]
    pairs = [first, *suited(key, seed=8, count=3, kinds=("any", "strata"))]
    plain = transcript(
        ALGORITHMS[key], pairs[0].data, ALGORITHMS[key].params.build(SHORT.get(key, {})), 0
    )
    kinds = {d.kind for a in plain.answers for d in a.draws}
    true = mechanisms._noise
    monkeypatch.setattr(mechanisms, "_noise", lambda session: wrap(true(session)))
    found = replayed(key, SHORT.get(key, {}), pairs)
    assert found.passed == (kinds <= spared)


@pytest.mark.parametrize("key", ["curate_pc", "gauss_pc", "marginal_pc", "gram_notears"])
def test_cells_of_a_sweep_that_share_a_seed_are_found(key):
    """Common random numbers: the epsilons of such runs do not add up."""
    data, build = all_alike().data, ALGORITHMS[key].params.build
    runs = [
        [transcript(ALGORITHMS[key], data, build({"epsilon": e}), seed=s) for e, s in cells]
        for cells in ([(0.5, 1), (1.0, 1)], [(0.5, 1), (1.0, 2)])
    ]
    shared, apart = (
        repeated_noise([d for one in cells for a in one.answers for d in a.draws]) for cells in runs
    )
    assert shared
    assert not apart
