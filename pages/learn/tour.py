"""The tour's settings, the runs it shows, and the way from step to step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine import Dataset, RunResult, run
from engine.data.networks import plain_names
from engine.params import Parameters, Spec, param
from engine.percent import number
from engine.studies.scenes import kept_scene
from engine.teaching.lessons import query
from engine.teaching.neighbours import NeighbourTest, farthest
from pages.shell import listen, presenting, state
from pages.shell.form import parameters
from pages.shell.settings import MOST_SEED, bundled
from pages.shell.state import Draft

NETWORKS = ("asia", "cancer", "earthquake", "survey")
# The steps in order; pages/learn/steps.py has their texts and views.
STEPS = (
    *("cause", "search", "noise", "draws", "person", "sieve", "orders", "bound", "budget"),
    *("shuffle", "study"),
)
OLD = {"truth": "cause", "once": "budget", "now": "study"}  # steps in addresses of version 0.3
EPSILONS = (0.01, 20.0)
MOST_SHUFFLES = 20
_SET = ("data", "epsilon", "seed")  # the tour's settings, behind a button


def rows_of(network: str) -> int:
    """Return the number of rows of every step, the same as on Explore."""
    return int(kept_scene(network)["rows"])


@dataclass(frozen=True, kw_only=True)
class Tour(Parameters):
    """The step, the network of the tour, the total ε of its private runs, their seed, and the
    number of shuffles."""

    step: str = param("cause", "Step", choices=(*STEPS, *OLD))
    data: str = param("asia", "Network", choices=NETWORKS)
    epsilon: float = param(
        1.0,
        "ε of a whole private run (strict)",
        low=EPSILONS[0],
        high=EPSILONS[1],
        help="In total; δ = 1e-6.",
    )
    seed: int = param(0, "Noise seed", low=0, high=MOST_SEED, help="Fixes every draw.")
    shuffles: int = param(0, "Shuffles so far", low=0, high=MOST_SHUFFLES)

    @property
    def dataset(self) -> Dataset:
        """The network's sample, with the rows that Explore shows; public."""
        return bundled(self.data, rows_of(self.data), 0)

    @property
    def titles(self) -> dict[str, str]:
        """The columns' names, and the same in plain words."""
        names = self.dataset.names
        return dict(zip(names, plain_names(self.data, names), strict=True))


def draft() -> Draft:
    """Return the form's values."""
    return state.Values(Tour)


def tour() -> Tour:
    """Return the settings now; a number outside its range becomes the nearest end of the range."""
    values = dict(draft())
    for spec in Tour.specs():
        if spec.low is not None and spec.high is not None:
            values[spec.name] = min(max(values[spec.name], spec.low), spec.high)
    return Tour.build(values)


@st.cache_resource(max_entries=256, show_spinner=False)
def run_of(
    network: str, key: str, seed: int, values: tuple[tuple[str, Any], ...], rows: int
) -> RunResult:
    """Return a run on this many rows of a network, kept for all sessions because the data are
    public."""
    return run(key, bundled(network, rows, 0), seed=seed, **dict(values))


def shown_run(now: Tour, key: str, *, seed: int | None = None, **values: Any) -> RunResult:
    """Return the tour's run of an algorithm; with the tour's seed if none is given."""
    chosen = now.seed if seed is None else seed
    return run_of(now.data, key, chosen, tuple(sorted(values.items())), rows_of(now.data))


@st.cache_resource(max_entries=64, show_spinner=False)
def neighbours_of(network: str, x: str, y: str) -> NeighbourTest:
    """Return the network's sample, and the neighbour that moves one test most."""
    data = bundled(network, rows_of(network), 0)
    return farthest(data, query(data, x, y), 1.0)


def places(spec: Spec) -> list[float]:
    """Return every place of a field's slider."""
    assert spec.low is not None
    assert spec.high is not None
    assert spec.step is not None
    count = round((spec.high - spec.low) / spec.step)
    return [round(spec.low + k * spec.step, 6) for k in range(count + 1)]


def nearest(places: Sequence[float], value: float) -> int:
    """Return the index of the place nearest to a value."""
    return min(range(len(places)), key=lambda k: abs(places[k] - value))


# Arrow keys change the step, as a presenter's remote control does, unless the element in focus uses
# them.
_KEYS = """
const TAKEN = "input, select, textarea, canvas, svg, [role=slider], [role=radio], [role=tab],"
  + " [role=application], [contenteditable], [role=dialog]";
export default function ({data}) {
  const press = (key) => document.querySelector(`.st-key-${key} button:not([disabled])`)?.click();
  const hear = (e) => {
    const at = e.composedPath()[0];
    if (e.ctrlKey || e.metaKey || e.altKey || e.shiftKey || e.defaultPrevented) { return; }
    if (at.closest && at.closest(TAKEN)) { return; }
    if (document.querySelector('[data-testid="stPopoverBody"]')) { return; }
    if (data.keys[e.key]) { press(data.keys[e.key]); }
  };
  document.addEventListener("keydown", hear);
  return () => document.removeEventListener("keydown", hear);
}
"""


def _watch_keys(keys: Mapping[str, str]) -> None:
    """Let a key press the button of this key: {"ArrowRight": "learn-next"}."""
    listen("key_watch", _KEYS, key="key-watch-state", data={"keys": dict(keys)})


# The settings, and the way from step to step ----------------------------------------------


def settings(*, of_screen: bool = True) -> None:
    """Draw the network, the total ε and the seed of the private runs behind a button.

    If the screen shows another run, the button names no settings.
    """
    now = tour()
    named = f"{now.data.capitalize()}, ε = {number(now.epsilon)} (strict)"
    title = named if of_screen else "The tour's settings"
    with st.popover(title, icon=":material/tune:", type="tertiary", key="learn-settings"):
        parameters([s for s in Tour.specs() if s.name in _SET], draft(), key="learn")
        rows = rows_of(now.data)
        st.caption(f"The data are simulated: {rows:,} rows drawn from a published network.")


# If the steps do not fit next to the buttons, they move to a row below.
_NARROW = """
.st-key-learn-ways button p {white-space: nowrap}
@media (max-width: 75rem) {
  .st-key-learn-ways {flex-wrap: wrap; justify-content: space-between}
  .st-key-learn-ways .st-key-learn-step {order: 3; flex: 1 1 100% !important}
}
"""


def ways(keys: Mapping[str, str], now: str) -> None:
    """Draw the buttons back and next, and the names of all steps."""
    order = list(keys)
    place = order.index(now)
    st.html(f"<style>{_NARROW}</style>")
    leave = {"Escape": "learn-present"} if presenting() else {}
    _watch_keys({"ArrowRight": "learn-next", "ArrowLeft": "learn-back"} | leave)
    with st.container(key="learn-ways", horizontal=True, vertical_alignment="center"):
        _button("Back", "learn-back", order[max(0, place - 1)], disabled=place == 0)
        # An aside is not among the steps, so the step above it is marked.
        st.session_state["learn-step"] = now
        st.segmented_control(
            "Step",
            order,
            key="learn-step",
            required=True,
            format_func=lambda key: f"{order.index(key) + 1} {keys[key]}",
            on_change=lambda: goto(st.session_state["learn-step"]),
            label_visibility="collapsed",
            width="stretch",
        )
        last = len(order) - 1
        onward = order[min(last, place + 1)]
        _button("Next", "learn-next", onward, disabled=place == last, type="primary")


def _button(title: str, key: str, step: str, **options: Any) -> None:
    st.button(title, key=key, on_click=goto, args=(step,), **options)


def goto(step: str) -> None:
    """Go to a step."""
    draft()["step"] = step
