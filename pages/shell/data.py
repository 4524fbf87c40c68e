"""The datasets of a session: bundled ones are shared by all, uploads never leave it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import streamlit as st

from engine import Dataset, InputError, load_dataset
from engine.data.networks import NETWORKS, load_network
from engine.data.schema import Schema
from engine.privacy.accounting import Guarantee
from engine.registry import algorithm
from pages import mode
from pages.files import Reading, Upload
from pages.shell.session import Place
from pages.shell.settings import Source, check_rows, said


@st.cache_resource(max_entries=8, show_spinner=False)
def bundled(name: str, n: int, seed: int) -> Dataset:
    """A sample of a bundled network or simulated model, shared by all sessions."""
    return load_dataset(name, n=n, seed=seed)


@st.cache_data(show_spinner=False)
def network_sizes() -> dict[str, tuple[int, int]]:
    """Name -> (nodes, edges) of every bundled network."""
    graphs = {name: load_network(name).dag() for name in NETWORKS}
    return {name: (len(g), g.number_of_edges()) for name, g in graphs.items()}


def own_data() -> Dataset | None:
    """The person's own data of this session."""
    return OWN_DATA.get()


@dataclass(eq=False)
class OwnFile:
    """A person's own file as it was uploaded, and the schema that they declared for it.

    ``readings`` are the identities of all datasets that were read from it.
    """

    raw: bytes = field(repr=False)
    name: str
    truth: bytes | None = field(repr=False)
    identity: str
    schema: Schema | None = None
    proposal: Any = field(default=None, repr=False)
    readings: set[str] = field(default_factory=set, repr=False)

    @property
    def stem(self) -> str:
        """The file's name without its ending."""
        return Path(self.name).stem

    def empty(self) -> None:
        """Let go of what was in it: Streamlit keeps what was replaced until the next click."""
        self.raw, self.truth, self.proposal = b"", None, None

    def by(self, schema: Schema | Upload | None) -> Reading:
        """How the columns are read that a schema declares, or its file as it was uploaded."""
        return Reading(Upload(self.name, self.raw), self.known_truth, schema, self.stem)

    @property
    def known_truth(self) -> Upload | None:
        """The true edges that came with it."""
        return None if self.truth is None else Upload("edges", self.truth)


OWN_DATA: Place[Dataset | None] = Place("own_data")
OWN_FILE: Place[OwnFile | None] = Place("own_file")
OWN_PROBLEM: Place[str | None] = Place("own_problem")  # why the file could not be read
OWN_AGREED: Place[str] = Place("own_agreed", str)  # the data with agreed unforeseen cells


def asks(data: Dataset) -> bool:
    """Whether many cells count as an answer that match no level, and nobody has agreed."""
    some = any(one.asks for one in data.unforeseen_cells)
    return some and OWN_AGREED.get() != data.identity


def own_file() -> OwnFile | None:
    """The file behind the person's own data, whether it could be read yet or not."""
    return OWN_FILE.get()


def in_force(data: Dataset) -> bool:
    """Whether the data are public, or were read from the file that was uploaded last."""
    file = own_file()
    return data.public or (file is not None and data.identity in file.readings)


@st.cache_resource(max_entries=8, show_spinner=False)
def _knowing(name: str, n: int, seed: int, known: str) -> Dataset:
    from engine.studies.trial import knowing

    return knowing(bundled(name, n, seed), said(known))


def _own_knowing(data: Dataset, known: str) -> Dataset:
    """One dataset for each word, read from the same file: what it costs is on the file's meter."""
    from engine.studies.trial import knowing

    made, file = OWN_KNOWING.get(), own_file()
    key = data.identity, known
    if key not in made:
        made[key] = knowing(data, said(known))
        if file is not None and data.identity in file.readings:
            file.readings.add(made[key].identity)
    return made[key]


def data_for(source: Source, known: str = "") -> Dataset:
    """The dataset with what is known of it; raises InputError if it is not there.

    ``known`` is as :func:`pages.shell.settings.said` takes it. Every run on the result has it.
    """
    if not source.own:
        check_rows(source)
        if known:
            return _knowing(source.name, source.n, source.seed, known)
        return bundled(source.name, source.n, source.seed)
    data = own_data()
    if data is not None and known:
        return _own_knowing(data, known)
    if data is None:
        if mode.public():
            raise InputError(mode.OFF)
        first = "Upload a table first, or choose a bundled network."
        raise InputError(OWN_PROBLEM.get() or first)
    return data


# What runs on one file have cost in this session: each from before its first draw, at what it may
# cost at most, so that one that dies is counted; its end settles what it did cost.
Meter = dict[object, Guarantee]
OWN_KNOWING: Place[dict[tuple[str, str], Dataset]] = Place("own_knowing", dict)
OWN_COSTS: Place[dict[str, Meter]] = Place("own_costs", dict)


def promised(key: str, params: Mapping[str, Any], data: Dataset) -> Guarantee:
    """The most that a run on own data can cost: its cap, or no bound where it has none."""
    built: Any = algorithm(key).params.build(params)
    capped = algorithm(key).private and getattr(built, "strict", True) and data.declared
    return Guarantee(built.epsilon, built.delta) if capped else Guarantee(math.inf, 0.0)


def costs_of(data: Dataset) -> Meter:
    """The meter of a person's file, by its name: other bins or a truth make no new file of it."""
    return OWN_COSTS.get().setdefault(data.name, {})


def own_costs(data: Dataset) -> tuple[int, float, float]:
    """(runs, ε, δ) of this session's runs on own data, under basic composition."""
    costs = list(costs_of(data).values())
    return len(costs), sum(c.epsilon for c in costs), sum(c.delta for c in costs)
