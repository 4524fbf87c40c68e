"""Flags shared by commands, generated from declarations."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from engine.data.dataset import Dataset
from engine.data.networks import NETWORKS, load_dataset
from engine.data.schema import Schema, load_schema
from engine.errors import InputError, did_you_mean, no_subcommand, show
from engine.graphs.known import READY
from engine.knowledge import Knowledge, load_knowledge
from engine.params import Spec, number
from engine.registry import ALGORITHMS, algorithm, declared
from engine.request import Request, Source, usual_algorithm
from engine.studies.trial import Said, ready_name, stated

HELP = ("-h", "--help")
# Kind of a parameter -> placeholder for its value in the help.
VALUES = {"bool": "true|false", "choice": "NAME", "many": "NAMES", "text": "TEXT"}


class Parser(argparse.ArgumentParser):
    """An argument parser with one-line error messages and an example at the end of its help.

    ``example`` is a working command without ``engine``. Its first word names the parser, unless
    ``prog`` is given.
    """

    _given: Sequence[str] = ()
    _words: Any = None  # parsers of subcommands, by name

    def __init__(self, *, example: str, description: str | None = None, **more: Any):
        super().__init__(
            formatter_class=argparse.RawDescriptionHelpFormatter,
            description=None if description is None else textwrap.fill(description, 78),
            epilog=f"example:\n  engine {example}",
            **{"prog": f"engine {example.partition(' ')[0]}", "allow_abbrev": False, **more},
        )
        for kind in (int, float):  # flags of these types
            self.register("type", kind, partial(number, kind=kind))

    def add_subcommand(self, description: str, *, example: str) -> Parser:
        """Add the subcommand of an example; the list shows its description's first sentence."""
        if self._words is None:
            self._words = self.add_subparsers(dest="word", metavar="SUBCOMMAND")
        what = description[0].lower() + description[1:].partition(".")[0]
        name = example.split()[1]
        return self._words.add_parser(name, help=what, description=description, example=example)  # type: ignore[no-any-return]

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse like argparse, but check the subcommand first, and store the words for errors."""
        self._given = list(args)
        if self._words is not None and (not args or args[0] not in (*self._words.choices, *HELP)):
            raise InputError(no_subcommand(self.prog, args, self._words.choices))
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Raise InputError instead of printing the usage; suggest the nearest flag for a typo."""
        if self._words is not None:  # the flags belong to a subcommand
            self._words.choices[self._given[0]].error(message)
        if message.endswith("expected one argument"):
            message += " (write a value below 0 with an equals sign: --bounds=-3,3)"
        known = re.findall(r"(?<!\S)--\w[\w-]*", self.format_help())
        flags = (word.partition("=")[0] for word in self._given if word.startswith("--"))
        strange = next((flag for flag in flags if flag not in known), None)
        hint = "" if strange is None else did_you_mean(strange, known)
        raise InputError(f"{message[0].upper()}{message[1:]}; see {self.prog} --help.{hint}")


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table's rows as lines for a terminal, each column as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def at_least(low: int) -> Callable[[str], int]:
    """Return the type of a flag for whole numbers of at least ``low``."""

    def whole(text: str) -> int:
        if (found := number(text, int)) < low:
            raise argparse.ArgumentTypeError(f"must be at least {low}; {text} is not")
        return found

    return whole


def numbers(text: str) -> list[float]:
    """Parse the value of a flag with comma-separated numbers."""
    return [number(part.strip(), float) for part in text.split(",")]


def parts(text: str, flag: str) -> list[str]:
    """Return the values of a list flag; raises InputError if one of them is empty."""
    found = [part.strip() for part in text.split(",")]
    if not all(found):
        raise InputError(f"{flag} takes values separated by commas; one of {text!r} is empty.")
    return found


def add_dataset_flags(parser: argparse.ArgumentParser, *, many: bool = False) -> None:
    """Add the flags for the data: benchmark networks (a list if ``many``), or your own file."""
    what = "bundled networks, separated by commas" if many else "a bundled network"
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--dataset", help=f"{what}: {', '.join(NETWORKS)}")
    parser.add_argument(
        "--n", type=int, default=100_000, help="rows to sample from a network (default %(default)s)"
    )
    parser.add_argument("--data-seed", type=int, default=0, help="seed of the sample (default 0)")
    add_table_flags(parser, which)
    parser.add_argument(
        "--truth",
        metavar="FILE",
        help="true edges of your own data: two columns, from and to, or Tetrad's graph",
    )


