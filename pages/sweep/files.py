"""Studies on bundled networks are kept in files, one a study."""

from __future__ import annotations

import re
from pathlib import Path

from engine import InputError
from engine.studies import ResultStore
from pages.sweep.state import Wanted

FOLDER = "studies"  # in the directory the app was started in
_NAME = re.compile(r"[\w][\w .+-]{0,59}", re.ASCII)


def folder() -> Path:
    """Where studies are kept."""
    return Path.cwd() / FOLDER


def saved() -> list[str]:
    """The names of the files there are."""
    return sorted(p.stem for p in folder().glob("*.db"))


def path_of(name: str) -> Path:
    """The study's file; raises InputError for a name that no file should have."""
    if not _NAME.fullmatch(name):
        raise InputError(
            "A study's name has at most 60 letters, digits, spaces, dots, + and -; it starts with "
            "a letter or digit."
        )
    return folder() / f"{name}.db"


def new_name(wanted: Wanted) -> str:
    """A name that says what the study is and that no file has yet."""
    names = [s.name.replace(":", "-") for s in wanted.sources[:2]] + list(wanted.algorithms[:2])
    base = " ".join(names) or "study"
    if len(wanted.sources) > 2 or len(wanted.algorithms) > 2:
        base += " and more"
    taken, number = set(saved()), 1
    while f"{base} {number}" in taken:
        number += 1
    return f"{base} {number}"


def keep_spec(path: Path, name: str, wanted: Wanted) -> None:
    """Write what the study asks for into its file; a file of another study is refused."""
    path.parent.mkdir(exist_ok=True)
    with ResultStore(path) as store:
        known = store.studies().get(name)
        if known is not None and known != wanted.as_json():
            raise InputError(
                f"A study named {name!r} asks for something else; give another name or open it."
            )
        store.save_study(name, wanted.as_json())
