"""Widgets bound to a draft, the forms that declared fields make, and the choice of a dataset."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

from engine import Dataset, InputError, Knowledge
from engine.algorithm import Algorithm
from engine.data.networks import NETWORKS, load_network
from engine.graphs.known import ready_sets
from engine.params import ParameterError, Spec, relevant
from engine.registry import GRAPHS, TITLES
from engine.studies.detectability import Shape
from pages.shell import words as text
from pages.shell.runs import count_line, warn
from pages.shell.settings import (
    MODEL,
    OWN,
    SEM,
    VISIT,
    data_for,
    draft,
    drafted_known,
    drafted_source,
    filled,
)
from pages.shell.state import Draft, alone, behind, heard, tell, unheard

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
    """Show a widget with this value; ``keep`` is given each that is chosen.

    That is before the page is drawn; or here, where the next press cut the first run short.
    """
    value = list(value) if isinstance(value, tuple) else value
    home = None if get_script_run_ctx() is None else ThreadState.get().fragment_id

    def changed() -> None:
        if _may_change(home) and not behind(key):
            keep(st.session_state[key])
            heard(key)

    if unheard(key):
        changed()
        value = value if unheard(key) else st.session_state[key]
    tell(key, value)
    shown = widget(label, key=key, on_change=changed, **_start(widget, value, options), **options)
    heard(key)
    return shown


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
        choices = list(options["options"])
        if widget is st.multiselect:
            most = options.get("max_selections") or len(choices)
            fitting = set(value) <= set(choices) and len(value) <= most
            return {"default": value} if fitting else {}
        if value not in choices:
            return {}
        if widget in (st.selectbox, st.radio):
            return {"index": choices.index(value)}
        return {"value" if widget is st.select_slider else "default": value}
    if widget not in (st.number_input, st.slider) or value is None:
        return {"value": value}
    whole = isinstance(options.get("step"), int)
    if whole and not isinstance(value, int):
        return {}
    inside = options.get("min_value", value) <= value <= options.get("max_value", value)
    return {"value": value if whole else float(value)} if inside else {}


def title_of(key: str) -> str:
    """The algorithm's name."""
    return TITLES[key]


def algorithm_choice(store: Draft, *, key: str) -> str:
    """Which algorithm."""
    options = {"options": list(GRAPHS), "format_func": title_of}
    return str(bound(st.selectbox, "Algorithm", store, "algorithm", key=key, **options))


# Declared fields ------------------------------------------------------------------------

PRIVACY = ("epsilon", "guarantee")  # the fields that every private algorithm has, in sight
ENDS = {"epsilon": ("strong privacy", "little privacy"), "delta": ("rarely fails", "may fail")}
# What is an algorithm's own to turn, the most telling first.
LEVERS = (
    *("tweak", "beta1", "beta2", "subsample", "rounds", "tests", "clip", "gradients"),
    *("initial", "radius", "caution", "threshold"),
)
_DECADES = 3  # a log slider reaches so far to both sides of the default


def parameter_form(
    algorithm: Algorithm,
    values: Draft,
    shape: Shape | None,
    *,
    levers: int = 0,
    folded: Callable[[], object] = lambda: None,
) -> None:
    """Show a widget for each parameter that has an effect, bound to ``values``.

    Privacy comes first, with a warning where ε is too small for data of this ``shape``, then so
    many of the algorithm's own levers. The rest is folded away, behind what ``folded`` draws; that
    comes first in time, for a preset sets all of them.
    """
    values.update(filled(algorithm.key, values))
    sight = st.container()
    before = relevant(algorithm.params.specs(), values)
    changed = sum(values[s.name] != s.default for s in before if s.name not in PRIVACY)
    title = f"More settings ({changed} changed)" if changed else "More settings"
    with st.expander(title, key="param-more"):
        folded()
        values.update(filled(algorithm.key, values))
        kinds = next((s.help for s in before if s.name == "guarantee"), None)
        rows = None if shape is None else shape.rows
        st.caption(text.epsilon_meaning(algorithm, values, rows), help=kinds)
        count_line(algorithm.key, shape, values, "form")
        rest = st.container()
    specs = {s.name: s for s in relevant(algorithm.params.specs(), values)}
    with sight:
        for name in PRIVACY:
            if name in specs:
                # what a guarantee means is said below, where the rest unfolds
                more = {"help": None} if name == "guarantee" else {}
                parameter(specs.pop(name), values, key="param", **more)
        first = [name for name in LEVERS if name in specs][:levers]
        columns = st.columns(levers, gap="small") if first else []
        for column, name in zip(columns, first, strict=False):
            with column:
                parameter(specs.pop(name), values, key="param")
        warn(algorithm.key, shape, values, brief=True)
    with rest:
        for spec in specs.values():
            parameter(spec, values, key="param")


def parameters(specs: Iterable[Spec], values: Draft, *, key: str) -> None:
    """Show a widget for each field that has an effect, in declared order."""
    specs = tuple(specs)
    for spec in specs:
        if spec in relevant(specs, values):
            parameter(spec, values, key=key)


