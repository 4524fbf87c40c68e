"""The guided tour's settings, which live in the address, and the runs it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine import Dataset, RunResult, run
from engine.teaching.lessons import query
from engine.teaching.neighbours import Neighbours, farthest
from pages.shell import address
from pages.shell.data import bundled
from pages.shell.drafts import Draft, kept

NETWORKS = ("asia", "cancer", "earthquake", "survey")
ROWS = 20_000
_START: Draft = {"network": "asia", "epsilon": 1.0, "seed": 0}
LOW, HIGH = 0.05, 20.0  # ends of epsilon on this page


@dataclass(frozen=True)
class Tour:
    """Which network the tour is about, the total epsilon of its private runs, and their seed."""

    network: str
    epsilon: float
    seed: int

    @property
    def data(self) -> Dataset:
        """The network's sample; public, like everything on the page."""
        return bundled(self.network, ROWS, 0)


def draft() -> Draft:
    """What the form shows."""
    return kept("tour", dict(_START))


def follow() -> None:
    """Fill the form from the address after a link, Reload, Back or Forward.

    What is missing or out of range there is as at the start.
    """
    asked = address.arrived("learn")
    if asked is None:
        return
    d = draft()
    d.update(_START)
    if asked.get("network") in NETWORKS:
        d["network"] = asked["network"]
    if (epsilon := _number(asked.get("total", ""))) is not None and LOW <= epsilon <= HIGH:
        d["epsilon"] = epsilon
    if (seed := _number(asked.get("draw", ""))) is not None and 0 <= seed < 1e9:
        d["seed"] = int(seed)


def tour() -> Tour:
    """The settings now."""
    d = draft()
    return Tour(str(d["network"]), float(d["epsilon"]), int(d["seed"]))


def link(step: str) -> dict[str, str]:
    """The address of a step with the settings, as query parameters."""
    now = tour()
    query = {"step": step}
    if now != Tour("asia", 1.0, 0):
        query |= {"network": now.network, "total": f"{now.epsilon:g}", "draw": str(now.seed)}
    return query


def _number(typed: str) -> float | None:
    try:
        return float(typed)
    except ValueError:
        return None


@st.cache_resource(max_entries=64, show_spinner=False)
def run_of(network: str, key: str, seed: int, values: tuple[tuple[str, Any], ...]) -> RunResult:
    """A run on the tour's data, kept for all sessions: the data are public."""
    return run(key, bundled(network, ROWS, 0), seed=seed, **dict(values))


def shown_run(now: Tour, key: str, *, seed: int | None = None, **values: Any) -> RunResult:
    """The tour's run of an algorithm; its own seed if none is given."""
    chosen = now.seed if seed is None else seed
    return run_of(now.network, key, chosen, tuple(sorted(values.items())))


@st.cache_resource(max_entries=64, show_spinner=False)
def neighbours_of(network: str, x: str, y: str) -> Neighbours:
    """The network's sample and the neighbour that moves one test most."""
    data = bundled(network, ROWS, 0)
    return farthest(data, query(data, x, y), 1.0)
