"""The guided tour's settings, which live in the address, and the runs it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine import Dataset, RunResult, run
from engine.params import Parameters
from engine.teaching.lessons import query
from engine.teaching.neighbours import NeighbourTest, farthest
from pages.shell import address
from pages.shell.data import bundled
from pages.shell.drafts import Draft, kept
from pages.shell.fields import Query, choice, decode, defaults, encode, number
from pages.shell.settings import MOST_SEED

NETWORKS = ("asia", "cancer", "earthquake", "survey")
ROWS = 20_000
PEOPLE = 1_000  # of the crowd: dots that a hand can still choose among
MOST_SHUFFLES = 20


@dataclass(frozen=True, kw_only=True)
class Tour(Parameters):
    """Which network the tour is about, the total epsilon of its private runs, their seed, and
    how often its columns were shuffled."""

    network: str = choice("asia", "Network", NETWORKS)
    total: float = number(1.0, "ε of a whole private run (strict)", 0.01, 20.0)
    draw: int = number(0, "Noise seed", 0, MOST_SEED)
    shuffles: int = number(0, "Shuffles so far", 0, MOST_SHUFFLES)

    @property
    def data(self) -> Dataset:
        """The network's sample; public, like everything on the page."""
        return bundled(self.network, ROWS, 0)


def draft() -> Draft:
    """What the form shows."""
    return kept("tour", defaults(Tour))


def follow() -> None:
    """Fill the form from the address after a link, Reload, Back or Forward.

    What is missing or out of range there is as at the start.
    """
    if (asked := address.arrived("learn")) is not None:
        draft().update(defaults(Tour) | decode(Tour.specs(), asked, leniently=True))


def tour() -> Tour:
    """The settings now."""
    return Tour.build(draft())


def link(step: str) -> Query:
    """The address of a step with the settings, as query parameters."""
    return {"step": step} | encode(Tour.specs(), draft())


@st.cache_resource(max_entries=256, show_spinner=False)
def run_of(
    network: str, key: str, seed: int, values: tuple[tuple[str, Any], ...], rows: int = ROWS
) -> RunResult:
    """A run on so many of the tour's rows, kept for all sessions: the data are public."""
    return run(key, bundled(network, rows, 0), seed=seed, **dict(values))


def shown_run(now: Tour, key: str, *, seed: int | None = None, **values: Any) -> RunResult:
    """The tour's run of an algorithm; its own seed if none is given."""
    chosen = now.draw if seed is None else seed
    return run_of(now.network, key, chosen, tuple(sorted(values.items())))


@st.cache_resource(max_entries=64, show_spinner=False)
def neighbours_of(network: str, x: str, y: str) -> NeighbourTest:
    """The crowd, and the neighbour that moves one test most."""
    data = bundled(network, PEOPLE, 0)
    return farthest(data, query(data, x, y), 1.0)
