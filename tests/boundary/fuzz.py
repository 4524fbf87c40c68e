"""Neighbouring files, from their bytes to what is written of them.

A case is a table in some form, and the same with one record replaced. Both are read, both runs are
given the same answers, and both results are written. Tables of many strange records are read too,
one by one and as one. If the guarantee holds, then the other rows'
codes, n, what is declared, every charge and the written result are the same, and no mechanism's
input moves by more than was charged; whatever differs otherwise is a finding. A table whose schema
is not declared may differ, if nothing is claimed of it.

    python -m tests.boundary.fuzz [120]
"""

from __future__ import annotations

import dataclasses
import json
import math
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

from engine import Budget, runner
from engine.audit.instrumented import ROUNDING, Diverged, Instrumented
from engine.audit.replay import moved
from engine.data import intake
from engine.data.column import Dialect
from engine.data.dataset import Dataset
from engine.data.pairs import read_pair
from engine.data.reading import read as read_table
from engine.data.schema import Schema
from engine.data.sources import BLANKS, Join
from engine.errors import InputError
from engine.privacy.sources import Hardened, Replay
from engine.release import make as making
from engine.release.budget import Budgets
from engine.release.file import to_json
from engine.result import RunResult
from engine.serialise import result_dict
from tests.boundary import writers
from tests.boundary.writers import Record, Text, visits_of

KEYS = ("marginal_pc", "svt_pc", "priv_pc", "gauss_pc", "gram_notears")
# Shares of the declared cases that are also run, and released.
RUN, RELEASED = 0.4, 0.1
FACTS = ("n", "names", "levels", "notes", "declared", "bounds")


@dataclasses.dataclass
class Found:
    """What was done so far, and what was found."""

    counts: Counter[str] = dataclasses.field(default_factory=Counter)
    findings: list[str] = dataclasses.field(default_factory=list)


Kind = Callable[[random.Random, Path, Found], list[str]]


def one_case(seed: int, folder: Path, found: Found, kind: Kind | None = None) -> None:
    """One table and its neighbour, of a kind that follows from the seed unless it is named."""
    chance = random.Random(seed)
    kinds = (declared, found_in_rows, two_columns, persons, joined)
    kind = kind or chance.choices(kinds, (16, 2, 2, 3, 2))[0]
    name = kind.__name__.replace("_", " ")
    found.counts[name] += 1
    try:
        # Each fourth owner is told what matches no level: a query a column.
        untold = mock.patch.object(intake, "_unforeseen", return_value=())
        with untold if seed % 4 else nullcontext():
            said = kind(chance, folder, found)
    except Exception as error:  # a traceback is a finding, whatever it is
        said = [f"{type(error).__name__}: {error}"[:300]]
    found.findings += [f"seed {seed}, {name}: {sentence}" for sentence in said]


# Declared tables ------------------------------------------------------------------------


def declared(chance: random.Random, folder: Path, found: Found) -> list[str]:
    """Two tables of any form under a whole schema, and the one of all rows of both.

    Each has one half of ordinary and one of strange records. Where a row's codes are a function of
    that row, the two have together the rows of the third.
    """
    shape = writers.form(chance)
    found.counts[type(shape).__name__] += 1
    base, others, place = drawn(chance, shape)
    half, dice = len(base) // 2, chance.getrandbits(64)

    def read_of(table: list[Record]) -> Dataset | str:
        stated = writers.schema(shape, len(table))
        return read(shape.write(table, folder, random.Random(dice)), schema=stated)

    mixed, swapped = base[:half] + others[half:], others[:half] + base[half:]
    changed = [*mixed[:place], swapped[place], *mixed[place + 1 :]]
    tables = mixed, swapped, base + others
    many = list(map(read_of, tables))
    if said := refused(many):
        return [*said, repr(shape)]
    one = many[0]
    said = same_facts(one, many[1])
    rows = list(map(rows_of, many))
    if rows[0] + rows[1] != rows[2]:
        said.append(
            f"{(rows[0] + rows[1] - rows[2]).total()} records are read otherwise next to others"
        )
    for have, table in zip(rows, tables, strict=True):
        if have.total() != len(table):
            said.append(f"{have.total()} rows were read of {len(table)}")
        wanted = [shape.codes(record) for record in table]
        if None not in wanted and have != (want := Counter(map(tuple, wanted))):
            said.append(f"{list(have - want)[:2]} are read for {list(want - have)[:2]}")
    if not said and chance.random() < max(RUN, RELEASED):
        pair = read_of(changed)
        said += refused([pair]) or same_rows(one, pair)
        if not said:
            said += same_results(chance.choice(KEYS), one, pair, found)
        if not said and chance.random() < RELEASED / RUN:
            said += same_releases(one, pair, one.schema, found)
    return [*said, repr(shape), repr(changed[place])[:200]] if said else []


