"""``engine effect``: the effect of one column on another, from a release's file."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.cli.flags import Parser, add_json_flag, add_knowledge_flag, known
from engine.cli.question import add_effect_flags
from engine.effects.adjustment import OPTIMAL, SETS
from engine.effects.effect import Effect
from engine.errors import InputError
from engine.release.file import canonical
from engine.release.make import BudgetedRelease, load_release
from engine.release.places import check_place, save


def effect_command(argv: Sequence[str]) -> None:
    """Print one effect with its interval; the file is checked, and nothing is charged.

    Without a cause and an outcome, it answers the questions stored in the release.
    """
    parser = Parser(
        example="effect release.json --cause age --outcome stage",
        description="Estimate what setting one column does to another, from a release's file. "
        "Without --cause and --outcome it answers the questions of the release.",
    )
    parser.add_argument("file", help="the release, a JSON file")
    add_effect_flags(parser)
    parser.add_argument(
        "--adjustment", default=OPTIMAL, metavar="SET",
        help=f"adjustment set: {', '.join(SETS)} (default {OPTIMAL})",
    )  # fmt: skip
    add_knowledge_flag(parser)
    parser.add_argument(
        "--out", metavar="FILE", help="also write the release with that knowledge applied"
    )
    add_json_flag(parser)
    args = parser.parse_args([_current(word) for word in argv])
    chosen = ("cause_level", "reference", "outcome_level", "mean", "adjustment")
    paid = load_release(args.file)
    if (facts := known(args)) is None and args.out is not None:
        raise InputError("--out writes the release with its knowledge: give --knowledge.")
    if facts is not None:
        paid = paid.with_knowledge(facts)
    if args.out is not None:
        check_place(Path(args.out))
    found = _asked(paid, args.cause, args.outcome, {name: getattr(args, name) for name in chosen})
    if args.out is not None:
        save(canonical(paid.release), Path(args.out))
    if args.json:
        values = [each.to_json() for each in found]
        print(json.dumps(values[0] if len(values) == 1 else values))
    else:
        print("\n".join(line for each in found for line in (each.sentence, *each.notes)))


_RENAMED = {"--effect": "--outcome", "--level": "--cause-level", "--base": "--reference",
            "--event": "--outcome-level", "--sets": "--adjustment"}  # fmt: skip


def _current(word: str) -> str:
    """Rename a flag of version 0.3, with a warning; return other words unchanged."""
    flag, *value = word.split("=", 1)
    if flag not in _RENAMED:
        return word
    print(f"{flag} is called {_RENAMED[flag]}; version 0.5 refuses {flag}.", file=sys.stderr)
    return "=".join([_RENAMED[flag], *value])


def _asked(
    paid: BudgetedRelease, cause: str | None, outcome: str | None, chosen: dict[str, Any]
) -> tuple[Effect, ...]:
    if cause is not None and outcome is not None:
        return (paid.effect(cause, outcome, **chosen),)
    given = [value for name, value in chosen.items() if name != "adjustment" and value]
    if cause is not None or outcome is not None or given or not paid.release.schema.questions:
        raise InputError("An effect needs --cause and --outcome.")
    return paid.answers
