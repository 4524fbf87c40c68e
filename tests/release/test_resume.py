"""A release cut short after its charge: what was drawn is kept, and ended without a charge."""

import json
import os
import random
import signal
import sqlite3
import time

import pytest

from engine import Budget, InputError
from engine.privacy.accounting import Guarantee
from engine.privacy.sources import Hardened
from engine.release.budget import Budgets
from engine.release.checking import check
from engine.release.places import save
from tests.release.samples import RELEASE, asia_schema, make, own_asia
from tests.release.test_budget import forked

KILLS = 8  # scripts/kill_releases.py kills as many as one likes
ASKED = {"name": "ward", "epsilon": 1.0, "threshold": 0.4}
OTHER = own_asia(100), asia_schema(100)


@pytest.fixture
def book(tmp_path):
    found = Budgets(tmp_path / "b.db")
    found.new("ward", 3, 1e-5)
    return found


def cut(monkeypatch, after):
    """The power fails before the table that comes after so many."""
    draw = Hardened.gaussian

    def failing(source, *args):
        if len(source.given_out) == after:
            raise RuntimeError("power cut")
        return draw(source, *args)

    monkeypatch.setattr(Hardened, "gaussian", failing)


@pytest.mark.parametrize("after", [0, 1, 2])
def test_what_was_drawn_is_kept_and_the_rest_is_drawn(after, book, monkeypatch):
    with monkeypatch.context() as patch:
        cut(patch, after)
        with pytest.raises(RuntimeError, match="power cut") as told:
            make(book, **ASKED)
    assert "stay charged to budget 'ward'" in told.value.__notes__[0]
    assert "engine release --resume ends it" in told.value.__notes__[0]
    assert Budget("ward", path=book.path).left.epsilon == 2
    (number,) = book.show("ward").unfinished
    lines = book.drawn(number)
    kept = (
        [json.loads(line)["steps"] for line in lines.read_text().splitlines()[1:]] if after else []
    )
    assert len(kept) == after
    if after:
        lines.write_text(lines.read_text() + '\n{"sensitivity": 1.')  # a line that was torn
        assert lines.stat().st_mode & 0o077 == 0
    found = make(book, name="ward", resume=True)
    assert [list(one.steps) for one in found.releases[:after]] == kept
    assert found.params["threshold"] == 0.4
    assert 0 < check(found) <= 1
    budget = book.show("ward")
    assert len(budget.charges) == 1
    assert not budget.unfinished
    assert not lines.exists()
    assert book.ids(budget) == {number: f"{number}-{book.get('1')[0][2:]}"}
    with pytest.raises(InputError, match="No release of budget 'ward' waits"):
        make(book, **ASKED, resume=True)


def test_a_release_that_ended_before_it_was_noted(book, monkeypatch):
    """Its files are kept already when it is ended once more."""

    def failing(text, path):
        save(text, path)
        if path.suffix == ".json":
            raise RuntimeError("power cut")

    with monkeypatch.context() as patch:
        patch.setattr("engine.release.budget.save", failing)
        with pytest.raises(RuntimeError, match="power cut"):
            make(book, **ASKED)
    assert list(book.show("ward").unfinished) == [1]
    make(book, name="ward", resume=True)
    assert not book.show("ward").unfinished
    assert list(book.ids(book.show("ward"))) == [1]


def test_another_table_does_not_end_it(book, monkeypatch):
    with monkeypatch.context() as patch:
        cut(patch, 1)
        with pytest.raises(RuntimeError):
            make(book, **ASKED)
    with pytest.raises(InputError, match="is of another table: 5,000 records of asia"):
        make(book, *OTHER, name="ward", resume=True)
    with sqlite3.connect(book.path) as connection:  # a schema that another version wrote
        connection.execute("UPDATE unfinished SET request = replace(request, 'levels', 'l')")
    with pytest.raises(InputError, match="schema"):
        make(book, *OTHER, name="ward", resume=True)
    assert list(book.show("ward").unfinished) == [1]
    assert len(book.charge("ward", Guarantee(1.0, 0.0), "other").charges) == 2


def killed_releases(folder, kills, seed):
    """Kill as many releases at random moments, and end them; (releases that are kept, charges)."""
    book, rng = Budgets(folder / "b.db"), random.Random(seed)
    make(book)  # compiled and counted once
    start = time.monotonic()
    make(book)
    usual = time.monotonic() - start
    for _ in range(kills):
        child = forked(lambda: make(book) and None)
        time.sleep(rng.uniform(0, 1.5 * usual))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    for _ in book.show("asia").unfinished:
        check(make(book, resume=True))
    book.check()  # no release is without its charge
    budget = book.show("asia")
    assert not budget.unfinished
    return len(book.ids(budget)), len(budget.charges)


def test_kill_9_loses_nothing_that_was_paid_for_and_gives_nothing_for_free(tmp_path):
    """Every charge has its release in the end, and none is charged twice."""
    files, charges = killed_releases(tmp_path, KILLS, seed=4)
    assert 2 <= files == charges <= KILLS + 2


def test_the_command_line_resumes(typed, monkeypatch):
    with monkeypatch.context() as patch:
        cut(patch, 1)
        with pytest.raises(RuntimeError):
            typed(f"{RELEASE} r.json")
    assert "cut short; engine release --resume ends it" in typed("budget show").out
    found = typed(f"{RELEASE} r.json --resume")
    assert found.status == 0
    assert "2 more releases of ε = 1" in found.out
    assert len(Budgets().show("ward").charges) == 1


# What a budget affords, and whose it is ----------------------------------------------------


def test_a_default_delta_is_a_share_of_the_budget_s(book):
    """So a budget of three times epsilon pays for three releases, whatever its delta."""
    for left in (2, 1, 0):
        found = make(book, **ASKED)
        assert found.total == Guarantee(1.0, 3.33e-6)
        plural = "release" if left == 1 else "releases"
        said = f"{left} more {plural} of ε = 1, δ = 3.33e-06"
        assert book.show("ward").remaining.endswith(said)
    assert book.show("ward").share(100.0) == 1e-5


def test_a_budget_belongs_to_one_table(book):
    """Other levels or fewer columns are the same records; other records need another name."""
    make(book, **ASKED)
    budget = book.show("ward")
    assert (budget.rows, budget.columns) == (5_000, asia_schema().names)
    assert budget.takes(5_000, ["asia", "tub"])
    assert budget.takes(5_000, [*asia_schema().names, "more"])
    assert not budget.takes(5_000, ["asia", "other"])
    assert not budget.takes(4_999, asia_schema().names)
    with pytest.raises(InputError, match="belongs to a table of 5,000 records with"):
        make(book, *OTHER, name="ward")
    assert len(book.show("ward").charges) == 1
