"""A charged release is never lost and never overwritten; the vault and the places of files."""

import io
import json
import os
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engine import InputError
from engine.__main__ import main, script
from engine.algorithms.marginal_pc import MarginalPCParameters
from engine.release.budget import VARIABLE, Budgets
from engine.release.checking import Request
from engine.release.door import load
from engine.release.file import canonical, digest
from engine.release.page import to_html
from engine.release.places import check_place, save
from engine.release.signature import own_key, public_text
from tests.release.samples import RELEASE, make


@pytest.fixture
def book(tmp_path):
    found = Budgets(tmp_path / "data" / "b.db")
    found.new("asia", 100, 1e-3)
    return found


# The vault -----------------------------------------------------------------------------------


def test_a_release_is_kept_before_it_is_returned(book):
    found = make(book)
    ((charge, id_),) = book.ids(book.show("asia")).items()
    kept = book.get(id_)
    assert kept == (id_, canonical(found), to_html(found))
    assert id_ == f"{charge}-{digest(found)[:8]}"
    assert book.get(charge) == kept
    folder = book.folder
    assert folder.stat().st_mode & 0o777 == 0o700
    assert len(list(folder.iterdir())) == 2
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    for wanted in ("2", "../b", "", "1-00000000"):
        with pytest.raises(InputError, match="no release"):
            book.get(wanted)


def test_an_older_copy_closes_the_budget_that_it_gives_back(book, capsys, monkeypatch):
    """No other one; and what it lacks can be charged again, so that the rest can be spent."""
    book.new("other", 2, 1e-3)
    make(book)
    before = book.path.read_bytes()
    made, newest = make(book), book.path.read_bytes()
    assert book.closed() == {}
    book.path.write_bytes(before)
    assert list(book.closed()) == ["asia"]
    with pytest.raises(
        InputError, match=r"older copy\. Restore .* recount asia\. Do not .* twice\.$"
    ):
        make(book)
    assert len(book.show("asia").charges) == 1
    monkeypatch.setenv(VARIABLE, str(book.path))
    assert main(["budget", "show", "--json"]) == 0
    asia, other = json.loads(capsys.readouterr().out)
    assert "is closed" in asia["closed"]
    assert other["closed"] is None
    book.path.write_bytes(newest)
    assert book.closed() == {}
    book.path.write_bytes(before)
    make(book, name="other")
    assert main(["budget", "recount", "asia"]) == 0
    assert "is closed" not in capsys.readouterr().out
    assert book.show("asia").spent[0] == 2
    assert digest(made)[:8] in {id_[-8:] for id_ in book.ids(book.show("asia")).values()}
    make(book)
    assert book.recount("asia").spent[0] == 3


def test_a_budget_that_gave_out_more_than_its_total_stays_closed(book):
    """Its file was deleted, and a smaller total declared; a name that looks the same is no way."""
    make(book, epsilon=2.0)
    book.path.unlink()
    book.new("Asia.", 1, 1e-3)
    with pytest.raises(InputError, match=r"has ε = 1, .* remaining. This release needs ε = 2"):
        book.recount("Asia.")
    with pytest.raises(InputError, match=r"'Asia\.' is closed: the release"):
        make(book, name="Asia.")
    assert book.show("Asia.").charges == ()
    assert make(book, name="other").total.epsilon == 1


