"""Every graph algorithm uses background knowledge, and it costs no ε."""

from dataclasses import replace
from functools import cache

import pytest

from engine import ALGORITHMS, InputError, Knowledge, load_dataset, run
from engine.algorithms import marginal_pc
from engine.data.schema import Column, Schema
from engine.graphs.known import Known
from engine.knowledge import ORIENTS
from engine.marginals.moments import refine_pairs
from tests.contract.conftest import short
from tests.contract.test_algorithms import seen

GRAPHS = [key for key, a in ALGORITHMS.items() if a.columns is None]
# Of each, every guarantee that it has.
CASES = [(key, g) for key in GRAPHS for g in (ALGORITHMS[key].guarantees or (None,))]

KNOWN = Knowledge(
    tiers=[["asia", "smoke"], ["tub", "lung", "bronc", "either"], ["xray", "dysp"]],
    forbidden=[("lung", "tub"), ("tub", "lung"), ("bronc", "xray")],
    required=[("smoke", "bronc"), ("asia", "tub")],
    leaves=["dysp"],
)
FALSE = Knowledge(tiers=[["dysp", "xray"], ["smoke", "asia"]])  # turned round


@cache
def asia():
    return load_dataset("asia", n=3000, seed=3)


@cache
def ran(key, guarantee, knowledge=None):
    values = short(key, 1.0)
    if guarantee is not None:
        values |= {"guarantee": guarantee, "epsilon": 1.0}
    return run(key, asia(), seed=2, knowledge=knowledge, **values)


@pytest.mark.parametrize(("key", "guarantee"), CASES)
def test_no_result_contradicts_what_is_known(key, guarantee):
    for known in (KNOWN, FALSE):
        found = ran(key, guarantee, knowledge=known)
        on = Known(known, found.names)
        arrows = found.matrix & ~found.matrix.T
        assert not (arrows & on.barred).any()
        assert not (found.matrix & on.apart).any()
        assert not (on.required & ~arrows).any()
        # A link that may point one way only does, unless a cycle of such links leaves it open.
        assert (arrows | ~on.fixed_arrows(found.matrix | found.matrix.T)).all()
        assert found.knowledge == known
        assert found.knowledge_alone.skeleton_f1 == found.metrics_all.skeleton_f1


@pytest.mark.parametrize(("key", "guarantee"), CASES)
def test_no_question_is_asked_that_knowledge_answers(key, guarantee):
    found = ran(key, guarantee, knowledge=KNOWN)
    on = Known(KNOWN, found.names)
    for step in found.steps:
        if step.x is None or step.y is None:
            continue
        x, y, *given = (
            found.names.index(name) for name in (step.x, step.y, *step.conditioning_set)
        )
        assert not on.apart[x, y] or on.telling[x, y]
        assert not on.linked[x, y]
        assert all(on.may_separate(z, x, y) for z in given)


@pytest.mark.parametrize(("key", "guarantee"), CASES)
def test_nothing_known_changes_nothing(key, guarantee):
    free = seen(ran(key, guarantee))
    assert seen(ran(key, guarantee, knowledge=Knowledge())) == free
    assert seen(ran(key, guarantee, knowledge=Knowledge(tiers=[asia().names]))) == free


@pytest.mark.parametrize("key", [key for key, g in CASES if g == "strict"])
def test_a_strict_guarantee_is_the_same_with_knowledge(key):
    free, found = ran(key, "strict"), ran(key, "strict", knowledge=KNOWN)
    assert found.proven == free.proven
    assert found.ledger.method == free.ledger.method
    assert found.ledger.used_epsilon <= found.proven.epsilon


@pytest.mark.parametrize(("key", "guarantee"), CASES)
def test_where_it_only_orients_links_cost_and_are_as_without(key, guarantee):
    free = ran(key, guarantee)
    for known in (KNOWN, FALSE):
        found = ran(key, guarantee, knowledge=replace(known, use=ORIENTS))
        assert found.skeleton == free.skeleton
        assert found.ci_tests_by_order == free.ci_tests_by_order
        assert list(found.ledger) == list(free.ledger)
        on = found.known
        arrows = found.matrix & ~found.matrix.T
        assert not (arrows & on.barred).any()
        assert not (on.required & found.matrix.T & ~arrows).any()


def of_sachs(knowledge=None):
    data = load_dataset("sachs", n=20_000, seed=1)
    return run("marginal_pc", data, seed=1, epsilon=1.0, knowledge=knowledge)


def test_marginal_pc_measures_no_pair_again_that_is_known_to_be_apart(monkeypatch):
    """The first release holds all pairs (they stand in conditioning sets), the others do not."""
    chosen = []

    def noted(session, store, moments, pairs, rho):
        chosen.append(set(map(frozenset, pairs)))
        refine_pairs(session, store, moments, pairs, rho)

    monkeypatch.setattr(marginal_pc, "refine_pairs", noted)
    free = of_sachs()
    again = {frozenset(free.names[i] for i in pair) for pair in set.union(*chosen)}
    pair = min(again & free.skeleton, key=sorted)
    columns = frozenset(map(free.names.index, pair))
    chosen.clear()
    of_sachs(Knowledge(forbidden=[tuple(pair), tuple(reversed(tuple(pair)))]))
    assert chosen
    assert columns not in set.union(*chosen)


def test_arrows_that_are_known_are_told_as_sure():
    found = ran("marginal_pc", "strict", knowledge=KNOWN)
    told = Known(KNOWN, found.names).fixed_arrows(found.matrix | found.matrix.T)
    diagnostics = found.diagnostics
    assert told.any()
    for (i, j), share in diagnostics.direction_confidence.items():
        if told[i, j] or told[j, i]:
            assert share == told[i, j]
        else:
            assert 0 < share < 1


def test_the_schema_states_it_and_the_argument_comes_first():
    data = asia()
    columns = tuple(
        Column(name=name, type="ordered", levels=levels)
        for name, levels in zip(data.names, data.levels, strict=True)
    )
    stated = replace(data, schema=Schema(columns, knowledge=KNOWN))
    found = run("marginal_pc", stated, seed=2, epsilon=1.0)
    assert found.knowledge == KNOWN
    assert (found.matrix == ran("marginal_pc", "strict", knowledge=KNOWN).matrix).all()
    assert run("marginal_pc", stated, seed=2, epsilon=1.0, knowledge=FALSE).knowledge == FALSE


def test_a_pair_is_asked_without_knowledge():
    pair = load_dataset("pair:cubic:uniform", n=200)
    known = Knowledge(required=[pair.names])
    with pytest.raises(InputError, match="it would decide the answer"):
        run("anm", pair, knowledge=known)


def test_a_name_of_no_column_is_refused():
    with pytest.raises(InputError, match="Did you mean 'smoke'"):
        ran("pc", None, knowledge=Knowledge(roots=["smokes"]))
