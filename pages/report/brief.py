"""The content of a report, which page, offline file, PDF, slides and ZIP share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine import Dataset, InputError, RunResult
from engine.data.networks import NETWORKS
from engine.effects.effect import Effect
from engine.graphs.links import FOUND, MARKS, LinkClass
from engine.graphs.view import Link
from engine.graphs.weighed_colliders import SHOWN
from engine.params import Parameters, param
from engine.percent import percent
from engine.registry import TITLES, algorithm
from engine.studies.figures import Panel, Series
from engine.studies.price import LossStep
from engine.words.run import NOTHING, Promise, epsilon_name
from pages.draw import PALETTES
from pages.draw.effect import true_effect
from pages.draw.links import (
    Entry,
    Picture,
    curve_picture,
    describe,
    entries,
    few_untested,
    found_links,
    graph_picture,
    graph_view,
    people_picture,
    titles_of,
    weighted,
    widths,
)
from pages.draw.price import Step, reference_lines, steps_of
from pages.forms import count_for, counted
from pages.report import words, work
from pages.report.asked import read
from pages.report.repeats import Repeats
from pages.report.work import Repetition
from pages.shell import words as text
from pages.shell.runs import Shown, steps_before

_LARGE, _MOST = 20, 10  # columns of a graph that a slide holds, and of the part of a larger one
_THIN, _THICK = 1.4, 7.0  # line widths of a link that no repetition has, and of one that all have


@dataclass(frozen=True, kw_only=True)
class Heading(Parameters):
    """The lines that a presenter types, and the two chosen columns."""

    question: str = param(
        "",
        "Question",
        high=160,
        help="The reader's question, in their words. Two columns that it names are chosen "
        "as cause and outcome.",
    )
    author: str = param("", "Author", high=80)
    date: str = param("", "Date", high=40, help="As it should be read: 22 November 2026.")
    cause: str = param("", "Cause", high=200)
    outcome: str = param("", "Outcome", high=200)

    @property
    def signed(self) -> str:
        """Author and date."""
        return ", ".join(part for part in (self.author, self.date) if part)

    def asked(self, titles: Mapping[str, str]) -> tuple[str, str] | None:
        """Return the columns (cause, outcome) that are chosen, else those that the question names.

        ``titles`` has each column's plain name. None without two different columns.
        """
        cause, outcome = read(self.question, titles) or ("", "")
        pair = self.cause or cause, self.outcome or outcome
        return pair if len({*pair} & titles.keys()) == 2 else None


def asked_of(heading: Heading, data: Dataset) -> tuple[str, str] | None:
    """Return the columns (cause, outcome) of a report's question; the default is the release's
    question."""
    made_for = data.schema.questions if data.schema else ()
    default = next(((each.cause, each.outcome) for each in made_for), None)
    return heading.asked(titles_of(data)) or default


@dataclass(frozen=True, kw_only=True)
class Brief:
    """Words, numbers and pictures.

    ``answer`` is empty without a question; then ``headline``, which counts the edges, is read
    first. ``effect`` is the size of the effect if tables were released. ``sure`` and ``took`` say
    how sure the answer is and how much privacy took, ``promise`` the guarantee for a person.
    ``steps`` are the links left after each step, from all there are to those of this run; empty
    where no truth is known. ``part`` draws the columns of the question, if a slide cannot hold the
    whole graph. ``legend`` has each class of links with its count. ``same``, ``lost`` and
    ``curve_title`` are titles of slides: how many repetitions give the answer, how many edges the
    noise took, and how the number of edges changes with ε.
    """

    heading: Heading
    title: str
    answer: str = ""
    effect: str = ""
    headline: str
    sure: str
    took: str
    promise: Promise
    graph: Picture
    part: Picture | None = None
    legend: Sequence[Entry]
    note: str
    same: str
    steps: Sequence[Step]
    lost: str
    people: Picture
    curve: Picture | None
    curve_title: str
    curve_note: str
    limits: Sequence[str]
    details: Sequence[str]
    made: str

    @property
    def first(self) -> str:
        """The sentence that is read first."""
        return self.answer or self.headline

    @property
    def further(self) -> tuple[str, ...]:
        """The sentences below it, in their order."""
        return tuple(filter(None, (self.effect, self.sure, self.took, self.promise.sentence)))


def brief_of(run: Shown, repeats: Repeats | None, heading: Heading, theme: str) -> Brief:
    """Return the report of a run in the theme's colours, with the results of its repetitions so
    far."""
    data, result, known = run.data, run.result, _known(run.data)
    made, of = ([], 0) if repeats is None else (repeats.made, repeats.of)
    shown = stable(links(data, result), result, made)
    summary, steps = result.summary(scored=known), _steps(run, repeats)
    promise, curve = summary.promise, _curve(result, repeats, theme)
    lit, alt = promise.attacker_success, _people(promise)
    brief = Brief(
        heading=heading,
        # the name of a user's file is private
        title=f"{text.dataset_title(data)}: report" if data.public else "Report",
        headline=summary.headline,
        sure=words.sure(result, made, of),
        took=words.took(result, steps),
        promise=promise,
        graph=_graph(data, result, shown, theme),
        legend=entries(result, waiting=few_untested(result)) if known else (),
        note=_note(data, result, made),
        same=words.usually(made) if made else "",
        steps=steps,
        lost=words.noise_took(steps) if len(steps) > 2 else "",
        people=people_picture(lit, promise.level, alt=alt, theme=theme),
        curve=curve,
        curve_title=words.curve_title(repeats.points) if repeats and curve else "",
        curve_note=_curve_note(repeats),
        limits=words.limits(data, result, counted(count_for(run))),
        details=words.details(data, result),
        made=_made(run),
    )
    if (asked := asked_of(heading, data)) is None:
        return brief
    path, effect = words.answered(result, *asked), _effect(run, asked)
    share = words.repeated(path, result, *asked, made, of)
    said = words.answer(path, asked, titles_of(data), share), words.true_answer(data, *asked)
    return replace(
        brief,
        answer=" ".join(filter(None, said)),
        effect=effect.sentence if effect else "",
        part=_part([*asked, *(result.names[k] for k in path.columns)], run, shown, theme),
        same=f"{share} give this answer" if share else brief.same,
        details=[*(_effect_notes(effect, data, *asked) if effect else []), *brief.details],
    )


def _people(promise: Promise) -> str:
    """Return the array of a hundred figures in words."""
    if promise.level == NOTHING:
        return "A hundred figures, all of them red: no guarantee"
    return f"A hundred figures, {promise.attacker_success} of them lit; chance alone lights 50"


def _known(data: Dataset) -> bool:
    """Return whether the right edges are known: they are unknown for the user's data."""
    return data.public and data.truth is not None


