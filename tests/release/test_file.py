"""A release file: writing, reading, and the findings of a check, change by change."""

import hashlib
import json
import math
import sys
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from engine import Dataset, InputError
from engine.__main__ import main
from engine.algorithm import Outcome
from engine.graphs.formats import FORMATS
from engine.marginals.diagnostics import MarginalDiagnostics
from engine.release import checking
from engine.release import file as reading
from engine.release import make as making
from engine.release import synthetic as drawing
from engine.release.checking import check, moments_of
from engine.release.drawing import consistent_dag
from engine.release.file import MOST_ROWS, Signature, canonical, digest, findings, loads
from engine.release.make import BudgetedRelease
from engine.release.noise import ALARM
from engine.release.page import release_drawn, to_html
from engine.release.synthetic import synthetic
from tests.graphs.test_formats import read_dagitty
from tests.release.samples import make, schema_of


@pytest.fixture(scope="module")
def small(book):
    """A chain of three columns, 600 rows."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 600)
    b = (a + (rng.random(600) < 0.2)) % 2
    codes = np.stack([a, b, (b + (rng.random(600) < 0.1)) % 2], axis=1)
    schema = schema_of(3, 2, 2)
    data = Dataset.from_codes(codes, schema.names, schema.levels)
    return make(book, data, schema, name="ward", epsilon=8.0)


def put(*path):
    """Put the last of these at the place that the others lead to."""

    def change(content):
        *steps, last, value = path
        for step in steps:
            content = content[step]
        content[last] = value

    return change


def changed(release, change):
    """A file that somebody changed who knows how such a file is written."""
    content = json.loads(canonical(release))
    change(content)
    said = {k: v for k, v in content.items() if k not in ("digest", "signature")}
    text = json.dumps(said, separators=(",", ":"))
    content["digest"] = hashlib.sha256(text.encode()).hexdigest()
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


STEP, SIGNED = ("releases", 0, "steps", 0), {"kind": "Ed25519", "page_sha256": "b" * 64}
SIGNED |= {"public_key": "a" * 64, "value": "c" * 128}
ADMITTED = {
    "nothing": lambda c: None,  # so that no change is refused for its layout
    "two rows": put("rows", 2),
    "the most rows": put("rows", MOST_ROWS),
    "the largest epsilon": put("guarantee", "epsilon", 1e7),
    "no delta": put("guarantee", "delta", 0.0),
    "the largest delta": put("guarantee", "delta", 0.1),
    "a long name": put("name", "a" * reading.MOST_TEXT),
    "a long version": put("versions", "numpy", "1" * 40),
    "a coarse grid": put("releases", 0, "grid", 999),
    "a fine grid": put("releases", 0, "grid", -999),
    "a large step": put(*STEP, 2**53 - 1),
    "a large step below": put(*STEP, 1 - 2**53),
    "one release": lambda c: c["releases"].__delitem__(slice(1, None)),
    "the most releases": lambda c: c["releases"].extend(
        [c["releases"][0]] * (reading.MOST_RELEASES - len(c["releases"]))
    ),
}
REFUSED = {
    '"rows"': {"one row": put("rows", 1), "a row too many": put("rows", MOST_ROWS + 1)},
    '"name"': {
        "too long a name": put("name", "a" * (reading.MOST_TEXT + 1)),
        "too long a parameter": put("params", "p" * 201, 1),
        "too long a version's name": put("versions", "p" * 201, "1"),
        "an unprintable name": put("name", "a\nb"),
    },
    '"versions"': {"too long a version": put("versions", "numpy", "1" * 41)},
    "outside the allowed range": {
        "no epsilon": put("guarantee", "epsilon", 0.0),
        "too large an epsilon": put("guarantee", "epsilon", 1e7 + 1),
        "a delta below": put("guarantee", "delta", -1e-9),
        "too large a delta": put("guarantee", "delta", 0.1000001),
    },
    "a part of it, is not JSON": {
        "a version that is a number": put("versions", "numpy", 1),
        "too coarse a grid": put("releases", 0, "grid", 1000),
        "too fine a grid": put("releases", 0, "grid", -1000),
        "a grid that is true": put("releases", 0, "grid", True),
        "too large a step": put(*STEP, 2**53),
        "as large below": put(*STEP, -(2**53)),
        "a step that is no whole number": put(*STEP, 1.5),
        "an endless sigma": put("releases", 0, "sigma", math.inf),
        "an endless parameter": put("params", "magic", math.inf),
        "an epsilon of 401 digits": put("guarantee", "epsilon", 10**400),
        "a sigma of 401 digits": put("releases", 0, "sigma", 10**400),
        "a name that is a number": put("name", 1),
        "a signature in numbers": put("signature", SIGNED | {"public_key": 1}),
        "half a signature": put("signature", {"kind": "Ed25519"}),
        "a list": put("guarantee", []),
        "pairs of three": put("cpdag", 0, ["a", "b", "c"]),
        "an arrow without a way back": lambda c: c["arrow_confidence"][0].pop(),
    },
    "of a format": {
        "half a key": put("signature", SIGNED | {"public_key": "a" * 63}),
        "another kind of key": put("signature", SIGNED | {"kind": "RSA"}),
    },
    "measurements do not match": {
        "no releases": put("releases", []),
        "a release too many": lambda c: c["releases"].extend([c["releases"][0]] * 8),
        "a number less": lambda c: c["releases"][0]["steps"].pop(),
        "a number more": lambda c: c["releases"][0]["steps"].append(1),
    },
    "rests on an assumption": {"another assumption": put("guarantee", "rests_on", "nothing")},
    "not a release: its JSON needs": {"another format": put("format", "dp")},
    "reads versions 3 to 5": {"another version": put("version", 2)},
    "this is not a file of schema|column": {"no schema": put("schema", None)},
    "layout of the release|its digest does not match": {
        "a sigma that is true": put("releases", 0, "sigma", True),
        "a sigma in words": put("releases", 0, "sigma", "1"),
        "a whole epsilon": put("guarantee", "epsilon", 8),
        "other neighbours": put("guarantee", "neighbours", "nobody is protected"),
        "other noise": put("guarantee", "noise", "none"),
        "another field": put("peer_reviewed", True),
        "another promise": put("guarantee", "peer_reviewed", True),
    },
    "file's 'cpdag' does not follow": {
        "another edge": lambda c: c["cpdag"].append(["a", "c"]),
        "an edge less": lambda c: c["cpdag"].pop(),
    },
    "file's 'confidence' does not": {
        "a better confidence": put("edge_confidence", 0, 2, 0.123),
        "an edge twice": lambda c: c["edge_confidence"].insert(0, ["a", "b", 0.1]),
    },
    "file's 'arrows' does not": {
        "a surer arrow": put("arrow_confidence", 0, 2, 0.999),
        "a surer way back": put("arrow_confidence", 0, 3, 0.999),
        "no arrow's confidence": put("arrow_confidence", []),
        "an arrow of another link": put("arrow_confidence", 0, 1, "a"),
    },
    "file's 'tables' does not": {
        "another table": lambda c: c["tables"].append(["a", "b"]),
        "a table twice": lambda c: c["tables"].append(c["tables"][0]),
    },
    "stable must be true or false": {"a parameter's type": put("params", "stable", 1)},
    "there is no parameter 'magic'": {"another parameter": put("params", "magic", 1)},
    "parameters are not those": {"a smaller epsilon": put("guarantee", "epsilon", 0.5)},
    "its algorithm makes one of": {
        "less noise": put("releases", 0, "sigma", 1.0),
        "another sensitivity": put("releases", 0, "sensitivity", 1.0),
        "a finer grid": put("releases", 0, "grid", -40),
    },
    "the hardened noise needs|parameters are not": {
        "a smaller delta": put("guarantee", "delta", 1e-13)
    },
    "does not follow|no such|too good|does not finish|makes one of": {
        "other numbers": lambda c: c["releases"][0]["steps"].reverse(),
        "another cut-off": put("params", "threshold", 0.99),
        "one row more": put("rows", 601),
    },
    "lacks a measurement": {"a release less": lambda c: c["releases"].pop()},
    "releases of the file are not those": {
        "another label": put("releases", 0, "label", "x"),
        "a release more": lambda c: c["releases"].append(c["releases"][-1]),
    },
    "release is made by marginal_pc": {"another algorithm": put("algorithm", "priv_pc")},
}


@pytest.mark.parametrize("name", ADMITTED)
def test_the_ends_of_what_is_admitted_are_read(name, small):
    """Whether such a file is consistent is another question."""
    assert loads(changed(small, ADMITTED[name])).names == ("a", "b", "c")


@pytest.mark.parametrize(("name", "words"), [(n, w) for w in REFUSED for n in REFUSED[w]])
def test_a_changed_file_is_refused_for_what_was_changed(name, words, small):
    with pytest.raises(InputError, match=f"(?i){words}") as caught:
        check(loads(changed(small, REFUSED[words][name])))
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith((".", "?"))


def test_sizes_are_bounded_before_anything_is_read(small, monkeypatch):
    raw = canonical(small).encode()
    for name, size in (("MOST_BYTES", len(raw)), ("MOST_VALUES", raw.count(b","))):
        with monkeypatch.context() as patch:
            patch.setattr(reading, name, size)
            assert loads(raw).total == small.total
            patch.setattr(reading, name, size - 1)
            with pytest.raises(InputError, match="too large for a release"):
                loads(raw)
    entries = sum(len(one.steps) for one in small.releases)
    monkeypatch.setattr(reading, "MOST_ENTRIES", entries)
    assert loads(raw).total == small.total
    monkeypatch.setattr(reading, "MOST_ENTRIES", entries - 1)
    with pytest.raises(InputError, match="measurements do not match"):
        loads(raw)


def test_a_file_is_read_to_its_limit_and_a_byte_further(tmp_path):
    place = tmp_path / "r.json"
    place.write_bytes(b"0123456789")
    assert reading.read_bytes(place, 9) == reading.read_bytes(place, 20) == b"0123456789"
    assert reading.read_bytes(place, 3) == b"0123"
    for missing in (tmp_path / "no.json", tmp_path, "a\0b"):
        with pytest.raises(InputError, match="no file to read at"):
            reading.read_bytes(missing, 9)


def test_a_file_is_read_to_the_byte(small):
    raw = canonical(small).encode()
    half, whole = b'"epsilon":8.0', b'"epsilon":8'
    for wrong, words in (
        (raw.replace(half, whole, 1), "digest|layout of the release"),
        (raw.replace(half, b'"epsilon":8.00', 1), "layout of the release"),
        (raw.replace(b'"rows":600', b'"rows":601'), "its digest does not match"),
        (raw.replace(b'"name":"ward"', b'"name":"wart"', 1), "its digest does not match"),
        (raw.replace(b'["0","1"]', b'["1","0"]', 1), "its digest does not match"),
        (raw.replace(b'{"format"', b'{"new":1,"format"', 1), "layout of the release"),
        (raw.replace(b'"signature":null', b'"signature":null '), "layout of the release"),
        (raw.replace(b'"rows":', b'"rows": '), "layout of the release"),
        (raw + b"\n", "layout of the release"),
        (raw.replace(half, half + b"," + half, 1), "layout of the release"),
        (raw.replace(half, b'"epsilon":NaN', 1), "outside the allowed range"),
        (b"\xef\xbb\xbf" + raw, "not JSON in UTF-8"),
        (b"\xff" + raw, "not JSON in UTF-8"),
        (b"[" * 100_000, "not JSON in UTF-8"),
        (b"[" * 5, "not JSON in UTF-8"),
    ):
        assert wrong != raw
        with pytest.raises(InputError, match=words):
            loads(wrong)


# What is written ---------------------------------------------------------------------------


def test_the_digest_is_of_all_but_the_signature(small):
    maker = Signature("Ed25519", "a" * 64, "b" * 64, "c" * 128)
    signed = replace(small, signature=maker)
    assert digest(signed) == digest(small) != digest(replace(small, rows=601))
    assert json.loads(canonical(small))["signature"] is None
    assert json.loads(canonical(signed))["signature"] == SIGNED
    assert loads(canonical(signed).encode()).signature == maker
    assert canonical(small).endswith("}\n")
    first, *rest = small.releases
    endless = replace(small, releases=(replace(first, sigma=math.nan), *rest))
    for broken in (endless, replace(small, labels=small.labels[1:])):
        with pytest.raises(ValueError, match=r"JSON compliant|argument"):
            canonical(broken)
    assert canonical(loads(canonical(small).encode())) == canonical(small)


def test_an_arrow_in_doubt_is_a_line_for_other_tools(small):
    """Below three fifths; a line stays one, and the file's own graph keeps its arrow."""
    graph = (("a", "b"), ("c", "b"), ("a", "c"), ("c", "a"))
    arrows = (("a", "b", 0.6, 0.1), ("b", "c", 0.2, 0.59), ("a", "c", 0.9, 0.1))
    links = (("a", "b", 0.9), ("b", "c", 0.8), ("a", "c", 0.7))
    doubted = replace(small, cpdag=graph, arrows=arrows, confidence=links)
    paid, drawn = BudgetedRelease(doubted), release_drawn(doubted)
    found = paid.to_networkx()
    assert set(found.edges) == {*graph, ("b", "c")}
    assert {frozenset(e): share for *e, share in found.edges(data="link")} == {
        frozenset((a, b)): share for a, b, share in links
    }
    assert doubted.matrix.sum() == 4
    for kind, form in FORMATS.items():  # their readers: tests/graphs/test_formats.py
        assert paid.to_text(kind) == form.write("abc", drawn)
    assert paid.to_dot() == paid.to_text("dot")
    whole = BudgetedRelease(small)
    head, _, edges = read_dagitty(whole.to_text("dagitty", directed=True))
    assert (head, {(a, b) for a, b, _ in edges}) == ("dag", set(whole.synthetic(10).truth.edges))


