"""An audit on the page: the bound as it grows, replay bars, every line; a release under attack."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
import streamlit as st

from engine.audit.cases import PLANTED, CaseResult, read_results
from engine.audit.replay import Finding
from engine.data.networks import SAMPLE_DATA
from engine.privacy.budget import PUBLISHED, STRICT
from engine.registry import TITLES
from engine.release.checking import HALF, SECONDS, verdict
from pages import mode
from pages.draw import ink, palette
from pages.draw.charts import Axis, Curve, curves, figure, upright
from pages.draw.show import table
from pages.shell import words as text
from pages.shell.task import Task, drop, show_problem, start, watch
from pages.trust.work import attack_file

EXAMPLE = SAMPLE_DATA / "audit.json"
HEADLINE = "curate_pc/published/strata"
NEIGHBOURS = {
    "strata": "strata of 40 and 49,960 rows; one record of the small one joins the large one",
    "all alike": "40 equal records; one of them changes in five columns",
    "one cell": "2,000 records, one of which has another value",
}


@st.cache_data(show_spinner=False)
def example() -> dict[str, CaseResult]:
    """Return the finished audit that comes with the project, by key."""
    return read_results(str(EXAMPLE))


def promise(kind: str) -> str:
    """Return the kind of a claim in a word or two."""
    return {STRICT: "strict", PUBLISHED: "as published"}.get(kind, kind)


def attacked(line: CaseResult, key: str, before: str = "") -> None:
    """Show an attack's two numbers, the growth of its bound, and the verdict."""
    m = line.measured
    numbers = f"claimed ε = {text.number(m.claimed)}, measured at least {m.epsilon:.2f}"
    st.header(f"{before}{TITLES[line.algorithm]}, {promise(line.kind)}: {numbers}", anchor=False)
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


def lines_view(lines: Sequence[CaseResult]) -> None:
    """Draw all claims as a table."""
    rows = [
        {
            "Algorithm": TITLES[line.algorithm],
            "Claim": promise(line.kind),
            "Neighbours": line.pair,
            "Claimed ε": text.number(line.measured.claimed),
            "Measured ε ≥": f"{line.measured.epsilon:.2f}",
            "Runs a side": line.measured.runs,
            "Verdict": line.verdict,
            "The same attack finds": "" if line.power is None else line.power.words,
        }
        for line in lines
    ]
    table(pd.DataFrame(rows), alt="Claims and measured lower bounds")


def summary_view(lines: Sequence[CaseResult]) -> None:
    """Draw the number of claims that were not refuted, and the limits of this result."""
    strict = [x for x in lines if x.kind == STRICT]
    published = [x for x in lines if x.kind == PUBLISHED]
    stands = sum(x.verdict.startswith("not refuted") for x in strict)
    strong = sum(x.power is not None and x.power.twice for x in strict)
    refuted = {x.algorithm for x in published if x.verdict == "claim refuted"}
    numbers = {
        "Strict claims not refuted": (stands, len(strict)),
        "Able to show twice the ε": (strong, len(strict)),
        "Published algorithms refuted": (len(refuted), len({x.algorithm for x in published})),
    }
    for place, (title, (some, of)) in zip(st.columns(3), numbers.items(), strict=True):
        place.metric(title, f"{some} of {of}")
    st.caption(power_words(lines))


def power_words(lines: Sequence[CaseResult]) -> str:
    """Return one or two sentences on the power of replays and of runs."""
    tested = [x for x in lines if x.power is not None]
    by_runs = sum(x.power is not None and x.power.runs == PLANTED[0] for x in tested)
    by_replay = sum(x.power is not None and x.power.replay for x in tested)
    zero = sum(x.measured.epsilon == 0 for x in tested)
    return (
        "A claim that is not refuted is not proven. Each strict claim was attacked again with "
        "half of its noise removed, a fault of twice the ε. "
        f"Replays found {by_replay} of {len(tested)}. Runs without a replay found {by_runs}. For "
        f"{zero} sound claims, runs without a replay measured nothing above 0."
    )


# A release file: its own answers, forced upon neighbours of its settings ---------------

FILE_TASK = "audit-release"
MOST = 20  # megabytes; a release of a hundred columns has less than one


def release_view() -> None:
    """Show the file, a button, the attack's progress and its result."""
    if not mode.public():
        with st.expander("Attack a release file", key="audit-file"):
            _view()


def _view() -> None:
    st.caption(
        "The attack simulates pairs of tables that differ in one person. It forces the answers of "
        "the file on both tables and searches for the person who moves an answer's exact input "
        "furthest. It needs no data and costs no ε."
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
