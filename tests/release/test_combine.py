"""Results from releases: knowledge applied afterwards, several as one; old files."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine import Dataset, InputError, Knowledge, combine, load_dataset
from engine.data.schema import Schema
from engine.effects.effect import MOST_SURE
from engine.marginals.diagnostics import MarginalDiagnostics
from engine.release import checking
from engine.release.door import load
from engine.release.file import BEFORE, DISJOINT, canonical, digest, loads
from engine.release.likeness import ALIKE, Sampled, likeness
from engine.release.make import BudgetedRelease
from engine.release.page import combined_words, to_html
from engine.release.pooling import drift, pooled, weights
from engine.release.signature import verify_page
from tests.effects.models import exact, noisy
from tests.release.samples import KNOWN, asia_schema, declared, make

KEPT = Path(__file__).parents[1] / "known_answer" / "releases"
SIZES, EPSILONS = (4_000, 3_500), (1.0, 3.0)


@pytest.fixture(scope="module")
def wards(book):
    """Two hospitals of different people, sizes and epsilons."""
    data = parts_of(load_dataset("asia", n=sum(SIZES), seed=8001), SIZES)
    return [
        make(book, rows, asia_schema(rows.n), name=f"hospital {k}", epsilon=epsilon)
        for k, (rows, epsilon) in enumerate(zip(data, EPSILONS, strict=True))
    ]


@pytest.fixture(scope="module")
def both(wards):
    return checking.combined(wards)


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_files_of_before_are_read_and_checked(path):
    """Written by version 3 of the format: what they hold, their digest and their signature."""
    found, doubt = load(path)
    assert canonical(found).encode() == path.read_bytes()
    assert doubt > 1e-6
    if found.signature is not None:  # its page was written by another version
        with pytest.raises(InputError, match="another version of this program"):
            verify_page(found, path.with_suffix(".html").read_bytes())


@pytest.mark.parametrize("name", ["asia-turned", "sachs-voted"])
def test_files_of_earlier_rules_answer(name):
    """Other tables were released for knowledge that only turned links; votes drew a cycle."""
    found, _ = load(KEPT / f"{name}.json")
    told = checking.with_knowledge(found, Knowledge(leaves=[found.names[-1]]))
    assert checking.check(loads(canonical(told).encode())) == checking.check(found)
    arrow = next((a, b) for a, b in found.cpdag if (b, a) not in found.cpdag)
    turned = tuple(sorted({*found.cpdag, arrow[::-1]} - {arrow}))
    with pytest.raises(InputError, match="'cpdag' does not follow"):
        checking.check(replace(found, cpdag=turned))
    outcome = found.schema.columns[3]
    effect = checking.question(found)(found.names[0], outcome.name, outcome_level=outcome.levels[0])
    assert 0 <= effect.acts <= MOST_SURE


def test_an_attack_follows_the_rules_of_the_file():
    found, _ = load(KEPT / "asia-turned.json")
    assert checking.attack_release(found, proposals=1).passed


# Knowledge applied afterwards --------------------------------------------------------------


def test_knowledge_is_applied_for_free_and_stands_in_the_file(wards, book):
    before = book.all()
    plain = wards[0]
    told = checking.with_knowledge(plain, KNOWN)
    assert book.all() == before
    assert told.releases == plain.releases
    assert told.schema == plain.schema
    arrows = [(a, b) for a, b in told.cpdag if (b, a) not in told.cpdag]
    assert ("smoke", "bronc") in arrows
    assert all(KNOWN.allows(a, b) for a, b in arrows)
    again = loads(canonical(told).encode())
    assert (again.applied, again.knowledge) == (KNOWN, KNOWN)
    assert checking.check(again) == checking.check(plain)
    assert "settles" in to_html(again)
    assert checking.with_knowledge(again, Knowledge()).cpdag == plain.cpdag
    for forged in (
        replace(again, applied=Knowledge(roots=["dysp"])),
        replace(plain, applied=KNOWN),
    ):
        with pytest.raises(InputError, match="does not follow"):
            checking.check(forged)
    with pytest.raises(InputError, match="xrays"):
        checking.with_knowledge(plain, Knowledge(roots=["xrays"]))


# Pooling -----------------------------------------------------------------------------------


def parts_of(data, sizes):
    ends = np.cumsum(sizes)
    return [
        Dataset.from_codes(data.codes[end - n : end], data.names, data.levels)
        for end, n in zip(ends.tolist(), sizes, strict=True)
    ]


def test_without_noise_hospitals_are_one_table():
    """Every person once: one counted twice, or a weight that is no share of people, is seen."""
    sizes = (6_000, 3_000, 1_000)
    data = load_dataset("sachs", n=sum(sizes), seed=1)
    some, whole = [exact(part, 1e-9) for part in parts_of(data, sizes)], exact(data)
    found = pooled(some)
    assert weights(some) == pytest.approx(np.array(sizes) / sum(sizes), rel=1e-6)
    assert found.n == data.n
    assert found.one == pytest.approx(whole.one, abs=1e-9)
    for i in range(data.d):
        for j in range(i):
            assert found.block(i, j) == pytest.approx(whole.block(i, j), abs=1e-9)


def test_the_noise_of_a_pool_has_the_variance_that_is_stated():
    """Over 400 draws: a variance that is not added, or not squared, is off by a factor."""
    sizes, sds = (4_000, 2_000, 2_000), (0.005, 0.01, 0.01)
    triple, rng = (0, 1, 2), np.random.default_rng(3)
    data = parts_of(load_dataset("cancer", n=sum(sizes), seed=1), sizes)
    seen = []
    stated = None
    for _ in range(400):
        some = [noisy(part, sd, rng, [triple]) for part, sd in zip(data, sds, strict=True)]
        stated = pooled(some)
        seen.append((stated.one[3], stated.block(1, 4).item(), stated.higher[triple].item()))
    truth = np.array([stated.variance(3), stated.variance(1, 4), stated.variance(*triple)])
    # The sample's own share of a tensor that all released is no noise.
    ratio = np.var(seen, axis=0, ddof=1) / truth
    assert ratio == pytest.approx(1, abs=0.2)


def test_a_table_that_some_released_is_noisier():
    """By what its fewer rows lack to the effective number, at the least."""
    data = parts_of(load_dataset("cancer", n=8_000, seed=1), (4_000, 4_000))
    key = (0, 1, 2)
    one, two = exact(data[0], 0.001, [key]), exact(data[1], 0.001)
    some, every = pooled([one, two]), pooled([one, exact(data[1], 0.001, [key])])
    assert (some.higher[key] == one.higher[key]).all()
    assert some.noise_higher[key] == pytest.approx(1e-6 + (1 / 4_000 - 1 / 8_000) / 8)
    assert every.noise_higher[key] == pytest.approx(1e-6 / 2)


def test_the_absence_of_drift_is_seen():
    data = load_dataset("asia", n=40_000, seed=3)
    rng = np.random.default_rng(1)
    overall, columns = drift([noisy(p, 0.002, rng) for p in parts_of(data, (20_000, 20_000))])
    assert abs(overall) < 2.5
    assert columns.shape == (8,)


@pytest.mark.parametrize(
    ("sd", "told"),
    [(0.0005, 1.0), (0.002, 1.0), (0.05, 0.0)],  # a sample's own is .0035 to .016
)
def test_the_same_people_are_told_where_noise_is_small_and_others_never(sd, told):
    """Over 50 pairs each; the bound on different people's probability is one, at any level."""
    rng, n = np.random.default_rng(5), 1_000
    data = load_dataset("asia", n=100 * n, seed=6)
    rows = data.codes[: 2 * n]

    def sampled(part):
        return Sampled.of(noisy(part, sd, rng), rows)

    parts = parts_of(data, (n,) * 100)
    some = list(map(sampled, parts))
    others = np.array([likeness(some[k], some[k + 1]) for k in range(0, 100, 2)])
    same = np.array([likeness(some[k], sampled(parts[k])) for k in range(0, 100, 2)])
    for level in (0.5, 0.1):
        assert np.mean(others < level) <= level
    assert others.min() > ALIKE
    assert np.mean(same < ALIKE) == told


