"""Declared parameters: accepted values, refused ones, and the messages."""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import pytest

from engine.errors import InputError, did_you_mean
from engine.params import ParameterError, Parameters, param, relevant


@dataclass(frozen=True, kw_only=True)
class Sample(Parameters):
    """One of each kind."""

    rate: float = param(0.5, low=0.0, open_low=True, high=1.0, title="Rate", help="A.")
    count: int | str = param(
        "best", kind="int", words=("best", "off"), low=1, high=9, title="Count", help="B."
    )
    mode: str = param("a", choices=("a", "b"), title="Mode", help="C.")
    flag: bool = param(False, title="Flag", help="D.", when={"mode": ("b",), "count": ("best",)})

    def check_together(self):
        """No flag in mode a."""
        if self.flag and self.mode == "a":
            raise ParameterError("flag needs mode b.")


def spec(name):
    return {s.name: s for s in Sample.specs()}[name]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rate": 0.0}, "rate must be above 0 and at most 1; 0.0 is not."),
        ({"rate": 1.1}, "rate must be above 0 and at most 1; 1.1 is not."),
        ({"rate": "x"}, "rate must be a number, not 'x'."),
        ({"rate": math.nan}, "rate must be a number, not nan."),
        ({"rate": True}, "rate must be a number, not True."),
        ({"rate": None}, "rate must be a number, not None."),
        ({"rate": [1]}, "rate must be a number, not [1]."),
        ({"rate": math.inf}, "rate must be above 0 and at most 1; inf is not."),
        ({"count": 0}, "count must be at least 1 and at most 9; 0 is not."),
        ({"count": 10}, "count must be at least 1 and at most 9; 10 is not."),
        ({"count": 1.5}, 'count must be a whole number or "best" or "off", not 1.5.'),
        ({"count": "worst"}, 'count must be a whole number or "best" or "off", not \'worst\'.'),
        ({"mode": "c"}, "mode must be one of a, b; 'c' is not."),
        ({"flag": 1}, "flag must be true or false, not 1."),
        ({"flag": True}, "flag needs mode b."),
        ({"rat": 1}, "There is no parameter 'rat' here; there are rate, count, mode, flag."),
    ],
)
def test_refusals(values, message):
    with pytest.raises(ParameterError) as caught:
        Sample.build(values)
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, InputError)


def test_a_near_name_is_offered():
    with pytest.raises(ParameterError, match="Did you mean 'rate'"):
        Sample.build({"rato": 1})
    assert did_you_mean("KENDAL", ["kendall", "g2"]) == " Did you mean 'kendall'?"
    assert did_you_mean("zzz", ["kendall"]) == ""


def test_values_take_the_declared_type():
    built = Sample(rate=np.float32(1), count=np.int64(3), mode="b", flag=True)
    assert (built.rate, built.count) == (1.0, 3)
    assert type(built.rate) is float
    assert type(built.count) is int
    assert Sample(rate=1).rate == 1.0
    assert Sample(count=None).count == "best"
    assert [Sample(count=count).count for count in ("off", 1, 9)] == ["off", 1, 9]
    assert Sample(rate=5e-324).rate > 0


def test_round_trip_and_hash():
    built = Sample(rate=0.25, count=7)
    assert Sample.build(built.as_dict()) == built
    assert len({built, Sample(rate=0.25, count=7), Sample()}) == 2
    assert built.as_dict() == {"rate": 0.25, "count": 7, "mode": "a", "flag": False}
    with pytest.raises(dataclasses.FrozenInstanceError):
        built.rate = 1.0


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("rate", "0.5", 0.5),
        ("rate", "1e-3", 1e-3),
        ("count", "4", 4),
        ("count", "off", "off"),
        ("mode", "b", "b"),
        ("flag", "true", True),
        ("flag", "No", False),
    ],
)
def test_command_line_text(name, text, value):
    assert spec(name).parse(text) == value


@pytest.mark.parametrize(("name", "text"), [("rate", "x"), ("count", "2.5"), ("flag", "maybe")])
def test_bad_command_line_text(name, text):
    with pytest.raises(ParameterError, match=name):
        spec(name).parse(text)


def test_relevance_follows_the_other_values():
    def shown(**values):
        return [s.name for s in relevant(Sample.specs(), values)]

    assert shown(mode="a", count="best") == ["rate", "count", "mode"]
    assert shown(mode="b", count="best") == ["rate", "count", "mode", "flag"]
    assert shown(mode="b", count=3) == ["rate", "count", "mode"]


def test_bounds_in_words():
    assert spec("rate").bounds() == "above 0 and at most 1"
    assert dataclasses.replace(spec("rate"), low=None, high=None).bounds() == "any number"
    assert dataclasses.replace(spec("count"), high=None).bounds() == "at least 1"
