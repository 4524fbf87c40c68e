"""What amounts a budget takes, to the last digit, and that one budget never pays for another."""

from __future__ import annotations

import sqlite3
from decimal import Decimal
from pathlib import Path

import pytest

from engine import InputError
from engine.privacy.accounting import Guarantee
from engine.release.budget import Budgets


@pytest.fixture
def book(tmp_path: Path) -> Budgets:
    return Budgets(tmp_path / "budgets.db")


@pytest.mark.parametrize(
    ("epsilon", "delta"), [("10000000", "0.1"), ("1e-9", "0"), ("0.3", "1e-15"), (1, 0.1)]
)
def test_amounts_at_the_ends_are_taken_as_typed(
    book: Budgets, epsilon: float | str, delta: float | str
) -> None:
    found = book.new("ward", epsilon, delta)
    assert (found.epsilon, found.delta) == (Decimal(str(epsilon)), Decimal(str(delta)))
    assert found.left == (found.epsilon, found.delta)
    assert found.spent == (0, 0)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        ("10000000.000001", "0"),
        ("0", "1e-6"),
        ("-1", "0"),
        ("1", "-1e-9"),
        ("1", "0.1000001"),
        ("nan", "0"),
        ("1", "inf"),
        ("one", "0"),
        ("1e-61", "0"),
    ],
)
def test_amounts_beyond_them_are_refused(book: Budgets, epsilon: str, delta: str) -> None:
    with pytest.raises(InputError) as caught:
        book.new("ward", epsilon, delta)
    assert str(caught.value).endswith(".")
    assert book.all() == ()


def test_all_that_is_left_can_be_charged_and_not_a_digit_more(book: Budgets) -> None:
    book.new("ward", "1", "1e-6")
    book.charge("ward", Guarantee(0.7, 4e-7), "first")
    for cost in (Guarantee(0.3000000001, 0.0), Guarantee(0.1, 6.000000001e-7)):
        with pytest.raises(InputError, match="left"):
            book.charge("ward", cost, "too much")
    after = book.charge("ward", Guarantee(0.3, 6e-7), "the rest")
    assert after.left == (0, 0)
    assert after.spent == (1, Decimal("1e-6"))
    assert [c.what for c in after.charges] == ["first", "the rest"]
    assert [c.epsilon for c in after.charges] == [Decimal("0.7"), Decimal("0.3")]
    assert [c.delta for c in after.charges] == [Decimal("4e-7"), Decimal("6e-7")]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("database is locked", "locked by another program"),
        ("attempt to write a readonly database", "cannot be opened to write"),
        ("unable to open database file", "cannot be opened to write"),
        ("database or disk is full", "nothing was released"),
        ("disk I/O error", "nothing was released"),
        ("file is not a database", "is damaged"),
    ],
)
def test_what_the_disk_says_is_one_sentence(
    book: Budgets, monkeypatch: pytest.MonkeyPatch, said: str, words: str
) -> None:
    book.new("ward", 1, 0)

    def refused(*_: object) -> None:
        raise sqlite3.OperationalError(said)

    monkeypatch.setattr("engine.release.budget._prepare", refused)
    with pytest.raises(InputError, match=words):
        book.charge("ward", Guarantee(0.5, 0.0), "a release")
    monkeypatch.undo()
    assert book.show("ward").charges == ()
