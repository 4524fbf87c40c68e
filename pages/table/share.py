"""A release on screen: its graph with probabilities, and its files for people and for tools."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from engine.effects.effect import Effect
from engine.graphs.formats import FORMATS
from engine.release.checking import answers, question
from engine.release.file import Release, canonical, digest, neighbours
from engine.release.page import (
    EDGES,
    confidence_words,
    doubt_words,
    edge_words,
    release_drawn,
    release_svg,
    to_html,
)
from engine.release.synthetic import LABEL, synthetic_csv
from pages.draw import palette, show
from pages.draw.effect import Ask, effects
from pages.shell import export
from pages.shell import words as text
from pages.shell.form import folded
from pages.table import expected

UNSAVED = "It could not be saved with the budgets. Download it now."
_WIDE = re.compile(r'viewBox="\S+ \S+ ([\d.]+) ')


def released(release: Release, ids: Sequence[str]) -> None:
    """Draw a release that was made here: its guarantee, graph and files; ``ids`` are its names if
    it was saved."""
    epsilon, delta = float(release.total.epsilon), float(release.total.delta)
    st.success(
        f"Released under (ε, δ) = ({text.number(epsilon)}, {text.number(delta)}), charged to "
        f"“{text.plain(release.name)}”. Neighbours: {neighbours(release.schema)}."
    )
    saved = f"Saved as {ids[0]}. Export it again under “Saved releases”." if ids else UNSAVED
    st.caption(saved)
    if release.signature is not None:
        key = release.signature.public_key
        st.caption(f"Signed with your key {key}: give it to the recipients.")
    graph(release, "release")
    came = len({frozenset(pair) for pair in release.cpdag})
    expected.expect(release.schema, release.rows, epsilon, delta, came)
    files(release, f"{release.name}_release".replace(" ", "_"), "release")


def graph(release: Release, key: str) -> None:
    """Draw the answers to its questions, the graph, its edges, and effects on demand."""
    for found in answers(release):
        st.markdown(f"**{text.plain(found.sentence)}**")
        st.caption(text.plain(" ".join(found.notes)))
    # An image, because the page would drop an SVG. It cannot use the colour of the surrounding
    # text.
    drawn = release_svg(release).replace("currentColor", palette().font)
    coded = base64.b64encode(drawn.encode()).decode()
    alt = text.safe(f"The released graph of {release.name}")
    source = f"data:image/svg+xml;base64,{coded}"
    wide = _WIDE.findall(drawn)[0]  # with many columns as large as possible
    st.html(f'<img alt="{alt}" src="{source}" style="width:100%;max-width:max(44rem,{wide}px)">')
    if release.confidence:
        rows = pd.DataFrame(edge_words(release), columns=list(EDGES))
        show.table(rows, alt="Edges of the release")
        st.caption(confidence_words(release))
    st.markdown(doubt_words(release))
    if release.cpdag:
        how_much = partial(_how_much, release, key)
        st.fragment(folded)("Causal effects", how_much, key=f"{key}-effects")


@st.cache_resource(max_entries=4, show_spinner="Reading the released tables …")
def _asked(_release: Release, seal: str) -> Ask:
    """Return a release's question; its content is shared already, so sessions may share it."""
    return question(_release)


def _how_much(release: Release, key: str) -> None:
    """Draw the choice of two columns and the answer."""
    arrows = [(a, b) for a, b in release.cpdag if (b, a) not in release.cpdag]
    ask, first = _asked(release, digest(release)), (arrows or list(release.cpdag))[0]
    start: Effect = ask(*first)
    effects(release.names, start.levels, first, ask, key=f"{key}-effect")
    st.caption("From the file only: nothing is charged, and no data are needed.")


def files(release: Release, stem: str, key: str) -> None:
    """Draw a release's files: for a check, for people, synthetic rows, and formats of other
    tools."""
    offer(partial(canonical, release), partial(to_html, release), stem, key)
    with st.container(horizontal=True):
        rows = partial(synthetic_csv, release, min(release.rows, 100_000))
        name, key_ = f"{stem}-synthetic.csv", f"{key}-synthetic"
        export.download("Synthetic table (CSV)", rows, name, key=key_)
        for kind, made in FORMATS.items():
            content = partial(made.write, release.names, release_drawn(release))
            export.download(
                made.name, content, f"{stem}_graph.{made.extension}", key=f"{key}-{kind}"
            )
    st.caption(f"{LABEL} It costs nothing more.")


def offer(content: Callable[[], str], page: Callable[[], str], stem: str, key: str) -> None:
    """Draw the two files of a release."""
    with st.container(horizontal=True):
        export.download("Release (JSON)", content, f"{stem}.json", key=f"{key}-json")
        export.download("For people (HTML)", page, f"{stem}.html", key=f"{key}-html")
