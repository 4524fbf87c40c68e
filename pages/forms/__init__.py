"""The forms of a run (dataset, algorithm, settings) and its false positives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import streamlit as st

from engine import Dataset, InputError, Knowledge
from engine.algorithm import WHOLE_RUN, Algorithm
from engine.data.networks import NETWORKS, load_network
from engine.graphs.known import ready_sets
from engine.params import relevant
from engine.registry import TITLES, algorithm
from engine.request import MODEL, OWN, SEM, Source, filled
from engine.studies.detectability import Invented, Shape, detectability, unworkable
from engine.words.run import CLAIMED, guesses
from pages.shell import words as text
from pages.shell.form import beside, bound, parameter
from pages.shell.runs import Shown
from pages.shell.settings import VISIT, check_rows, data_for, draft, drafted_known, drafted_source
from pages.shell.state import Draft
from pages.shell.task import Task, redraw_until_done, shared
from pages.shell.words import number
from pages.worker import false_links

SIGHT = 2  # main settings of an algorithm that are not folded away
PRIVACY = ("epsilon", "guarantee")  # the fields of every private algorithm, always shown
# The main settings of single algorithms, those with the largest effect first.
LEVERS = (
    *("tweak", "beta1", "beta2", "subsample", "rounds", "tests", "clip", "gradients"),
    *("initial", "radius", "caution", "threshold"),
)


@st.cache_data(show_spinner=False)
def _network_label(name: str) -> str:
    """Return a dataset's name with its size."""
    if name in (OWN, SEM):
        return {OWN: "Your own data", SEM: "Simulated linear model (SEM)"}[name]
    graph = load_network(name).dag()
    return f"{name.capitalize()} · {len(graph)} nodes, {graph.number_of_edges()} edges"


def picker(*, key: str, seeded: bool = True) -> None:
    """Draw the fields that choose a dataset, bound to the draft; ``seeded`` adds their seed."""
    form, options = draft(), [*NETWORKS, SEM, OWN]
    about: dict[str, Any] = {"key": f"{key}-network", "format_func": _network_label}
    bound(st.selectbox, "Dataset", form, "data", options=options, **about)
    if form["data"] == OWN:
        from pages.shell.own import upload  # pages without a user's file do not load it

        upload(key=key)
        return
    if form["data"] == SEM:
        for place, name in beside(MODEL):
            with place:
                parameter(VISIT[name], form, key=key)
    left, right = st.columns([3, 2], gap="small")
    with left:
        parameter(VISIT["n"], form, key=key, step=1000, help=None)
    if seeded:
        with right:
            parameter(VISIT["sample"], form, key=key)


def parameter_form(
    algorithm: Algorithm,
    values: Draft,
    *,
    asked: Sequence[str] = (),
    folded: Callable[[], object] = lambda: None,
) -> None:
    """Show a widget for each parameter that has an effect, bound to ``values``.

    Privacy comes first, with a warning if ε is too small for the form's data, then the algorithm's
    main settings. The rest is folded away after the part that ``folded`` draws. This part runs
    first, because a preset sets all of them. Parameters in ``asked`` have no widget here; with
    them all settings are folded away.
    """
    values.update(filled(algorithm.key, values))
    sight, shape = st.container(), shape_of(drafted_source())
    before = relevant(algorithm.params.specs(), values)
    changed = sum(values[s.name] != s.default for s in before if s.name not in PRIVACY)
    title = f"More settings ({changed} changed)" if changed else "More settings"
    with st.expander(title, key="param-more"):
        folded()
        values.update(filled(algorithm.key, values))
        kinds = next((s.help for s in before if s.name == "guarantee"), None)
        rows = None if shape is None else shape.rows
        st.caption(epsilon_meaning(algorithm, values, rows), help=kinds)
        count_line(algorithm.key, shape, values, "form")
        rest = st.container()
    specs = {s.name: s for s in relevant(algorithm.params.specs(), values) if s.name not in asked}
    with sight:
        for name in PRIVACY:
            if name in specs:
                # the caption of the other settings explains a guarantee
                more = {"help": None} if name == "guarantee" else {}
                parameter(specs.pop(name), values, key="param", **more)
        if not asked:
            for place, name in beside([name for name in LEVERS if name in specs][:SIGHT]):
                with place:
                    parameter(specs.pop(name), values, key="param")
            warn(algorithm.key, shape, values, brief=True)
    with rest:
        for spec in specs.values():
            parameter(spec, values, key="param")


