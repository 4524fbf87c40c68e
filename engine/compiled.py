"""Where compiled loops are kept.

numba keeps machine code beside the modules, else in the user's cache. A container often lets it
write to neither: then a folder of this process is filled with what was compiled beforehand, so that
an image with a warm cache starts as quickly as one that may be written to.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

PLACE = "NUMBA_CACHE_DIR"  # numba's own setting; whoever gives one keeps it
NOTE = (
    "Compiled loops cannot be kept here (neither the program's folder nor the user's cache can be "
    f"written to): set {PLACE} to a folder that can."
)
_ENGINE = Path(__file__).resolve().parent

KERNELS: dict[Any, tuple[str, ...]] = {}  # every one's declared signatures, in order of definition


def kernel(*signatures: str, inner: bool = False, **options: Any) -> Callable[[Any], Any]:
    """A loop that numba compiles when it is first called, and keeps; other threads run beside it.

    Each further set of argument types costs seconds of compiling: a kernel is called with one. It
    may say which in numba's words; what is said is what it comes to, and one set it is for all
    (tests/contract/test_kernels.py). An ``inner`` one is called by other kernels alone: it gets no
    way in from Python, which is a sixth of its compiling.
    """
    import numba
    from numba import types

    njit: Any = numba.njit

    def declared(function: Any) -> Any:
        made: Any = njit(
            cache=True, nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=inner, **options
        )(function)
        # A constant in another kernel's call is a type of its own to numba: here it is a number.
        compile_types = made.compile
        made.compile = lambda given: compile_types(tuple(types.unliteral(t) for t in given))
        KERNELS[made] = signatures
        return made

    return declared


def kept(made: Any) -> bool:
    """Whether a kernel is compiled, here or in numba's folder; one older than its source is not."""
    if made.signatures:
        return True
    source = Path(made.py_func.__code__.co_filename)
    places = Path(made.stats.cache_path).glob(f"{source.stem}.{made.py_func.__qualname__}-*.nbi")
    return any(place.stat().st_mtime >= source.stat().st_mtime for place in places)


def settle() -> bool:
    """Give numba a place before it looks for one; whether that had to be a passing one."""
    if os.environ.get(PLACE) or _takes_files(_ENGINE / "__pycache__"):
        return False
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "numba"
    if _takes_files(home):
        return False
    place = tempfile.mkdtemp(prefix="engine-compiled-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    _fill(Path(place))
    os.environ[PLACE] = place
    return True


def _takes_files(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _fill(place: Path) -> None:
    """Copy what lies beside the modules to where numba will look for it in ``place``."""
    for kept in _ENGINE.glob("*/__pycache__/*.nb[ci]"):
        source = kept.parent.parent
        name = f"{source.name}_{hashlib.sha1(str(source).encode()).hexdigest()}"
        folder = place / name
        folder.mkdir(exist_ok=True)
        shutil.copyfile(kept, folder / kept.name)
