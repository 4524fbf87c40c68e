"""Budgets that outlive a session: never passed, by two processes or by kill -9."""

import json
import os
import random
import resource
import signal
import sqlite3
import time
from decimal import Decimal

import pytest

from engine import InputError
from engine.privacy.accounting import Guarantee
from engine.release.budget import APPLICATION_ID, VARIABLE, Budgets


@pytest.fixture
def book(tmp_path):
    return Budgets(tmp_path / "above" / "folder" / "budgets.db")


def test_a_total_is_kept_and_never_passed(book):
    book.new("ward", 1.0, 1e-5)
    for left in range(10, 0, -1):
        for cost in (Guarantee(left / 10 + 1e-9, 0.0), Guarantee(0.1, left * 1e-6 + 1e-14)):
            with pytest.raises(InputError, match="remaining"):
                book.charge("ward", cost, "too much")
        after = book.charge("ward", Guarantee(0.1, 1e-6), "a release").left
        assert after == ((left - 1) * Decimal("0.1"), (left - 1) * Decimal("0.000001"))
    found = Budgets(book.path).show("ward")
    assert len(found.charges) == 10
    paid = {(c.what, c.epsilon, c.delta) for c in found.charges}
    assert paid == {("a release", Decimal("0.1"), Decimal("0.000001"))}
    assert (found.spent, found.left) == ((1, Decimal("1e-5")), (0, 0))
    with pytest.raises(
        InputError, match=r"^Budget 'ward' has ε = 0, .* This release needs ε = 1, δ"
    ):
        book.charge("ward", Guarantee(1.0, 0.0), "one more")
    assert [str(amount) for amount in book.show("ward").left] == ["0", "0"]


def test_a_name_is_declared_once(book):
    book.new("ward", 1, 1e-6)
    for place in (book.path, book.path.parent, book.path.parent.parent):
        assert place.stat().st_mode & 0o077 == 0
    with pytest.raises(InputError, match="already"):
        book.new("ward", 2, 1e-6)
    with pytest.raises(InputError, match="Did you mean 'ward'"):
        book.charge("wart", Guarantee(0.1, 0.0), "typo")


def test_where_it_is_kept(monkeypatch, tmp_path):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Budgets().path.name == "budgets.db"
    monkeypatch.setenv(VARIABLE, str(tmp_path / "other.db"))
    assert Budgets().path == tmp_path / "other.db"


LOOK_ALIKES = [
    ("asia", "Asia"),
    ("ward 1", "ward l"),
    ("ward 1", "ward I"),
    ("ward 0", "ward O"),
    ("ward 5", "ward S"),
    ("corner", "comer"),
    ("vvard", "ward"),
    ("clean", "dean"),
    ("ward-7", "ward_7"),
    ("ward-7", "ward 7"),
    ("w", "w."),
    ("w", "w_-"),
    ("ward-7", "ward7"),
    ("north west", "North.West"),
    ("2026-1-11", "2026.1 11-"),
]


@pytest.mark.parametrize(("there", "new"), LOOK_ALIKES)
def test_a_name_that_looks_like_another_is_refused(book, there, new):
    for first, second in ((there, new), (new, there)):
        book.path.unlink(missing_ok=True)
        book.new(first, 1, 1e-6)
        with pytest.raises(InputError, match="which looks the same"):
            book.new(second, 1, 1e-6)
        assert len(book.all()) == 1


@pytest.mark.parametrize(
    "name",
    ["asia ", " asia", "as  ia", "as\u00a0ia", "asia\u200b", "a\tb", "\u0430sia", "stra\u00dfe",
     "caf\u00e9", "cafe\u0301", "\uff57ard", "\u03bappa", "w\u0661", "a\n", "", "../x", "a" * 61],
)  # fmt: skip
def test_names_are_of_ascii_without_blanks_that_nobody_sees(book, name):
    with pytest.raises(InputError, match="A budget's name has"):
        book.new(name, 1, 1e-6)
    assert book.all() == ()


def test_names_that_differ_live_side_by_side(book):
    names = ["ward 1", "ward 2", "ward-7", "ward-17", "2026-1-11", "2026-11-1", "mail", "mall"]
    for name in names:
        book.new(name, 1, 1e-6)
    assert sorted(b.name for b in book.all()) == sorted(names)


def test_budgets_of_before_still_open(book):
    """Names that would be refused today, in a file that has them, can be read and charged."""
    book.new("asia", 1, 1e-6)
    with sqlite3.connect(book.path) as connection:
        sql = "INSERT INTO budgets (name, epsilon, delta) VALUES (?, '1', '0')"
        connection.executemany(sql, [("asia ",), ("\u0430sia",)])
    assert len(book.all()) == 3
    assert book.charge("asia ", Guarantee(0.5, 0.0), "a release").left[0] == Decimal("0.5")
    assert book.show("asia").charges == ()