def drawn(chance: random.Random, shape: Any) -> tuple[list[Record], list[Record], int]:
    """A table, as many strange records, and the place of one; all of them fit the form."""

    def fitting(draw: Callable[[], Record]) -> Record:
        return next(r for r in iter(draw, None) if shape.fits(r))

    odd, n = chance.choice((0.0, 0.0, 0.1)), chance.choice((12, 30))
    base = [fitting(lambda: writers.records(chance, 1, odd)[0]) for _ in range(n)]
    others = [fitting(lambda: writers.strange(chance)) for _ in range(n)]
    others[-1] = chance.choice((("",) * len(writers.NAMES), others[-1]))
    return base, others, chance.choice((0, n - 1, chance.randrange(n)))


def read(source: Any, **options: Any) -> Dataset | str:
    """The table, or what is said where it is refused."""
    try:
        return read_table(source, name="table", **options)
    except InputError as error:
        return str(error)


def refused(pair: Sequence[Any]) -> list[str]:
    """A refusal tells that a record is there."""
    return [f"refused: {one}" for one in pair if isinstance(one, str)]


def same_facts(one: Dataset, other: Dataset) -> list[str]:
    """n, names, levels, notes, and whether the schema was declared."""
    facts = [(what, getattr(one, what), getattr(other, what)) for what in FACTS]
    return [f"{what} differs: {a!r:.80} and {b!r:.80}" for what, a, b in facts if a != b]


def same_rows(one: Dataset, other: Dataset) -> list[str]:
    """No row's codes (or values) but those of the record that was replaced."""
    gone, come = (rows_of(a) - rows_of(b) for a, b in ((one, other), (other, one)))
    most = max(gone.total(), come.total())
    return [] if most <= 1 else [f"{most} records are read otherwise"]


def rows_of(data: Dataset) -> Counter[Any]:
    """How often each row occurs, of numeric data with its values."""
    rows = data.row_codes() if data.values is None else data.values
    return Counter(map(tuple, rows.tolist()))


def joined(chance: random.Random, folder: Path, found: Found) -> list[str]:
    """A table and one with a replaced record, each joined by its last column to a public file."""
    shape = Text(separator=chance.choice(",;"), spaced=chance.random() < 0.2)
    base, others, place = drawn(chance, shape)
    words = {cell.strip(BLANKS) for cell in (*"12", *chance.sample(writers.ODD, 9))} - {""}
    public = {key: chance.choice(("1", "3", "7", "")) for key in words if "\r" not in key}
    level = dataclasses.replace(writers.COLUMNS[-1], name="level", missing=("7",))
    schema = Schema((*writers.COLUMNS[:-1], level), dialect=shape.dialect())
    lines = [["key", "level"], *public.items()]
    other = "\n".join(
        ",".join(f'"{c.replace(chr(34), chr(34) * 2)}"' for c in row) for row in lines
    )
    pair = []
    for table in (base, [*base[:place], others[place], *base[place + 1 :]]):
        raw = shape.write(table, folder, random.Random(0))
        pair.append(data := read(Join(raw, other.encode(), ("grade", "key")), schema=schema))
        wanted = Counter(
            (
                *shape.codes(record)[:-1],
                writers.meaning(level, public.get(record[-1].strip(BLANKS))),
            )
            for record in table
        )
        if isinstance(data, Dataset) and rows_of(data) != wanted:
            return [f"joined otherwise: {list((rows_of(data) - wanted).items())[:2]}"]
    return refused(pair) or [*same_facts(*pair), *same_rows(*pair)]


