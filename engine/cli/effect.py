"""``python -m engine effect``: what setting one column does to another, from a release's file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from engine.cli.flags import Parser, add_json_flag, add_knowledge_flag, known
from engine.effects.adjustment import OPTIMAL, SETS
from engine.errors import InputError
from engine.release.file import canonical
from engine.release.make import load_release
from engine.release.places import check_place, save


def effect_command(argv: Sequence[str]) -> None:
    """One effect with its interval; the file is read and checked, and nothing is charged."""
    parser = Parser(
        example="effect release.json --cause age --effect stage",
        description="What setting one column does to another, from a release's file alone.",
    )
    parser.add_argument("file", help="the release, a JSON file")
    parser.add_argument("--cause", metavar="COLUMN", required=True, help="the column that is set")
    parser.add_argument("--effect", metavar="COLUMN", required=True, help="what is looked at")
    parser.add_argument("--level", help="what the cause is set to (default: its yes, or its last)")
    parser.add_argument("--base", help="what that is compared with (default: its no, or its first)")
    parser.add_argument("--event", help="the level that is counted (default: as --level)")
    parser.add_argument(
        "--sets", default=OPTIMAL, help=f"what to adjust for: {', '.join(SETS)} (default {OPTIMAL})"
    )
    add_knowledge_flag(parser)
    parser.add_argument(
        "--out", metavar="FILE", help="also write the release with that knowledge applied"
    )
    add_json_flag(parser)
    args = parser.parse_args(argv)
    chosen = {name: getattr(args, name) for name in ("level", "base", "event", "sets")}
    paid = load_release(args.file)
    if (facts := known(args)) is None and args.out is not None:
        raise InputError("--out writes the release with what is known: give --knowledge.")
    if facts is not None:
        paid = paid.with_knowledge(facts)
    if args.out is not None:
        check_place(Path(args.out))
    found = paid.effect(args.cause, args.effect, **chosen)
    if args.out is not None:
        save(canonical(paid.release), Path(args.out))
    print(json.dumps(found.to_json()) if args.json else "\n".join([found.sentence, *found.notes]))