# Amounts ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("10000000", "0.1"), ("1e-9", "1e-15"), ("0.3", "1e-15"), (1, 0.1)]
)
def test_amounts_at_the_ends_are_taken_as_typed(book, epsilon, delta):
    found = book.new("ward", epsilon, delta)
    assert (found.epsilon, found.delta) == (Decimal(str(epsilon)), Decimal(str(delta)))
    assert found.left == (found.epsilon, found.delta)
    assert found.spent == (0, 0)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        ("10000000.000001", "1e-6"),
        ("1", "0"),
        ("0", "1e-6"),
        ("-1", "1e-6"),
        ("1", "-1e-9"),
        ("1", "0.1000001"),
        ("nan", "1e-6"),
        ("1", "inf"),
        ("one", "1e-6"),
        ("1e-61", "1e-6"),
        ("1_0", "1e-6"),
        ("1", "1e-0_6"),
        (" 1", "1e-6"),
        ("1", "1e-6\n"),
        ("\uff11", "1e-6"),
        ("1e400", "1e-6"),
        ("1e9999999999999999999999", "1e-6"),
        (True, "1e-6"),
    ],
)
def test_amounts_beyond_them_are_refused(book, epsilon, delta):
    with pytest.raises(InputError) as caught:
        book.new("ward", epsilon, delta)
    assert str(caught.value).endswith(".")
    assert book.all() == ()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("database is locked", "locked by another program"),
        ("attempt to write a readonly database", "cannot be opened to write"),
        ("unable to open database file", "cannot be opened to write"),
        ("database or disk is full", "nothing was released"),
        ("disk I/O error", "nothing was released"),
        ("file is not a database", "is damaged"),
    ],
)
def test_what_the_disk_says_is_one_sentence(book, monkeypatch, said, words):
    book.new("ward", 1, 1e-6)

    def refused(*_):
        raise sqlite3.OperationalError(said)

    monkeypatch.setattr(Budgets, "_prepare", refused)
    with pytest.raises(InputError, match=words):
        book.charge("ward", Guarantee(0.5, 0.0), "a release")
    monkeypatch.undo()
    assert book.show("ward").charges == ()


# Hostile files and words -------------------------------------------------------------------


