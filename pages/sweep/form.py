"""The Sweep page's form: datasets, algorithms, ε grid, seeds."""

from __future__ import annotations

import json
from dataclasses import dataclass

import streamlit as st

from engine import InputError
from engine.data.networks import NETWORKS
from engine.errors import show
from engine.params import Parameters
from engine.registry import declared
from pages.shell import address, knowledge
from pages.shell.address import arrived
from pages.shell.data import data_for, own_data
from pages.shell.dataset import network_label
from pages.shell.drafts import Draft, drafted_source, kept
from pages.shell.fields import choice, decode, defaults, encode
from pages.shell.form import bound, number, parameter, radio, seed, title_of
from pages.shell.runs import shown
from pages.shell.session import Place
from pages.shell.settings import GRAPH_ALGORITHMS, OWN, Source, is_simulated
from pages.shell.strip import refuse
from pages.sweep import jobs as study_jobs
from pages.sweep.curves import COUNTED, TESTED, Y
from pages.sweep.state import (
    EXAMPLE,
    Wanted,
    check,
    epsilon_list,
    epsilon_range,
)

# What the form asked for before anybody changed it.
_UNTOUCHED: Place[Wanted | None] = Place("sweep_untouched")


@dataclass(frozen=True, kw_only=True)
class Axes(Parameters):
    """What the charts show; their widgets stand with the charts (:mod:`pages.sweep.view`)."""

    y: str = choice("Skeleton F1", "Show", tuple(Y))
    x: str = choice("asked ε", "Against", ("asked ε", "paper's total", "defended total"))
    counted: str = choice(TESTED, "Links that scores count", tuple(COUNTED))


def follow() -> None:
    """After a link, Reload, Back or Forward show the study and the settings the address names."""
    query = arrived("sweep")
    if query is None or not any(name.startswith("sweep.") for name in query):
        return
    try:
        if "sweep.study" in query:
            job = study_jobs.opened(query["sweep.study"])
            study_jobs.SLOT.show(job)
            if job.wanted is not None:
                fill_draft(job.wanted)
                draft()["name"] = job.name
        if "sweep.wanted" in query:
            untouched = wanted_now()
            fill_draft(wanted_in(query["sweep.wanted"]))
            _UNTOUCHED.put(untouched)
    except (InputError, OSError) as error:
        refuse("sweep", str(error))
    for name, chosen in decode(Axes.specs(), query, "sweep.", leniently=True).items():
        st.session_state[f"sweep-{name}"] = chosen


def wanted_in(words: str) -> Wanted:
    """Settings from an address; raises InputError in one sentence where they do not fit."""
    try:
        content = json.loads(words)
        json.dumps(content, ensure_ascii=False).encode()  # half a character is no name of anything
        wanted = Wanted.from_json(content)
    except (ValueError, TypeError, RecursionError):
        raise InputError("The link does not say what the study asks for.") from None
    for source in wanted.sources:
        if source.own:
            raise InputError("A link never carries a person's own data: upload the file first.")
        data_for(source, wanted.known)
    check(wanted)
    _check_fields(wanted)
    return wanted


def _check_fields(wanted: Wanted) -> None:
    """Raise InputError in one sentence for what the form's fields could not show."""
    names = [source.name for source in wanted.sources]
    if len(set(names)) < len(names) or len(set(wanted.algorithms)) < len(wanted.algorithms):
        raise InputError("The link names a dataset or an algorithm twice.")
    for key in wanted.algorithms:
        if key not in GRAPH_ALGORITHMS:
            raise InputError(f"{title_of(key)} cannot be part of a study here.")
    specs = declared(["priv_pc"]) | declared(wanted.algorithms)
    for epsilon in wanted.epsilons:
        specs["epsilon"].check(epsilon)
    for name, value in wanted.params:
        if name not in specs:
            raise InputError(f"None of the link's algorithms has a parameter {show(name)}.")
        specs[name].check(value)


def keep_address() -> None:
    """Write the study on screen, the form and the axes into the address; own data are left out."""
    job, query = study_jobs.current(), address.source_query()
    if job.path is not None:
        query["sweep.study"] = job.name
    try:
        wanted = wanted_now()
    except InputError:
        wanted = EXAMPLE
    if _UNTOUCHED.get() is None:
        _UNTOUCHED.put(wanted)
    if wanted != _UNTOUCHED.get() and not wanted.own:
        query["sweep.wanted"] = json.dumps(wanted.as_json(), separators=(",", ":"))
    shown_now = {n: st.session_state.get(f"sweep-{n}", at) for n, at in defaults(Axes).items()}
    address.write("sweep", query | encode(Axes.specs(), shown_now, "sweep."))


def draft() -> Draft:
    """What the form shows, kept over changes of page; it starts as the example."""
    if not kept("sweep_draft", {}):
        fill_draft(EXAMPLE)
    return kept("sweep_draft", {})


