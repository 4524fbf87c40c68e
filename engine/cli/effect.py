"""``python -m engine effect``: what setting one column does to another, from a release's file."""

from __future__ import annotations

import json
from collections.abc import Sequence

from engine.cli.flags import Parser, add_json_flag
from engine.effects.adjustment import OPTIMAL, SETS
from engine.effects.words import notes, sentence
from engine.release.effects import effect
from engine.release.reading import load


def effect_command(argv: Sequence[str]) -> None:
    """One effect with its interval; the file is read and checked, and nothing is charged."""
    parser = Parser(
        prog="engine effect",
        example="effect release.json --cause age --effect stage",
        description="What setting one column does to another, from a release's file alone.",
    )
    parser.add_argument("file", help="the release, a JSON file")
    parser.add_argument("--cause", metavar="COLUMN", required=True, help="the column that is set")
    parser.add_argument("--effect", metavar="COLUMN", required=True, help="what is looked at")
    parser.add_argument("--level", help="what the cause is set to (default: its yes, or its last)")
    parser.add_argument("--base", help="what that is compared with (default: its no, or its first)")
    parser.add_argument("--event", help="the level of the effect that is counted")
    parser.add_argument(
        "--sets", default=OPTIMAL, help=f"what to adjust for: {', '.join(SETS)} (default {OPTIMAL})"
    )
    add_json_flag(parser)
    args = parser.parse_args(argv)
    chosen = {name: getattr(args, name) for name in ("level", "base", "event", "sets")}
    found = effect(load(args.file), args.cause, args.effect, **chosen)
    if args.json:
        print(json.dumps(found.to_json()))
        return
    print("\n".join([sentence(found), *notes(found)]))