CHARGE = "INSERT INTO charges (id, name, epsilon, delta, what) VALUES ('c', 'x', '{}', '0', '')"
RULES = "UPDATE sqlite_master SET sql = replace(sql, '{}', '{}') WHERE name = 'charges'"
STRICT, LOOSE = "at TEXT NOT NULL", "at TEXT"
# What is done to no file, and to a file of budgets.
FOREIGN = {
    "text": lambda path: path.write_text("ten thousand"),
    "random": lambda path: path.write_bytes(random.Random(0).randbytes(8192)),
    "a folder": lambda path: path.mkdir(),
    "empty": lambda path: path.touch(),
    "foreign": lambda path: scripted(path, "CREATE TABLE budgets (name TEXT)"),
    "without tables": lambda path: scripted(
        path,
        "CREATE TABLE other (name TEXT)",
        f"PRAGMA application_id = {APPLICATION_ID}",
        "PRAGMA user_version = 1",
    ),
}
DAMAGED = {
    "newer": lambda path: scripted(path, "PRAGMA user_version = 99"),
    "torn": lambda path: os.truncate(path, path.stat().st_size // 2),
    "negative": lambda path: scripted(path, CHARGE.format("-5")),
    "no number": lambda path: scripted(path, CHARGE.format("much")),
    "nan": lambda path: scripted(path, CHARGE.format("NaN")),
    "infinite": lambda path: scripted(path, CHARGE.format("Infinity")),
    "endless": lambda path: scripted(path, CHARGE.format("1e999999")),
    # A row that the table's own rules forbid: SQLite reads it as if nothing were wrong.
    "inconsistent": lambda path: scripted(
        path,
        "PRAGMA writable_schema = ON",
        RULES.format(STRICT, LOOSE),
        "PRAGMA writable_schema = RESET",
        CHARGE.replace("what)", "what, at)").replace("'')", "'', NULL)").format(1),
        "PRAGMA writable_schema = ON",
        RULES.format(LOOSE, STRICT),
    ),
}


def scripted(path, *statements):
    with sqlite3.connect(path) as connection:
        connection.executescript(";".join(statements))


@pytest.mark.parametrize("name", [*FOREIGN, *DAMAGED])
def test_a_hostile_file_is_one_sentence_and_no_charge(name, tmp_path):
    path = tmp_path / "b.db"
    if name in DAMAGED:
        Budgets(path).new("x", 1, 1e-6)
    (FOREIGN | DAMAGED)[name](path)
    before = path.read_bytes() if path.is_file() else b""
    for act in (
        lambda: Budgets(path).charge("x", Guarantee(0.1, 0.0), ""),
        lambda: Budgets(path).show("x"),
    ):
        with pytest.raises(InputError) as caught:
            act()
        assert "\n" not in str(caught.value)
        assert str(caught.value).endswith(".")
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_amounts_that_differ_look_different(book):
    """Two thirds are rounded up, so that three of them pass the total in the last digit."""
    book.new("ward", 3, "2e-5")
    third = Guarantee(1.0, 2e-5 / 3)
    for _ in range(2):
        book.charge("ward", third, "a third")
    said = "δ = 6.666666666666665e-6 remaining. This release needs ε = 1, δ = 6.6666666666666675e-6"
    with pytest.raises(InputError, match=said):
        book.charge("ward", third, "the last")
    rest = Guarantee(1.0, 6.666666666666665e-6)
    assert book.charge("ward", rest, "what remains").left == (0, 0)


# Two processes, and kill -9 ----------------------------------------------------------------


def forked(work):
    """A child process that does the work and ends at once."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return child


def spend_until_refused(book, log):
    """Charge until nothing is left; a line of the log is a charge that was acknowledged."""
    with log.open("ab", buffering=0) as written:
        for _ in range(300):  # more than there are
            try:
                book.charge("ward", Guarantee(0.1, 0.0), "a race")
            except InputError as error:
                if "remaining" in str(error):
                    return
                raise
            written.write(b"charged\n")


@pytest.mark.parametrize("room", [0, 600, 4096, 9000])
def test_a_full_disk_is_no_damage(book, room):
    """Nobody is told to put an old copy in its place, on which less is spent."""
    book.new("ward", 9, 1e-5)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        with pytest.raises(InputError, match=r"could not be written .* nothing was released"):
            book.charge("ward", Guarantee(1.0, 1e-7), "x")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert book.charge("ward", Guarantee(1.0, 1e-7), "x").left[0] == 8


@pytest.mark.slow
def test_processes_at_once_with_kill_9_lose_no_charge(book, tmp_path):
    """A charge that was acknowledged is kept; each kill leaves at most one that was not."""
    book.new("ward", 20, 1e-6)
    log, rng = tmp_path / "log", random.Random(5)
    children = [forked(lambda: spend_until_refused(book, log)) for _ in range(6)]
    until = time.monotonic() + 60
    while time.monotonic() < until and (not log.exists() or log.stat().st_size < 160):
        time.sleep(0.001)  # 20 lines
    for child in children[:4]:
        time.sleep(rng.uniform(0, 0.01))
        os.kill(child, signal.SIGKILL)
    ends = [os.waitpid(child, 0)[1] for child in children]
    assert ends == [signal.SIGKILL] * 4 + [0] * 2  # killed while they charged
    found, acknowledged = book.show("ward"), len(log.read_bytes().split())
    assert acknowledged <= len(found.charges) <= acknowledged + 4
    assert len(found.charges) == 200
    assert found.left[0] == 0


# The command line --------------------------------------------------------------------------


def test_the_commands(typed):
    found = typed("budget new 'ward 7' --epsilon 2 --delta 1e-5")
    assert "ward 7: ε 2 of 2 left" in found.out
    Budgets().charge("ward 7", Guarantee(0.5, 1e-6), "a test")
    (about,) = json.loads(typed("budget show 'ward 7' --json").out)
    assert about["left"] == {"epsilon": 1.5, "delta": 9e-6}
    for line in (
        "budget",
        "budget reset 'ward 7'",
        "budget show 'ward 8'",
        "budget recount 'ward 8'",
        "budget new other --epsilon 1_0",
        "budget new other --epsilon=' 1'",
        "budget new other --epsilon 1 --delta 1e-1_0",
        "run --dataset asia --n 1_000",
        "run --dataset asia --epsilon 1_0",
        "sweep --dataset asia --epsilon 1,nan",
        "plan --schema s.json --rows 100 --epsilon 1 --delta inf",
        "synthetic r.json --rows \uff11\uff10",
    ):
        found = typed(line)
        assert (found.status, found.err.count("\n")) == (2, 1)