def add_table_flags(parser: argparse.ArgumentParser, which: Any = None, **needs: Any) -> None:
    """Add the flags of your own table, its schema, and the consent to unmatched values.

    ``which`` is a group of flags, one of which names the table; ``needs`` is True if one is
    required.
    """
    (which or parser).add_argument(
        "--csv",
        metavar="FILE",
        **needs,
        help="your own data: CSV, Parquet, Arrow, Excel, SQLite or DuckDB",
    )
    parser.add_argument(
        "--query",
        metavar="SQL",
        help="the query that reads a database file: one row per record, since the guarantee "
        "protects rows",
    )
    add_join_flag(parser)
    parser.add_argument("--csv-encoding", help="utf-8, utf-16 or latin-1")
    parser.add_argument(
        "--schema",
        metavar="FILE",
        **needs,
        help="declared schema; without one, runs have no guarantee",
    )
    parser.add_argument(
        "--accept-unforeseen",
        action="store_true",
        help="go on although more than 5 %% of a column's cells match no level and count as an "
        "answer; standard error lists them",
    )


def add_join_flag(parser: argparse.ArgumentParser) -> None:
    """Add the flag for a second file whose columns are joined by a key."""
    parser.add_argument(
        "--join",
        nargs=3,
        metavar=("FILE", "KEY", "ITS_KEY"),
        help="add the columns of a second file, which counts as public: the table's column of keys "
        "and that of the file, where each key occurs once",
    )


def joined(table: Any, args: argparse.Namespace) -> Any:
    """Return the table with the columns of --join, if given."""
    from engine.data.sources import Join

    if args.join is None:
        return table
    file, key, its = args.join
    return Join(table, file, (key, its))


def add_run_flags(parser: argparse.ArgumentParser) -> None:
    """Add the seed of one run, and the flag for JSON."""
    parser.add_argument(
        "--seed",
        type=int,
        help="noise seed (default 0); with --csv the noise is secret, and a run with a given seed "
        "has no guarantee",
    )
    add_json_flag(parser)


def add_knowledge_flag(parser: argparse.ArgumentParser, *, ready: bool = False) -> None:
    """Add the flag for background knowledge; ``ready`` also allows sets of benchmark networks."""
    words = [name.replace(" ", "-") for name in READY]
    parser.add_argument(
        "--knowledge",
        metavar="FILE",
        help="background knowledge, which is public: tiers, forbidden and required edges, as JSON "
        "or as Tetrad writes them"
        + (f"; or a true set for each network: {', '.join(words)}" if ready else ""),
    )


def known(args: argparse.Namespace) -> Knowledge | None:
    """Return the background knowledge of --knowledge, from a file or JSON text."""
    word = args.knowledge
    if word is None:
        return None
    return load_knowledge(word.encode() if word.startswith("{") else word)


def said(args: argparse.Namespace) -> Said:
    """Return the value of --knowledge for a study: the name of a set, or the file's content."""
    return ready_name(args.knowledge or "") or known(args)


def requested(args: argparse.Namespace, key: str, specs: Sequence[Spec], data: Dataset) -> Request:
    """Return the request for the one dataset of the flags."""
    source = None if args.dataset is None else Source(data.name, args.n, args.data_seed)
    facts = said(args)
    if isinstance(facts, str):
        facts = stated(data, facts)
    seed = 0 if data.public and args.seed is None else args.seed
    return Request.of(data, key, values(args, specs), seed, facts, source)


def add_json_flag(parser: argparse.ArgumentParser, what: str = "print one JSON object") -> None:
    """Add the flag that prints JSON instead of text."""
    parser.add_argument("--json", action="store_true", help=what)


def datasets(args: argparse.Namespace) -> list[Dataset]:
    """Return the data of the flags; raises InputError if the flags conflict."""
    if args.csv is not None:
        schema = None if args.schema is None else load_schema(args.schema)
        return [own_table(args, schema, truth=args.truth)]
    for name in ("schema", "query", "join", "truth"):
        if getattr(args, name) is not None:
            raise InputError(
                f"--{name} can only be used with --csv: a bundled network has its own."
            )
    names = parts(args.dataset, "--dataset")
    return [load_dataset(name, n=args.n, seed=args.data_seed) for name in names]


