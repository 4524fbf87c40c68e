"""``engine story``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from engine.cli.flags import Parser
from engine.release.places import check_place


def story_command(argv: Sequence[str]) -> int:
    """Write the story as a folder of pages that need no server and no network."""
    parser = Parser(
        example="story --out story",
        description="Write a page in twelve steps whose graph follows the reader.",
    )
    parser.add_argument("--out", required=True, metavar="DIR", help="the folder")
    args = parser.parse_args(argv)
    # local import: its numbers come from runs, which need the algorithms
    from engine.story.page import write

    if (folder := Path(args.out)).exists():
        check_place(folder / "index.html")
    files = write(folder)
    print(f"{files[0]}: {len(files)} files, {sum(f.stat().st_size for f in files) // 1000:,} kB.")
    return 0
