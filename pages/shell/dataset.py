"""Choosing a dataset: a bundled network, a simulated model, or a person's own CSV file."""

from __future__ import annotations

import streamlit as st

from engine.data.networks import NETWORKS
from engine.data.simulated import GRAPHS, MAX_NODES, NOISES
from pages.shell import words as text
from pages.shell.data import network_sizes
from pages.shell.drafts import draft
from pages.shell.fields import bound, seed
from pages.shell.settings import MAX_ROWS, MIN_ROWS, OWN, SEM
from pages.shell.upload import upload


def network_label(name: str) -> str:
    """A dataset's name with its size."""
    if name == OWN:
        return "Your own data (CSV)"
    if name == SEM:
        return "Simulated linear model (SEM)"
    nodes, edges = network_sizes()[name]
    return f"{name.capitalize()} · {nodes} nodes, {edges} edges"


def picker(*, key: str) -> None:
    """The fields that choose a dataset, bound to the draft."""
    form = draft()
    bound(
        st.selectbox,
        "Dataset",
        form,
        "network",
        key=f"{key}-network",
        options=[*NETWORKS, SEM, OWN],
        format_func=network_label,
    )
    if form["network"] == OWN:
        upload(key=key)
        return
    if form["network"] == SEM:
        simulated(key=key)
    left, right = st.columns([3, 2], gap="small")
    with left:
        bound(
            st.number_input,
            "Rows n",
            form,
            "n",
            key=f"{key}-n",
            step=1000,
            help=f"Rows drawn from the network or model, {MIN_ROWS:,} to {MAX_ROWS:,}.",
        )
    with right:
        seed(
            form,
            "sample",
            "Data seed",
            key=f"{key}-sample",
            help="Fixes which rows are drawn (of a simulated model its graph and weights too). "
            "The noise has its own seed.",
        )


def simulated(*, key: str) -> None:
    """The fields of a simulated linear model."""
    form = draft()
    kind, noise = st.columns(2, gap="small")
    with kind:
        bound(
            st.selectbox,
            "Graph",
            form,
            "sem_graph",
            key=f"{key}-sem-graph",
            options=GRAPHS,
            format_func=text.label,
            help="Erdős–Rényi: every edge is equally likely. Scale-free: a few nodes have many.",
        )
    with noise:
        bound(
            st.selectbox,
            "Noise of the model",
            form,
            "sem_noise",
            key=f"{key}-sem-noise",
            options=NOISES,
            format_func=text.label,
            help="Of each variable's own term, with variance 1; weights are ±0.5 to ±2.",
        )
    nodes, edges = st.columns(2, gap="small")
    for column, title, name, words in (
        (nodes, "Nodes", "sem_nodes", f"From 2 to {MAX_NODES}."),
        (edges, "Edges", "sem_edges", "Scale-free: rounded to a whole number for each node."),
    ):
        with column:
            bound(
                st.number_input,
                title,
                form,
                name,
                key=f"{key}-{name}",
                step=1,
                min_value=1,
                help=words,
            )
