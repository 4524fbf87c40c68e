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
from pages.shell.session import Place

ALGORITHM, NETWORK, ROWS, DRAWS = "svt_pc", "cancer", 500, 60
EPSILONS = (0.1, 0.5, 1.0, 3.0, 10.0)


@dataclass
class Table:
    """What lies before the class: a graph, and how often they were right so far."""

    epsilon: float
    outcome: Edges | None = None  # before the first graph is dealt
    inside: bool = False
    right: int = 0
    played: int = 0
    last: str = ""
    unseen: list[tuple[Edges, bool]] = field(default_factory=list)

    def deal(self, fresh: Game) -> None:
        """The next graph of those nobody has seen, in an order nobody knows."""
        if not self.unseen:
            sides = ((fresh.inside, True), (fresh.outside, False))
            self.unseen = [(o, side) for side_of, side in sides for o in side_of.elements()]
            secrets.SystemRandom().shuffle(self.unseen)
        self.outcome, self.inside = self.unseen.pop()


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
        st.button("Play", key="audit-game-start", on_click=_sit_down, args=(epsilon,))
        st.caption(
            f"A coin decides whether {ROWS} invented people are taken as they are, or with one of "
            "them replaced by the person who is least like them. You see the learned graph."
        )
        return
    seen, fresh = games(epsilon)
    if table.epsilon != epsilon:
        table = Table(epsilon)
        _TABLE.put(table)
    if table.outcome is None:
        table.deal(fresh)
    assert table.outcome is not None
    links = ", ".join(f"{text.plain(a)} – {text.plain(b)}" for a, b in sorted(table.outcome))
    by = algorithm(ALGORITHM).title
    st.markdown(f"{by} has learned: **{links or 'no link at all'}**. Was the person in?")
    with st.container(horizontal=True):
        for inside, words in ((True, "The person was in"), (False, "Somebody else was")):
            st.button(
                words,
                key=f"audit-game-{inside}",
                on_click=_answer,
                args=(table, fresh, inside),
            )
    st.markdown(table.last or "&nbsp;")
    score(table, seen, fresh)


def score(table: Table, seen: Game, fresh: Game) -> None:
    """The class, the best guesser on graphs he had not seen, and what nobody can beat."""
    yours, best, bound = st.columns(3)
    yours.metric("You", f"{table.right} of {table.played}")
    best.metric(
        "Best guesser",
        percent(seen.success(fresh)),
        help=f"Has seen {DRAWS} graphs of each dataset; judged on {2 * DRAWS} others.",
    )
    bound.metric(
        "Nobody can beat",
        percent(seen.bound, 1),
        help="(e^ε + δ) / (1 + e^ε): what a strict total of ε allows, whatever is known.",
    )


def _sit_down(epsilon: float) -> None:
    _TABLE.put(Table(epsilon))


def _answer(table: Table, fresh: Game, guess: bool) -> None:
    right = guess == table.inside
    table.played += 1
    table.right += right
    truth = "was in" if table.inside else "was replaced"
    table.last = f"**{'Right' if right else 'Wrong'}:** the person {truth}."
    table.deal(fresh)
