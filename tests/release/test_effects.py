"""Effects from a release: the file alone is enough, and nothing is charged or drawn."""

from dataclasses import replace

import pytest

from engine import InputError, load_dataset, load_release
from engine.__main__ import main
from engine.data.schema import Schema
from engine.graphs.known import Known
from engine.privacy import sources
from engine.release.checking import check
from engine.release.door import load
from engine.release.file import canonical
from engine.release.make import BudgetedRelease
from engine.release.page import confidence_words, to_html
from engine.release.synthetic import synthetic
from tests.release.samples import KNOWN, asia_schema, make


@pytest.fixture(scope="module")
def paid(book, tmp_path_factory):
    """A release of Asia with what is known, its budget and its file."""
    rows = load_dataset("asia", n=20_000, seed=4)
    schema = Schema(asia_schema().columns, rows=20_000, knowledge=KNOWN)
    data = replace(rows, schema=schema, public=False, truth=None)
    found = make(book, data, schema, name="known", epsilon=10, delta=3e-5)
    path = tmp_path_factory.mktemp("known") / "release.json"
    path.write_text(canonical(found), encoding="utf-8")
    return found, book, path


def test_what_is_known_is_in_the_file_and_the_graph_follows_from_both(paid):
    release, _, path = paid
    again, _ = load(path)
    assert again.schema.knowledge == KNOWN
    assert 0 < check(again) <= 1
    arrows = [(a, b) for a, b in release.cpdag if (b, a) not in release.cpdag]
    assert ("smoke", "bronc") in arrows
    assert all(KNOWN.allows(a, b) for a, b in arrows)
    said = confidence_words(release)
    turned, links = Known(KNOWN, release.names).fixed(release.matrix)
    assert 0 < turned <= len(arrows)
    assert f"settles {turned} of {links} directions by itself" in said
    assert said in to_html(release).replace("&#x27;", "'")
    forged = replace(again, schema=replace(again.schema, knowledge=None))
    with pytest.raises(InputError, match=r"does not follow|its algorithm makes"):
        check(forged)


def test_an_effect_needs_no_data_and_costs_nothing(paid, monkeypatch):
    """From the file alone; the budget is as it was, and no source of noise is opened."""
    release, budgets, path = paid
    before = budgets.show("known")

    def refused(*_, **__):
        raise AssertionError("a source of noise was opened")

    monkeypatch.setattr(sources.Hardened, "__init__", refused)
    found = load_release(path).effect("smoke", "bronc")
    assert found.difference.low < 0.3 < found.difference.high
    assert budgets.show("known") == before
    assert BudgetedRelease(release).effect("bronc", "smoke").refusal is not None
    assert release.matrix.sum() == len(release.cpdag)


def test_do_sampling_sets_a_column_of_the_twin(paid):
    """Its answer is the adjusted effect where nothing is to be adjusted for."""
    release, _, path = paid
    made = {level: synthetic(release, 20_000, do={"smoke": level}) for level in ("yes", "no")}
    smoke, bronc = release.names.index("smoke"), release.names.index("bronc")
    yes = {level: (rows.codes[:, bronc] == 0).mean() for level, rows in made.items()}
    assert (made["no"].codes[:, smoke] == 1).all()
    told = BudgetedRelease(release).effect("smoke", "bronc")
    assert yes["yes"] - yes["no"] == pytest.approx(told.difference.value, abs=0.03)
    # What it does not act on is drawn as without it, row by row.
    asia = release.names.index("asia")
    assert (made["yes"].codes[:, asia] == synthetic(release, 20_000).codes[:, asia]).all()
    for wrong in ({"smok": "yes"}, {"smoke": "maybe"}):
        with pytest.raises(InputError):
            synthetic(release, 10, do=wrong)
    out = path.with_name("twin.csv")
    assert (
        main(["synthetic", str(path), "--rows", "50", "--do", "smoke=yes", "--out", str(out)]) == 0
    )
    assert main(["synthetic", str(path), "--do", "smoke"]) == 2
