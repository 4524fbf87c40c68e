"""An effect as it is told: the sentence, the range, and every refusal."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine import InputError, load_dataset, run
from engine.effects.effect import ASSUMPTION, Effect, _unless_wide, effect_of
from engine.effects.estimate import Interval
from engine.effects.words import notes, of_hundred, sentence
from engine.graphs.cpdag import matrix_of
from tests.effects.models import exact, noisy


def asked(cause: str, effect: str, sd: float = 0.0005, graph: str = "cpdag", **more: Any) -> Effect:
    """An effect in Asia, from tensors with a little noise, on its true CPDAG or DAG."""
    data = load_dataset("asia", n=50_000)
    moments = noisy(data, sd, np.random.default_rng(1))
    matrix = run("pc", data, statistic="oracle").matrix
    if graph == "dag":
        assert data.truth is not None
        matrix = matrix_of(data.truth, data.names)
    return effect_of(moments, data.names, data.levels, matrix, cause, effect, **more)


def test_a_sentence_of_an_effect_that_is_known() -> None:
    found = asked("smoke", "bronc", graph="dag")
    assert sentence(found) == (
        "If smoke were yes for everyone, bronc would be yes for 59 of 100; if it were no, for 29 "
        "of 100. The difference is 30 of 100; the noise and the sample leave 29 to 31."
    )
    assert notes(found) == ("Adjusted for nothing.", ASSUMPTION)
    told = found.difference
    assert told.low < 0.3 < told.high
    assert found.to_json()["method"] == "level by level"
    assert found.to_json()["difference"] == [told.low, told.high]
    assert found.risk("no").value == pytest.approx(0.3, abs=0.01)


def test_levels_can_be_named() -> None:
    turned = asked("smoke", "bronc", graph="dag", level="no", base="yes", event="no")
    assert turned.difference.value == pytest.approx(0.3, abs=0.02)
    assert asked("smoke", "bronc", graph="dag", level="no").base == "yes"
    for wrong in ({"level": "maybe"}, {"event": "maybe"}, {"base": "yes"}, {"sets": "some"}):
        with pytest.raises(InputError):
            asked("smoke", "bronc", **wrong)
    for pair in (("smok", "lung"), ("smoke", "smoke")):
        with pytest.raises(InputError):
            asked(*pair)


def test_an_effect_among_the_causes_is_said_and_no_zero_is_told() -> None:
    found = asked("dysp", "bronc")
    assert sentence(found) == (
        "The graph has bronc among the causes of dysp: in it, setting dysp changes nothing about "
        "bronc, and no number is told."
    )
    assert "difference" not in found.to_json()
    assert notes(found) == (ASSUMPTION,)


def test_a_version_that_turns_the_question_round_stands_in_the_sentence() -> None:
    found = asked("lung", "smoke")
    assert sentence(found).startswith(
        "Unless smoke is among the causes of lung, as in 1 of the 2 versions that the graph leaves "
        "open (then setting lung changes nothing about it): if lung were yes for everyone,"
    )


def test_a_graph_that_leaves_the_causes_open_gives_a_range() -> None:
    found = asked("smoke", "dysp")
    assert len(found.answers) == 3
    least, most = found.values
    assert least < 0.1 < 0.2 < most
    assert found.difference.low < least
    assert found.difference.high > most
    assert "The difference is 3.1 to 23 of 100" in sentence(found)
    assert any("over 3 sets" in note for note in notes(found))
    assert any("linear projection" in note for note in notes(found))


def test_no_path_is_said() -> None:
    found = asked("asia", "bronc", graph="dag")
    assert any("no path from asia to bronc" in note for note in notes(found))
    assert found.difference.low < 0 < found.difference.high


def test_an_interval_that_says_nothing_is_refused() -> None:
    """And Fieller's, which is the whole line where the cause may be constant, is one."""
    for sd in (0.01, 0.02):
        found = asked("asia", "xray", sd, graph="dag")
        assert found.refusal is not None
        assert sentence(found).endswith("which says nothing.")
        assert found.to_json()["refusal"] == found.refusal


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [(0.13, 5.5, "open"), (1.08, 1.6, "open"), (-0.2, 0.9, "anywhere from -20 to +90 of 100")],
)
def test_an_interval_is_not_narrow_because_it_is_cut(low: float, high: float, said: str) -> None:
    """No difference is beyond 1: what noise leaves from .13 to 5.5 is no interval from .13 to 1."""
    found = asked("smoke", "lung")
    assert found.refusal is None
    answer = SimpleNamespace(difference=lambda *_: Interval(2.8, low, high))
    wide = replace(found, answers=(answer,))
    told = _unless_wide(wide)
    assert told.refusal == (
        f"The noise and the sample leave the effect of smoke on lung {said}, which says nothing."
    )
    assert -1 <= wide.difference.low <= wide.difference.high <= 1


def test_many_cells_and_no_covariance_are_refused() -> None:
    data = load_dataset("asia", n=1000)
    moments, matrix = exact(data), np.zeros((8, 8), dtype=bool)
    at = data.names.index
    matrix[at("smoke"), at("lung")] = matrix[at("smoke"), at("bronc")] = True
    moments.two[at("smoke"), at("lung")] = moments.two[at("lung"), at("smoke")] = 5.0
    found = effect_of(moments, data.names, data.levels, matrix, "lung", "bronc", sets="parents")
    assert found.refusal is not None
    assert found.refusal.startswith("The noise hides how lung, smoke vary together")
    wide = load_dataset("child", n=1000)
    full = np.zeros((20, 20), dtype=bool)
    full[:18, 18] = True
    found = effect_of(exact(wide), wide.names, wide.levels, full, wide.names[18], wide.names[19],
                      sets="parents")  # fmt: skip
    assert found.refusal is not None
    assert found.refusal.endswith("makes more groups than can be counted.")


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (0.5, "50"),
        (0.0995, "10"),
        (0.0123, "1.2"),
        (0.02, "2"),
        (0.0, "0"),
        (-0.0001, "0"),
        (-0.181, "−18"),
    ],
)
def test_shares_of_a_hundred(p: float, said: str) -> None:
    assert of_hundred(p) == said
