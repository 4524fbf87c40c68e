"""Background knowledge by names: contradictions in one sentence, and two ways to read it."""

import json
import pickle
import time
from itertools import pairwise

import pytest

from engine import InputError, Knowledge, load_dataset, load_knowledge, run
from engine.data.schema import Column, Schema, parse_schema
from engine.knowledge import ORIENTS, parse_knowledge

WHOLE = Knowledge(
    tiers=[["age", "sex"], ["smoke"], ["cough"]],
    forbidden=[("age", "sex"), ("sex", "age")],
    required=[("smoke", "cough")],
    roots=["age"],
    leaves=["cough"],
)

TETRAD = """/knowledge
addtemporal

1* age sex
2 smoke
3 cough

forbiddirect
smoke age

requiredirect
smoke cough
"""


def test_what_each_fact_bars():
    assert WHOLE.allows("smoke", "cough")
    assert WHOLE.allows("sex", "smoke")
    assert WHOLE.why_not("smoke", "sex") == "'smoke' is in a later tier than 'sex'"
    assert WHOLE.why_not("sex", "age") == "'sex' → 'age' is forbidden"
    assert WHOLE.why_not("elsewhere", "age") == "'age' is a root, which nothing causes"
    assert WHOLE.why_not("cough", "elsewhere") == "'cough' is a leaf, which causes nothing"
    loose = Knowledge(required=[("a", "b")])
    assert loose.why_not("b", "a") == "'a' → 'b' is required"
    assert loose.allows("a", "c")  # a column in no tier is free
    assert WHOLE.tier("smoke") == 1
    assert WHOLE.tier("elsewhere") is None


def test_two_that_say_the_same_are_equal():
    again = Knowledge(
        tiers=(("sex", "age"), ("smoke",), ("cough",)),
        forbidden={("sex", "age"), ("age", "sex")},
        required=[["smoke", "cough"]],
        roots=("age",),
        leaves=("cough",),
    )
    assert again == WHOLE
    assert hash(again) == hash(WHOLE)
    assert pickle.loads(pickle.dumps(WHOLE)) == WHOLE
    assert repr(WHOLE) == "<Knowledge: 3 tiers, 2 forbidden, 1 required, 1 roots, 1 leaves>"
    assert repr(Knowledge(roots=["a"], use=ORIENTS)) == "<Knowledge: 1 roots, only orients>"
    assert not Knowledge()
    assert not Knowledge(tiers=[["a", "b"]])  # one tier says nothing
    assert Knowledge(tiers=[["a"], ["b"]])


@pytest.mark.parametrize(
    ("stated", "sentence"),
    [
        ({"tiers": [["a"], ["b", "a"]]}, "'a' is in two tiers; keep it in one."),
        (
            {"tiers": [["a"], ["b"]], "required": [("b", "a")]},
            "'b' → 'a' is required, but 'b' is in a later tier than 'a'; drop one of the two.",
        ),
        (
            {"required": [("a", "b")], "forbidden": [("a", "b")]},
            "'a' → 'b' is required, but 'a' → 'b' is forbidden; drop one of the two.",
        ),
        (
            {"required": [("a", "b")], "roots": ["b"]},
            "'a' → 'b' is required, but 'b' is a root, which nothing causes; drop one of the two.",
        ),
        (
            {"required": [("a", "b"), ("b", "c"), ("c", "a")]},
            "The required arrows make a cycle: a → b → c → a; drop one.",
        ),
        (
            {"required": [("a", "b"), ("b", "a")]},
            "'a' → 'b' is required, but 'b' → 'a' is required; drop one of the two.",
        ),
        (
            {"forbidden": [("a", "a")]},
            "A forbidden arrow consists of two different names, cause and effect.",
        ),
        (
            {"tiers": [["a"], ["b"]], "required": [("b", "u"), ("u", "a")]},
            "The required arrows lead from 'b' to 'a', which is in an earlier tier; drop one of "
            "them.",
        ),
        ({"tiers": ["age"]}, "Knowledge takes lists of names, not 'age'."),
        ({"roots": [3]}, "Knowledge takes names of columns for roots, not 3."),
        ({"use": "half"}, "Knowledge is used full or orients, not 'half'."),
    ],
)
def test_a_contradiction_is_one_sentence(stated, sentence):
    with pytest.raises(InputError) as caught:
        Knowledge(**stated)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (  # forbidden within a tier of 100,000 names: a hundred times more arrows than a machine
            b"addtemporal\n1* " + b" ".join(b"%d" % k for k in range(100_000)),
            "at most 200,000 forbidden arrows",
        ),
        (  # half of a pair of code units: no file could hold what names it
            b'{"format": "dp-causal-explorer/knowledge", "version": 1, "roots": ["\\ud800"]}',
            "names of columns for roots",
        ),
    ],
)
def test_what_would_take_all_memory_or_could_not_be_written_is_one_sentence(raw, sentence):
    with pytest.raises(InputError, match=sentence):
        load_knowledge(raw)


