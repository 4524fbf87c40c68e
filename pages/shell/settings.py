"""The request that the form shows, and its data: all users share bundled data, and an upload never
leaves its session.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from engine import Dataset, InputError, Knowledge
from engine.data.networks import NETWORKS
from engine.data.schema import Schema
from engine.data.simulated import GRAPHS, MAX_NODES, NOISES, parse_name
from engine.params import Parameters, Spec, param
from engine.registry import GRAPHS as GRAPH_ALGORITHMS
from engine.registry import algorithm
from engine.request import MODEL, OWN, SEM, Request, Source, known_from, word_of
from pages import mode
from pages.shell import state
from pages.shell.state import Draft, Place
from pages.worker import Undrawn

if TYPE_CHECKING:  # pages without a user's file do not load it
    from pages.worker import Upload

MOST_SEED = state.LARGEST
MAX_SEM_CELLS = 20_000_000  # numeric values of a simulated model, 8 bytes each
_ROWS = "Fixes the drawn rows, and the graph of a simulated model. The noise has a separate seed."
_NOISE = "Fixes every draw of noise, so the run can be repeated."
_SHAPES = "Erdős–Rényi: every edge is equally likely. Scale-free: a few nodes have many."
_OWN_TERM = "Distribution of each variable's noise term, with variance 1; weights are ±0.5 to ±2."
_EDGES = "Scale-free: rounded to a whole number for each node."


@dataclass(frozen=True, kw_only=True)
class Visit(Parameters):
    """The fields that all pages share: a dataset, an algorithm, the seeds."""

    data: str = param("asia", "Dataset", choices=(*NETWORKS, SEM, OWN))
    n: int = param(100_000, "Rows n", low=100, high=1_000_000)
    sample: int = param(0, "Data seed", low=0, high=MOST_SEED, help=_ROWS)
    sem_graph: str = param("er", "Graph", choices=GRAPHS, help=_SHAPES)
    sem_nodes: int = param(10, "Nodes", low=2, high=MAX_NODES)
    sem_edges: int = param(20, "Edges", low=1, high=MAX_NODES * (MAX_NODES - 1) // 2, help=_EDGES)
    sem_noise: str = param("gaussian", "Model noise", choices=tuple(NOISES), help=_OWN_TERM)
    algorithm: str = param("priv_pc", "Algorithm", choices=GRAPH_ALGORITHMS)
    seed: int = param(0, "Noise seed", low=0, high=MOST_SEED, help=_NOISE)


FACTS = (Spec(name="known", kind="text", default="", title="Background knowledge", high=20_000),)
VISIT = {spec.name: spec for spec in Visit.specs()}


def check_rows(source: Source) -> None:
    """Raise InputError for a number of rows or a seed that pages do not accept."""
    VISIT["n"].check(source.n)
    VISIT["sample"].check(source.seed)
    if source.simulated and source.n * parse_name(source.name)[1] > MAX_SEM_CELLS:
        raise InputError(
            f"Rows times nodes of a simulated model may be at most {MAX_SEM_CELLS:,} here."
        )


# Values of the form ----------------------------------------------------------------------------

# Background knowledge about the user's columns, whose names are in no address: by identity.
_OWN_KNOWN: Place[dict[str, Knowledge | None]] = Place("own_known", dict)


def draft() -> Draft:
    """Return the form's dataset, algorithm and seed."""
    return state.Values(Visit)


def parameters_of(key: str) -> Draft:
    """Return the form's parameters of an algorithm."""
    return state.Values(algorithm(key).params)


def drafted_source() -> Source:
    """Return the form's dataset."""
    form = draft()
    name = form["data"]
    if name == OWN:
        data = OWN_DATA.get()
        return Source(OWN, 0, 0, data.identity if data is not None else "")
    if name == SEM:
        name = ":".join([SEM, *(f"{form[part]}" for part in MODEL)])
    return Source(name, form["n"], form["sample"])


def drafted() -> Request:
    """Return the form's request, checked or not."""
    form, source = draft(), drafted_source()
    params, seed = dict(parameters_of(form["algorithm"])), None if source.own else form["seed"]
    return Request(source, form["algorithm"], params, seed, drafted_known(source))


def _facts_of(source: Source) -> Draft:
    """Return the form's background knowledge about a public dataset, in the form of an address."""
    return state.Values(FACTS, f"{source.name}-")


def drafted_known(source: Source) -> Knowledge | None:
    """Return the form's background knowledge about a dataset, or else the schema's."""
    if source.own:
        data = OWN_DATA.get()
        stated = None if data is None or data.schema is None else data.schema.knowledge
        return _OWN_KNOWN.get().get(source.identity, stated)
    with suppress(InputError):
        return known_from(_facts_of(source)["known"], source.name)
    return None


def draft_known(known: Knowledge | None) -> None:
    """Set the background knowledge about the form's dataset."""
    source = drafted_source()
    if source.own:
        _OWN_KNOWN.get()[source.identity] = known or None
    else:
        _facts_of(source)["known"] = word_of(known, source.name) if known else ""


def stated(schema: Schema) -> Schema:
    """Return the schema with the form's background knowledge, which goes into the file."""
    return replace(schema, knowledge=drafted_known(drafted_source()))


# The data ----------------------------------------------------------------------------------------


@st.cache_resource(max_entries=8, show_spinner=False)
def bundled(name: str, n: int, seed: int) -> Dataset:
    """Return a sample of a network or simulated model, not drawn yet; all sessions share it."""
    return Undrawn.of(name, n, seed)


@dataclass(eq=False)
class OwnFile:
    """A user's file as it was uploaded, and the schema that they declared for it.

    ``readings`` are the identities of all datasets that were read from it.
    """

    upload: Upload
    truth: Upload | None = field(repr=False)  # the true edges that were uploaded with it
    identity: str
    schema: Schema | None = None
    proposal: Any = field(default=None, repr=False)
    readings: set[str] = field(default_factory=set, repr=False)

    def empty(self) -> None:
        """Drop the file's content: Streamlit keeps the file until the next click."""
        self.upload = replace(self.upload, raw=b"", other=None)
        self.truth = self.proposal = None


OWN_DATA: Place[Dataset | None] = Place("own_data")  # the user's data in this session
OWN_FILE: Place[OwnFile | None] = Place("own_file")  # their file, read or not
OWN_PROBLEM: Place[str | None] = Place("own_problem")  # why the file could not be read


def in_force(data: Dataset) -> bool:
    """Return whether the data are public, or were read from the last uploaded file."""
    file = OWN_FILE.get()
    return data.public or (file is not None and data.identity in file.readings)


def data_for(source: Source) -> Dataset:
    """Return the dataset; raise InputError if it is not there."""
    if not source.own:
        check_rows(source)
        return bundled(source.name, source.n, source.seed)
    if (data := OWN_DATA.get()) is not None:
        return data
    if mode.public():
        raise InputError(mode.OFF)
    raise InputError(OWN_PROBLEM.get() or "Upload a table first, or choose a bundled network.")
