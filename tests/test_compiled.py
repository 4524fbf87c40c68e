"""Compiled loops: kept while their file is the same, where that may be written."""

import ast
import importlib
import inspect
import os
import sys
from functools import cache

import numba
import pytest

import engine
from engine import ALGORITHMS, compiled

LOOP = """from engine.compiled import kernel

@kernel()
def loop(x):
    return x + {more}
"""


@pytest.fixture(params=["", "given"])
def imported(request, monkeypatch, tmp_path):
    """Import a module with a kernel as a new process does; numba keeps it there or where given."""
    given = str(tmp_path / request.param) if request.param else ""
    monkeypatch.setattr(numba.config, "CACHE_DIR", given)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    known = dict(compiled.KERNELS)

    def again(more=None):
        if more is not None:
            (tmp_path / "kept_loop.py").write_text(LOOP.format(more=more))
        sys.modules.pop("kept_loop", None)
        importlib.invalidate_caches()
        return importlib.import_module("kept_loop").loop

    yield again
    sys.modules.pop("kept_loop", None)
    compiled.KERNELS.clear()
    compiled.KERNELS.update(known)


def from_disk(loop):
    """Whether numba took the machine code from the disk."""
    return sum(loop.stats.cache_hits.values()) == 1


def test_a_loop_is_kept_until_its_file_changes(imported):
    first = imported(more=1)
    assert not compiled.is_compiled(first)
    assert first(2) == 3
    same = imported()
    assert compiled.is_compiled(same)
    assert (same(2), from_disk(same)) == (3, True)
    changed = imported(more=2)
    assert not compiled.is_compiled(changed)
    assert (changed(2), from_disk(changed)) == (4, False)
    back = imported()
    assert (back(2), from_disk(back)) == (4, True)


def test_a_kernel_uses_nothing_of_another_file_of_the_engine():
    """numba keeps machine code while the kernel's own file is the same."""
    list(ALGORITHMS.values())  # imports every module that has kernels
    tree_of = cache(lambda module: ast.parse(inspect.getsource(sys.modules[module])))
    ours = [made for made in compiled.KERNELS if made.py_func.__module__.startswith("engine.")]
    assert len(ours) > 60
    for made in ours:
        used = set(made.py_func.__code__.co_names)
        for node in tree_of(made.py_func.__module__).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("engine"):
                names = {alias.asname or alias.name for alias in node.names}
                assert not names & used, (made, node.module)


def test_a_place_that_can_be_written_to_stays(monkeypatch, tmp_path):
    monkeypatch.delenv(compiled.PLACE, raising=False)
    assert not compiled.set_cache_folder()
    assert compiled.PLACE not in os.environ
    assert not engine.PASSING
    monkeypatch.setenv(compiled.PLACE, str(tmp_path / "given"))
    assert not compiled.set_cache_folder()
    assert os.environ[compiled.PLACE] == str(tmp_path / "given")


@pytest.mark.parametrize("imported", ["given"], indirect=True)
def test_nowhere_to_write_gives_a_passing_place_with_what_was_compiled(
    imported, monkeypatch, tmp_path
):
    imported(more=1)(2)
    monkeypatch.setattr(compiled, "_takes_files", lambda folder: False)
    monkeypatch.setattr(compiled.tempfile, "mkdtemp", lambda prefix: str(tmp_path / "passing"))
    for given, read in ((None, False), (str(tmp_path / "given"), True)):
        (tmp_path / "passing").mkdir(exist_ok=True)
        if given:
            monkeypatch.setenv(compiled.PLACE, given)
        else:
            monkeypatch.delenv(compiled.PLACE, raising=False)
        assert compiled.set_cache_folder()
        place = os.environ[compiled.PLACE]
        assert place == str(tmp_path / "passing")
        monkeypatch.setattr(numba.config, "CACHE_DIR", place)
        loop = imported()
        assert compiled.is_compiled(loop) == read
        assert (loop(2), from_disk(loop)) == (3, read)
        compiled.shutil.rmtree(place)
