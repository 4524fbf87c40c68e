"""The examples of the documents run, and show tables and pictures."""

import json
import re
from pathlib import Path

import pytest

from scripts.examples import EXAMPLES, cells, executed
from scripts.site_pages import WIDTH, page_of

FILES = sorted(EXAMPLES.glob("*.py"))


def fewer(text):
    """A text with fewer rows, runs and draws than a reader asks for."""
    text = text.replace("n=100_000", "n=5_000").replace("range(10)", "range(2)")
    text = text.replace("epsilons=[0.01, 0.03, 0.1, 0.3, 1, 3], seeds=5", "epsilons=[1], seeds=2")
    return text.replace('"seeds": 5', '"seeds": 2').replace("draws=5", "draws=1")


# The wheel's test runs the example of one's own table.
@pytest.mark.parametrize("path", [p for p in FILES if p.stem != "own_table"], ids=lambda p: p.stem)
def test_an_example_shows_a_table_first_and_a_picture(path):
    made = executed(fewer(path.read_text(encoding="utf-8")), path.stem)
    shown = [one for cell in made["cells"] for one in cell.get("outputs", ())]
    assert "text/html" in shown[0]["data"] or "image/svg+xml" in shown[0]["data"]
    kinds = "".join(text for one in shown for text in one.get("data", {}).values())
    assert "<table" in kinds
    assert "<svg" in kinds
    page = page_of(json.loads(json.dumps(made)), path.stem)
    assert page.startswith("# ")
    assert page.count("```python\n") == sum(k == "code" for k, _ in cells(path.read_text("utf-8")))
    assert f"({path.stem}.ipynb)" in page
    outputs = "".join(re.findall(r"(?ms)^```text\n(.*?)^```$", page)).splitlines()
    assert [line for line in outputs if len(line) > WIDTH and "  " not in line] == []


@pytest.mark.parametrize("page", ["start/first-run", "understand/strict-published", "guide/schema"])
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = "name,levels,cuts,other\nsmoker,no|yes,,no\nage,,40|65,\n"
    Path("dictionary.csv").write_text(lines, encoding="utf-8")
    text = (EXAMPLES.parent / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```$", text)
    assert blocks
    for block in blocks:
        exec(compile(fewer(block), page, "exec"), {})
