"""What the headline says of a run and of its price."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine import Dataset, load_dataset, run
from engine.graphs.metrics import EdgeClass
from pages.shell import words as text
from pages.shell.verdict import DOUBTFUL, FINE, NOTHING, findings, price

CANCER = load_dataset("cancer", n=5000)


@pytest.mark.parametrize(
    ("key", "values", "level", "words"),
    [
        ("pc", {}, NOTHING, "nothing can be defended"),
        ("priv_pc", {"epsilon": 1.0}, FINE, "ε = 1 for the whole run"),
        ("priv_pc", {"epsilon": 20.0}, DOUBTFUL, "ε = 20 for the whole run"),
        ("priv_pc", {"epsilon": 100.0}, NOTHING, "too large to protect anyone"),
        ("priv_pc", {"guarantee": "published", "epsilon": 1.0}, NOTHING, "protects nobody"),
    ],
)
def test_the_price_is_named_and_never_a_sign(
    key: str, values: dict[str, object], level: str, words: str
) -> None:
    found, said = price(run(key, CANCER, **values))
    assert found == level
    assert words in said
    assert "∞" not in said
    assert "inf" not in said


def test_counts_are_of_the_classes_on_screen() -> None:
    data = load_dataset("child", n=5000)
    result = run("priv_pc", data, epsilon=0.1)
    assert result.status == "budget_exhausted"
    kinds, found = list(result.classes.values()), result.counts
    assert found is not None
    assert found.untested == len(result.untested) == kinds.count(EdgeClass.UNTESTED) > 0
    assert found.invented == kinds.count(EdgeClass.EXTRA)
    assert found.missed == kinds.count(EdgeClass.MISSED)
    assert f"{found.untested:,} more pairs were not tested to the end" in findings(result)
    whole = replace(result, untested=frozenset())
    assert EdgeClass.UNTESTED not in whole.classes.values()


def test_a_run_that_ends_by_itself_has_tested_all() -> None:
    for key in ("pc", "em_pc", "svt_pc"):
        assert not run(key, CANCER).untested


def test_nothing_defended_is_never_called_guaranteed() -> None:
    """Rows of a person whose schema was found in them: a cap on the noise is no guarantee."""
    codes = load_dataset("cancer", n=500).codes
    result = run("priv_pc", Dataset.from_codes(codes), epsilon=1.0)
    level, said = price(result)
    assert level == NOTHING
    assert said.startswith("Nothing can be defended: ")
    assert text.guarantee_label(result)[1] == "nothing can be defended"
