"""A release file at the ends of what is admitted, its check part by part, and its twin by hand."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from engine import Dataset, InputError
from engine.algorithm import Outcome
from engine.data.schema import Column, Schema
from engine.marginals.diagnostics import MarginalDiagnostics
from engine.privacy import sources
from engine.privacy.accounting import Guarantee
from engine.privacy.sources import Hardened, Released, Replay, grid_of
from engine.release import checking
from engine.release import file as reading
from engine.release import make as making
from engine.release import synthetic as twins
from engine.release.budget import Budgets
from engine.release.checking import check, derived, moments_of, tables_of
from engine.release.file import (
    MOST_ROWS,
    Release,
    Signature,
    canonical,
    digest,
    findings,
    loads,
    pairs_size,
    parse,
    to_json,
)
from engine.release.make import make
from engine.release.noise import ALARM
from engine.release.page import release_drawn
from engine.release.synthetic import consistent_dag, synthetic
from engine.release.vault import Vault

Change = Callable[[dict[str, Any]], object]


def schema_of(*sizes: int) -> Schema:
    """Columns a, b, c with so many levels."""
    levels = [tuple(map(str, range(size))) for size in sizes]
    named = zip("abcdefgh", levels, strict=False)
    return Schema(tuple(Column(name=n, type="ordered", levels=some) for n, some in named))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """A chain of three columns, 600 rows."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 600)
    b = (a + (rng.random(600) < 0.2)) % 2
    codes = np.stack([a, b, (b + (rng.random(600) < 0.1)) % 2], axis=1)
    schema, book = schema_of(3, 2, 2), Budgets(tmp_path_factory.mktemp("bounds") / "b.db")
    book.new("ward", 9, 1e-4)
    data = Dataset.from_codes(codes, schema.names, schema.levels)
    return make(data, schema, "marginal_pc", {"epsilon": 8.0}, name="ward", budgets=book)


def changed(release: Release, change: Change) -> dict[str, Any]:
    content = copy.deepcopy(json.loads(canonical(release)))
    change(content)
    return content


def put(*path: Any, value: Any) -> Change:
    def change(content: Any) -> None:
        for step in path[:-1]:
            content = content[step]
        content[path[-1]] = value

    return change


# What may be read --------------------------------------------------------------------------

