"""A plan as a notebook shows it: the sentence, the frame, the table, and which rows it is for."""

from __future__ import annotations

import pytest

from engine import InputError
from engine.data.schema import Column, Schema
from engine.studies.plan import (
    BANDS,
    TRUST,
    Band,
    Forecast,
    Plan,
    PlanRequest,
    epsilon_range,
    forecasts,
    plan,
)

QUESTION = PlanRequest(("a", "b", "c"), (("no", "yes"),) * 3, 3_000)


def forecast(key: str, epsilon: float, low: float, median: float, high: float) -> Forecast:
    counts = {name: Band(k, k + 1, k + 2) for k, name in enumerate(BANDS)}
    return Forecast(key, epsilon, draws=9, **counts | {"f1": Band(low, median, high)})


LOW = forecast("em_pc", 0.1, 0.1, 0.2, 0.4)
HIGH = forecast("priv_pc", 1.0, 0.3, 0.6, 0.7)
REACHED = forecast("priv_pc", 3.0, 0.82, 0.9, 1.0)


UNKNOWN = forecast("svt_pc", 1.0, 0.05, 0.5, 1.0)


def test_what_is_printed_is_a_table_with_the_answer_below() -> None:
    assert "best is skeleton F1 0.60, by Priv-PC at ε = 1." in str(Plan(QUESTION, (LOW, HIGH)))
    found = Plan(QUESTION, (LOW, HIGH, REACHED, UNKNOWN))
    head, *lines = str(found).splitlines()
    assert head.split()[:2] == ["Algorithm", "ε"]
    assert [line.split()[0] for line in lines[:4]] == ["EM-PC", "Priv-PC", "Priv-PC", "SVT-PC"]
    assert lines[0].endswith("noise")
    assert "0.50 (0.05–1.00)" in lines[3]
    assert "*: nothing can be said" in lines[5]
    assert lines[4] == epsilon_range(found.forecasts, 0.8).words
    assert TRUST in lines[5]
    assert "3,000 rows and ε = 0.1, 1 expect noise" in str(Plan(QUESTION, (LOW, HIGH)))
    assert "Stopped before" in str(Plan(QUESTION, ()))
    page = found._repr_html_()
    assert "Priv-PC" in page
    assert "<svg" in page


def test_a_band_wider_than_half_says_nothing() -> None:
    counts = {name: Band(3, 4, 5) for name in BANDS} | {"invented": Band(0, 0, 0)}
    wide = Forecast("svt_pc", 1.0, draws=9, **counts | {"f1": Band(0.05, 0.5, 1.0)})
    assert wide.unknown
    assert Plan(QUESTION, (wide,)).table["Expect"].tolist() == ["*"]
    assert "Nothing can be said" in Plan(QUESTION, (wide,)).sentence
    assert not HIGH.unknown


def test_what_is_expected_of_the_links_narrows_and_moves_the_forecast() -> None:
    asked = {"names": tuple("abcdef"), "levels": (("no", "yes"),) * 6, "rows": 3_000}
    few, many = (PlanRequest(**asked, links=k) for k in (2, 8))  # type: ignore[arg-type]
    assert {few.dataset(d).truth.number_of_edges() for d in range(6)} == {2}  # type: ignore[union-attr]
    assert min(many.dataset(d).truth.number_of_edges() for d in range(6)) >= 7  # type: ignore[union-attr]
    f1 = []
    for strength in (0.3, 1.0, 1.5):
        request = PlanRequest(**asked, links=5, strength=strength)  # type: ignore[arg-type]
        (one,) = forecasts(request, [1.0], ["marginal_pc"], draws=9, empty=0)
        f1.append(one.f1.median)
    assert f1[0] < f1[1] <= f1[2] + 0.1
    for wrong in ({"links": 0}, {"links": 99}, {"strength": 0.0}, {"strength": 3.0}):
        with pytest.raises(InputError):
            PlanRequest(**asked, **wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="two columns"):
        PlanRequest(("a",), (("0",),), 10)


def test_the_frame_has_medians_and_the_ends_of_f1() -> None:
    frame = Plan(QUESTION, (LOW, HIGH)).frame
    assert frame.loc[1, ["f1_low", "f1", "f1_high"]].tolist() == [0.3, 0.6, 0.7]
    assert frame["links"].tolist() == [1, 1]
    assert frame["found"].tolist() == [2, 2]
    assert frame["invented"].tolist() == [3, 3]
    assert frame["noise"].tolist() == [True, True]


def test_rows_are_those_asked_for_then_the_schemas() -> None:
    columns = tuple(Column(name=n, type="ordered", levels=("no", "yes")) for n in ("a", "b"))
    schema = Schema(columns, rows=700)

    def rows(**asked: int) -> int:
        return plan(schema, epsilon=1, algorithms="em_pc", draws=2, **asked).request.rows

    assert rows() == 700
    assert rows(rows=900) == 900
    with pytest.raises(InputError, match="how many records"):
        plan(Schema(columns), epsilon=1)