def test_findings_are_told_by_name_once_a_pair():
    """An arrow, a line and a pair that is not joined; both ways of each arrow's confidence."""
    matrix = np.zeros((3, 3), dtype=bool)
    matrix[1, 0] = matrix[1, 2] = matrix[2, 1] = True
    known = MarginalDiagnostics(
        edge_confidence={(0, 1): 0.75, (1, 2): 0.5},
        direction_confidence={(0, 1): 0.125, (1, 0): 0.625, (1, 2): 0.25, (2, 1): 0.375},
        released_tables=((0, 1), (2,)),
    )
    found = findings(Outcome(matrix=matrix, diagnostics=known), ("z", "y", "x"))
    assert found == {
        "cpdag": (("x", "y"), ("y", "x"), ("y", "z")),
        "confidence": (("z", "y", 0.75), ("y", "x", 0.5)),
        "arrows": (("z", "y", 0.125, 0.625), ("y", "x", 0.25, 0.375)),
        "tables": (("z", "y"), ("x",)),
    }
    voted = Outcome(matrix=matrix, diagnostics=replace(known, direction_confidence={}))
    assert findings(voted, ("z", "y", "x"))["arrows"] == ()


def test_other_libraries_round_otherwise(small):
    (a, b, p), *links = small.confidence
    assert check(replace(small, confidence=((a, b, p + 1e-10), *links))) > ALARM
    with pytest.raises(InputError, match="'confidence' does not"):
        check(replace(small, confidence=((a, b, p + 1e-5), *links)))


