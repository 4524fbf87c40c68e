"""Declarative parameters.

One frozen dataclass per algorithm is at once its validation, its documentation, its form on the
page and its command-line flags. A field is declared with :func:`param`; a class that inherits from
:class:`Parameters` checks every field when it is built and raises :class:`ParameterError` with one
sentence that says what to do.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Self, TypeVar

from engine.errors import InputError, did_you_mean, show

Way = Mapping[str, tuple[Any, ...]]
N = TypeVar("N")
_WRITTEN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def number(text: str, kind: Callable[[str], N]) -> N:
    """Read a number that a person typed.

    ValueError for what Python reads as one and a person would not write: 1_0, nan, a blank at an
    end, digits of another script, or more than a double holds.
    """
    if not _WRITTEN.fullmatch(text) or (found := kind(text)) == math.inf or found == -math.inf:
        raise ValueError(text)
    return found


class ParameterError(InputError):
    """A parameter has an unknown name or a value outside its declared bounds."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """Everything that is declared about one parameter.

    ``kind`` is "float", "int", "bool", "choice", "many" (a tuple of different ``choices``, of any
    words where there are none) or "text", a line of at most ``high`` characters.
    Bounds are inclusive unless ``open_low``.
    ``words`` are named values that a number may take instead ("best", "auto"); None stands for the
    first of them. ``when`` maps other parameters' names to the values for which this one has any
    effect, or is several such maps of which one is to hold: the form hides it otherwise. ``step``
    makes the form show a slider from ``low`` to ``high``; ``among`` are the only values that a
    number may take.
    ``tuned`` are the ends between which a search for good settings looks; "rows" stands for n.
    ``later`` marks a field that was declared after requests had keys: a request leaves it out at
    its default, so that those keys stay.
    """

    name: str
    kind: str
    default: Any
    title: str
    help: str = ""
    low: float | None = None
    high: float | None = None
    open_low: bool = False
    choices: tuple[str, ...] = ()
    log: bool = False
    words: tuple[str, ...] = ()
    when: Way | tuple[Way, ...] = field(default_factory=dict)
    step: float | None = None
    among: tuple[float, ...] = ()
    tuned: tuple[float, float | str] | None = None
    later: bool = False

    def check(self, value: Any) -> Any:
        """Return ``value`` in the declared type; raise ParameterError where it does not fit."""
        if self.words and (value is None or value in self.words):
            return value or self.words[0]
        if self.kind == "choice":
            if value not in self.choices:
                known = ", ".join(self.choices)
                raise ParameterError(
                    f"{self.name} must be one of {known}; {show(value)} is not."
                    f"{did_you_mean(value, self.choices)}"
                )
            return str(value)
        if self.kind == "many":
            return self._check_many(value)
        if self.kind == "bool":
            if not isinstance(value, bool):
                raise ParameterError(f"{self.name} must be true or false, not {show(value)}.")
            return value
        if self.kind != "text":
            return self._check_number(value)
        most = int(self.high or 0)
        if not isinstance(value, str) or len(value) > most or not (value + " ").isprintable():
            raise ParameterError(f"{self.name} must be one line of at most {most} characters.")
        return value

    def _check_many(self, value: Any) -> tuple[str, ...]:
        chosen = tuple(value) if isinstance(value, (tuple, list)) else (value,)
        for one in chosen:
            if not isinstance(one, str) or (self.choices and one not in self.choices):
                among = ", ".join(self.choices) or "words"
                raise ParameterError(f"{self.name} must be of {among}; {show(one)} is not.")
        if len(set(chosen)) < len(chosen):
            raise ParameterError(f"{self.name} must not name one twice.")
        return chosen

    def _check_number(self, value: Any) -> float | int:
        wanted = numbers.Integral if self.kind == "int" else numbers.Real
        number = isinstance(value, wanted) and not isinstance(value, bool)
        if not number or value != value:
            raise ParameterError(f"{self.name} must be {self.noun()}, not {show(value)}.")
        if self.among and value not in self.among:
            numbers_ = ", ".join(f"{v:g}" for v in self.among)
            raise ParameterError(f"{self.name} must be one of {numbers_}; {show(value)} is not.")
        below = self.low is not None and (value <= self.low if self.open_low else value < self.low)
        if below or (self.high is not None and value > self.high):
            raise ParameterError(f"{self.name} must be {self.bounds()}; {show(value)} is not.")
        try:
            return int(value) if self.kind == "int" else float(value)
        except OverflowError:
            raise ParameterError(f"{self.name} must be smaller than {show(value)}.") from None

    def matters(self, values: Mapping[str, Any]) -> bool:
        """Whether the parameter has an effect where the others have these values."""
        ways = self.when if isinstance(self.when, tuple) else (self.when,)
        return any(all(values.get(k) in admitted for k, admitted in w.items()) for w in ways)

    def bounds(self) -> str:
        """The admitted range in words, e.g. "above 0 and at most 1000"."""
        parts = []
        if self.low is not None:
            parts.append(f"{'above' if self.open_low else 'at least'} {self.low:g}")
        if self.high is not None:
            large = self.kind == "int" and self.high >= 1e6
            parts.append(f"at most {self.high:,}" if large else f"at most {self.high:g}")
        return " and ".join(parts) or "any number"

    def parse(self, text: str) -> Any:
        """The value a command-line flag's text stands for."""
        if text in self.words:
            return text
        if self.kind == "bool":
            if text.lower() not in {"true", "false", "yes", "no", "1", "0"}:
                raise ParameterError(f"{self.name} must be true or false, not {show(text)}.")
            return text.lower() in {"true", "yes", "1"}
        if self.kind in ("choice", "text"):
            return text
        if self.kind == "many":
            return tuple(filter(None, text.split(",")))
        try:
            return number(text, int if self.kind == "int" else float)
        except ValueError:
            raise ParameterError(f"{self.name} must be {self.noun()}, not {show(text)}.") from None

    def noun(self) -> str:
        """Kind of value in words, e.g. 'a whole number or "best"'."""
        words = "".join(f' or "{word}"' for word in self.words)
        return ("a whole number" if self.kind == "int" else "a number") + words