def test_whole_tables_do_not_follow_the_pooled_number_of_rows(book):
    """Each hospital alone is too small for all orders; together they would be large enough."""
    data = parts_of(load_dataset("cancer", n=8_000, seed=2), (1_000,) * 8)
    schema = declared(data[0], "ordered")
    all_ = checking.combined(
        [make(book, part, schema, name=f"w{k}") for k, part in enumerate(data)]
    )
    assert not checking.tables_of(all_).whole
    found = checking.derived(all_, checking.tables_of(all_)).diagnostics
    assert isinstance(found, MarginalDiagnostics)
    assert isinstance(found.evidence, dict)


# Releases as one ---------------------------------------------------------------------------


def test_a_combined_release_says_what_it_rests_on(wards, both):
    assert (both.rows, both.total.epsilon) == (sum(SIZES), max(EPSILONS))
    assert both.name == "hospital 0 + hospital 1"
    again = loads(canonical(both).encode())
    assert canonical(again) == canonical(both)
    assert [digest(part) for part in again.parts] == [digest(ward) for ward in wards]
    assert checking.check(again) > 1e-6
    content = json.loads(canonical(both))
    assert content["guarantee"]["rests_on"] == DISJOINT
    before = replace(both, rests_on=BEFORE)  # a file of version 0.3
    assert checking.check(loads(canonical(before).encode())) > 1e-6
    page = to_html(both).replace("&#x27;", "'")
    said = combined_words(both)
    assert all(words in page for words in said)
    assert "n = 3,500, ε = 3" in page
    assert "agree within noise" in said[2]
    spread = [m.variance(0, 1) + 1 / (4 * m.n) for m, _ in map(checking.moments_of, (both, *wards))]
    assert spread[0] < min(spread[1:])
    told = combine([BudgetedRelease(ward) for ward in wards], KNOWN)
    assert told.release.applied == KNOWN
    assert told.synthetic(20).n == 20
    assert BudgetedRelease(both).effect("smoke", "bronc", KNOWN).acts == MOST_SURE
    assert checking.combined([both]).parts == both.parts