ADMITTED = {
    "two rows": put("rows", value=2),
    "the most rows": put("rows", value=MOST_ROWS),
    "the largest epsilon": put("guarantee", "epsilon", value=1e7),
    "no delta": put("guarantee", "delta", value=0.0),
    "the largest delta": put("guarantee", "delta", value=0.1),
    "a long name": put("name", value="a" * reading.MOST_TEXT),
    "a long version": put("versions", "numpy", value="1" * 40),
    "a coarse grid": put("releases", 0, "grid", value=999),
    "a fine grid": put("releases", 0, "grid", value=-999),
    "a large step": put("releases", 0, "steps", 0, value=2**53 - 1),
    "a large step below": put("releases", 0, "steps", 0, value=1 - 2**53),
    "one release": lambda c: c["releases"].__delitem__(slice(1, None)),
    "the most releases": lambda c: c["releases"].extend(
        [c["releases"][0]] * (reading.MOST_RELEASES - len(c["releases"]))
    ),
}
SIGNED = {"kind": "Ed25519", "public_key": "a" * 64, "page_sha256": "b" * 64}
SIGNED["value"] = "c" * 128
REFUSED: dict[str, tuple[Change, str]] = {
    "one row": (put("rows", value=1), '"rows"'),
    "a row too many": (put("rows", value=MOST_ROWS + 1), '"rows"'),
    "no epsilon": (put("guarantee", "epsilon", value=0.0), "no budget pays"),
    "too large an epsilon": (put("guarantee", "epsilon", value=1e7 + 1), "no budget pays"),
    "a delta below": (put("guarantee", "delta", value=-1e-9), "no budget pays"),
    "too large a delta": (put("guarantee", "delta", value=0.1000001), "no budget pays"),
    "too long a name": (put("name", value="a" * (reading.MOST_TEXT + 1)), '"name"'),
    "too long a parameter": (put("params", "p" * 201, value=1), '"name"'),
    "too long a version's name": (put("versions", "p" * 201, value="1"), '"name"'),
    "an unprintable name": (put("name", value="a\nb"), '"name"'),
    "too long a version": (put("versions", "numpy", value="1" * 41), '"versions"'),
    "a version that is a number": (put("versions", "numpy", value=1), "a part of it, is not JSON"),
    "too coarse a grid": (put("releases", 0, "grid", value=1000), "a part of it, is not JSON"),
    "too fine a grid": (put("releases", 0, "grid", value=-1000), "a part of it, is not JSON"),
    "a grid that is true": (put("releases", 0, "grid", value=True), "a part of it, is not JSON"),
    "too large a step": (put("releases", 0, "steps", 0, value=2**53), "a part of it, is not JSON"),
    "as large below": (put("releases", 0, "steps", 0, value=-(2**53)), "a part of it, is not JSON"),
    "a sigma that is true": (put("releases", 0, "sigma", value=True), "'releases' of the release"),
    "a sigma in words": (put("releases", 0, "sigma", value="1"), "'releases' of the release"),
    "an endless sigma": (put("releases", 0, "sigma", value=math.inf), "not JSON in UTF-8"),
    "no releases": (put("releases", value=[]), "holds other releases"),
    "a release too many": (
        lambda c: c["releases"].extend([c["releases"][0]] * reading.MOST_RELEASES),
        "holds other releases",
    ),
    "a number less": (lambda c: c["releases"][0]["steps"].pop(), "holds other releases"),
    "another format": (put("format", value="dp"), "no release: its JSON needs"),
    "another version": (put("version", value=2), "reads versions 3 and 4"),
    "another name's type": (put("name", value=1), "a part of it, is not JSON"),
    "half a key": (put("signature", value=SIGNED | {"public_key": "a" * 63}), "of a format"),
    "a signature in numbers": (put("signature", value=SIGNED | {"public_key": 1}), "is not JSON"),
}


@pytest.mark.parametrize("name", ADMITTED)
def test_the_ends_of_what_is_admitted_are_read(name: str, small: Release) -> None:
    """Whether such a file is consistent is another question."""
    assert parse(changed(small, ADMITTED[name])).names == ("a", "b", "c")


@pytest.mark.parametrize("name", REFUSED)
def test_what_lies_past_an_end_is_refused_for_that(name: str, small: Release) -> None:
    change, words = REFUSED[name]
    with pytest.raises(InputError, match=words) as caught:
        loads(json.dumps(changed(small, change), separators=(",", ":")).encode() + b"\n")
    assert "\n" not in str(caught.value)


def test_sizes_are_bounded_before_anything_is_read(small: Release, monkeypatch: Any) -> None:
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
    with pytest.raises(InputError, match="holds other releases"):
        loads(raw)


def test_a_file_is_read_to_its_limit_and_a_byte_further(tmp_path: Path) -> None:
    place = tmp_path / "r.json"
    place.write_bytes(b"0123456789")
    assert reading.read_bytes(place, 9) == reading.read_bytes(place, 20) == b"0123456789"
    assert reading.read_bytes(place, 3) == b"0123"
    for missing in (tmp_path / "no.json", tmp_path, "a\0b"):
        with pytest.raises(InputError, match="no file to read at"):
            reading.read_bytes(missing, 9)


def test_a_number_has_at_most_twenty_digits(small: Release) -> None:
    raw = canonical(small).encode()
    for digits, words in ((20, "a part of it, is not JSON"), (21, "a number of 21 digits")):
        long = raw.replace(b'"steps":[', b'"steps":[' + b"1" * digits + b",", 1)
        first = f"[{'1' * digits},".encode()
        with pytest.raises(InputError, match=words):
            loads(long.replace(first + str(small.releases[0].steps[0]).encode() + b",", first))


