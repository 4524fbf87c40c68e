"""Can the claims be believed? Attacks on every algorithm, with what they found."""

from __future__ import annotations

import streamlit as st

from engine import InputError
from engine.audit.cases import Case, CaseResult, cases
from engine.registry import ALGORITHMS
from pages.shell import words as text
from pages.shell.task import Task, drop, find, start, watch
from pages.trust.membership import membership_view
from pages.trust.release import release_view
from pages.trust.state import HEADLINE, example
from pages.trust.view import (
    NEIGHBOURS,
    growth_view,
    lines_view,
    promise,
    replay_view,
    sentence,
    summary_view,
    title_of,
)
from pages.trust.work import attack

RUNS = (50, 150, 500, 1500)
TASK = "audit"


def main() -> None:
    """The page, top to bottom."""
    st.html("<h1>Trust</h1>")
    st.caption(
        "Two datasets differ in one person. If a claim of ε is true, nobody who sees the outputs "
        "can tell them apart better than ε allows. Here we try. All data on this page are invented."
    )
    with st.sidebar:
        attack_form()
    done = watch(TASK, more=underway)
    if done is not None:
        ended(done)
    elif find(TASK) is None:
        finished()
    release_view()


def attack_form() -> None:
    """What to attack, and how often."""
    st.subheader("Attack a claim", anchor=False)
    private = [key for key, one in ALGORITHMS.items() if one.private]
    key = st.selectbox("Algorithm", private, format_func=title_of, key="audit-algorithm")
    chosen: list[Case] = cases(key)
    kinds = list(dict.fromkeys(one.kind for one in chosen))
    kind = st.segmented_control(
        "Claim", kinds, default=kinds[0], format_func=promise, key=f"audit-kind-{key}"
    )
    pairs = {one.pair.name: one for one in chosen if one.kind == (kind or kinds[0])}
    name = st.selectbox("Neighbours", list(pairs), key=f"audit-pair-{key}")
    st.caption(f"{pairs[name].pair.words or NEIGHBOURS.get(name, name)}.")
    runs = st.select_slider("Runs on each side", RUNS, value=150, key="audit-runs")
    if st.button("Attack", type="primary", width="stretch", key="audit-go"):
        what = f"the attack on {title_of(key)}, {promise(kind or kinds[0])}"
        start(TASK, what, attack, pairs[name].key, int(runs), about=key, wait=0.0)


def underway(task: Task) -> None:
    """The bound so far."""
    if measured := list(task.parts):
        growth = [(found.runs, found.epsilon) for found in measured]
        growth_view(task.about, growth, measured[-1].claimed, key="audit-live")


def ended(task: Task) -> None:
    """The sentence, the growth and the replay of the attack that ended last."""
    line: CaseResult | None = task.result
    if line is None:
        st.info(text.plain(task.problem or "Stopped before the first run."))
        finished()
        return
    st.subheader(sentence(line), anchor=False)
    growth_view(line.algorithm, line.growth, line.measured.claimed, key="audit-ended")
    if line.replayed is not None:
        st.markdown("**Replay.** How far one person moved each input, of what was paid for:")
        replay_view([line], key="audit-ended-replay")
    st.button("Back to the finished example", key="audit-back", on_click=drop, args=(TASK,))


def finished() -> None:
    """The example that comes with the project."""
    try:
        lines = example()
    except InputError as error:
        st.error(text.plain(str(error)))
        return
    head = lines.get(HEADLINE)
    if head is not None:
        st.subheader(sentence(head), anchor=False)
        growth_view(head.algorithm, head.growth, head.measured.claimed, key="audit-head")
        st.caption(
            f"The two datasets: {NEIGHBOURS['strata']}. The curve is a 99 % lower bound at each "
            "point, from the outputs alone. Few runs can show little: a bound below a claim proves "
            "nothing, one above refutes it."
        )
    summary_view(list(lines.values()))
    st.subheader("Replay: bars that must end at 1", anchor=False)
    st.caption(
        "Strict guarantee. The answers of a run on one dataset are forced on the other: everything "
        "else must come out the same, and no mechanism's input may move by more than it paid for. "
        "A bar is the largest move that random and documented neighbours caused."
    )
    replay_view(lines.values(), key="audit-replay")
    st.subheader("A game: was the person in?", anchor=False)
    st.fragment(membership_view)()
    with st.expander("Every attack", expanded=True):
        lines_view(list(lines.values()))
    st.caption("The same on the command line: `python -m engine audit --out audit.json`.")


main()
