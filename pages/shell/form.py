"""Widgets bound to a draft, and forms made from declared fields."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Literal, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from engine.errors import InputError
from engine.params import ParameterError, Spec, relevant
from pages.shell import words as text
from pages.shell.state import Draft, Place, Values

Widget = Callable[..., Any]
T = TypeVar("T")
# For each widget: how often the server gave it another value, the value that it showed last, and
# the one that it was given then, unless a person has chosen since.
_DRAWN: Place[dict[str, tuple[int, Any, tuple[Any, ...]]]] = Place("drawn", dict)


# Parts of a page ------------------------------------------------------------------------


@contextmanager
def refusals(say: Callable[..., object] = st.error, icon: str = "error") -> Iterator[None]:
    """Show the sentence of an InputError in place of the rest of this part."""
    try:
        yield
    except InputError as error:
        say(text.plain(str(error)), icon=f":material/{icon}:")


def folded(title: str, draw: Callable[[], object], *, key: str, icon: str | None = None) -> None:
    """Show an expander; ``draw`` its content only while it is open."""
    icon = icon and f":material/{icon}:"
    box = st.expander(title, key=key, icon=icon, on_change="rerun")
    if box.open:
        with box:
            draw()


def beside(
    items: Iterable[T], across: int = 2, gap: Literal["small", "medium"] = "small"
) -> Iterator[tuple[DeltaGenerator, T]]:
    """Yield a place for each item, ``across`` of them in a row."""
    for k, item in enumerate(items):
        if k % across == 0:
            places = st.columns(across, gap=gap)
        yield places[k % across], item


# Widgets --------------------------------------------------------------------------------


def bound(widget: Widget, label: str, store: Draft, name: str, *, key: str, **options: Any) -> Any:
    """Show a widget with the value ``store[name]``, on every page and rerun.

    With ``start``, this value replaces one that is not among the ``options``.
    """
    start = options.pop("start", None)
    if start is not None and store.get(name) not in options["options"]:
        store[name] = start
    keep = partial(store.__setitem__, name)
    return placed(widget, label, store[name], keep, key=key, **options)


def placed(
    widget: Widget,
    label: str,
    value: Any,
    keep: Callable[[Any], None],
    *,
    key: str,
    **options: Any,
) -> Any:
    """Show a widget with this value; ``keep`` is called with each value that is chosen.

    The call happens before the page is drawn, or here if the next press ended that run. A widget
    to which the server gives another value is drawn as a new one: a press before the browser has
    it sends the old widget's value, which is no choice. A space at the end of its key, which the
    browser's name for it does not have, tells it from the old one.
    """
    value = list(value) if isinstance(value, tuple) else value
    held = _DRAWN.get()
    times, shown, given = held.get(key, (0, value, (value,)))
    here = st.session_state.get(key + times * " ", shown)
    if here != shown:  # chosen, and the run that would have kept it was ended
        keep(here)
        value = here
    elif value not in (*given, here):
        times += 1
    name = key + times * " "

    def changed() -> None:
        if held[key][0] == times:
            new = st.session_state[name]
            keep(new)
            held[key] = times, new, ()

    shown = widget(label, key=name, on_change=changed, **_start(widget, value, options), **options)
    held[key] = times, shown, (value,)
    return shown


def keeping(values: Values) -> Callable[[Mapping[str, Any]], None]:
    """Return a function that keeps a component's report, in the types of declared fields."""

    def keep(reported: Mapping[str, Any]) -> None:
        for name, value in reported.items():
            with suppress(ParameterError):  # None, or a seed that was counted beyond its range
                values[name] = values.specs[name].check(value)

    return keep


