"""What is searched for: the goal, the networks, the algorithm, and what may vary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine.data.networks import NETWORKS, load_network
from engine.errors import InputError
from engine.params import Parameters
from engine.registry import ALGORITHMS, algorithm
from engine.studies.margins import BETAS, MOST_COLUMNS, THRESHOLDS
from engine.studies.tuning import EPSILONS, OBJECTIVES, Axis, axes, tunable
from pages.shell import knowledge
from pages.shell.address import arrived, write
from pages.shell.data import data_for
from pages.shell.drafts import Draft, kept
from pages.shell.fields import among, choice, decode, defaults, encode, slider
from pages.shell.form import bound, parameters, title_of
from pages.shell.settings import Source, said
from pages.shell.state import Query

SETTING, LEAST, MAP, MARGINS = "best setting", "least ε", "map of two", "margins by hand"
GOALS = (SETTING, LEAST, MAP, MARGINS)
SEARCHED = tuple(
    key
    for key, one in ALGORITHMS.items()
    if one.private and one.columns is None and not one.chooses
)
_LISTS = {"networks": ("asia",), "elsewhere": (), "over": ("tweak", "subsample")}
_EPSILON, _KNOWN = "epsilon", "known"


@dataclass(frozen=True, kw_only=True)
class Fields(Parameters):
    """The page's settings, kept over changes of page and in its address."""

    goal: str = choice(SETTING, "What to find", GOALS)
    algorithm: str = choice("priv_pc", "Algorithm", SEARCHED)
    epsilon: float = among(
        1.0, "Total ε", EPSILONS, help="What one pays.", when={"goal": (SETTING, MAP, MARGINS)}
    )
    guarantee: str = choice(
        "strict", "Guarantee", ("strict", "published"), when={"goal": (MARGINS,)}
    )
    target: float = slider(
        0.8, "Score to reach", 0.3, 1.0, 0.05, when={"goal": (LEAST,)}, help="See Score."
    )
    objective: str = choice("skeleton_f1", "Score", tuple(OBJECTIVES))
    n: int = among(5_000, "Rows n", (1_000, 5_000, 20_000, 100_000))
    runs: int = among(
        200,
        "Runs of a search",
        (60, 100, 200, 400, 1_000),
        when={"goal": (SETTING, LEAST)},
        help="Spent on fewer and fewer settings, each time the better half.",
    )
    seeds: int = among(4, "Seeds of each cell", (2, 4, 8, 16), when={"goal": (MAP, MARGINS)})


@dataclass(frozen=True, kw_only=True)
class ByHand(Parameters):
    """Where a hand left CURATE's margins: no search is asked for it, so no field of the form."""

    threshold: float = among(0.05, "Threshold T", THRESHOLDS)
    beta1: float = among(0.2, "Margin β₁", BETAS)
    beta2: float = among(0.2, "Margin β₂", BETAS)


def by_hand() -> Draft:
    """The margins at rest."""
    return kept("tune_by_hand", defaults(ByHand))


def fields() -> Draft:
    """Show the fields; returns the draft."""
    d = _kept()
    parameters([s for s in Fields.specs() if s.name in ("goal",)], d, key="tune")
    if d["goal"] == MARGINS:
        _one_network(d)
        parameters([s for s in Fields.specs() if s.name in _OF_MARGINS], d, key="tune")
    else:
        _searched(d)
    hand = encode(ByHand.specs(), by_hand(), "tune.")
    write("tune", encode(Fields.specs(), d, "tune.") | _encoded(d) | hand)
    return d


_OF_MARGINS = ("epsilon", "guarantee", "objective", "n", "seeds")


def _one_network(d: Draft) -> None:
    """The network on which margins are tried: one of few columns."""
    small = [name for name in NETWORKS if len(load_network(name).names) <= MOST_COLUMNS]
    chosen = [name for name in d["networks"] if name in small][:1] or small[:1]
    found = st.selectbox(
        "Network", small, small.index(chosen[0]), format_func=str.capitalize, key="tune-network"
    )
    d["networks"] = [found or chosen[0]]


