"""What was paid for is never lost and never overwritten; the vault and the places of files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engine import InputError
from engine.__main__ import main
from engine.privacy.accounting import Guarantee
from engine.release.budget import VARIABLE, Budgets
from engine.release.file import canonical, digest, load, loads
from engine.release.page import to_html
from engine.release.places import check_place, save
from engine.release.signature import own_key, public_text, verify
from tests.release.samples import make

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def book(tmp_path: Path) -> Budgets:
    found = Budgets(tmp_path / "data" / "b.db")
    found.new("asia", 100, 1e-3)
    return found


# The vault -----------------------------------------------------------------------------------


def test_a_release_is_kept_before_it_is_returned(book: Budgets) -> None:
    found = make(book)
    (id_,) = book.ids(book.show("asia")).values()
    kept = book.get(id_)
    assert kept.text == canonical(found)
    assert kept.page == to_html(found)
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
def test_an_old_copy_of_the_budgets_is_noticed(
    book: Budgets, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, later: int
) -> None:
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


def test_nothing_is_charged_where_nothing_can_be_kept(book: Budgets) -> None:
    book.folder.write_text("in the way")
    with pytest.raises(InputError):
        make(book)
    assert book.show("asia").charges == ()


def test_what_the_disk_refuses_or_loses_is_one_sentence(
    book: Budgets, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = make(book)
    id_ = book.ids(book.show("asia"))[1]
    assert id_ == f"1-{digest(found)[:8]}"
    assert book.get("1").text == canonical(found)
    (book.folder / f"{id_}.html").unlink()
    with pytest.raises(InputError, match="cannot be read"):
        book.get("1")

    def full(text: str, path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("engine.release.budget.save", full)
    with pytest.raises(InputError, match="could not be kept: No space left"):
        book.keep(2, found)


# Places --------------------------------------------------------------------------------------


def test_no_file_is_ever_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "there.json"
    there.write_text("paid for")
    with pytest.raises(InputError, match="already"):
        check_place(there)
    with pytest.raises(InputError, match="overwritten"):
        save("other", there)

    def no_links(*_: object) -> None:
        raise PermissionError("no links on this disk")

    monkeypatch.setattr(os, "link", no_links)
    with pytest.raises(InputError, match="overwritten"):
        save("other", there)
    save("new", tmp_path / "new.json")
    assert (tmp_path / "new.json").read_text() == "new"
    assert (tmp_path / "new.json").stat().st_mode & 0o777 == 0o600
    assert there.read_text() == "paid for"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "nowhere.json")
    with pytest.raises(InputError, match="already"):
        check_place(tmp_path / "link.json")
    with pytest.raises(InputError, match="overwritten"):
        save("text", tmp_path / "link.json")
    assert not (tmp_path / "nowhere.json").exists()


# The command line ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["r.json", "r.html"])
def test_a_place_that_is_taken_costs_nothing(
    name: str, desk: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = tmp_path / name
    taken.write_text("paid for")
    assert main([*desk, str(tmp_path / "r.json")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert taken.read_text() == "paid for"
    assert Budgets().show("ward").charges == ()


def test_a_place_taken_in_between_costs_no_release(
    desk: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("engine.cli.release.check_places", Path)
    (tmp_path / "r.json").write_text("paid for")
    assert main([*desk, str(tmp_path / "r.json")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    (id_,) = Budgets().ids(Budgets().show("ward")).values()
    assert f"--again {id_}" in error
    assert (tmp_path / "r.json").read_text() == "paid for"


def test_what_could_be_written_nowhere_is_printed(
    desk: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The disk is full from the charge on: what has been paid for is not lost."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    for module in ("engine.release.budget", "engine.cli.release"):
        monkeypatch.setattr(f"{module}.save", full)
    assert main([*desk, str(tmp_path / "r.json")]) == 2
    said = capsys.readouterr()
    assert "paid for, is on standard output alone" in said.err
    assert loads(said.out.encode()).total.epsilon == 1
    assert len(Budgets().show("ward").charges) == 1


def test_a_terminal_without_an_epsilon_ends_nothing(
    desk: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a charge nothing breaks off, or it would be asked for and paid for again."""
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")  # what Windows writes to a file
    asked = [sys.executable, "-m", "engine", "budget", "new", "other", "--epsilon", "3"]
    done = subprocess.run(asked, cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"other: \\u03b5 3 of 3 left")


@pytest.mark.parametrize("when", ["_charged", "_made"])
def test_a_second_ctrl_c_says_whether_it_is_charged(
    when: str,
    desk: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def pressed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("engine.cli.release.ignore_signals", lambda: None)
    monkeypatch.setattr(f"engine.release.make.Budget.{when}", pressed)
    assert main([*desk, str(tmp_path / "r.json")]) == 130
    charged = len(Budgets().show("ward").charges)
    assert charged == (when == "_made")
    said = "stay charged to budget 'ward'" if charged else "nothing was charged"
    assert said in capsys.readouterr().err


def test_signed_checked_kept_and_written_again(
    desk: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, page, key, again, later = (
        str(tmp_path / n) for n in ("r.json", "r.html", "key.txt", "again.json", "later.json")
    )
    assert main([*desk, out, "--sign"]) == 0
    capsys.readouterr()
    assert main(["budget", "show", "--json"]) == 0
    (budget,) = json.loads(capsys.readouterr().out)
    (charge,) = budget["charges"]
    assert main(["budget", "show"]) == 0
    assert f"kept as {charge['release']}" in capsys.readouterr().out
    assert main(["release", "--again", charge["release"], "--out", again]) == 0
    assert Path(again).read_bytes() == Path(out).read_bytes()
    assert Path(again).with_suffix(".html").read_bytes() == Path(page).read_bytes()
    for more in ((), ("--resume",)):  # the file is there; nothing is resumed where one is kept
        assert main(["release", f"--again={charge['release']}", "--out", again, *more]) == 2
    assert len(Budgets().show("ward").charges) == 1
    assert "--resume" in capsys.readouterr().err
    assert main(["key"]) == 0
    Path(key).write_text(capsys.readouterr().out)
    for given in (key, Path(key).read_text().strip()):
        assert main(["check", out, "--key", given, "--page", page, "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        assert (said["consistent"], said["key_was_given"], said["page_belongs"]) == (True,) * 3
    assert main(["check", out]) == 0
    assert "no file can prove" in capsys.readouterr().out
    changed = tmp_path / "changed.json"
    changed.write_bytes(Path(out).read_bytes().replace(b'"rows":5000', b'"rows":5001'))
    for wrong in (
        *([out, *flags] for flags in (["--key", "0" * 64], ["--key", "me"], ["--page", key])),
        [out, "--seconds", "0"],
        [str(changed)],
        [str(tmp_path)],
    ):
        assert main(["check", *wrong]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    kept = Path(again).with_name("bare.json")  # one without a signature is signed later
    kept.write_text(canonical(replace(load(out), signature=None)))
    (stored,) = Budgets().folder.glob("1-*.json")
    stored.write_text(kept.read_text())
    assert main(["release", "--again", "1", "--sign", "--out", later]) == 0
    assert load(kept).signature is None
    verify(load(later), public_text(own_key()))
    assert main(["twin", out, "--rows", "10"]) == 0
    assert main(["twin", out, "--rows", "10"]) == 2  # nothing is overwritten
    assert (tmp_path / "r-synthetic.csv").stat().st_mode & 0o777 == 0o600
