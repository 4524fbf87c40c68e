"""An interrupted release: its drawn tables are kept, and it resumes without a charge."""

import os
import random
import signal
import sqlite3
import time
from contextlib import nullcontext
from dataclasses import replace

import pytest

from engine import Budget, InputError
from engine.privacy.accounting import Guarantee
from engine.privacy.sources import Hardened
from engine.release.budget import Budgets
from engine.release.checking import check
from engine.release.file import canonical, digest, loads
from engine.release.make import Resumable
from engine.release.places import save
from tests.release.samples import RELEASE, asia_schema, make, own_asia
from tests.release.test_budget import forked

KILLS = 4  # scripts/kill_releases.py kills as many as one likes
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
    assert "(engine release --resume) finishes it without another charge" in told.value.__notes__[0]
    assert Budget("ward", path=book.path).left.epsilon == 2
    (charge,) = book.show("ward").unfinished
    kept = [one.steps for one in book.drawn(charge)]
    assert len(kept) == after
    found = make(book, name="ward", resume=True)
    assert [one.steps for one in found.releases[:after]] == kept
    assert found.params["threshold"] == 0.4
    assert 0 < check(found) <= 1
    budget = book.show("ward")
    assert len(budget.charges) == 1
    assert not budget.unfinished
    assert book.ids(budget) == {charge: book.get(charge)[0]}
    with pytest.raises(InputError, match=f"The charge {charge} has no unfinished release"):
        book.drawn(charge)
    with pytest.raises(InputError, match="Budget 'ward' has no interrupted release"):
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
    budget = book.show("ward")
    assert (len(budget.unfinished), book.ids(budget)) == (1, {})
    made = make(book, name="ward", resume=True)
    assert not book.show("ward").unfinished
    assert list(book.ids(budget)) == [budget.charges[0].id]
    assert [canonical(made)] == [path.read_text() for path in book.folder.glob("*.json")]


def test_another_table_does_not_end_it(book, monkeypatch):
    with monkeypatch.context() as patch:
        cut(patch, 1)
        with pytest.raises(RuntimeError):
            make(book, **ASKED)
    with pytest.raises(InputError, match="used a different table: 5,000 records with"):
        make(book, *OTHER, name="ward", resume=True)
    with sqlite3.connect(book.path) as connection:  # a schema that another version wrote
        connection.execute("UPDATE charges SET request = replace(request, 'levels', 'l')")
    with pytest.raises(InputError, match="schema"):
        make(book, *OTHER, name="ward", resume=True)
    assert len(book.show("ward").unfinished) == 1
    assert len(book.charge("ward", Guarantee(1.0, 0.0), "other").charges) == 2


@pytest.mark.parametrize("how", ["deleted", "put back"])
def test_no_budget_hands_out_another_s_tables(how, book, monkeypatch):
    """Its table was drawn under a charge that the file has no more, and numbers would repeat."""
    before = book.path.read_bytes()
    with monkeypatch.context() as patch:
        cut(patch, 1)
        with pytest.raises(RuntimeError):
            make(book, **ASKED)
    ((charge, _),) = book.show("ward").unfinished.items()
    (drawn,) = book.drawn(charge)
    book.path.unlink()
    if how == "put back":
        book.path.write_bytes(before)
    found = make(book, **ASKED | {"name": "ward 8"})
    assert found.releases[0].steps != drawn.steps
    ward = Budget("ward 8", path=book.path)
    with pytest.raises(InputError, match="has no unfinished release"):
        book.draw(charge, 1, drawn)
    assert len(ward.charges) == 1


