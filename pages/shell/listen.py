"""What the browser tells by itself: a new theme, a click on a graph's node, a key."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from pages.shell.palette import theme

# The menu's switch changes colours in the browser alone; figures and graphs need a new script run.
_THEME = """
const seen = () => {
  const ink = getComputedStyle(document.querySelector(".stApp")).backgroundColor.match(/\\d+/g);
  return ink.slice(0, 3).reduce((sum, part) => sum + Number(part), 0) < 384 ? "dark" : "light";
};
let asked = "";
export default function ({data, setTriggerValue}) {
  if (seen() === data.theme) { asked = ""; }
  const timer = setInterval(() => {
    const now = seen();
    if (now !== data.theme && now !== asked) { asked = now; setTriggerValue("theme", now); }
  }, 300);
  // A table takes every Tab to walk through its cells; arrows do that. Tab goes on to what follows.
  // What a button has folded out stands at the page's end: Tab goes from the button into it.
  const tab = (e) => {
    if (e.key !== "Tab" || !e.target.closest) { return; }
    if (e.target.closest('[data-testid="stDataFrame"]')) { e.stopImmediatePropagation(); }
    if (e.shiftKey || !e.target.closest('[data-testid="stPopover"]')) { return; }
    const first = document.querySelector(
      '[data-testid="stPopoverBody"] :is(input, button, select, textarea, a[href])');
    if (first) { first.focus(); e.preventDefault(); e.stopImmediatePropagation(); }
  };
  document.addEventListener("keydown", tab, true);
  return () => { clearInterval(timer); document.removeEventListener("keydown", tab, true); };
}
"""
# Graphs live in frames: a click travels to the page here, and the chosen node to every frame.
_NODE = """
export default function ({data, setStateValue}) {
  const tell = () => document.querySelectorAll("iframe").forEach(
    (f) => f.contentWindow && f.contentWindow.postMessage({bringOut: data.node || ""}, "*"));
  const hear = (e) => {
    if (!e.data) { return; }
    if (e.data.graphReady && data.node) { tell(); }
    if (typeof e.data.graphNode === "string") {
      data = {...data, node: e.data.graphNode}; tell(); setStateValue("node", data.node); }
  };
  window.addEventListener("message", hear);
  tell();
  return () => window.removeEventListener("message", hear);
}
"""
# Arrow keys step as a presenter's remote control does, where nothing in focus takes them itself.
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
_COMPONENTS = {"theme_watch": _THEME, "node_watch": _NODE, "key_watch": _KEYS}


def _mount(name: str, **options: Any) -> Any:
    component = st.components.v2.component(name, js=_COMPONENTS[name])
    with st.container(key=name.replace("_", "-")):
        return component(**options)


def watch_theme() -> None:
    """Run the page again whenever the browser shows another theme than it was drawn for."""
    drawn = {"theme": theme()}
    _mount("theme_watch", key="theme-watch-state", data=drawn, on_theme_change=lambda: None)


def watch_node(chosen: str, changed: Callable[[str], None]) -> None:
    """Bring the chosen node out in every graph ("" for none); ``changed`` gets a clicked one."""
    key = "node-watch-state"

    def clicked() -> None:
        changed(str(st.session_state[key].get("node") or ""))

    _mount("node_watch", key=key, data={"node": chosen}, on_node_change=clicked)


def watch_keys(keys: Mapping[str, str]) -> None:
    """Let a key press the button of this key: {"ArrowRight": "learn-next"}."""
    _mount("key_watch", key="key-watch-state", data={"keys": dict(keys)})