def test_numbers_that_are_too_good_are_refused_below_the_alarm(small, monkeypatch):
    asked = []
    for doubt, fine in ((ALARM, True), (ALARM * 0.999, False)):
        monkeypatch.setattr(
            checking, "goodness_of_fit_p", lambda first, _, p=doubt: asked.append(first) or p
        )
        if fine:
            assert check(replace(small)) == doubt
        else:
            with pytest.raises(InputError, match="a probability of at most 1e-06"):
                check(replace(small))
    assert asked == [small.releases[0]] * 2


def test_a_check_ends_in_time(small):
    with pytest.raises(InputError, match="longer than 0 seconds, so there is no verdict"):
        check(replace(small), seconds=0.0)
    assert moments_of(small)[1] == small.schema.levels


@pytest.mark.parametrize("looks", [check, to_html, lambda release: synthetic(release, 10, 0)])
def test_numbers_with_which_a_test_fails_are_one_sentence(looks, small, monkeypatch):
    """Correlations far above 1, say: a forger may write them down, no rows and no noise give such.

    Which numbers fail depends on the others of the file, so the failure itself is planted.
    """

    def fails(*_):
        raise np.linalg.LinAlgError("Matrix is not positive definite.")

    monkeypatch.setattr("engine.marginals.citest.tests", fails)
    with pytest.raises(InputError, match="does not finish with the release's numbers"):
        looks(replace(small))


