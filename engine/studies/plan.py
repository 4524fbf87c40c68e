"""Forecast the result of a budget before any charge, from the schema, n and expected links.

The forecast draws random networks with this schema (:mod:`engine.data.imagined`), samples rows from
each, and runs every algorithm on them at every epsilon. It reads no row of the real data, so it
costs no ε and is public. It cannot know how strong the real links are. Therefore it is a band over
networks, and it was checked on the benchmark networks (research/theory/privacy_audit.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import product, takewhile
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from engine.data.dataset import Dataset
from engine.data.imagined import random_network
from engine.data.networks import NETWORKS, load_network
from engine.data.schema import Schema
from engine.effects.width import Widths, widths
from engine.errors import InputError
from engine.monitor import Monitor, OnProgress, Stop, renamed
from engine.percent import number, percent
from engine.question import Questions
from engine.registry import ALGORITHMS, algorithm
from engine.renamed import Renamed
from engine.serialise import plain
from engine.studies.detectability import UNREACHED, Invented, Shape, remedies
from engine.studies.study import Batch, sweep
from engine.studies.trial import TrialResult

DENSITY = 1.2  # assumed links per column; the benchmark networks have 0.8 to 1.9
GUESSED = 0.45  # the assumed number is multiplied by e^-.45 to e^.45, .64 to 1.57
DRAWS = 20
LOW, HIGH = 0.1, 0.9  # quantiles of a band, which contains four fifths of the simulated networks
MOST_ROWS = 10_000_000
TARGET = 0.8
WIDE = 0.5  # a wider band of F1 has no information
# Distances of the F1 band's ends from the median, below and above, in lengths of the simulated
# band, by kind of algorithm and at the numbers of rows KNOTS (in between, interpolated in log n).
# ``python -m benchmarks.forecast`` fitted them to real runs and checked them: HELD of RUNS on
# JUDGED networks are inside, with ends fitted to the other networks.
KNOTS = (1_000, 10_000, 100_000)
LEAST_END = 0.02  # least end of a band without length
Ends = tuple[tuple[float, float], ...]
ENDS: dict[str, Ends] = {
    "published": ((1.06, 1.87), (1.0, 1.24), (0.94, 1.14)),
    "marginals": ((1.0, 1.24), (0.81, 1.03), (0.82, 1.0)),
    "scores": ((1.0, 1.3), (0.78, 1.48), (0.61, 1.39)),
}
HELD, RUNS, JUDGED = 0.815, 1_998, 15
TRUST = (
    f"The band of F1 is fitted to real runs: it held {percent(HELD)} of {RUNS:,} on {JUDGED} "
    "networks that had no part in it."
)
_STREAM = int.from_bytes(b"plan", "big")
# Bands of a forecast, in the order of `numbers_of`.
BANDS = ("links", "found", "false_positives", "f1", "directed_f1", "shd", "false_share", "shown")


class Band(NamedTuple):
    """The median over simulated networks, and the 10th and 90th percentile."""

    low: float
    median: float
    high: float

    @staticmethod
    def of(values: Sequence[float]) -> Band:
        """Return the band of some values."""
        # Weibull's plotting positions: a new draw lies inside with the nominal probability, even
        # for few values.
        return Band(*np.quantile(values, [LOW, 0.5, HIGH], method="weibull").tolist())

    def stretched(self, below: float, above: float, least: float) -> Band:
        """Scale both distances from the median, each at least ``least`` before the scaling."""
        low = self.median - below * max(self.median - self.low, least)
        high = self.median + above * max(self.high - self.median, least)
        return Band(max(0.0, low), self.median, min(1.0, high))

    def holds(self, value: float) -> bool:
        """Return True if a value lies inside."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Forecast:
    """The forecast for one algorithm at one epsilon.

    ``found`` and ``false_positives`` are the numbers of true and false links found, without
    direction. ``links`` is the number of true links in the simulated networks. ``f1`` is the F1 of
    the skeleton; ``directed_f1`` and ``shd`` count directions too. All of these refer to fully
    tested links (:class:`engine.graphs.metrics.Counts`). ``false_share`` is the share of false
    links among the links found (0 if there are none), ``shown`` the number of links in the learned
    graph, and ``draws`` the number of simulated networks. ``nothing`` has the false positives on
    independent columns of the schema (:mod:`engine.studies.repeat`), or None.

    Examples:
        >>> levels = (("no", "yes"),) * 3
        >>> request = PlanRequest(("smoke", "tar", "cough"), levels, rows=3_000, links=2)
        >>> [one] = plan(request, epsilon=1.0, algorithms="marginal_pc", draws=2).forecasts
        >>> one.algorithm, one.epsilon, one.draws, one.links.median
        ('marginal_pc', 1.0, 2, 2.0)
    """

    algorithm: str
    epsilon: float
    links: Band
    found: Band
    false_positives: Band
    f1: Band
    directed_f1: Band
    shd: Band
    false_share: Band
    shown: Band
    draws: int
    nothing: Invented | None = None

    invented = Renamed("false_positives")

    @property
    def noise(self) -> bool:
        """True if most edges shown will be false, or hardly any edge is found."""
        return self.false_positives.median >= self.found.median or self.found.median < 1

    @property
    def poor(self) -> bool:
        """True if at most half of the simulated networks reach ``UNREACHED``."""
        return self.f1.median < UNREACHED

    @property
    def unknown(self) -> bool:
        """True if the band of F1 is wider than ``WIDE``, so the forecast is useless."""
        return self.f1.high - self.f1.low > WIDE

    @property
    def numbers(self) -> dict[str, Any]:
        """All fields by name as JSON types, with bands as [low, median, high]."""
        of_nothing = {"invented_on_nothing": self.nothing and self.nothing.mean}
        fields = {name: value for name, value in plain(self).items() if name != "nothing"}
        return fields | {"noise": self.noise, "unknown": self.unknown} | of_nothing


