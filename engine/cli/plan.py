"""``python -m engine plan``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from engine.cli.flags import Parser, add_json_flag, at_least, numbers, parts
from engine.cli.interrupts import ending, watched
from engine.cli.question import add_question_flags, question_of
from engine.data.schema import load_schema
from engine.errors import InputError
from engine.studies.plan import DENSITY, DRAWS, TARGET, plan


def plan_command(argv: Sequence[str]) -> int:
    """Say what a budget will buy, from public facts alone; a table or one JSON object."""
    parser = Parser(
        description="Simulate networks of a schema: what each algorithm will find at each epsilon.",
        example="plan --schema schema.json --rows 3000 --epsilon 0.3,3 --algorithm marginal_pc "
        "--draws 3",
    )
    parser.add_argument("--schema", required=True, metavar="FILE", help="columns and their levels")
    parser.add_argument("--rows", type=int, required=True, help="how many rows there are")
    parser.add_argument("--epsilon", type=numbers, default="0.1,1,3", help="totals, with commas")
    parser.add_argument("--delta", type=float, default=1e-6, help="failure probability")
    parser.add_argument("--links", type=int, help=f"you expect (default: {DENSITY:g} a column)")
    parser.add_argument(
        "--strength", type=float, default=1.0, help="of the links: 1 as in the bundled networks"
    )
    parser.add_argument("--algorithm", help="with commas (default: all that are strict)")
    parser.add_argument("--draws", type=at_least(2), default=DRAWS, help="simulated networks")
    parser.add_argument("--seed", type=at_least(0), default=0, help="seed of the simulation")
    parser.add_argument("--target", type=float, default=TARGET, help="a skeleton F1 to reach")
    add_question_flags(parser)
    parser.add_argument(
        "--shares", type=numbers, metavar="P,P",
        help="public shares of the cause's level and of its reference, for the width",
    )  # fmt: skip
    add_json_flag(parser)
    args = parser.parse_args(argv)
    same = ("rows", "epsilon", "delta", "links", "strength", "draws", "seed", "target")
    asked: Any = {name: getattr(args, name) for name in same}
    if args.algorithm is not None:
        asked["algorithms"] = parts(args.algorithm, "--algorithm")
    asked |= {"question": question_of(args), "shares": _shares(args.shares)}
    with watched() as monitor:
        found = plan(load_schema(args.schema), **asked, **monitor.options)
    print(json.dumps(found.as_dict()) if args.json else found)
    return ending(monitor, None)


def _shares(given: list[float] | None) -> tuple[float, float] | None:
    if given is None:
        return None
    if len(given) != 2:
        raise InputError("--shares takes two numbers: of the cause's level and of its reference.")
    return given[0], given[1]