def _searched(d: Draft) -> None:
    """The fields of a search and of a map."""
    bound(
        st.selectbox,
        "Algorithm",
        d,
        "algorithm",
        key="tune-algorithm",
        options=SEARCHED,
        format_func=title_of,
    )
    names = searchable(d)
    d["over"] = [name for name in d["over"] if name in names] or names[:2]
    bound(
        st.multiselect,
        "Two parameters" if d["goal"] == MAP else "Parameters to vary",
        d,
        "over",
        key="tune-over",
        options=names,
        format_func=lambda name: names_of(d["algorithm"])[name],
        max_selections=2 if d["goal"] == MAP else None,
    )
    rest = [s for s in Fields.specs() if s.name not in ("goal", "algorithm", "guarantee")]
    _networks(d, "networks", "Networks to search on")
    knowledge.field(d, _KNOWN, key="tune-known")
    parameters(rest, d, key="tune")
    if d["goal"] != MAP:
        _networks(d, "elsewhere", "Networks to tell the result on")


def _networks(d: Draft, name: str, title: str) -> None:
    bound(
        st.multiselect,
        title,
        d,
        name,
        key=f"tune-{name}",
        options=list(NETWORKS),
        format_func=str.capitalize,
    )


def searchable(d: Mapping[str, Any]) -> list[str]:
    """The parameters that may vary; ε is one where two are laid out as a map."""
    found = tunable(d["algorithm"])
    return [_EPSILON, *found] if d["goal"] == MAP else found


def axes_of(d: Mapping[str, Any]) -> list[Axis]:
    """The two axes of a map."""
    if len(d["over"]) != 2:
        raise InputError("Choose two parameters to lay out as a map.")
    specs = {s.name: s for s in algorithm(d["algorithm"]).params.specs()}
    names = tunable(d["algorithm"])
    own = {axis.name: axis for axis in axes(d["algorithm"], d["n"], names)}
    own[_EPSILON] = Axis(specs[_EPSILON], EPSILONS[0], EPSILONS[-1], log=True)
    return [own[name] for name in d["over"]]


def names_of(key: str) -> dict[str, str]:
    """The parameters' titles."""
    return {s.name: s.title for s in algorithm(key).params.specs()}


def sources(d: Mapping[str, Any]) -> list[Source]:
    """What a search or a map is run on."""
    return [Source(network, d["n"], 0) for network in d["networks"]]


def samples(d: Mapping[str, Any], name: str) -> list[Any]:
    """The networks' samples."""
    return [data_for(Source(network, d["n"], 0), d[_KNOWN]) for network in d[name]]


# The address ----------------------------------------------------------------------------


def _kept() -> Draft:
    """The fields as the session left them, or as a link has them."""
    lists = {name: list(start) for name, start in _LISTS.items()}
    start = defaults(Fields) | lists | {_KNOWN: ""}
    form = kept("tune_draft", start)
    if (query := arrived("tune")) is not None:
        form.update(start | decode(Fields.specs(), query, "tune.", leniently=True))
        form.update(_decoded(query, form))
        by_hand().update(defaults(ByHand) | decode(ByHand.specs(), query, "tune.", leniently=True))
    return form


def _encoded(d: Mapping[str, Any]) -> Query:
    known = {f"tune.{_KNOWN}": d[_KNOWN]} if d[_KNOWN] else {}
    lists = {f"tune.{n}": ",".join(d[n]) for n, start in _LISTS.items() if tuple(d[n]) != start}
    return lists | known


def _decoded(query: Mapping[str, str], d: Mapping[str, Any]) -> dict[str, Any]:
    """The lists that an address names; a word that no field could show is left out."""
    found: dict[str, Any] = {}
    with suppress(InputError):
        said(word := query.get(f"tune.{_KNOWN}", ""))
        found[_KNOWN] = word
    for name in _LISTS:
        if (words := query.get(f"tune.{name}")) is not None:
            known: Sequence[str] = searchable(d) if name == "over" else list(NETWORKS)
            found[name] = [word for word in dict.fromkeys(words.split(",")) if word in known]
    return found
