"""A phone in a class: its random name, the question and its vote."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from pages.learn.games import price_words, show_question
from pages.learn.rooms import TABLES, Choice, Room
from pages.learn.wall import GONE, rooms
from pages.shell import listen
from pages.shell.state import Place
from pages.shell.words import plain

LOOK = 2.0  # seconds between two checks
_VOTER: Place[str] = Place("learn_voter", str)
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
    voter = _voter()

    @st.fragment(run_every=LOOK)
    def look() -> None:
        with st.container(key="room"), st.container(key="phone"):
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
    st.title(f"Room {plain(room.code)}, question {now.number}", anchor=False)
    show_question(room)
    if now.shown is None:
        _choose(room, voter, mine)
    if mine is not None:
        said = ", ".join(room.options[option] for option in mine)
        st.markdown(f"You chose **{plain(said)}**.")
    if now.shown is not None:
        if now.game == "person":
            right = " You were right." if mine == (now.which,) else ""
            st.markdown(f"It came from **{TABLES[now.which]}**.{right}")
        st.markdown("Look at the projector for the answer.")
    st.caption("One vote per browser, deleted within an hour.")


def _choose(room: Room, voter: str, mine: Choice | None) -> None:
    """Draw the choices; the last vote before the answer counts."""
    now, options = room.now, room.options
    key, places = f"ballot-{now.number}", range(len(options))

    def button(title: str, word: str, choice: Choice, **options: Any) -> None:
        args = voter, now.number, choice
        st.button(title, key=f"{key}-{word}", on_click=room.vote, args=args, **options)

    if now.game == "person":
        with st.container(horizontal=True):
            for k, name in enumerate(options):
                look = "primary" if mine == (k,) else "secondary"
                button(name, name, (k,), type=look, width="stretch")
        return
    if now.game == "links":
        picked = st.pills(
            f"Choose {room.picks} links",
            places,
            selection_mode="multi",
            default=mine or (),
            format_func=options.__getitem__,
            key=key,
        )
        choice = tuple(picked)
    else:
        start = mine[0] if mine else len(options) // 2
        at = st.select_slider("ε", places, start, options.__getitem__, key=key)
        st.markdown(price_words(room.lesson.scene["epsilons"][at]))
        choice = (at,)
    short = room.picks - len(choice)
    title = "Change my vote" if mine else "Vote"
    button(title, "vote", choice, type="primary", disabled=short != 0 or choice == mine)
    if short:
        st.caption(f"Choose {short} more." if short > 0 else f"Choose {-short} fewer.")
