"""An audit on the page: the bound as it grows, replay bars, every line; a traced model, and a
release under attack."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
import streamlit as st

from engine.audit.cases import PLANTED, CaseResult, read_results
from engine.audit.replay import Finding
from engine.audit.tracing import Tracing, tracing
from engine.data.networks import SAMPLE_DATA, load_dataset
from engine.percent import percent
from engine.privacy.budget import PUBLISHED, STRICT
from engine.registry import TITLES
from engine.release.checking import HALF, SECONDS, verdict
from pages import mode
from pages.draw import PLAIN, ink, palette
from pages.draw.charts import Axis, Curve, curves, figure, upright
from pages.draw.show import table, tiles
from pages.shell import words as text
from pages.shell.task import Task, drop, show_problem, start, watch
from pages.trust.work import attack_file

EXAMPLE = SAMPLE_DATA / "audit.json"
HEADLINE = "curate_pc/published/strata"
CLAIMS = {STRICT: "strict", PUBLISHED: "as published"}


@st.cache_data(show_spinner=False)
def example() -> dict[str, CaseResult]:
    """Return the finished audit that comes with the project, by key."""
    return read_results(str(EXAMPLE))


def attacked(line: CaseResult, key: str, before: str = "") -> None:
    """Show an attack's two numbers, the growth of its bound, and the verdict."""
    m = line.measured
    numbers = f"claimed ε = {text.number(m.claimed)}, measured at least {m.epsilon:.2f}"
    st.header(f"{before}{TITLES[line.algorithm]}, {CLAIMS[line.kind]}: {numbers}", anchor=False)
    growth_view(line.growth, m.claimed, key=key)
    end = "The claim is wrong." if m.refuted else "This neither contradicts nor proves the claim."
    st.markdown(f"{m.runs:,} runs on each of two datasets that differ in one person. {end}")


def growth_view(growth: Sequence[tuple[int, float]], claimed: float, *, key: str) -> None:
    """Show the lower bound against the number of runs, and the claim as a dashed line.

    The bound is red once it refutes the claim, else green. Each line has its name at its right end.
    """
    if not growth:
        return
    runs, bounds = zip(*growth, strict=True)
    inks, last = palette(), bounds[-1]
    lines = [("Measured: at least", last, inks.prices["nothing" if last > claimed else "fine"])]
    if math.isfinite(claimed):
        lines.append(("Claimed", claimed, inks.font))
    curve = Curve(name="Measured: at least", x=runs, y=bounds, mode="lines")
    ends = (0.0, 1.2 * max(*bounds, 0.1, *(at for _, at, _ in lines)))
    drawn = curves([curve], Axis("Runs on each side"), Axis("ε", ends=ends), height=320)
    drawn["data"][0]["line"] = {"color": lines[0][2], "width": 3}
    shown = {"xref": "paper", "x": 1, "xanchor": "right", "yanchor": "bottom", "showarrow": False}
    drawn["layout"] |= {
        "showlegend": False,
        "shapes": [
            {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": at, "y1": at,
             "line": {"color": colour, "width": 2, "dash": "dash"}}
            for _, at, colour in lines[1:]
        ],
        "annotations": [
            {**shown, "y": at, "text": f"<b>{name} {text.number(at, 3)}</b>",
             "font": {"color": colour, "size": 15}}
            for name, at, colour in lines
        ],
    }  # fmt: skip
    figure(drawn, key=key, alt=f"Lower bound on ε after {runs[-1]} runs: {last:.2f}")


# Replay -------------------------------------------------------------------------------


def replay_ratios(lines: Iterable[CaseResult]) -> dict[str, float]:
    """Draw, per strict algorithm and mechanism, the largest change over the charged sensitivity."""
    found: dict[str, float] = {}
    for line in lines:
        if line.kind == STRICT and line.replayed is not None:
            for label, ratio in line.replayed.ratios.items():
                name = f"{TITLES[line.algorithm]}: {label}"
                found[name] = max(ratio, found.get(name, 0.0))
    return found


def ratio_bars(ratios: Mapping[str, float], *, key: str) -> None:
    """Draw a bar for each mechanism or answer, with a line at 1."""
    if not ratios:
        return
    names = list(ratios)[::-1]
    sizes = [ratios[name] for name in names]
    inks = [ink(0) if size <= 1 + 1e-9 else palette().bars[2] for size in sizes]
    # The words in the bar, where no line crosses the number and no frame cuts it.
    bar = {"type": "bar", "x": sizes, "y": names, "orientation": "h", "hoverinfo": "skip",
           "marker": {"color": inks}, "text": [f"{size:.2f}" for size in sizes],
           "textposition": "auto", "insidetextanchor": "end", "textangle": 0}  # fmt: skip
    layout = {
        "height": 86 + 26 * len(names),  # place the title below the ticks, also for a single bar
        "margin": {"l": 8, "r": 8, "t": 8, "b": 64},
        "showlegend": False,
        "shapes": [upright(1, dash="dash", color=palette().bars[0])],
        "xaxis": {
            "title": {"text": "Largest change /<br>charged sensitivity"},  # narrow on a phone
            "range": [0, max(1.04, *sizes)],
        },
        "yaxis": {"automargin": True},
    }
    drawn = {"data": [bar], "layout": layout}
    figure(drawn, key=key, alt=f"Largest ratio {max(sizes):.3f} of {len(sizes)} mechanisms")


# All lines ----------------------------------------------------------------------------


