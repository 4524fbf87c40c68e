"""One request: equal exactly where its answer is, and the same in every form that it takes."""

import json
import shlex
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import ALGORITHMS, InputError, Knowledge, run, sweep
from engine.__main__ import main
from engine.algorithms import priv_pc
from engine.params import ParameterError, param
from engine.registry import GRAPHS
from engine.request import Request, Source, filled
from engine.serialise import result_dict
from engine.studies.summary import frame

CANCER = Source("cancer", 2_000)
SAYS = Knowledge(tiers=[["Pollution", "Smoker"], ["Cancer"]], forbidden=[("Xray", "Cancer")])
KNOWN = (None, Knowledge(), SAYS, Knowledge(roots=["Smoker"]))


def admitted(spec):
    """Values that a field admits, its default among them."""
    among = [spec.default, *spec.choices, *spec.words, *spec.among]
    if spec.kind == "bool":
        among = [False, True]
    if spec.kind in ("int", "float"):
        whole = spec.kind == "int"
        among += [one for one in (spec.low, spec.high, 1, 2) if one is not None]
        among = [int(v) if whole and not isinstance(v, str) else v for v in among]
    return st.sampled_from([one for one in among if fits(spec, one)])


def fits(spec, value):
    try:
        return spec.check(value) is not None
    except ParameterError:
        return False


@st.composite
def requests(draw):
    """A request for any algorithm: some fields, some seed, something known."""
    key = draw(st.sampled_from(GRAPHS))
    fields = {s.name: admitted(s) for s in ALGORITHMS[key].params.specs()}
    params = draw(st.fixed_dictionaries({}, optional=fields))
    source = draw(st.sampled_from([CANCER, Source("cancer", 500), Source("cancer", 2_000, 1)]))
    return Request(source, key, params, draw(st.integers(0, 2)), draw(st.sampled_from(KNOWN)))


@given(requests())
def test_a_request_is_the_same_in_every_form(one):
    assert Request.from_words(one.to_words()) == one
    assert Request.from_json(json.loads(json.dumps(one.to_json()))) == one
    assert len({one, Request.from_words(one.to_words())}) == 1


@given(requests(), requests())
def test_two_are_equal_where_all_that_has_an_effect_is(one, other):
    """What is said in another way, and what has no effect, makes no other request."""
    parts = [(r.source, r.algorithm, dict(r.params), r.seed, r.knowledge) for r in (one, other)]
    assert (one == other) == (parts[0] == parts[1]) == (one.key == other.key)
    specs = ALGORITHMS[one.algorithm].params.specs()
    silent = {s.name: s.default for s in specs if s.name not in one.params}
    said = {k: int(v) if v == 1.0 and not isinstance(v, bool) else v for k, v in one.params.items()}
    assert replace(one, params={**said, **silent}) == one
    assert replace(one, seed=3) != one


@pytest.mark.parametrize("key", GRAPHS)
def test_what_has_no_effect_changes_no_answer(key):
    """Whatever is without effect, at any value that its field admits."""
    specs = ALGORITHMS[key].params.specs()
    choices = next((s.choices for s in specs if s.name == "guarantee"), ())
    for guarantee in choices or (None,):
        asked = {} if guarantee is None else {"guarantee": guarantee}
        one = Request(Source("cancer", 500), key, asked)
        answers = [answer(one.run(trace=False))]
        for spec in specs:
            for value in others(spec) if spec.name not in filled(key, asked) else ():
                with suppress(InputError):  # fields that are refused together
                    same = run(key, DATA, **asked, **{spec.name: value}, trace=False)
                    assert {**answer(same), "params": answers[0]["params"]} == answers[0], spec.name


DATA = Source("cancer", 500).load()


def others(spec):
    """Values of a field but for its default."""
    among = [*spec.choices, *spec.words, *spec.among, spec.low, spec.high, False, True, 1, 2]
    return [one for one in among if one is not None and one != spec.default and fits(spec, one)]


def answer(result):
    return {**result_dict(result), "seconds": 0}


@pytest.mark.parametrize("known", [None, SAYS, "two-tiers"])
def test_program_and_command_give_its_answer(known, capsys):
    one = Request(CANCER, "marginal_pc", {"epsilon": 2}, 3)
    if known is not None:
        words = {"cancer-known": known} if known == "two-tiers" else {}
        one = Request.from_words({**replace(one, knowledge=SAYS).to_words(), **words})
    found = {}
    exec(one.to_python(), found)
    assert answer(found["result"]) == answer(one.run())
    capsys.readouterr()
    assert main([*shlex.split(one.to_command())[3:], "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {**printed, "seconds": 0} == json.loads(json.dumps(answer(one.run())))


def test_own_rows_are_in_no_form():
    one = Request(Source("own", identity="own-8d2f"), seed=None, knowledge=SAYS)
    assert one.source.own
    forms = [one.to_command(), *one.to_words().values(), str(one.to_json()["dataset"])]
    assert not any("8d2f" in form for form in (*forms, one.to_python()))
    assert "seed" not in {*one.to_words(), *one.to_json()}


@dataclass(frozen=True, kw_only=True)
class More(priv_pc.ALGORITHM.params):
    """A field that is declared here, and nowhere else."""

    patience: float = param(0.5, "Patience", low=0.0, high=4.0, help="For tests.")


def test_a_field_is_declared_once(monkeypatch, capsys):
    """From then on it is in address, key, flags, settings, program and study table."""
    monkeypatch.setattr(priv_pc, "ALGORITHM", replace(priv_pc.ALGORITHM, params=More))
    one, other = (Request(CANCER, "priv_pc", {"patience": p}) for p in (1.5, 0.5))
    assert one != other == Request(CANCER, "priv_pc")
    assert one.to_words()["patience"] == "1.5"
    assert one.to_json()["parameters"]["patience"] == 1.5
    assert "patience=1.5," in one.to_python()
    assert "--patience 1.5" in one.to_command()
    assert main([*shlex.split(one.to_command())[3:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["params"]["patience"] == 1.5
    assert frame(sweep("cancer", "priv_pc", one.params, 1))["patience"].tolist() == [1.5]