def param(default: Any, title: str = "", **declared: Any) -> Any:
    """Declare one field of a :class:`Parameters` class; the keywords are those of :class:`Spec`.

    ``kind`` follows from the default: a number whose default is one of ``words`` needs it stated.
    """
    kinds = {bool: "bool", int: "int", float: "float", tuple: "many"}
    kind = kinds.get(type(default), "choice" if "choices" in declared else "text")
    declared = {"kind": kind, "title": title, **declared}
    return field(default=default, metadata={"declared": declared})


def again(parent: type[Parameters], name: str, **changes: Any) -> Any:
    """Declare an inherited field again, as the parent does but for ``changes``.

    ``default`` may be among them; the others are keywords of :class:`Spec`.
    """
    inherited = {f.name: f for f in fields(parent)}[name]
    default = changes.pop("default", inherited.default)
    return param(default, **{**inherited.metadata["declared"], **changes})


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Base of every parameter class: validated at construction, hashable, serialisable."""

    def __post_init__(self) -> None:
        for spec in self.specs():
            object.__setattr__(self, spec.name, spec.check(getattr(self, spec.name)))
        self.check_together()

    def check_together(self) -> None:
        """Override for conditions that join several parameters."""

    @property
    def by_order(self) -> bool:
        """Whether the graph may depend on the order of the columns."""
        return False

    @classmethod
    @cache
    def specs(cls) -> tuple[Spec, ...]:
        """The declarations, in the order in which a form should show them."""
        return tuple(
            Spec(name=f.name, default=f.default, **f.metadata["declared"]) for f in fields(cls)
        )

    @classmethod
    def build(cls, values: Mapping[str, Any]) -> Self:
        """Construct from a mapping; unknown names raise ParameterError and name a near match."""
        known = [f.name for f in fields(cls)]
        for name in values:
            if name not in known:
                raise ParameterError(
                    f"There is no parameter {show(name)} here; there are {', '.join(known)}."
                    f"{did_you_mean(name, known)}"
                )
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        """Name to value, in declared order."""
        return dataclasses.asdict(self)


def relevant(specs: tuple[Spec, ...], values: Mapping[str, Any]) -> tuple[Spec, ...]:
    """The declarations that have an effect under ``values`` (see ``Spec.when``)."""
    return tuple(s for s in specs if s.matters(values))


def settled(specs: tuple[Spec, ...], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that an identity holds: all but those of ``Spec.later`` at their defaults."""
    silent = {spec.name: spec.default for spec in specs if spec.later}
    return {k: v for k, v in values.items() if k not in silent or v != silent[k]}
