"""A phone in a class: its random name, the question and its vote."""

from __future__ import annotations

import re

import streamlit as st

from engine.percent import number
from engine.teaching.classroom import PICKS
from pages.learn.games import TABLES, asked, link_names, named, price_words, prices
from pages.learn.rooms import Choice, Room
from pages.learn.wall import GONE, rooms
from pages.shell import listen
from pages.shell.state import Place
from pages.shell.words import plain, safe

LOOK = 2.0  # seconds between two checks
_VOTER: Place[str] = Place("learn_voter", str)
_BARE = (
    '[data-testid="stHeader"], [data-testid="stToolbar"], [data-testid="stSidebar"] '
    "{display: none !important} "
    ".stMainBlockContainer {padding: 1rem !important; max-width: 34rem; margin: auto} "
    ".st-key-ballot button {min-height: 3rem}"
)
# A random name that the phone keeps, so that a reload is the same voter. Without storage it lasts
# as long as the page.
_NAMED = """
let own = "";
export default function ({data, setStateValue}) {
  const key = "dp-causal-explorer-voter", fits = (word) => /^[0-9a-f]{32}$/.test(word);
  try { own = localStorage.getItem(key) || own; } catch { /* no storage */ }
  if (!fits(own)) {
    const drawn = [...crypto.getRandomValues(new Uint8Array(16))];
    own = drawn.map((b) => b.toString(16).padStart(2, "0")).join("");
    try { localStorage.setItem(key, own); } catch { /* no storage */ }
  }
  if (data.voter !== own) { setStateValue("voter", own); }
}
"""


def _voter() -> str:
    """Return the phone's random name, "" until the browser has sent it."""
    said = st.session_state.get("voter-state", {}).get("voter") or ""
    if re.fullmatch("[0-9a-f]{32}", said):
        _VOTER.put(said)
    listen("voter", _NAMED, key="voter-state", data={"voter": said}, on_voter_change=lambda: None)
    return _VOTER.get()


def ballot(code: str) -> None:
    """Draw the question and the choices; the projector's page sets the question."""
    st.html(f"<style>{_BARE}</style>")
    voter = _voter()

    @st.fragment(run_every=LOOK)
    def look() -> None:
        if (room := rooms().find(code)) is None:
            st.info(f"Room {plain(code.upper()[:8])} {GONE} Ask your teacher for the new code.")
        elif not voter:
            st.markdown("Joining the room …")
        elif not room.join(voter):
            st.info("This room is full.")
        else:
            _paper(room, voter)

    look()


def _paper(room: Room, voter: str) -> None:
    now = room.now
    mine = now.votes.get(voter)
    st.html(f'<h1 style="font-size:1.4rem">Room {safe(room.code)}, question {now.number}</h1>')
    st.html(asked(room))
    if now.shown is None:
        with st.container(key="ballot"):
            _choose(room, voter, mine)
    if mine is not None:
        said = ", ".join(named(room, now, option) for option in mine)
        st.markdown(f"You chose **{plain(said)}**.")
    if now.shown is not None:
        if now.game == "person":
            right = "" if mine is None else " You were right." if mine == (now.which,) else ""
            st.markdown(f"It came from **{TABLES[now.which]}**.{right}")
        st.markdown("Look at the projector for the answer.")
    st.caption("One vote per browser, deleted within an hour.")


def _choose(room: Room, voter: str, mine: Choice | None) -> None:
    """Draw the choices; the last vote before the answer counts."""
    now = room.now
    key = f"ballot-{now.number}"
    if now.game == "person":
        with st.container(horizontal=True):
            for k, name in enumerate(TABLES):
                st.button(
                    name,
                    key=f"{key}-{name}",
                    type="primary" if mine == (k,) else "secondary",
                    on_click=room.vote,
                    args=(voter, now.number, (k,)),
                    width="stretch",
                )
        return
    if now.game == "links":
        links, most = link_names(room.lesson), min(PICKS, room.options())
        picked = st.pills(
            f"Choose {most} links",
            range(len(links)),
            selection_mode="multi",
            default=mine or (),
            format_func=lambda k: links[k],
            key=key,
        )
        choice, short = tuple(picked), most - len(picked)
        wait = f"Choose {short} more." if short > 0 else f"Choose {-short} fewer." if short else ""
    else:
        every = prices(room.lesson)
        start = mine[0] if mine else len(every) // 2
        at = st.select_slider(
            "ε", range(len(every)), value=start, key=key, format_func=lambda k: number(every[k])
        )
        st.markdown(price_words(every[at]))
        choice, wait = (at,), ""
    title = "Vote" if mine is None else "Change my vote"
    done = bool(wait) or choice == mine
    args = voter, now.number, choice
    key = f"{key}-vote"
    st.button(title, key=key, type="primary", disabled=done, on_click=room.vote, args=args)
    if wait:
        st.caption(wait)
