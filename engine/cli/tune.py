"""``engine tune``."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from functools import partial
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
from engine.cli.interrupts import ending, watched
from engine.cli.studies import where_flags
from engine.data.dataset import Dataset
from engine.data.networks import NETWORKS, load_dataset
from engine.data.schema import load_schema
from engine.errors import InputError
from engine.params import Spec
from engine.serialise import plain
from engine.studies.plan import PlanRequest
from engine.studies.store import opened_store
from engine.studies.tune import FRESH, OBJECTIVES, SEEDS, Tuned, halves, tune, which_epsilon


def _parser(specs: Sequence[Spec]) -> Parser:
    parser = Parser(
        example="tune --dataset cancer --n 500 --epsilon 1 --over tweak --runs 20",
        description="Search for an algorithm's best parameters. The flag of a parameter fixes it.",
    )
    parser.add_argument(
        "--algorithm", default="priv_pc", help="one algorithm (default %(default)s)"
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "--dataset", help=f"bundled networks, separated by commas: {', '.join(NETWORKS)}"
    )
    which.add_argument(
        "--schema", metavar="FILE", help="search on random networks of this schema instead"
    )
    which.add_argument(
        "--release", metavar="FILE", help="search on synthetic rows of this release instead"
    )
    parser.add_argument("--held-out", help="other networks, on which the result is reported")
    parser.add_argument(
        "--n", type=int, default=100_000, help="rows to sample from each (default %(default)s)"
    )
    parser.add_argument("--data-seed", type=int, default=0, help="seed of the samples")
    parser.add_argument(
        "--over", help="parameters to search, separated by commas (default: all with a range)"
    )
    parser.add_argument(
        "--runs", type=int, default=200, help="at most this many runs (default %(default)s)"
    )
    parser.add_argument(
        "--objective",
        default="skeleton_f1",
        help=f"the score: {', '.join(OBJECTIVES)} (default %(default)s)",
    )
    parser.add_argument(
        "--target",
        type=float,
        help="also find the epsilon that reaches this score, at both settings",
    )
    parser.add_argument("--search-seed", type=int, default=0, help="random seed of the search")
    parser.add_argument(
        "--out", metavar="FILE", help="the study: keeps runs and reuses existing ones"
    )
    where_flags(parser, workers=1)
    add_knowledge_flag(parser, ready=True)
    add_json_flag(parser)
    add_parameter_flags(parser, specs)
    return parser


def tune_command(argv: Sequence[str]) -> int:
    """Find the best setting at an epsilon, and with a target the epsilon it needs."""
    (key,), specs = chosen_algorithms("engine tune", argv)
    args = _parser(specs).parse_args(argv)
    fixed = {s.name: "strict" for s in specs if s.name == "guarantee"} | values(args, specs)
    data, held_out = _data(args)
    over = [] if args.over is None else parts(args.over, "--over")
    answers: dict[str, Any] = {}
    with opened_store(args.out) as store, watched() as monitor:
        how: dict[str, Any] = {"store": store, **monitor.options}
        how |= {"executor": args.executor, "workers": args.workers, "objective": args.objective}
        how["knowledge"] = said(args)
        rest = {name: value for name, value in fixed.items() if name != "epsilon"}
        answer: Any = partial(which_epsilon, data[0], key, target=args.target, **how)
        if args.target is not None:
            answers["as asked"] = answer(rest)
            fixed.setdefault("epsilon", float(f"{answers['as asked'].epsilon or 1.0:.3g}"))
        search: Any = {"runs": args.runs, "held_out": held_out, "seed": args.search_seed, **how}
        found = tune(key, data, fixed, over, **search)
        if args.target is not None and found.better and not monitor.stopped():
            seeds = range(FRESH, FRESH + SEEDS)  # not used by the search
            answers["best setting"] = answer({**rest, **found.params}, seeds=seeds)
    if args.json:
        more = {name: answer.as_dict() for name, answer in answers.items()}
        print(json.dumps(as_dict(found) | ({"answers": more} if more else {})))
    else:
        luck = (
            ""
            if math.isnan(found.gap)
            else f"The search scored {found.gap:+.3f} more than fresh runs. "
        )
        first = [answer.sentence for answer in answers.values()]
        print(*first, f"{key}: {found.sentence}", f"{luck}{found.runs} runs.", sep="\n")
    return ending(monitor, args.out)


def _data(args: Any) -> tuple[list[Dataset], list[Dataset]]:
    """Return the data for the search, and the data for the reported result."""
    if args.held_out is not None and args.dataset is None:
        raise InputError(
            "--held-out can only be used with --dataset. With a schema or a release, half of the "
            "tables are searched, and the result is reported on the other half."
        )
    if args.schema is not None:
        schema = load_schema(args.schema)
        shape = PlanRequest(schema.names, schema.levels, args.n)
        return halves(partial(shape.dataset, seed=args.data_seed))
    if args.release is not None:
        from engine.release.door import load
        from engine.release.synthetic import synthetic

        return halves(partial(synthetic, load(args.release)[0], args.n))
    sampled = partial(load_dataset, n=args.n, seed=args.data_seed)
    others = [] if args.held_out is None else parts(args.held_out, "--held-out")
    return list(map(sampled, parts(args.dataset, "--dataset"))), list(map(sampled, others))


def as_dict(found: Tuned) -> dict[str, Any]:
    """Return the result for JSON, with null for NaN."""
    names = ("chosen", "fresh", "default", "gap", "better", "runs", "whole")
    content = {"algorithm": found.key, "fixed": found.fixed, "params": found.params}
    kept = plain({**content, **{name: getattr(found, name) for name in names}})
    whole: dict[str, Any] = json.loads(json.dumps(kept).replace('"nan"', "null"))
    return whole