# The effect -------------------------------------------------------------------------------


def _effect(run: Shown, asked: tuple[str, str]) -> Effect | None:
    """Return the effect with the columns' plain names; None if no tables were released.

    It is in the outcome's unit, where its levels have public numbers; a release's own question has
    its levels.
    """
    if run.result.diagnostics.effects() is None:
        return None
    schema, titles, options = run.data.schema, titles_of(run.data), dict[str, Any]()
    with suppress(InputError):
        numbers = (schema.numbers(asked[1]) if schema else None) or ()
        options = {"values": numbers} if {*numbers} - {0.0, 1.0} else {}
    for question in schema.questions[::-1] if schema else ():
        if (question.cause, question.outcome) == asked:
            options = question.options
            if question.adjust is not None:
                options["adjustment"] = tuple(titles[name] for name in question.adjust)
    names = [titles[name] for name in run.result.names]
    return run.result.effect(titles[asked[0]], titles[asked[1]], names=names, **options)


def _effect_notes(effect: Effect, data: Dataset, cause: str, outcome: str) -> list[str]:
    """Notes to the number: the adjustment set, and the same number by the true tables."""
    known = data.public and data.name in NETWORKS
    true = [true_effect(effect, data.name, cause, outcome)] if known else []
    return [" ".join(effect.notes), *true]


# The graph --------------------------------------------------------------------------------


def links(data: Dataset, result: RunResult) -> list[Link]:
    """Return the learned edges with their classes, and pairs not fully tested in grey.

    On the user's data the edges are plain, because their classes are unknown.
    """
    return found_links(result, waiting=few_untested(result), scored=_known(data))


def stable(drawn: Sequence[Link], result: RunResult, made: Sequence[Repetition]) -> list[Link]:
    """Draw each learned edge as thick as it is stable: the share of repetitions that have it.

    Without repetitions the thickness is the algorithm's confidence; missed edges and pairs not
    fully tested keep their line.
    """
    if not made:
        return weighted(drawn, result)
    have, of = np.sum([r.drawn | r.drawn.T for r in made], axis=0), len(made)
    at, found = {name: k for k, name in enumerate(result.names)}, []
    for link in drawn:
        if link.kind not in (LinkClass.MISSED, LinkClass.UNTESTED):
            with_it = int(have[at[link.a], at[link.b]])
            width = round(_THIN + (_THICK - _THIN) * with_it / of, 2)
            link = replace(link, width=width, note=f"In {with_it} of {of} repetitions")
        found.append(link)
    return found


