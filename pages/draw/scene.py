"""The scene on a page: one interactive graph, drawn by the browser (static/scene)."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from engine.graphs.links import marks_data
from engine.story.content import scene_content
from engine.story.modules import bundle, style
from engine.studies.price import BEST_TEST
from pages.draw.price import step_words
from pages.shell.words import label, theme

Hear = Callable[[Mapping[str, Any]], None]  # the values that a component sends to the page


def script(kind: str) -> str:
    """Return the module of a component: its parts in one, and the function that Streamlit calls."""
    name = {"record": "RecordMove"}.get(kind, kind.capitalize())
    made = f"export default modules.dom.mount(modules.{kind}.{name});"
    return f"{bundle(kind, 'dom')}\n{made}\n"


def given(scene: Mapping[str, Any]) -> dict[str, Any]:
    """Return all that the browser needs for a scene: its frames, names, places and words, and each
    method's links that are left after each step before any noise, with the reason."""
    start = {"links": sum(state > 0 for state in scene["truth"]), "words": "true links"}
    steps = {
        method["key"]: [
            start,
            *(
                {"links": step["found"], "words": step_words(step["kind"], step["statistic"])}
                for step in method["steps"]
            ),
        ]
        for method in scene["methods"]
    }
    best = next((s[:2] for s in steps.values() if len(s) > 1), [start])
    name = f"No privacy ({label(BEST_TEST)})"
    return scene_content(scene, best=name, steps={"pc": best, **steps})


def mount(kind: str, data: Mapping[str, Any], key: str, **heard: Hear) -> None:
    """Draw a component of static/scene; ``heard`` handles its events ("frame", "yours")."""

    def hear(word: str, handle: Hear) -> None:
        if found := st.session_state[key].get(word):
            handle(found)

    component = st.components.v2.component(kind, js=script(kind), css=style())
    hooks: dict[str, Any] = {f"on_{w}_change": partial(hear, w, h) for w, h in heard.items()}
    component(key=key, data={**data, "marks": marks_data(theme())}, **hooks)


# The values that Streamlit's theme gives to a component on a page.
_OUTSIDE = """.scene {--st-text-color: #1a2230; --st-background-color: #fff;
  --st-border-color: #cdd5e1; --st-secondary-background-color: #f2f5fa;
  --st-primary-color: #2457b8; --st-font: inherit}
"""


@dataclass(frozen=True)
class Offline:
    """A scene inside a self-contained file: its style, its element, its script."""

    style: str
    html: str
    script: str

    @property
    def policy(self) -> str:
        """Return the content security policy that admits this script only."""
        digest = hashlib.sha256(self.script.encode()).digest()
        return f"script-src 'sha256-{base64.b64encode(digest).decode()}'"


def offline(content: Mapping[str, Any], start: Mapping[str, Any]) -> Offline:
    """Return the scene as it stands on the page, beginning with the frame ``start``."""
    whole = {**content, "start": dict(start), "marks": marks_data("light")}
    drawn = json.dumps(whole).replace("</", "<\\/")
    return Offline(
        style=style() + _OUTSIDE,
        html='<div id="scene"></div>',
        script=f"const GIVEN = {drawn};\n{bundle('offline')}",
    )
