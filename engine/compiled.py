"""Compile loops with numba and keep their machine code on disk.

numba stores machine code in the folders of the modules, or else in the user's cache. In many
containers both are read-only, so numba gets a temporary folder for this process. Code from the
folder named by ``NUMBA_CACHE_DIR`` is copied there, so that an image with a filled cache starts as
quickly as one with a writable cache.

numba reuses machine code from the disk while the loop's file is unchanged. This code includes the
loops that it calls, so a kernel only calls kernels in the same file.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

PLACE = "NUMBA_CACHE_DIR"  # numba's own setting; a value that the user set stays
NOTE = (
    "Compiled loops cannot be stored (neither the program's folder nor the user's cache can be "
    f"written to): set {PLACE} to a folder that can."
)
_ENGINE = Path(__file__).resolve().parent

# declared signatures of each kernel, in order of definition
KERNELS: dict[Any, tuple[str, ...]] = {}


def kernel(*signatures: str, **options: Any) -> Callable[[Any], Any]:
    """Compile a loop with numba at its first call and cache it; other threads run meanwhile.

    Each further set of argument types takes seconds to compile, so all callers of a kernel use one
    set. A kernel may declare its types as numba signatures. The compiled signatures equal the
    declared ones (tests/contract/test_kernels.py).
    """
    from numba import njit

    def declared(function: Any) -> Any:
        made = njit(nogil=True, cache=True, **options)(function)
        KERNELS[made] = signatures
        return made

    return declared


def is_compiled(made: Any) -> bool:
    """Return whether a kernel is compiled, in memory or in a cache file newer than its source."""
    function = made.py_func
    source = Path(function.__code__.co_filename)
    names = f"{source.stem}.{function.__qualname__}-*"
    found = Path(made.stats.cache_path).glob(names)
    return bool(made.signatures) or any(
        path.stat().st_mtime >= source.stat().st_mtime for path in found
    )


def set_cache_folder() -> bool:
    """Set numba's cache folder before numba chooses one; return True if it is temporary."""
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
