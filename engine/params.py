"""Parameters by declaration.

One frozen dataclass per algorithm provides its validation, documentation, page form and
command-line flags. :func:`param` declares a field. A class that inherits from :class:`Parameters`
checks every field when it is constructed and raises :class:`ParameterError` with one sentence that
says what to do.
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
    """Parse a number that a person typed.

    Raises ValueError for text that Python accepts but a person would not write: 1_0, nan, a blank
    at an end, digits of another script, or a number too large for a double.
    """
    if not _WRITTEN.fullmatch(text) or (found := kind(text)) == math.inf or found == -math.inf:
        raise ValueError(text)
    return found


class ParameterError(InputError):
    """An unknown parameter name, or a value outside the declared bounds."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """The declaration of one parameter.

    ``kind`` is "float", "int", "bool", "choice", "many" or "text". "many" is a tuple of different
    ``choices``, or of any words if there are no choices; "text" is a line of at most ``high``
    characters. Bounds are inclusive unless ``open_low``. ``words`` are names that may replace a
    number ("best", "auto"); None means the first of them. ``when`` maps other parameters to the
    values for which this one has an effect; the form hides it otherwise. Several maps are
    alternatives. With ``step`` the form shows a slider from ``low`` to ``high``. ``among`` lists
    the only values that a number may have. ``tuned`` gives the range for a search for good
    settings; "rows" stands for n. ``later`` marks a field declared after requests got keys. A
    request omits it at its default, so that old keys stay valid.
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
        """Return ``value`` in the declared type, or raise ParameterError if it does not fit."""
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
            raise ParameterError(f"{self.name} must not repeat a value.")
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
        """Return whether the parameter has an effect when the others have these values."""
        ways = self.when if isinstance(self.when, tuple) else (self.when,)
        return any(all(values.get(k) in admitted for k, admitted in w.items()) for w in ways)

    def bounds(self) -> str:
        """Return the admitted range in words, e.g. "above 0 and at most 1000"."""
        parts = []
        if self.low is not None:
            parts.append(f"{'above' if self.open_low else 'at least'} {self.low:g}")
        if self.high is not None:
            large = self.kind == "int" and self.high >= 1e6
            parts.append(f"at most {self.high:,}" if large else f"at most {self.high:g}")
        return " and ".join(parts) or "any number"

    def parse(self, text: str) -> Any:
        """Parse the text of a command-line flag."""
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
        """Return the kind of value in words, e.g. 'a whole number or "best"'."""
        words = "".join(f' or "{word}"' for word in self.words)
        return ("a whole number" if self.kind == "int" else "a number") + words


def param(default: Any, title: str = "", **declared: Any) -> Any:
    """Declare one field of a :class:`Parameters` class; the keywords are :class:`Spec` fields.

    ``kind`` follows from the default. It must be given for a number whose default is one of
    ``words``.
    """
    kinds = {bool: "bool", int: "int", float: "float", tuple: "many"}
    kind = kinds.get(type(default), "choice" if "choices" in declared else "text")
    declared = {"kind": kind, "title": title, **declared}
    return field(default=default, metadata={"declared": declared})


def again(parent: type[Parameters], name: str, **changes: Any) -> Any:
    """Declare an inherited field again, with ``changes`` to the parent's declaration.

    ``changes`` may include ``default``; the others are keywords of :class:`Spec`.
    """
    inherited = {f.name: f for f in fields(parent)}[name]
    default = changes.pop("default", inherited.default)
    return param(default, **{**inherited.metadata["declared"], **changes})


@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Base class of all parameters: validated when constructed, hashable, serialisable."""

    def __post_init__(self) -> None:
        for spec in self.specs():
            object.__setattr__(self, spec.name, spec.check(getattr(self, spec.name)))
        self.check_together()

    def check_together(self) -> None:
        """Override this for conditions on several parameters."""

    @property
    def by_order(self) -> bool:
        """Return whether the graph may depend on the order of the columns."""
        return False

    @classmethod
    @cache
    def specs(cls) -> tuple[Spec, ...]:
        """Return the declarations in the order in which a form shows them."""
        return tuple(
            Spec(name=f.name, default=f.default, **f.metadata["declared"]) for f in fields(cls)
        )

    @classmethod
    def build(cls, values: Mapping[str, Any]) -> Self:
        """Construct from a mapping; ParameterError with a near match for an unknown name."""
        known = [f.name for f in fields(cls)]
        for name in values:
            if name not in known:
                raise ParameterError(
                    f"There is no parameter {show(name)} here; there are {', '.join(known)}."
                    f"{did_you_mean(name, known)}"
                )
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        """Return the values by name, in declared order."""
        return dataclasses.asdict(self)


def relevant(specs: tuple[Spec, ...], values: Mapping[str, Any]) -> tuple[Spec, ...]:
    """Return the declarations that have an effect under ``values`` (see ``Spec.when``)."""
    return tuple(s for s in specs if s.matters(values))


def settled(specs: tuple[Spec, ...], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of an identity: all but ``Spec.later`` ones at their defaults."""
    silent = {spec.name: spec.default for spec in specs if spec.later}
    return {k: v for k, v in values.items() if k not in silent or v != silent[k]}
