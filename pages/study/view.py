"""The answer: a sentence, a curve for each setting with the target, and a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import streamlit as st

from engine.percent import number
from engine.registry import TITLES
from engine.request import Request
from engine.studies.trial import TrialResult
from engine.studies.tune import EPSILONS, OBJECTIVES, Answer, answer_of, score_of
from pages.draw import PLAIN, charts, show, style_of
from pages.draw.charts import Axis, Curve, banded, curves
from pages.shell import state
from pages.shell import words as text
from pages.shell.task import Task
from pages.worker import CURVE_RUNS

BANDS = 3  # curves with a band at once: more would cover each other
AT = 1.0  # the ε of the table's score
ENDS = EPSILONS[0], EPSILONS[-1]


@dataclass(frozen=True)
class Found:
    """A line's name and runs, and its answer; None without a run, or without an ε."""

    name: str
    request: Request
    runs: tuple[TrialResult, ...]
    answer: Answer | None

    @classmethod
    def of(
        cls, name: str, request: Request, runs: tuple[TrialResult, ...], asked: state.Draft
    ) -> Found:
        """Answer from a line's runs on the seeds that are asked for."""
        runs = tuple(run for run in runs if run.seed < asked["seeds"])
        answer = None
        if runs and "epsilon" in runs[0].values:
            answer = answer_of(runs, request.source.n, asked["target"], asked["objective"])
        return cls(name, request, runs, answer)

    @property
    def seeds(self) -> int:
        """How many seeds have a run."""
        return len({run.seed for run in self.runs})


def answer_view(found: Sequence[Found], asked: state.Draft, epsilon: float, *, whole: bool) -> None:
    """Draw the sentence, the curves and the table; ``whole`` unless runs are to come."""
    said = text.plain(sentence(found, asked))
    st.header(said if whole else f"So far: {said}", anchor=False)
    score = OBJECTIVES[asked["objective"]]
    here = _here(found[0].answer, epsilon) if len(found) == 1 else None
    chart(_lines(found, asked), asked["target"], score, alt=f"{score} against ε", here=here)
    show.table(table(found, asked), alt="Settings, the smallest ε of each, its score and its time")
    st.caption(
        f"Median over the seeds at each ε{_BAND if len(found) <= BANDS else ''}. The smallest ε "
        f"is the first tried value from which the median stays at the target. Its 90 % interval "
        f"comes from resampling the seeds, and both ends are tried values."
    )


_BAND = "; the band is the median's 90 % interval"


def sentence(found: Sequence[Found], asked: state.Draft) -> str:
    """Return the answer: one setting's with its conditions, or that of the best of several."""
    answers = {one.name: one.answer for one in found if one.answer is not None}
    if len(found) == 1 or not answers:
        [answer] = answers.values() or [None]
        return answer.sentence if answer else f"{found[0].name} has no ε: it adds no noise."
    aim = f"{OBJECTIVES[asked['objective']]} {asked['target']:g}"
    reached = {name: one for name, one in answers.items() if one.epsilon is not None}
    if not reached:
        name = max(answers, key=lambda each: answers[each].best)
        return (
            f"None of {len(answers)} settings reaches {aim} up to ε = {number(ENDS[1])}; "
            f"the highest median is {answers[name].best:.2f}, by {name}."
        )
    name = min(reached, key=lambda each: reached[each].epsilon or 0.0)
    others = sum(one.least < reached[name].most for one in answers.values()) - 1
    near = f" The intervals of {text.count(others, 'other setting')} overlap it." if others else ""
    return f"{name} needs the smallest ε: {aim} {reached[name].outcome}.{near}"


def table(found: Sequence[Found], asked: state.Draft) -> pd.DataFrame:
    """Return a row per setting: the smallest ε, its interval, the score at ε = 1, seconds."""
    score = f"{OBJECTIVES[asked['objective']].replace('Skeleton ', '')} at ε = {AT:g}"
    rows = []
    for one in found:
        answer = one.answer
        here = [score_of(run, asked["objective"]) for run in one.runs
                if run.values.get("epsilon", AT) == AT]  # fmt: skip
        reached = answer is not None and answer.epsilon is not None
        rows.append({
            "Setting": one.name,
            "Smallest ε": number(answer.epsilon) if answer and reached else
            "–" if answer is None else f"above {number(answer.below)}",
            "90 % interval": (answer.interval if answer else "") or "–",
            score: f"{np.median(here):.2f}" if here else "–",
            "Time per run": f"{1_000 * np.median([run.seconds for run in one.runs]):,.1f} ms"
            if one.runs else "–",
            "Seeds": one.seeds,
        })  # fmt: skip
    return pd.DataFrame(rows)


def first_look(curve: Task | None, request: Request, asked: state.Draft) -> None:
    """Draw the question, and a curve of a few runs where there is one, with the target."""
    key, objective, target = request.algorithm, asked["objective"], asked["target"]
    reach = f"{TITLES[key]} to reach {OBJECTIVES[objective]} {target:g}"
    st.header(f"How large must ε be for {text.plain(reach)} on this dataset?", anchor=False)
    points = list(curve.parts) if curve and objective == "skeleton_f1" else []
    line = [banded(TITLES[key], points, style_of(key))] if points else []
    said = f"median of {CURVE_RUNS} runs at each of {len(points)} values"
    alt = f"A first look at the target over ε: {said}"
    chart(line, target, OBJECTIVES[objective], alt=alt)
    look = f"A first look: the {said} of ε. " if points else ""
    st.caption(f"{look}Press **Find ε** in the sidebar to try {len(EPSILONS)} values or more.")


def style(found: Sequence[Found], k: int) -> int:
    """Return the look of a line: its algorithm's if it is the only one."""
    return style_of(found[0].request.algorithm) if len(found) == 1 else k


def _lines(found: Sequence[Found], asked: state.Draft) -> Iterator[Curve]:
    for k, one in enumerate(found):
        if one.answer is not None:
            points = one.answer.points.sort_values("x").to_dict("list")
            sides = {"low": points["sure_low"], "high": points["sure_high"]}
            line = Curve(name=one.name, x=points["x"], y=points["median"], style=style(found, k))
            yield replace(line, **sides) if len(found) <= BANDS else line
        elif one.runs:
            level = float(np.median([score_of(run, asked["objective"]) for run in one.runs]))
            name, y = f"{one.name} (no ε)", [level] * 2
            yield Curve(name=name, x=ENDS, y=y, style=style(found, k), mode="lines")


def chart(
    lines: Iterable[Curve],
    target: float,
    score: str,
    *,
    alt: str,
    ends: tuple[float, float] = ENDS,
    here: tuple[float, float, str] | None = None,
) -> None:
    """Draw lines of a score over a range of ε, with the target."""
    aim = Curve(name=f"target {target:g}", x=ends, y=[target] * 2, style=PLAIN + 1, mode="lines")
    axes = Axis("ε", log=True, ends=ends), Axis(score, ends=(0.0, 1.02))
    charts.figure(curves([*lines, aim], *axes, here=here), key="study-curve", alt=alt)


def _here(answer: Answer | None, epsilon: float) -> tuple[float, float, str] | None:
    """Return the visit's ε on the curve; None outside of it."""
    if answer is None or not answer.points["x"].min() <= epsilon <= answer.points["x"].max():
        return None
    points = answer.points.sort_values("x")
    y = float(np.interp(np.log(epsilon), np.log(points["x"]), points["median"]))
    return epsilon, y, f"you are here: ε = {number(epsilon)}"
