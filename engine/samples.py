"""Files that come with the project: in the repository, or inside an installed package."""

from __future__ import annotations

from pathlib import Path

_HERE = Path(__file__).resolve().parent


def _folder(name: str, in_repository: str) -> Path:
    installed = _HERE / name
    return installed if installed.is_dir() else _HERE.parent / in_repository


SAMPLE_DATA = _folder("sample_data", "sample_data")
BROWSER = _folder("browser", "static/scene")  # modules and style sheets of pictures that move
