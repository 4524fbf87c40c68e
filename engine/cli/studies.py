"""``engine sweep``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from engine.cli.flags import (
    USUAL,
    Parser,
    add_dataset_flags,
    add_json_flag,
    add_knowledge_flag,
    add_parameter_flags,
    at_least,
    chosen_algorithms,
    datasets,
    given,
    parts,
    said,
)
from engine.cli.interrupts import ending, watched
from engine.data.dataset import Dataset
from engine.params import Spec
from engine.percent import count
from engine.studies.detectability import Shape, unworkable
from engine.studies.study import sweep
from engine.studies.trial import TrialResult, knowing
from engine.words.run import together

if TYPE_CHECKING:  # imports pandas
    from engine.studies.tune import Answer


def where_flags(parser: argparse.ArgumentParser, workers: int) -> None:
    """Add the flags that choose where runs are executed."""
    parser.add_argument(
        "--workers",
        type=at_least(1),
        default=workers,
        help="worker processes; 1 uses this process only (default %(default)s)",
    )
    parser.add_argument(
        "--scheduler",
        dest="executor",
        metavar="ADDRESS",
        default="processes",
        help="run on a Dask cluster, e.g. tcp://host:8786",
    )


# sweep -------------------------------------------------------------------------------


def _sweep_parser(specs: Sequence[Spec]) -> Parser:
    parser = Parser(
        description="Run every combination of datasets, algorithms, parameters and seeds. Each of "
        "these flags takes a list with commas, as in --epsilon 0.5,1,2.",
        example="sweep --dataset cancer --n 2000 --algorithm priv_pc,marginal_pc --epsilon 1,10 "
        "--seeds 2 --out study.db",
    )
    add_dataset_flags(parser, many=True)
    parser.add_argument("--algorithm", help=USUAL)
    parser.add_argument("--seeds", type=int, help="number of seeds, from 0 on (default 5)")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="the study: keeps results and reuses existing ones (runs on your own table are "
        "repeated)",
    )
    parser.add_argument(
        "--target",
        type=float,
        help="find the epsilon that reaches this skeleton F1 (20 seeds, 9 to 12 epsilons)",
    )
    add_json_flag(parser, "print one JSON array, one object per run")
    where_flags(parser, workers=1)
    add_knowledge_flag(parser, ready=True)
    add_parameter_flags(parser, specs, many=True)
    return parser


def sweep_command(argv: Sequence[str]) -> int:
    """Run a study; print a table or JSON on standard output, progress on standard error."""
    keys, specs = chosen_algorithms("engine sweep", argv, many=True)
    args = _sweep_parser(specs).parse_args(argv)
    texts = given(args, specs)
    grid = {
        s.name: [s.parse(part) for part in parts(texts[s.name], f"--{s.name}")]
        for s in specs
        if s.name in texts
    }
    if args.target is not None:
        from engine.studies.tune import EPSILONS, SEEDS, check_target, public  # imports pandas

        check_target(args.target)  # check before the first run
        grid.setdefault("epsilon", list(EPSILONS))
        args.seeds = SEEDS if args.seeds is None else args.seeds
    seeds = 5 if args.seeds is None else args.seeds
    with watched() as monitor:
        several = [knowing(data, said(args)) for data in datasets(args)]
        if args.target is not None:
            public(several)  # refuses private data, which would cost ε per run
        first = {name: some if name == "epsilon" else some[0] for name, some in grid.items()}
        for bad in unworkable(keys, list(map(Shape.of, several)), first):
            print(bad, file=sys.stderr)
        how: Any = {"store": args.out, "executor": args.executor, "workers": args.workers}
        runs = sweep(several, keys, grid, seeds, **monitor.options, **how)
        finished = list(runs)
        if args.target is not None:
            answers = _answers(finished, several, args.target, {**monitor.options, **how})
    if args.target is not None and finished:
        as_json = json.dumps([answer.as_dict() for answer in answers])
        print(as_json if args.json else "\n".join(answer.sentence for answer in answers))
    else:
        print(_as_json(finished) if args.json else _as_table(finished))
    for data in several:
        if not data.public:
            spent = [run.proven for run in finished if run.fingerprint == data.identity]
            cost = f"{count(len(spent), 'run')}, together {together(spent)}"
            print(f"{data.name}: {cost}.", file=sys.stderr)
    return ending(monitor, args.out)


def _answers(
    results: Sequence[TrialResult],
    several: Sequence[Dataset],
    target: float,
    how: Mapping[str, Any],
) -> list[Answer]:
    """Return the epsilon needed for each dataset, algorithm and setting."""
    from engine.studies.tune import narrowed

    groups: dict[tuple[str, str, str], list[TrialResult]] = {}
    for result in results:
        rest = {name: v for name, v in result.values.items() if name != "epsilon"}
        key = result.fingerprint, result.algorithm, json.dumps(rest, sort_keys=True)
        groups.setdefault(key, []).append(result)
    data = {one.identity: one for one in several}
    return [
        narrowed(data[fingerprint], some, target, "skeleton_f1", **how)
        for (fingerprint, *_), some in groups.items()
        if "epsilon" in some[0].values
    ]


def _as_json(results: Sequence[TrialResult]) -> str:
    order = attrgetter("fingerprint", "algorithm", "params", "seed", "version")
    return json.dumps([r.as_dict() for r in sorted(results, key=order)])


def _as_table(results: Sequence[TrialResult]) -> str:
    if not results:
        return "No run finished."
    from engine.studies.summary import frame, summary  # local import: pandas

    table = summary(frame(results))
    note = "Skeleton F1: median with the 10th and 90th percentile; the others: medians."
    note = note if "low" in table else "Medians over the runs."
    return "\n".join([table.to_string(index=False, na_rep="-", float_format="{:.4g}".format), note])