def claims_view(lines: Sequence[CaseResult]) -> None:
    """Draw the number of claims that were not refuted, the limits of this result, and a table."""
    strict = [x for x in lines if x.kind == STRICT]
    published = [x for x in lines if x.kind == PUBLISHED]
    stands = sum(not x.refuted for x in strict)
    strong = sum(x.power is not None and x.power.twice for x in strict)
    refuted = {x.algorithm for x in published if x.refuted}
    all_published = len({x.algorithm for x in published})
    rows = [
        ("Strict claims not refuted", f"{stands} of {len(strict)}", ""),
        ("Able to show twice the ε", f"{strong} of {len(strict)}", ""),
        ("Published algorithms refuted", f"{len(refuted)} of {all_published}", ""),
    ]
    tiles(rows, across=3)
    st.caption(power_words(lines))
    claims = [
        {
            "Algorithm": TITLES[line.algorithm],
            "Claim": CLAIMS[line.kind],
            "Neighbours": line.pair,
            "Claimed ε": text.number(line.measured.claimed),
            "Measured ε ≥": f"{line.measured.epsilon:.2f}",
            "Runs per side": line.measured.runs,
            "Verdict": line.verdict,
            "The same attack finds": "" if line.power is None else line.power.words,
        }
        for line in lines
    ]
    table(pd.DataFrame(claims), alt="Claims and measured lower bounds")


def power_words(lines: Sequence[CaseResult]) -> str:
    """Return sentences on the power of replays and of runs."""
    tested = [(x.power, x.measured.epsilon) for x in lines if x.power is not None]
    by_runs = sum(power.runs == PLANTED[0] for power, _ in tested)
    by_replay = sum(power.replay for power, _ in tested)
    zero = sum(epsilon == 0 for _, epsilon in tested)
    return (
        "A claim that is not refuted is not proven. Each strict claim was attacked again with "
        "half of its noise removed, a fault of twice the ε. "
        f"Replays found {by_replay} of {len(tested)}. Runs without a replay found {by_runs}. For "
        f"{zero} sound claims, runs without a replay measured nothing above 0."
    )


# Membership in a released model: a tracing attack, and its limits ------------------------

NETWORK, ROWS, MEMBERS = "child", 100_000, 200
EPSILON = 1.0


@st.cache_data(show_spinner=False)
def _traced(epsilon: float | None) -> Tracing:
    return tracing(load_dataset(NETWORK, n=ROWS), MEMBERS, epsilon)


def membership_view() -> None:
    """Draw the power of the attack against its false positives, with noise and without."""
    exact, private = _traced(None), _traced(EPSILON)
    at = exact.false_positives.index(0.1)
    st.caption(
        f"The graph of {NETWORK.capitalize()} and its tables, made from {MEMBERS} people. An "
        f"attacker compares a person's likelihood under them with that in the population "
        f"(Murakonda et al. 2021) and wrongly accuses 10 of 100 others. The attacker then "
        f"recognises {percent(exact.measured[at])} of the members in the exact tables, and "
        f"{percent(private.measured[at])} in tables released with ε = {EPSILON:g}."
    )
    lines = [
        Curve(name=name, x=found.false_positives, y=values, style=style, mode="lines")
        for name, found, values, style in (
            ("Exact tables, measured", exact, exact.measured, 0),
            ("Exact tables, at most about", exact, exact.claimed, PLAIN + 2),
            (f"ε = {EPSILON:g}, measured", private, private.measured, 1),
            (f"ε = {EPSILON:g}, at most", private, private.claimed, PLAIN + 1),
        )
    ]
    axes = Axis("False positives"), Axis("Members recognised", ends=(0.0, 1.0))
    alt = "Members recognised against false positives"
    figure(curves(lines, *axes, height=320), key="audit-membership-curve", alt=alt)


# A release file: its own answers, forced upon neighbours of its settings ---------------

FILE_TASK = "audit-release"
MOST = 20  # megabytes; a release of a hundred columns has less than one


def release_view() -> None:
    """Show the file, a button, the attack's progress and its result; nothing on a public server."""
    if mode.public():
        return
    with st.expander("Attack a release file", key="audit-file"):
        st.caption(
            "The attack simulates pairs of tables that differ in one person. It forces the answers "
            "of the file on both tables and searches for the person who moves an answer's exact "
            "input furthest. It needs no data and costs no ε."
        )
        file = st.file_uploader(
            "Release file (JSON)",
            type=["json"],
            key="audit-release-file",
            max_upload_size=MOST,
            help="Attack a larger file with python -m engine audit --release FILE.",
        )
        if file is not None and st.button("Attack this release", key="audit-release-go"):
            drop(FILE_TASK)
            title = f"the attack on the release file “{text.plain(file.name)}”"
            start(FILE_TASK, title, attack_file, file.getvalue(), about=file.file_id)
        task = watch(FILE_TASK)
        if task is not None and (file is None or file.file_id == task.about):
            _ended(task)


def _ended(task: Task) -> None:
    found: Finding | None = task.result
    if found is None:
        show_problem(task, "Stopped before the first pair of neighbours.")
        return
    (st.info if found.passed else st.error)(text.plain(verdict(found)))
    for fault in found.faults:
        st.markdown(f"- {text.plain(fault)}")
    ratio_bars(found.ratios, key="audit-release-bars")
    strong = sum(ratio > HALF for ratio in found.ratios.values())
    st.caption(
        "Bars show how far one person moved each answer's exact input, as a share of the charged "
        "sensitivity. None may exceed 1. The attack would have found a charge of half that size in "
        f"{strong} of {text.count(len(found.ratios), 'answer')}. The attack ends after "
        f"{SECONDS:.0f} seconds with the pairs tried so far. A release that is not refuted is not "
        f"proven."
    )