def test_a_second_process_waits_for_the_first(book, monkeypatch):
    """Without the lock, too, one of them ends the release."""
    with monkeypatch.context() as patch:
        cut(patch, 1)
        with pytest.raises(RuntimeError):
            make(book, **ASKED)
    (charge,) = book.show("ward").unfinished
    with book.working(charge), pytest.raises(InputError, match=r"^Another process .* ended\.$"):
        make(book, name="ward", resume=True)
    drawn = Resumable.gaussian

    def late(source, *args):
        """The other one ends the release before this one has drawn its last tables."""
        if not others and len(source.given_out) == 2:
            with monkeypatch.context() as patch:
                patch.setattr(Resumable, "gaussian", drawn)
                others.append(make(book, name="ward", resume=True))
        return drawn(source, *args)

    others = []
    monkeypatch.setattr(Budgets, "working", lambda *_: nullcontext())
    monkeypatch.setattr(Resumable, "gaussian", late)
    with pytest.raises(InputError, match=f"The charge {charge} has no unfinished release"):
        make(book, name="ward", resume=True)
    assert len(others) == 1
    assert len(list(book.folder.glob("*.json"))) == 1


def test_a_charge_has_one_release_whoever_comes_late(book, monkeypatch):
    """A process had drawn all its tables when the folder before was put back and resumed."""
    with monkeypatch.context() as patch:
        cut(patch, 0)
        with pytest.raises(RuntimeError):
            make(book, **ASKED)
    before, (charge,) = book.path.read_bytes(), book.show("ward").unfinished
    late = make(book, name="ward", resume=True)
    for path in book.folder.iterdir():
        path.unlink()
    book.path.write_bytes(before)
    with pytest.raises(InputError, match="lacks tables that were drawn"):
        book.draw(charge, 1, late.releases[1])
    first = make(book, name="ward", resume=True)
    assert first.releases[0].steps != late.releases[0].steps
    with pytest.raises(InputError, match="has no unfinished release"):
        book.keep(charge, late)
    book.path.write_bytes(before)  # what is kept is the charge's release, and is not made again
    with pytest.raises(InputError, match="has no unfinished release"):
        book.keep(charge, late)
    assert canonical(make(book, name="ward", resume=True)) == canonical(first)
    with pytest.raises(InputError, match="has no unfinished release"):
        book.keep(charge, replace(first, name="other"))


def resumed(book, place):
    """A child process that ends a release and writes its digest, or why it could not."""

    def work():
        try:
            said = digest(make(book, resume=True))
        except InputError as error:
            said = str(error)
        place.write_text(said)

    return forked(work)


def killed_releases(folder, kills, seed):
    """Kill as many releases at random moments, and let two at once end each.

    Returns how many releases are kept and how many charges there are.
    """
    book, rng = Budgets(folder / "b.db"), random.Random(seed)
    make(book)  # compiled and counted once
    start = time.monotonic()
    make(book)
    usual = time.monotonic() - start
    for k in range(kills):
        child = forked(lambda: make(book) and None)
        time.sleep(rng.uniform(0, 1.5 * usual))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if not book.show("asia").unfinished:
            continue
        places = [folder / f"{k}-{one}" for one in "ab"]
        for child in [resumed(book, place) for place in places]:
            assert os.waitpid(child, 0)[1] == 0
        said = {place.read_text() for place in places}
        assert len({one for one in said if " " not in one}) == 1, said
        assert all("\n" not in one for one in said)
        check(loads(max(book.folder.glob("*.json"), key=os.path.getmtime).read_bytes()))
    budget = book.show("asia")
    assert not budget.unfinished
    assert book.closed() == {}  # no release is without its charge
    assert len(list(book.folder.glob("*.json"))) == len(book.ids(budget))
    return len(book.ids(budget)), len(budget.charges)


@pytest.mark.fresh  # or each process would draw the same
def test_kill_9_loses_nothing_that_was_paid_for_and_gives_nothing_for_free(tmp_path):
    """Every charge has its one release in the end, and none is charged twice."""
    files, charges = killed_releases(tmp_path, KILLS, seed=4)
    assert 2 <= files == charges <= KILLS + 2


def test_the_command_line_resumes(typed, monkeypatch):
    with monkeypatch.context() as patch:
        cut(patch, 1)
        with pytest.raises(RuntimeError):
            typed(f"{RELEASE} r.json")
    assert "interrupted; engine release --resume finishes it" in typed("budget show").out
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
        said = f"{left} more {plural} of ε = 1, δ = 3.33·10⁻⁶"
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
