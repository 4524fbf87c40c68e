"""The tour's few settings, and the way from step to step."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages.learn.tour import HIGH, LOW, NETWORKS, ROWS, draft, tour
from pages.shell.data import network_sizes
from pages.shell.fields import bound, seed


def settings() -> None:
    """Network, total epsilon, seed of the private runs, behind a button."""
    now = tour()
    title = f"{now.network.capitalize()}, ε = {now.epsilon:g} (strict)"
    with st.popover(title, icon=":material/tune:", type="tertiary", key="learn-settings"):
        _fields()


def _fields() -> None:
    d = draft()
    sizes = network_sizes()
    bound(
        st.selectbox,
        "Network",
        d,
        "network",
        key="learn-network",
        options=NETWORKS,
        format_func=lambda n: f"{n.capitalize()} · {sizes[n][0]} nodes, {sizes[n][1]} edges",
    )
    bound(
        st.number_input,
        "ε of a whole private run (strict)",
        d,
        "epsilon",
        key="learn-epsilon",
        min_value=LOW,
        max_value=HIGH,
        format="%g",
        help="The private runs on these screens share this total; δ = 1e-6.",
    )
    seed(d, "seed", "Noise seed", key="learn-seed")
    st.caption(f"All of this is a simulation: {ROWS:,} rows drawn from a published network.")


def ways(keys: Mapping[str, str], now: str) -> None:
    """Buttons back and on, and the names of all steps; the chosen one goes into the address."""
    order = list(keys)
    place = order.index(now)
    back, middle, on = st.columns([1, 13, 1], gap="small", vertical_alignment="center")
    back.button(
        "Back",
        key="learn-back",
        disabled=place == 0,
        width="stretch",
        on_click=_go,
        args=(order[max(0, place - 1)],),
    )
    with middle:
        # Streamlit keeps a widget's own state; the address says which step it is.
        st.session_state["learn-step"] = now
        st.segmented_control(
            "Step",
            order,
            key="learn-step",
            required=True,
            format_func=lambda key: f"{order.index(key) + 1} {keys[key]}",
            on_change=_chosen,
            label_visibility="collapsed",
        )
    on.button(
        "Next",
        key="learn-next",
        type="primary",
        disabled=place == len(order) - 1,
        width="stretch",
        on_click=_go,
        args=(order[min(len(order) - 1, place + 1)],),
    )


def _go(step: str) -> None:
    st.query_params["step"] = step


def _chosen() -> None:
    st.query_params["step"] = st.session_state["learn-step"]
