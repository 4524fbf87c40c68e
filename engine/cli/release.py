"""``python -m engine release | check | twin``: spend once, hand out a file, read it back."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.cli.flags import (
    Parser,
    add_fold_flag,
    add_json_flag,
    add_parameter_flags,
    chosen_algorithms,
    own_table,
    values,
)
from engine.cli.interrupts import INTERRUPTED, ignore_signals, interruptible
from engine.data.schema import load_schema
from engine.errors import InputError
from engine.registry import declared
from engine.release.budget import Budgets
from engine.release.file import check_place, load, save, to_json
from engine.release.make import COVERED, Stopped, check, covered, make
from engine.release.page import to_html
from engine.release.twin import LABEL, twin


def release_command(argv: Sequence[str]) -> int:
    """Charge a budget, release once, write the JSON file and its page; Ctrl-C stops it."""
    keys = chosen_algorithms("engine release", argv, default=COVERED[0])
    for key in keys:
        covered(key)
    if len(keys) > 1:
        raise InputError("engine release takes one algorithm.")
    specs = list(declared(keys).values())
    parser = Parser(
        prog="engine release",
        description="Spend part of a budget on one file that can be handed out.",
        allow_abbrev=False,
    )
    parser.add_argument("--csv", metavar="FILE", required=True, help="your data, of any kind")
    parser.add_argument(
        "--query", metavar="SQL", help="what to read of a database file: one row for each record"
    )
    add_fold_flag(parser)
    parser.add_argument("--schema", metavar="FILE", required=True, help="their declared schema")
    parser.add_argument("--budget", metavar="NAME", required=True, help="the budget that pays")
    parser.add_argument("--out", metavar="FILE", required=True, help="the JSON file to write")
    parser.add_argument("--algorithm", default=COVERED[0], help=", ".join(COVERED))
    add_parameter_flags(parser, specs)
    args = parser.parse_args(argv)
    out, schema, budgets = Path(args.out), load_schema(args.schema), Budgets()
    check_place(out)
    check_place(_page(out))
    budgets.show(args.budget)
    try:
        data = own_table(args, schema)
    except KeyboardInterrupt:
        ignore_signals()
        print("Stopped on reading: nothing was released, nothing was charged.", file=sys.stderr)
        return INTERRUPTED
    chosen = values(args, specs)
    try:
        with interruptible() as cancelled:
            paid: dict[str, Any] = {"name": args.budget, "budgets": budgets}
            found = make(data, schema, keys[0], chosen, **paid, cancelled=cancelled)
    except Stopped as stop:
        print(stop, file=sys.stderr)
        return INTERRUPTED
    save(json.dumps(to_json(found)) + "\n", out)
    save(to_html(found), _page(out))
    left = budgets.show(args.budget).left
    print(
        f"{out} and {_page(out)}: {len(found.confidence)} edges, ε = {found.total.epsilon:g}, "
        f"δ = {found.total.delta:g}; budget {args.budget!r} has ε = {left[0]:f} left."
    )
    return 0


def _page(out: Path) -> Path:
    return out.with_suffix(".html") if out.suffix != ".html" else out.with_suffix(".page.html")


def check_command(argv: Sequence[str]) -> None:
    """Read a release and confirm that its graph follows from its released numbers alone."""
    parser = Parser(prog="engine check", description="Confirm a release file by itself.")
    parser.add_argument("file", help="the release, a JSON file")
    add_json_flag(parser)
    args = parser.parse_args(argv)
    release = load(args.file)
    check(release)
    epsilon, delta = release.total.epsilon, release.total.delta
    if args.json:
        print(json.dumps({"confirmed": True, "epsilon": epsilon, "delta": delta}))
        return
    print(
        f"Confirmed: the {len(release.confidence)} edges follow from {len(release.releases)} "
        f"releases whose noise is that of (ε, δ) = ({epsilon:g}, {delta:g})."
    )


def twin_command(argv: Sequence[str]) -> None:
    """Write synthetic rows drawn from a release."""
    parser = Parser(prog="engine twin", description=LABEL)
    parser.add_argument("file", help="the release, a JSON file")
    parser.add_argument("--rows", type=int, help="how many (default: as many as the records)")
    parser.add_argument("--seed", type=int, default=0, help="fixes the rows; need not be secret")
    parser.add_argument("--out", metavar="FILE", help="default: FILE-synthetic-twin.csv")
    args = parser.parse_args(argv)
    release = load(args.file)
    path = Path(args.file)
    out = Path(args.out) if args.out else path.with_name(f"{path.stem}-synthetic-twin.csv")
    check_place(out)
    made = twin(release, args.rows or release.rows, args.seed)
    save(made.to_frame().to_csv(index=False), out)
    print(f"{out}: {made.n:,} rows. {LABEL}")
