"""A plan as a notebook shows it: the sentence, the frame, the table, and which rows it is for."""

from __future__ import annotations

import pytest

from engine import InputError
from engine.data.schema import Column, Schema
from engine.studies.plan import BANDS, TRUST, Band, Forecast, Plan, PlanRequest, plan, reach

QUESTION = PlanRequest(("a", "b", "c"), (("no", "yes"),) * 3, 3_000)


def forecast(key: str, epsilon: float, low: float, median: float, high: float) -> Forecast:
    counts = {name: Band(k, k + 1, k + 2) for k, name in enumerate(BANDS)}
    return Forecast(key, epsilon, draws=9, **counts | {"f1": Band(low, median, high)})


LOW = forecast("em_pc", 0.1, 0.1, 0.2, 0.4)
HIGH = forecast("priv_pc", 1.0, 0.3, 0.6, 0.7)
REACHED = forecast("priv_pc", 3.0, 0.82, 0.9, 1.0)


def test_the_sentence_is_the_range_or_the_best_there_is() -> None:
    assert str(Plan(QUESTION, (LOW, HIGH))) == ("The best is skeleton F1 0.60, by Priv-PC at ε = 1")
    found = Plan(QUESTION, (LOW, HIGH, REACHED))
    assert str(found) == reach(found.forecasts, 0.8).words.rstrip(".")
    assert "from ε = 3 on" in str(found)
    assert "Stopped before" in str(Plan(QUESTION, ()))


def test_the_frame_has_medians_and_the_ends_of_f1() -> None:
    frame = Plan(QUESTION, (LOW, HIGH)).frame
    assert frame.loc[1, ["f1_low", "f1", "f1_high"]].tolist() == [0.3, 0.6, 0.7]
    assert frame["links"].tolist() == [1, 1]
    assert frame["found"].tolist() == [2, 2]
    assert frame["invented"].tolist() == [3, 3]
    assert frame["noise"].tolist() == [True, True]


def test_the_page_has_the_table_the_warning_and_how_far_to_trust_it() -> None:
    page = Plan(QUESTION, (LOW, HIGH))._repr_html_()
    for cell in ("Priv-PC", "0.60", "2 of 1", "noise"):
        assert f"<td>{cell}</td>" in page
    assert TRUST in page
    assert "3,000 rows and ε = 0.1, 1 expect noise" in page


def test_rows_are_those_asked_for_then_the_schemas() -> None:
    columns = tuple(Column(name=n, type="ordered", levels=("no", "yes")) for n in ("a", "b"))
    schema = Schema(columns, rows=700)

    def rows(**asked: int) -> int:
        return plan(schema, epsilon=1, algorithms="em_pc", draws=2, **asked).question.rows

    assert rows() == 700
    assert rows(rows=900) == 900
    with pytest.raises(InputError, match="how many records"):
        plan(Schema(columns), epsilon=1)
