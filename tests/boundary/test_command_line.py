"""The command line on two files that differ in one record: what it prints and writes is alike."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from engine import ALGORITHMS, Knowledge
from engine.__main__ import main
from engine.release.budget import VARIABLE, Budgets
from engine.release.signature import VARIABLE as KEY
from tests.boundary.alike import DECLARED, ODD, Twice, table

STRICT = [key for key, a in ALGORITHMS.items() if a.private and a.columns is None]
PLACE = 7
OWN = "--csv {folder}/mine.csv --schema {folder}/s.json"
KNOWN = Knowledge(tiers=[["age"], ["smoker", "kind"]])
# A budget says when it was charged.
CLOCK = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?( UTC)?")


def left(folder):
    """All files but the input, word for word; of the budgets all rows, without when they were."""
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    found = {name: files[name].read_bytes() for name in files.keys() - {"mine.csv", "b.db"}}
    if "b.db" in files:
        with closing(sqlite3.connect(files["b.db"])) as budgets:
            found["b.db"] = CLOCK.sub("then", "\n".join(budgets.iterdump()))
    return found


def said(folder, content, asked, twice, capsys):
    """Of each command what it printed, its status, and every file that there is after it."""
    folder.mkdir()
    own, schema, known = folder / "mine.csv", folder / "s.json", folder / "k.json"
    own.write_bytes(content)
    schema.write_text(DECLARED)
    KNOWN.save(known)
    found = {}
    with twice.visit():
        for k, line in enumerate(asked):
            status, printed = main(line.format(folder=folder).split()), capsys.readouterr()
            # Standard error tells the owner what matched no level; all else is alike.
            found[line] = status, CLOCK.sub("then", printed.out.replace(str(folder), ""))
            found |= {f"{k}: {name}": content for name, content in left(folder).items()}
    return found


@pytest.fixture
def compared(tmp_path, monkeypatch, capsys):
    """Both visits give the same, and something; all commands but those that fail end well."""

    def both(asked, fails=None):
        twice, found = Twice(), []
        monkeypatch.setenv(KEY, str(tmp_path / "key.pem"))
        for name, record in (("one", None), ("other", ODD)):
            monkeypatch.setenv(VARIABLE, str(tmp_path / name / "b.db"))
            found.append(said(tmp_path / name, table(PLACE, record), asked, twice, capsys))
        one, other = found
        assert one.keys() == other.keys()
        for what, content in one.items():
            assert content == other[what], f"{what}\none: {content!r}\nother: {other[what]!r}"
        for k, line in enumerate(asked):
            assert one[line][0] == (2 if k == fails else 0), one[line]
        return one

    return both


@pytest.mark.parametrize("key", STRICT)
def test_a_run_prints_nothing_of_one_record(key, compared):
    run = f"run {OWN} --algorithm {key}"
    compared([run, f"{run} --json"])


def test_nor_do_studies_releases_and_what_is_made_of_them(compared):
    compared(
        [
            f"sweep {OWN} --algorithm svt_pc --epsilon 1,5 --seeds 2 --out {{folder}}/s.db --json",
            "table {folder}/s.db --out {folder}/runs.csv",
            "budget new w --epsilon 9 --delta 1e-4",
            f"release {OWN} --budget w --epsilon 1 --out {{folder}}/r.json",
            f"release {OWN} --budget w --epsilon 2 --sign --out {{folder}}/f.json",
            "check {folder}/f.json --page {folder}/f.html",
            "effect {folder}/r.json --cause smoker --outcome cough --json",
            "synthetic {folder}/r.json --rows 10 --out {folder}/twin.csv",
        ]
    )


def test_nor_does_a_release_that_is_cut_short_nor_what_follows_from_several(compared, monkeypatch):
    """The disk is full at the second table: the drawn tables and the request are on it too."""
    cut, draw = set[Path](), Budgets.draw

    def full(book, charge, place, released):
        if place == 1 and book.path not in cut:
            cut.add(book.path)
            raise OSError(28, "No space left on device")
        return draw(book, charge, place, released)

    monkeypatch.setattr(Budgets, "draw", full)
    asked = [
        "budget new ward --epsilon 9 --delta 1e-4",
        "budget new other --epsilon 9 --delta 1e-4",
        f"release {OWN} --budget ward --epsilon 1 --out {{folder}}/r.json",
        f"release {OWN} --budget ward --resume --out {{folder}}/r.json",
        f"release {OWN} --budget other --epsilon 1 --knowledge {{folder}}/k.json "
        "--out {folder}/known.json",
        f"release {OWN} --budget other --epsilon 1 --out {{folder}}/two.json",
        "combine {folder}/r.json {folder}/two.json --knowledge {folder}/k.json "
        "--out {folder}/all.json",
        "effect {folder}/r.json --cause smoker --outcome cough --knowledge {folder}/k.json "
        "--out {folder}/after.json",
        "budget show",
    ]
    found = compared(asked, fails=2)
    for word in ('"steps"', '"schema"'):
        assert word in str(found["2: b.db"])
    assert {"8: all.html", "8: after.json"} < found.keys()
