"""What was paid for is never lost and never overwritten; the vault and the places of files."""

import io
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engine import InputError
from engine.__main__ import main, script
from engine.privacy.accounting import Guarantee
from engine.release.budget import VARIABLE, Budgets
from engine.release.door import load
from engine.release.file import canonical, digest, loads
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
    (id_,) = book.ids(book.show("asia")).values()
    kept = book.get(id_)
    assert kept == (id_, canonical(found), to_html(found))
    assert book.ids(book.show("asia")) == {1: id_}
    assert book.get("1") == kept
    folder = book.folder
    assert folder.stat().st_mode & 0o777 == 0o700
    assert len(list(folder.iterdir())) == 2
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    for wanted in ("2", "../b", "", "1-00000000"):
        with pytest.raises(InputError, match="no release"):
            book.get(wanted)


@pytest.mark.parametrize("later", [0, 1])
def test_an_old_copy_of_the_budgets_is_noticed(book, capsys, monkeypatch, later):
    """The charge since the copy is gone, or its number is another charge's by now."""
    make(book)
    before = book.path.read_bytes()
    make(book)
    book.check()
    book.path.write_bytes(before)
    for _ in range(later):
        book.charge("asia", Guarantee(1.0, 0.0), "a release that was never kept")
        kept = book.folder / "2-aaaaaaaa.json"
        kept.write_text("{}")
    with pytest.raises(InputError, match="is an older copy: 1 of the kept releases"):
        book.check()
    spent = book.show("asia").spent
    with pytest.raises(InputError, match="older copy"):
        make(book)
    assert book.show("asia").spent == spent
    monkeypatch.setenv(VARIABLE, str(book.path))
    for asked in (["budget", "show"], ["budget", "show", "--json"]):
        assert main(asked) == 2
        told = capsys.readouterr()
        assert "older copy" in told.err
        assert told.out == ""


def test_nothing_is_charged_where_nothing_can_be_kept(book):
    book.folder.write_text("in the way")
    with pytest.raises(InputError):
        make(book)
    assert book.show("asia").charges == ()


def test_what_the_disk_refuses_or_loses_is_one_sentence(book, monkeypatch):
    found = make(book)
    id_ = book.ids(book.show("asia"))[1]
    assert id_ == f"1-{digest(found)[:8]}"
    assert book.get("1")[1] == canonical(found)
    (book.folder / f"{id_}.html").unlink()
    with pytest.raises(InputError, match="cannot be read"):
        book.get("1")

    def full(text, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("engine.release.budget.save", full)
    with pytest.raises(InputError, match="could not be kept: No space left"):
        book.keep(2, found)


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


def test_what_could_be_written_nowhere_is_printed(typed, monkeypatch):
    """The disk is full from the charge on: what has been paid for is not lost."""

    def full(*_):
        raise OSError(28, "No space left on device")

    for module in ("engine.release.budget", "engine.cli.release"):
        monkeypatch.setattr(f"{module}.save", full)
    found = typed(f"{RELEASE} r.json")
    assert found.status == 2
    assert "paid for, is on standard output alone" in found.err
    assert loads(found.out.encode()).total.epsilon == 1
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
    assert f"kept as {charge['release']}" in typed("budget show").out
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
    (stored,) = Budgets().folder.glob("1-*.json")
    stored.write_text(bare)
    assert typed("release --again 1 --sign --out later.json").status == 0
    load("later.json", public_text(own_key()))
    assert typed("synthetic r.json --rows 10").status == 0
    assert typed("synthetic r.json --rows 10").status == 2  # nothing is overwritten
    assert Path("r-synthetic.csv").stat().st_mode & 0o777 == 0o600
