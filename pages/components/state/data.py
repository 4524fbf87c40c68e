"""The datasets of a session: bundled ones are shared by all, uploads never leave it."""

from __future__ import annotations

import streamlit as st

from engine import Dataset, InputError, load_dataset
from engine.data.networks import NETWORKS, load_network
from pages.components.state.settings import Source, check_rows


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
    data: Dataset | None = st.session_state.get("own_data")
    return data


def data_for(source: Source) -> Dataset:
    """The dataset; raises InputError in one sentence if it is not there."""
    if not source.own:
        check_rows(source)
        return bundled(source.name, source.n, source.seed)
    data = own_data()
    if data is None:
        raise InputError("Upload a CSV file first, or choose a bundled network.")
    return data


def costs_of(data: Dataset) -> list[tuple[float, float]]:
    """(ε, δ) of each run of this session on own data; a run appends to it."""
    costs: dict[str, list[tuple[float, float]]] = st.session_state.setdefault("own_costs", {})
    return costs.setdefault(data.fingerprint, [])


def own_costs(data: Dataset) -> tuple[int, float, float]:
    """(runs, ε, δ) of this session's runs on own data, under basic composition."""
    costs = costs_of(data)
    return len(costs), sum(e for e, _ in costs), sum(d for _, d in costs)
