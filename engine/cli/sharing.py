"""``python -m engine merge | table``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.cli.flags import Parser
from engine.errors import InputError
from engine.studies.sharing import joined, runs_table
from engine.studies.store import ResultStore


def _read(path: str) -> tuple[list[Any], dict[str, Any]]:
    """A file's runs, and what its studies asked for; InputError where there is none."""
    if not Path(path).is_file():
        raise InputError(f"There is no study {path}.")
    with ResultStore(path) as store:
        found = list(store.results()), store.studies()
        if store.damaged:
            raise InputError(f"{path} has a damaged row ({store.damaged[0]}); repair it first.")
    return found


def merge_command(argv: Sequence[str]) -> int:
    """Two studies or more as one file; what does not fit together is refused."""
    parser = Parser(
        prog="engine merge",
        example="merge curves.db more.db --out both.db",
        description="Put the runs of several studies into one file.",
        allow_abbrev=False,
    )
    parser.add_argument("studies", nargs="+", metavar="FILE", help="two files or more")
    parser.add_argument("--out", required=True, metavar="FILE", help="a file that is not there yet")
    args = parser.parse_args(argv)
    if len(args.studies) < 2:
        raise InputError("Give at least two studies.")
    if Path(args.out).exists():
        raise InputError(f"{args.out} is there already; give another name.")
    read = {path: _read(path) for path in args.studies}
    results = joined(*((path, runs) for path, (runs, _) in read.items()))
    with ResultStore(args.out) as store:
        store.put(results)
        for _, specs in read.values():
            for name, spec in specs.items():
                store.save_study(name, spec)
    print(f"{args.out}: {len(results):,} runs of {len(read)} studies.")
    return 0


def table_command(argv: Sequence[str]) -> int:
    """A study's runs as a table: Parquet for pandas and DuckDB, or CSV."""
    parser = Parser(
        prog="engine table",
        example="table curves.db --out runs.parquet",
        description="Write one row a run; the columns are those of the reference.",
        allow_abbrev=False,
    )
    parser.add_argument("study", metavar="FILE", help="results that engine sweep --out kept")
    parser.add_argument("--out", required=True, metavar="FILE", help="runs.parquet or runs.csv")
    args = parser.parse_args(argv)
    from engine.studies.analysis import frame  # here: it loads pandas

    out = Path(args.out)
    table = frame(_read(args.study)[0])
    out.write_bytes(runs_table(table, out.suffix.lstrip(".").lower()))
    print(out)
    return 0
