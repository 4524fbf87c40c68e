"""The tour's settings, the runs it shows, and the way from step to step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine import Dataset, RunResult, run
from engine.params import Parameters, Spec, param
from engine.percent import number
from engine.registry import algorithm
from engine.studies.scenes import kept_scene
from engine.teaching.shuffled import shuffled
from pages.learn.steps import BY_KEY, OLD, WAY, Step
from pages.shell import listen, presenting
from pages.shell.form import parameters
from pages.shell.settings import MOST_SEED, bundled
from pages.shell.state import Values

NETWORKS = ("asia", "cancer", "earthquake", "survey")
MOST_SHUFFLES = 20
_SET = ("data", "epsilon", "seed")  # the tour's settings, behind a button


def rows_of(network: str) -> int:
    """Return the number of rows of every step, the same as on Explore."""
    return int(kept_scene(network)["rows"])


@dataclass(frozen=True, kw_only=True)
class Tour(Parameters):
    """The step, the network of the tour, the total ε of its private runs, their seed, and the
    number of shuffles."""

    step: str = param("cause", "Step", choices=(*BY_KEY, *OLD))
    data: str = param("asia", "Network", choices=NETWORKS)
    epsilon: float = param(
        1.0, "ε of a whole private run (strict)", low=0.01, high=20.0, help="In total; δ = 1e-6."
    )
    seed: int = param(0, "Noise seed", low=0, high=MOST_SEED, help="Fixes every draw.")
    shuffles: int = param(0, "Shuffles so far", low=0, high=MOST_SHUFFLES)

    @property
    def dataset(self) -> Dataset:
        """The network's sample, with the rows that Explore shows; public."""
        return bundled(self.data, rows_of(self.data), 0)


def draft() -> Values:
    """Return the form's values."""
    return Values(Tour)


def tour() -> Tour:
    """Return the settings now; a number outside its range becomes the nearest end of the range."""
    values = dict(draft())
    for spec in Tour.specs():
        if spec.low is not None and spec.high is not None:
            values[spec.name] = min(max(values[spec.name], spec.low), spec.high)
    return Tour.build(values)


@st.cache_resource(max_entries=512, show_spinner=False)
def run_of(
    data: tuple[str, int], key: str, seed: int, shuffle: int | None = None, **values: Any
) -> RunResult:
    """Return a run on a network with this many rows, kept for all sessions because the data are
    public; ``shuffle`` is the seed that reorders each column separately."""
    rows = bundled(*data, 0)
    return run(key, rows if shuffle is None else shuffled(rows, shuffle), seed=seed, **values)


def shown_run(
    now: Tour, key: str, *, seed: int | None = None, shuffle: int | None = None, **values: Any
) -> RunResult:
    """Return the tour's run of an algorithm, a private one at the tour's ε; with the tour's seed if
    none is given."""
    private = {"epsilon": now.epsilon} if algorithm(key).private else {}
    seed, data = now.seed if seed is None else seed, (now.data, rows_of(now.data))
    return run_of(data, key, seed, shuffle, **private, **values)


def places(spec: Spec) -> list[float]:
    """Return every place of a field's slider."""
    low, high, step = (float(number or 0) for number in (spec.low, spec.high, spec.step))
    return [round(low + k * step, 6) for k in range(round((high - low) / step) + 1)]


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


def ways(step: Step) -> None:
    """Draw the buttons back and next, and the names of all steps."""
    order = [other.key for other in WAY]
    # An aside is not among the steps, so the step above it is marked.
    place, last = order.index(step.under or step.key), len(order) - 1
    leave = {"Escape": "learn-present"} if presenting() else {}
    keys = {"ArrowRight": "learn-next", "ArrowLeft": "learn-back"} | leave
    listen("key_watch", _KEYS, key="key-watch-state", data={"keys": keys})
    with st.container(key="learn-ways", horizontal=True, vertical_alignment="center"):
        onto("Back", order[max(0, place - 1)], "learn-back", disabled=place == 0)
        st.session_state["learn-step"] = order[place]
        st.segmented_control(
            "Step",
            order,
            key="learn-step",
            required=True,
            format_func=lambda key: f"{order.index(key) + 1} {BY_KEY[key].short}",
            on_change=lambda: draft().update(step=st.session_state["learn-step"]),
            label_visibility="collapsed",
            width="stretch",
        )
        step_on = order[min(last, place + 1)]
        onto("Next", step_on, "learn-next", disabled=place == last, type="primary")


def onto(title: str, step: str, key: str, **options: Any) -> None:
    """Draw a button that goes to a step."""
    st.button(title, key=key, on_click=draft().update, kwargs={"step": step}, **options)
