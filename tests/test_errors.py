"""Common parts of messages: a value quoted on one short line; a package that is missing."""

import sys
import tomllib
from pathlib import Path

import pytest

from engine import InputError, sweep
from engine.errors import show

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"


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


@pytest.mark.parametrize("pip", [True, False])
def test_a_missing_package_is_named_with_a_command_that_installs_it(pip, monkeypatch):
    """Never with this project's name: no index holds it, so a stranger could register it."""
    for name in ("distributed", *([] if pip else ["pip"])):
        monkeypatch.setitem(sys.modules, name, None)  # as if it were not installed
    with pytest.raises(InputError) as caught:
        list(sweep("asia", "pc", executor="tcp://127.0.0.1:1"))
    way = f"{sys.executable} -m pip" if pip else "uv pip"
    assert f"Install it with: {way} install " in str(caught.value)
    assert str(caught.value).endswith(" distributed")
    extras = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert [one.partition(">")[0] for one in extras["cluster"]] == ["distributed"]
