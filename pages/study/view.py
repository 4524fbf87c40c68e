"""The answer: a sentence with its conditions, then the curve with the target and the visit's ε."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import streamlit as st

from engine.registry import TITLES
from engine.studies.trial import TrialResult
from engine.studies.tune import EPSILONS, OBJECTIVES, Answer, answer_of
from pages.draw import PLAIN, charts, style_of
from pages.draw.charts import Axis, Curve, banded, curves
from pages.shell import words as text
from pages.shell.task import Task
from pages.study.work import Aim
from pages.worker import CURVE_RUNS

Parts = Sequence[Sequence[TrialResult]]


def results_of(task: Task) -> list[TrialResult]:
    """The runs that a task has sent so far."""
    return [result for part in list(task.parts) for result in part]


def answers_of(results: Sequence[TrialResult], aim: Aim) -> dict[str, Answer]:
    """An answer for each algorithm with an ε that there are runs of."""
    by_key: dict[str, list[TrialResult]] = {}
    for result in results:
        if "epsilon" in result.values:
            by_key.setdefault(result.algorithm, []).append(result)
    return {
        key: answer_of(some, aim.request.source.n, aim.target, aim.objective)
        for key, some in by_key.items()
    }


def answer_view(
    answers: Mapping[str, Answer],
    results: Sequence[TrialResult],
    aim: Aim,
    epsilon: float,
    *,
    whole: bool,
    best: Answer | None = None,
) -> None:
    """The sentence, the others' and the curves; before the first run the question."""
    main = answers.get(aim.request.algorithm)
    if main is None:
        first_look(None, aim)
        return
    end = f"; at its best setting {best.outcome}" if best is not None else ""
    so_far = "" if whole else "So far: "
    sentence = text.plain(f"{so_far}{main.sentence.rstrip('.')}{end}.")
    st.markdown(f"#### {sentence}")
    for key, answer in answers.items():
        if key != aim.request.algorithm:
            st.markdown(text.plain(f"{TITLES[key]}: {answer.outcome}."))
    extra = {} if best is None else {f"{TITLES[aim.request.algorithm]}, best setting": best}
    charts.figure(
        _drawn(answers, extra, results, aim, epsilon),
        key="study-curve",
        alt=f"{OBJECTIVES[aim.objective]} against ε: {main.outcome}",
    )
    seeds = len({r.seed for r in main.results})
    st.caption(
        f"Median over {text.count(seeds, 'seed')} at each of {len(main.points)} values of ε; the "
        "band is the median's 90 % interval, and the interval of ε is where the band meets the "
        "target."
    )


def first_look(curve: Task | None, aim: Aim) -> None:
    """The question, and a curve of a few runs where there is one, with the target."""
    reach = f"{TITLES[aim.request.algorithm]} to reach {OBJECTIVES[aim.objective]} {aim.target:g}"
    st.subheader(f"How large must ε be for {text.plain(reach)} on this dataset?", anchor=False)
    points = list(curve.parts) if curve and aim.objective == "skeleton_f1" else []
    key = aim.request.algorithm
    ends = EPSILONS[0], EPSILONS[-1]
    lines = [banded(TITLES[key], points, style_of(key))] if points else []
    drawn = curves(
        [*lines, target_line(aim.target, ends)],
        Axis("ε", log=True, ends=ends),
        Axis(OBJECTIVES[aim.objective], ends=(0.0, 1.02)),
    )
    said = f"median of {CURVE_RUNS} runs at each of {len(points)} values"
    charts.figure(drawn, key="study-curve", alt=f"A first look at the target over ε: {said}")
    look = f"A first look: the {said} of ε. " if points else ""
    st.caption(f"{look}Press **Find ε** in the sidebar to try {len(EPSILONS)} values.")


def _drawn(
    answers: Mapping[str, Answer],
    extra: Mapping[str, Answer],
    results: Sequence[TrialResult],
    aim: Aim,
    epsilon: float,
) -> charts.Figure:
    lines = [_curve(TITLES[key], answer, style_of(key)) for key, answer in answers.items()] + [
        _curve(name, answer, 7) for name, answer in extra.items()
    ]
    level, main = (EPSILONS[0], EPSILONS[-1]), answers.get(aim.request.algorithm)
    for key in dict.fromkeys(r.algorithm for r in results if r.algorithm not in answers):
        scores = [
            getattr(r.metrics_tested, aim.objective) for r in results
            if r.algorithm == key and r.metrics_tested
        ]  # fmt: skip
        if scores:
            flat = [float(np.median(scores))] * 2
            lines.append(Curve(name=f"{TITLES[key]} (no ε)", x=level, y=flat,
                               style=style_of(key), mode="lines"))  # fmt: skip
    return curves(
        [*lines, target_line(aim.target, level)],
        Axis("ε", log=True, ends=level),
        Axis(OBJECTIVES[aim.objective], ends=(0.0, 1.02)),
        here=_here(main, epsilon) if main is not None else None,
    )


def target_line(target: float, ends: tuple[float, float]) -> Curve:
    """The target over a range of ε."""
    return Curve(name=f"target {target:g}", x=ends, y=[target] * 2, style=PLAIN + 1, mode="lines")


def _curve(name: str, answer: Answer, style: int) -> Curve:
    points = answer.points.sort_values("x")
    sides: Any = {side: points[f"sure_{side}"].tolist() for side in ("low", "high")}
    return Curve(
        name=name, x=points["x"].tolist(), y=points["median"].tolist(), style=style, **sides
    )


def _here(answer: Answer, epsilon: float) -> tuple[float, float, str] | None:
    """The visit's ε on the curve."""
    points = answer.points.sort_values("x")
    if not points["x"].min() <= epsilon <= points["x"].max():
        return None
    y = float(np.interp(np.log(epsilon), np.log(points["x"]), points["median"]))
    return epsilon, y, f"you are here: ε = {epsilon:g}"


@contextmanager
def of_form(key: str, says: str, *, old: bool) -> Iterator[None]:
    """An answer; grey where it belongs to another form, which ``says`` names."""
    if old:
        st.warning(text.plain(says), icon=":material/update:")
    st.html(f"<style>.st-key-{key}{{opacity:{0.4 if old else 1}}}</style>")
    with st.container(key=key):
        yield
