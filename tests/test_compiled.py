"""Compiled loops: kept while what they are made from is the same, where that may be written."""

import ast
import importlib
import inspect
import os
import sys
from functools import cache

import numba
import pytest
from numba.core.caching import _CacheLocator

import engine
from engine import ALGORITHMS, compiled
from engine.statistics import kendall

CALLER = """from engine.compiled import kernel
from kept_callee import callee

@kernel()
def caller(x):
    return 10 * callee(x)
"""
CALLEE = """from engine.compiled import kernel

@kernel()
def callee(x):
    return x + {more}
"""


@pytest.fixture(params=["beside the modules", "in a folder that was given"])
def loops(request, monkeypatch, tmp_path):
    """Two modules, one of which calls the other's kernel, as a new process would import them."""
    given = "" if request.param == "beside the modules" else str(tmp_path / "given")
    monkeypatch.setattr(numba.config, "CACHE_DIR", given)
    monkeypatch.syspath_prepend(tmp_path)
    known = dict(compiled.KERNELS)
    (tmp_path / "kept_caller.py").write_text(CALLER)

    def imported(more):
        (tmp_path / "kept_callee.py").write_text(CALLEE.format(more=more))
        for name in ("kept_caller", "kept_callee"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        return importlib.import_module("kept_caller")

    yield imported
    for name in ("kept_caller", "kept_callee"):
        sys.modules.pop(name, None)
    compiled.KERNELS.clear()
    compiled.KERNELS.update(known)


def test_a_loop_is_compiled_again_when_one_it_calls_has_changed(loops):
    first = loops(more=1).caller
    assert not compiled.kept(first)
    assert first(2) == 30
    same = loops(more=1).caller
    assert compiled.kept(same)
    assert same(2) == 30
    assert sum(same.stats.cache_hits.values()) == 1  # read, and not compiled
    changed = loops(more=2).caller
    assert not compiled.kept(changed)
    assert changed(2) == 40
    back = loops(more=2).caller
    assert back(2) == 40
    assert sum(back.stats.cache_hits.values()) == 1


def test_what_a_loop_is_made_from_is_all_in_the_files_that_it_is_kept_for():
    list(ALGORITHMS.values())  # imports every module that has kernels
    tree_of = cache(lambda module: ast.parse(inspect.getsource(sys.modules[module])))
    for made in compiled.KERNELS:
        module = made.py_func.__module__
        if not module.startswith("engine."):
            continue
        sources, used = made._cache.sources, set(made.py_func.__code__.co_names)
        for node in tree_of(module).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("engine"):
                names = {alias.asname or alias.name for alias in node.names}
                assert not names & used or node.module in sources, (made, node.module)
    from engine.marginals.kernels import tests

    assert set(tests._cache.sources) == {"engine.marginals.kernels", "engine.marginals.linear"}


def test_a_place_that_was_given_or_can_be_written_to_stays(monkeypatch):
    monkeypatch.delenv(compiled.PLACE, raising=False)
    assert not compiled.settle()
    assert compiled.PLACE not in os.environ
    assert not engine.PASSING
    monkeypatch.setenv(compiled.PLACE, "somewhere")
    monkeypatch.setattr(compiled, "_takes_files", lambda folder: False)
    assert not compiled.settle()


def test_nowhere_to_write_gives_a_passing_place_with_what_was_compiled(monkeypatch, tmp_path):
    kendall.kendall_z([[3, 1], [1, 4]])  # compiled, and kept beside its module
    monkeypatch.delenv(compiled.PLACE, raising=False)
    monkeypatch.setattr(compiled, "_takes_files", lambda folder: False)
    monkeypatch.setattr(compiled.tempfile, "mkdtemp", lambda prefix: str(tmp_path))
    assert compiled.settle()
    assert os.environ.pop(compiled.PLACE) == str(tmp_path)
    # Where numba will look: the name is its own.
    folder = tmp_path / _CacheLocator.get_suitable_cache_subpath(kendall.__file__)
    assert any(path.name.startswith("kendall.") for path in folder.glob("*.nbi"))
