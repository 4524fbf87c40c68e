"""A release on screen: its graph with probabilities, and its files for people and for tools."""

from __future__ import annotations

import base64
import re
from functools import partial

import pandas as pd
import streamlit as st

from engine.graphs.formats import FORMATS
from engine.release.file import Release
from engine.release.graph import release_drawn, release_svg
from engine.release.page import EDGES, confidence_words, doubt_words, edge_words
from engine.release.synthetic import synthetic
from pages.draw import show
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


def offer(content: str, page: str, stem: str, key: str) -> None:
    """The two files of a release."""
    export.download("Release (JSON)", lambda: content, f"{stem}.json", key=f"{key}-json")
    st.download_button(
        "For people (HTML)",
        lambda: page,
        f"{stem}.html",
        "text/html",
        key=f"{key}-html",
        on_click="ignore",
        icon=":material/download:",
    )


def edges(release: Release) -> None:
    """The learned edges as they are drawn, with the confidence of link and arrow."""
    if not release.confidence:
        st.markdown(doubt_words(release))
        return
    rows = pd.DataFrame(edge_words(release), columns=list(EDGES))
    show.table(rows, alt="Edges of the release")
    st.caption(confidence_words(release))
    st.markdown(doubt_words(release))


def rows(release: Release, stem: str, key: str) -> None:
    """As many synthetic rows as there were records, as a table."""
    export.download(
        "Synthetic table (CSV)",
        lambda: export.as_csv(synthetic(release, min(release.rows, 100_000)).to_frame()),
        f"{stem}-synthetic.csv",
        key=f"{key}-synthetic",
    )