@dataclass(frozen=True)
class PlanRequest:
    """The public facts for a forecast: columns, levels, rows, and the expected links.

    ``links`` is their number; None draws about ``DENSITY`` per column. ``strength`` multiplies the
    effect of each simulated cause on the probabilities; 1 is that of the benchmark networks.
    ``donors`` are benchmark networks whose tables half of the simulated networks use.

    Examples:
        >>> levels = (("no", "yes"),) * 3
        >>> request = PlanRequest(("smoke", "tar", "cough"), levels, rows=3_000, links=2)
        >>> request.dataset(draw=0).n, request.dataset(draw=0).truth.number_of_edges()
        (3000, 2)
    """

    names: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    rows: int
    links: int | None = None
    strength: float = 1.0
    donors: tuple[str, ...] = NETWORKS

    def __post_init__(self) -> None:
        columns = len(self.names)
        if columns < 2 or columns != len(self.levels):
            raise InputError("A forecast needs at least two columns, each with its levels.")
        for name, value, low, most in (
            ("rows", self.rows, 2, MOST_ROWS),
            ("links", 1 if self.links is None else self.links, 1, math.comb(columns, 2)),
            ("strength", self.strength, 0.01, 2),
        ):
            kind, said = (float, "") if name == "strength" else (int, "a whole number ")
            if not isinstance(value, int | kind) or not low <= value <= most:
                raise InputError(f"{name} must be {said}from {low:,} to {most:,}, not {value!r}.")

    @property
    def assumed(self) -> str:
        """The number of links in the simulated networks, in words."""
        if self.links is not None:
            return f"{self.links} links"
        how = "--links, or Links expected on Choose ε, changes it"
        return f"about {DENSITY:g} links per column (assumed: {how})"

    def dataset(self, draw: int, seed: int = 0) -> Dataset:
        """Sample the rows of the ``draw``-th simulated network.

        Networks have random tables and the tables of the next donor by turns.
        """
        rng = np.random.default_rng(np.random.SeedSequence([_STREAM, seed, draw]))
        guess = DENSITY * len(self.names) * math.exp(rng.uniform(-GUESSED, GUESSED))
        columns = self.names, self.levels, self.links or max(1, round(guess)), rng
        like = None
        if draw % 2 and self.donors:
            order = np.random.default_rng([_STREAM, seed]).permutation(len(self.donors))
            like = load_network(self.donors[order[draw // 2 % len(order)]])
        network = random_network(*columns, like)
        if self.strength != 1.0:
            network = replace(network, tables=tuple(map(self._weighed, network.tables)))
        codes, truth = network.sample(self.rows, rng), network.dag()
        return Dataset.from_codes(
            codes, self.names, self.levels, name="simulated", truth=truth, public=True
        )

    def _weighed(self, table: np.ndarray) -> np.ndarray:
        """Scale the distances of a table's rows from their mean by ``strength``."""
        mean = table.mean(axis=0, keepdims=True)
        moved = np.clip(mean + self.strength * (table - mean), 0.0, None)
        return np.asarray(moved / moved.sum(axis=1, keepdims=True))


def kind_of(key: str) -> str:
    """Return the kind of an algorithm, one of those in ``ENDS``."""
    one = algorithm(key)
    return "scores" if one.family == "score-based" else "marginals" if one.ours else "published"


def ends_for(rows: int, ends: Ends) -> tuple[float, float]:
    """Interpolate the ends of a band, below and above, at a number of rows."""
    at, knots = math.log(rows), np.log(KNOTS)
    below, above = (float(np.interp(at, knots, side)) for side in zip(*ends, strict=True))
    return below, above


def planned_algorithms(keys: Sequence[str] | None = None) -> list[str]:
    """List the algorithms for forecasts: with a strict guarantee, for any number of columns."""
    if keys is None:
        own = [k for k, a in ALGORITHMS.items() if not a.chooses and a.columns is None]
        return [key for key in own if "strict" in algorithm(key).guarantees]
    for key in keys:
        if "strict" not in algorithm(key).guarantees or algorithm(key).columns is not None:
            raise InputError(f"A forecast covers strict runs on all columns; {key} has none.")
    return list(keys)


def numbers_of(result: TrialResult) -> tuple[float, ...]:
    """Return a run's number for each of ``BANDS``."""
    c, s = result.counts, result.metrics_tested
    assert c is not None  # simulated networks have a ground truth
    assert s is not None
    wrong = c.false_positives / max(1, c.learned)
    return c.true, c.found, c.false_positives, s.skeleton_f1, s.directed_f1, s.shd, wrong, c.learned


def _forecast(rows: int, key: str, epsilon: float, found: Batch, nothing: Batch) -> Forecast:
    values = zip(*map(numbers_of, found), strict=True)
    bands = dict(zip(BANDS, map(Band.of, values), strict=True))
    bands["f1"] = bands["f1"].stretched(*ends_for(rows, ENDS[kind_of(key)]), LEAST_END)
    free = tuple(one.counts.false_positives for one in nothing if one.counts)
    return Forecast(
        key, epsilon, draws=len(found), nothing=Invented(free) if free else None, **bands
    )


class EpsilonRange(NamedTuple):
    """The epsilons tried from which on an algorithm reaches a skeleton F1.

    From ``may`` on, the upper end of its band reaches the target; from ``usual`` on, the median
    does; from ``will`` on, the lower end does. These mean one network in ten, half of them, and
    nine in ten. A field is None if no epsilon tried is enough.
    """

    algorithm: str
    target: float
    may: float | None
    usual: float | None
    will: float | None

    @property
    def words(self) -> str:
        """Range as one sentence, for a terminal or a page."""
        aim, by = f"skeleton F1 {self.target:g}", algorithm(self.algorithm).title
        if self.may is None:
            return f"No ε tried reaches {aim}, not even with {by}."
        if self.will is not None:
            ends = dict.fromkeys((number(self.may), number(self.will)))
            return f"Expect {aim} from ε = {' to '.join(ends)} on, with {by}."
        half = f", ε = {number(self.usual)} on half of them" if self.usual is not None else ""
        return (
            f"With {by}, {aim} takes ε = {number(self.may)} on one network in ten{half}, and more "
            "than any ε tried on the hardest tenth."
        )


def epsilon_range(forecasts: Sequence[Forecast], target: float) -> EpsilonRange:
    """Return the range of epsilons for one algorithm that reaches the target.

    The algorithm is the one that ``will`` reach it at the smallest epsilon; if there is none, the
    same for ``usual``, then for ``may``.
    """
    found = []
    for key in dict.fromkeys(f.algorithm for f in forecasts):
        own = sorted((f for f in forecasts if f.algorithm == key), key=lambda f: -f.epsilon)
        ends: list[float | None] = []
        for end in ("high", "median", "low"):
            held = takewhile(lambda f: getattr(f.f1, end) >= target, own)  # noqa: B023
            ends.append(min((f.epsilon for f in held), default=None))
        found.append(EpsilonRange(key, target, *ends))
    return min(found, key=lambda r: [e or math.inf for e in (r.will, r.usual, r.may)])


def no_graph(request: PlanRequest, epsilons: Sequence[float], delta: float) -> str:
    """Return the sentences about epsilons at which every forecast is poor, smallest first."""
    those, columns = ", ".join(map(number, epsilons)), len(request.names)
    return (
        f"With {request.rows:,} rows and ε = {those} this budget cannot show a graph: expect a "
        f"skeleton F1 below {UNREACHED:g}. {remedies(request.rows, columns, epsilons[-1], delta)}"
    )


@dataclass(frozen=True, repr=False)
class Plan:
    """Forecasts for a schema: the ``request`` and its ``forecasts``.

    ``widths`` are the forecasts of the questions' intervals. ``print`` and a notebook show it as a
    table.

    Examples:
        >>> from engine import Column, Schema
        >>> two = {"type": "ordered", "levels": ("no", "yes")}
        >>> schema = Schema(tuple(Column(name=name, **two) for name in ("smoke", "tar", "cough")))
        >>> found = plan(schema, rows=3_000, epsilon=[1, 3], algorithms="marginal_pc", draws=2)
        >>> found.frame["epsilon"].tolist(), found.request.rows
        ([1.0, 3.0], 3000)
    """

    request: PlanRequest
    forecasts: tuple[Forecast, ...]
    target: float = TARGET
    widths: tuple[Widths, ...] = ()
    delta: float = 1e-6

    def __repr__(self) -> str:
        """Return a one-line summary."""
        return f"<Plan for {len(self.request.names)} columns: {self.sentence}>"

    @property
    def sentence(self) -> str:
        """Answer in one sentence."""
        if not self.forecasts:
            return "Stopped before the first network was finished."
        if all(f.unknown for f in self.forecasts):
            return (
                f"No forecast is possible: every band of F1 is wider than {WIDE:g}. Declare how "
                f"many links you expect and how strong they are, or use more rows."
            )
        reached = epsilon_range(self.forecasts, self.target)
        if reached.may is not None:
            return reached.words
        best = max(self.forecasts, key=lambda f: f.f1.median)
        by = f"{algorithm(best.algorithm).title} at ε = {number(best.epsilon)}"
        return f"The best is skeleton F1 {best.f1.median:.2f}, by {by}."

    @property
    def warning(self) -> str:
        """Warning about epsilons at which no algorithm shows a graph, with remedies, or ""."""
        some = {f.epsilon for f in self.forecasts if not f.poor}
        bad = sorted({f.epsilon for f in self.forecasts} - some)
        return no_graph(self.request, bad, self.delta) if bad else ""

    @property
    def notes(self) -> str:
        """Conditions of the numbers."""
        asked = self.request
        stronger = "" if asked.strength == 1 else f", {asked.strength:g} times as strong as usual"
        wide = f" *: nothing can be said, the band of F1 is wider than {WIDE:g}."
        draws = self.forecasts[0].draws if self.forecasts else 0
        return (
            f"{self.warning} Strict guarantee. Medians and 10th to 90th percentile over "
            f"{draws} random networks with {asked.assumed}{stronger}. No row was read. {TRUST} "
            "False share: of the links shown, how many are false. Independent: false positives on "
            "independent columns."
            f"{wide if any(f.unknown for f in self.forecasts) else ''}"
        ).strip()

    @property
    def table(self) -> pd.DataFrame:
        """Forecasts in words for pages and terminal, one per row.

        A cell has the median and its band. ``Expect`` is "noise", or "*" if the band has no
        information.
        """
        return pd.DataFrame(
            {
                "Algorithm": algorithm(f.algorithm).title,
                "ε": number(f.epsilon),
                "Links found": f"{_band(f.found, 0)} of {f.links.median:.0f}",
                "False": _band(f.false_positives, 0),
                "False share": percent(f.false_share.median),
                "Independent": f.nothing.about if f.nothing else "–",
                "Skeleton F1": _band(f.f1, 2),
                "Directed F1": _band(f.directed_f1, 2),
                "SHD": _band(f.shd, 0),
                "Expect": "noise" if f.noise else "*" if f.unknown else "",
            }
            for f in self.forecasts
        )  # fmt: skip

    def __str__(self) -> str:
        """Return the table, then the answer and the conditions of the numbers."""
        asked = [said for each in self.widths for said in each.sentences]
        if not self.forecasts:
            return "\n".join([*asked, self.sentence])
        return "\n".join([self.table.to_string(index=False), *asked, self.sentence, self.notes])

    def _repr_html_(self) -> str:
        """Show the sentence, the table and the notes."""
        shown = self.table.to_html(index=False, border=0) if self.forecasts else ""
        first = [*(said for each in self.widths for said in each.sentences), self.sentence]
        said = "".join(f"<p><b>{escape(each)}</b></p>" for each in first)
        return f"{said}{shown}<p>{escape(self.notes)}</p>"

    @property
    def frame(self) -> pd.DataFrame:
        """One row per forecast: medians, and the ends of the band of skeleton F1."""
        return pd.DataFrame(
            {name: v[1] if isinstance(v, list) else v for name, v in f.numbers.items()}
            | {"f1_low": f.f1.low, "f1_high": f.f1.high}
            | {"invented": f.false_positives.median}  # the name in version 0.3
            for f in self.forecasts
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the forecast for JSON, with bands as [low, median, high]."""
        known = not all(f.unknown for f in self.forecasts)
        reached = epsilon_range(self.forecasts, self.target) if known else None
        asked = self.request
        return {
            **{name: getattr(asked, name) for name in ("rows", "links", "strength")},
            "columns": list(asked.names),
            "forecasts": [f.numbers for f in self.forecasts],
            "target": self.target,
            "smallest_epsilon": reached and [reached.may, reached.will],
            "by": reached and reached.algorithm,
            "sentence": self.sentence,
            "warning": self.warning,
            "guarantee": "strict",
            "widths": [
                {"cause": one.question.cause, "outcome": one.question.outcome} | vars(each)
                for one in self.widths
                for each in one.found
            ],
        }


def _band(band: Band, digits: int) -> str:
    return f"{band.median:.{digits}f} ({band.low:.{digits}f} to {band.high:.{digits}f})"


@renamed(on_step="on_progress")
def plan(
    schema: Schema | PlanRequest,
    *,
    rows: int | None = None,
    epsilon: float | Sequence[float] = (0.1, 1.0, 3.0),
    delta: float = 1e-6,
    algorithms: str | Sequence[str] | None = None,
    links: int | None = None,
    strength: float = 1.0,
    draws: int = DRAWS,
    empty: int = DRAWS,
    seed: int = 0,
    target: float = TARGET,
    question: Questions | None = None,
    stop: Stop | None = None,
    on_progress: OnProgress | None = None,
) -> Plan:
    """Forecast the result of a budget on a table of this schema, from public facts only.

    It runs network by network, so a stop keeps a forecast from the finished networks, and then on
    ``empty`` tables of independent columns.

    Args:
        schema: Columns and their levels; a draft is enough, because a forecast has no guarantee. Or
            a whole request, with rows, links and strength.
        rows: Number of records; by default that of the schema, if declared.
        epsilon: Strict totals to try.
        delta: The δ of each run.
        algorithms: Keys; all with a strict guarantee unless given.
        links: Expected number of links; by default about 1.2 per column.
        strength: Their strength; 1 is that of the benchmark networks, .5 is half of it.
        draws: Networks to simulate.
        empty: Number of tables of independent columns per forecast.
        seed: The seed of the simulation.
        target: The skeleton F1 to reach.
        question: A question about an effect, or several; by default those of the schema. The
            forecast of each is the width of its interval.
        stop: A ``threading.Event``, or a function that returns True to stop. The forecast then
            comes from the complete networks.
        on_progress: Called after each run with the completed share and a phrase.

    Returns:
        A forecast for each algorithm and epsilon, which ``print`` and a notebook show as a table.

    Raises:
        InputError: For an invalid request, algorithm or epsilon.

    Examples:
        >>> two = {"type": "ordered", "levels": ("no", "yes")}
        >>> from engine.data.schema import Column, Schema
        >>> schema = Schema(tuple(Column(name=name, **two) for name in ("smoke", "tar", "cough")))
        >>> found = plan(schema, rows=3_000, epsilon=1, algorithms="marginal_pc", draws=3)
        >>> found.frame["links"].tolist()
        [3.0]
    """
    if isinstance(schema, Schema):
        n = schema.rows if rows is None else rows
        if n is None:
            raise InputError("Give the number of records as a whole number: rows=3000.")
        request = PlanRequest(schema.names, schema.levels, n, links, strength)
        schema = schema.asked(question)
        question = schema.questions
    elif isinstance(schema, PlanRequest):
        request = schema
    else:
        raise InputError("A forecast needs a Schema: Schema.draft(frame), or load_schema(path).")
    keys = planned_algorithms([algorithms] if isinstance(algorithms, str) else algorithms)
    epsilons = [float(e) if isinstance(e, int) else e for e in np.atleast_1d(epsilon).tolist()]
    known = schema.knowledge if isinstance(schema, Schema) else None
    asked = widths(
        question or (), request.names, request.levels, rows=request.rows, epsilons=epsilons,
        delta=delta, knowledge=known,
    )  # fmt: skip
    grid, monitor = {"epsilon": epsilons, "delta": delta}, Monitor(on_progress, stop)
    runs: dict[tuple[str, float], Batch] = {at: [] for at in product(keys, epsilons)}
    nothing: dict[tuple[str, float], Batch] = {at: [] for at in runs}
    shape = Shape(tuple(map(len, request.levels)), request.rows)
    count = monitor.counted(len(runs) * (draws + empty))
    for draw in takewhile(lambda _: not monitor.stopped(), range(draws + empty)):
        linked = draw < draws  # later draws are tables without links
        data = request.dataset(draw, seed) if linked else shape.independent(draw - draws)
        seeds = [draw if linked else draw - draws]
        for result in sweep(data, keys, grid, seeds, stop=stop):
            at = result.algorithm, result.values["epsilon"]
            (runs if linked else nothing)[at].append(result)
            count()
    forecasts = (
        _forecast(request.rows, *at, found, nothing[at]) for at, found in runs.items() if found
    )
    return Plan(request, tuple(forecasts), target, asked, delta)
