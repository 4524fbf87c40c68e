"""Widgets bound to a draft, and the forms that declared fields generate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

from engine.algorithm import Algorithm
from engine.params import ParameterError, Spec, relevant
from engine.registry import GRAPHS, TITLES
from engine.studies.null import Shape
from pages.shell import nothing
from pages.shell import words as text
from pages.shell.drafts import Draft
from pages.shell.settings import filled, fits
from pages.shell.state import alone, behind, tell

Widget = Callable[..., Any]


def bound(widget: Widget, label: str, store: Draft, name: str, *, key: str, **options: Any) -> Any:
    """Show a widget with the value ``store[name]``, whatever page or rerun it is shown on."""

    def keep(value: Any) -> None:
        store[name] = value

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
    """Show a widget with this value; ``keep`` is given each that is chosen."""
    value = list(value) if isinstance(value, tuple) else value
    home = None if get_script_run_ctx() is None else ThreadState.get().fragment_id

    def changed() -> None:
        if _may_change(home) and not behind(key):
            keep(st.session_state[key])

    tell(key, value)
    return widget(label, key=key, on_change=changed, **_start(widget, value, options), **options)


def _may_change(home: str | None) -> bool:
    """Whether a person can have changed a widget of this fragment in this run.

    Pieces of a page that look again by the clock run alone, and bring all widgets' values as the
    browser had them when the clock struck: what the server has set since is no change.
    """
    pieces = alone()
    return pieces is None or home in pieces


def _start(widget: Widget, value: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """What a widget begins with in the browser, as an option of the widget.

    A new value is lost where another run begins before it was sent; a widget that is drawn without
    it would begin with its least number or first choice, and the browser would send that back.
    """
    if "options" in options:
        return _first_choice(widget, value, list(options["options"]), options.get("max_selections"))
    if widget not in (st.number_input, st.slider) or value is None:
        return {"value": value}
    numbers = [options[k] for k in ("min_value", "max_value", "step") if k in options]
    whole = bool(numbers) and all(isinstance(n, int) for n in numbers)
    if whole and not isinstance(value, int):
        return {}
    inside = options.get("min_value", value) <= value <= options.get("max_value", value)
    return {"value": value if whole else float(value)} if inside else {}


def _first_choice(widget: Widget, value: Any, among: list[Any], most: int | None) -> dict[str, Any]:
    if widget is st.multiselect:
        fits_all = all(one in among for one in value) and len(value) <= (most or len(value))
        return {"default": list(value)} if fits_all else {}
    if value not in among:
        return {}
    if widget in (st.selectbox, st.radio):
        return {"index": among.index(value)}
    return {"default" if widget is st.segmented_control else "value": value}


def radio(
    store: Draft, name: str, title: str, options: Iterable[str], *, key: str, help: str = ""
) -> None:
    """A choice of few, in one row."""
    bound(
        st.radio,
        title,
        store,
        name,
        key=key,
        options=options,
        format_func=text.label,
        horizontal=True,
        help=help or None,
    )


def number(store: Draft, name: str, title: str, *, key: str, help: str = "") -> None:
    """A number; the engine says what it refuses."""
    bound(st.number_input, title, store, name, key=key, format="%g", help=help or None)


def seed(store: Draft, name: str, title: str, *, key: str, help: str = "") -> None:
    """A seed: a whole number from 0."""
    bound(st.number_input, title, store, name, key=key, step=1, min_value=0, help=help or None)


def title_of(key: str) -> str:
    """The algorithm's name."""
    return TITLES[key]


def algorithm_choice(store: Draft, *, key: str, help: str = "") -> str:
    """Which algorithm."""
    return str(
        bound(
            st.selectbox,
            "Algorithm",
            store,
            "algorithm",
            key=key,
            options=list(GRAPHS),
            format_func=title_of,
            help=help or None,
        )
    )


# Declared fields ------------------------------------------------------------------------

PRIVACY = ("guarantee", "epsilon", "delta")
ENDS = {"epsilon": ("strong privacy", "little privacy"), "delta": ("rarely fails", "may fail")}
_DECADES = 3  # a log slider reaches so far to both sides of the default


def preset(algorithm: Algorithm, name: str) -> dict[str, Any]:
    """Every parameter of the algorithm: its defaults, with the preset laid over them."""
    return filled(algorithm.key, algorithm.presets[name])


def parameter_form(
    algorithm: Algorithm, values: Draft, *, key: str, shape: Shape | None, shown: bool = False
) -> None:
    """Show a widget for each parameter that has an effect, bound to ``values``.

    Privacy comes first, with one sentence on ε and, unless ``shown`` elsewhere,
    one on false positives under independence; the rest is folded away. ``shape`` is that of the
    data, where it is known.
    """
    values.update(filled(algorithm.key, values))
    specs = relevant(algorithm.params.specs(), values)
    for name in PRIVACY[:2]:
        for spec in (s for s in specs if s.name == name):
            parameter(spec, values, key=key)
    st.caption(text.epsilon_meaning(algorithm, values, None if shape is None else shape.rows))
    if shape is not None and values.get("guarantee") == "strict":
        nothing.regime([shape], [values["epsilon"]], values.get("delta"))
        nothing.unworkable([algorithm.key], [shape], [values["epsilon"]], values)
    if not shown:
        nothing.line(algorithm.key, shape, values, "form")
    rest = [s for s in specs if s.name not in PRIVACY[:2]]
    changed = sum(values[s.name] != s.default for s in rest)
    title = f"More settings ({changed} changed)" if changed else "More settings"
    with st.expander(title, key=f"{key}-more"):
        for spec in rest:
            parameter(spec, values, key=key)


