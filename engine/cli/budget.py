"""``engine budget new | show | recount``: totals that are stored across sessions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from engine.cli.flags import Parser, add_json_flag
from engine.percent import number
from engine.release.budget import Budget, Budgets


def budget_command(argv: Sequence[str]) -> None:
    """Create a budget (new) or show the remaining ε (show); charges are permanent."""
    parser = Parser(
        description="Create budgets and show the remaining ε. Each subcommand has a --help.",
        example="budget show",
    )
    new = parser.add_subcommand(
        "Create a budget: a total for one table, which never changes.",
        example="budget new ward-8 --epsilon 3 --delta 1e-5",
    )
    new.add_argument("name", help="a name for the table")
    new.add_argument(
        "--epsilon", required=True, help="the total ε over all releases, never changed"
    )
    new.add_argument("--delta", default="1e-6", help="the total δ (default %(default)s)")
    show = parser.add_subcommand(
        "Show the total, every charge and the remaining budget.", example="budget show ward-7"
    )
    show.add_argument("name", nargs="?", help="one budget (default: all)")
    add_json_flag(show, "print one JSON array")
    recount = parser.add_subcommand(
        "Charge the saved releases that an older copy of the budgets lacks. If you have the newest "
        "copy, restore it instead.",
        example="budget recount ward-7",
    )
    recount.add_argument("name", help="the closed budget")
    args, book = parser.parse_args(argv), Budgets()
    if args.word == "new":
        found = [book.new(args.name, args.epsilon, args.delta)]
    elif args.word == "recount":
        found = [book.recount(args.name)]
    else:
        found = [book.show(args.name)] if args.name is not None else list(book.all())
    closed = book.closed()
    kept = {budget.name: book.ids(budget) for budget in found}
    if args.word == "show" and args.json:
        records = [_record(b, kept[b.name]) | {"closed": closed.get(b.name)} for b in found]
        print(json.dumps(records))
    else:
        lines = [_lines(budget, kept[budget.name], closed.get(budget.name)) for budget in found]
        print("\n".join(lines) or "There is no budget yet.")


def _lines(budget: Budget, kept: Mapping[str, str], closed: str | None) -> str:
    lines, waiting = [f"{budget.name}: {budget.remaining}"], budget.unfinished
    if closed:
        lines.append(f"  {closed}")
    if budget.rows is not None:
        lines.append(f"  of {budget.rows:,} records: {', '.join(budget.columns)}")
    for c in budget.charges:
        where = f"saved as {kept[c.id]}" if c.id in kept else "nothing saved"
        where = "interrupted; engine release --resume finishes it" if c.id in waiting else where
        lines.append(
            f"  {c.at} UTC  ε {c.epsilon:f}  δ {number(float(c.delta))}  {c.what}  {where}"
        )
    if kept:
        lines.append("  export a saved release again: engine release --again ID --out FILE")
    return "\n".join(lines)


def _record(budget: Budget, kept: Mapping[str, str]) -> dict[str, object]:
    spent, left = map(_pair, (budget.spent, budget.left))
    charges = [
        {
            "id": c.id,
            "what": c.what,
            "at": c.at,
            "epsilon": float(c.epsilon),
            "delta": float(c.delta),
            "release": kept.get(c.id),
        }
        for c in budget.charges
    ]
    total = _pair((budget.epsilon, budget.delta))
    bound = {"rows": budget.rows, "columns": list(budget.columns)}
    about = {"name": budget.name, "total": total, "spent": spent, "left": left, "table": bound}
    return about | {"charges": charges}


def _pair(amounts: tuple[object, object]) -> dict[str, float]:
    return {"epsilon": float(str(amounts[0])), "delta": float(str(amounts[1]))}
