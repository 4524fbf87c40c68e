"""Fields as pages declare them, with the engine's ``param``.

A declaration is the field's widget, its bounds, and what an address may say of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.params import Parameters, Spec, param


def choice(default: str, title: str, choices: Sequence[str], **more: Any) -> Any:
    """Declare a choice of few."""
    return param(default, kind="choice", title=title, choices=tuple(choices), **more)


def slider(default: float, title: str, low: float, high: float, step: float, **more: Any) -> Any:
    """Declare a number on a slider."""
    ends = {"low": low, "high": high, "step": step}
    return param(default, kind="float", title=title, **ends, **more)


def among(default: float, title: str, values: Sequence[float], **more: Any) -> Any:
    """Declare a number that is one of a few."""
    kind = "int" if isinstance(default, int) else "float"
    return param(default, kind=kind, title=title, among=tuple(values), **more)


def number(default: float, title: str, low: float, high: float, **more: Any) -> Any:
    """Declare a number that is typed."""
    kind = "int" if isinstance(default, int) else "float"
    return param(default, kind=kind, title=title, low=low, high=high, **more)


def switch(default: bool, title: str, **more: Any) -> Any:
    """Declare a yes or no."""
    return param(default, kind="bool", title=title, **more)


def many(default: Sequence[str], title: str, choices: Sequence[str] = (), **more: Any) -> Any:
    """Declare a choice of several; of any words where no choices are given."""
    return param(tuple(default), kind="many", title=title, choices=tuple(choices), **more)


def line(title: str, most: int, **more: Any) -> Any:
    """Declare a line of words, at most so many characters."""
    return param("", kind="text", title=title, high=most, **more)


def defaults(fields: type[Parameters]) -> dict[str, Any]:
    """Every field at its start."""
    return {spec.name: spec.default for spec in fields.specs()}


def spec_of(fields: type[Parameters], name: str) -> Spec:
    """One field's declaration."""
    return next(spec for spec in fields.specs() if spec.name == name)


def places(spec: Spec) -> list[float]:
    """Every place of a field's slider."""
    assert spec.low is not None
    assert spec.high is not None
    assert spec.step is not None
    count = round((spec.high - spec.low) / spec.step)
    return [round(spec.low + k * spec.step, 6) for k in range(count + 1)]


def nearest(places: Sequence[float], value: float) -> int:
    """Which of the places lies nearest to a value."""
    return min(range(len(places)), key=lambda k: abs(places[k] - value))
