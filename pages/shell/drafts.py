"""Drafts: what a form shows, apart from any widget, so that it survives a change of page."""

from __future__ import annotations

from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any

from engine import InputError, Knowledge
from engine.registry import algorithm
from pages.shell import state
from pages.shell.data import own_data
from pages.shell.session import Place
from pages.shell.settings import OWN, SEM, Settings, Source, Visit, filled, known_from, word_of

Draft = MutableMapping[str, Any]
# What is known of a person's own columns; their names are in no address: (fingerprint, facts).
_OWN_KNOWN: Place[tuple[str, Knowledge | None]] = Place("own_known", lambda: ("", None))
_KNOWN_OF: Place[str] = Place("known_of", str)  # the public dataset of which it is known
_SEM = ("sem_graph", "sem_nodes", "sem_edges", "sem_noise")


def kept(name: str, fresh: Draft) -> Draft:
    """The session's mapping of that name, of what stands in no address; ``fresh`` at first."""
    return Place[Draft](name, lambda: fresh).get()


def draft() -> Draft:
    """What the form shows of the dataset, the algorithm and the seed."""
    return state.of(Visit)


def parameters_of(key: str) -> Draft:
    """What the form shows of an algorithm's parameters."""
    return state.of(algorithm(key).params)


def drafted_source() -> Source:
    """The dataset the form names now."""
    form = draft()
    name = form["data"]
    if name == OWN:
        data = own_data()
        return Source(OWN, 0, 0, data.identity if data is not None else "")
    if name == SEM:
        name = ":".join([SEM, *(f"{form[field]}" for field in _SEM)])
    return Source(name, form["n"], form["sample"])


def drafted() -> Settings:
    """The settings the form shows now, checked or not."""
    form, source = draft(), drafted_source()
    params = filled(form["algorithm"], parameters_of(form["algorithm"]))
    seed = None if source.own else form["seed"]
    return Settings(source, form["algorithm"], params, seed, drafted_known(source))


def drafted_known(source: Source) -> Knowledge | None:
    """What the form says is known of this dataset; what names other columns is not known of it.

    Of own data the schema may say it.
    """
    if not source.own:
        word = draft()["known"]
        if word and not state.arrived() and _KNOWN_OF.get() not in ("", source.name):
            word = draft()["known"] = ""
        _KNOWN_OF.put(source.name if word else "")
        with suppress(InputError):
            return known_from(word, source.name) if word else None
        return None
    fingerprint, known = _OWN_KNOWN.get()
    if fingerprint == source.fingerprint:
        return known
    data = own_data()
    return data.schema.knowledge if data is not None and data.schema is not None else None


def draft_known(known: Knowledge | None) -> None:
    """What is known of the dataset that the form names."""
    source = drafted_source()
    if source.own:
        _OWN_KNOWN.put((source.fingerprint, known or None))
    else:
        draft()["known"] = word_of(known, source.name) if known else ""
        _KNOWN_OF.put(source.name if known else "")
