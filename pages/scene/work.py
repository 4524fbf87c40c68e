"""The long work of this page, for a process that knows nothing of Streamlit."""

from __future__ import annotations

from engine.studies.scenes import Scene, states_of
from pages.worker import Tell


def fill(tell: Tell, scene: Scene) -> None:
    """Parts: (frame, its states) of every frame that a scene lacks; at the end price's steps."""
    for frame in scene.missing():
        if tell():
            return
        tell(part=(frame, states_of(scene.run(frame))))
    scene.price()
    tell(part=scene.steps)