# One row a person ----------------------------------------------------------------------


def persons(chance: random.Random, folder: Path, found: Found) -> list[str]:
    """A table of visits, and the same with all visits of one person replaced: 40 become 1."""
    visits = [(who, row) for who in range(12) for row in visits_of(chance, chance.randrange(1, 6))]
    chance.shuffle(visits)
    who, many, form = chance.randrange(12), chance.choice((1, 40)), chance.choice(writers.DAYS)
    schema = dataclasses.replace(writers.PERSONS, dialect=Dialect(date=form))
    rest = [visit for visit in visits if visit[0] != who]
    pair = []
    for count in (many, 41 - many):
        name, mine = chance.choice((who, 99)), visits_of(chance, count, strange=0.5)
        table = [*rest, *((name, row) for row in mine)]
        chance.shuffle(table)
        pair.append([(f"p{name}", writers.dated(row[0], form), *row[1:]) for name, row in table])
    write = chance.choice(writers.VISITS_AS)
    sources = [write(table, folder) for table in pair]
    one, other = (read(source, schema=schema) for source in sources)
    if isinstance(one, str) or isinstance(other, str):
        return refused([one, other])
    said = [*same_facts(one, other), *same_rows(one, other)]
    if (one.n, other.n) != (12, 12):
        said.append(f"{one.n} and {other.n} persons are read of 12")
    if not said and chance.random() < RUN:
        said += same_results(chance.choice(("marginal_pc", "gauss_pc")), one, other, found)
    if not said and chance.random() < RELEASED:
        said += same_releases(one, other, schema, found)
    return said


# Runs and releases ----------------------------------------------------------------------


def forced(key: str, data: Dataset, script: Any = None, **values: Any) -> tuple[RunResult, Any]:
    """A run behind doors that keep the answers, or give out those of another run."""
    doors = Instrumented(0, script)
    with mock.patch.object(runner, "Randomness", return_value=doors):
        return runner.run(key, data, **values), doors.answers


def same_results(key: str, one: Dataset, other: Dataset, found: Found, **values: Any) -> list[str]:
    """With the same answers the written results are the same, and no input moves too far.

    Nothing is asked of runs that claim nothing.
    """
    found.counts["runs"] += 1
    first, answers = forced(key, one, **values)
    try:
        second, again = forced(key, other, answers, **values)
    except Diverged as error:
        second, again = None, []
        if math.isfinite(first.proven.epsilon):
            return [f"{key}: {error}"]
    claims = [r for r in (first, second) if r is not None and math.isfinite(r.proven.epsilon)]
    found.counts["runs that claim a finite ε" if claims else "runs that claim nothing"] += 1
    if second is None or not (claims or one.declared or other.declared):
        return []
    said = [*same_facts(one, other), *same_rows(one, other)]
    written = [json.dumps({**result_dict(r), "fingerprint": ""}) for r in (first, second)]
    if list(first.ledger) != list(second.ledger):
        said.append(f"{key}: the charges differ")
    elif written[0] != written[1]:
        said.append(f"{key}: the written results differ")
    far = max((moved(a, b) for a, b in zip(answers, again, strict=False)), default=0.0)
    if far > 1 + ROUNDING:
        said.append(f"{key}: an input moves by {far:.3g} times what was charged")
    return said


def same_releases(one: Dataset, other: Dataset, stated: Any, found: Found) -> list[str]:
    """The file of a release whose noise is forced is the same to the byte, and so is the charge."""
    found.counts["releases"] += 1
    files, charged, source = [], [], Hardened()
    for data in (one, other):
        with (
            mock.patch.object(making, "Resumable", lambda *_, source=source: source),
            tempfile.TemporaryDirectory() as folder,
        ):
            budgets = Budgets(Path(folder) / "budgets.db")
            budgets.new("a", epsilon=1, delta=1e-6)
            own = dataclasses.replace(data, schema=stated)
            made = Budget("a", path=budgets.path).release(own, delta=1e-6).release
            charged.append(str(budgets.show("a").left))
        files.append(json.dumps(to_json(made)))
        source = _again(made.releases)
    said = [] if files[0] == files[1] else ["the release files differ"]
    return said if charged[0] == charged[1] else [*said, "the releases' charges differ"]


