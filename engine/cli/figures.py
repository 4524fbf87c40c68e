"""``engine figure | merge | table``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.cli.flags import Parser, parts
from engine.errors import InputError
from engine.release.places import check_place
from engine.studies.store import ResultStore
from engine.studies.summary import QUANTITIES, frame, runs_table
from engine.studies.trial import TrialResult


def _runs(path: str) -> list[TrialResult]:
    """Return a study's runs; raises InputError if the file does not exist."""
    if not Path(path).is_file():
        raise InputError(f"There is no study {path}.")
    with ResultStore(path) as store:
        return list(store.results())


def figure_command(argv: Sequence[str]) -> int:
    """Draw a study's curves as a file for a paper, with caption and numbers."""
    parser = Parser(
        example="figure curves.db --out curves.pdf",
        description="Draw a study's curves for a paper: PDF, SVG or PNG by the ending of --out.",
    )
    parser.add_argument("study", metavar="FILE", help="a study, written by engine sweep --out")
    parser.add_argument(
        "--y", default="tested_skeleton_f1", help=f"the quantity: {', '.join(QUANTITIES)}"
    )
    parser.add_argument("--algorithm", help="algorithms, separated by commas (default: all)")
    parser.add_argument(
        "--columns", type=int, default=1, help="width in columns of the paper: 1 or 2"
    )
    parser.add_argument("--n", type=int, help="rows of the data, for the caption")
    parser.add_argument("--out", required=True, metavar="FILE", help="curves.pdf, .svg or .png")
    args = parser.parse_args(argv)
    from engine.studies.figures import figure  # local import: only figures need matplotlib

    out = Path(args.out)
    table = frame(_runs(args.study))
    if args.algorithm is not None:
        table = table[table["algorithm"].isin(parts(args.algorithm, "--algorithm"))]
    if table.empty:
        raise InputError(f"{args.study} has no run of this algorithm.")
    rows = {} if args.n is None else dict.fromkeys(table["dataset"], args.n)
    how: Any = {"kind": out.suffix.lstrip(".").lower(), "columns": args.columns, "rows": rows}
    files = figure(table, args.y, **how).files(out)
    for path, content in files.items():
        if not path.is_file() or path.read_bytes() != content:  # both formats share one caption
            check_place(path)
    for path, content in files.items():
        path.write_bytes(content)
        print(path)
    return 0


def merge_command(argv: Sequence[str]) -> int:
    """Merge studies into one file; refuses two results of one run."""
    parser = Parser(example="merge curves.db more.db --out both.db",
                    description="Put the runs of several studies into one file.")  # fmt: skip
    parser.add_argument("studies", nargs="+", metavar="FILE", help="two or more studies")
    parser.add_argument("--out", required=True, metavar="FILE", help="a new file")
    args = parser.parse_args(argv)
    if len(args.studies) < 2 or Path(args.out).exists():
        raise InputError(f"Give two or more studies, and a new file for --out, not {args.out}.")
    runs = {run.key: run for path in args.studies for run in _runs(path)}
    for path in args.studies:
        if any(run.fixed() != replace(runs[run.key], dataset=run.dataset).fixed()
               for run in _runs(path)):  # fmt: skip
            raise InputError(f"{path} and another study have different results of the same run.")
    with ResultStore(args.out) as store:
        store.put(runs.values())
    print(f"{args.out}: {len(runs):,} runs of {len(args.studies)} studies.")
    return 0


def table_command(argv: Sequence[str]) -> int:
    """Write a study's runs as a table: Parquet for pandas and DuckDB, or CSV."""
    parser = Parser(example="table curves.db --out runs.parquet",
                    description="Write one row per run.")  # fmt: skip
    parser.add_argument("study", metavar="FILE", help="a study, written by engine sweep --out")
    parser.add_argument("--out", required=True, metavar="FILE", help="runs.parquet or runs.csv")
    args = parser.parse_args(argv)
    out = Path(args.out)
    check_place(out)
    out.write_bytes(runs_table(frame(_runs(args.study)), out.suffix.lstrip(".").lower()))
    print(out)
    return 0
