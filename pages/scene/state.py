"""Scenes: what the address asks for, those that come with the project, and those that are drawn
while somebody looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine.data.networks import NETWORKS, load_dataset, load_network
from engine.params import Parameters
from engine.studies.scenes import (
    ALGORITHMS,
    COARSE,
    DRAWS,
    EPSILONS,
    MOST_COLUMNS,
    Scene,
    empty_scene,
    kept_scene,
    kept_scenes,
)
from pages.draw.scene import given
from pages.scene.work import fill
from pages.shell import state
from pages.shell.state import Draft, choice, number, switch
from pages.shell.task import Task, shared

GROWING = 20  # draws of a scene that is made while somebody waits


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
    """The frame as the visit has it, or a link."""
    return state.of(Frame)


@st.cache_data(show_spinner=False)
def whole(name: str) -> dict[str, Any]:
    """What the browser needs of a scene that comes with the project."""
    return given(kept_scene(name))


def growing(name: str) -> Task:
    """The frames of a network's scene that are made now, shared by all who look at it."""
    empty = empty_scene(load_dataset(name), epsilons=COARSE, draws=GROWING)
    return shared(("scene", name), f"the draws of {name}", fill, empty, about=empty)


def so_far(task: Task) -> tuple[Scene, int]:
    """A scene with what is made of it until now, and how many frames those are."""
    scene, made = task.about, list(task.parts)
    for part in made:
        if isinstance(part, tuple):
            frame, states = part
            scene.states[frame.algorithm][frame.at, frame.draw] = states
        else:
            scene.steps.update(part)
    return scene, len(made)
