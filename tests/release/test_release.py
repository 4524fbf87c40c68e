"""A release: hardened noise, charged, read back; hostile files; synthetic rows."""

import json
import math
import re
from contextlib import nullcontext
from dataclasses import replace
from functools import partial, partialmethod
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from engine import Budget, Dataset, InputError, run
from engine.algorithms.marginal_pc import MarginalPCParameters
from engine.marginals.moments import one_way_weight
from engine.marginals.sensitivity import all_pairs_change
from engine.monitor import Monitor
from engine.percent import percent, probability
from engine.privacy.accounting import Guarantee
from engine.privacy.sources import DISTANCE, Hardened
from engine.release.budget import Budgets
from engine.release.checking import Request, allowance, check
from engine.release.door import load
from engine.release.file import canonical, loads, to_json
from engine.release.make import CHARGED, Stopped
from engine.release.page import confidence_words, doubt_words, edge_words, to_html
from engine.release.synthetic import LABEL, synthetic
from tests.release.samples import RELEASE, asia_schema, declared, make, own_asia, schema_of


def written(release):
    return json.loads(json.dumps(to_json(release)))


# Asia at epsilon = 1 -----------------------------------------------------------------------


def test_it_is_read_back_and_consistent(asia, book):
    again = loads(canonical(asia).encode())
    assert check(again) > 1e-3
    assert canonical(again) == canonical(asia)
    assert again.total == Guarantee(1.0, 1e-6)
    assert book.show("asia").charges[0].what == "release by marginal_pc"


def test_the_promise_is_what_its_noise_gives(asia):
    """From the file's own numbers, by code of its own: mu adds up to what (1, 1e-6) allows."""
    mu = math.sqrt(sum((r.sensitivity / r.sigma) ** 2 for r in asia.releases))
    a, e = mu / 2, asia.total.epsilon
    delta = stats.norm.cdf(a - e / mu) - math.exp(e) * stats.norm.cdf(-a - e / mu)
    distance = (1 + math.exp(e)) * DISTANCE
    assert delta + distance <= 1e-6
    assert delta > 0.99e-6
    assert asia.params["delta"] == 1e-6 - allowance(asia.total)


def test_the_sensitivity_covers_rounding(asia):
    """The pairs' exact bound (weighted one-way tables included), a little wider."""
    cards = (2,) * 8
    exact = math.sqrt(all_pairs_change(cards, one_way_weight(cards)))
    first = asia.releases[0]
    step = math.ldexp(1.0, first.grid)
    assert exact + math.sqrt(len(first.steps)) * step <= first.sensitivity <= exact * 1.0001


def test_it_holds_no_seed_no_clock_no_raw_value(asia):
    text = json.dumps(written(asia)) + to_html(asia)
    data = own_asia()
    for word in (
        '"seed"',
        "seconds",
        "fingerprint",
        data.fingerprint,
        "_f1",
        "metrics",
        "internal",
    ):
        assert word not in text
    fields = {"format", "version", "name", "guarantee", "algorithm", "params", "rows", "schema"}
    fields |= {"cpdag", "edge_confidence", "arrow_confidence", "tables", "releases", "versions"}
    fields |= {"digest", "signature"}
    assert set(written(asia)) == fields


def test_the_page_loads_nothing(asia):
    page = to_html(asia)
    assert "<script" not in page
    assert not re.search(r"(src|href)=", page)
    assert "(ε, δ) = (1, 1e-06)" in page


@pytest.mark.parametrize(
    ("confidences", "said"),
    [
        ((), "0 of 0."),
        ((0.3,), "1 of 1."),
        ((0.99, 0.9), "0 of 2."),
        ((0.9,) * 4 + (0.4, 0.5, 0.5), "2 of 7."),
    ],
)
def test_a_release_says_how_many_of_its_links_are_probably_false(asia, confidences, said):
    """The sum of what each link lacks to certainty: .1 four times, .6, .5 and .5 make 2.0."""
    links = tuple((f"a{k}", f"b{k}", c) for k, c in enumerate(confidences))
    assert doubt_words(replace(asia, confidence=links)) == f"Links that are probably false: {said}"
    assert doubt_words(asia) in to_html(asia)


def test_an_arrow_has_its_own_confidence(asia):
    """One row of it for each edge; what is missing of the two to 1 is how often there is none."""
    assert [row[:2] for row in asia.arrows] == [row[:2] for row in asia.confidence]
    assert all(min(p, q) >= 0 and p + q <= 1 for _, _, p, q in asia.arrows)
    text = written(asia)["arrow_confidence"]
    assert [tuple(row) for row in text] == list(asia.arrows)


