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

_KINDS = {
    "scene": "Scene",
    "noise": "Noise",
    "record": "RecordMove",
    "arrows": "Arrows",
    "person": "Person",
    "sieve": "Sieve",
    "plan": "Plan",
    "margins": "Margins",
    "search": "Search",
    "money": "Money",
}
Hear = Callable[[Mapping[str, Any]], None]  # the values that a component sends to the page


def script(kind: str) -> str:
    """Return the module of a component: its parts in one, and the function that Streamlit calls."""
    made = f"export default modules.dom.mount(modules.{kind}.{_KINDS[kind]});"
    return f"{bundle(kind, 'dom')}\n{made}\n"


def price(scene: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Return the steps of each method's price before any noise: links that are left, and why."""
    links = sum(state > 0 for state in scene["truth"])
    start = {"links": links, "words": "true links"}
    steps = {m["key"]: [start] for m in scene["methods"]}
    for method in scene["methods"]:
        for step in method["steps"]:
            said = step_words(step["kind"], step["statistic"])
            steps[method["key"]].append({"links": step["found"], "words": said})
    best = next((s[:2] for s in steps.values() if len(s) > 1), [start])
    return {"pc": best, **steps}


def given(scene: Mapping[str, Any]) -> dict[str, Any]:
    """Return all that the browser needs for a scene: its frames, names, places and words."""
    best = f"No privacy ({label(BEST_TEST)})"
    return scene_content(scene, best=best, steps=price(scene))


def mount(kind: str, data: Mapping[str, Any], key: str, **heard: Hear) -> None:
    """Draw a component of :data:`_KINDS`; ``heard`` handles its events ("frame", "yours")."""

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
