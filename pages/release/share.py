"""A release on screen: its graph with probabilities, and its files for people and for tools."""

from __future__ import annotations

import base64
import re
from functools import partial

import streamlit as st

from engine.graphs.formats import FORMATS
from engine.release.file import Release
from engine.release.graph import release_drawn, release_svg
from pages.shell import export
from pages.shell.palette import LOOKS, theme
from pages.shell.words import safe

_WIDE = re.compile(r'viewBox="\S+ \S+ ([\d.]+) ')


def picture(release: Release) -> None:
    """The graph, each link with how often such links are real."""
    # An image, since the page would drop an SVG: it knows no colour of the text around it.
    drawn = release_svg(release).replace("currentColor", LOOKS[theme()].font)
    coded = base64.b64encode(drawn.encode()).decode()
    alt = safe(f"The released graph of {release.name}")
    source = f"data:image/svg+xml;base64,{coded}"
    wide = _WIDE.findall(drawn)[0]  # of many columns as large as there is room
    st.html(f'<img alt="{alt}" src="{source}" style="width:100%;max-width:max(44rem,{wide}px)">')


def for_tools(release: Release, key: str) -> None:
    """The graph in other tools' words."""
    stem = release.name.replace(" ", "_")
    with st.container(horizontal=True):
        for kind, form in FORMATS.items():
            export.download(
                form.title.partition(":")[0],
                partial(form.write, release.names, release_drawn(release)),
                f"{stem}_graph.{form.extension}",
                key=f"{key}-{kind}",
            )