def test_where_a_file_differs_is_said(small: Release) -> None:
    raw = canonical(small).encode()
    half, whole = b'"epsilon":8.0', b'"epsilon":8'
    for wrong, words in (
        (raw.replace(half, whole, 1), "'guarantee' of the release is not as"),
        (raw.replace(b'"rows":600', b'"rows":601'), "its digest is that of another"),
        (raw.replace(b'{"format"', b'{"new":1,"format"', 1), "'new' of the release is not as"),
        (raw.replace(b'"signature":null', b'"signature":null '), "is not laid out as"),
        (raw.replace(half, b'"epsilon":NaN', 1), "not JSON in UTF-8"),
        (raw.replace(half, half + b"," + half, 1), "is not laid out as"),
        (b"\xff" + raw, "not JSON in UTF-8"),
        (b"[" * 100_000, "nested deeper than any release"),
        (b"[" * 5, "not JSON in UTF-8"),
    ):
        with pytest.raises(InputError, match=words):
            loads(wrong)


@pytest.mark.parametrize("sizes", [(2, 2), (3, 2, 2), (2, 4, 3, 2), (40, 2, 12)])
def test_the_size_of_all_pairs_is_counted(sizes: tuple[int, ...]) -> None:
    """Contrasts of every column, and the products of every two columns'; at most twelve levels."""
    free = [min(size, 12) - 1 for size in sizes]
    pairs = sum(p * q for k, p in enumerate(free) for q in free[k + 1 :])
    assert pairs_size(schema_of(*sizes)) == sum(free) + pairs


# What is written ---------------------------------------------------------------------------


def test_the_digest_is_of_all_but_the_signature(small: Release) -> None:
    maker = Signature("Ed25519", "a" * 64, "b" * 64, "c" * 128)
    signed = replace(small, signature=maker)
    assert digest(signed) == digest(small) != digest(replace(small, rows=601))
    assert to_json(small)["signature"] is None
    assert to_json(signed)["signature"] == {
        "kind": "Ed25519",
        "public_key": "a" * 64,
        "page_sha256": "b" * 64,
        "value": "c" * 128,
    }
    assert loads(canonical(signed).encode()).signature == maker
    assert canonical(small).endswith("}\n")
    first, *rest = small.releases
    endless = replace(small, releases=(replace(first, sigma=math.nan), *rest))
    for broken in (endless, replace(small, labels=small.labels[1:])):
        with pytest.raises(ValueError, match=r"JSON compliant|argument"):
            canonical(broken)
    assert canonical(loads(canonical(small).encode())) == canonical(small)


def test_an_arrow_in_doubt_is_a_line_for_other_tools(small: Release) -> None:
    """Below three fifths; a line stays one, and the file's own graph keeps its arrow."""
    graph = (("a", "b"), ("c", "b"), ("a", "c"), ("c", "a"))
    arrows = (("a", "b", 0.6, 0.1), ("b", "c", 0.2, 0.59), ("a", "c", 0.9, 0.1))
    told = replace(small, cpdag=graph, arrows=arrows)
    found = {("abc"[i], "abc"[j]) for i, j in np.argwhere(release_drawn(told)).tolist()}
    assert found == {*graph, ("b", "c")}
    assert told.matrix.sum() == 4


