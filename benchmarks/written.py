"""Tables that a command writes into a document, between two marks."""

from __future__ import annotations

from pathlib import Path


def put(path: Path, mark: str, table: str) -> None:
    """Replace the text between ``<!-- mark -->`` and ``<!-- mark ends -->``."""
    text = path.read_text(encoding="utf-8")
    before, rest = text.split(_begin(mark))
    _, after = rest.split(_end(mark))
    path.write_text(f"{before}{_begin(mark)}\n\n{table}\n\n{_end(mark)}{after}", encoding="utf-8")


def between(path: Path, mark: str) -> str:
    """Return the present text between the marks."""
    _, rest = path.read_text(encoding="utf-8").split(_begin(mark))
    return rest.split(_end(mark))[0].strip()


def _begin(mark: str) -> str:
    return f"<!-- {mark} -->"


def _end(mark: str) -> str:
    return f"<!-- {mark} ends -->"
