"""``engine schema draft | check``: draft or check a table's schema."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from textwrap import indent

import numpy as np

from engine.cli.flags import Parser, add_join_flag, joined, tell_unforeseen
from engine.cli.interrupts import INTERRUPTED, watched
from engine.data.dataset import Dataset
from engine.data.draft import Found, survey
from engine.data.reading import read
from engine.data.schema import Schema, load_schema
from engine.monitor import Cancelled
from engine.percent import percent

CROWDED = 0.9  # a larger share of rows in one level leaves little information


def schema_command(argv: Sequence[str]) -> int:
    """Draft or check the public facts about a table's columns."""
    parser = Parser(
        description="Draft or check a schema. Each subcommand has a --help.",
        example="schema draft table.csv",
    )
    draft = parser.add_subcommand(
        "Propose a schema from the rows of a table, on standard output. It is inferred from your "
        'data and not public: each column has "declared": false. Write true for a column that you '
        "know from elsewhere.",
        example="schema draft table.csv",
    )
    draft.add_argument("table", help="CSV, Parquet, Arrow, Excel, SQLite or DuckDB")
    draft.add_argument(
        "--missing",
        action="append",
        default=[],
        metavar="CODE",
        help="a code such as -9 that stands for a missing value in any column; may be repeated",
    )
    check = parser.add_subcommand(
        "Print a schema: its columns and levels, and which are not declared yet. With a table, "
        "also check that the schema reads it, and print columns with nearly all rows in one level. "
        "These are exact facts about your rows: keep them private.",
        example="schema check schema.json --csv table.csv",
    )
    check.add_argument("schema", help="the JSON file")
    check.add_argument("--csv", metavar="FILE", help="a table to check it with")
    for one in (draft, check):
        one.add_argument("--csv-encoding", help="utf-8, utf-16 or latin-1")
        one.add_argument("--query", metavar="SQL", help="the query that reads a database file")
        add_join_flag(one)
    args = parser.parse_args(argv)
    try:
        (_draft if args.word == "draft" else _check)(args)
    except Cancelled:
        print("Stopped before the table was read.", file=sys.stderr)
        return INTERRUPTED
    return 0


def _draft(args: argparse.Namespace) -> None:
    said = {"encoding": args.csv_encoding, "query": args.query, "missing": args.missing}
    with watched() as monitor:
        found = Schema.draft(joined(args.table, args), **monitor.options, **said)
    # print ASCII JSON on other terminals
    plain = (sys.stdout.encoding or "").lower() not in ("utf-8", "utf8")
    print(json.dumps(found.to_json(), ensure_ascii=plain, indent=1))
    for remark in found.remarks:
        print(f"{remark}.".replace("?.", "?"), file=sys.stderr)
    print(
        f"{len(found.columns)} columns, inferred from your data (not public): correct them, and "
        'write "declared": true for each column that you know from elsewhere.',
        file=sys.stderr,
    )


def _check(args: argparse.Namespace) -> None:
    schema = load_schema(args.schema)
    print("\n".join(_words(schema)))
    if args.csv is not None:
        table, said = joined(args.csv, args), {"encoding": args.csv_encoding, "query": args.query}
        with watched() as monitor:
            data = read(table, schema, monitor=monitor, **said)
            found, _ = survey(table, monitor=monitor, **said)
        tell_unforeseen(data)
        print("\n".join(_on_table(data, schema, found)))


def _words(schema: Schema) -> list[str]:
    people = "" if schema.person is None else f", one row per person ({schema.person.id})"
    head = f"{len(schema.columns)} columns{people}:"
    waiting = ", ".join(schema.waiting)
    last = (
        f"Not declared yet: {waiting}. Runs with this schema have no guarantee."
        if waiting
        else "All columns are declared: strict runs with this schema have a proven guarantee."
    )
    return [head, indent(str(schema), "  "), last]


def _on_table(data: Dataset, schema: Schema, found: Sequence[Found]) -> list[str]:
    lines = [f"The schema reads the table: {data.n:,} {schema.what}."]
    for j, (name, labels) in enumerate(zip(data.names, data.levels, strict=True)):
        counts = np.bincount(data.codes[:, j], data.weights, len(labels))
        most = int(counts.argmax())
        share = counts[most] / data.n
        if share > CROWDED:
            lines.append(
                f"  {name}: {percent(share)} of rows have the level {labels[most]}, so this column "
                "carries little information; choose other cuts or levels."
            )
    for one in found if schema.person is None else ():
        if one.name in schema.names and "rows" in one.hint + one.why_out:
            lines.append(
                f"  {one.name}: one value has {one.repeats:,} rows; if it identifies a person, "
                "declare it as the person column."
            )
    if len(lines) > 1:
        lines.append("These are exact facts about your rows: keep them private.")
    return lines
