"""The audit's game for a class: was this person among the rows that a graph was learned from?"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

import streamlit as st

from engine import load_dataset
from engine.percent import percent
from engine.registry import algorithm
from engine.teaching.membership import Edges, Game, loudest, play
from pages.shell import words as text
from pages.shell.state import Place

ALGORITHM, NETWORK, ROWS, DRAWS = "svt_pc", "cancer", 500, 60
EPSILONS = (0.1, 0.5, 1.0, 3.0, 10.0)


@dataclass
class Table:
    """How often the class was right at an ε, and the graphs that nobody has seen.

    The last of ``unseen`` is on screen: its links, and whether the person was in.
    """

    epsilon: float
    right: int = 0
    played: int = 0
    last: str = "&nbsp;"
    unseen: list[tuple[Edges, bool]] = field(default_factory=list)

    @property
    def inside(self) -> bool:
        """Whether the person was in the rows of the graph that is on screen."""
        return self.unseen[-1][1]

    def answer(self, guess: bool) -> None:
        """Count a guess, and go on to the next graph."""
        right = guess == self.inside
        truth = "was in" if self.inside else "was replaced"
        self.played, self.right = self.played + 1, self.right + right
        self.last = f"**{'Right' if right else 'Wrong'}:** the person {truth}."
        self.unseen.pop()


_TABLE: Place[Table | None] = Place("audit_game")


@st.cache_resource(
    max_entries=len(EPSILONS), show_spinner=f"Both datasets are run, {4 * DRAWS} times …"
)
def games(epsilon: float) -> tuple[Game, Game]:
    """Draws for the best guesser to learn from, and as many that he has not seen."""
    data = load_dataset(NETWORK, n=ROWS, seed=1)
    row, record = loudest(data)
    seen, fresh = (
        play(ALGORITHM, data, row, record, draws=DRAWS, seed=s, values={"epsilon": epsilon})
        for s in (0, 10 * DRAWS)
    )
    return seen, fresh


def membership_view() -> None:
    """The person, a graph, two buttons and the score."""
    epsilon = float(
        st.select_slider("ε of each run", EPSILONS, value=1.0, key="audit-game-epsilon")
    )
    table = _TABLE.get()
    if table is None:
        begin = lambda: _TABLE.put(Table(epsilon))  # noqa: E731
        st.button("Play", key="audit-game-start", on_click=begin)
        st.caption(
            f"A coin decides whether {ROWS} simulated people are taken as they are, or with one of "
            "them replaced by the person who is least like them. You see the learned graph."
        )
        return
    seen, fresh = games(epsilon)
    if table.epsilon != epsilon:
        _TABLE.put(table := Table(epsilon))
    if not table.unseen:
        sides = ((fresh.inside, True), (fresh.outside, False))
        table.unseen = [(o, side) for side_of, side in sides for o in side_of.elements()]
        secrets.SystemRandom().shuffle(table.unseen)
    links = ", ".join(f"{text.plain(a)} – {text.plain(b)}" for a, b in sorted(table.unseen[-1][0]))
    by = algorithm(ALGORITHM).title
    st.markdown(f"{by} has learned: **{links or 'no link at all'}**. Was the person in?")
    with st.container(horizontal=True):
        for inside, words in ((True, "The person was in"), (False, "Somebody else was")):
            key = f"audit-game-{inside}"
            st.button(words, key=key, on_click=table.answer, args=(inside,))
    st.markdown(table.last)
    yours, best, bound = st.columns(3)
    yours.metric("You", f"{table.right} of {table.played}")
    best.metric(
        "Best guesser",
        percent(seen.success(fresh)),
        help=f"Has seen {DRAWS} graphs of each dataset; scored on {2 * DRAWS} others.",
    )
    bound.metric(
        "Limit for anyone",
        percent(seen.bound, 1),
        help="(e^ε + δ) / (1 + e^ε): what a strict total of ε allows, whatever is known.",
    )
