"""Attacks on every algorithm's claim, with their results."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from engine.audit.cases import Case, CaseResult, cases
from engine.audit.neighbours import strata
from engine.params import Parameters, param
from engine.registry import ALGORITHMS, TITLES
from pages.shell import state
from pages.shell.form import bound, folded, parameters
from pages.shell.task import Task, drop, find, show_problem, start, watch
from pages.trust import view
from pages.trust.work import attack

PRIVATE = tuple(key for key, one in ALGORITHMS.items() if one.private)
TASK = "audit"


@dataclass(frozen=True, kw_only=True)
class Fields(Parameters):
    """The attack: its target and its number of runs."""

    attacked: str = param(PRIVATE[0], "Algorithm", choices=PRIVATE)
    claim: str = param("strict", "Claim", choices=("strict", "published"))
    neighbours: str = param("", "Neighbours", high=40)
    runs: int = param(150, "Runs on each side", among=(50, 150, 500, 1500))


def main() -> None:
    """Draw the page from top to bottom."""
    st.html("<h1>Audit</h1>")
    st.caption("A true ε limits every test between neighbouring datasets. All data are simulated.")
    with st.sidebar:
        attack_form()
    done = watch(TASK, more=underway)
    if done is not None:
        ended(done)
    elif find(TASK) is None:
        finished()
    title = "Membership: does a released model reveal whose data it used?"
    folded(title, view.membership_view, key="audit-membership")
    view.release_view()
    st.page_link(
        "pages/learn/page.py",
        label="A game on Learn: was the person in?",
        icon=":material/casino:",
        query_params={"step": "person"},
    )


def attack_form() -> None:
    """Show the fields of an attack, and its button."""
    st.header("Attack a claim", anchor=False)
    d = state.Values(Fields, "trust.")
    key = bound(
        st.selectbox, "Algorithm", d, "attacked", key="audit-algorithm", options=PRIVATE,
        format_func=TITLES.__getitem__,
    )  # fmt: skip
    chosen: list[Case] = cases(key)
    kinds = list(dict.fromkeys(one.kind for one in chosen))
    kind = bound(
        st.segmented_control, "Claim", d, "claim", key=f"audit-kind-{key}", options=kinds,
        start=kinds[0], required=True, format_func=lambda kind: view.CLAIMS[kind].capitalize(),
    )  # fmt: skip
    pairs = {one.pair.name: one for one in chosen if one.kind == kind}
    place = f"audit-pair-{key}"
    name = bound(st.selectbox, "Neighbours", d, "neighbours", key=place, options=list(pairs))
    st.caption(f"{pairs[name].pair.words}.")
    parameters([d.specs["runs"]], d, key="audit")
    if st.button("Attack", type="primary", width="stretch", key="audit-go"):
        what = f"the attack on {TITLES[key]}, {view.CLAIMS[kind]}"
        start(TASK, what, attack, key, pairs[name].key, int(d["runs"]), wait=0.0)


def underway(task: Task) -> None:
    """Draw the bound so far."""
    if measured := list(task.parts):
        growth = [(found.runs, found.epsilon) for found in measured]
        view.growth_view(growth, measured[-1].claimed, key="audit-live")


def ended(task: Task) -> None:
    """Draw the sentence, the growth and the replay of the attack that ended last."""
    line: CaseResult | None = task.result
    if line is None:
        show_problem(task, "Stopped before the first run.")
        finished()
        return
    view.attacked(line, "audit-ended")
    if line.replayed is not None:
        st.markdown(
            "**Replay.** How far one person moved each input, as a share of the charged "
            "sensitivity:"
        )
        view.ratio_bars(view.replay_ratios([line]), key="audit-ended-replay")
    st.button("Back to the finished example", key="audit-back", on_click=drop, args=(TASK,))


def finished() -> None:
    """Draw the example that comes with the project."""
    lines = view.example()
    view.attacked(lines[view.HEADLINE], "audit-head", "Finished example: ")
    with st.expander("How every claim stands"):
        st.caption(
            f"{strata().words}. The curve above is a 99 % lower bound at each point, from the "
            "outputs alone. With few runs the bound is low. A bound below a claim proves nothing, "
            "and a bound above it refutes the claim."
        )
        view.claims_view(list(lines.values()))
        st.caption("The same on the command line: `python -m engine audit --out audit.json`.")
    with st.expander("Replay: no bar may pass 1"):
        st.caption(
            "Strict guarantee. A replay forces the answers of a run on one dataset upon a "
            "neighbouring dataset. Everything else must be equal, and no mechanism's input may "
            "move by more than the charged sensitivity. Each bar shows the largest move over "
            "random and documented neighbours."
        )
        view.ratio_bars(view.replay_ratios(lines.values()), key="audit-replay")


main()