def test_findings_are_told_by_name_once_a_pair() -> None:
    """An arrow, a line and a pair that is not joined; both ways of each arrow's confidence."""
    matrix = np.zeros((3, 3), dtype=bool)
    matrix[1, 0] = matrix[1, 2] = matrix[2, 1] = True
    known = MarginalDiagnostics(
        edge_confidence={(0, 1): 0.75, (1, 2): 0.5},
        arrow_confidence={(0, 1): 0.125, (1, 0): 0.625, (1, 2): 0.25, (2, 1): 0.375},
        released_tables=((0, 1), (2,)),
    )
    found = findings(Outcome(cpdag=matrix, diagnostics=known), ("z", "y", "x"))
    assert found == {
        "cpdag": (("x", "y"), ("y", "x"), ("y", "z")),
        "confidence": (("z", "y", 0.75), ("y", "x", 0.5)),
        "arrows": (("z", "y", 0.125, 0.625), ("y", "x", 0.25, 0.375)),
        "tables": (("z", "y"), ("x",)),
    }
    voted = Outcome(cpdag=matrix, diagnostics=replace(known, arrow_confidence={}))
    assert findings(voted, ("z", "y", "x"))["arrows"] == ()


# The check part by part --------------------------------------------------------------------


def test_each_part_is_compared(small: Release) -> None:
    (a, b, p), *links = small.confidence
    (c, d, there, back), *arrows = small.arrows
    for change, words in (
        ({"labels": ("other", *small.labels[1:])}, "releases of the file are not those"),
        ({"labels": small.labels[:-1]}, "releases of the file are not those"),
        ({"cpdag": small.cpdag[1:]}, "graph of the file does not follow"),
        ({"tables": small.tables[1:]}, "list of tables of the file"),
        ({"confidence": ((a, b, p + 1e-5), *links)}, "edges' confidence of the file"),
        ({"confidence": tuple(links)}, "edges' confidence of the file"),
        ({"arrows": ((c, d, there, back + 1e-5), *arrows)}, "arrows' confidence of the file"),
        ({"arrows": ((d, c, there, back), *arrows)}, "arrows' confidence of the file"),
        ({"total": Guarantee(7.0, 1e-6)}, "parameters are not those"),
        ({"releases": small.releases[:-1]}, "more or fewer releases"),
    ):
        with pytest.raises(InputError, match=words):
            check(replace(small, **change))  # type: ignore[arg-type]
    for rows in (2, MOST_ROWS):  # so many there may be, but not with these numbers
        with pytest.raises(InputError, match=r"its algorithm makes one of|A folded table has"):
            check(replace(small, rows=rows))
    near = ((a, b, p + 1e-10), *links)  # other libraries round otherwise
    assert check(replace(small, confidence=near)) > ALARM


def test_numbers_that_are_too_good_are_refused_below_the_alarm(
    small: Release, monkeypatch: Any
) -> None:
    asked: list[Released] = []
    for doubt, fine in ((ALARM, True), (ALARM * 0.999, False)):
        monkeypatch.setattr(
            checking, "goodness_of_fit_p", lambda first, _, p=doubt: asked.append(first) or p
        )
        if fine:
            assert check(small) == doubt
        else:
            with pytest.raises(InputError, match="a probability of at most 1e-06"):
                check(small)
    assert asked == [small.releases[0]] * 2


def test_a_check_has_patience_and_can_be_stopped(small: Release) -> None:
    with pytest.raises(InputError, match="longer than 0 seconds, so nothing is said"):
        check(small, seconds=0.0)
    with pytest.raises(InputError, match="Stopped: nothing is said"):
        moments_of(small, lambda: True)
    assert tables_of(small).labels == small.labels
    assert derived(small).status == "complete"
    assert moments_of(small)[1] == small.schema.levels


# Noise and its replay ----------------------------------------------------------------------


@pytest.mark.parametrize("sigma", [1e-9, 0.5, 1.0, 1.9999, 2.0, 3e7])
def test_the_grid_has_2_to_the_26_steps_a_sigma(sigma: float) -> None:
    assert 2**26 <= sigma / math.ldexp(1.0, grid_of(sigma)) < 2**27
    assert sources.DISTANCE == 2.0**-36
    assert sources.MOST_STEPS == 2**52


