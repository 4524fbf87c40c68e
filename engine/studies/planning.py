"""A plan as a notebook shows it: what a schema's budget will buy, before any of it is spent."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.data.dataset import Dataset
from engine.data.schema import Schema
from engine.errors import InputError
from engine.graphs.edges import BandCurve, curve_svg
from engine.registry import algorithm
from engine.runner import Stop, asking
from engine.search.noisy_score import NoisyTestParameters
from engine.studies import forecast
from engine.studies.forecast import DENSITY, DRAWS, Forecast, ForecastProgress, Question

if TYPE_CHECKING:
    import pandas as pd

TARGET = 0.8
DEVIATIONS = 3.0  # what a score must be above the noise to be told from it
# The share of the largest score that there is, from which on alone a score stands out: the F1 of
# runs at such settings is in docs/explanation/privacy.md.
HIDDEN = 0.5
_DRAWN = 3  # curves that can be told apart


@dataclass(frozen=True, repr=False)
class Plan:
    """Forecasts for a schema: ``question`` is what was asked, ``forecasts`` one for each answer."""

    question: Question
    forecasts: tuple[Forecast, ...]

    def __repr__(self) -> str:
        """One line."""
        return f"<Plan for {len(self.question.names)} columns, {self.question.rows:,} rows: {self}>"

    def __str__(self) -> str:
        """The answer in a sentence."""
        if not self.forecasts:
            return "Stopped before the first network was finished"
        reached = forecast.reach(self.forecasts, TARGET)
        if reached.may is not None:
            return reached.words.rstrip(".")
        best = max(self.forecasts, key=lambda f: f.f1.median)
        by = algorithm(best.algorithm).title
        return f"The best is skeleton F1 {best.f1.median:.2f}, by {by} at ε = {best.epsilon:g}"

    @property
    def frame(self) -> pd.DataFrame:
        """One row a forecast: medians, and the ends of the skeleton's F1."""
        import pandas as pd  # here, so that importing the engine does not load pandas

        return pd.DataFrame(
            {
                "algorithm": f.algorithm,
                "epsilon": f.epsilon,
                "links": f.links.median,
                "found": f.found.median,
                "invented": f.invented.median,
                "f1": f.f1.median,
                "f1_low": f.f1.low,
                "f1_high": f.f1.high,
                "directed_f1": f.directed_f1.median,
                "shd": f.shd.median,
                "noise": f.noise,
            }
            for f in self.forecasts
        )

    def _repr_html_(self) -> str:
        """A sentence, a curve of the best and a small table."""
        if not self.forecasts:
            return f"<p>{escape(str(self))}.</p>"
        bad = forecast.warning(self.question, self.forecasts)
        note = (
            f"Skeleton F1 over {self.forecasts[0].draws} simulated networks of this schema with "
            f"{self.question.rows:,} rows. {forecast.TRUST} No row was read."
        )
        alt = "Expected skeleton F1 against ε"
        parts = [
            f"<p><b>{escape(str(self))}.</b></p>",
            curve_svg(self._curves(), "Skeleton F1", alt),
            self._table(),
            f"<p>{escape(' '.join(filter(None, (bad, note))))}</p>",
        ]
        return "".join(parts)

    def _curves(self) -> list[BandCurve]:
        best: dict[str, float] = {}
        for f in self.forecasts:
            best[f.algorithm] = max(best.get(f.algorithm, 0.0), f.f1.median)
        keys = sorted(best, key=lambda key: -best[key])[:_DRAWN]
        found = []
        for key in keys:
            some = sorted(
                (f for f in self.forecasts if f.algorithm == key), key=lambda f: f.epsilon
            )
            x, f1 = [f.epsilon for f in some], [f.f1 for f in some]
            ends = ([b.low for b in f1], [b.median for b in f1], [b.high for b in f1])
            found.append(BandCurve(algorithm(key).title, x, *ends))
        return found

    def _table(self) -> str:
        head = ("Algorithm", "ε", "Links found", "Invented", "Skeleton F1", "Expect")
        rows = [
            (
                algorithm(f.algorithm).title,
                f"{f.epsilon:g}",
                f"{f.found.median:.0f} of {f.links.median:.0f}",
                f"{f.invented.median:.0f}",
                f"{f.f1.median:.2f}",
                "noise" if f.noise else "",
            )
            for f in self.forecasts
        ]
        lines = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
        top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        return f"<table><tr>{top}</tr>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def unworkable(key: str, sizes: Sequence[int], rows: int, values: Mapping[str, Any]) -> str:
    """A sentence where a strict setting's noise hides what it asks about; "" where it does not.

    From public facts alone, so that it can stand before a run: the deviation of what the
    algorithm's own plan puts on an answer, beside the largest score that so many rows can have.
    Algorithms that put noise on no score of a pair say nothing.

    Args:
        key: An algorithm.
        sizes: The number of levels of each column.
        rows: How many records there are.
        values: The algorithm's parameters.

    Raises:
        InputError: For parameters that do not fit.

    Examples:
        >>> unworkable("curate_pc", (2,) * 8, 100_000, {"epsilon": 1.0})
        ''
        >>> unworkable("curate_pc", (2,) * 500, 100_000, {"epsilon": 1.0})[:53]
        'CURATE cannot work here: shared among the tests that '
    """
    chosen = algorithm(key)
    params = chosen.params.build(values)
    told = isinstance(params, NoisyTestParameters) and params.strict and params.perturbed == "z"
    if chosen.noise is None or not told or rows < chosen.min_rows or len(sizes) < 2:
        return ""
    assert isinstance(params, NoisyTestParameters)
    if not params.test.bounded:
        return ""
    noise = chosen.noise(_shape(tuple(sizes), rows), params)
    largest = params.test.largest(rows)
    if DEVIATIONS * noise <= HIDDEN * largest:
        return ""
    of_it = "nothing is left for a single answer"
    if noise < math.inf:
        of_it = (
            f"an answer gets noise of ±{noise:,.3g} on a score that {rows:,} rows keep below "
            f"{largest:,.3g}"
        )
    return (
        f"{chosen.title} cannot work here: shared among the tests that {len(sizes)} columns may "
        f"need, ε = {params.epsilon:g} is so little that {of_it}. Take fewer columns, a larger ε "
        "or Marginal PC, which pays once for all pairs."
    )


