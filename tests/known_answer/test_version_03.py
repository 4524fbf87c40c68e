"""Read files that version 0.3.0 wrote (``version_03``): nothing that they say is lost."""

import json
from itertools import product
from pathlib import Path

import pytest

from engine import load_dataset, load_release, load_schema, run
from engine.graphs.metrics import Counts
from engine.knowledge import load_knowledge
from engine.serialise import current, result_dict
from engine.studies.store import read_study

FILES = Path(__file__).parent / "version_03"
RUNS = {
    "run.json": ("marginal_pc", 50000, {"orientation": "strongest"}, "knowledge.json"),
    "run_published.json": ("svt_pc", 5000, {"guarantee": "published"}, None),
}
# What this version adds to a run's JSON, and what version 0.3 wrote as a sentence.
FRESH = {"edges", "guaranteed_epsilon", "attacker_success", "contradicted", "steps", "seconds"}


def read(name):
    return json.loads((FILES / name).read_text("utf-8"))


@pytest.mark.parametrize("name", RUNS)
def test_the_json_of_a_run_says_what_the_same_run_says_today(name):
    algorithm, n, values, known = RUNS[name]
    old = current(read(name))
    knowledge = known and load_knowledge(FILES / known)
    data, epsilon = load_dataset("cancer", n=n), old["params"]["epsilon"]
    result = run(algorithm, data, epsilon=epsilon, knowledge=knowledge, **values)
    new = json.loads(json.dumps(result_dict(result)))
    assert new["params"].items() >= old.pop("params").items()
    assert old.keys() == new.keys() - (FRESH - {"steps", "seconds"}) - {"params"}
    assert {key: old[key] for key in old.keys() - FRESH} == {
        key: new[key] for key in old.keys() - FRESH
    }
    assert old["counts"].keys() == Counts.__annotations__.keys()
    told = [(step["conditioning_set"], step["budget_used"]) for step in old["steps"]]
    assert told == [(step["conditioning_set"], step["budget_used"]) for step in new["steps"]]
    assert current(new) == new


def test_a_schema_and_its_draft_are_read_with_every_fact():
    whole, draft = (load_schema(FILES / f"{name}.json") for name in ("schema", "draft"))
    written = read("schema.json")
    assert whole.rows == written["rows"]
    assert [c.name for c in whole.columns] == [c["name"] for c in written["columns"]]
    assert [list(c.cuts or c.levels) for c in whole.columns] == [
        c.get("cuts") or c["levels"] for c in written["columns"]
    ]
    assert not whole.waiting
    assert [c.name for c in draft.columns if c.name in draft.waiting] == list(draft.names)


def test_knowledge_is_read_with_every_fact():
    known, written = load_knowledge(FILES / "knowledge.json"), read("knowledge.json")
    found = known.to_json()
    assert [sorted(tier) for tier in found["tiers"]] == [sorted(t) for t in written["tiers"]]
    assert found["roots"] == written["roots"]


def test_a_combined_release_gives_its_graph_and_its_guarantee():
    found, written = load_release(FILES / "combined.json"), read("combined.json")
    stated = written["guarantee"]
    assert (found.spent.epsilon, found.spent.delta) == (stated["epsilon"], stated["delta"])
    assert sorted(found.release.cpdag) == sorted(map(tuple, written["cpdag"]))
    assert len(found.release.parts) == len(written["combined"]) == 2


def test_a_study_is_read_with_every_run():
    found = read_study((FILES / "study.db").read_bytes(), "study.db")
    settings = {(one.values["epsilon"], one.values["guarantee"], one.seed) for one in found}
    assert settings == set(product((2, 4), ("strict", "published"), (0, 1)))
    one = next(
        one for one in found if one.values["guarantee"] == "published" and one.claimed.epsilon < 999
    )
    assert (one.version, one.status, one.claimed.delta) == ("0.3.0", "complete", 1e-6)
    assert (round(one.claimed.epsilon), round(one.proven.epsilon)) == (147, 266)