def test_widening_covers_both_roundings() -> None:
    source = Hardened()
    step = math.ldexp(1.0, grid_of(6.0))
    for size, rounding in ((1, 0.0), (9, 0.0), (9, 0.01)):
        wanted = 1 + math.sqrt(size) * (2 * rounding + step) / 0.5
        assert source.widening(0.5, 3.0, size, rounding) == pytest.approx(wanted, rel=1e-15)
    assert source.widening(1.0, 2.0**-20, 4, 0.125 - 2.0**-46) == 1.5
    with pytest.raises(InputError, match="Rounding would take more"):
        source.widening(1.0, 2.0**-20, 4, 0.126)
    for sensitivity, sigma in ((0.0, 1.0), (-1.0, 1.0), (1.0, 0.0), (1.0, math.inf), (1.0, -2.0)):
        with pytest.raises(InputError, match="no finite noise"):
            source.widening(sensitivity, sigma, 1, 0.0)


def test_what_is_released_is_rounded_clamped_and_kept(monkeypatch: Any) -> None:
    """Without noise: whole steps of the grid, nothing beyond 2^52 of them."""
    scales = []

    def unchanged(whole: list[int], scale: float) -> list[int]:
        scales.append(scale)
        return whole

    monkeypatch.setattr(sources, "_discrete_gaussian", unchanged)
    source, grid = Hardened(), grid_of(1.5)
    step = math.ldexp(1.0, grid)
    exact = np.array([[0.0, 2.4 * step], [-2.6 * step, 1e30]])
    found = source.gaussian(exact, 0.25, 1.5)
    assert found.tolist() == [[0.0, 2 * step], [-3 * step, 2**52 * step]]
    assert scales == [1.5 / step]
    (kept,) = source.given_out
    assert (kept.sensitivity, kept.sigma, kept.grid) == (0.25, 1.5, grid)
    assert kept.steps == (0, 2, -3, 2**52)
    assert source.gaussian(np.array([-1e30]), 0.25, 1.5)[0] == -(2**52) * step
    assert source.used == {"noise": 2}
    assert source.given_out[0].values.tolist() == [0.0, 2 * step, -3 * step, 2**52 * step]
    monkeypatch.setattr(sources, "MOST_ENTRIES", 8)
    source.gaussian(np.zeros(3), 0.25, 1.5)
    with pytest.raises(InputError, match="at most 8 numbers"):
        source.gaussian(np.zeros(1), 0.25, 1.5)


def test_a_replay_gives_out_what_is_asked_for_and_nothing_else() -> None:
    one = Released(1.0, 3.0, grid_of(3.0), (4, -5))
    other = Released(2.0, 5.0, grid_of(5.0), (7,))
    source = Replay([one, other])
    assert source.left == 2
    given = source.gaussian(np.array([[1.0], [2.0]]), 1.0 + 1e-13, 3.0 + 1e-9)
    assert given.tolist() == np.ldexp([[4.0], [-5.0]], one.grid).tolist()
    assert source.left == 1
    assert source.gaussian(np.zeros(1), 2.0, 5.0).tolist() == [math.ldexp(7.0, other.grid)]
    with pytest.raises(InputError, match="lacks a release"):
        source.gaussian(np.zeros(1), 2.0, 5.0)
    for size, sensitivity, sigma in ((1, 1.0, 3.0), (2, 1 + 3e-12, 3.0), (2, 1.0, 3 + 1e-8)):
        with pytest.raises(InputError, match="has sensitivity 1 and noise 3; its algorithm"):
            Replay([one]).gaussian(np.zeros(size), sensitivity, sigma)
    with pytest.raises(InputError, match="its algorithm makes one of"):
        Replay([replace(one, grid=one.grid + 1)]).gaussian(np.zeros(2), 1.0, 3.0)


# Making one --------------------------------------------------------------------------------


