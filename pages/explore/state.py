"""Scenes: those that come with the project, and those that are drawn while somebody looks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

import streamlit as st

from engine.data.networks import NETWORKS, load_dataset, load_network
from engine.studies.scene import MOST_COLUMNS, Scene, empty_scene, fill, kept_scene, kept_scenes
from pages.draw.scene import given
from pages.shell.job import Job, shared

DRAWS = 20  # of a scene that is made while somebody waits
_KEPT = 3


class SceneJob(Job):
    """A scene that fills with draws while its page is open."""

    def __init__(self, name: str):
        super().__init__()
        self.what = f"the draws of {name}"
        self.scene: Scene = empty_scene(load_dataset(name), draws=DRAWS)
        self.done = 0

    def work(self) -> None:
        """One draw of every epsilon first, then the next."""
        fill(self.scene, self.stopped, self._note)

    def _note(self, done: int, of: int) -> None:
        self.done, self.share = done, done / of

    def so_far(self) -> list[str]:
        """How far it is."""
        return [f"{self.done:,} runs made"]


def names() -> list[str]:
    """Networks small enough for a scene, those that are there at once first."""
    small = [n for n in NETWORKS if len(load_network(n).names) <= MOST_COLUMNS]
    return sorted(small, key=lambda n: (n != "asia", n not in kept_scenes(), n))


@st.cache_data(show_spinner=False)
def kept(name: str) -> dict[str, Any]:
    """What the browser needs of a scene that comes with the project."""
    return given(kept_scene(name))


def job_of(name: str) -> SceneJob:
    """The scene of a network that is drawn now, shared by all who look at it."""
    return shared(_store(), name, lambda job: not job.stopped(), lambda: SceneJob(name), _KEPT)


@st.cache_resource(show_spinner=False)
def _store() -> OrderedDict[Hashable, SceneJob]:
    """Shared by all sessions: public data only."""
    return OrderedDict()
