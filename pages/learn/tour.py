"""The guided tour's settings, which live in the address, and the runs it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine import Dataset, RunResult, run
from engine.params import Parameters
from engine.teaching.lessons import query
from engine.teaching.neighbours import NeighbourTest, farthest
from pages.shell import state
from pages.shell.data import bundled
from pages.shell.drafts import Draft
from pages.shell.fields import choice, number
from pages.shell.settings import MOST_SEED

NETWORKS = ("asia", "cancer", "earthquake", "survey")
# In their order; what each says and shows is in pages/learn/view.py.
STEPS = (
    *("truth", "search", "noise", "draws", "person", "sieve", "orders", "bound", "once"),
    *("shuffle", "now"),
)
ROWS = 20_000
EPSILONS = (0.01, 20.0)  # another page's is taken to the nearer end
PEOPLE = 1_000  # of the crowd: dots that a hand can still choose among
MOST_SHUFFLES = 20


@dataclass(frozen=True, kw_only=True)
class Tour(Parameters):
    """The step, which network the tour is about, the total ε of its private runs, their seed, and
    how often its columns were shuffled."""

    step: str = choice("truth", "Step", STEPS)
    data: str = choice("asia", "Network", NETWORKS)
    epsilon: float = number(1.0, "ε of a whole private run (strict)", *EPSILONS)
    seed: int = number(0, "Noise seed", 0, MOST_SEED)
    shuffles: int = number(0, "Shuffles so far", 0, MOST_SHUFFLES)

    @property
    def dataset(self) -> Dataset:
        """The network's sample; public, like everything on the page."""
        return bundled(self.data, ROWS, 0)


def draft() -> Draft:
    """What the form shows."""
    return state.of(Tour)


def tour() -> Tour:
    """The settings now."""
    low, high = EPSILONS
    d = draft()
    return Tour.build(dict(d) | {"epsilon": min(max(d["epsilon"], low), high)})


@st.cache_resource(max_entries=256, show_spinner=False)
def run_of(
    network: str, key: str, seed: int, values: tuple[tuple[str, Any], ...], rows: int = ROWS
) -> RunResult:
    """A run on so many of the tour's rows, kept for all sessions: the data are public."""
    return run(key, bundled(network, rows, 0), seed=seed, **dict(values))


def shown_run(now: Tour, key: str, *, seed: int | None = None, **values: Any) -> RunResult:
    """The tour's run of an algorithm; its own seed if none is given."""
    chosen = now.seed if seed is None else seed
    return run_of(now.data, key, chosen, tuple(sorted(values.items())))


@st.cache_resource(max_entries=64, show_spinner=False)
def neighbours_of(network: str, x: str, y: str) -> NeighbourTest:
    """The crowd, and the neighbour that moves one test most."""
    data = bundled(network, PEOPLE, 0)
    return farthest(data, query(data, x, y), 1.0)