def of_version_1(book, made):
    """A file as version 1 wrote it: a kept release, one that was never begun, one cut short."""
    (id_,) = book.ids(book.show("asia")).values()
    asked = MarginalPCParameters(epsilon=1.0, delta=1e-6)
    request = json.dumps(Request(asked, made.rows, made.schema).to_json())
    for end in ("json", "html"):
        (book.folder / f"{id_}.{end}").rename(book.folder / f"1-{id_[-8:]}.{end}")
    (book.folder / "drawn-3.jsonl").write_text('\n{"sensitivity": 1.0}')
    with sqlite3.connect(book.path) as connection:
        connection.executescript("""
            DROP TABLE drawn;
            DROP TABLE charges;
            CREATE TABLE charges (id INTEGER PRIMARY KEY, name TEXT NOT NULL REFERENCES budgets
                (name), epsilon TEXT NOT NULL, delta TEXT NOT NULL, what TEXT NOT NULL,
                at TEXT NOT NULL DEFAULT (datetime('now')));
            CREATE TABLE unfinished (id INTEGER PRIMARY KEY, request TEXT NOT NULL);
            PRAGMA user_version = 1;
        """)
        for number in (1, 2, 3):
            row = (
                "INSERT INTO charges (name, epsilon, delta, what) VALUES ('asia', '1', '1e-6', '')"
            )
            connection.execute(row)
            connection.execute("INSERT INTO unfinished VALUES (?, ?)", (number, request))


def test_budgets_of_version_1_are_taken_over(book):
    """Numbers stay as ids; tables of which nobody can say whose they are are named, not used."""
    made = make(book)
    of_version_1(book, made)
    budget = book.show("asia")
    assert [c.id for c in budget.charges] == ["1", "2", "3"]
    assert list(budget.unfinished) == ["2"]
    assert (book.ids(budget), book.closed()) == ({"1": f"1-{digest(made)[:8]}"}, {})
    again = make(book, resume=True)
    assert book.ids(budget)["2"] == f"2-{digest(again)[:8]}"
    assert len(make(book).releases) == len(made.releases)
    with pytest.raises(
        InputError, match=r"has no interrupted release\. drawn-3\.jsonl .* is not used\.$"
    ):
        make(book, resume=True)
    assert [len(c.id) for c in book.show("asia").charges] == [1, 1, 1, 16]


def test_nothing_is_charged_where_nothing_can_be_kept(book):
    book.folder.write_text("in the way")
    with pytest.raises(InputError):
        make(book)
    assert book.show("asia").charges == ()


def test_what_the_disk_loses_is_one_sentence(book):
    make(book)
    ((charge, id_),) = book.ids(book.show("asia")).items()
    (book.folder / f"{id_}.html").unlink()
    with pytest.raises(InputError, match="cannot be read"):
        book.get(charge)


# Places --------------------------------------------------------------------------------------


def test_no_file_is_ever_overwritten(tmp_path, monkeypatch):
    there = tmp_path / "there.json"
    there.write_text("paid for")
    with pytest.raises(InputError, match="already"):
        check_place(there)
    with pytest.raises(InputError, match="overwritten"):
        save("other", there)

    def no_links(*_):
        raise PermissionError("no links on this disk")

    monkeypatch.setattr(os, "link", no_links)
    with pytest.raises(InputError, match="overwritten"):
        save("other", there)
    save("new", tmp_path / "new.json")
    assert (tmp_path / "new.json").read_text() == "new"
    assert (tmp_path / "new.json").stat().st_mode & 0o777 == 0o600
    assert there.read_text() == "paid for"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_link_in_the_way_is_not_followed(tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "nowhere.json")
    with pytest.raises(InputError, match="already"):
        check_place(tmp_path / "link.json")
    with pytest.raises(InputError, match="overwritten"):
        save("text", tmp_path / "link.json")
    assert not (tmp_path / "nowhere.json").exists()


# The command line ----------------------------------------------------------------------------


def one_line(found):
    return found.status == 2 and found.err.count("\n") == 1


@pytest.mark.parametrize("name", ["r.json", "r.html"])
def test_a_place_that_is_taken_costs_nothing(name, typed):
    Path(name).write_text("paid for")
    assert one_line(typed(f"{RELEASE} r.json"))
    assert Path(name).read_text() == "paid for"
    assert Budgets().show("ward").charges == ()


