"""The frame of every page: set-up, style, navigation, the header, and reports of the browser.

A new page is a folder with a ``page.py`` and a line in :data:`PAGES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from engine import Dataset, InputError, RunResult
from engine.params import Spec
from engine.registry import algorithm
from pages.shell import state
from pages.shell import words as text
from pages.shell.settings import data_for, drafted_source
from pages.shell.state import listen as listen
from pages.shell.task import OPEN, find
from pages.shell.words import safe, theme

FOLDER = Path(__file__).resolve().parents[1]
# The icon is a file: a named one would be fetched from the internet.
ICON, STYLE = Path(__file__).with_name("icon.svg"), Path(__file__).with_name("style.css")
_INKS = {
    "aside": "sidebar.backgroundColor",
    "words": "textColor",
    "link": "linkColor",
    "muted": "grayTextColor",
}
# The theme's primary colour is the background of white text on buttons; as text on dark it is too
# dim.
_DARK = """
.stApp button:is([data-variant="segmented_control"], [data-variant="pills"])[aria-checked="true"] {
  color: #dbe8ff; border-color: #8db4ff; background: #24406f}
.stApp [data-testid="stTab"][aria-selected="true"] p, .stApp [data-testid="stSliderThumbValue"] * {
  color: #8db4ff}
"""


@dataclass(frozen=True)
class PageEntry:
    """A page: its title, and its folder."""

    title: str
    name: str

    @property
    def file(self) -> Path:
        """Return the page's script."""
        return FOLDER / self.name / "page.py"

    @property
    def address(self) -> str:
        """Return the title in the form of an address."""
        return self.title.lower().replace("ε", "epsilon").replace(" ", "-")


PAGES = (
    PageEntry("Explore", "scene"),
    PageEntry("Run", "run"),
    PageEntry("Choose ε", "study"),
    PageEntry("Learn", "learn"),
    PageEntry("Cause or effect", "pairs"),
    PageEntry("My data", "table"),
    PageEntry("Report", "report"),
    PageEntry("Audit", "trust"),
)


def main() -> None:
    """Set the app up and run the page that is open."""
    OPEN.put(False)
    if find("reading") is not None:  # a person's file
        from pages.shell import own

        own.collect()
    page = st.navigation(menu(), position="top")
    # The address is read first, because a press can end a script at any output.
    state.read_address(page.title)
    st.set_page_config(
        page_title=f"{page.title} · DP Causal Explorer",
        page_icon=str(ICON),
        layout="wide",
        initial_sidebar_state=340,
    )
    inks = {name: st.get_option(f"theme.{theme()}.{option}") for name, option in _INKS.items()}
    root = "; ".join(f"--{name}: {ink or 'inherit'}" for name, ink in inks.items())
    st.html(STYLE)
    st.html(f"<style>:root {{{root}}}{_DARK if theme() == 'dark' else ''}</style>")
    drawn = {"theme": theme()}  # a change of theme runs the page again
    listen("theme_watch", _THEME, key="theme-watch-state", data=drawn, on_theme_change=lambda: None)
    state.write_changes(page.url_path)
    notice = st.empty()
    page.run()
    if refused := state.visit().refused:
        notice.error(
            text.plain(f"Part of this link was ignored: {' '.join(refused)}"),
            icon=":material/link_off:",
        )
    state.write_address(page.url_path)


def menu() -> list[st.Page]:
    """Return the navigation's pages."""
    first, *rest = PAGES
    # Streamlit serves the default page at / only; a hidden copy answers to its address.
    shown = [st.Page(first.file, title=first.title, default=True, url_path="home")]
    shown += [st.Page(page.file, title=page.title, url_path=page.address) for page in rest]
    hidden = st.Page(first.file, title=first.title, url_path=first.address, visibility="hidden")
    return [*shown, hidden]


# The header ------------------------------------------------------------------------------------

PUBLIC = "Public benchmark data"
OWN_DATA = "Your own data: every rerun spends ε, and F1 against a truth is not private"


def show_strip(title: str, data: Dataset, result: RunResult | None = None) -> None:
    """Show the page's heading with the dataset, and the result's algorithm, ε and seed."""
    cells = [("Dataset", text.dataset_title(data), f"n = {data.n:,}")]
    if result is not None:
        cells += [
            ("Algorithm", algorithm(result.algorithm).title, ""),
            *text.epsilon_cells(result),
            ("Noise seed", f"{result.seed}" if data.public else "secret", ""),
        ]
    st.html(_html(state.visit().page or title, cells, data.public))


def drafted_strip(title: str) -> Dataset | None:
    """Show the header of the form's dataset and return the data, or show why there are none."""
    try:
        data = data_for(drafted_source())
    except InputError as error:
        st.title(state.visit().page or title, anchor=False)
        st.info(text.plain(str(error)), icon=":material/upload_file:")
        return None
    show_strip(title, data)
    return data


def _html(title: str, cells: list[tuple[str, str, str]], public: bool) -> str:
    body = "".join(
        f"<p><span>{safe(name)}</span> <b>{safe(value)}</b> <span>{safe(note)}</span></p>"
        for name, value, note in cells
    )
    badge = f"○ {PUBLIC}" if public else f"● {OWN_DATA}"
    kind = "" if public else ' class="own"'
    return (
        f'<div class="strip"><div><h1>{safe(title)}</h1><div{kind}>{badge}</div></div>{body}</div>'
    )


# Presenter mode: the page without its surroundings, which style.css hides -----------------------

_ON = (Spec(name=state.PRESENT, kind="bool", default=False, title="Presenter mode"),)


def presenting() -> bool:
    """Return whether the address asks for presenter mode."""
    return bool(state.Values(_ON)[state.PRESENT])


def heading(strip: Callable[[], None], *, key: str, more: Callable[[], None] | None = None) -> None:
    """Show the page's header with the button that turns presenter mode on or off.

    ``more`` draws buttons before it.
    """
    on = presenting()
    head = st.container(key="head", horizontal=True, vertical_alignment="center", gap="medium")
    with head.container(key="around", width="content"):
        strip()
    with head.container(key="presented" if on else "aside", horizontal=True, width="content"):
        if more is not None:
            more()
        st.button(
            "Show everything" if on else "Presenter mode",
            key=f"{key}-present",
            icon=":material/fullscreen_exit:" if on else ":material/slideshow:",
            type="tertiary",
            on_click=state.Values(_ON).update,
            args=({state.PRESENT: not on},),
            help=None
            if on
            else "Hides navigation, sidebar and settings. The address keeps this choice.",
        )


# Reports of the browser ------------------------------------------------------------------------

# The menu's switch changes colours only in the browser; figures and graphs need a new script run.
_THEME = """
const seen = () => {
  const ink = getComputedStyle(document.querySelector(".stApp")).backgroundColor.match(/\\d+/g);
  return ink.slice(0, 3).reduce((sum, part) => sum + Number(part), 0) < 384 ? "dark" : "light";
};
// A table uses Tab to move between its cells; arrows do that. Tab goes to the next control.
// The content that a button folds out is at the page's end: Tab goes from the button into it.
const tab = (e) => {
  if (e.key !== "Tab" || !e.target.closest) { return; }
  if (e.target.closest('[data-testid="stDataFrame"]')) { e.stopImmediatePropagation(); }
  if (e.shiftKey || !e.target.closest('[data-testid="stPopover"]')) { return; }
  const first = document.querySelector(
    '[data-testid="stPopoverBody"] :is(input, button, select, textarea, a[href])');
  if (first) { first.focus(); e.preventDefault(); e.stopImmediatePropagation(); }
};
let asked = "", timer;
export default function ({data, setTriggerValue}) {  // once more where the theme has changed
  if (seen() === data.theme) { asked = ""; }
  clearInterval(timer);
  timer = setInterval(() => {
    const now = seen();
    if (now !== data.theme && now !== asked) { asked = now; setTriggerValue("theme", now); }
  }, 300);
  document.addEventListener("keydown", tab, true);
  return () => { clearInterval(timer); document.removeEventListener("keydown", tab, true); };
}
"""
