"""The forms of a run: its dataset, algorithm and settings; and its false positives."""

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
from engine.registry import GRAPHS, TITLES, algorithm
from engine.request import MODEL, OWN, SEM, Source, filled
from engine.studies.detectability import Invented, Shape, detectability, unworkable
from engine.words.run import CLAIMED, guesses
from pages.shell import words as text
from pages.shell.form import bound, parameter
from pages.shell.runs import Shown
from pages.shell.settings import (
    VISIT,
    check_rows,
    data_for,
    draft,
    drafted_known,
    drafted_source,
)
from pages.shell.state import Draft
from pages.shell.task import Task, redraw_until_done, shared
from pages.shell.words import number
from pages.worker import false_links

PRIVACY = ("epsilon", "guarantee")  # the fields that every private algorithm has, in sight
# The levers of single algorithms, those with the largest effect first.
LEVERS = (
    *("tweak", "beta1", "beta2", "subsample", "rounds", "tests", "clip", "gradients"),
    *("initial", "radius", "caution", "threshold"),
)


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
        from pages.shell.own import upload  # pages without an own file do not load it

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


def algorithm_choice(store: Draft, *, key: str) -> str:
    """Which algorithm."""
    options = {"options": list(GRAPHS), "format_func": TITLES.__getitem__}
    return str(bound(st.selectbox, "Algorithm", store, "algorithm", key=key, **options))


def parameter_form(
    algorithm: Algorithm,
    values: Draft,
    shape: Shape | None,
    *,
    levers: int = 0,
    asked: Sequence[str] = (),
    folded: Callable[[], object] = lambda: None,
) -> None:
    """Show a widget for each parameter that has an effect, bound to ``values``.

    Privacy comes first, with a warning where ε is too small for data of this ``shape``, then so
    many of the algorithm's own levers. The rest is folded away, behind what ``folded`` draws; that
    comes first in time, for a preset sets all of them. Parameters ``asked`` have no widget here.
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
        first = [name for name in LEVERS if name in specs][:levers]
        columns = st.columns(levers, gap="small") if first else []
        for column, name in zip(columns, first, strict=False):
            with column:
                parameter(specs.pop(name), values, key="param")
        if not asked:
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
        pays = algorithm.epsilon_pays
        what = (
            f"{CLAIMED}, the total that the paper states" if pays == WHOLE_RUN else f"ε for {pays}"
        )
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
    source = drafted_source()
    try:
        data = data_for(source)
    except InputError:
        return
    known = drafted_known(source)
    if st.button(
        f"Background knowledge: {known_label(data, known)}",
        key=f"{key}-known",
        icon=":material/account_tree:",
        width="stretch",
        help="Background knowledge that you declare. Public; costs no ε.",
    ):
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
#
# Counted on every page on which ε is chosen, from public facts alone: columns, levels, rows
# (:mod:`engine.studies.repeat`). Two pages that show the same setting look at the same count.

Count = Task | None  # of one setting; None where it is not one


def counted(count: Count) -> Invented | None:
    """The count, once there is one."""
    return count.result if count is not None and count.complete else None


def count_of(key: str, shape: Shape, params: Mapping[str, Any]) -> Count:
    """The count for a setting, begun if need be; None where the setting is not one."""
    values = filled(key, params)
    try:
        algorithm(key).params.build(values)
    except InputError:
        return None
    asked = key, shape, values
    place = "nothing", key, shape, tuple(values.items())
    return shared(place, f"{algorithm(key).title}: false links", false_links, *asked)


def count_for(run: Shown) -> Count:
    """The count for a run's setting, on the shape of its data."""
    return count_of(run.result.algorithm, Shape.of(run.data), run.request.params)


def shape_of(source: Source) -> Shape | None:
    """The shape of the data that a form names; None where there are none yet."""
    try:
        if source.name not in NETWORKS:
            return Shape.of(data_for(source))
        check_rows(source)  # of a network none are drawn
        return Shape(tuple(map(len, load_network(source.name).states)), source.n)
    except InputError:
        return None


def count_line(key: str, shape: Shape | None, params: Mapping[str, Any], place: str) -> None:
    """One quiet line about a setting on data of this shape, which comes once it is known.

    ``place`` says where on a page it stands: its room is kept there, so that nothing jumps.
    """
    with st.container(key=f"nothing-{place}"):
        if shape is not None:
            watch_counts(lambda: [count_of(key, shape, params)], lambda found: _say(*found))


def warn(key: str, shape: Shape | None, values: Mapping[str, Any], *, brief: bool = False) -> None:
    """A warning where little is to be had at an ε, or the plan leaves the answers to the noise.

    Before anything is spent, of the strict guarantee alone; a setting that does not fit says
    nothing here. ``brief``: the worst alone, without its reasons, where nothing is at stake.
    """
    epsilon, lines = values.get("epsilon"), [""]
    if shape is None or epsilon is None or values.get("guarantee", "strict") != "strict":
        return
    with suppress(InputError):  # the form shows the fault itself
        lines += unworkable([key], [shape], values)
        rows, columns = shape.rows, len(shape.cardinalities)
        lines[0] = detectability(rows, columns, [epsilon], values.get("delta", 1e-6))
    found = [said for said in lines if said]
    for said in [f"{found[-1].split(':')[0]}."] if brief and found else found:
        st.warning(said, icon=":material/visibility_off:")


def _say(count: Count) -> None:
    if count is not None and not count.done:
        st.caption("Counting false positives of this setting on independent columns …")
    elif (found := counted(count)) is not None:
        st.caption(found.sentence)


def watch_counts(find: Callable[[], list[Count]], draw: Callable[[list[Count]], None]) -> None:
    """Draw counts; while one of them goes on, again and again."""
    redraw_until_done(lambda: [one for one in find() if one is not None], lambda: draw(find()))