@pytest.mark.parametrize(("there", "mark"), [(0.599, "—"), (0.6, "→")])
def test_an_arrow_in_doubt_is_a_line(there, mark, asia):
    a, b, sure = asia.confidence[0]
    known = replace(asia, cpdag=((a, b),), confidence=((a, b, sure),), arrows=((a, b, there, 0.1),))
    [(words, link, arrow)] = edge_words(known)
    assert words == f"{a} {mark} {b}"
    rest = percent(1 - there - 0.1, 1)  # the three sum to 1
    assert (link, arrow) == (probability(sure), f"→ {percent(there, 1)}, ← 10.0 %, either {rest}")
    assert ("(1 of them here" in confidence_words(known)) == (mark == "—")
    page = to_html(known)
    assert f"<td>{words}</td><td>{link}</td><td>{arrow}</td>" in page.replace("&gt;", ">")
    turned = replace(known, cpdag=((b, a),), arrows=((a, b, 0.1, there),))
    assert edge_words(turned)[0][0] == f"{a} {mark.replace('→', '←')} {b}"


def test_voted_directions_have_no_confidence(book):
    found = make(book, delta=1e-6, orientation="majority")
    check(loads(canonical(found).encode()))
    assert found.arrows == ()
    assert all(arrow == "–" for _, _, arrow in edge_words(found))
    assert "were voted" in to_html(found)


def test_names_are_escaped_on_the_page(book):
    codes = np.random.default_rng(0).integers(0, 2, (400, 3))
    data = Dataset.from_codes(codes, ("<b>a", "b&c", "c"), [("<i>", "y")] * 3)
    page = to_html(make(book, data, declared(data), name="other"))
    assert "<b>a" not in page
    assert "<i>" not in page
    assert "&lt;b&gt;a" in page


# Refusals cost nothing ---------------------------------------------------------------------


def test_refusals_charge_nothing(book):
    before, data = book.show("asia"), own_asia()
    undeclared = Dataset.from_codes(data.codes, data.names)
    for given, asked in (
        (undeclared, {}),
        (data, {"epsilon": -1.0}),
        (data, {"epsilon": 1e6}),  # hardened noise has no such delta
        (data, {"bogus": 1}),
        (data, {"algorithm": "priv_pc"}),
        (data, {"delta": 0.05}),  # more than there is
    ):
        with pytest.raises(InputError) as caught:
            make(book, given, **asked)
        assert "\n" not in str(caught.value)
    assert book.show("asia") == before


def test_discrete_noise_takes_at_most_half_of_delta():
    """What it takes is (1 + e^epsilon) DISTANCE: a third of delta is paid, two thirds are not."""
    epsilon = math.log(1e-6 / DISTANCE)
    assert allowance(Guarantee(epsilon - math.log(3), 1e-6)) == pytest.approx(1e-6 / 3, rel=1e-3)
    with pytest.raises(InputError, match="hardened noise needs"):
        allowance(Guarantee(epsilon - math.log(1.5), 1e-6))


@pytest.mark.parametrize(
    ("why", "says"),
    [
        (InputError("This release has no finite noise."), "This release has no finite noise. "),
        (OSError(12, "Cannot allocate memory"), "[Errno 12] Cannot allocate memory "),
        (MemoryError(), "There is no memory left. "),
    ],
    ids=["refused", "system", "memory"],
)
def test_what_ends_a_release_after_the_charge_says_that_it_stays(book, monkeypatch, why, says):
    def ends(*_):
        raise why

    monkeypatch.setattr(Hardened, "gaussian", ends)
    before = book.show("asia").spent[0]
    with pytest.raises(InputError) as told:
        make(book)
    assert str(told.value).startswith(f"{says}The release was not made, and ε = 1, ")
    assert "stay charged to budget 'asia'" in str(told.value)
    assert book.show("asia").spent[0] == before + 1


@pytest.mark.parametrize("when", ["before", "during"])
def test_a_stop_is_free_before_the_charge_alone(book, when, monkeypatch):
    monkeypatch.setattr("engine.release.make._EVERY", 0.0)
    before, pressed, heard = book.show("asia").spent[0], [when == "before"], []

    def told(share, phrase):
        heard.append(phrase.partition(":")[0])
        pressed[0] |= phrase == CHARGED

    words = "nothing was charged" if when == "before" else "stay charged to budget 'asia'"
    with pytest.raises(Stopped, match=words) as caught:
        make(book, stop=lambda: pressed[0], on_progress=told)
    going = ["trying empty rows", CHARGED, "releasing"]
    assert list(dict.fromkeys(heard)) == going[: 1 if when == "before" else 3]
    assert "\n" not in str(caught.value)
    assert book.show("asia").spent[0] - before == (when == "during")


