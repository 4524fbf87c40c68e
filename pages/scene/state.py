"""The frame that the address names, and the scenes that come with the project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from engine.params import Parameters, param
from engine.studies.scenes import ALGORITHMS, DRAWS, EPSILONS, kept_scene, kept_scenes
from pages.draw.scene import given
from pages.shell.state import Values


def names() -> tuple[str, ...]:
    """Return the networks that have a scene, that of the opening page first."""
    return tuple(sorted(kept_scenes(), key=lambda name: (name != "asia", name)))


@dataclass(frozen=True, kw_only=True)
class Frame(Parameters):
    """A network, a method, ε, and one draw of the noise or all at once."""

    data: str = param("asia", "Dataset", choices=names())
    algorithm: str = param("marginal_pc", "Method", choices=("pc", *ALGORITHMS))
    epsilon: float = param(1.0, "ε", low=EPSILONS[0], high=EPSILONS[-1])
    draw: int = param(0, "Draw", low=0, high=DRAWS - 1)
    ghost: bool = param(False, "All draws at once")


def draft() -> Values:
    """Return the frame of the visit, or of a link."""
    return Values(Frame)


@st.cache_data(show_spinner=False)
def whole(name: str) -> dict[str, Any]:
    """Return a scene of the project, for the browser."""
    return given(kept_scene(name))