def epsilon_meaning(algorithm: Algorithm, values: Mapping[str, Any], n: int | None) -> str:
    """Return one sentence on the meaning of the chosen ε, and one more if δ is too large."""
    epsilon, delta = values.get("epsilon"), values.get("delta", 0.0)
    if not algorithm.private:
        return "No privacy: the data are read without noise."
    if not isinstance(epsilon, int | float) or not epsilon > 0:
        return "ε must be a number above 0."
    if values.get("guarantee") == "published":
        whole = algorithm.epsilon_pays == WHOLE_RUN
        total = f"{CLAIMED}, the total that the paper states"
        what = total if whole else f"ε for {algorithm.epsilon_pays}"
        said = f"Published: {what}. The result shows the proven ε."
    else:
        said = "Guaranteed for the whole run: the attacker is right at most "
        said += f"{guesses(epsilon)} times in 100 (δ = {number(delta)})."
    if n and isinstance(delta, int | float) and delta * n >= 1:
        said += f" δ is not below 1/n = {number(1 / n)}: whole rows may be exposed."
    return said


# Background knowledge ---------------------------------------------------------------------------


def known_button(key: str) -> None:
    """Show the button that opens the dialog on background knowledge; its label says how much."""
    source, said = drafted_source(), "Background knowledge that you declare. Public; costs no ε."
    try:
        data = data_for(source)
    except InputError:
        return
    label = f"Background knowledge: {known_label(data, drafted_known(source))}"
    about: Any = {"icon": ":material/account_tree:", "width": "stretch", "help": said}
    if st.button(label, key=f"{key}-known", **about):
        from pages.forms.known import known_dialog

        known_dialog(data)


def known_label(data: Dataset, known: Knowledge | None) -> str:
    """Name background knowledge in two or three words."""
    if not known:
        return "none"
    arrows = len(known.forbidden) + len(known.required)
    for name, found in ({} if data.truth is None else ready_sets(data.truth)).items():
        if found.tiers == known.tiers and not arrows:
            return name
    counted = {"tier": len(known.tiers), "arrow": arrows}
    return ", ".join(text.count(n, noun) for noun, n in counted.items() if n) or "a little"


# False positives under independence ------------------------------------------------------------
# Every page with a choice of ε counts them, from public facts only: columns, levels, rows
# (:mod:`engine.studies.repeat`). Pages that show the same setting share a count.

Count = Task | None  # for one setting; None if it is invalid


def counted(count: Count) -> Invented | None:
    """Return the count, or None before it is ready."""
    return count.result if count is not None and count.complete else None


def count_of(key: str, shape: Shape, params: Mapping[str, Any]) -> Count:
    """Return the count for a setting, started if needed; None if the setting is invalid."""
    values = filled(key, params)
    with suppress(InputError):
        algorithm(key).params.build(values)
        place = "nothing", key, shape, tuple(values.items())
        return shared(place, f"{TITLES[key]}: false links", false_links, key, shape, values)
    return None


def count_for(run: Shown) -> Count:
    """Return the count for a run's setting, on the shape of its data."""
    return count_of(run.result.algorithm, Shape.of(run.data), run.request.params)


def shape_of(source: Source) -> Shape | None:
    """Return the shape of the data that a form names; None if there are none yet."""
    with suppress(InputError):
        if source.name not in NETWORKS:
            return Shape.of(data_for(source))
        check_rows(source)  # no rows of a network are drawn
        return Shape(tuple(map(len, load_network(source.name).states)), source.n)
    return None


def count_line(key: str, shape: Shape | None, params: Mapping[str, Any], place: str) -> None:
    """Draw one line on the false positives of a setting on data of this shape, once they are known.

    ``place`` is its position on a page, where room is reserved so that nothing moves.
    """
    with st.container(key=f"nothing-{place}"):
        if shape is not None:
            watch_counts(lambda: [count_of(key, shape, params)], lambda found: _say(*found))


def warn(key: str, shape: Shape | None, values: Mapping[str, Any], *, brief: bool = False) -> None:
    """Draw a warning if little can be found at an ε, or if the plan leaves the answers to the
    noise.

    It comes before any charge, for the strict guarantee only; an invalid setting gives no warning
    here. ``brief`` shows only the worst one without its reasons, for public data.
    """
    epsilon, delta = values.get("epsilon"), values.get("delta", 1e-6)
    if shape is None or epsilon is None or values.get("guarantee", "strict") != "strict":
        return
    with suppress(InputError):  # the form shows the fault itself
        lines = unworkable([key], [shape], values, brief=brief)  # it checks the values
        size = shape.rows, len(shape.cardinalities)
        lines.insert(0, detectability(*size, [epsilon], delta, brief=brief))
        found = list(filter(None, lines))
        for said in found[-1:] if brief else found:
            st.warning(said, icon=":material/visibility_off:")


def _say(count: Count) -> None:
    if count is not None and not count.done:
        st.caption("Counting false positives of this setting on independent columns …")
    elif (found := counted(count)) is not None:
        st.caption(found.sentence)


def watch_counts(find: Callable[[], list[Count]], draw: Callable[[list[Count]], None]) -> None:
    """Draw counts, repeatedly while one of them is running."""
    redraw_until_done(lambda: [one for one in find() if one is not None], lambda: draw(find()))
