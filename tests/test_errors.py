"""What messages share: a value quoted on one line and not too long."""

from __future__ import annotations

import pytest

from engine.errors import show


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
def test_a_value_is_quoted_on_one_line(value: object, shown: str) -> None:
    assert show(value) == shown