def test_a_place_taken_in_between_costs_no_release(typed, monkeypatch):
    monkeypatch.setattr("engine.cli.release.check_places", Path)
    Path("r.json").write_text("paid for")
    found = typed(f"{RELEASE} r.json")
    assert one_line(found)
    (id_,) = Budgets().ids(Budgets().show("ward")).values()
    assert f"--again {id_}" in found.err
    assert Path("r.json").read_text() == "paid for"


def test_what_could_not_be_kept_is_given_to_nobody_and_ends_later(typed, monkeypatch):
    """The disk is full from the charge on: what has been paid for is not lost."""

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("engine.release.budget.save", full)
        found = typed(f"{RELEASE} r.json")
    assert one_line(found)
    assert "could not be saved: No space left" in found.err
    assert not Path("r.json").exists()
    assert typed(f"{RELEASE} r.json --resume").status == 0
    assert len(Budgets().show("ward").charges) == 1


def test_a_terminal_without_an_epsilon_ends_nothing(tmp_path, monkeypatch):
    """After a charge nothing breaks off, or it would be asked for and paid for again."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "b.db"))
    monkeypatch.setattr("engine.__main__.end_on_signals", lambda: None)
    monkeypatch.setattr(sys, "argv", ["engine", "budget", "new", "other", "--epsilon", "3.0"])
    raw = io.BytesIO()  # as what Windows writes to a file
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="cp1252", write_through=True))
    assert script() == 0
    assert raw.getvalue().startswith(b"other: \\u03b5 3 of 3 left")


@pytest.mark.parametrize("when", ["Budget._charged", "Resumable"])
def test_a_second_ctrl_c_says_whether_it_is_charged(when, typed, monkeypatch):
    def pressed(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("engine.cli.release.ignore_signals", lambda: None)
    monkeypatch.setattr(f"engine.release.make.{when}", pressed)
    found = typed(f"{RELEASE} r.json")
    assert found.status == 130
    charged = len(Budgets().show("ward").charges)
    assert charged == (when == "Resumable")
    said = "stay charged to budget 'ward'" if charged else "nothing was charged"
    assert said in found.err


def test_signed_checked_kept_and_written_again(typed):
    assert typed(f"{RELEASE} r.json --sign").status == 0
    (budget,) = json.loads(typed("budget show --json").out)
    (charge,) = budget["charges"]
    assert f"saved as {charge['release']}" in typed("budget show").out
    assert typed(f"release --again {charge['release']} --out again.json").status == 0
    for end in ("json", "html"):
        assert Path(f"again.{end}").read_bytes() == Path(f"r.{end}").read_bytes()
    for more in ("", " --resume"):  # the file is there; nothing is resumed where one is kept
        found = typed(f"release --again={charge['release']} --out again.json{more}")
        assert found.status == 2
    assert "--resume" in found.err
    assert len(Budgets().show("ward").charges) == 1
    public = typed("key").out
    Path("key.txt").write_text(public)
    for given in ("key.txt", public.strip()):
        said = json.loads(typed(f"check r.json --key {given} --page r.html --json").out)
        assert (said["consistent"], said["key_was_given"], said["page_belongs"]) == (True,) * 3
    assert "no file can prove" in typed("check r.json").out
    changed = Path("r.json").read_bytes().replace(b'"rows":5000', b'"rows":5001')
    Path("changed.json").write_bytes(changed)
    for wrong in (
        f"r.json --key {'0' * 64}",
        "r.json --key me",
        "r.json --page key.txt",
        "r.json --seconds 0",
        "changed.json",
        ".",
    ):
        assert one_line(typed(f"check {wrong}"))
    bare = canonical(replace(load("r.json")[0], signature=None))  # signed later
    (stored,) = Budgets().folder.glob("*.json")
    stored.write_text(bare)
    assert typed(f"release --again {charge['id']} --sign --out later.json").status == 0
    load("later.json", public_text(own_key()))
    assert typed("synthetic r.json --rows 10").status == 0
    assert typed("synthetic r.json --rows 10").status == 2  # nothing is overwritten
    assert Path("r-synthetic.csv").stat().st_mode & 0o777 == 0o600