def _note(data: Dataset, result: RunResult, made: Sequence[Repetition]) -> str:
    """Say in words how thick lines are, and the facts without a line: untested pairs,
    low-confidence directions."""
    lines, waiting, own = len(result.low_confidence), len(result.untested), not _known(data)
    thick = f"The thicker a line, the more of {len(made)} repetitions have it."
    weak = (
        f"{text.count(lines, 'arrow')} with a direction confidence below {percent(SHOWN)} "
        f"{'is drawn as a line' if lines == 1 else 'are drawn as lines'}."
    )
    notes = {
        thick if made else widths(result)[0]: True,
        "An arrow or a line is a link that was found.": own,
        f"Grey dots: {MARKS[LinkClass.UNTESTED].counted(waiting)}.": own and waiting,
        weak: lines,
    }
    return " ".join(said for said, wanted in notes.items() if said and wanted)


def _part(ends: Sequence[str], run: Shown, shown: Sequence[Link], theme: str) -> Picture | None:
    """Return the columns that the answer is about, and some that are linked with them; None if a
    slide holds all columns."""
    if run.data.d <= _LARGE:
        return None
    near = [k for k in shown if k.kind is not LinkClass.UNTESTED and {k.a, k.b} & {*ends}]
    part = list(dict.fromkeys([*ends, *(name for k in near for name in (k.a, k.b))]))[:_MOST]
    inside = [k for k in shown if {k.a, k.b} <= {*part}]
    return _graph(run.data, run.result, inside, theme, part)


def _graph(
    data: Dataset,
    result: RunResult,
    shown: Sequence[Link],
    theme: str,
    part: Sequence[str] = (),
) -> Picture:
    """Return the graph, or a part of its columns, with the plain names of bundled networks."""
    alt = describe("Learned graph", part or data.names, shown)
    return graph_picture(graph_view(data, shown, result, part), alt=alt, theme=theme)


# Price and curve ----------------------------------------------------------------------------


def _steps(run: Shown, repeats: Repeats | None) -> list[Step]:
    """Count the links that the method loses without noise, then those that the noise takes.

    The repetitions count the steps; without noise nothing is repeated.
    """
    if not _known(run.data):
        return []
    return steps_of(run.result, repeats.steps if repeats else steps_before(run))


def _curve_note(repeats: Repeats | None) -> str:
    """Return a note on how the curve was drawn, or on its finished part."""
    if repeats is None:
        return ""
    points = repeats.points
    if repeats.running:
        return f"The curve over ε is not complete: {len(points)} of {work.POINTS} points are drawn."
    if not repeats.task.complete:
        return "The curve over ε was stopped before its end."
    return f"Lines: the median of {points[0].of} repetitions at each ε. Bands: the middle 90 %."


def _curve(result: RunResult, repeats: Repeats | None, theme: str) -> Picture | None:
    """Draw found links and false positives over epsilon once all points are there."""
    if repeats is None or repeats.running or len(repeats.points) < 3 or result.counts is None:
        return None
    points, one, ink = repeats.points, result.counts, PALETTES[theme].font
    x, lines = tuple(p.epsilon for p in points), []
    for mark, values in (
        (FOUND, [p.found for p in points]),
        (MARKS[LinkClass.FALSE_POSITIVE], [p.false_positives for p in points]),
    ):
        low, middle, high = zip(*values, strict=True)
        dash, colour = (0, mark.dash) if mark.dash else "-", mark.ink(theme)
        lines.append(Series(mark.word, x, middle, colour=colour, dash=dash, low=low, high=high))
    for k, (height, name) in enumerate(levels(one.true, repeats.steps), 2):
        lines.append(Series(name, (x[0], x[-1]), (height, height), style=k, colour=ink))
    here = (float(result.params.as_dict()["epsilon"]),)
    lines.append(Series("This result", here, (one.found,), colour=ink, marks=True))
    name = epsilon_name(algorithm(result.algorithm).epsilon_unit, result.params)
    axis = f"{name}: more privacy ← → more exact"
    panel = Panel("", tuple(lines), x_label=axis, y_label="Links")
    return curve_picture(panel, alt="Links found and false positives as epsilon grows", theme=theme)


def levels(true: int, steps: Sequence[LossStep]) -> list[tuple[float, str]]:
    """Named heights: all links there are, and those that are found without any noise."""
    named = {true: f"All {text.count(true, 'true link')}"}
    for step, name in reference_lines(steps):
        named.setdefault(step.counts.found, name)
    if any(step.counts.found == true for step in steps):
        named[true] += ", found without noise"
    return [(float(height), name) for height, name in named.items()]


def _made(run: Shown) -> str:
    said = f"Made with the DP Causal Explorer; algorithm {TITLES[run.result.algorithm]}."
    if run.data.public:
        seeds = f"rows drawn with seed {run.request.source.seed}, noise with {run.result.seed}"
        return f"{said} {text.dataset_title(run.data)}, {run.data.n:,} rows; {seeds}."
    return said
