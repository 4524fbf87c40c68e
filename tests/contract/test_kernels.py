"""Every compiled loop is compiled once: each further set of types costs the first run seconds."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from numba.core.caching import _CacheLocator

from engine import compiled, load_dataset, registry
from engine.request import Request, Source
from pages.worker import Reporter, search

ROOT = Path(__file__).resolve().parents[2]
# After everything that `engine warm` runs: how many sets of types each loop was compiled for, now
# or when it was put into the folder. A caller that is read from there brings its inner loops along.
COUNT = """
import gc, json
from numba.core.registry import CPUDispatcher
from engine.cli.run import warm_command
from engine.compiled import KERNELS
from numba.core.sigutils import normalize_signature
from numba.types import unliteral
warm_command([])
loops = [o for o in gc.get_objects() if isinstance(o, CPUDispatcher)]
loops = [o for o in loops if o.py_func.__module__.startswith("engine.")]
loops = [o for o in loops if o.targetoptions.get("inline") != "always"]  # part of their callers
said = {o: [normalize_signature(s) for s in texts] for o, texts in KERNELS.items()
        if texts and o in loops}
stored = {o: [key[0] for key in o._cache._cache_file._load_index()] for o in loops}
# A constant in another kernel's call is a type of its own to numba.
made = {o: {tuple(map(unliteral, types)) for types in (*o.signatures, *stored[o])} for o in loops}
print(json.dumps({
    "counts": {f"{o.py_func.__module__}.{o.py_func.__name__}": len(made[o]) for o in loops},
    "others": [o.py_func.__name__ for o, s in said.items()
               if {a for a, _ in s} != made[o]
               or any(unliteral(o.overloads[a].signature.return_type) != r
                      for a, r in s if a in o.overloads)],
}))
"""


def counted(folder):
    """What COUNT tells with a folder for compiled loops; those that do not have one set apart."""
    found = subprocess.run(
        [sys.executable, "-c", COUNT],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, compiled.PLACE: str(folder)},
    )
    assert found.returncode == 0, found.stderr
    told = json.loads(found.stdout.splitlines()[-1])
    return {**told, "several": {name: n for name, n in told["counts"].items() if n != 1}}


def fill(place):
    """Copy what numba has compiled into the checkout's folders to where it will look in a place."""
    for path in (ROOT / "engine").glob("*/__pycache__/*.nb[ci]"):
        folder = place / _CacheLocator.get_suitable_cache_subpath(str(path.parent.parent / "_.py"))
        folder.mkdir(exist_ok=True)
        shutil.copyfile(path, folder / path.name)


def test_a_run_of_every_algorithm_compiles_each_loop_for_one_set_of_types(request, tmp_path):
    """In a folder of its own from one time to the next: what has changed is compiled anew.

    It begins with what the environment's set-up has compiled. What other tests, or a fault that was
    mended, had compiled besides leaves it once one was compiled from nothing.
    """
    kept = request.config.cache.mkdir("kernels")
    if not any(kept.iterdir()):
        fill(kept)
    told = counted(kept)
    if told["several"] or told["others"]:
        told = counted(tmp_path)
        shutil.rmtree(kept)
        shutil.copytree(tmp_path, kept)
    assert len(told["counts"]) > 60
    assert told["several"] == {}
    assert told["others"] == []  # what is declared is what was compiled


def test_the_first_visitor_of_marginal_pc_is_told_why_it_takes_longer(monkeypatch):
    said = []
    hear = Reporter(lambda share, phrase: said.append(phrase))
    asia = load_dataset("asia", n=200)
    for kept in (True, False):
        monkeypatch.setattr(registry, "is_compiled", lambda _, kept=kept: kept)
        for key in ("priv_pc", "marginal_pc"):
            search(hear, Request(Source("asia", 200), key), asia)
            assert any("preparing it, once, about 30 s" in words for words in said) == (
                not kept and key == "marginal_pc"
            )
