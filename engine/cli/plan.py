"""``engine plan``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from engine.cli.flags import Parser, add_json_flag, at_least, numbers, parts
from engine.cli.interrupts import ending, watched
from engine.cli.question import add_question_flags, questions_of
from engine.data.schema import load_schema
from engine.studies.plan import DENSITY, DRAWS, TARGET, plan


def plan_command(argv: Sequence[str]) -> int:
    """Forecast the result of a release from public facts; print a table or one JSON object."""
    parser = Parser(
        description="Forecast the edges that each algorithm finds at each epsilon, on simulated "
        "networks of a schema. It reads no data.",
        example="plan --schema schema.json --rows 3000 --epsilon 0.3,3 --algorithm marginal_pc "
        "--draws 3",
    )
    parser.add_argument(
        "--schema", required=True, metavar="FILE", help="the declared columns and their levels"
    )
    parser.add_argument("--rows", type=int, required=True, help="number of rows in the table")
    parser.add_argument(
        "--epsilon",
        type=numbers,
        default="0.1,1,3",
        help="total ε, separated by commas (default %(default)s)",
    )
    parser.add_argument(
        "--delta", type=float, default=1e-6, help="δ, far below 1/n (default %(default)g)"
    )
    parser.add_argument(
        "--links", type=int, help=f"expected number of edges (default: {DENSITY:g} per column)"
    )
    parser.add_argument(
        "--strength",
        type=float,
        default=1.0,
        help="strength of the edges; 1 is that of the bundled networks (default 1)",
    )
    parser.add_argument(
        "--algorithm", help="algorithms, separated by commas (default: all strict ones)"
    )
    parser.add_argument(
        "--draws", type=at_least(2), default=DRAWS, help="simulated networks (default %(default)s)"
    )
    parser.add_argument(
        "--seed", type=at_least(0), default=0, help="seed of the simulation (default 0)"
    )
    parser.add_argument(
        "--target",
        type=float,
        default=TARGET,
        help="the skeleton F1 to reach (default %(default)s)",
    )
    add_question_flags(parser)
    add_json_flag(parser)
    args = parser.parse_args(argv)
    same = ("rows", "epsilon", "delta", "links", "strength", "draws", "seed", "target")
    asked: Any = {name: getattr(args, name) for name in same}
    if args.algorithm is not None:
        asked["algorithms"] = parts(args.algorithm, "--algorithm")
    asked["question"] = questions_of(args)
    with watched() as monitor:
        found = plan(load_schema(args.schema), **asked, **monitor.options)
    print(json.dumps(found.as_dict()) if args.json else found)
    return ending(monitor, None)
