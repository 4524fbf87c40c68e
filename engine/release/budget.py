"""Store budgets across sessions: a name, a total (epsilon, delta) and its charges.

One SQLite file in the user's data folder, shared by pages and command line. A charge is committed
to disk before the first noise is drawn, so a crash can leave a charge without a release but never a
release without a charge. Two processes cannot exceed the total together, because each charge reads
and writes in one exclusive transaction. Charges are permanent.

A budget belongs to the records that the user means by its name, in every file and under every
binning. No digest of the records may be stored, so the program relies on the user. The first
release binds the budget to public facts: the number of records and the column names. A table with
another number of records is refused, and so is one whose columns are neither a subset nor a
superset of these. Other levels of the same columns, or fewer columns, count as the same records and
share their total. Charges add up by basic composition, in decimals as typed: ten times 0.1 is 1.

A charge has a random id and pays for one release. Each noisy table is stored under its charge and
position before it is used, so a second draw for the same position is impossible; a resumed release
reads the first one. The digest of the release is stored with its charge, so a charge cannot pay for
a second, different release. A process holds the lock of a charge while it works on it.

Every release is saved for its owner in a private folder next to the file before it is shown. A
closed tab or a mistyped path therefore loses no paid release, and the owner can export it again
without a charge. The id of a release is that of its charge plus the first digits of its digest. A
saved release without a charge shows that an older copy of the file has replaced the newest one.
This closes only its budget, until the newest copy is restored or the release is charged again
(:meth:`Budgets.recount`).
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from decimal import ROUND_DOWN, Context, Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from engine.errors import InputError, did_you_mean, show
from engine.params import number
from engine.percent import count
from engine.percent import number as shown
from engine.privacy.accounting import Guarantee
from engine.privacy.sources import Released
from engine.release.checking import Request
from engine.release.file import (
    ALGORITHM,
    MOST_BYTES,
    MOST_DELTA,
    MOST_EPSILON,
    Release,
    canonical,
    digest,
    loads,
    parse_released,
    read_bytes,
)
from engine.release.page import to_html
from engine.release.places import data_path, locked, private_folder, save

VARIABLE = "DP_CAUSAL_EXPLORER_BUDGETS"  # path of another file, for a shared disk or a test
APPLICATION_ID = int.from_bytes(b"DPCB", "big")
VERSION = 2
BUSY_SECONDS = 30.0
# New names are ASCII, and two names must not look alike: differ only in case, in punctuation and
# blanks, or in characters that look similar in many fonts. A second name would have a second total.
_NAME = re.compile(r"(?=.{1,60}\Z)[A-Za-z0-9][A-Za-z0-9._-]*( [A-Za-z0-9._-]+)*")
_ALIKE = (("rn", "m"), ("vv", "w"), ("cl", "d"), ("0", "o"), ("1", "l"), ("5", "s"), ("8", "b"))
_DIGITS = 8  # digits of the file's digest in the release's id
_DAMAGED = "The file of budgets is damaged, restore it from a copy: an amount"
# The schema has budgets; their charges, with the request until the release is complete and its
# digest afterwards; tables drawn for incomplete releases; and the table that a budget is bound to.
# Missing tables are created.
_TABLES = (
    "budgets (name TEXT PRIMARY KEY, epsilon TEXT NOT NULL, delta TEXT NOT NULL)",
    "charges (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, "
    "name TEXT NOT NULL REFERENCES budgets (name), epsilon TEXT NOT NULL, delta TEXT NOT NULL, "
    "what TEXT NOT NULL, at TEXT NOT NULL DEFAULT (datetime('now')), request TEXT, "
    "digest TEXT UNIQUE)",
    "drawn (charge TEXT NOT NULL, place INTEGER NOT NULL, released TEXT NOT NULL, "
    "UNIQUE (charge, place))",
    "bound (name TEXT PRIMARY KEY, rows INTEGER, columns TEXT)",
)
# Version 1 numbered its charges and stored requests in a table. The numbers remain as ids.
_FROM_VERSION_1 = (
    "CREATE TABLE IF NOT EXISTS unfinished (id INTEGER PRIMARY KEY, request TEXT NOT NULL)",
    "ALTER TABLE charges RENAME TO numbered",
    f"CREATE TABLE {_TABLES[1]}",
    "INSERT INTO charges (number, id, name, epsilon, delta, what, at, request) "
    "SELECT id, CAST(id AS TEXT), name, epsilon, delta, what, at, request "
    "FROM numbered LEFT JOIN unfinished USING (id)",
    "DROP TABLE numbered",
    "DROP TABLE unfinished",
    f"PRAGMA user_version = {VERSION}",
)
_LEFT_OVER = "drawn-*.jsonl"  # version 1's noisy tables of a charge, without the name of the budget


@dataclass(frozen=True)
class Charged:
    """One charge: id, purpose, (epsilon, delta), and time (UTC)."""

    id: str
    what: str
    epsilon: Decimal
    delta: Decimal
    at: str


@dataclass(frozen=True)
class Budget:
    """A named total and its charges, oldest first.

    ``rows`` and ``columns`` describe the table that it is bound to (None and empty before its first
    release). ``unfinished`` maps the ids of charges with incomplete releases to their requests,
    JSON.
    """

    name: str
    epsilon: Decimal
    delta: Decimal
    charges: tuple[Charged, ...]
    rows: int | None = None
    columns: tuple[str, ...] = ()
    unfinished: Mapping[str, Any] = field(default_factory=dict)

    @property
    def spent(self) -> tuple[Decimal, Decimal]:
        """Sum of all charges, (epsilon, delta)."""
        epsilon = sum((c.epsilon for c in self.charges), Decimal(0))
        return epsilon, sum((c.delta for c in self.charges), Decimal(0))

    @property
    def left(self) -> tuple[Decimal, Decimal]:
        """Remaining (epsilon, delta), which can still be charged."""
        epsilon, delta = self.spent
        return (self.epsilon - epsilon).normalize(), (self.delta - delta).normalize()

    def takes(self, rows: int, columns: Sequence[str]) -> bool:
        """Return True if a table with these rows and columns matches the one it is bound to."""
        mine, theirs = set(self.columns), set(columns)
        return self.rows is None or (self.rows == rows and (mine <= theirs or theirs <= mine))

    def share(self, epsilon: float) -> float:
        """Return the default delta of a release of this epsilon: the same share of both totals."""
        part = self.delta * min(Decimal(str(epsilon)) / self.epsilon, Decimal(1))
        return float(Context(prec=3, rounding=ROUND_DOWN).create_decimal(part))

    @property
    def remaining(self) -> str:
        """Remaining epsilon, delta, and number of releases like the last, in words."""
        left, total = self.left, self.epsilon.normalize()
        deltas = f"δ {shown(float(left[1]))} of {shown(float(self.delta))}"
        said = f"ε {left[0]:f} of {total:f} left, {deltas}"
        if not self.charges:
            return said
        last = self.charges[-1]
        pairs = ((left[0], last.epsilon), (left[1], last.delta))
        more = count(min(int(have // one) for have, one in pairs if one), "more release")
        return f"{said}: {more} of ε = {last.epsilon:f}, δ = {shown(float(last.delta))}"


class Budgets:
    """The file of budgets. Raises InputError with one sentence if the file is unusable.

    Without a path, it is the file in this user's data folder, which pages and command line use.

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
        """Declare a budget; refuses a name that exists already or looks like an existing one."""
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
                if _alike(name, other):
                    same = "a total is never changed" if name == other else "which looks the same"
                    raise InputError(f"There is a budget {other!r} already, {same}.")
            connection.execute(
                "INSERT INTO budgets (name, epsilon, delta) VALUES (?, ?, ?)",
                (name, *map(str, total)),
            )
        return self.show(name)

    def show(self, name: str) -> Budget:
        """Return one budget; raises InputError for an unknown name."""
        with self._transaction() as connection:
            return _read(connection, name)

    def all(self) -> tuple[Budget, ...]:
        """Return every budget by name; empty if there is no file yet."""
        if not self.path.exists():
            return ()
        with self._transaction() as connection:
            rows = connection.execute("SELECT name FROM budgets ORDER BY name").fetchall()
            return tuple(_read(connection, name) for (name,) in rows)

    def charge(
        self, name: str, cost: Guarantee, what: str, request: Request | None = None
    ) -> Budget:
        """Charge (epsilon, delta) to a budget, permanently, before any noise is drawn.

        ``request`` holds a release's parameters and table. The first request binds the budget to
        its table; a request is stored until its release is saved. Returns the budget afterwards,
        with this charge as the last. Raises InputError, without a charge, if the charge exceeds the
        total, the table does not match or the budget is closed (:meth:`closed`).
        """
        epsilon, delta = _amounts(cost.epsilon, cost.delta, "A charge")
        with self._transaction() as connection:
            self._refuse_closed(connection, name)
            if request is not None:
                _bind(connection, _read(connection, name), request.rows, request.schema.names)
            asked = None if request is None else json.dumps(request.to_json())
            _charge(connection, name, epsilon, delta, what, request=asked)
            return _read(connection, name)

    # Releases and tables under a charge
    # ------------------------------------------------------------

    def working(self, charge: str) -> AbstractContextManager[None]:
        """Hold a charge's lock, freed by a crash; raises InputError if another process has it."""
        return locked(self._lock(charge), "Another process is making this release")

    def drawn(self, charge: str) -> list[Released]:
        """Return the tables drawn under a charge; raises InputError if its release is complete."""
        with self._transaction() as connection:
            return [parse_released(json.loads(text)) for text in _drawn(connection, charge)]

    def draw(self, charge: str, place: int, released: Released) -> Released:
        """Store a table for its position; it is on disk when this returns.

        Returns the stored table, which is the earlier one if there is one. Raises InputError if
        this file lacks the charge or the previous tables, because it is then a different copy.
        """
        with self._transaction() as connection:
            before = _drawn(connection, charge)
            if place < len(before):
                return parse_released(json.loads(before[place]))
            if place > len(before):
                raise InputError(f"{self.path} lacks tables that were drawn: it is another copy.")
            row = (charge, place, json.dumps(vars(released)))
            connection.execute("INSERT INTO drawn VALUES (?, ?, ?)", row)
            return released

    def made(self, charge: str) -> Release | None:
        """Return a charge's saved release if its process was killed before recording it."""
        paths = self._files(charge)
        return _kept(paths[0]) if paths else None

    def keep(self, charge: str, release: Release) -> str:
        """Save a release's file and page, record it as its charge's only one, and return its id.

        Raises InputError, without recording it, if the charge has another release or its budget is
        closed. Deletes the request and the drawn tables.
        """
        found = digest(release)
        path = self.folder / f"{charge}-{found[:_DIGITS]}.json"
        texts = {path.with_suffix(".html"): to_html(release), path: canonical(release)}
        with self._transaction() as connection:
            row = "SELECT digest FROM charges WHERE id = ? AND name = ?"
            ((noted,),) = connection.execute(row, (charge, release.name)).fetchall() or [("",)]
            if noted not in (None, found) or any(one != path for one in self._files(charge)):
                raise InputError(f"The charge {charge} has no unfinished release in {self.path}.")
            self._refuse_closed(connection, release.name)
            try:
                for place, text in texts.items():
                    # otherwise an earlier attempt was interrupted after this
                    # step
                    if not place.exists():
                        save(text, place)
            except OSError as error:
                raise InputError(f"The release could not be saved: {error.strerror}.") from None
            note = "UPDATE charges SET request = NULL, digest = ? WHERE id = ?"
            connection.execute(note, (found, charge))
            connection.execute("DELETE FROM drawn WHERE charge = ?", (charge,))
        self._lock(charge).unlink(missing_ok=True)
        return path.stem

    # The vault --------------------------------------------------------------------------------

    def ids(self, budget: Budget) -> dict[str, str]:
        """Return charge -> release id for the charges of a budget with a saved release."""
        kept = {path.stem[-_DIGITS:]: path.stem for path in self._files("*")}
        with self._transaction() as connection:
            sql = "SELECT id, digest FROM charges WHERE name = ? AND digest IS NOT NULL"
            rows = connection.execute(sql, (budget.name,)).fetchall()
        return {id_: kept[found[:_DIGITS]] for id_, found in rows if found[:_DIGITS] in kept}

    def closed(self) -> dict[str, str]:
        """Return the closed budgets with the reason: they have saved releases without a charge.

        This happens if an older copy of the file has replaced the newest one.
        """
        if not self.path.exists():
            return {}
        with self._transaction() as connection:
            lost = self._lost(connection)
            names = [name for (name,) in connection.execute("SELECT name FROM budgets")]
        return {name: why for name in names if (why := self._why(name, lost))}

    def recount(self, name: str) -> Budget:
        """Charge the saved releases that an older copy of the file lacks; this reopens the budget.

        Raises InputError, without a charge, if they exceed the total; the budget then stays closed.
        """
        with self._transaction() as connection:
            _read(connection, name)
            for path, made in self._lost(connection):
                if _alike(made.name, name):
                    _bind(connection, _read(connection, name), made.rows, made.names)
                    cost = _amounts(made.total.epsilon, made.total.delta, f"Release {path.stem}")
                    what = f"release by {ALGORITHM}, recounted"
                    _charge(connection, name, *cost, what, digest=digest(made))
            return _read(connection, name)

    def get(self, wanted: str) -> tuple[str, str, str]:
        """Return id, file and page of a release by its id or charge; else raise InputError."""
        all_ = self._files("*")
        found = [path for path in all_ if wanted in (path.stem, path.stem.partition("-")[0])]
        if len(found) != 1:
            raise InputError(f"There is no release {show(wanted)}; engine budget show lists them.")
        path = found[0]
        try:
            return path.stem, path.read_text("utf-8"), path.with_suffix(".html").read_text("utf-8")
        except (OSError, ValueError):
            raise InputError(f"The saved release {path.stem} cannot be read.") from None

    def left_over(self) -> list[str]:
        """List version 1 files with tables of unknown origin."""
        return sorted(path.name for path in self.folder.glob(_LEFT_OVER))

    def _lock(self, charge: str) -> Path:
        return self.folder / f"{charge}.lock"

    def _files(self, charge: str) -> list[Path]:
        """Return the files of a charge's saved releases; "*" means every charge."""
        return sorted(self.folder.glob(f"{charge}-{'[0-9a-f]' * _DIGITS}.json"))

    def _lost(self, connection: sqlite3.Connection) -> list[tuple[Path, Release]]:
        """Return the saved releases without a charge.

        Unreadable files are ignored. A file of a charge with an incomplete release is not lost: its
        process was killed after writing it.
        """
        rows = connection.execute("SELECT id, request, digest FROM charges").fetchall()
        counted = {found[:_DIGITS] for _, _, found in rows if found}
        waiting = {id_ for id_, request, _ in rows if request}
        lost = []
        for path in self._files("*"):
            charge, _, short = path.stem.partition("-")
            if short not in counted and charge not in waiting:
                with suppress(InputError):
                    lost.append((path, _kept(path)))
        return lost

    def _refuse_closed(self, connection: sqlite3.Connection, name: str) -> None:
        if why := self._why(name, self._lost(connection)):
            raise InputError(why)

    def _why(self, name: str, lost: Sequence[tuple[Path, Release]]) -> str:
        """Say why a budget is closed and how to reopen it; "" if it is open."""
        stems = [path.stem for path, made in lost if _alike(made.name, name)]
        if not stems:
            return ""
        many = f" and {len(stems) - 1} more" if len(stems) > 1 else ""
        return (
            f"Budget {name!r} is closed: the release {stems[0]}{many} is saved, but {self.path} "
            f"has no charge for it, so it is an older copy. Restore the newest copy, or charge "
            f"the saved releases: engine budget recount {shlex.quote(name)}. Do not restore an "
            f"older copy of the saved releases as well, because ε would then be granted twice."
        )

    @contextmanager
    def _transaction(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        """Open an exclusive transaction; it is on disk when it ends."""
        if create:
            private_folder(self.path.parent)
        elif not self.path.exists():
            raise InputError("There is no budget yet; make one with engine budget new.")
        try:
            with closing(sqlite3.connect(self.path, BUSY_SECONDS, isolation_level=None)) as found:
                found.execute("PRAGMA synchronous = EXTRA")
                found.execute("BEGIN IMMEDIATE")
                with found:  # commits or rolls back
                    self._prepare(found, create)
                    yield found
        # the message may contain bytes of a damaged file
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise InputError(_sentence(self.path, error)) from error

    def _prepare(self, connection: sqlite3.Connection, create: bool) -> None:
        """Create the tables in an empty file; refuse a foreign or damaged file."""
        asked = ("application_id", "user_version")
        found, version = (connection.execute(f"PRAGMA {x}").fetchone()[0] for x in asked)
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if create and (found, version, tables) == (0, 0, 0):
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        elif found != APPLICATION_ID or version not in (1, VERSION):
            raise InputError(
                f"{self.path} is no file of budgets of this version; give one in {VARIABLE}."
            )
        elif connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError("not whole")
        elif version == 1:
            self._take_over(connection)
        for table in _TABLES:
            connection.execute(f"CREATE TABLE IF NOT EXISTS {table}")

    def _take_over(self, connection: sqlite3.Connection) -> None:
        """Upgrade a file of version 1 to this version.

        It records a saved release with its charge. An interrupted release with drawn tables cannot
        be resumed: charge numbers repeat after a file was restored or deleted, so the origin of the
        tables and their use are unknown.
        """
        for statement in _FROM_VERSION_1:
            connection.execute(statement)
        note = "UPDATE charges SET digest = ? WHERE id = ? AND name = ? AND digest IS NULL"
        end = "UPDATE charges SET request = NULL WHERE id = ?"
        for path in self._files("*"):
            charge = path.stem.partition("-")[0]
            connection.execute(end, (charge,))
            with suppress(InputError):
                made = _kept(path)
                connection.execute(note, (digest(made), charge, made.name))
        for name in self.left_over():
            connection.execute(end, (name.removeprefix("drawn-").removesuffix(".jsonl"),))


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
    found = rows(
        "SELECT id, what, epsilon, delta, at, request FROM charges WHERE name = ? ORDER BY number"
    )
    made = [Charged(id_, what, *_amounts(e, d, _DAMAGED), at) for id_, what, e, d, at, _ in found]
    bound = rows("SELECT rows, columns FROM bound WHERE name = ?")
    return Budget(
        wanted,
        *_amounts(epsilon, delta, _DAMAGED),
        tuple(made),
        bound[0][0] if bound else None,
        tuple(json.loads(bound[0][1])) if bound else (),
        {id_: json.loads(request) for id_, *_, request in found if request},
    )


def _charge(
    connection: sqlite3.Connection,
    name: str,
    epsilon: Decimal,
    delta: Decimal,
    what: str,
    **more: str | None,
) -> None:
    """Insert a charge under a new random id; raises InputError if it exceeds the total."""
    left = _read(connection, name).left
    if epsilon > left[0] or delta > left[1]:
        raise InputError(
            f"Budget {name!r} has ε = {left[0]:f}, δ = {_exact(left[1])} remaining. This release "
            f"needs ε = {epsilon.normalize():f}, δ = {_exact(delta)}."
        )
    values = {"id": secrets.token_hex(8), "name": name, "what": what, **more}
    values |= {"epsilon": str(epsilon.normalize()), "delta": str(delta.normalize())}
    marks = ", ".join(f":{key}" for key in values)
    connection.execute(f"INSERT INTO charges ({', '.join(values)}) VALUES ({marks})", values)


def _bind(connection: sqlite3.Connection, budget: Budget, rows: int, names: Sequence[str]) -> None:
    """Bind a budget to its first table; raises InputError if it is bound to a different table."""
    if not budget.takes(rows, names):
        raise InputError(
            f"Budget {budget.name!r} belongs to a table of {budget.rows:,} records with the "
            f"columns {', '.join(budget.columns[:6])}{' …' * (len(budget.columns) > 6)}"
            "; other records need a budget with another name."
        )
    table = (budget.name, rows, json.dumps(names))
    connection.execute("INSERT OR IGNORE INTO bound VALUES (?, ?, ?)", table)


def _drawn(connection: sqlite3.Connection, charge: str) -> list[str]:
    """Return the texts of a charge's tables; raises InputError if its release is complete."""
    row = "SELECT 1 FROM charges WHERE id = ? AND request IS NOT NULL"
    if connection.execute(row, (charge,)).fetchone() is None:
        raise InputError(
            f"The charge {charge} has no unfinished release: it has finished by now, or this is "
            f"another copy of the budgets."
        )
    rows = "SELECT released FROM drawn WHERE charge = ? ORDER BY place"
    return [text for (text,) in connection.execute(rows, (charge,))]


def _amounts(epsilon: float | str, delta: float | str, what: str) -> tuple[Decimal, Decimal]:
    """Parse two amounts as typed; raises InputError unless finite, positive and in range."""
    one, other = amount(epsilon), amount(delta)
    if one is None or not 0 < one <= MOST_EPSILON:
        raise InputError(f"{what} needs an epsilon above 0 and at most {MOST_EPSILON:,}.")
    if other is None or other > MOST_DELTA:
        raise InputError(f"{what} needs a delta of at least 0 and at most {MOST_DELTA}.")
    return one, other


def amount(value: object) -> Decimal | None:
    """Return a finite number >= 0 with few enough digits for exact sums, else None."""
    try:
        found = number(str(value), Decimal)
    except (ValueError, InvalidOperation):
        return None
    fits = found.is_finite() and found >= 0 and len(f"{found:e}") <= 40
    return found if fits and (not found or -60 < found.adjusted() < 13) else None


def _exact(value: Decimal) -> str:
    """Format a small amount with all digits, so that different amounts look different."""
    return f"{value.normalize():e}" if value else "0"


def _sentence(path: Path, error: object) -> str:
    """Return a sentence with advice about an SQLite error."""
    text = str(error)
    if "locked" in text:
        return f"{path} has been locked by another program for {BUSY_SECONDS:.0f} s; try again."
    if "readonly" in text or "unable to open" in text:
        return f"{path} cannot be opened to write; check it, or give another in {VARIABLE}."
    if "full" in text or "disk I/O" in text:
        return f"{path} could not be written ({text}); nothing was released."
    return f"{path} is damaged and was left as it is; restore it from a copy."


def _bare(name: str) -> str:
    """Reduce a name so that names that look alike become equal.

    A punctuation mark between two digits distinguishes numbers and stays; all others are removed.
    """
    found = re.sub(r"(?<![0-9])[ ._-]+|[ ._-]+(?![0-9])", "", name)
    # capital I looks like a small l
    found = re.sub(r"[ ._-]+", " ", found).replace("I", "l").casefold()
    for one, other in _ALIKE:
        found = found.replace(one, other)
    return found


def _kept(path: Path) -> Release:
    return loads(read_bytes(path, MOST_BYTES))


def _alike(one: str, other: str) -> bool:
    return _bare(one) == _bare(other)
