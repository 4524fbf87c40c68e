"""The tour's few settings, and the way from step to step."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from pages.learn.tour import NETWORKS, ROWS, Tour, draft, tour
from pages.shell.data import network_sizes
from pages.shell.fields import spec_of
from pages.shell.form import bound, seed
from pages.shell.listen import watch_keys
from pages.shell.present import presenting

# Where the steps do not fit beside the buttons, they have a row of their own below them.
_NARROW = """
.st-key-learn-ways button p {white-space: nowrap}
@media (max-width: 75rem) {
  .st-key-learn-ways {flex-wrap: wrap; justify-content: space-between}
  .st-key-learn-ways .st-key-learn-step {order: 3; flex: 1 1 100% !important}
}
"""


def settings(*, of_screen: bool = True) -> None:
    """Network, total epsilon, seed of the private runs, behind a button.

    Where the screen shows another run than theirs the button names none.
    """
    now = tour()
    title = (
        f"{now.data.capitalize()}, ε = {now.epsilon:g} (strict)"
        if of_screen
        else "The tour's settings"
    )
    with st.popover(title, icon=":material/tune:", type="tertiary", key="learn-settings"):
        _fields()


def _fields() -> None:
    d = draft()
    sizes, total = network_sizes(), spec_of(Tour, "epsilon")
    bound(
        st.selectbox,
        "Network",
        d,
        "data",
        key="learn-network",
        options=NETWORKS,
        format_func=lambda n: f"{n.capitalize()} · {sizes[n][0]} nodes, {sizes[n][1]} edges",
    )
    bound(
        st.number_input,
        total.title,
        d,
        "epsilon",
        key="learn-epsilon",
        min_value=total.low,
        max_value=total.high,
        format="%g",
        help="The private runs on these screens share this total; δ = 1e-6.",
    )
    seed(d, "seed", "Noise seed", key="learn-seed")
    st.caption(f"All of this is a simulation: {ROWS:,} rows drawn from a published network.")


def ways(keys: Mapping[str, str], now: str) -> None:
    """Buttons back and on, and the names of all steps; the chosen one goes into the address."""
    order = list(keys)
    place = order.index(now)
    st.html(f"<style>{_NARROW}</style>")
    leave = {"Escape": "learn-present"} if presenting() else {}
    watch_keys({"ArrowRight": "learn-next", "ArrowLeft": "learn-back"} | leave)
    with st.container(key="learn-ways", horizontal=True, vertical_alignment="center"):
        st.button(
            "Back",
            key="learn-back",
            disabled=place == 0,
            on_click=goto,
            args=(order[max(0, place - 1)],),
        )
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
            width="stretch",
        )
        st.button(
            "Next",
            key="learn-next",
            type="primary",
            disabled=place == len(order) - 1,
            on_click=goto,
            args=(order[min(len(order) - 1, place + 1)],),
        )


def goto(step: str) -> None:
    """To a step."""
    draft()["step"] = step


def _chosen() -> None:
    draft()["step"] = st.session_state["learn-step"]