def _start(widget: Widget, value: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a widget's first value in the browser, as an option of the widget.

    A new value is lost if another run begins before it was sent. A widget drawn without it would
    begin with its lowest number or first choice, and the browser would send that back.
    """
    kind = widget.__name__
    if "options" in options:
        choices = list(options["options"])
        if kind == "multiselect":
            most = options.get("max_selections") or len(choices)
            fitting = set(value) <= set(choices) and len(value) <= most
            return {"default": value} if fitting else {}
        if value not in choices:
            return {}
        if kind in ("selectbox", "radio"):
            return {"index": choices.index(value)}
        return {"value" if kind == "select_slider" else "default": value}
    if kind not in ("number_input", "slider") or value is None:
        return {"value": value}
    whole = isinstance(options.get("step"), int)
    if whole and not isinstance(value, int):
        return {}
    inside = options.get("min_value", value) <= value <= options.get("max_value", value)
    return {"value": value if whole else float(value)} if inside else {}


# Declared fields ------------------------------------------------------------------------

ENDS = {"epsilon": ("strong privacy", "weak privacy"), "delta": ("rarely fails", "may fail")}
_DECADES = 3  # decades of a log slider on both sides of the default


def parameters(specs: Iterable[Spec], values: Draft, *, key: str) -> None:
    """Show a widget for each field that has an effect, in declared order."""
    specs = tuple(specs)
    for spec in specs:
        if spec in relevant(specs, values):
            parameter(spec, values, key=key)


def parameter(spec: Spec, values: Draft, *, key: str, **options: Any) -> None:
    """Show the widget that fits one declaration, bound to ``values[spec.name]``.

    ``options`` go to the widget.
    """
    key = f"{key}-{spec.name}"
    if spec.words or not spec.log:
        _entry(spec, values, key, spec.title, **options)
        return
    left, right = st.columns([2.1, 1], vertical_alignment="bottom", gap="small")
    with left:
        _logarithmic(spec, values, f"{key}-slider")
    with right:
        _entry(spec, values, key, f"{spec.title}, exactly", help=None, label_visibility="collapsed")


def _entry(spec: Spec, values: Draft, key: str, title: str, **options: Any) -> None:
    """Show one widget. A number's bounds are not passed to the widget; an error is shown below
    it."""
    value = values[spec.name]

    def keep(entry: Any) -> None:
        try:
            values[spec.name] = spec.parse(entry) if spec.words else entry
        except ParameterError:
            values[spec.name] = entry  # kept as typed, with the error

    widget, made = _widget(spec, value)
    made = {"help": spec.help or None, **made, **options}
    with st.container(key=f"field-{key}", gap=None):
        placed(widget, title, f"{value}" if spec.words else value, keep, key=key, **made)
        if problem := fault(spec, values[spec.name]):
            refuse(problem, key=key)


def refuse(problem: str, *, key: str) -> None:
    """Say below a field why its entry is refused."""
    with st.container(key=f"fault-{key}"):
        st.html(f'<div role="alert">{text.safe(problem)}</div>')


def _widget(spec: Spec, value: Any) -> tuple[Widget, dict[str, Any]]:
    """Return the widget that fits a declaration, and its options."""
    if spec.kind == "text":
        return st.text_input, {"max_chars": int(spec.high or 0)}
    if spec.words:  # a named value, or a number typed into the same field
        typed = [] if value in spec.words else [f"{value}"]
        about = {"help": f"{spec.help} Type a number to set it exactly.", "format_func": text.label}
        return st.selectbox, {"options": [*spec.words, *typed], "accept_new_options": True, **about}
    if spec.kind == "choice":
        options: dict[str, Any] = {"options": spec.choices, "format_func": text.label}
        if len(spec.choices) <= 3:
            return st.radio, options | {"horizontal": True}
        return st.selectbox, options
    if spec.kind == "many":
        return st.multiselect, {"options": spec.choices, "format_func": text.label}
    if spec.kind == "bool":
        return st.toggle, {}
    whole = spec.kind == "int"
    if spec.step is not None:
        return st.slider, {"min_value": spec.low, "max_value": spec.high, "step": spec.step}
    if spec.among:
        look = "{:,}" if whole else "{:g}"
        return st.select_slider, {"options": spec.among, "format_func": look.format}
    step = 1 if whole else float(10 ** math.floor(math.log10(abs(spec.default) or 1.0)))
    help_ = f"{spec.help} It must be {spec.bounds()}."
    return st.number_input, {"step": step, "format": "%d" if whole else "%g", "help": help_}


def _logarithmic(spec: Spec, values: Draft, key: str) -> None:
    """Show a slider over 1, 2, 5 of each decade, with its two ends in words."""
    keep = partial(values.__setitem__, spec.name)
    value = values[spec.name] if not fault(spec, values[spec.name]) else spec.default
    middle = round(math.log10(spec.default))
    powers = range(middle - _DECADES, middle + _DECADES + 1)
    points = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)][:-2]
    grid = sorted({value, *(p for p in points if not fault(spec, p))})
    options = {"options": grid, "format_func": text.number, "help": spec.help}
    low, high = ENDS.get(spec.name, ("low", "high"))
    with st.container(gap="xxsmall"):
        placed(st.select_slider, spec.title, value, keep, key=key, **options)
        st.html(
            '<div style="display:flex;justify-content:space-between;font-size:.8rem;opacity:.75">'
            f"<span>{low}</span><span>{high}</span></div>"
        )


def fault(spec: Spec, value: Any) -> str:
    """Return why the declaration refuses the value in one sentence, or "" if it does not."""
    try:
        spec.check(value)
    except ParameterError as error:
        return str(error)
    return ""
