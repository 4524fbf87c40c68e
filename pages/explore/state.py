"""Scenes: what the address asks for, those that come with the project, and those that are drawn
while somebody looks.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine.data.networks import NETWORKS, load_dataset, load_network
from engine.params import Parameters
from engine.studies.scene import (
    ALGORITHMS,
    DRAWS,
    EPSILONS,
    MOST_COLUMNS,
    Scene,
    States,
    empty_scene,
    kept_scene,
    kept_scenes,
)
from engine.studies.scene import Frame as SceneFrame
from pages.draw.scene import given
from pages.host import apart
from pages.shell import address
from pages.shell.drafts import Draft, kept
from pages.shell.fields import choice, decode, defaults, encode, number, switch
from pages.shell.job import Job, shared

GROWING = 20  # draws of a scene that is made while somebody waits
_KEPT = 3


def names() -> tuple[str, ...]:
    """Networks small enough for a scene, those that are there at once first."""
    small = [n for n in NETWORKS if len(load_network(n).names) <= MOST_COLUMNS]
    return tuple(sorted(small, key=lambda n: (n != "asia", n not in kept_scenes(), n)))


@dataclass(frozen=True, kw_only=True)
class Frame(Parameters):
    """What is shown: a network, a method, a budget, one draw of the noise or all at once."""

    data: str = choice("asia", "Dataset", names())
    algorithm: str = choice("marginal_pc", "Method", ("pc", *ALGORITHMS))
    epsilon: float = number(1.0, "ε", EPSILONS[0], EPSILONS[-1])
    draw: int = number(0, "Draw", 0, DRAWS - 1)
    ghost: bool = switch(False, "All draws at once")


def draft() -> Draft:
    """The frame as the session left it, or as a link has it; what no field could show is left."""
    form = kept("explore_draft", defaults(Frame))
    if (asked := address.arrived("explore")) is not None:
        form.update(defaults(Frame) | decode(Frame.specs(), asked, leniently=True))
    return form


def keep(form: Mapping[str, Any]) -> None:
    """Write the frame into the address."""
    address.write("explore", encode(Frame.specs(), form))


class SceneJob(Job):
    """A scene that fills with draws while its page is open."""

    def __init__(self, name: str):
        super().__init__()
        self.what = f"the draws of {name}"
        self.scene: Scene = empty_scene(load_dataset(name), draws=GROWING)
        self.done, self._of = 0, 1

    def work(self) -> None:
        """One draw of every epsilon first, then the next."""
        self._of = len(list(self.scene.missing()))
        notes = {"framed": self._framed}
        steps = apart.call(apart.filled, self.scene, stopped=self.stopped, notes=notes)
        self.scene.steps.update(steps)

    def _framed(self, frame: SceneFrame, states: States) -> None:
        self.scene.states[frame.algorithm][frame.at, frame.draw] = states
        self.done, self.share = self.done + 1, (self.done + 1) / self._of

    def steps(self) -> list[str]:
        """How far it is."""
        return [f"{self.done:,} runs made"]


@st.cache_data(show_spinner=False)
def whole(name: str) -> dict[str, Any]:
    """What the browser needs of a scene that comes with the project."""
    return given(kept_scene(name))


def job_of(name: str) -> SceneJob:
    """The scene of a network that is drawn now, shared by all who look at it."""
    return shared(_store(), name, lambda job: not job.stopped(), lambda: SceneJob(name), _KEPT)


@st.cache_resource(show_spinner=False)
def _store() -> OrderedDict[Hashable, SceneJob]:
    """Shared by all sessions: public data only."""
    return OrderedDict()
