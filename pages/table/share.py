"""A release on screen: its graph with probabilities, its files, its forecast, and files from
elsewhere.

The files are enough for a check, a combined release and later background knowledge: these need no
data and no budget.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from engine import InputError, load_knowledge
from engine.data.schema import Schema
from engine.graphs.formats import FORMATS
from engine.release import door
from engine.release import page as words_of
from engine.release.checking import answers, question
from engine.release.file import ALGORITHM, Release, canonical, digest, neighbours
from engine.release.signature import public_key, verify, verify_page
from engine.release.synthetic import LABEL, synthetic_csv
from engine.studies.detectability import detectability
from engine.studies.plan import Forecast, PlanRequest, no_graph
from pages import mode
from pages.draw import palette, show
from pages.draw.effect import Ask, effects
from pages.draw.links import Picture
from pages.forms.known import given_knowledge
from pages.shell import export, journey, state
from pages.shell import words as text
from pages.shell.form import folded, refusals
from pages.shell.task import redraw_until_done, shared
from pages.table.work import derive, forecast
from pages.worker import NETWORKS, plain

UNSAVED = "It could not be saved with the budgets. Download it now."
_WIDE = re.compile(r'viewBox="\S+ \S+ ([\d.]+) ')
FREE = "This uses the file only: nothing is charged, and no data are needed."
REPLACES = (
    "The dialog “Background knowledge” saves such a file. It replaces the knowledge in the release."
)
DIFFERENT = "I know that each person is in one of these releases only"
ALIKE = (
    "Releases that look like the same people are combined only if you declare this. The new file "
    "says so."
)
APPLIED = (
    "Background knowledge was applied, and arrows that it fixes are not findings. The file "
    "contains it, and the check derives the graph with it."
)


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
    expect(release.schema, release.rows, epsilon, delta, came)
    files(release, f"{release.name}_release".replace(" ", "_"), "release")


def graph(release: Release, key: str) -> None:
    """Draw the answers to its questions, the graph, its edges, and effects on demand."""
    for found in answers(release):
        st.markdown(f"**{text.plain(found.sentence)}**")
        st.caption(text.plain(" ".join(found.notes)))
    # An image cannot use the colour of the text. With many columns it is as large as possible.
    drawn = words_of.release_svg(release).replace("currentColor", palette().font)
    style = f"width:100%;max-width:max(44rem,{_WIDE.findall(drawn)[0]}px)"
    st.html(Picture(drawn, f"The released graph of {release.name}").styled(style))
    if release.confidence:
        rows = pd.DataFrame(words_of.edge_words(release), columns=list(words_of.EDGES))
        show.table(rows, alt="Edges of the release")
        st.caption(words_of.confidence_words(release))
    st.markdown(words_of.doubt_words(release))
    if release.cpdag:
        how_much = partial(_how_much, release, key)
        st.fragment(folded)("Causal effects", how_much, key=f"{key}-effects")


@st.cache_resource(max_entries=4, show_spinner="Reading the released tables …")
def _asked(_release: Release, seal: str) -> Ask:
    """Return a release's question; its content is shared already, so sessions may share it."""
    return question(_release)


def _how_much(release: Release, key: str) -> None:
    """Draw the choice of two columns and the answer."""
    effects(release.names, release.cpdag, _asked(release, digest(release)), key=f"{key}-effect")
    st.caption("From the file only: nothing is charged, and no data are needed.")


def files(release: Release, stem: str, key: str) -> None:
    """Draw a release's files: for a check, for people, synthetic rows, and formats of other
    tools."""
    offer(partial(canonical, release), partial(words_of.to_html, release), stem, key)
    rows, graph = min(release.rows, 100_000), words_of.release_drawn(release)
    others: dict[str, tuple[str, Callable[[], str]]] = {
        made.name: (f"_graph.{made.extension}", partial(made.write, release.names, graph))
        for made in FORMATS.values()
    }
    table = "-synthetic.csv", partial(synthetic_csv, release, rows)
    export.downloads(stem, {"Synthetic table (CSV)": table, **others}, key)
    st.caption(f"{LABEL} It costs nothing more.")


def offer(content: Callable[[], str], page: Callable[[], str], stem: str, key: str) -> None:
    """Draw the two files of a release."""
    both = {"Release (JSON)": (".json", content), "For people (HTML)": (".html", page)}
    export.downloads(stem, both, key)


# Its forecast ---------------------------------------------------------------------------


def expect(
    schema: Schema, rows: int, epsilon: float, delta: float, came: int | None = None
) -> None:
    """Show the expected result of a release at (ε, δ), and the actual one of a finished release."""
    said, columns = state.Values(journey.Guess, "plan."), (schema.names, schema.levels)
    with suppress(InputError):
        question = PlanRequest(*columns, rows, said["links"] or None, said["strength"])
        call = question, epsilon, delta, ALGORITHM, NETWORKS
        find = partial(shared, ("expected", *call), "a forecast for this ε", forecast, *call)

        def draw() -> None:
            task = find()
            if not task.done:
                st.caption("Simulating what this ε will find …")
            elif task.complete and came is not None:
                st.markdown(f"**{against(task.result, came)}**")
            elif task.complete:
                _say(task.result, question, epsilon, delta)

        with st.container(key="expected" if came is None else "expected-release"):
            redraw_until_done(lambda: [find()], draw)


