"""Compile loops with numba, and keep their machine code on disk.

numba keeps machine code in the modules' folders, else in the user's cache. A container often lets
it write to neither: then it gets a passing folder of this process. Code compiled into a folder
that ``NUMBA_CACHE_DIR`` names is copied there, so that an image with a filled folder starts as
quickly as one that may be written to.

numba takes machine code from the disk while the loop's own file is the same. The loops that it
calls are part of that code, so a kernel calls kernels of its own file only.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

PLACE = "NUMBA_CACHE_DIR"  # numba's own setting; a given one stays in force
NOTE = (
    "Compiled loops cannot be kept here (neither the program's folder nor the user's cache can be "
    f"written to): set {PLACE} to a folder that can."
)
_ENGINE = Path(__file__).resolve().parent

KERNELS: dict[Any, tuple[str, ...]] = {}  # every one's declared signatures, in order of definition


def kernel(*signatures: str, **options: Any) -> Callable[[Any], Any]:
    """Compile a loop with numba at its first call, and keep it; other threads run meanwhile.

    Each further set of argument types costs seconds of compiling: a kernel is called with one. It
    may declare them as numba signatures; the compiled ones equal these, one set for all callers
    (tests/contract/test_kernels.py).
    """
    from numba import njit

    def declared(function: Any) -> Any:
        made = njit(nogil=True, cache=True, **options)(function)
        KERNELS[made] = signatures
        return made

    return declared


def is_compiled(made: Any) -> bool:
    """Tell whether a kernel is compiled, here or, newer than its file, where numba keeps it."""
    function = made.py_func
    source = Path(function.__code__.co_filename)
    names = f"{source.stem}.{function.__qualname__}-*"
    found = Path(made.stats.cache_path).glob(names)
    return bool(made.signatures) or any(
        path.stat().st_mtime >= source.stat().st_mtime for path in found
    )


def set_cache_folder() -> bool:
    """Give numba a place before it looks for one; return whether that had to be a passing one."""
    given = os.environ.get(PLACE)
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "numba"
    places = (Path(given),) if given else (_ENGINE / "__pycache__", home)
    if any(map(_takes_files, places)):
        return False
    place = tempfile.mkdtemp(prefix="engine-compiled-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    if given and Path(given).is_dir():
        shutil.copytree(given, place, dirs_exist_ok=True)
    os.environ[PLACE] = place
    return True


def _takes_files(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True