def test_other_data_are_refused_before_the_charge(tmp_path: Path, monkeypatch: Any) -> None:
    book = Budgets(tmp_path / "b.db")
    book.new("ward", 3, 1e-5)
    codes = np.arange(60).reshape(-1, 3) % 2
    schema, wider = schema_of(2, 2, 2), schema_of(2, 2, 3)
    data = Dataset.from_codes(codes, schema.names, schema.levels)
    renamed = Dataset.from_codes(codes, ("a", "b", "z"), schema.levels)
    undeclared = Dataset.from_codes(codes, schema.names)
    for given, said in ((data, wider), (renamed, schema), (undeclared, schema)):
        with pytest.raises(InputError, match="read with the declared schema"):
            make(given, said, "marginal_pc", {}, name="ward", budgets=book)
    with pytest.raises(InputError, match="no budget 'other'"):  # before anything is tried out
        make(data, schema, "marginal_pc", {"epsilon": -1}, name="other", budgets=book)
    with monkeypatch.context() as patch:
        patch.setattr(making, "MOST_ROWS", 19)
        with pytest.raises(InputError, match="at most 19 rows"):
            make(data, schema, "marginal_pc", {}, name="ward", budgets=book)
    assert book.show("ward").charges == ()
    told: list[str] = []
    found = make(data, schema, "marginal_pc", {}, name="ward", budgets=book, on_kept=told.append)
    assert told == [Vault(book).ids(book.show("ward"))[1]]
    assert (found.rows, found.name, found.algorithm) == (20, "ward", "marginal_pc")
    assert set(found.versions) == {"dp-causal-explorer", "numpy", "opendp", "scipy"}
    assert found.labels[0] == "all pairs"
    assert found.signature is None


# The twin ----------------------------------------------------------------------------------


def test_a_twin_has_from_two_rows_to_a_million(small: Release, monkeypatch: Any) -> None:
    monkeypatch.setattr(twins, "MOST_ROWS", 40)
    for rows in (2, 40):
        drawn = synthetic(small, rows)
        assert (drawn.n, drawn.names, drawn.levels) == (rows, small.names, small.schema.levels)
        assert drawn.public
    for rows in (1, 41):
        with pytest.raises(InputError, match=f"2 to 40 rows; {rows} is not"):
            synthetic(small, rows)
    assert synthetic(small, 30, seed=1).fingerprint != synthetic(small, 30).fingerprint


def test_a_cycle_is_broken_and_lines_get_a_direction(small: Release) -> None:
    def dag_of(*arcs: tuple[str, str]) -> set[tuple[int, int]]:
        found = consistent_dag(replace(small, cpdag=arcs))
        assert nx.is_directed_acyclic_graph(found)
        assert sorted(found) == [0, 1, 2]
        return set(found.edges)

    assert dag_of(("c", "a"), ("b", "a")) == {(2, 0), (1, 0)}
    assert dag_of(("a", "b"), ("b", "c"), ("c", "a")) == {(0, 1), (1, 2), (0, 2)}
    assert dag_of(("a", "b"), ("b", "a")) == {(0, 1)}
    assert dag_of(("c", "a"), ("a", "c"), ("c", "b"), ("b", "a")) == {(2, 1), (1, 0), (2, 0)}
    assert dag_of() == set()


def test_a_release_of_a_column_of_many_levels_passes_its_own_check(tmp_path: Path) -> None:
    """Its levels are merged before anything is planned: 96 cells are few, 320 would not be."""
    schema, book = schema_of(40, 2, 2, 2), Budgets(tmp_path / "b.db")
    book.new("ward", 9, 1e-4)
    codes = np.random.default_rng(0).integers(0, (40, 2, 2, 2), (20_000, 4))
    data = Dataset.from_codes(codes, schema.names, schema.levels)
    release = make(data, schema, "marginal_pc", {"epsilon": 1.0}, name="ward", budgets=book)
    assert release.labels[-1] == "all orders"
    assert 0 < check(release) <= 1