def fill_draft(wanted: Wanted) -> None:
    """Show a study's settings in the form; what the form then asks for needs no address."""
    _UNTOUCHED.put(None)
    params = dict(wanted.params)
    first = next((s for s in wanted.sources if not s.own), Source())
    kept("sweep_draft", {}).update(
        {
            "datasets": [s.name for s in wanted.sources],
            "n": first.n,
            "sample": first.seed,
            "algorithms": list(wanted.algorithms),
            "guarantee": params.pop("guarantee", "strict"),
            "grid": "Range" if wanted == EXAMPLE else "List",
            "from": min(wanted.epsilons, default=0.1),
            "to": max(wanted.epsilons, default=100.0),
            "count": len(wanted.epsilons),
            "list": ", ".join(f"{e:g}" for e in wanted.epsilons),
            "seeds": wanted.seeds,
            "changed": list(params),
            "params": params,
            "known": wanted.known,
            "name": "",
        }
    )


def wanted_now() -> Wanted:
    """What the form asks for; raises InputError in one sentence."""
    d = draft()
    sources = tuple(
        Source(OWN) if name == OWN else Source(name, d["n"], d["sample"]) for name in d["datasets"]
    )
    typed = d["grid"] == "List"
    epsilons = epsilon_list(d["list"]) if typed else epsilon_range(d["from"], d["to"], d["count"])
    known = declared(d["algorithms"])
    params = {"guarantee": d["guarantee"]} | {name: d["params"][name] for name in d["changed"]}
    wanted = Wanted(
        sources=sources,
        algorithms=tuple(d["algorithms"]),
        epsilons=epsilons,
        seeds=d["seeds"],
        params=tuple((k, v) for k, v in params.items() if k in known),
        known=d["known"],
    )
    check(wanted)
    return wanted


def settings_form() -> None:
    """Datasets, algorithms, ε grid, seeds."""
    d = draft()
    bound(
        st.multiselect,
        "Datasets",
        d,
        "datasets",
        key="sweep-datasets",
        options=_sources(d),
        format_func=_label,
        help="A simulated model or your own data appear here once chosen on Run or Data.",
    )
    left, right = st.columns([3, 2], gap="small")
    with left:
        bound(st.number_input, "Rows n", d, "n", key="sweep-n", step=1000)
    with right:
        seed(d, "sample", "Data seed", key="sweep-sample")
    bound(
        st.multiselect,
        "Algorithms",
        d,
        "algorithms",
        key="sweep-algorithms",
        options=list(GRAPH_ALGORITHMS),
        format_func=title_of,
    )
    knowledge.field(d, "known", key="sweep-known")
    grid_form(d)
    other_parameters(d)


def _sources(d: Draft) -> list[str]:
    """Bundled networks, the models the form or the Run page names, and the person's own data."""
    named = [*d["datasets"], drafted_source().name, shown().settings.source.name]
    models = [name for name in dict.fromkeys(named) if is_simulated(name)]
    own = [OWN] if own_data() is not None else []
    d["datasets"] = [n for n in d["datasets"] if n != OWN or own]
    return [*NETWORKS, *models, *own]


def _label(name: str) -> str:
    return name if is_simulated(name) else network_label(name)


def grid_form(d: Draft) -> None:
    """The guarantee, the values of ε, and the seeds."""
    about = "Strict: ε is the total of a run. Published: what the paper calls ε."
    radio(d, "guarantee", "Guarantee", ["strict", "published"], key="sweep-guarantee", help=about)
    radio(d, "grid", "Values of ε", ["Range", "List"], key="sweep-grid")
    if d["grid"] == "List":
        bound(st.text_input, "ε, with commas", d, "list", key="sweep-list")
    else:
        a, b, c = st.columns(3, gap="small")
        with a:
            number(d, "from", "From", key="sweep-from")
        with b:
            number(d, "to", "To", key="sweep-to")
        with c:
            bound(st.number_input, "Points", d, "count", key="sweep-count", step=1)
    bound(
        st.number_input,
        "Seeds",
        d,
        "seeds",
        key="sweep-seeds",
        step=1,
        help="Runs of every setting; each seed draws its own noise.",
    )


def other_parameters(d: Draft) -> None:
    """Any declared parameter can be set for all algorithms that have it."""
    specs = declared(d["algorithms"])
    free = [n for n in specs if n not in ("epsilon", "guarantee")]
    d["changed"] = [n for n in d["changed"] if n in free]
    title = f"Other parameters ({len(d['changed'])} set)" if d["changed"] else "Other parameters"
    with st.expander(title, key="sweep-other"):
        bound(
            st.multiselect,
            "Set",
            d,
            "changed",
            key="sweep-changed",
            options=free,
            format_func=lambda n: specs[n].title,
            placeholder="All at their defaults",
        )
        for name in d["changed"]:
            d["params"].setdefault(name, specs[name].default)
            parameter(specs[name], d["params"], key="sweep-param")
