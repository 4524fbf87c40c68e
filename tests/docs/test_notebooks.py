"""The notebooks of the documents run, from the first cell to the last."""

import re
import sys
from types import ModuleType

import pytest

from scripts.site_pages import NOTEBOOKS, cells, page_of

FILES = sorted(NOTEBOOKS.glob("*.py"))


def fewer(text):
    """A text with fewer rows, runs and draws than a reader asks for."""
    text = text.replace("n=100_000", "n=5_000").replace("range(10)", "range(2)")
    return text.replace('"seeds": 5', '"seeds": 2').replace("draws=5", "draws=1")


# The wheel's test runs the notebook of one's own table.
@pytest.mark.parametrize("path", [p for p in FILES if p.stem != "own_table"], ids=lambda p: p.stem)
def test_every_cell_runs(path, tmp_path, monkeypatch):
    # Whatever a notebook keeps where a person keeps things ends up here instead.
    monkeypatch.setenv("DP_CAUSAL_EXPLORER_BUDGETS", str(tmp_path / "budgets.db"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    module = ModuleType(path.stem)
    monkeypatch.setitem(sys.modules, path.stem, module)  # dataclasses look their module up
    text = fewer(path.read_text(encoding="utf-8"))
    code = [body for kind, body in cells(text) if kind == "python"]
    assert len(code) > 3
    for k, body in enumerate(code):
        exec(compile(body, f"{path.name}, cell {k + 1}", "exec"), vars(module))


def test_a_page_holds_all_that_its_notebook_says():
    for path in FILES:
        page, source = page_of(path), path.read_text(encoding="utf-8")
        assert page.startswith("# ")
        assert page.count("```python\n") == len(re.findall(r"(?m)^# %%$", source))
        assert "# %%" not in page
