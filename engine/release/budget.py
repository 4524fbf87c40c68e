"""Budgets that outlive a session: a name, a total (epsilon, delta), and what was charged to it.

One SQLite file in the user's data folder, shared by pages and command line. A charge is committed,
and on the disk, before the first noise is drawn: a crash leaves a charge without a release, never
the other way round. Two processes at once cannot pass the total, because each charge reads and
writes in one transaction that excludes all others. Nothing here takes a charge back.

A budget belongs to the records that its name stands for, whatever file or binning they come with;
which records those are is the person's word, since no digest of them may be kept. Its first release
binds it to public facts, the number of records and the columns' names: a table of another number,
or with columns of which neither has all of the other's, is taken for other records and refused.
Other levels of the same columns, or fewer columns, are the same records, and have no total of their
own. Charges add up by basic composition, in decimals as they were typed: ten times 0.1 is 1.

Every release is kept for its maker in a private folder next to the file, before it is shown: what
has been paid for is not lost with a closed tab or a mistyped place, and can be written out again as
often as one likes, which costs nothing. A release's id is the number of its charge and the
beginning of its file's digest. Every table that was drawn is kept until then, so that a release
that ends between its charge and its file can go on from there under the same charge. What was drawn
and did not reach the disk has been seen by nobody.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Context, Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from engine.errors import InputError, did_you_mean, show
from engine.percent import count
from engine.privacy.accounting import Guarantee
from engine.release.checking import Request
from engine.release.file import MOST_DELTA, MOST_EPSILON, Release, canonical, digest
from engine.release.page import to_html
from engine.release.places import data_path, private_folder, save

VARIABLE = "DP_CAUSAL_EXPLORER_BUDGETS"  # another file, for a shared disk or a test
APPLICATION_ID = int.from_bytes(b"DPCB", "big")
VERSION = 1
BUSY_SECONDS = 30.0
# New names are of ASCII, and no two look the same: equal but for case, for the sign between two
# words, or for characters that many fonts draw alike. A second one would have a second total.
_NAME = re.compile(r"(?=.{1,60}\Z)[A-Za-z0-9][A-Za-z0-9._-]*( [A-Za-z0-9._-]+)*")
_ALIKE = (("rn", "m"), ("vv", "w"), ("cl", "d"), ("0", "o"), ("1", "l"), ("5", "s"), ("8", "b"))
_DIGITS = 8  # of a file's digest, in the release's id
_DAMAGED = "The file of budgets is damaged, restore it from a copy: an amount"
# Budgets and their charges; the table that a budget is bound to, and what was asked for by charges
# with a release that has not ended. Whatever of them a file lacks is made.
_TABLES = (
    "budgets (name TEXT PRIMARY KEY, epsilon TEXT NOT NULL, delta TEXT NOT NULL)",
    "charges (id INTEGER PRIMARY KEY, name TEXT NOT NULL REFERENCES budgets (name), "
    "epsilon TEXT NOT NULL, delta TEXT NOT NULL, what TEXT NOT NULL, "
    "at TEXT NOT NULL DEFAULT (datetime('now')))",
    "bound (name TEXT PRIMARY KEY, rows INTEGER, columns TEXT)",
    "unfinished (id INTEGER PRIMARY KEY, request TEXT NOT NULL)",
)


@dataclass(frozen=True)
class Charged:
    """One charge: its number in the file, what for, (epsilon, delta), and when (UTC)."""

    number: int
    what: str
    epsilon: Decimal
    delta: Decimal
    at: str


@dataclass(frozen=True)
class Budget:
    """A named total and its charges, oldest first.

    ``rows`` and ``columns`` are the table it is bound to, None and none before its first release;
    ``unfinished`` has what was asked for, JSON, by its charge, where no release followed.
    """

    name: str
    epsilon: Decimal
    delta: Decimal
    charges: tuple[Charged, ...]
    rows: int | None = None
    columns: tuple[str, ...] = ()
    unfinished: Mapping[int, Any] = field(default_factory=dict)

    @property
    def spent(self) -> tuple[Decimal, Decimal]:
        """(epsilon, delta) of all charges together."""
        epsilon = sum((c.epsilon for c in self.charges), Decimal(0))
        return epsilon, sum((c.delta for c in self.charges), Decimal(0))

    @property
    def left(self) -> tuple[Decimal, Decimal]:
        """(epsilon, delta) that can still be charged."""
        epsilon, delta = self.spent
        return (self.epsilon - epsilon).normalize(), (self.delta - delta).normalize()

    def takes(self, rows: int, columns: Sequence[str]) -> bool:
        """Whether a table of so many records and these columns may be the one it is bound to."""
        mine, theirs = set(self.columns), set(columns)
        return self.rows is None or (self.rows == rows and (mine <= theirs or theirs <= mine))

    def share(self, epsilon: float) -> float:
        """The delta of a release of this epsilon unless another is said: the same share of both."""
        part = self.delta * min(Decimal(str(epsilon)) / self.epsilon, Decimal(1))
        return float(Context(prec=3, rounding=ROUND_DOWN).create_decimal(part))

    @property
    def remaining(self) -> str:
        """What is left, in words: epsilon, delta, and how many releases like the last."""
        left, total = self.left, (self.epsilon.normalize(), float(self.delta))
        said = f"ε {left[0]:f} of {total[0]:f} left, δ {float(left[1]):.3g} of {total[1]:.3g}"
        if not self.charges:
            return said
        last = self.charges[-1]
        pairs = ((left[0], last.epsilon), (left[1], last.delta))
        more = count(min(int(have // one) for have, one in pairs if one), "more release")
        return f"{said}: {more} of ε = {last.epsilon:f}, δ = {float(last.delta):.3g}"


class Budgets:
    """The file of budgets. Raises InputError, one sentence, for a file that cannot be used.

    Without a path it is the one in this user's data folder, which pages and command line use.

    Examples:
        >>> import tempfile
        >>> budgets = Budgets(Path(tempfile.mkdtemp()) / "budgets.db")
        >>> budget = budgets.new("ward-7", epsilon=3, delta=1e-5)
        >>> budget.name, str(budget.left[0])
        ('ward-7', '3')
    """

    def __init__(self, path: str | os.PathLike[str] | None = None):
        self.path = data_path("budgets.db", VARIABLE) if path is None else Path(path)
        self.folder = self.path.parent / f"{self.path.name}.releases"

    def new(self, name: str, epsilon: float | str, delta: float | str) -> Budget:
        """Declare a budget; a name that is there already, or looks like one, is refused."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise InputError(
                "A budget's name has at most 60 letters, digits, dots, _ and - of ASCII, and "
                "single blanks between words; it starts with a letter or digit."
            )
        total = _amounts(epsilon, delta, "A budget")
        if not total[1]:
            raise InputError("A budget needs a delta above 0: a release draws Gaussian noise.")
        with self._transaction(create=True) as connection:
            self.path.chmod(0o600)
            for (other,) in connection.execute("SELECT name FROM budgets"):
                if _bare(name) == _bare(other):
                    same = "a total is never changed" if name == other else "which looks the same"
                    raise InputError(f"There is a budget {other!r} already, {same}.")
            connection.execute(
                "INSERT INTO budgets (name, epsilon, delta) VALUES (?, ?, ?)",
                (name, *map(str, total)),
            )
        return self.show(name)

    def show(self, name: str) -> Budget:
        """One budget; an unknown name raises InputError."""
        with self._transaction() as connection:
            return _read(connection, name)

    def all(self) -> tuple[Budget, ...]:
        """Every budget by name; none where there is no file yet."""
        if not self.path.exists():
            return ()
        with self._transaction() as connection:
            rows = connection.execute("SELECT name FROM budgets ORDER BY name").fetchall()
            return tuple(_read(connection, name) for (name,) in rows)

    def charge(
        self, name: str, cost: Guarantee, what: str, request: Request | None = None
    ) -> Budget:
        """Put (epsilon, delta) on a budget, for good, before anything is drawn.

        ``request`` is what a release asks for: its table is the budget's from the first on, and it
        is kept until the release is. Returns the budget as it then is, this charge the last of it.
        InputError, and no charge, where the total does not afford it or the table is another.
        """
        epsilon, delta = (x.normalize() for x in _amounts(cost.epsilon, cost.delta, "A charge"))
        with self._transaction() as connection:
            budget = _read(connection, name)
            left = budget.left
            if epsilon > left[0] or delta > left[1]:
                raise InputError(
                    f"Budget {name!r} has ε = {left[0]:f}, δ = {left[1]:.3g} left, and this costs "
                    f"ε = {epsilon:f}, δ = {delta:.3g}."
                )
            made = connection.execute(
                "INSERT INTO charges (name, epsilon, delta, what) VALUES (?, ?, ?, ?)",
                (budget.name, str(epsilon), str(delta), what),
            )
            if request is not None:
                names = request.schema.names
                if not budget.takes(request.rows, names):
                    raise InputError(
                        f"Budget {name!r} belongs to a table of {budget.rows:,} records with the "
                        f"columns {', '.join(budget.columns[:6])}{' …' * (len(budget.columns) > 6)}"
                        "; other records need a budget of another name."
                    )
                table, asked = (name, request.rows, json.dumps(names)), request.to_json()
                connection.execute("INSERT OR IGNORE INTO bound VALUES (?, ?, ?)", table)
                waits = (made.lastrowid, json.dumps(asked))
                connection.execute("INSERT INTO unfinished VALUES (?, ?)", waits)
            return _read(connection, name)

    def drawn(self, charge: int) -> Path:
        """Where the noisy tables of a charge's release are kept while it is made."""
        return self.folder / f"drawn-{charge}.jsonl"

    def keep(self, charge: int, release: Release) -> str:
        """Write a release's file and page, and let go of what it was made of; its id.

        What its charge asked for is kept no longer, either.
        """
        path = self.folder / f"{charge}-{digest(release)[:_DIGITS]}.json"
        texts = {path.with_suffix(".html"): to_html(release), path: canonical(release)}
        try:
            for place, text in texts.items():
                if not place.exists():  # else it was cut short later
                    save(text, place)
        except OSError as error:
            raise InputError(f"The release could not be kept: {error.strerror}.") from None
        with self._transaction() as connection:
            connection.execute("DELETE FROM unfinished WHERE id = ?", (charge,))
        self.drawn(charge).unlink(missing_ok=True)
        return path.stem

    def ids(self, budget: Budget) -> dict[int, str]:
        """Charge -> id, for the charges of a budget of which the release is kept."""
        numbers = {charge.number for charge in budget.charges}
        return {charge: path.stem for charge, path in self._all() if charge in numbers}

    def check(self) -> None:
        """InputError where releases are kept that no charge accounts for: spent budget is back.

        So it is once an old copy of the budgets took the place of the newest: the charges since are
        gone, or their numbers were given out a second time.
        """
        charged = {c.number for budget in self.all() for c in budget.charges}
        kept = [charge for charge, _ in self._all()]
        if lost := len(kept) - len(charged.intersection(kept)):
            raise InputError(
                f"{self.path} is an older copy: {lost} of the kept releases are on no "
                "budget, so more is spent than the budgets say. Put the newest copy back; until "
                "then nothing is released."
            )

    def get(self, wanted: str) -> tuple[str, str, str]:
        """Id, file and page of a release by its id or its charge's number; InputError without."""
        found = [path for charge, path in self._all() if wanted in (path.stem, str(charge))]
        if len(found) != 1:
            raise InputError(
                f"There is no release {show(wanted)}; python -m engine budget show lists them."
            )
        path = found[0]
        try:
            return path.stem, path.read_text("utf-8"), path.with_suffix(".html").read_text("utf-8")
        except (OSError, ValueError):
            raise InputError(f"The kept release {path.stem} cannot be read.") from None

    def _all(self) -> list[tuple[int, Path]]:
        """Charge and file of all kept releases."""
        paths = sorted(self.folder.glob("*-*.json"))
        found = [(path.stem.partition("-")[0], path) for path in paths]
        return [(int(charge), path) for charge, path in found if charge.isdecimal()]

    @contextmanager
    def _transaction(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        """A transaction that excludes every other process, on the disk when it ends."""
        if create:
            private_folder(self.path.parent)
        elif not self.path.exists():
            raise InputError("There is no budget yet; make one with python -m engine budget new.")
        try:
            with closing(sqlite3.connect(self.path, BUSY_SECONDS, isolation_level=None)) as found:
                found.execute("PRAGMA synchronous = EXTRA")
                found.execute("BEGIN IMMEDIATE")
                with found:  # commits, or undoes all of it
                    _prepare(found, self.path, create)
                    yield found
        except (sqlite3.Error, UnicodeDecodeError) as error:  # it may quote a damaged file's bytes
            raise InputError(_sentence(self.path, error)) from error


def _prepare(connection: sqlite3.Connection, path: Path, create: bool) -> None:
    """Make the tables in an empty file; refuse a file that is not ours or not whole."""
    asked = ("PRAGMA application_id", "PRAGMA user_version", "SELECT count(*) FROM sqlite_master")
    found, version, tables = (connection.execute(sql).fetchone()[0] for sql in asked)
    if create and (found, version, tables) == (0, 0, 0):
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
    elif (found, version) != (APPLICATION_ID, VERSION):
        raise InputError(f"{path} is no file of budgets of this version; give one in {VARIABLE}.")
    elif connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
        raise sqlite3.DatabaseError("not whole")
    for table in _TABLES:
        connection.execute(f"CREATE TABLE IF NOT EXISTS {table}")


def _read(connection: sqlite3.Connection, wanted: str) -> Budget:
    names = [str(name) for (name,) in connection.execute("SELECT name FROM budgets")]
    if wanted not in names:
        raise InputError(
            f"There is no budget {wanted!r}.{did_you_mean(wanted, names)} To make it, declare "
            "its total: epsilon=3, delta=1e-5 (or engine budget new)."
        )

    def rows(query: str) -> list[Any]:
        return connection.execute(query, (wanted,)).fetchall()

    ((epsilon, delta),) = rows("SELECT epsilon, delta FROM budgets WHERE name = ?")
    charges = rows("SELECT id, what, epsilon, delta, at FROM charges WHERE name = ? ORDER BY id")
    bound = rows("SELECT rows, columns FROM bound WHERE name = ?")
    asked = rows("SELECT id, request FROM unfinished JOIN charges USING (id) WHERE name = ?")
    return Budget(
        wanted,
        *_amounts(epsilon, delta, _DAMAGED),
        tuple(Charged(n, what, *_amounts(e, d, _DAMAGED), at) for n, what, e, d, at in charges),
        bound[0][0] if bound else None,
        tuple(json.loads(bound[0][1])) if bound else (),
        {number: json.loads(request) for number, request in asked},
    )


def _amounts(epsilon: float | str, delta: float | str, what: str) -> tuple[Decimal, Decimal]:
    """Two amounts as typed; InputError unless finite, positive and of a sensible size."""
    one, other = amount(epsilon), amount(delta)
    if one is None or not 0 < one <= MOST_EPSILON:
        raise InputError(f"{what} needs an epsilon above 0 and at most {MOST_EPSILON:,}.")
    if other is None or other > MOST_DELTA:
        raise InputError(f"{what} needs a delta of at least 0 and at most {MOST_DELTA}.")
    return one, other


def amount(value: object) -> Decimal | None:
    """A finite number of at least 0 with few enough digits to print and to add up; None if not."""
    try:
        found = Decimal(str(value))
    except InvalidOperation:
        return None
    fits = found.is_finite() and found >= 0 and len(f"{found:e}") <= 40
    return found if fits and (not found or -60 < found.adjusted() < 13) else None


def _sentence(path: Path, error: object) -> str:
    """What to do about an error of SQLite's."""
    text = str(error)
    if "locked" in text:
        return f"{path} has been locked by another program for {BUSY_SECONDS:.0f} s; try again."
    if "readonly" in text or "unable to open" in text:
        return f"{path} cannot be opened to write; check it, or give another in {VARIABLE}."
    if "full" in text or "disk I/O" in text:
        return f"{path} could not be written ({text}); nothing was released."
    return f"{path} is damaged and was left as it is; restore it from a copy."


def _bare(name: str) -> str:
    """What is left of a name once all that looks alike is the same."""
    found = re.sub(r"[ ._-]+", " ", name).replace("I", "l").casefold()  # I is drawn as a small l
    for one, other in _ALIKE:
        found = found.replace(one, other)
    return found
