"""Chance enters a run through mechanisms and named streams alone; any other way is caught."""

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from engine import ALGORITHMS, load_dataset
from engine.context import RunContext
from engine.privacy.events import LaplaceEvent
from engine.privacy.ledger import Ledger
from engine.randomness import KEYS, Randomness, illustration
from engine.search.noisy_score import PrivateParameters
from engine.search.pc import pc
from engine.search.skeleton import TestByTest
from tests.contract.conftest import short

ENGINE = Path(inspect.getfile(Ledger)).resolve().parents[1]
PRIVATE = [key for key, a in ALGORITHMS.items() if a.private]
CASES = [(key, g) for key in PRIVATE for g in ALGORITHMS[key].guarantees]

# The doors beside "noise" that a default run opens. An algorithm that is not named here opens none.
DOORS = {
    ("priv_pc", "strict"): {"sample"},
    ("priv_pc", "published"): {"sample"},
    ("gauss_pc", "published"): {"sample"},
    ("curate_pc", "published"): {"coin"},
    ("anm", "strict"): {"permutation"},
    ("anm", "published"): {"permutation"},
}


class Silent:
    """A generator whose privacy noise is zero; what is drawn through other doors is fixed."""

    def __init__(self):
        self._rest = np.random.default_rng(0)

    def laplace(self, loc, scale, size=None):
        return np.zeros(size) + loc if size is not None else loc

    normal = laplace

    def gumbel(self, size=None):
        return np.zeros(size)

    def __getattr__(self, name):
        return getattr(self._rest, name)


class Deaf(Randomness):
    """Doors that open to the same thing every time: no noise, heads, rows in their order."""

    def __init__(self):
        super().__init__(0)
        self._silent = Silent()

    def generator(self, door):
        self.used[door] += 1
        return self._silent if door == "noise" else np.random.default_rng(0)

    def coin(self):
        self.used["coin"] += 1
        return True

    def permutation(self, n):
        self.used["permutation"] += 1
        return np.arange(n)


@pytest.fixture(scope="module")
def asia():
    return load_dataset("asia", n=2000, seed=3)


def outcome(run, data, params, ledger, doors):
    """All that a run gives: graph, tests, trace."""
    session = RunContext(doors, ledger, data.names)
    found = run(data, params, session)
    steps = [
        (s.kind, s.x, s.y, s.conditioning_set, s.value, s.decision, s.reason) for s in session.steps
    ]
    return found.matrix.tolist(), found.ci_tests_by_order, repr(steps)


def depends_on_hidden_chance(algorithm, data, params):
    """Whether two runs differ although no mechanism and no door draws anything at random."""
    runs = [
        outcome(algorithm.run, data, params, algorithm.ledger(data, params), Deaf())
        for _ in range(4)
    ]
    return any(r != runs[0] for r in runs)


@pytest.mark.parametrize(("key", "guarantee"), CASES)
def test_chance_comes_through_the_doors_that_are_known(key, guarantee, sample):
    algorithm = ALGORITHMS[key]
    options = {"guarantee": guarantee, "epsilon": 1.0, **short(key, 1.0)}
    params = algorithm.params.build(options)
    assert not depends_on_hidden_chance(algorithm, sample, params)
    doors = Randomness(2)
    outcome(algorithm.run, sample, params, algorithm.ledger(sample, params), doors)
    assert set(doors.used) - {"noise"} == DOORS.get((key, guarantee), set())


# The forger ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Forger:
    """Pays a token and draws its noise elsewhere."""

    draw: Callable[[RunContext], float]

    def run(self, data, params, session):
        draw = self.draw

        class Rule(TestByTest):
            def independent(self, q):
                session.ledger.charge(LaplaceEvent(1e-9, 1.0))
                found = draw(session) > 0.5
                session.emit("test", "independent" if found else "dependent", query=q)
                return found

        return pc(data, params, session, Rule())

    def ledger(self, data, params):
        return Ledger(params.total)


@pytest.mark.parametrize(
    "draw",
    [
        lambda session: session.rng.random(),
        lambda session: session.randomness.generator("noise").random(),
        lambda session: session.randomness.generator("sample").random(),
        lambda session: illustration(0).random(),
    ],
    ids=["session", "noise door", "sample door", "illustration"],
)
def test_a_forger_finds_no_generator(draw, asia):
    params, forger = PrivateParameters(), Forger(draw)
    with pytest.raises((AttributeError, PermissionError)):
        outcome(forger.run, asia, params, forger.ledger(asia, params), Randomness(0))


def test_a_forger_with_a_generator_of_its_own_is_noticed(asia):
    own = Forger(lambda session: np.random.default_rng().random())
    assert depends_on_hidden_chance(own, asia, PrivateParameters())


# In the source ---------------------------------------------------------------------------

# Where generators may be made or touched: the doors, what they open to, and simulated data.
MAY = {
    "randomness.py",
    "privacy/mechanisms.py",
    "tables/store.py",
    "data/networks.py",
    "data/pairs.py",
    "data/simulated.py",
    "data/imagined.py",  # tables fitted to other levels, too
    "studies/plan.py",  # rows of random networks
    "studies/detectability.py",  # rows of columns that depend on nothing
    "studies/tune.py",  # which settings a search tries
    "studies/summary.py",  # seeds of an interval, drawn again
    "audit/neighbours.py",  # random datasets to attack
    "audit/release.py",  # the same, of a release's own settings
    "release/budget.py",  # ids of charges, which are no noise
}


SOURCES = {"_generator", "default_rng", "RandomState", "random", "secrets", "urandom"}


def randomness_in(path):
    """Names in a file that make a generator or take one out of its box."""
    found, text = set(), path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)) if any(word in text for word in SOURCES) else ():
        names = {node.attr} if isinstance(node, ast.Attribute) else set()
        if isinstance(node, ast.Name):
            names = {node.id}
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name.split(".")[0] for alias in node.names}
            names |= {(getattr(node, "module", None) or "").split(".")[0]}
        found |= names & SOURCES
    return found


def test_no_other_file_holds_a_generator():
    assert [name for name in MAY if not (ENGINE / name).exists()] == []
    files = [p for p in ENGINE.rglob("*.py") if p.relative_to(ENGINE).as_posix() not in MAY]
    assert len(files) > 50
    assert {p.name: found for p in files if (found := randomness_in(p))} == {}


def test_the_doors_open_to_modules_that_exist():
    for module in KEYS.values():
        assert (ENGINE.parent / (module.replace(".", "/") + ".py")).exists()
