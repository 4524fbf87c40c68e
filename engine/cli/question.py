"""Flags of a question about an effect, asked before a release."""

from __future__ import annotations

import argparse

from engine.cli.flags import numbers, parts
from engine.errors import InputError
from engine.knowledge import Knowledge
from engine.question import SHARE, Question, Questions, load_questions, order_of_time


def add_effect_flags(parser: argparse._ActionsContainer) -> None:
    """Add the flags for cause, outcome and the compared levels."""
    parser.add_argument("--cause", metavar="COLUMN", help="column that is set")
    parser.add_argument("--outcome", metavar="COLUMN", help="outcome column")
    parser.add_argument(
        "--cause-level", metavar="LEVEL",
        help="level the cause is set to (default: yes, else the last level)",
    )  # fmt: skip
    parser.add_argument(
        "--reference", metavar="LEVEL",
        help="level it is compared with (default: no, else the first level)",
    )  # fmt: skip
    parser.add_argument(
        "--outcome-level", metavar="LEVEL", action="append",
        help="level of the outcome that is counted, or a range as '>= 350'; repeat it to count "
        "several (default: yes, else the last level)",
    )  # fmt: skip
    parser.add_argument(
        "--mean", action="store_true",
        help="compare means of the outcome by the schema's public numbers",
    )  # fmt: skip


def add_question_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags for a question to a command that charges."""
    group = parser.add_argument_group(
        "question", "the effect that the release is made for: it gets a share of the budget"
    )
    group.add_argument(
        "--questions", metavar="FILE", help="several questions, a JSON list; without other flags"
    )
    add_effect_flags(group)
    group.add_argument(
        "--values", metavar="NUMBERS", type=numbers,
        help="one number per level of the outcome, separated by commas: compares means",
    )  # fmt: skip
    group.add_argument(
        "--before", metavar="COLUMNS", help="columns before the cause, separated by commas"
    )
    group.add_argument(
        "--after", metavar="COLUMNS", help="columns after the cause, separated by commas"
    )
    group.add_argument("--adjust", metavar="COLUMNS", help="the adjustment set, if you know it")
    group.add_argument(
        "--share", type=float, default=SHARE, help=f"share of the budget (default {SHARE})"
    )
    group.add_argument(
        "--shares", metavar="P,P", type=numbers,
        help="public shares of the cause's level and of its reference, for the forecast",
    )  # fmt: skip


def questions_of(args: argparse.Namespace) -> Questions | None:
    """Return the question of the flags, or those of a file; None if there are none."""
    given = [name for name in ("cause", "outcome", "cause_level", "reference", "outcome_level",
                               "values", "before", "after", "adjust", "shares")
             if getattr(args, name) is not None]  # fmt: skip
    if args.questions is not None:
        if given or args.mean:
            raise InputError(
                "--questions takes no other flags of a question: write them in the JSON list."
            )
        return load_questions(args.questions)
    if args.cause is None or args.outcome is None:
        if given:
            raise InputError("A question needs --cause and --outcome.")
        return None
    if (args.cause_level is None) != (args.reference is None):
        raise InputError("Give --cause-level and --reference together.")
    counted = args.outcome_level
    return Question(
        cause=args.cause,
        outcome=args.outcome,
        levels=None if args.cause_level is None else (args.reference, args.cause_level),
        outcome_level=counted[0] if counted and len(counted) == 1 else counted,
        values=args.values,
        mean=args.mean,
        known=_order(args),
        adjust=None if args.adjust is None else tuple(parts(args.adjust, "--adjust")),
        share=args.share,
        shares=args.shares,
    )


def _order(args: argparse.Namespace) -> Knowledge | None:
    """Return the time order given by --before and --after; other columns are unconstrained."""
    before, after = (
        parts(text, flag) if text else []
        for text, flag in ((args.before, "--before"), (args.after, "--after"))
    )
    if args.outcome in before:
        raise InputError("The outcome cannot come before the cause.")
    return order_of_time(args.cause, args.outcome, before, after)