def test_other_data_are_refused_before_the_charge(tmp_path):
    book = Budgets(tmp_path / "b.db")
    book.new("ward", 3, 1e-5)
    codes, schema = np.arange(60).reshape(-1, 3) % 2, schema_of(2, 2, 2)
    data = Dataset.from_codes(codes, schema.names, schema.levels)
    with pytest.raises(InputError, match="needs a declared schema"):
        Budget("ward", path=book.path).release(Dataset.from_codes(codes, schema.names))
    with pytest.raises(InputError, match="no budget 'other'"):
        Budget("other", path=book.path)
    assert book.show("ward").charges == ()
    found = make(book, data, schema, name="ward")
    assert (found.rows, found.name, found.algorithm) == (20, "ward", "marginal_pc")
    assert set(found.versions) == {"dp-causal-explorer", "numpy", "opendp", "scipy"}
    assert found.labels[0] == "all pairs"
    assert found.signature is None


# Synthetic rows ----------------------------------------------------------------------------------


def test_the_twin_follows_the_release(book):
    """The noise is secret, so the bounds have room: 400 such releases came within .015 and .12.

    At epsilon = 1 one in a hundred has a wrong arrow or a rare level that the noise has hidden.
    """
    data, clear = own_asia(), make(book, epsilon=5.0, delta=1e-4)
    before = book.show("asia")
    made = synthetic(clear, 20_000, seed=2)
    assert book.show("asia") == before
    assert made.public
    assert made.levels == data.levels
    assert made.notes == (LABEL,)
    shares = [np.mean(d.codes == 0, axis=0) for d in (made, data)]
    assert np.abs(shares[0] - shares[1]).max() < 0.03
    there, here = (np.corrcoef(d.codes.T) for d in (made, data))
    linked = [(clear.names.index(a), clear.names.index(b)) for a, b, _ in clear.confidence]
    strong = [pair for pair in linked if abs(here[pair]) > 0.3]
    assert len(strong) >= 3
    for pair in strong:
        assert there[pair] * here[pair] > 0
        assert abs(there[pair] - here[pair]) < 0.2
    assert run("pc", made).metrics_all is not None


# Replay, command line ----------------------------------------------------------------------


def test_the_rehearsal_of_a_large_table_holds_no_rows():
    """On 10^8 rows it held 6 GB."""
    nothing = Request(MarginalPCParameters(), 10**8, asia_schema()).empty
    assert nothing.n == 10**8
    assert nothing.codes.nbytes < 100


def test_the_commands(typed, monkeypatch):
    found = typed(f"{RELEASE} r.json")
    assert found.status == 0
    assert doubt_words(load("r.json")[0]) in found.out.splitlines()
    said = json.loads(typed("check r.json --json").out)
    assert (said["consistent"], said["epsilon"], said["delta"]) == (True, 1.0, 3.33e-7)
    assert said["signed_by"] is None
    for asked, why in (
        ("r.json", "already"),  # nothing is overwritten
        ("second.json --epsilon 2.5", "remaining"),
        ("nowhere/r.json", "No file can be written at"),
        ("r.json/s.json", "No file can be written at"),
    ):
        found = typed(f"{RELEASE} {asked}")
        assert found.status == 2
        assert why in found.err

    def pressed(*args, **options):
        raise KeyboardInterrupt

    asked_to_stop = partial(nullcontext, Monitor(stop=lambda: True))
    monkeypatch.setattr("engine.cli.release.ignore_signals", lambda: None)
    keep, budget = Budgets.keep, Budgets()

    def kept_and_pressed(book, error, *args):
        keep(book, *args)
        raise error

    monkeypatch.setattr("engine.__main__.interrupted", lambda: True)
    monkeypatch.setattr("engine.__main__.ignore_signals", lambda: None)

    for charges, place, instead in (
        (1, "cli.release.own_table", pressed),
        (1, "cli.release.watched", asked_to_stop),
        (2, "cli.release.save", pressed),
        (3, "release.budget.Budgets.keep", partialmethod(kept_and_pressed, KeyboardInterrupt())),
        (4, "release.budget.Budgets.keep", partialmethod(kept_and_pressed, RuntimeError("panic"))),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(f"engine.{place}", instead)
            found = typed(f"{RELEASE} second.json --epsilon 0.5")
        assert found.status == 130  # Ctrl-C
        made = budget.show("ward")
        assert len(made.charges) == charges
        if charges == 1:
            assert "nothing was charged" in found.err
            continue
        id_ = budget.ids(made)[made.charges[-1].id]
        assert f"Stopped. The release is saved: engine release --again {id_} --out" in found.err
        assert typed(f"release --again {id_} --out again{charges}.json").status == 0
    assert Path("r.html").exists()
