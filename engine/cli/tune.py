"""``python -m engine tune``."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from engine.cli.flags import (
    Parser,
    add_json_flag,
    add_knowledge_flag,
    add_parameter_flags,
    chosen_algorithms,
    parts,
    said,
    values,
)
from engine.cli.interrupts import ending, interruptible
from engine.data.networks import NETWORKS, load_dataset
from engine.errors import InputError
from engine.params import Spec
from engine.registry import declared
from engine.studies.known import knowing
from engine.studies.store import held
from engine.studies.tuning import OBJECTIVES, Least, Score, Search, Tuned, bounds, least_epsilon


def _parser(specs: Sequence[Spec]) -> Parser:
    parser = Parser(
        prog="engine tune",
        example="tune --dataset cancer --n 500 --epsilon 1 --over tweak --runs 20",
        description="Search for an algorithm's best parameters on public networks; flags of "
        "parameters fix them.",
        allow_abbrev=False,
    )
    parser.add_argument("--algorithm", default="priv_pc", help="one algorithm")
    parser.add_argument("--dataset", required=True, help=f"with commas: {', '.join(NETWORKS)}")
    parser.add_argument("--elsewhere", help="networks to tell the result on, unseen by the search")
    parser.add_argument("--n", type=int, default=5_000, help="rows to sample from each")
    parser.add_argument("--data-seed", type=int, default=0, help="seed of the samples")
    parser.add_argument("--over", help="parameters to search over (default: all with a range)")
    parser.add_argument("--runs", type=int, default=200, help="of one search, at most")
    parser.add_argument("--objective", default="skeleton_f1", help=", ".join(OBJECTIVES))
    parser.add_argument("--target", type=float, help="find the least epsilon that reaches this")
    parser.add_argument("--search-seed", type=int, default=0, help="seed of what is tried")
    parser.add_argument("--out", metavar="FILE", help="keep runs here; what is there is reused")
    parser.add_argument(
        "--figure", metavar="FILE", help="with --target: draw it, a .pdf, .svg or .png"
    )
    add_knowledge_flag(parser, ready=True)
    add_json_flag(parser)
    add_parameter_flags(parser, specs)
    return parser


def tune_command(argv: Sequence[str]) -> int:
    """Good settings for a budget, or the least budget for a score; told on runs not used."""
    keys = chosen_algorithms("engine tune", argv)
    if len(keys) != 1:
        raise InputError("engine tune takes one algorithm.")
    specs = list(declared(keys).values())
    args = _parser(specs).parse_args(argv)
    fixed = {"guarantee": "strict"} if any(s.name == "guarantee" for s in specs) else {}
    fixed |= values(args, specs)
    if args.target is not None and "epsilon" in fixed:
        raise InputError("Give --epsilon or --target, not both.")
    if args.figure is not None and args.target is None:
        raise InputError("--figure draws what --target finds; give both.")
    with held(args.out) as store, interruptible() as cancelled:
        make = partial(_search, keys[0], args, store, cancelled)
        if args.target is None:
            found: Tuned | Least = make(fixed).tune()
        else:
            found = least_epsilon(
                args.target, lambda e: make({**fixed, "epsilon": e}), cancelled=cancelled
            )
    if sys.stderr.isatty():
        print(file=sys.stderr)
    if args.json:
        print(json.dumps(as_dict(found)))
    else:
        print("\n".join(_lines(found, OBJECTIVES[args.objective])))
    if isinstance(found, Least) and args.figure is not None and found.found:
        _draw(found, args)
    return ending(cancelled, args.out)


def _draw(found: Least, args: argparse.Namespace) -> None:
    """The figure of ``--figure``, its caption and its numbers."""
    from engine.studies.figures import listed  # here: they load pandas
    from engine.studies.tuned_figures import least_figure

    out = Path(args.figure)
    names = parts(args.elsewhere or args.dataset, "--dataset")
    where = f"{listed(names)} (n = {args.n:,})"
    kind = out.suffix.lstrip(".").lower()
    for path in least_figure(found, OBJECTIVES[args.objective], where, kind=kind).write(out):
        print(path, file=sys.stderr)


def _search(
    key: str,
    args: argparse.Namespace,
    store: Any,
    cancelled: Callable[[], bool],
    fixed: dict[str, Any],
) -> Search:
    known = said(args)

    def data(flag: str) -> list[Any]:
        text = getattr(args, flag)
        named = [] if text is None else parts(text, f"--{flag}")
        sampled = (load_dataset(name, n=args.n, seed=args.data_seed) for name in named)
        return [knowing(each, known) for each in sampled]

    search = Search(
        key,
        data("dataset"),
        fixed,
        [] if args.over is None else parts(args.over, "--over"),
        runs=args.runs,
        objective=args.objective,
        elsewhere=data("elsewhere"),
        target=args.target,
        store=store,
        seed=args.search_seed,
        cancelled=cancelled,
        on_progress=lambda done, planned: _progress(done, planned, search.left),
    )
    return search


def _progress(done: int, planned: int, left: float | None) -> None:
    if sys.stderr.isatty():
        words = "" if left is None else f", about {left:.0f} s left"
        print(f"\r\033[K{done}/{planned} runs{words}", end="", file=sys.stderr, flush=True)


def as_dict(found: Tuned | Least) -> dict[str, Any]:
    """The whole answer for JSON."""
    if isinstance(found, Least):
        return {
            "target": found.target,
            "least_epsilon": {"may": found.may, "will": found.will},
            "whole": found.whole,
            "tried": [{"epsilon": e, **as_dict(t)} for e, t in found.found.items()],
        }
    scores = {
        name: _score(getattr(found, name))
        for name in ("chosen", "fresh", "default", "elsewhere", "default_elsewhere", "alone")
    }
    return {
        "algorithm": found.key,
        "fixed": dict(found.fixed),
        "params": dict(found.params),
        **scores,
        "gap": _known(found.gap),
        "runs": found.runs,
        "whole": found.whole,
    }


def _score(score: Score | None) -> dict[str, Any] | None:
    if score is None:
        return None
    return {"mean": _known(score.mean), "error": _known(score.error), "runs": score.runs}


def _known(value: float) -> float | None:
    """JSON has no word for what is no number."""
    return None if math.isnan(value) else value


def _lines(found: Tuned | Least, what: str) -> list[str]:
    if isinstance(found, Tuned):
        return told(found, what)
    rows = [f"{what} {found.target:g}: {_range(found)}"]
    for epsilon, one in found.found.items():
        score = one.elsewhere or one.fresh
        rows.append(f"ε = {epsilon:<7g} {_number(score)}  {_setting(one)}")
    rows.append("Each ε with the parameters tuned for it; scores on runs that no search used.")
    return rows


def _range(found: Least) -> str:
    if not found.whole:
        return f"stopped before it was known{bounds(found)}."
    if found.may is None:
        return "no ε tried reaches it."
    if found.will is None:
        return f"ε = {found.may:g} may reach it; none tried surely does."
    if found.may == found.will:
        return f"reached from ε = {found.may:g} on."
    return f"reached from somewhere between ε = {found.may:g} and {found.will:g} on."


def told(found: Tuned, what: str) -> list[str]:
    """A search's outcome for the terminal."""
    rows = [
        f"{found.key}: {_setting(found)}",
        f"{what} where it was chosen   {_number(found.chosen)}",
        f"{what} on fresh seeds        {_number(found.fresh)}  (default {_number(found.default)})",
    ]
    if found.elsewhere is not None and found.default_elsewhere is not None:
        away = f"{_number(found.elsewhere)}  (default {_number(found.default_elsewhere)})"
        rows.append(f"{what} on other networks    {away}")
    if found.alone is not None:
        rows.append(f"Directed F1 with known arrows alone   {_number(found.alone)}")
    luck = "" if math.isnan(found.gap) else f"It looked {found.gap:+.3f} better than it is. "
    rows.append(f"{luck}{found.runs} runs.")
    return rows if found.whole else [*rows, "Stopped early: what was known by then."]


def _setting(found: Tuned) -> str:
    values = ", ".join(f"{name} = {value}" for name, value in found.params.items())
    return values or "the default setting"


def _number(score: Score) -> str:
    if score.runs < 2:
        return f"{score.mean:.3f}" if score.runs else "not known"
    return f"{score.mean:.3f} ± {score.error:.3f}"