def parameters(specs: Iterable[Spec], values: Draft, *, key: str) -> None:
    """Show a widget for each field that has an effect, in declared order."""
    specs = tuple(specs)
    for spec in specs:
        if spec in relevant(specs, values):
            parameter(spec, values, key=key)


def parameter(spec: Spec, values: Draft, *, key: str) -> None:
    """Show the widget that fits one declaration, bound to ``values[spec.name]``."""
    key = f"{key}-{spec.name}"
    if spec.kind == "text":
        _line(spec, values, key)
    elif spec.words:
        _worded(spec, values, key)
    elif spec.kind == "choice" and len(spec.choices) <= 3:
        radio(values, spec.name, spec.title, spec.choices, key=key, help=spec.help)
    elif spec.kind == "choice":
        bound(
            st.selectbox,
            spec.title,
            values,
            spec.name,
            key=key,
            options=spec.choices,
            format_func=text.label,
            help=spec.help,
        )
    elif spec.kind == "bool":
        bound(st.toggle, spec.title, values, spec.name, key=key, help=spec.help or None)
    elif spec.step is not None:
        ends = {"min_value": spec.low, "max_value": spec.high, "step": spec.step}
        bound(st.slider, spec.title, values, spec.name, key=key, help=spec.help or None, **ends)
    elif spec.among:
        bound(
            st.select_slider,
            spec.title,
            values,
            spec.name,
            key=key,
            options=spec.among,
            format_func=lambda v: f"{v:,}" if spec.kind == "int" else f"{v:g}",
            help=spec.help or None,
        )
    elif spec.log:
        _logarithmic(spec, values, key)
    else:
        _entry(spec, values, key, spec.title)


def _line(spec: Spec, values: Draft, key: str) -> None:
    """A line of words."""

    def keep(typed_in: str) -> None:
        values[spec.name] = text.one_line(typed_in)

    said, most = values[spec.name], int(spec.high or 0)
    placed(st.text_input, spec.title, said, keep, key=key, max_chars=most, help=spec.help or None)


def _entry(spec: Spec, values: Draft, key: str, title: str, **options: Any) -> None:
    """A number. Its bounds are not the widget's: the engine says in words what it refuses."""
    whole = spec.kind == "int"
    step = 1 if whole else _step(spec)
    shape = "%d" if whole else "%g"
    shown = {"help": f"{spec.help} It must be {spec.bounds()}.", **options}
    bound(
        st.number_input,
        title,
        values,
        spec.name,
        key=key,
        step=step,
        format=shape,
        **shown,
    )
    _complaint(spec, values[spec.name])


def _complaint(spec: Spec, value: Any) -> None:
    """What is wrong with a value, at its field."""
    try:
        spec.check(value)
    except ParameterError as error:
        st.markdown(f":red[{text.plain(str(error))}]")


def _step(spec: Spec) -> float:
    size = abs(spec.default) or 1.0
    return float(10 ** math.floor(math.log10(size)))


def _logarithmic(spec: Spec, values: Draft, key: str) -> None:
    """A slider over 1, 2, 5 of each decade, next to the exact number."""
    slider = f"{key}-slider"
    value = values[spec.name]
    grid = sorted({*_grid(spec), value if fits(spec, value) else spec.default})

    def keep(chosen: float) -> None:
        values[spec.name] = chosen

    left, right = st.columns([2.1, 1], vertical_alignment="bottom", gap="small")
    with left:
        placed(
            st.select_slider,
            spec.title,
            value if value in grid else spec.default,
            keep,
            key=slider,
            options=grid,
            help=spec.help,
            format_func=lambda v: f"{v:.10g}",
        )
        low, high = ENDS.get(spec.name, ("low", "high"))
        st.html(
            '<div style="display:flex;justify-content:space-between;font-size:.8rem;opacity:.75">'
            f"<span>{low}</span><span>{high}</span></div>"
        )
    with right:
        _entry(spec, values, key, "Exactly", help=None, label_visibility="collapsed")


def _grid(spec: Spec) -> list[float]:
    middle = round(math.log10(spec.default))
    powers = range(middle - _DECADES, middle + _DECADES + 1)
    points = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
    return [p for p in points[:-2] if fits(spec, p)]


def _worded(spec: Spec, values: Draft, key: str) -> None:
    """A named value, or a number typed into the same field."""
    value = values[spec.name]
    options = [*spec.words] if value in spec.words else [*spec.words, f"{value}"]

    def keep(entry: str) -> None:
        try:
            values[spec.name] = spec.parse(entry)
        except ParameterError:
            values[spec.name] = entry  # kept as typed; a run says what is wrong with it

    placed(
        st.selectbox,
        spec.title,
        f"{value}",
        keep,
        key=key,
        options=options,
        accept_new_options=True,
        format_func=text.label,
        help=f"{spec.help} Type a number to set it exactly.",
    )
