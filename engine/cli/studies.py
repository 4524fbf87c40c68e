"""``python -m engine sweep | reproduce``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine.cli.flags import (
    Parser,
    add_dataset_flags,
    add_json_flag,
    add_knowledge_flag,
    add_parameter_flags,
    aligned,
    chosen_algorithms,
    datasets,
    given,
    parts,
    said,
)
from engine.cli.interrupts import ending, interruptible
from engine.errors import InputError
from engine.params import Spec
from engine.registry import ALGORITHMS, declared
from engine.studies.cells import CellResult
from engine.studies.known import ALONE, beside, knowing
from engine.studies.planning import all_unworkable
from engine.studies.sweep import Progress, sweep


def _where_flags(parser: argparse.ArgumentParser, workers: int) -> None:
    parser.add_argument(
        "--workers",
        type=int,
        default=workers,
        help="processes (1: this one alone; default %(default)s)",
    )
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="run on a Dask cluster, e.g. tcp://host:8786"
    )


def _executor(args: argparse.Namespace) -> dict[str, Any]:
    if args.workers < 1:
        raise InputError(f"--workers must be at least 1; {args.workers} is not.")
    if args.scheduler is not None:
        if "://" not in args.scheduler:
            raise InputError(
                f"--scheduler takes an address such as tcp://host:8786; {args.scheduler!r} is not."
            )
        return {"executor": args.scheduler}
    if args.workers == 1:
        return {"executor": "serial"}
    return {"executor": "processes", "workers": args.workers}


# sweep -------------------------------------------------------------------------------


def _sweep_parser(specs: Sequence[Spec]) -> Parser:
    parser = Parser(
        prog="engine sweep",
        description="Run datasets x algorithms x parameters x seeds; lists with commas.",
        example="sweep --dataset cancer --n 2000 --algorithm priv_pc,marginal_pc --epsilon 1,10 "
        "--seeds 2 --out study.db",
        allow_abbrev=False,
    )
    add_dataset_flags(parser, many=True)
    parser.add_argument("--algorithm", default="priv_pc", help=", ".join(ALGORITHMS))
    parser.add_argument("--seeds", type=int, default=5, help="how many seeds, from 0 on")
    parser.add_argument("--out", metavar="FILE", help="keep results here; what is there is reused")
    parser.add_argument(
        "--repair", action="store_true", help="compute damaged rows of the file again"
    )
    add_json_flag(parser, "print one JSON array, one object a run")
    _where_flags(parser, workers=1)
    add_knowledge_flag(parser, ready=True)
    add_parameter_flags(parser, specs, many=True)
    return parser


def sweep_command(argv: Sequence[str]) -> int:
    """Run a study; a table or JSON on standard output, progress on standard error."""
    keys = chosen_algorithms("engine sweep", argv)
    specs = list(declared(keys).values())
    args = _sweep_parser(specs).parse_args(argv)
    texts = given(args, specs)
    grid = {
        s.name: [s.parse(part) for part in parts(texts[s.name], f"--{s.name}")]
        for s in specs
        if s.name in texts
    }
    with interruptible() as cancelled, _progress_line() as progress:
        where = _executor(args)
        told = [knowing(data, said(args)) for data in datasets(args)]
        shapes = [(data.cardinalities, data.n) for data in told]
        first = {name: values[0] for name, values in grid.items()}
        epsilons = grid.get("epsilon", [1.0])
        for bad in all_unworkable(keys, shapes, epsilons, first):
            print(bad, file=sys.stderr)
        results = sweep(
            told,
            keys,
            grid,
            args.seeds,
            store=args.out,
            repair=args.repair,
            cancelled=cancelled,
            on_progress=progress,
            **where,
        )
        finished = list(results)
    column = beside(told)
    print(_as_json(finished, column) if args.json else _as_table(finished, column))
    return ending(cancelled, args.out)


Column = Callable[[CellResult], Mapping[str, object]]


def _as_json(results: Sequence[CellResult], column: Column) -> str:
    ordered = sorted(results, key=lambda r: r.cell.key)
    return json.dumps([{**r.as_dict(), **column(r)} for r in ordered])


def _as_table(results: Sequence[CellResult], column: Column) -> str:
    if not results:
        return "Nothing was finished."
    from engine.studies.analysis import frame, summary

    table = frame(results, column)
    note = "Skeleton F1: median with the 10th and 90th percentile; the others: medians."
    if ALONE in table:
        note += " Known arrows alone: directed F1 of the same links with no others."
    return "\n".join([*aligned(summary(table)), note])


# reproduce ---------------------------------------------------------------------------


def reproduce_command(argv: Sequence[str]) -> int:
    """Reproduce a table or figure of the papers into a folder."""
    from engine.papers.report import Work
    from engine.papers.reproduce import STUDIES, reproduce

    parser = Parser(
        prog="engine reproduce",
        description="Reproduce a table or figure of the papers, with their numbers beside ours.",
        example="reproduce table2 --n 1000 --seeds 1 --workers 1 --out table2",
        allow_abbrev=False,
    )
    parser.add_argument("name", help=", ".join(STUDIES))
    parser.add_argument("--out", metavar="DIR", required=True, help="folder for the files")
    parser.add_argument("--seeds", type=int, help="how many seeds (default: as the paper)")
    parser.add_argument("--n", type=int, default=100_000, help="rows of each dataset")
    parser.add_argument(
        "--pairs", metavar="FILE", help="your copy of the cdt 0.6.0 wheel, for pairs-*"
    )
    _where_flags(parser, workers=2)
    args = parser.parse_args(argv)
    if args.seeds is not None and args.seeds < 1:
        raise InputError(f"--seeds must be at least 1; {args.seeds} is not.")
    with interruptible() as cancelled, _progress_line() as progress:
        work = Work(
            Path(args.out),
            seeds=args.seeds,
            n=args.n,
            pairs=None if args.pairs is None else Path(args.pairs),
            cancelled=cancelled,
            on_progress=progress,
            **_executor(args),
        )
        try:
            written = reproduce(args.name, work)
        except KeyboardInterrupt:
            return ending(cancelled, args.out)
    for path in written:
        print(path)
    return 0


# What both share ---------------------------------------------------------------------


@contextmanager
def _progress_line() -> Iterator[Callable[[Progress], None] | None]:
    """A line on standard error that is rewritten in place, if that is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return

    def show(p: Progress) -> None:
        left = "" if p.left is None else f", about {p.left:.0f} s left"
        reused = f", {p.reused} reused" if p.reused else ""
        print(f"\r\033[K{p.done}/{p.total} runs{reused}{left}", end="", file=sys.stderr, flush=True)

    try:
        yield show
    finally:
        print(file=sys.stderr)