def own_table(args: argparse.Namespace, schema: Schema | None, **options: Any) -> Dataset:
    """Read your own table; list unmatched values on standard error before any charge.

    ``options`` are passed to the reader. Raises InputError if many unmatched values count as an
    answer and the consent flag is missing.
    """
    from engine.data.reading import read

    table = joined(args.csv, args)
    data = read(table, schema, query=args.query, encoding=args.csv_encoding, **options)
    tell_unforeseen(data)
    if not args.accept_unforeseen and any(u.asks for u in data.unforeseen_cells):
        raise InputError(
            "More than 5 % of a column's cells match no level and count as an answer: correct the "
            "schema, or accept them with --accept-unforeseen."
        )
    return data


def tell_unforeseen(data: Dataset) -> None:
    """List unmatched values on standard error, which only the table's owner reads."""
    rows = [
        (u.column, f"{u.cells:,}", u.share, u.look if u.empty else show(u.look), u.to or "")
        for u in data.unforeseen_cells
    ]
    if rows:
        print("Cells that match no level (exact numbers, keep them private):", file=sys.stderr)
        heads = ("column", "cells", "share", "look like", "count as")
        print("\n".join(aligned([heads, *rows])), file=sys.stderr)


def dataset(args: argparse.Namespace) -> Dataset:
    """Return the one dataset of the flags."""
    found = datasets(args)
    if len(found) > 1:
        raise InputError("--dataset takes one name here; engine sweep takes several.")
    return found[0]


def add_parameter_flags(
    parser: argparse.ArgumentParser, specs: Sequence[Spec], *, many: bool = False
) -> None:
    """Add one flag per declared parameter, in both spellings; with ``many`` it takes a list."""
    for spec in specs:
        flags = dict.fromkeys((f"--{spec.name}", f"--{spec.name.replace('_', '-')}"))
        what = ", ".join(spec.choices) or spec.bounds() + "".join(f' or "{w}"' for w in spec.words)
        what = "true or false" if spec.kind == "bool" else what
        value = VALUES.get(spec.kind, "NUMBER")
        usual = str(spec.default).lower() if spec.kind == "bool" else spec.default
        parser.add_argument(
            *flags,
            dest=f"param_{spec.name}",
            metavar=f"{value},{value},..." if many else value,
            help=f"{spec.help} ({what}; default {usual})".replace("%", "%%"),
        )


def given(args: argparse.Namespace, specs: Sequence[Spec]) -> dict[str, str]:
    """Return the parameters given as flags, as name -> text."""
    texts = {spec.name: getattr(args, f"param_{spec.name}") for spec in specs}
    return {name: text for name, text in texts.items() if text is not None}


def values(args: argparse.Namespace, specs: Sequence[Spec]) -> dict[str, Any]:
    """Return the parameters given as flags, as name -> parsed value."""
    texts = given(args, specs)
    return {spec.name: spec.parse(texts[spec.name]) for spec in specs if spec.name in texts}


USUAL = (
    f"{', '.join(ALGORITHMS)} (default {usual_algorithm(True)} with --csv, "
    f"else {usual_algorithm(False)}); engine algorithms describes each"
)


def chosen_algorithms(
    prog: str, argv: Sequence[str], *, many: bool = False
) -> tuple[list[str], list[Spec]]:
    """Read the algorithms in ``--algorithm``, because they declare the other flags.

    The default depends on the data: a benchmark network or your own table. Raises InputError for
    several algorithms unless ``many``.
    """
    first = Parser(prog=prog, add_help=False, example="")
    first.add_argument("--algorithm")
    first.add_argument("--csv")
    said = first.parse_known_args(argv)[0]
    named = parts(said.algorithm or usual_algorithm(said.csv is not None), "--algorithm")
    if len(named) > 1 and not many:
        raise InputError(f"{prog} takes one algorithm; engine sweep takes several.")
    keys = [algorithm(key).key for key in named]
    return keys, list(declared(keys).values())
