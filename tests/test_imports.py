"""Imports point one way: no user interface in the engine, no algorithm in another."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ENGINE = Path(__file__).resolve().parent.parent / "engine"
UI = {"streamlit", "plotly", "pyvis"}


@cache
def imported(path: Path) -> frozenset[str]:
    """Dotted names of everything a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            names |= {module} | {f"{module}.{alias.name}" for alias in node.names}
    return frozenset(names)


FILES = sorted(ENGINE.rglob("*.py"))
ALGORITHMS = [p for p in (ENGINE / "algorithms").glob("*.py") if p.stem not in {"__init__"}]


def test_importing_the_engine_loads_no_user_interface_and_no_frames() -> None:
    """Whoever reads a table, or makes a release, needs no frame: pandas takes .3 s to load."""
    code = (
        "import sys, engine, engine.__main__, engine.registry, engine.data.reading\n"
        "import engine.release.make, engine.studies.scenes\n"
        f"print([m for m in sys.modules if m.split('.')[0] in {sorted([*UI, 'pandas'])!r}])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ENGINE.parent, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ENGINE)))
def test_no_user_interface_in_the_engine(path: Path) -> None:
    roots = {name.split(".")[0] for name in imported(path)}
    assert not roots & (UI | {"pages", "app"})
    assert not any(name.startswith(".") for name in imported(path))


CHOOSES = {"auto": {"engine.algorithms.gram_notears", "engine.algorithms.marginal_pc"}}


@pytest.mark.parametrize("path", ALGORITHMS, ids=lambda p: p.stem)
def test_algorithms_do_not_import_each_other(path: Path) -> None:
    """But for the one that chooses among others, which it runs."""
    others = {f"engine.algorithms.{p.stem}" for p in ALGORITHMS if p.stem != path.stem}
    assert imported(path) & others == CHOOSES.get(path.stem, set())
    assert not imported(path) & {"engine.registry", "engine.runner"}


def test_the_loop_knows_nothing_of_privacy() -> None:
    rooms = [ENGINE / "search" / "skeleton.py"]
    rooms += [p for room in ("graphs", "tables", "data") for p in (ENGINE / room).glob("*.py")]
    for path in rooms:
        names = imported(path)
        assert not any(n.startswith(("engine.privacy", "engine.algorithms")) for n in names)


SIMULATES = {
    "mechanisms.py",
    "simulated.py",
    "pairs.py",
    "imagined.py",
    "sieving.py",
    "neighbours.py",
    "null.py",
}


def test_only_mechanisms_draw_privacy_noise() -> None:
    """Laplace, normal and Gumbel draws appear in one module.

    Simulated data are no release, nor is noise that is drawn to show what noise does.
    """
    noisy = {"laplace", "normal", "gumbel", "standard_normal", "exponential"}
    for path in FILES:
        if path.name in SIMULATES:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in noisy:
                owner = ast.unparse(node.value)
                assert not owner.endswith("rng"), f"{path.name}: {owner}.{node.attr}"
            if isinstance(node, ast.Attribute) and node.attr in {"seed", "RandomState"}:
                assert ast.unparse(node.value) not in {"np.random", "random"}, path.name
