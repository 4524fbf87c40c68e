"""``python -m engine tune``."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
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
from engine.cli.studies import executor_of, progress_line, where_flags
from engine.data.dataset import Dataset
from engine.data.networks import NETWORKS, load_dataset
from engine.data.schema import load_schema
from engine.errors import InputError
from engine.params import Spec
from engine.registry import declared
from engine.studies.plan import PlanRequest
from engine.studies.store import held
from engine.studies.trial import knowing
from engine.studies.tune import (
    FRESH,
    OBJECTIVES,
    SEEDS,
    Answer,
    Score,
    Tuned,
    tune,
    which_epsilon,
)

NETWORKS_DRAWN = 3  # of a schema, to search on, and as many to report on


def _parser(specs: Sequence[Spec]) -> Parser:
    parser = Parser(
        prog="engine tune",
        example="tune --dataset cancer --n 500 --epsilon 1 --over tweak --runs 20",
        description="Search for an algorithm's best parameters; flags of parameters fix them.",
    )
    parser.add_argument("--algorithm", default="priv_pc", help="one algorithm")
    parser.add_argument("--dataset", help=f"with commas: {', '.join(NETWORKS)}")
    parser.add_argument(
        "--schema", metavar="FILE", help="search on random networks of this schema instead"
    )
    parser.add_argument("--held-out", help="networks to report the result on, not searched on")
    parser.add_argument("--n", type=int, default=100_000, help="rows to sample from each")
    parser.add_argument("--data-seed", type=int, default=0, help="seed of the samples")
    parser.add_argument("--over", help="parameters to search over (default: all with a range)")
    parser.add_argument("--runs", type=int, default=200, help="of the search, at most")
    parser.add_argument("--objective", default="skeleton_f1", help=", ".join(OBJECTIVES))
    parser.add_argument(
        "--target", type=float, help="also: which epsilon reaches this, at both settings"
    )
    parser.add_argument("--search-seed", type=int, default=0, help="seed of what is tried")
    parser.add_argument("--out", metavar="FILE", help="keep runs here; what is there is reused")
    parser.add_argument(
        "--figure", metavar="FILE", help="with --target: draw it, a .pdf, .svg or .png"
    )
    where_flags(parser, workers=1)
    add_knowledge_flag(parser, ready=True)
    add_json_flag(parser)
    add_parameter_flags(parser, specs)
    return parser


def tune_command(argv: Sequence[str]) -> int:
    """The best setting at an epsilon, and with a target the epsilon it needs."""
    keys = chosen_algorithms("engine tune", argv)
    if len(keys) != 1:
        raise InputError("engine tune takes one algorithm.")
    specs = list(declared(keys).values())
    args = _parser(specs).parse_args(argv)
    fixed: dict[str, Any] = (
        {"guarantee": "strict"} if any(s.name == "guarantee" for s in specs) else {}
    )
    fixed |= values(args, specs)
    if args.figure is not None and args.target is None:
        raise InputError("--figure draws what --target finds; give both.")
    data, held_out = _data(args)
    answers: dict[str, Answer] = {}
    with held(args.out) as store, interruptible() as cancelled, progress_line() as progress:
        how: dict[str, Any] = {"store": store, "cancelled": cancelled, "on_progress": progress}
        how |= executor_of(args)
        rest = {name: value for name, value in fixed.items() if name != "epsilon"}
        asked = {"target": args.target, "objective": args.objective}
        if args.target is not None:
            answers["as asked"] = which_epsilon(data[0], keys[0], rest, **asked, **how)
            needed = answers["as asked"].epsilon
            fixed.setdefault("epsilon", float(f"{needed or 1.0:.3g}"))
        found = tune(
            keys[0],
            data,
            fixed,
            [] if args.over is None else parts(args.over, "--over"),
            runs=args.runs,
            objective=args.objective,
            held_out=held_out,
            seed=args.search_seed,
            **how,
        )
        if args.target is not None and found.better and not cancelled():
            best = {**rest, **found.params}  # on seeds that the search did not use
            seeds = range(FRESH, FRESH + SEEDS)
            answers["best setting"] = which_epsilon(
                data[0], keys[0], best, seeds=seeds, **asked, **how
            )
    if args.json:
        more = {name: answer.as_dict() for name, answer in answers.items()}
        print(json.dumps(as_dict(found) | ({"answers": more} if more else {})))
    else:
        print("\n".join([answer.sentence for answer in answers.values()] + lines(found)))
    if args.figure is not None:
        from engine.studies.figures import answers_figure  # here: it loads pandas

        out = Path(args.figure)
        for path in answers_figure(answers, kind=out.suffix.lstrip(".").lower()).write(out):
            print(path, file=sys.stderr)
    return ending(cancelled, args.out)


def _data(args: Any) -> tuple[list[Dataset], list[Dataset]]:
    """What is searched on, and what the result is reported on."""
    known = said(args)
    if (args.dataset is None) == (args.schema is None):
        raise InputError("Give --dataset or --schema.")
    if args.schema is not None:
        schema = load_schema(args.schema)
        request = PlanRequest(schema.names, schema.levels, args.n)
        drawn = [request.dataset(draw, args.data_seed) for draw in range(2 * NETWORKS_DRAWN)]
        return drawn[:NETWORKS_DRAWN], drawn[NETWORKS_DRAWN:]
    searched, others = (
        [
            knowing(load_dataset(name, n=args.n, seed=args.data_seed), known)
            for name in ([] if text is None else parts(text, flag))
        ]
        for text, flag in ((args.dataset, "--dataset"), (args.held_out, "--held-out"))
    )
    return searched, others


def as_dict(found: Tuned) -> dict[str, Any]:
    """What was found, for JSON."""
    scores = {name: _score(getattr(found, name)) for name in ("chosen", "fresh", "default")}
    names = ("better", "runs", "whole")
    return {
        "algorithm": found.key,
        "fixed": dict(found.fixed),
        "params": dict(found.params),
        **scores,
        "gap": _known(found.gap),
        **{name: getattr(found, name) for name in names},
    }


def _score(score: Score) -> dict[str, Any]:
    return {"mean": _known(score.mean), "error": _known(score.error), "runs": score.runs}


def _known(value: float) -> float | None:
    """JSON has no word for what is no number."""
    return None if math.isnan(value) else value


def lines(found: Tuned) -> list[str]:
    """A search's outcome for the terminal."""
    luck = "" if math.isnan(found.gap) else f"It looked {found.gap:+.3f} better than it is. "
    return [f"{found.key}: {found.sentence}", f"{luck}{found.runs} runs."]
