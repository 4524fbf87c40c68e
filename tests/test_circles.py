"""No circle of imports, neither between files nor between folders."""

from __future__ import annotations

import ast
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOTS = {"engine": ["engine"], "pages": ["pages", "app.py"]}


def modules(roots: list[str]) -> dict[str, Path]:
    """Dotted name -> file, for every Python file under the roots."""
    found: dict[str, Path] = {}
    for root in roots:
        top = ROOT / root
        for path in [top] if top.is_file() else sorted(top.rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def package_of(name: str, path: Path) -> str:
    """The folder that the module lies in, as a dotted name; "" for the top level."""
    return name if path.name == "__init__.py" else name.rpartition(".")[0]


def room_of(name: str, path: Path) -> str:
    """What a folder circle is about: the module's folder, or the file if it lies at the top.

    Files at the top are rooms of their own: engine.errors is below every folder, engine.runner
    above.
    """
    package = package_of(name, path)
    return package if "." in package else name


def imported(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    """The known modules that a file imports: anywhere in it, for type checkers, by a string."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            found |= {str(one.value) for one in node.args if isinstance(one, ast.Constant)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package_of(name, path).split(".")
                base = ".".join([*above[: len(above) - node.level + 1], *filter(None, [base])])
            for alias in node.names:
                # "from package import module" means the module, not the package's file.
                whole = f"{base}.{alias.name}"
                found.add(whole if whole in known else base)
    return {target for target in found if target in known and target != name}


def graphs(roots: list[str]) -> tuple[nx.DiGraph, nx.DiGraph]:
    """(imports between files, imports between folders)."""
    known = modules(roots)
    files, folders = nx.DiGraph(), nx.DiGraph()
    files.add_nodes_from(known)
    for name, path in known.items():
        for target in imported(name, path, known):
            files.add_edge(name, target)
            here, there = room_of(name, path), room_of(target, known[target])
            if here != there:
                folders.add_edge(here, there)
    return files, folders


def circles(graph: nx.DiGraph) -> list[list[str]]:
    """The groups of nodes that reach each other."""
    return sorted(sorted(c) for c in nx.strongly_connected_components(graph) if len(c) > 1)


@pytest.mark.parametrize("root", ROOTS)
def test_no_circle_by_file_or_folder(root: str) -> None:
    files, folders = graphs(ROOTS[root])
    assert files.number_of_edges() > 20  # the imports were found at all
    assert circles(files) == []
    assert circles(folders) == []


def test_a_circle_would_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, code in {
        "pkg/__init__": "",
        "pkg/a/__init__": "",
        "pkg/b/__init__": "",
        "pkg/a/one": "from pkg.b import two\n",
        "pkg/b/two": "import pkg.b.three\n",
        "pkg/b/three": "def later():\n    from ..a.four import x\n",
        "pkg/a/four": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pkg.a.one\n",
        "pkg/five": "from . import six\n",
        "pkg/six": "import pkg.five\n",
        "pkg/seven": "from importlib import import_module\nimport_module('pkg.eight')\n",
        "pkg/eight": "import pkg.seven\n",
    }.items():
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    files, folders = graphs(["pkg"])
    by_files = [["pkg.a.four", "pkg.a.one", "pkg.b.three", "pkg.b.two"]]
    beside = [["pkg.eight", "pkg.seven"], ["pkg.five", "pkg.six"]]
    assert circles(files) == by_files + beside
    assert circles(folders) == [["pkg.a", "pkg.b"], *beside]
