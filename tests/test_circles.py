"""No circle of imports, neither between files nor between folders."""

import grimp
import networkx as nx
import pytest


def circles(root):
    """Groups of files, and of folders, that import each other: in functions, for type checkers.

    Files at the top are rooms of their own: engine.errors is below every folder, engine.runner
    above.
    """
    graph = grimp.build_graph(root, exclude_type_checking_imports=False, cache_dir=None)
    files = nx.DiGraph(
        (here, there)
        for here in graph.modules
        for there in graph.find_modules_directly_imported_by(here)
    )
    packages = {name.rpartition(".")[0] for name in graph.modules}

    def room(name):
        folder = name if name in packages else name.rpartition(".")[0]
        return folder if "." in folder else name

    folders = nx.DiGraph((room(a), room(b)) for a, b in files.edges if room(a) != room(b))
    assert files.number_of_edges() > 1  # the imports were found at all
    return tuple(
        sorted(sorted(c) for c in nx.strongly_connected_components(g) if len(c) > 1)
        for g in (files, folders)
    )


@pytest.mark.parametrize("root", ["engine", "pages"])
def test_no_circle_by_file_or_folder(root):
    assert circles(root) == ([], [])


def test_a_circle_would_be_found(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    for name, code in {
        "a/__init__": "",
        "b/__init__": "",
        "a/one": "def later():\n    from circular.b import two\n",
        "b/two": "import circular.b.three\n",
        "b/three": "import typing\nif typing.TYPE_CHECKING:\n    import circular.a.one\n",
        "four": "from . import five\n",
        "five": "import circular.four\n",
        "__init__": "",
    }.items():
        path = tmp_path / "circular" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
    top = ["circular.five", "circular.four"]
    by_file = ["circular.a.one", "circular.b.three", "circular.b.two"]
    assert circles("circular") == ([by_file, top], [["circular.a", "circular.b"], top])
