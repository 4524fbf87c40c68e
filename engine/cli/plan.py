"""``python -m engine plan``."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from engine.cli.flags import Parser, add_json_flag, aligned, parts
from engine.cli.interrupts import ending, interruptible
from engine.data.schema import load_schema
from engine.errors import InputError
from engine.graphs.metrics import SCORES
from engine.percent import percent
from engine.studies.forecast import (
    DENSITY,
    DRAWS,
    TRUST,
    Band,
    Forecast,
    ForecastProgress,
    Question,
    plan,
    reach,
    warning,
)


def plan_command(argv: Sequence[str]) -> int:
    """Say what a budget will buy, from public facts alone; a table or one JSON object."""
    parser = Parser(
        prog="engine plan",
        description="Simulate networks of a schema: what each algorithm will find at each epsilon.",
        example="plan --schema schema.json --rows 3000 --epsilon 0.3,3 --algorithm marginal_pc "
        "--draws 3",
        allow_abbrev=False,
    )
    parser.add_argument("--schema", required=True, metavar="FILE", help="columns and their levels")
    parser.add_argument("--rows", type=int, required=True, help="how many rows there are")
    parser.add_argument("--epsilon", default="0.1,1,3", help="totals, with commas")
    parser.add_argument("--delta", type=float, default=1e-6, help="failure probability")
    parser.add_argument("--density", type=float, default=DENSITY, help="a guess: links per column")
    parser.add_argument("--algorithm", help="with commas (default: all that are strict)")
    parser.add_argument("--draws", type=int, default=DRAWS, help="simulated networks")
    parser.add_argument("--seed", type=int, default=0, help="seed of the simulation")
    parser.add_argument("--target", type=float, default=0.8, help="a skeleton F1 to reach")
    add_json_flag(parser)
    args = parser.parse_args(argv)
    if args.draws < 2 or args.seed < 0:
        raise InputError("--draws must be at least 2, and --seed at least 0.")
    schema = load_schema(args.schema)
    question = Question(schema.names, schema.levels, args.rows, args.density)
    epsilons = [_number(text) for text in parts(args.epsilon, "--epsilon")]
    keys = None if args.algorithm is None else parts(args.algorithm, "--algorithm")
    with interruptible() as cancelled:
        forecasts = plan(
            question,
            epsilons,
            keys,
            delta=args.delta,
            draws=args.draws,
            seed=args.seed,
            cancelled=cancelled,
            on_progress=show_progress,
        )
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if args.json:
        print(json.dumps(as_dict(question, forecasts, args.target)))
    else:
        print(table(question, forecasts, args.target))
    return ending(cancelled, None)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--epsilon takes numbers with commas; {text!r} is none.") from None


def show_progress(progress: ForecastProgress) -> None:
    """A line on standard error that is rewritten in place, if that is a terminal."""
    if sys.stderr.isatty():
        text = f"{progress.done}/{progress.total} runs, about {progress.left:.0f} s left"
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def as_dict(question: Question, forecasts: Sequence[Forecast], target: float) -> dict[str, Any]:
    """The whole answer for JSON."""
    reached = reach(forecasts, target) if forecasts else None
    return {
        "rows": question.rows,
        "columns": list(question.names),
        "density": question.density,
        "forecasts": [f.as_dict() for f in forecasts],
        "target": target,
        "smallest_epsilon": None if reached is None else [reached.may, reached.will],
        "by": None if reached is None else reached.algorithm,
        "warning": warning(question, forecasts),
        "guarantee": "strict",
    }


def table(question: Question, forecasts: Sequence[Forecast], target: float) -> str:
    """For the terminal: medians, with the 10th and 90th percentile."""
    if not forecasts:
        return "Nothing was finished."
    head = ("links found", "invented", "false share", "on nothing")
    rows = [("algorithm", "ε", *head, *SCORES.values(), "")]
    for f in forecasts:
        rows.append(
            (
                f.algorithm,
                f"{f.epsilon:g}",
                f"{_band(f.found, 0)} of {f.links.median:.0f}",
                _band(f.invented, 0),
                percent(f.false_share.median),
                "–" if f.nothing is None else f.nothing.about,
                _band(f.f1, 2),
                _band(f.directed_f1, 2),
                _band(f.shd, 0),
                "expect noise" if f.noise else "",
            )
        )
    lines = aligned(rows)
    lines.append(reach(forecasts, target).words)
    lines += filter(None, [warning(question, forecasts)])
    lines.append(
        f"Strict guarantee. Medians and 10th to 90th percentile over {forecasts[0].draws} random "
        f"networks with about {question.density:g} links per column; no row was read. {TRUST} "
        "False share: of the links shown, how many are invented. On nothing: links invented on "
        "columns that depend on nothing."
    )
    return "\n".join(lines)


def _band(band: Band, digits: int) -> str:
    return f"{band.median:.{digits}f} ({band.low:.{digits}f}–{band.high:.{digits}f})"
