"""The scene on a page: one graph that answers to a hand, drawn by the browser (static/scene)."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import networkx as nx
import streamlit as st

from engine import Dataset
from engine.graphs.cpdag import matrix_of
from engine.graphs.layout import box_width, place
from engine.graphs.links import marks_data
from engine.graphs.metrics import truth_cpdag
from engine.studies.price import BEST_TEST
from engine.studies.scenes import pair_states
from engine.summary import NO_PROMISE, PROMISE
from pages.draw.price import step_words
from pages.shell.palette import theme
from pages.shell.words import label

Hear = Callable[[Mapping[str, Any]], None]  # what a component tells the page
ROOT = Path(__file__).resolve().parents[2]
# What a component shows, and its modules, each after those it imports.
_GRAPH = ("dom", "model", "graph")
_KINDS = {
    "scene": ("Scene", (*_GRAPH, "dots", "scene")),
    "noise": ("Noise", ("dom", "noise")),
    "record": ("RecordMove", ("dom", "noise", "record")),
    "arrows": ("Arrows", (*_GRAPH, "arrows")),
    "person": ("Person", ("dom", "noise", "person")),
    "sieve": ("Sieve", ("dom", "noise", "sieve")),
    "plan": ("Plan", ("dom", "noise", "plan")),
    "margins": ("Margins", ("dom", "noise", "margins")),
    "search": ("Search", (*_GRAPH, "search")),
    "money": ("Money", (*_GRAPH, "dots", "coins", "money")),
}
_FRAMES = {"wide": (760, 400), "narrow": (400, 460), "small": (440, 240)}
_IMPORT = re.compile(r"(?m)^import .* from \"\./\w+\.js\";\n")


def _module(name: str) -> str:
    return (ROOT / "static" / "scene" / f"{name}.js").read_text(encoding="utf-8")


@cache
def script(name: str, offline: bool = False) -> str:
    """The modules as one: a component has no address that others could be imported from.

    ``offline`` is the scene inside a file, with no page to tell of anything.
    """
    kind, modules = _KINDS[name]
    parts = [re.sub(r"(?m)^export ", "", _IMPORT.sub("", _module(m))) for m in modules]
    end = _IMPORT.sub("", _module("offline")) if offline else f"export default mount({kind});\n"
    return "\n".join([*parts, end])


@cache
def style() -> str:
    """The scene's style sheet."""
    return (ROOT / "static" / "scene" / "scene.css").read_text(encoding="utf-8")


@cache
def words() -> dict[str, Any]:
    """Plain names of the bundled networks and their columns."""
    found: dict[str, Any] = json.loads((ROOT / "sample_data" / "names.json").read_text("utf-8"))
    return found


def plainly(name: str) -> dict[str, Any]:
    """A network's title, what it is about, and its columns' names; its own where none are kept."""
    found: dict[str, Any] = words().get(name, {})
    return {"title": name.capitalize(), "about": "", "nodes": {}, **found}


def price(scene: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The steps of each method's price before any noise: links that are left, and why."""
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
    """Everything that the browser needs of a scene: its frames, names, places and words."""
    known = plainly(scene["dataset"])
    titles = plain_names(scene["dataset"], scene["names"])
    arrows = tuple((titles[i], titles[j]) for i, j in scene["arrows"])
    content = {
        "scene": {**scene, "best": f"No privacy ({label(BEST_TEST)})"},
        "question": "What can still be learned when nobody may be recognised?",
        "about": known["about"].format(rows=f"{scene['rows']:,}")
        + " Drag the dial: how much may one record show?",
        "titles": titles,
        "layouts": layouts(tuple(titles), arrows),
        "steps": price(scene),
        "first": "marginal_pc",
        "promise": PROMISE,
        "noPromise": NO_PROMISE,
    }
    return digested(content)


def digested(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content with a digest of it, by which a component knows what it already shows."""
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
    return {**content, "digest": digest}


def plain_names(dataset: str, names: Sequence[str]) -> list[str]:
    """The columns of a bundled network in plain words, where it has some."""
    nodes = plainly(dataset)["nodes"]
    return [nodes.get(name, name) for name in names]


def graph_content(data: Dataset) -> dict[str, Any]:
    """Titles, places and the true links of a network, as every component with a graph has them."""
    assert data.truth is not None
    titles = plain_names(data.name, data.names)
    at = dict(zip(data.names, titles, strict=True))
    arrows = tuple(sorted((at[a], at[b]) for a, b in data.truth.edges))
    return {
        "titles": titles,
        "layouts": layouts(tuple(titles), arrows),
        "truth": pair_states(truth_cpdag(data.truth, data.names)).tolist(),
        "causal": pair_states(matrix_of(data.truth, data.names)).tolist(),
    }


@lru_cache(maxsize=16)  # a scene that is still being drawn is asked for every few seconds
def layouts(titles: tuple[str, ...], arrows: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """The places of the boxes in every frame."""
    graph = nx.DiGraph()
    graph.add_nodes_from(titles)
    graph.add_edges_from(arrows)
    return {name: layout(graph, *size) for name, size in _FRAMES.items()}


def layout(graph: nx.DiGraph, width: float, height: float) -> dict[str, Any]:
    """Places of the boxes in a frame that holds them, and how wide they are."""
    at = place(graph, width - 20, height - 40)
    widths = [box_width(name) + 8 for name in graph]
    wide = 2 * max(abs(at[n][0]) + w / 2 for n, w in zip(graph, widths, strict=True)) + 12
    tall = 2 * max(abs(at[n][1]) for n in graph) + 60
    return {
        "at": [list(at[n]) for n in graph],
        "widths": widths,
        "size": [max(wide, width * 0.6), tall],
    }


def mount(kind: str, data: Mapping[str, Any], key: str, **heard: Hear) -> None:
    """Draw a component of :data:`_KINDS`; ``heard`` handles its events ("frame", "yours")."""

    def hear(word: str, handle: Hear) -> None:
        if found := st.session_state[key].get(word):
            handle(found)

    component = st.components.v2.component(kind, js=script(kind), css=style())
    hooks: dict[str, Any] = {f"on_{w}_change": partial(hear, w, h) for w, h in heard.items()}
    component(key=key, data={**data, "marks": marks_data(theme())}, **hooks)


# What Streamlit's theme gives to a component on a page.
_OUTSIDE = """.scene {--st-text-color: #1a2230; --st-background-color: #fff;
  --st-border-color: #cdd5e1; --st-secondary-background-color: #f2f5fa;
  --st-primary-color: #2457b8; --st-font: inherit}
"""


@dataclass(frozen=True)
class Offline:
    """A scene inside a file that needs nothing but itself: its style, its element, its script."""

    style: str
    html: str
    script: str

    @property
    def policy(self) -> str:
        """What a content security policy has to say for the script to run, and no other."""
        digest = hashlib.sha256(self.script.encode()).digest()
        return f"script-src 'sha256-{base64.b64encode(digest).decode()}'"


def offline(content: Mapping[str, Any], start: Mapping[str, Any]) -> Offline:
    """The scene as it stands on the page, beginning with the frame ``start``."""
    whole = {**content, "start": dict(start), "marks": marks_data("light")}
    drawn = json.dumps(whole).replace("</", "<\\/")
    return Offline(
        style=style() + _OUTSIDE,
        html='<div id="scene"></div>',
        script=f"const GIVEN = {drawn};\n{script('scene', offline=True)}",
    )