def parameter(spec: Spec, values: Draft, *, key: str, **options: Any) -> None:
    """Show the widget that fits one declaration, bound to ``values[spec.name]``.

    ``options`` are the widget's.
    """
    key = f"{key}-{spec.name}"
    if spec.words or not spec.log:
        _entry(spec, values, key, spec.title, **options)
        return
    left, right = st.columns([2.1, 1], vertical_alignment="bottom", gap="small")
    with left:
        _logarithmic(spec, values, f"{key}-slider")
    with right:
        _entry(spec, values, key, "Exactly", help=None, label_visibility="collapsed")


def _entry(spec: Spec, values: Draft, key: str, title: str, **options: Any) -> None:
    """One widget. A number's bounds are not the widget's: what is wrong is said below it."""
    value = values[spec.name]

    def keep(entry: Any) -> None:
        try:
            values[spec.name] = spec.parse(entry) if spec.words else entry
        except ParameterError:
            values[spec.name] = entry  # kept as typed; a run says what is wrong with it

    widget, made = _widget(spec, value)
    made = {"help": spec.help or None, **made, **options}
    placed(widget, title, f"{value}" if spec.words else value, keep, key=key, **made)
    if widget is st.number_input:
        try:
            spec.check(values[spec.name])
        except ParameterError as error:
            st.markdown(f":red[{text.plain(str(error))}]")


def _widget(spec: Spec, value: Any) -> tuple[Widget, dict[str, Any]]:
    """The widget that fits a declaration, and its options."""
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
    """A slider over 1, 2, 5 of each decade, with its two ends in words."""

    def keep(chosen: float) -> None:
        values[spec.name] = chosen

    value = values[spec.name] if _fits(spec, values[spec.name]) else spec.default
    middle = round(math.log10(spec.default))
    powers = range(middle - _DECADES, middle + _DECADES + 1)
    points = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)][:-2]
    grid = sorted({value, *(p for p in points if _fits(spec, p))})
    options = {"options": grid, "format_func": "{:.10g}".format, "help": spec.help}
    low, high = ENDS.get(spec.name, ("low", "high"))
    with st.container(gap="xxsmall"):
        placed(st.select_slider, spec.title, value, keep, key=key, **options)
        st.html(
            '<div style="display:flex;justify-content:space-between;font-size:.8rem;opacity:.75">'
            f"<span>{low}</span><span>{high}</span></div>"
        )


def _fits(spec: Spec, value: Any) -> bool:
    """Whether the declaration admits the value."""
    try:
        spec.check(value)
    except ParameterError:
        return False
    return True


# Which dataset, and what is known of it ---------------------------------------------------


@st.cache_data(show_spinner=False)
def _network_label(name: str) -> str:
    """A dataset's name with its size."""
    if name in (OWN, SEM):
        return {OWN: "Your own data", SEM: "Simulated linear model (SEM)"}[name]
    graph = load_network(name).dag()
    return f"{name.capitalize()} · {len(graph)} nodes, {graph.number_of_edges()} edges"


def picker(*, key: str, seeded: bool = True) -> None:
    """The fields that choose a dataset, bound to the draft; ``seeded`` with their seed."""
    form, options = draft(), [*NETWORKS, SEM, OWN]
    about: dict[str, Any] = {"key": f"{key}-network", "format_func": _network_label}
    bound(st.selectbox, "Dataset", form, "data", options=options, **about)
    if form["data"] == OWN:
        from pages.shell.own import upload  # without an own file nobody waits for it

        upload(key=key)
        return
    if form["data"] == SEM:
        columns = st.columns(2, gap="small")
        for k, name in enumerate((MODEL[0], MODEL[3], *MODEL[1:3])):
            with columns[k % 2]:
                parameter(VISIT[name], form, key=key)
    left, right = st.columns([3, 2], gap="small")
    with left:
        parameter(VISIT["n"], form, key=key, step=1000, help=None)
    if seeded:
        with right:
            parameter(VISIT["sample"], form, key=key)


def known_button(key: str) -> None:
    """Opens the dialog on what is known of the form's dataset; its label says how much that is."""
    source = drafted_source()
    try:
        data = data_for(source)
    except InputError:
        return
    known = drafted_known(source)
    if st.button(
        f"What is known: {known_label(data, known)}",
        key=f"{key}-known",
        icon=":material/account_tree:",
        width="stretch",
        help="Facts that you state: public, and free of ε.",
    ):
        from pages.shell.knowledge import known_dialog

        known_dialog(data)


def known_label(data: Dataset, known: Knowledge | None) -> str:
    """What is known in two or three words."""
    if not known:
        return "nothing"
    arrows = len(known.forbidden) + len(known.required)
    for name, found in ({} if data.truth is None else ready_sets(data.truth)).items():
        if found.tiers == known.tiers and not arrows:
            return name
    counted = {"tier": len(known.tiers), "arrow": arrows}
    return ", ".join(text.count(n, noun) for noun, n in counted.items() if n) or "a little"
