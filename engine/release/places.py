"""Files of ours: new ones only, whole or not at all, for their owner alone."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from engine.errors import InputError


def check_place(path: Path) -> None:
    """Raise InputError where a new file could not be written, before anything is paid for."""
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(f"{str(path)!r} is no place for a file; name one in a folder there is.")
    if os.path.lexists(path):
        raise InputError(f"There is a file {str(path)!r} already, and none is overwritten.")
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"The folder of {str(path)!r} cannot be written to; name another.")


def page_of(out: Path) -> Path:
    """Where the page of a release's file is written."""
    return out.with_suffix(".html") if out.suffix != ".html" else out.with_suffix(".page.html")


def save(text: str, path: Path) -> None:
    """Write a new file whole or not at all, mode 600; InputError where there is one by now."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")  # mode 600
    fresh = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        _place(fresh, path)
    except FileExistsError:
        raise InputError(
            f"There is a file {str(path)!r} by now, and none is overwritten."
        ) from None
    finally:
        fresh.unlink(missing_ok=True)


def _place(fresh: Path, path: Path) -> None:
    """Give the finished file its name, unless another has it: a link never replaces one."""
    try:
        os.link(fresh, path)
    except FileExistsError:
        raise
    except OSError:  # a disk without links, such as a memory stick
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(fresh.read_bytes())
            file.flush()
            os.fsync(file.fileno())


def private_folder(path: Path) -> None:
    """Make a folder for its owner alone, and those above it that are missing; InputError, one
    sentence, where that fails.
    """
    try:
        for place in (*reversed(path.parents), path):  # mkdir gives its mode to the last alone
            if not place.is_dir():
                place.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder {path} cannot be made: {error.strerror}.") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise InputError(f"The folder {path} cannot be written to; change its rights.")