@pytest.mark.slow
def test_a_long_way_of_required_arrows_is_walked_once():
    """A chain is no cycle; closed it is one, and the sentence cuts it."""
    names = [f"{k:05d}" for k in range(20_000)]
    chain = list(pairwise(names))
    Knowledge(required=chain[:2_000])
    begun = time.process_time()
    with pytest.raises(InputError, match="00005 → … → 00000; drop one"):
        Knowledge(required=[*chain, (names[-1], names[0])])
    assert time.process_time() - begun < 1.5  # of .6; looked for in a list of the way it is 2.2


def test_json_there_and_back(tmp_path):
    for known in (WHOLE, Knowledge(), Knowledge(roots=["a"], use=ORIENTS)):
        path = tmp_path / "known.json"
        path.write_text(json.dumps(known.to_json()), encoding="utf-8")
        assert load_knowledge(path) == known
    with pytest.raises(InputError, match="Did you mean 'tiers'"):
        parse_knowledge({**WHOLE.to_json(), "tier": []})
    for raw in (b"{", b"\xff\xfe", b"[1]", b'{"format": "x"}'):
        with pytest.raises(InputError):
            load_knowledge(raw)
    with pytest.raises(InputError, match="There is no knowledge to read"):
        load_knowledge(tmp_path / "none.json")


def test_tetrads_file_is_read():
    found = load_knowledge(TETRAD.encode())
    assert found == Knowledge(
        tiers=[["age", "sex"], ["smoke"], ["cough"]],
        forbidden=[("age", "sex"), ("sex", "age"), ("smoke", "age")],
        required=[("smoke", "cough")],
    )
    # A tier comes by its number, whatever the rows' order, and is one on two rows.
    found = load_knowledge(b"/knowledge\naddtemporal\n2 b\n1* a\n10 d\n1 c\n")
    assert found == Knowledge(tiers=[["a", "c"], ["b"], ["d"]], forbidden=[("a", "c"), ("c", "a")])
    for group, section in (("forbiddengroup", "forbiddirect"), ("requiredgroup", "requiredirect")):
        with pytest.raises(InputError, match=f"{group} is not read here; .* under {section}"):
            load_knowledge(f"/knowledge\naddtemporal\n1 a\n{group}\na\nb\n".encode())
    with pytest.raises(InputError, match="is two names"):
        load_knowledge(b"/knowledge\nforbiddirect\na b c\n")
    with pytest.raises(InputError, match="begins with its number"):
        load_knowledge(b"/knowledge\naddtemporal\na b\n")
    with pytest.raises(InputError, match="begins with its number"):
        load_knowledge(b"/knowledge\naddtemporal\n" + b"9" * 5000 + b" b\n")


def test_knowledge_is_a_part_of_a_schema():
    columns = tuple(
        Column(name=name, type="ordered", levels=("no", "yes")) for name in ("age", "smoke")
    )
    known = Knowledge(tiers=[["age"], ["smoke"]])
    schema = Schema(columns, 100, knowledge=known)
    assert parse_schema(schema.to_json()) == schema
    assert "knowledge" not in Schema(columns).to_json()
    with pytest.raises(InputError, match="names 'smok', which is not a column"):
        Schema(columns, knowledge=Knowledge(roots=["smok"]))
    with pytest.raises(InputError, match="names 'smok', which is not a column"):
        run("pc", load_dataset("asia", n=100), knowledge=Knowledge(tiers=[["smok"]]))
