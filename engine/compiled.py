"""Where compiled loops are kept, and until when.

numba keeps machine code in the modules' folders, else in the user's cache. A container often lets
it write to neither: then a folder of this process is filled with what was compiled beforehand, so
that an image with a warm cache starts as quickly as one that may be written to.

What was kept is good as long as the loop's file is the same, says numba; but the machine code of
the loops it calls is part of it. Here it is good as long as their files are the same, too.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
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
    """A loop that numba compiles when it is first called, and keeps; other threads run meanwhile.

    Each further set of argument types costs seconds of compiling: a kernel is called with one. It
    may declare them as numba signatures; the compiled ones equal these, one set for all callers
    (tests/contract/test_kernels.py). An ``inner`` one is called by other kernels alone: it gets no
    way in from Python, which is a sixth of its compiling.
    """
    import numba
    from numba import types

    njit: Any = numba.njit

    def declared(function: Any) -> Any:
        made: Any = njit(nogil=True, no_cfunc_wrapper=True, no_cpython_wrapper=inner, **options)(
            function
        )
        made._cache = _keeping()(function)  # as cache=True does, with numba's own class
        # A constant in another kernel's call is a type to numba: here it is a number.
        compile_types = made.compile
        made.compile = lambda given: compile_types(tuple(types.unliteral(t) for t in given))
        KERNELS[made] = signatures
        return made

    return declared


@cache
def _keeping() -> Any:
    """numba's keeper of a loop's machine code, with the files that it is made from."""
    from numba.core.caching import CompileResultCacheImpl, FunctionCache

    class Place(CompileResultCacheImpl):
        """Where numba looks, in its own order."""

        def __init__(self, function: Any):
            super().__init__(function)
            sources = _sources(function, self.locator.get_source_stamp())
            self.locator.get_source_stamp = lambda: sources

    class Keeper(FunctionCache):
        """Its stamp says which files the machine code is from; that of others is not loaded."""

        _impl_class = Place

        @property
        def sources(self) -> dict[str, Any]:
            """The files' contents as numba tells them apart, by the modules' names."""
            stamp: dict[str, Any] = self._impl.locator.get_source_stamp()
            return stamp

        @property
        def filled(self) -> bool:
            """Whether there is machine code of these files."""
            return bool(self._cache_file._load_index())

    return Keeper


def _sources(function: Any, own: Any) -> dict[str, Any]:
    """The function's file, and those of all kernels that its module has met by now.

    Whether it calls them is settled when it is compiled: its file may hold another that does.
    """
    from numba.core.registry import CPUDispatcher

    met: list[Any] = [v for v in function.__globals__.values() if isinstance(v, CPUDispatcher)]
    found = {function.__module__: own}
    for made in met:
        found |= getattr(made._cache, "sources", {})
    return dict(sorted(found.items()))


def kept(made: Any) -> bool:
    """Whether a kernel is compiled, here or where numba keeps it; of older files it is not."""
    return bool(made.signatures) or made._cache.filled


def settle() -> bool:
    """Give numba a place before it looks for one; whether that had to be a passing one."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser()) / "numba"
    if os.environ.get(PLACE) or any(map(_takes_files, (_ENGINE / "__pycache__", home))):
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
    """Copy what is in the modules' folders to where numba will look for it in ``place``."""
    for kept in _ENGINE.glob("*/__pycache__/*.nb[ci]"):
        source = kept.parent.parent
        name = f"{source.name}_{hashlib.sha1(str(source).encode()).hexdigest()}"
        folder = place / name
        folder.mkdir(exist_ok=True)
        shutil.copyfile(kept, folder / kept.name)