def against(f: Forecast, came: int) -> str:
    """A release's number of links next to the forecast's."""
    band, false = f.shown, round(f.false_positives.median)
    said = (
        f"Forecast: {band.low:.0f} to {band.high:.0f} links shown, {false or 'none'} of them "
        f"false, skeleton F1 between {f.f1.low:.2f} and {f.f1.high:.2f}. Result: {came}."
    )
    if band.holds(came):
        return said
    if came < band.low:
        why = "less than forecast: the links are weaker, or fewer, than in most simulated tables"
    else:
        why = "more than forecast: there are more links, or stronger ones, than you guessed"
    return f"{said} That is {why}."


def _say(f: Forecast, question: PlanRequest, epsilon: float, delta: float) -> None:
    false = round(f.false_positives.median)
    st.markdown(
        f"**Expect about {f.found.median:.0f} of {f.links.median:.0f} links, and "
        f"{false or 'no'} false {'one' if false == 1 else 'ones'}.**"
    )
    # The page says above if n, d and ε already imply it.
    if f.poor and not detectability(question.rows, len(question.names), [epsilon], delta):
        st.warning(no_graph(question, [epsilon], delta), icon=":material/warning:")
    st.caption(
        f"Simulated on {f.draws} random networks of your columns and rows, with "
        f"{question.assumed}. No row was read, and nothing was spent."
    )


# Files from elsewhere -------------------------------------------------------------------


def opened() -> None:
    """Open shared release files: one is checked, several are combined."""
    if mode.public():
        return
    with st.expander("Release files: check one, or combine several", key="release-files"):
        st.caption("Releases of different people can be combined into one. " + FREE)
        given = st.file_uploader(
            "Release files (JSON)", type=["json"], key="check-file", accept_multiple_files=True
        )
        with refusals():
            opened = [_opened(file.getvalue()) for file in given]
            if len(opened) == 1:
                _check(*opened[0])
            if opened:
                _follows([release for release, _ in opened])


def _opened(raw: bytes) -> tuple[Release, float]:
    """Return a verified release and the result of its check; InputError for any other file."""
    seal = "check", hashlib.sha256(raw).hexdigest()
    found: tuple[Release, float] = _waited("Checking the file …", seal, plain, door.opened, raw)
    return found


def _check(release: Release, doubt: float) -> None:
    """Show a file that was checked; InputError for another key, or for the page of another
    release."""
    page = st.file_uploader("Its page (HTML), if you have it", type=["html"], key="check-page")
    key = st.text_input("The signer's public key, if you have it", key="check-key").strip()
    verify(release, public_key(key) if key else None)
    if page is not None:
        verify_page(release, page.getvalue())
    first, *more = words_of.check_words(release, doubt, key or None, page is not None)
    st.success(text.plain(first))
    for words in more:
        st.markdown(text.plain(words))
    graph(release, "check")


def _waited(title: str, key: Hashable, fn: Callable[..., Any], *args: Any) -> Any:
    """Wait for a task of the server and return its result; InputError with its problem."""
    with st.spinner(title):
        return shared(key, title, fn, *args).outcome()


def _follows(releases: Sequence[Release]) -> None:
    """Draw a new file from several releases, or with background knowledge that is applied
    afterwards."""
    several, key = len(releases) > 1, "check-afterwards"
    title = "Apply background knowledge afterwards"
    with st.container(key=key) if several else st.expander(title, key=key), refusals():
        said = "Background knowledge (JSON, or Tetrad's)" + ", if anything" * several
        known = given_knowledge(said, key="check-knowledge", help=REPLACES)
        if known is None and not several:
            st.caption("Arrows, effects and synthetic rows then also use it. " + FREE)
            return
        sure = several and st.checkbox(DIFFERENT, key="check-different", help=ALIKE)
        facts = None if known is None else load_knowledge(known.getvalue())
        words = json.dumps(facts and facts.to_json()), sure, *map(digest, releases)
        call = "Deriving the graph …", ("derive", *words), derive, releases, facts, sure
        _made(*_waited(*call))


def _made(release: Release, differ: Sequence[float]) -> None:
    """Show the new file: its assumption, graph and effects, with a download."""
    st.success("A new file; nothing is charged.", icon=":material/check:")
    if release.applied is not None:
        st.caption(APPLIED)
    for words in words_of.combined_words(release):
        st.markdown(text.plain(words))
    if release.parts:
        far = [f"{x:.1f}" for x in differ]
        rows = {"Column": release.names, "How far the releases differ (standardised χ²)": far}
        show.table(pd.DataFrame(rows), alt="How far the releases differ by column", most=340)
    graph(release, "check-new")
    stem = "combined" if release.parts else f"{release.name}_known".replace(" ", "_")
    files(release, stem, "check-new")