def test_columns_that_differ_are_named_with_the_largest_first(wards, both, book):
    data, turned = load_dataset("asia", n=SIZES[1]), [4, 6]  # bronc in 45 %, xray in 11 % of rows
    codes = data.codes.copy()
    codes[:, turned] = 1 - codes[:, turned]
    rows = Dataset.from_codes(codes, data.names, data.levels)
    other = make(book, rows, asia_schema(rows.n), name="turned")
    apart = replace(both, parts=(wards[0], other))
    overall, columns = drift([checking.moments_of(part)[0] for part in apart.parts])
    said = combined_words(apart)[2]
    assert f"chi-square of {overall:.0f}, " in said
    told = re.findall(r"(\w+) \((\d+)\)", said)
    assert [name for name, _ in told] == ["xray", "bronc"]
    assert [size for _, size in told] == [f"{columns[data.names.index(k)]:.0f}" for k, _ in told]


def test_what_cannot_be_combined_is_refused(wards, both):
    one, two = wards
    levels = replace(two.schema.columns[1], levels=("maybe", "no"))
    columns = two.schema.columns
    copy = "are the same release or a copy of it, so people would be counted twice"
    for other, words in (
        (replace(one, name="ward"), copy),
        (checking.with_knowledge(replace(one, name="ward"), KNOWN), copy),
        (replace(two, name=one.name, rows=one.rows), "of one budget"),
        (both, "of one budget"),
        (replace(two, schema=Schema((columns[0], levels, *columns[2:]))), "'levels' of 'tub'"),
        (replace(two, schema=Schema(columns[:-1])), "their columns"),
        (replace(two, params={**two.params, "threshold": 0.3}), "in the parameter 'threshold'"),
        (checking.with_knowledge(two, KNOWN), "have different background knowledge"),
    ):
        with pytest.raises(InputError, match=words):
            checking.combined([one, other])
    with pytest.raises(InputError, match="Combine 2 to"):
        checking.combined([one])


def test_a_changed_combined_file_is_refused(wards, both):
    first, second = both.parts
    forged = (
        {"rows": both.rows + 1},
        {"total": wards[0].total},
        {"parts": (first, first)},
        {"parts": (first,)},
        {"parts": (first, replace(second, cpdag=second.cpdag[1:]))},
        {"cpdag": both.cpdag[1:]},
    )
    for change in forged:
        with pytest.raises(InputError):
            checking.check(replace(both, **change))


def test_the_command_line_combines(wards, typed):
    for k, ward in enumerate(wards):
        Path(f"w{k}.json").write_text(canonical(ward), encoding="utf-8")
    Path("k.json").write_text(json.dumps(KNOWN.to_json()))
    found = typed("combine w0.json w1.json --out all.json")
    assert "If each person is in one release only, they have that release's" in found.out
    asked = "effect all.json --cause smoke --outcome bronc --knowledge k.json --out told.json"
    assert "The probability that smoke acts on bronc is 95 %" in typed(asked).out
    said = json.loads(typed("check told.json --json").out)
    assert said["knowledge"] == KNOWN.to_json()
    assert said["combined"] == [ward.name for ward in wards]
    found = typed("combine w0.json w0.json --out twice.json")
    assert (found.status, found.err.count("\n")) == (2, 1)
