"""``python -m engine reproduce``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.cli.flags import Parser, at_least
from engine.cli.interrupts import ending, watched


def reproduce_command(argv: Sequence[str]) -> int:
    """Reproduce a table or figure of the papers into a folder."""
    from engine.papers.reproduce import NAMES, reproduce
    from engine.papers.work import Work

    parser = Parser(
        description="Reproduce a table or figure of the papers, with their numbers and ours; "
        "'table' writes one page from all results in a folder.",
        example="reproduce theorems --out papers",
    )
    parser.add_argument("name", help=", ".join(NAMES))
    parser.add_argument(
        "--out", metavar="DIR", type=Path, required=True, help="folder for the files"
    )
    parser.add_argument("--seeds", type=at_least(1), help="how many (default: the study's own)")
    parser.add_argument("--n", type=at_least(1), default=100_000, help="rows of each dataset")
    parser.add_argument("--workers", type=at_least(1), default=2, help="processes")
    parser.add_argument(
        "--pairs", metavar="FILE", type=Path, help="your copy of the cdt 0.6.0 wheel, for pairs-*"
    )
    args = parser.parse_args(argv)
    with watched() as monitor:
        given = {name: getattr(args, name) for name in ("out", "seeds", "n", "pairs", "workers")}
        work = Work(**given, monitor=monitor)
        try:
            written = reproduce(args.name, work)
        except KeyboardInterrupt:
            return ending(monitor, args.out)
    for path in written:
        print(path)
    return 0