def all_unworkable(
    keys: Sequence[str],
    shapes: Sequence[tuple[Sequence[int], int]],
    epsilons: Sequence[float],
    values: Mapping[str, Any],
) -> list[str]:
    """:func:`unworkable` for a study: of each algorithm and (sizes, rows) at the largest epsilon.

    ``values`` are other parameters; an algorithm is asked about those that it declares.
    """
    found = []
    for key in keys:
        own = {s.name for s in algorithm(key).params.specs()}
        rest = {name: value for name, value in values.items() if name in own}
        if "epsilon" not in own:
            continue
        for sizes, rows in shapes:
            each = (
                unworkable(key, sizes, rows, {**rest, "epsilon": epsilon})
                for epsilon in sorted(epsilons, reverse=True)
            )
            found.append(next(filter(None, each), ""))
    return list(dict.fromkeys(filter(None, found)))


@lru_cache(maxsize=16)
def _shape(sizes: tuple[int, ...], rows: int) -> Dataset:
    """A table of these public facts whose rows are all alike: plans look at no row."""
    names = [f"X{i}" for i in range(len(sizes))]
    levels = [tuple(map(str, range(size))) for size in sizes]
    codes = np.zeros((1, len(sizes)), np.int64)
    return Dataset.from_codes(codes, names, levels, weights=[rows], public=True)


def plan(
    schema: Schema,
    *,
    rows: int | None = None,
    epsilon: float | Sequence[float] = (0.1, 1.0, 3.0),
    delta: float = 1e-6,
    algorithms: str | Sequence[str] | None = None,
    density: float = DENSITY,
    draws: int = DRAWS,
    seed: int = 0,
    on_step: Callable[[ForecastProgress], None] = lambda progress: None,
    stop: Stop | None = None,
) -> Plan:
    """What a budget will buy on a table of this schema, from public facts alone.

    Args:
        schema: Columns and their levels; a draft will do, since nothing is promised of a plan.
        rows: How many records there are; the schema's number where it states one.
        epsilon: Strict totals to try.
        delta: Of every total.
        algorithms: Keys; all with a strict guarantee unless said.
        density: A guess of how many links there are for each column.
        draws: Networks to simulate.
        seed: Of the simulation.
        on_step: Told how far it is after each run.
        stop: A ``threading.Event``, or what is called to ask; what was finished is kept.

    Returns:
        Forecasts, which a notebook shows as a curve and a small table.

    Raises:
        InputError: Where the question does not fit.

    Examples:
        >>> two = {"type": "ordered", "levels": ("no", "yes")}
        >>> from engine.data.schema import Column, Schema
        >>> schema = Schema(tuple(Column(name=name, **two) for name in ("smoke", "tar", "cough")))
        >>> found = plan(schema, rows=3_000, epsilon=1, algorithms="marginal_pc", draws=3)
        >>> found.frame["links"].tolist()
        [3.0]
    """
    if not isinstance(schema, Schema):
        raise InputError("A plan is for a Schema: Schema.draft(frame), or load_schema(path).")
    n = rows if rows is not None else schema.rows
    if isinstance(n, bool) or not isinstance(n, int):
        raise InputError("Say how many records there are: rows=3000, a whole number.")
    question = Question(schema.names, schema.levels, n, density)
    epsilons = [epsilon] if isinstance(epsilon, int | float) else list(epsilon)
    keys = [algorithms] if isinstance(algorithms, str) else algorithms
    ask = (lambda: False) if stop is None else asking(stop)
    told = forecast.plan(
        question,
        [float(e) for e in epsilons],
        keys,
        delta=delta,
        draws=draws,
        seed=seed,
        cancelled=ask,
        on_progress=on_step,
    )
    return Plan(question, tuple(told))
