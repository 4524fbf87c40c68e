"""What messages share: a value quoted on one line and not too long; a package that is missing."""

import re
import sys
import tempfile
import tomllib
from pathlib import Path

import pytest

from engine import InputError, load_dataset, sweep
from engine.errors import show
from engine.release.budget import Budgets
from engine.studies.figures import chart
from tests.release.samples import declared, make


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("asia", "'asia'"),
        ("two\nlines", r"'two\nlines'"),
        ("x" * 60, f"'{'x' * 60}'"),
        ("x" * 61, f"'{'x' * 59}…'"),
        (0.1, "0.1"),
        (list(range(100)), "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, …"),
        pytest.param(10**5000, "a number of thousands of digits", id="thousands of digits"),
    ],
)
def test_a_value_is_quoted_on_one_line(value, shown):
    assert show(value) == shown


@pytest.mark.parametrize(
    ("package", "extra", "use"),
    [
        ("opendp", "release", lambda: _release()),
        ("distributed", "cluster", lambda: list(sweep("asia", "pc", executor="tcp://127.0.0.1:1"))),
        ("matplotlib", "figures", lambda: chart([], "nothing")),
    ],
)
def test_a_package_that_few_need_is_asked_for_in_one_sentence(package, extra, use, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not installed
    with pytest.raises(InputError, match=rf"{package}: pip install dp-causal-explorer\[{extra}\]"):
        use()


def _release():
    rows = load_dataset("cancer", n=1_000)
    with tempfile.TemporaryDirectory() as folder:
        budgets = Budgets(Path(folder) / "budgets.db")
        try:
            make(budgets, rows, declared(rows))
        finally:
            assert not budgets.show("asia").charges  # nothing was charged for it


def test_each_extra_is_declared():
    root = Path(__file__).resolve().parent.parent
    declared = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    extras = declared["optional-dependencies"]
    code = "".join(path.read_text() for path in (root / "engine").rglob("*.py"))
    asked = re.findall(r'need\("(\w+)", "(\w+)"\)', code)
    assert len(set(asked)) == 3
    for package, extra in asked:
        assert any(line.startswith(f"{package}>=") for line in extras[extra])
        assert not any(line.startswith(f"{package}>=") for line in declared["dependencies"])