# Synthetic rows ----------------------------------------------------------------------------------


def test_a_synthetic_table_has_from_two_rows_to_a_million(small, monkeypatch):
    monkeypatch.setattr(drawing, "MOST_ROWS", 40)
    for rows in (2, 40):
        drawn = synthetic(small, rows)
        assert (drawn.n, drawn.names, drawn.levels) == (rows, small.names, small.schema.levels)
        assert drawn.public
    for rows in (1, 41):
        with pytest.raises(InputError, match=f"2 to 40 rows; {rows} is not"):
            synthetic(small, rows)
    one, other, same = (synthetic(small, 30, seed=k).fingerprint for k in (1, 0, 1))
    assert one == same != other


def test_a_cycle_is_broken_and_lines_get_a_direction(small):
    def dag_of(*arcs):
        found = consistent_dag(replace(small, cpdag=arcs).matrix)
        assert nx.is_directed_acyclic_graph(found)
        assert sorted(found) == [0, 1, 2]
        return set(found.edges)

    assert dag_of(("c", "a"), ("b", "a")) == {(2, 0), (1, 0)}
    assert dag_of(("a", "b"), ("b", "c"), ("c", "a")) == {(0, 1), (1, 2), (0, 2)}
    assert dag_of(("a", "b"), ("b", "a")) == {(0, 1)}
    assert dag_of(("c", "a"), ("a", "c"), ("c", "b"), ("b", "a")) == {(2, 1), (1, 0), (2, 0)}
    assert dag_of() == set()


