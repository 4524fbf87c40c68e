"""Locate a user's files, and write new ones atomically with access only for the owner."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import mkstemp

from platformdirs import user_data_path

from engine.errors import InputError


def data_path(name: str, variable: str) -> Path:
    """Return a path in this user's data folder, or the one in environment ``variable``."""
    named = os.environ.get(variable)
    return Path(named) if named else user_data_path("dp-causal-explorer", appauthor=False) / name


def own_folder(path: Path) -> Path:
    """Create a private folder for a user's table; raises InputError inside a git repository."""
    inside = next((p for p in (path, *path.resolve().parents) if (p / ".git").exists()), None)
    if inside is not None:
        raise InputError(
            f"{str(inside)!r} is a git repository, which could publish your table. Create the "
            "folder outside of it."
        )
    if os.path.lexists(path) and not (path.is_dir() and not any(path.iterdir())):
        raise InputError(f"{str(path)!r} exists and is not empty. Give the name of a new folder.")
    private_folder(path)
    path.chmod(0o700)
    return path


def check_place(path: Path) -> None:
    """Raise InputError, before any charge, if a new file could not be written."""
    if path.is_dir() or not (path.parent.is_dir() and os.access(path.parent, os.W_OK)):
        raise InputError(f"No file can be written at {str(path)!r}; give another path.")
    if os.path.lexists(path):
        raise InputError(f"The file {str(path)!r} exists already and is not overwritten.")


def page_of(out: Path) -> Path:
    """Return the path of the page for a release's file."""
    return out.with_suffix(".html") if out.suffix != ".html" else out.with_suffix(".page.html")


def check_places(out: str | os.PathLike[str]) -> Path:
    """Return the path of a release's file; raises InputError if it or its page is unwritable."""
    for path in (Path(out), page_of(Path(out))):
        check_place(path)
    return Path(out)


def save(text: str, path: Path) -> None:
    """Write a new file atomically, mode 600; raises InputError if it exists by now."""
    handle, fresh = mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")  # mode 600
    try:
        _write(text, handle)
        try:
            os.link(fresh, path)  # a link never replaces a file
        except OSError:  # the file exists, or the disk has no links (for example a memory stick)
            _write(text, os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        raise InputError(f"The file {str(path)!r} already exists and is not overwritten.") from None
    finally:
        os.unlink(fresh)


def _write(text: str, handle: int) -> None:
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def locked(path: Path, busy: str) -> Iterator[None]:
    """Hold the lock of a file; any end of the process frees it.

    Raises InputError with the text ``busy`` if another process holds it.
    """
    with ExitStack() as stack:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
            fcntl.flock(stack.enter_context(os.fdopen(handle)), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{busy}: wait until it has ended.") from None
        except OSError as error:
            raise InputError(f"The file {path} cannot be locked: {error.strerror}.") from None
        yield


def private_folder(path: Path) -> None:
    """Create a folder with missing parents for the owner only; raises InputError on failure."""
    try:
        # mkdir applies its mode only to the last folder
        for place in (*reversed(path.parents), path):
            place.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder {path} cannot be made: {error.strerror}.") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise InputError(f"The folder {path} cannot be written to; change its rights.")