def _again(releases: Any) -> Any:
    """The releases' noise once more, as a source that says what it gave out."""
    source: Any = Replay(releases)
    source.given_out = list(releases)
    return source


# Tables whose schema is found, and pairs ------------------------------------------------


def found_in_rows(chance: random.Random, folder: Path, found: Found) -> list[str]:
    """A table without a whole schema: levels and cut points alone, or nothing at all."""
    shape, n = Text(separator=chance.choice(",;")), 20
    # What a comma means follows from one record: a decimal sign in the first.
    decimals = [f"{chance.randrange(1, 99)},{chance.randrange(100, 999)}" for _ in range(n)]
    ages = chance.choice((decimals, [f"{chance.randrange(100)}" for _ in range(n)]))
    old, new = chance.choice((("1,5", "1,234,567"), ("7", "1e15"), ("12", "3.5"), ("0", "")))
    base = [(chance.choice(("no", "yes")), "I", age, "7", "2") for age in ages]
    place = chance.randrange(len(base))
    base[place] = ("no", "I", old, "7", "2")
    changed = [*base[:place], ("yes", "II", new, "8", "1"), *base[place + 1 :]]
    files = [shape.write(table, folder, random.Random(0)) for table in (base, changed)]
    pair = [read(file, encoding=shape.encoding) for file in files]
    if refused(pair):
        found.counts["refused where nothing is declared"] += 1
        return []
    return same_results(chance.choice(("svt_pc", "marginal_pc")), *pair, found)


def two_columns(chance: random.Random, folder: Path, found: Found) -> list[str]:
    """Two columns of numbers, with bounds or without, read as a pair or as any table."""
    cells = [(chance.gauss(0, 1), chance.gauss(0, 1)) for _ in range(120)]
    rows = [f"{x:.4g},{x * x + y / 5:.4g}" for x, y in cells]
    place = chance.randrange(len(rows))
    new = chance.choice(("1e15,0", "-1e400,7", "9,9", "0,0", '"3",-1e9', ".5,+2"))
    raws = [
        "\n".join(["x,y", *rows[:place], row, *rows[place + 1 :]]).encode()
        for row in (rows[place], new)
    ]
    bounds = chance.choice((None, ((-5.0, 5.0), (-5.0, 25.0))))
    way = chance.random() < 0.5
    bounds = bounds if way else None
    try:
        one, other = (read_pair(raw, bounds) if way else read_table(raw) for raw in raws)
    except InputError as error:
        if bounds is not None:
            return [f"refused: {error}"]
        found.counts["refused where nothing is declared"] += 1
        return []
    return same_results("anm", one, other, found, epsilon=1.0)


# Running it -----------------------------------------------------------------------------


def fuzz(
    seconds: float, first: int = 0, most: int = 10**9, kind: Kind | None = None, stop: bool = False
) -> Found:
    """Cases one after the other, for so many seconds or so many cases; or to the first finding."""
    found, end = Found(), time.monotonic() + seconds
    for seed in range(first, first + most):
        with tempfile.TemporaryDirectory() as name:
            one_case(seed, Path(name), found, kind)
        if time.monotonic() > end or (stop and found.findings):
            break
    return found


def main() -> int:
    """Print the counts and what was found, in a minute or the seconds that are given."""
    found = fuzz(float(sys.argv[1]) if sys.argv[1:] else 60.0)
    for what, count in sorted(found.counts.items()):
        print(f"{count:8,} {what}")
    for finding in found.findings[:20]:
        print(f"FOUND {finding}")
    print(f"{len(found.findings):,} findings")
    return 1 if found.findings else 0


if __name__ == "__main__":
    raise SystemExit(main())