def test_an_earlier_release_of_a_column_of_many_levels_passes_its_own_check(book, monkeypatch):
    """Its levels were merged before anything was planned: 96 cells are few, 320 would not be."""
    monkeypatch.setattr(making, "check_levels", lambda schema: None)
    schema = schema_of(40, 2, 2, 2)
    codes = np.random.default_rng(0).integers(0, (40, 2, 2, 2), (20_000, 4))
    data = Dataset.from_codes(codes, schema.names, schema.levels)
    release = make(book, data, schema, name="many levels")
    assert release.labels[-1] == "all orders"
    assert 0 < check(release) <= 1


def test_a_folder_for_a_table_is_private_and_in_no_repository(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clone" / ".git").mkdir(parents=True)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "table.csv").touch()
    assert main(["new", "ward 7"]) == 0
    place = tmp_path / "ward 7"
    assert place.stat().st_mode & 0o777 == 0o700
    assert (place / ".gitignore").read_text() == "*\n"
    assert f"{sys.executable} -m engine budget new 'ward 7'" in (place / "README.md").read_text()
    capsys.readouterr()
    refused = {"clone/ward": "git repository", "clone": "git repository", "full": "not empty"}
    for name, why in {**refused, "ward 7": "not empty", "clone/../clone/a/b": "git"}.items():
        assert main(["new", name]) == 2
        assert why in capsys.readouterr().err
    assert not (tmp_path / "clone" / "a").exists()
