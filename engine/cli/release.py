"""``engine release | combine | synthetic``: charge once, share a file, use it."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.cli.flags import (
    Parser,
    add_knowledge_flag,
    add_parameter_flags,
    add_table_flags,
    at_least,
    known,
    own_table,
    values,
)
from engine.cli.interrupts import INTERRUPTED, ignore_signals, watched
from engine.cli.question import add_question_flags, questions_of
from engine.data.schema import load_schema
from engine.errors import InputError
from engine.monitor import Cancelled
from engine.params import Spec
from engine.percent import count, number
from engine.registry import algorithm
from engine.release.budget import Budgets
from engine.release.door import load, opened
from engine.release.file import ALGORITHM, canonical
from engine.release.make import Budget, BudgetedRelease, Stopped, combine, is_kept
from engine.release.page import combined_words, doubt_words, to_html
from engine.release.places import check_place, check_places, page_of, save
from engine.release.signature import own_key, signed
from engine.release.synthetic import LABEL, MOST_ROWS, synthetic_csv


def release_command(argv: Sequence[str]) -> int:
    """Charge a budget and write one release: a JSON file and its page."""
    again = any(word.partition("=")[0] == "--again" for word in argv)
    specs = algorithm(ALGORITHM).params.specs()
    args = _parser(specs, again).parse_args(argv)
    out = check_places(args.out)
    if again:
        return _again(args, out)
    schema, budget = load_schema(args.schema), Budget(args.budget)
    if (facts := known(args)) is not None:
        schema = replace(schema, knowledge=facts)
    schema = schema.asked(questions_of(args))
    if args.sign:
        own_key()  # raises for an unusable key before the table is read
    asked: dict[str, Any] = {"sign": args.sign, "resume": args.resume}
    said = ["Nothing was released, and nothing was charged."]
    try:
        with watched() as monitor:
            data = own_table(args, schema, monitor=monitor)
            asked |= monitor.options
            paid = budget.release(data, schema, **asked, **values(args, specs))
            said = [is_kept(str(paid.kept))]
        _handed_out(paid, budget, out)
    except Stopped as stop:
        print(stop, file=sys.stderr)
        return INTERRUPTED
    except (Cancelled, KeyboardInterrupt) as pressed:  # a second signal does not wait for the end
        ignore_signals()
        print("Stopped.", *getattr(pressed, "__notes__", said), file=sys.stderr)
        return INTERRUPTED
    return 0


def _handed_out(paid: BudgetedRelease, budget: Budget, out: Path) -> None:
    """Write the two files of a release, and print a summary."""
    found = paid.release
    _write(canonical(found), to_html(found), out, paid.kept)
    said = repr(budget)[1:-1].removeprefix("Budget ")
    print(
        f"{out} and {page_of(out)}: {count(len(found.confidence), 'edge')}, "
        f"ε = {found.total.epsilon:g}, δ = {number(found.total.delta)}; budget {said}."
    )
    print(doubt_words(found))
    for answer in paid.answers if found.schema.questions else ():
        print(answer.sentence)
    if found.signature is not None:
        print(f"Signed with the key {found.signature.public_key}.")
    print(f"Saved as {paid.kept}; export again: engine release --again {paid.kept} --out FILE.")


def _parser(specs: Sequence[Spec], again: bool) -> Parser:
    """Return the parser; exporting a release ``again`` needs no table flags."""
    parser = Parser(
        description="Charge a budget and write one release, a file that you can share. "
        "Ctrl-C stops it.",
        example="release --csv table.csv --schema schema.json --budget ward-7 --epsilon 1 "
        "--out release.json",
    )
    if not again:
        add_table_flags(parser, required=True)
        add_knowledge_flag(parser)
        parser.add_argument(
            "--budget", metavar="NAME", required=True, help="the budget that is charged"
        )
        add_question_flags(parser)
        add_parameter_flags(parser, specs)
    ended = parser.add_mutually_exclusive_group()
    ended.add_argument(
        "--resume",
        action="store_true",
        help="resume an interrupted release of the same data; no new charge",
    )
    ended.add_argument("--again", metavar="ID", help="export a saved release again; no new charge")
    _add_out_flags(parser)
    return parser


def _add_out_flags(parser: Parser) -> None:
    parser.add_argument("--out", metavar="FILE", required=True, help="a new JSON file")
    parser.add_argument(
        "--sign", action="store_true", help="sign file and page with your key (engine key)"
    )


def _again(args: Namespace, out: Path) -> int:
    """Export a saved release again, without a charge."""
    kept, text, page = Budgets().get(args.again)
    if args.sign:
        found = signed(opened(text.encode())[0], own_key())
        text, page = canonical(found), to_html(found)
    _write(text, page, out, kept)
    print(f"{out} and {page_of(out)}: release {kept} again; nothing was charged.")
    return 0


def _write(text: str, page: str, out: Path, kept: str | None) -> None:
    """Write both files; if that fails, say where the saved release is."""
    try:
        save(text, out)
        save(page, page_of(out))
    except (InputError, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error).rstrip(".")
        raise InputError(f"{why}. {is_kept(str(kept))}") from None


def combine_command(argv: Sequence[str]) -> None:
    """Combine releases of different people under one schema into one file."""
    parser = Parser(
        description="Combine releases of different people under one schema; this costs no ε.",
        example="combine ward-7.json ward-8.json --out all.json",
    )
    parser.add_argument("files", nargs="+", help="the releases, JSON files")
    parser.add_argument(
        "--different-people",
        action="store_true",
        help="declare that each person is in one release only, although two look alike",
    )
    add_knowledge_flag(parser)
    _add_out_flags(parser)
    args = parser.parse_args(argv)
    out = check_places(args.out)
    signer = own_key() if args.sign else None
    found = combine(args.files, known(args), different_people=args.different_people).release
    found = found if signer is None else signed(found, signer)
    BudgetedRelease(found).save(out)
    print(
        f"{out} and {page_of(out)}: {count(len(found.confidence), 'edge')}, {found.rows:,} records."
    )
    print("\n".join([doubt_words(found), *combined_words(found)]))


def setting(text: str) -> tuple[str, str]:
    """Parse the value of --do: a column and its level."""
    name, level = text.split("=", 1)
    return name, level


def synthetic_command(argv: Sequence[str]) -> None:
    """Write synthetic rows generated from a release."""
    parser = Parser(
        description=LABEL,
        example="synthetic release.json --rows 100 --out synthetic.csv",
    )
    parser.add_argument("file", help="the release, a JSON file")
    parser.add_argument(
        "--rows",
        type=at_least(2),
        help=f"number of rows (default: as many as the release's records, at most {MOST_ROWS:,})",
    )
    parser.add_argument(
        "--seed", type=at_least(0), default=0, help="fixes the rows; need not be secret"
    )
    parser.add_argument("--out", metavar="FILE", help="default: FILE-synthetic.csv")
    parser.add_argument(
        "--do",
        action="append",
        type=setting,
        default=[],
        metavar="COLUMN=LEVEL",
        help="set a column to a level in every row (do-sampling); may be given several times",
    )
    args = parser.parse_args(argv)
    release, _ = load(args.file)
    path = Path(args.file)
    out = Path(args.out) if args.out else path.with_name(f"{path.stem}-synthetic.csv")
    check_place(out)
    if out.suffix.lower() not in (".csv", ".tsv", ".txt"):
        raise InputError("Synthetic rows are delimited text: give --out a name that ends in .csv.")
    if len(dict(args.do)) < len(args.do):
        raise InputError("--do can set each column only once.")
    rows = args.rows or min(release.rows, MOST_ROWS)
    save(synthetic_csv(release, rows, args.seed, do=dict(args.do)), out)
    print(f"{out}: {rows:,} rows. {LABEL}")
